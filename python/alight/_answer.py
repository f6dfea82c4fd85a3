# SPDX-License-Identifier: GPL-2.0-only
"""What all answers have: a document, a text, a page."""

from __future__ import annotations

import html
import json
from typing import Any, ClassVar, Generic, Protocol, TypeVar


class Told(Protocol):
    """An answer of the crates."""

    def json(self) -> str: ...
    def text(self) -> str: ...
    def html(self) -> str: ...


Core = TypeVar("Core", bound=Told)


class Answer(Generic[Core]):
    """An answer. The command of the class gives the same."""

    _COMMAND: ClassVar[str]

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def document(self) -> dict[str, Any]:
        """The document that the command prints by `--json`, as a `dict`."""
        document: dict[str, Any] = json.loads(self.json())
        return document

    def json(self) -> str:
        """The same as text, byte for byte."""
        return self._core.json()

    def text(self) -> str:
        """The report for the terminal."""
        return self._core.text()

    def html(self) -> str:
        """The report as a page, byte for byte what the command writes by `--html`."""
        return self._core.html()

    def _repr_html_(self) -> str:
        return _framed(self.html(), self._COMMAND)

    def __str__(self) -> str:
        return self.text()


def _framed(page: str, title: str) -> str:
    """A page in a frame of its own: neither its style nor its script reaches the notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts" title="{title}" '
        'style="width: 100%; height: 40em; border: 0"></iframe>'
    )
