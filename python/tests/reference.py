# SPDX-License-Identifier: GPL-2.0-only
"""The page docs/reference/python.md, from the docstrings of the package."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import alight
from alight import _plot, _trace

HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-only -->
# The Python package

Every name of the package `alight`. This page is made of the package's own docstrings
(`ALIGHT_BLESS=1 tests/python.sh`). [Ask from Python](../howto/python.md) shows how the names go
together.

Times are in seconds unless a name ends in `_ns`.
"""
PARTS = [
    (
        "Functions",
        [alight.compare, alight.simulate, alight.explain, alight.machines, alight.schedulers],
    ),
    ("What is asked", [alight.Machine, alight.Workload]),
    ("Answers", [alight.Comparison, _plot.ComparisonPlots, alight.Simulation, alight.Explanation]),
    ("Sweeps", [alight.Sweep, alight.SweepProgress, alight.SweepResults, alight.RefusedCell]),
    (
        "Traces",
        [
            alight.Trace,
            _trace.TasksAnalysis,
            _trace.LatencyAnalysis,
            _trace.IdleAnalysis,
            _trace.FrequencyAnalysis,
            _trace.LoadTrackingAnalysis,
        ],
    ),
    ("Exceptions", [alight.BadInput, alight.HostError, alight.AlightWarning]),
]
# Where users find what has no name of its own.
PLACES = {
    _plot.ComparisonPlots: "Comparison.plot",
    _trace.TasksAnalysis: "Trace.ana.tasks",
    _trace.LatencyAnalysis: "Trace.ana.latency",
    _trace.IdleAnalysis: "Trace.ana.idle",
    _trace.FrequencyAnalysis: "Trace.ana.frequency",
    _trace.LoadTrackingAnalysis: "Trace.ana.load_tracking",
}


def page() -> str:
    text = HEAD
    for title, things in PARTS:
        text += f"\n## {title}\n"
        for thing in things:
            name = PLACES.get(thing, thing.__name__)
            text += f"\n### {name}\n\n"
            if inspect.isfunction(thing):
                text += f"`alight.{call(name, thing)}`\n\n"
            text += described(thing)
            rows = list(members(thing)) if inspect.isclass(thing) else []
            if rows:
                text += "\n| member | is |\n|---|---|\n"
                text += "".join(f"| `{member}` | {cell(said)} |\n" for member, said in rows)
    return text


def members(kind: type) -> Iterator[tuple[str, str]]:
    # The fields of a tuple are in its docstring.
    if issubclass(kind, (Exception, tuple)):
        return
    if kind.__init__ is not object.__init__ and kind in vars(alight).values():
        made = call("", kind.__init__)
        if "core" not in made and kind is not alight.SweepResults:
            yield f"{kind.__name__}{made}", "makes one"
    for name, member in all_members(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, (classmethod, staticmethod)):
            yield call(f"{kind.__name__}.{name}", member.__func__), member.__doc__ or ""
        elif inspect.isfunction(member):
            yield call(name, member), member.__doc__ or ""
        else:
            yield name, member.__doc__ or ""


def all_members(kind: type) -> dict[str, Any]:
    """Its own members in their order, and behind them those of bases that have no page."""
    found: dict[str, Any] = {}
    for owner in kind.__mro__:
        if owner.__module__.startswith("alight"):
            found.update((name, one) for name, one in vars(owner).items() if name not in found)
    return found


def call(name: str, function: Any) -> str:
    """The call with its parameters, without types."""
    words = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        words.append(f"{stars}{parameter.name}{default}")
    return f"{name}({', '.join(words)})"


def described(thing: Any) -> str:
    """A docstring as paragraphs; lines `name: …`, with those that go on, become a list."""
    lines: list[str] = []
    listed = False
    for line in inspect.cleandoc(thing.__doc__ or "").splitlines():
        named = re.match(r"([a-z_]+): (.*)", line)
        if named and not listed and lines and lines[-1]:
            lines.append("")
        listed = bool(named) or listed and bool(line)
        lines.append(f"- `{named[1]}`: {named[2]}" if named else f"  {line}" if listed else line)
    return "\n".join(lines) + "\n"


def cell(said: str) -> str:
    lines = inspect.cleandoc(said).splitlines()
    words = " ".join(re.sub(r"^([a-z_]+): ", r"`\1`: ", line.strip()) for line in lines if line)
    return words.rstrip(".").replace("|", "\\|")
