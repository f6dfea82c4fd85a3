# SPDX-License-Identifier: GPL-2.0-only
"""How far a sweep is, while it runs: for a function of the caller, or as a bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Optional, TextIO, Union

# Width of the bar, characters.
WIDTH = 40
# The bar is drawn again after so long, s.
AGAIN = 0.1


class SweepProgress(NamedTuple):
    """How far a sweep is: what the function `progress` of `Sweep.run` is called with.

    cells: cells of the sweep.
    complete: those that are complete.
    refused: those that cannot run.
    runs: simulations that are stored.
    most_runs: simulations that it takes at most.
    spared: those of them that `until` spared.
    """

    cells: int
    complete: int
    refused: int
    runs: int
    most_runs: int
    spared: int


Progress = Union[None, bool, Callable[[SweepProgress], object]]
_Hear = Callable[[int, int, int, int, int, int], object]


@contextmanager
def listener(progress: Progress) -> Iterator[Optional[_Hear]]:
    """What the crates call while a sweep runs; `None`: nobody listens."""
    if callable(progress):
        tell = progress
        yield lambda *at: tell(SweepProgress(*at))
        return
    # A program without a window has no standard error.
    stream: Optional[TextIO] = sys.stderr
    if stream is None or not (_is_watched(stream) if progress is None else progress):
        yield None
        return
    bar = _Bar(stream)
    try:
        yield lambda *at: bar.hear(SweepProgress(*at))
    finally:
        bar.finish()


def _is_watched(stream: TextIO) -> bool:
    """Whether somebody sees what is written at once: on a terminal, or in a notebook."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


class _Bar:
    """One line, written again and again, and taken away at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun: Optional[tuple[float, int]] = None
        self._drawn = float("-inf")
        self._length = 0

    def hear(self, at: SweepProgress) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun = (now, at.runs)
        if now - self._drawn >= AGAIN:
            self._drawn = now
            self._write(_line(at, _left(at, now, *self._begun)))

    def finish(self) -> None:
        self._write("")
        self._stream.write("\r")
        self._stream.flush()

    def _write(self, line: str) -> None:
        # Blanks cover what a longer line left.
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)


def _line(at: SweepProgress, left: Optional[float]) -> str:
    """The words of the command's bar."""
    most = max(at.most_runs - at.spared, 1)
    full = min(WIDTH * at.runs // most, WIDTH)
    spared = f", {at.spared} spared" if at.spared else ""
    refused = f", {at.refused} refused" if at.refused else ""
    words = f"{at.complete}/{at.cells} cells{refused}, {at.runs} runs{spared}"
    eta = "" if left is None else f", {_length(left)} left at most"
    return f"{'#' * full}{'.' * (WIDTH - full)} {words}{eta}"


def _left(at: SweepProgress, now: float, begun: float, before: int) -> Optional[float]:
    """The time that the rest takes at most, s, by that of the runs since `begun`."""
    made = at.runs - before
    if made <= 0:
        return None
    return (now - begun) / made * max(at.most_runs - at.spared - at.runs, 0)


def _length(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
