# SPDX-License-Identifier: GPL-2.0-only
"""What users give: machines, workloads, options; and these as the words of a command line."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from . import _alight

_Named = tuple[str, Optional[str]]


class Machine:
    """A machine: a built-in name, a file ending in `.toml`, a recording that holds one, `host`."""

    def __init__(self, name_or_path: str | os.PathLike[str]) -> None:
        self._given: _Named = (os.fspath(name_or_path), None)
        self._found = _alight.machine(self._given)

    @classmethod
    def from_toml(cls, text: str, name: str = "machine.toml") -> Machine:
        """The machine of a text in the form of a machine file; messages call it `name`."""
        machine = cls.__new__(cls)
        machine._given = (name, text)
        machine._found = _alight.machine(machine._given)
        return machine

    @property
    def name(self) -> str:
        """Name."""
        return self._found[0]

    @property
    def cpus(self) -> int:
        """Number of CPUs."""
        return self._found[1]

    @property
    def toml(self) -> str:
        """Its file, as one text."""
        return self._found[2]

    @property
    def document(self) -> dict[str, Any]:
        """The document `alight.machine/1`: CPUs, frequencies in kHz, capacities, costs in ns."""
        document: dict[str, Any] = json.loads(self.json())
        return document

    def json(self) -> str:
        """The same as text, byte for byte what `alight machine show --json` prints."""
        return self._found[3]

    def __repr__(self) -> str:
        return f"<alight.Machine {self.name}, {self.cpus} CPUs>"

    def __str__(self) -> str:
        return self._found[4]


class Workload:
    """A workload: a command line, an rt-app file (`.json`), or a recording (`.alight`)."""

    def __init__(self, text: str | os.PathLike[str]) -> None:
        self._given: _Named = (os.fspath(text), None)

    @classmethod
    def rtapp(cls, tasks: Mapping[str, Any] | str, name: str = "workload.json") -> Workload:
        """An rt-app workload that is in no file: its JSON as a `dict` or as text.

        name: what reports and errors call it.
        """
        text = tasks if isinstance(tasks, str) else json.dumps(tasks, indent=1)
        _alight.check_rtapp(name, text)
        workload = cls(name)
        workload._given = (name, text)
        return workload

    @classmethod
    def from_recording(cls, file: str | os.PathLike[str], *options: str) -> Workload:
        """A recorded workload, replayed; `options` as behind the file on the command line."""
        return cls(shlex.join([os.fspath(file), *options]))

    @property
    def text(self) -> Optional[str]:
        """The JSON of a workload that is in no file."""
        return self._given[1]

    def __repr__(self) -> str:
        return f"<alight.Workload {self._given[0]}>"


MachineLike = Union[str, "os.PathLike[str]", Machine]
WorkloadLike = Union[str, "os.PathLike[str]", Workload]
Option = Union[str, int, "os.PathLike[str]", Sequence[str], None]


def load(
    machine: Optional[MachineLike],
    workload: WorkloadLike | Sequence[WorkloadLike],
    options: Mapping[str, Option],
) -> _alight.Input:
    """Loads what was given. Called by a function that the user calls: warnings name that line."""
    workloads: Sequence[WorkloadLike]
    if isinstance(workload, (str, os.PathLike, Workload)):
        workloads = [workload]
    else:
        workloads = workload
    return _alight.Input(
        None if machine is None else _named(machine),
        [_named(one) for one in workloads],
        [pair for name, value in options.items() for pair in _words(name, value)],
    )


def _named(given: MachineLike | WorkloadLike) -> _Named:
    if isinstance(given, (Machine, Workload)):
        return given._given
    return (os.fspath(given), None)


def _words(name: str, value: Option) -> list[tuple[str, str]]:
    option = name.replace("_", "-")
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [(option, os.fspath(value))]
    if isinstance(value, bool) or not isinstance(value, (int, Sequence)):
        kind = type(value).__name__
        raise TypeError(f"{name}={value!r}: expected text as the command takes it, found {kind}")
    if isinstance(value, int):
        return [(option, str(value))]
    return [(option, text) for text in value]
