# SPDX-License-Identifier: GPL-2.0-only
"""The types that are written down are those that there are."""

from __future__ import annotations

import subprocess
import sys

from conftest import TREE


def checked(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", *words], cwd=TREE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_keeps_its_own_types():
    checked("mypy", "python/alight")


def test_the_stub_is_that_of_the_module(tmp_path):
    checked("mypy.stubtest", "--mypy-config-file", "pyproject.toml", "alight")
