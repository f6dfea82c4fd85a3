# SPDX-License-Identifier: GPL-2.0-only
"""Answers: a comparison, a run, an explanation."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional

from . import _alight
from ._answer import Answer
from ._frames import Backend, frame
from ._trace import Trace

if TYPE_CHECKING:
    from ._plot import ComparisonPlots


class Comparison(Answer[_alight.Comparison]):
    """Schedulers on one machine under one load; the first is the base. See `alight.compare`.

    Its document is `alight.compare/1`. The first run of each scheduler is made once more for the
    timelines of its page.
    """

    _COMMAND = "alight compare"

    @property
    def hashes(self) -> dict[str, str]:
        """By scheduler the hash of its runs. The command prints the same."""
        return dict(self._core.hashes())

    @property
    def schedulers(self) -> list[str]:
        """The labels of the schedulers, the base first."""
        return [name for name, _ in self._core.hashes()]

    @property
    def seeds(self) -> list[int]:
        """The seeds of the runs."""
        return self._core.seeds()

    @property
    def command(self) -> str:
        """The command line that gives this comparison again."""
        return self._core.command()

    @property
    def answer(self) -> list[str]:
        """The answer in words, a sentence each."""
        return self._core.words()

    def text(self, full: bool = False) -> str:
        """The report for the terminal; `full`: all numbers."""
        return self._core.text(full)

    def df(self, samples: bool = False, backend: Optional[Backend] = None) -> Any:
        """A data frame with a row for each scheduler and number.

        Columns are those of `alight compare --style csv`: `mean`, `std` and quantiles in `unit`;
        `delta_percent`, `ci_low` and `ci_high` in percent of the base's mean; `verdict`.
        samples: a row for each run: `seed` and `value` in `unit`.
        backend: `pandas` or `polars`; `None`: the first of them that is installed.
        """
        return frame(self._core.table(samples), backend)

    def trace(self, scheduler: Optional[str] = None, seed: Optional[int] = None) -> Trace:
        """The events of one run; of the base and of the first seed by default."""
        labels = self.schedulers
        scheduler = labels[0] if scheduler is None else scheduler
        if scheduler not in labels:
            known = ", ".join(labels)
            raise _alight.BadInput(f"no scheduler '{scheduler}' in the comparison; it has {known}")
        seeds = self.seeds
        seed = seeds[0] if seed is None else seed
        if seed not in seeds:
            known = f"{seeds[0]} to {seeds[-1]}"
            raise _alight.BadInput(f"no seed {seed} in the comparison; its seeds are {known}")
        return Trace._of(self._core.trace(labels.index(scheduler), seed))

    @cached_property
    def plot(self) -> ComparisonPlots:
        """Pictures, by matplotlib: `plot.delta()`, `plot.timeline()`."""
        from ._plot import ComparisonPlots

        return ComparisonPlots(self)

    def __repr__(self) -> str:
        loads = " and ".join(self._core.workloads())
        runs = len(self.seeds)
        return (
            f"<alight.Comparison {self._core.machine()}, {loads}: "
            f"{', '.join(self.schedulers)}; {runs} runs each>"
        )


class Simulation(Answer[_alight.Simulation]):
    """One run. See `alight.simulate`.

    Its document is `alight.simulate/1`. The run is made once more for the timeline of its page.
    """

    _COMMAND = "alight simulate"

    @property
    def hash(self) -> str:
        """The hash of the run, as the command prints it."""
        return self._core.hash()

    @property
    def scheduler(self) -> str:
        """The label of the scheduler."""
        return self._core.scheduler()

    @property
    def seed(self) -> int:
        """The seed."""
        return self._core.seed()

    @property
    def end_ns(self) -> int:
        """The end of the run, ns of simulated time."""
        return self._core.end_ns()

    @property
    def command(self) -> str:
        """The command line that makes this run again."""
        return self._core.command()

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers of the run; a name ends in its unit (`elapsed_s`, `energy_j`)."""
        return dict(self._core.metrics())

    @property
    def steps(self) -> dict[str, int]:
        """Decisions by the step of the selection that answered."""
        return dict(self._core.steps())

    def df(self, backend: Optional[Backend] = None) -> Any:
        """A data frame with a row for each number: `metric`, `value` in `unit`, `better`."""
        return frame(self._core.table(), backend)

    @cached_property
    def trace(self) -> Trace:
        """The events of the run. The run is made once more: events change nothing of it."""
        return Trace._of(self._core.trace())

    def __repr__(self) -> str:
        loads = " and ".join(self._core.workloads())
        return (
            f"<alight.Simulation {self._core.machine()}, {loads}: "
            f"{self.scheduler}, seed {self.seed}, hash {self.hash}>"
        )


class Explanation(Answer[_alight.Explanation]):
    """Decisions of a task, or the steps that answered. See `alight.explain`.

    Its document is `alight.explain/1` or `alight.explain-histogram/1`. The run is made once more
    for the timeline of a page of decisions.
    """

    _COMMAND = "alight explain"

    def __repr__(self) -> str:
        return self.text()
