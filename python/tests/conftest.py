# SPDX-License-Identifier: GPL-2.0-only
"""What the tests share: the command, and skips that tests/all.sh counts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Calls the command `alight` of the tree: ALIGHT_COMMAND, else what cargo built last."""
    built = [TREE / "target" / profile / "alight" for profile in ("debug", "release")]
    known = [Path(os.environ["ALIGHT_COMMAND"])] if "ALIGHT_COMMAND" in os.environ else built
    there = [path for path in known if path.exists()]
    if not there:
        pytest.skip("the command is not built: cargo build")
    newest = max(there, key=lambda path: path.stat().st_mtime)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(newest), *words], capture_output=True, text=True)

    return call


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"SKIPPED: {report.nodeid}: {reason}")
