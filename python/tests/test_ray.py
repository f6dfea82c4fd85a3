# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps by Ray: on this machine alone, in a network that has nothing but a loopback.

Ray listens on all interfaces. Its processes end with the process namespace that they are in.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import TREE

ALONE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


@pytest.fixture(scope="module")
def alone() -> list[str]:
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode != 0:
        pytest.skip("no network namespace can be made: not root")
    return [*ALONE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


@pytest.mark.parametrize(
    "check", ["equal", "until", "refused", "changed", "death", "interrupted", "elsewhere", "lost"]
)
def test_ray(check, alone, tmp_path):
    script = TREE / "python/tests/ray_check.py"
    done = subprocess.run(
        [*alone, sys.executable, script, check, tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
