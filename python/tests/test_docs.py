# SPDX-License-Identifier: GPL-2.0-only
"""Every Python block of the docs does what the page says, and the notebook runs.

Blocks of one page share their names. A block that is to be read only says so: ```python,norun.
"""

from __future__ import annotations

import doctest
import os
import re
import warnings

import nbclient
import nbformat
import pytest
import reference
from conftest import TREE

import alight

PAGES = sorted([*TREE.glob("docs/**/*.md"), TREE / "README.md"])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
WITH_BLOCKS = [page for page in PAGES if BLOCK.search(page.read_text())]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as the page's reader has it: with the tree's examples."""
    for name in ("workloads", "machines", "crates"):
        (tmp_path / name).symlink_to(TREE / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(TREE)))
def test_blocks_of(page, folder):
    names: dict[str, object] = {}
    for match in BLOCK.finditer(page.read_text()):
        line = page.read_text()[: match.start()].count("\n") + 1
        test = doctest.DocTestParser().get_doctest(match[1], names, page.name, str(page), line)
        said: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter("error", alight.AlightWarning)
            if test.examples:
                runner = doctest.DocTestRunner(optionflags=FLAGS)
                runner.run(test, out=said.append, clear_globs=False)
                names = test.globs
            else:
                exec(compile(match[1], str(page), "exec"), names)
        assert not said, "".join(said)


def test_there_are_blocks():
    assert TREE / "docs/howto/python.md" in WITH_BLOCKS


def test_the_examples_of_docstrings():
    failed, tried = doctest.testmod(alight, optionflags=FLAGS)
    assert (failed, tried > 0) == (0, True)


NOTEBOOKS = sorted(TREE.glob("docs/notebooks/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_runs(path, folder):
    notebook = nbformat.read(path, as_version=4)
    # Outputs are not kept in the tree: they are those of whoever runs it.
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    nbclient.NotebookClient(
        notebook, timeout=None, resources={"metadata": {"path": folder}}
    ).execute()
    pages = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert any("<iframe srcdoc=" in page for page in pages)


def test_the_reference_is_that_of_the_docstrings():
    path = TREE / "docs/reference/python.md"
    if "ALIGHT_BLESS" in os.environ:
        path.write_text(reference.page())
    assert path.read_text() == reference.page(), "ALIGHT_BLESS=1 tests/python.sh writes it anew"


def test_every_name_is_in_the_reference():
    text = reference.page()
    missing = [name for name in alight.__all__ if f"\n### {name}\n" not in text]
    assert not missing
