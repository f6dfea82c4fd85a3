# SPDX-License-Identifier: GPL-2.0-only
"""One wheel for every CPython from 3.10 on, and the same hashes on each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import alight

ASK = """
import sys
sys.path.insert(0, sys.argv[1])
import alight
answer = alight.compare("juno-r0", "hackbench -g 1 -l 5", ["linux-5.5", "+asym-capacity"], runs=3)
print(*answer.hashes.values(), alight.simulate("rk3588", "schbench -t 2 -r 1").hash)
"""


def interpreter(version: str) -> str:
    """The interpreter of this version: on the path, or one of pyenv."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [str(path) for path in pyenv.glob(f"{version}.*/bin/python")]
    on_path = shutil.which(f"python{version}")
    # A name of pyenv that stands on the path need not lead to an interpreter.
    found += [on_path] if on_path and "shims" not in on_path else []
    if not found:
        pytest.skip(f"there is no CPython {version}")
    return found[0]


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_hashes_are_the_same_on(version, tmp_path, command):
    # Nothing but the package is on the path: it needs no other one.
    shutil.copytree(Path(alight.__file__).parent, tmp_path / "alight")
    asked = [interpreter(version), "-I", "-W", "ignore", "-c", ASK, str(tmp_path)]
    printed = subprocess.run(asked, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    answer = alight.compare(
        "juno-r0", "hackbench -g 1 -l 5", ["linux-5.5", "+asym-capacity"], runs=3
    )
    run = command("simulate", "-m", "rk3588", "-w", "schbench -t 2 -r 1", "--json").stdout
    *hashes, single = printed.stdout.split()
    assert hashes == list(answer.hashes.values())
    assert f'"hash": "{single}"' in run
