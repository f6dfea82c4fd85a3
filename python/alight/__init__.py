# SPDX-License-Identifier: GPL-2.0-only
"""Which CPU a waking Linux task runs on: simulated, compared, explained.

    >>> import alight
    >>> schedulers = ["linux-5.5", "+asym-capacity"]
    >>> answer = alight.compare("juno-r0", "hackbench -g 1 -l 10", schedulers, runs=5)
    >>> answer.hashes["linux-5.5"]
    '...'

The package is a face of the crates that the command `alight` calls: same words, same numbers, same
hashes. Options are those of the command, with `_` for `-` (`idle_governor="teo"`); their values are
in the words of the command (`duration="5s"`). Errors are exceptions with the texts of the command,
its remarks are warnings (`AlightWarning`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from . import _alight
from ._alight import AlightWarning, BadInput, HostError
from ._given import Machine, MachineLike, Option, Workload, WorkloadLike, load
from ._progress import SweepProgress
from ._results import Comparison, Explanation, Simulation
from ._sweep import RefusedCell, Sweep, SweepResults
from ._trace import Trace

__all__ = [
    "AlightWarning",
    "BadInput",
    "Comparison",
    "Explanation",
    "HostError",
    "Machine",
    "RefusedCell",
    "Simulation",
    "Sweep",
    "SweepProgress",
    "SweepResults",
    "Trace",
    "Workload",
    "compare",
    "explain",
    "machines",
    "schedulers",
    "simulate",
]

__version__ = _alight.version()


def machines() -> list[str]:
    """Names of the built-in machines, as `alight machine list` has them."""
    return _alight.machines()


def schedulers() -> dict[str, str]:
    """Base kernels, oldest first, and features (`+…`), each with what it does.

    A scheduler is a base with any number of features: `linux-6.5+bias-prev:spare=128`.
    """
    return dict(_alight.schedulers())


def compare(
    machine: Optional[MachineLike],
    workload: WorkloadLike | Sequence[WorkloadLike],
    schedulers: Sequence[str],
    runs: Optional[int] = None,
    seed: int = 1,
    jobs: Optional[int] = None,
    until: Optional[str] = None,
    **options: Option,
) -> Comparison:
    """Compares schedulers on one machine under one load, as `alight compare`.

    machine: a name, a file, a `Machine`; `None`: the one that a recorded workload holds.
    workload: a command line, an rt-app file, a recording, a `Workload`; several run at once.
    schedulers: two or more; the first is the base, to which features without a base are added.
    runs: runs of each scheduler, 1 to 1 000 000, with the seeds `seed`, `seed` + 1, …; `None`: 10,
    with `until` at most 80.
    jobs: threads at most; `None`: one a core.
    until: end as soon as the difference is known this well, like `"1%"` or `"energy_j=1%"`.
    options: those of the command, such as `duration="5s"`, `governor="schedutil"`.

    Raises `BadInput` for what cannot be compared; ctrl-C raises `KeyboardInterrupt`.
    """
    given = load(machine, workload, {"seed": seed, **options})
    return Comparison(given.compare(list(schedulers), runs, until, jobs))


def simulate(
    machine: Optional[MachineLike],
    workload: WorkloadLike | Sequence[WorkloadLike],
    scheduler: Optional[str] = None,
    seed: int = 1,
    **options: Option,
) -> Simulation:
    """Simulates one run, as `alight simulate`.

    scheduler: `None`: the newest base. The others are those of `compare`.
    """
    given = load(machine, workload, {"seed": seed, **options})
    return Simulation(given.simulate(scheduler))


def explain(
    machine: Optional[MachineLike],
    workload: WorkloadLike | Sequence[WorkloadLike],
    scheduler: Optional[str] = None,
    task: Optional[str] = None,
    at: Optional[str] = None,
    limit: Optional[int] = None,
    histogram: bool = False,
    seed: int = 1,
    **options: Option,
) -> Explanation:
    """Says why tasks went where they did, as `alight explain`.

    task: the name (comm) of the task whose decisions are shown.
    at: begin at this time of the run, like `"1.5s"`.
    limit: decisions at most; by default 10, with `at` 1.
    histogram: count the steps that answered, of all tasks or of `task`.
    """
    given = load(machine, workload, {"seed": seed, **options})
    return Explanation(given.explain(scheduler, task, at, limit, histogram))
