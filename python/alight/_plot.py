# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of a comparison, by matplotlib, which is imported when one is drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from . import _alight
from ._frames import array

if TYPE_CHECKING:
    from ._results import Comparison

# Told apart without colour, too: Okabe and Ito's palette, and shapes.
_MARKS = {
    "better": ("#009e73", "^"),
    "worse": ("#d55e00", "v"),
    "different": ("#cc79a7", "D"),
}
_PLAIN = ("#777777", "o")
_TASKS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"]


class ComparisonPlots:
    """Pictures of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def delta(self, metrics: Optional[Sequence[str]] = None, ax: Any = None) -> Any:
        """Differences from the base in percent, with their 95 % intervals, a row each.

        metrics: names of numbers; `None`: the results and the energy.
        Returns the matplotlib axes.
        """
        rows = self._deltas(metrics)
        if ax is None:
            _, ax = _pyplot().subplots(figsize=(8, 1 + 0.3 * max(len(rows), 1)))
        for place, (_, delta, low, high, verdict) in enumerate(rows):
            color, marker = _MARKS.get(verdict, _PLAIN)
            # A difference without spread has no interval.
            ends = [[0.0], [0.0]] if low != low else [[delta - low], [high - delta]]
            ax.errorbar(delta, place, xerr=ends, fmt=marker, color=color, capsize=3)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(range(len(rows)), [f"{label}  {verdict}" for label, _, _, _, verdict in rows])
        ax.invert_yaxis()
        ax.set_xlabel(f"difference from {self._comparison.schedulers[0]}, % [95 % interval]")
        return ax

    def _deltas(
        self, metrics: Optional[Sequence[str]]
    ) -> list[tuple[str, float, float, float, str]]:
        columns = _lists(self._comparison._core.table(False))
        several = len(self._comparison.schedulers) > 2
        rows = []
        for place, delta in enumerate(columns["delta_percent"]):
            metric = columns["metric"][place]
            wanted = metric in metrics if metrics else columns["kind"][place] != "mechanism"
            if delta == delta and wanted:
                label = f"{columns['scheduler'][place]} {metric}" if several else metric
                ends = (columns["ci_low"][place], columns["ci_high"][place])
                rows.append((label, delta, *ends, columns["verdict"][place] or ""))
        if metrics and not rows:
            raise _alight.BadInput(f"no difference of {', '.join(metrics)} in the comparison")
        return rows

    def timeline(
        self,
        seed: Optional[int] = None,
        time: Optional[tuple[float, float]] = None,
        axes: Any = None,
    ) -> Any:
        """What ran on each CPU, a picture for each scheduler, one above the other.

        seed: whose runs; `None`: the first.
        time: from and to, s of simulated time; `None`: all.
        Returns the matplotlib axes.
        """
        labels = self._comparison.schedulers
        if axes is None:
            cpus = self._comparison.trace(labels[0], seed).cpus_count
            size = (10, len(labels) * (1 + 0.2 * cpus))
            _, axes = _pyplot().subplots(len(labels), 1, figsize=size, sharex=True, squeeze=False)
            axes = axes[:, 0]
        colors: dict[str, str] = {}
        traces = [self._comparison.trace(label, seed) for label in labels]
        longest = max((trace.window for trace in traces), key=lambda window: window[1])
        for ax, label, trace in zip(axes, labels, traces):
            _draw_slices(ax, trace._core.slices(), colors)
            ax.set_ylim(trace.cpus_count - 0.4, -0.6)
            ax.set_xlim(*(time or longest))
            ax.set_title(label, loc="left", fontsize="medium")
            ax.set_ylabel("CPU")
        axes[-1].set_xlabel("simulated time, s")
        _legend(axes[0], colors)
        return axes


def _draw_slices(ax: Any, table: _alight.Table, colors: dict[str, str]) -> None:
    """Slices as boxes, a row for each CPU; `colors` are those of the kinds of tasks."""
    import numpy
    from matplotlib.collections import PolyCollection

    columns = {column[0]: column for column in table.columns()}
    begin = array(columns["Time"]) / 1e9
    end = begin + array(columns["duration"])
    cpu = array(columns["cpu"])
    words = columns["comm"][3] or []
    kinds = [_kind(word) for word in words]
    for kind in kinds:
        colors.setdefault(kind, _TASKS[min(len(colors), len(_TASKS) - 1)])
    of = array(columns["comm"])
    low, high = cpu - 0.4, cpu + 0.4
    corners = numpy.stack([begin, low, begin, high, end, high, end, low], axis=1)
    boxes = corners.reshape(-1, 4, 2)
    shades = [colors[kinds[place]] for place in of]
    ax.add_collection(PolyCollection(boxes, facecolors=shades, edgecolors="none"))


def _legend(ax: Any, colors: dict[str, str]) -> None:
    from matplotlib.patches import Patch

    known = list(colors.items())
    handles = [Patch(color=color, label=kind) for kind, color in known[: len(_TASKS) - 1]]
    if len(known) >= len(_TASKS):
        handles.append(Patch(color=_TASKS[-1], label="others"))
    # Above the picture, where it hides no task.
    ax.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1, 1),
        fontsize="small",
        ncols=len(handles),
    )


def _kind(comm: str) -> str:
    """Tasks of a kind share their name but for a number."""
    return re.sub(r"-?[0-9]+$", "", comm) or comm


def _lists(table: _alight.Table) -> dict[str, list[Any]]:
    """The columns as lists; words as text."""
    lists = {}
    for column in table.columns():
        values = array(column).tolist()
        words = column[3]
        if words is not None:
            values = [words[code] if code >= 0 else None for code in values]
        lists[column[0]] = values
    return lists


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        message = "a picture needs matplotlib: pip install 'alight[plot]'"
        raise ImportError(message) from error
    return pyplot
