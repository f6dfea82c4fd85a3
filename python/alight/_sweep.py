# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps: many cells of machines, workloads and schedulers with ranges, and their store."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional, Union

from . import _alight
from ._answer import Answer
from ._frames import Backend, frame
from ._given import Machine, Workload
from ._progress import Progress, listener

Executor = Union[Literal["local"], Literal["ray"]]


class Sweep:
    """A sweep (`alight.sweep/1`). See `alight sweep` and docs/reference/sweep.md.

    file: its file, or a `dict` of the file's keys, in which machines may be `Machine` and workloads
    `Workload`.
    name: what messages and the store call a `dict`.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | Mapping[str, Any],
        name: str = "sweep.toml",
    ) -> None:
        texts: dict[str, str] = {}
        if isinstance(file, Mapping):
            text = _alight.toml_of_json(json.dumps(_worded(file, texts)))
        else:
            name = os.fspath(file)
            try:
                text = Path(file).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise _alight.BadInput(f"{name}: cannot be read: {error}") from error
        self._core = _alight.Sweep(name, text, texts)

    @property
    def text(self) -> str:
        """The sweep's file as text: saved, it is the sweep of the command."""
        return self._core.text()

    @property
    def cells(self) -> int:
        """Number of cells: some schedulers on a machine under a load, which share seeds."""
        return self._core.cells()

    @property
    def most_runs(self) -> int:
        """Simulations at most; `until` may spare some."""
        return self._core.most_runs()

    def run(
        self,
        store: str | os.PathLike[str],
        jobs: Optional[int] = None,
        executor: Executor = "local",
        allow_runs: int = 100_000,
        progress: Progress = None,
    ) -> SweepResults:
        """Runs what the store lacks, and returns what is in it.

        Cells that cannot run are left out, with a warning (`SweepResults.refused`).

        store: an SQLite file, made if there is none. It is written as the runs come: after
        ctrl-C, or if the process was killed, the same call goes on from there.
        jobs: cores at most; `None`: all, with `ray` all of the cluster.
        executor: `local`: this machine; `ray`: a cluster, by Ray: the one that is connected
        (`ray.init(...)`), else one that is started on this machine for this call.
        allow_runs: simulations that may be made. A sweep of more says so and does not start.
        progress: `True`: a bar on standard error; `False`: none; `None`: one if that is a terminal
        or a notebook; a function: it is called with a `SweepProgress` at most every 20 ms, by the
        thread that called, and what it raises ends the sweep as ctrl-C does.
        """
        path = Path(store)
        if executor not in ("local", "ray"):
            raise _alight.BadInput(f"executor {executor!r}: expected 'local' or 'ray'")
        self._core.check_size(allow_runs, jobs)
        if executor == "ray":
            from . import _ray

            run = partial(_ray.run, self._core, path, jobs)
        else:
            run = partial(self._core.run, path, jobs)
        with listener(progress) as hear:
            run(hear)
        found = SweepResults(path)
        refused = found.refused
        if refused:
            told = f"{len(refused)} of {self.cells} cells cannot run (SweepResults.refused); {refused[0]}"
            warnings.warn(told, _alight.AlightWarning, stacklevel=2)
        return found

    @staticmethod
    def open(store: str | os.PathLike[str]) -> SweepResults:
        """What is in a store."""
        return SweepResults(store)

    def __repr__(self) -> str:
        return (
            f"<alight.Sweep {self._core.name()}, {self.cells} cells, {self.most_runs} runs at most>"
        )


class RefusedCell(NamedTuple):
    """A cell of a sweep that cannot run: an element of `SweepResults.refused`.

    cell: its number.
    machine: its machine.
    workload: its workload.
    figures: figures of the machine that vary, by name, as typed.
    why: why it cannot run.
    """

    cell: int
    machine: str
    workload: str
    figures: dict[str, str]
    why: str

    def __str__(self) -> str:
        figures = "".join(f", {name}={value}" for name, value in self.figures.items())
        return f"cell {self.cell} cannot run: {self.machine}, '{self.workload}'{figures}: {self.why}"


class SweepResults(Answer[_alight.SweepStore]):
    """The runs of a sweep, and what they say together, as `alight sweep show`.

    Its document is `alight.sweep-answer/1`: best settings, the front, effects of factors.
    """

    _COMMAND = "alight sweep show"

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self._path = Path(store)
        super().__init__(_alight.SweepStore(self._path))

    @property
    def path(self) -> Path:
        """The store: an SQLite file, which other programs can read."""
        return self._path

    @property
    def refused(self) -> list[RefusedCell]:
        """The cells that cannot run and so have no rows, each with its reason."""
        return [RefusedCell(*cell) for cell in self._core.refused()]

    def df(self, backend: Optional[Backend] = None) -> Any:
        """A data frame with a row for each number of each run.

        Columns are those of `alight sweep export --csv`: a column for each factor, `seed`,
        `metric`, and `value` in `unit`.
        """
        return frame(self._core.table(), backend, categories=True)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the same table as Parquet, by pyarrow."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            message = "Parquet needs pyarrow: pip install 'alight[parquet]'"
            raise ImportError(message) from error
        target = Path(path)
        # Nothing half-written stands under the final name.
        unfinished = target.with_name(f".{target.name}.unfinished")
        try:
            pyarrow.parquet.write_table(pyarrow.table(self._core.table()), unfinished)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)

    def __repr__(self) -> str:
        return f"<alight.SweepResults {self._path}>"


def _worded(value: Any, texts: dict[str, str]) -> Any:
    """The value as a file has it; machines and workloads that are in no file go to `texts`."""
    if isinstance(value, (Machine, Workload)):
        word, text = value._given
        if text is not None and texts.setdefault(word, text) != text:
            raise _alight.BadInput(f"two texts are called '{word}'; give each a name of its own")
        return word
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): _worded(one, texts) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_worded(one, texts) for one in value]
    return value
