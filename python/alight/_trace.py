# SPDX-License-Identifier: GPL-2.0-only
"""Events of a run or of a recording, as the data frames of LISA."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _alight
from ._frames import Backend, frame

Task = Union[int, str, "tuple[Optional[int], Optional[str]]"]


class Trace:
    """Events of a run (`Simulation.trace`, `Comparison.trace`) or of a recording.

    Data frames have the names and columns of LISA: `trace.ana.tasks.df_tasks_states()`. Of pandas,
    the index `Time` is in seconds; of polars, the column `Time` is a duration in ns. Durations are
    in seconds, frequencies in kHz, signals 0 to 1024. A task is named by pid, by name, or by both
    as `(pid, name)`. The idle task (pid 0) is in no table of tasks.

    path: a recording of a workload (`FILE.alight`), made by `alight record workload`, by
    `alight import` or by `alight simulate --trace`.
    backend: of all data frames: `pandas` or `polars`; `None`: the first of them that is installed.
    """

    def __init__(self, path: str | os.PathLike[str], backend: Optional[Backend] = None) -> None:
        self._core = _alight.Trace.open(path)
        self.backend = backend

    @classmethod
    def _of(cls, core: _alight.Trace) -> Trace:
        trace = cls.__new__(cls)
        trace._core = core
        trace.backend = None
        return trace

    def get_view(self, backend: Optional[Backend] = None) -> Trace:
        """The same trace with data frames of another package."""
        view = Trace._of(self._core)
        view.backend = backend
        return view

    @property
    def window(self) -> tuple[float, float]:
        """First and last time, s."""
        start, end = self._core.window()
        return (start / 1e9, end / 1e9)

    @property
    def time_range(self) -> float:
        """Length, s."""
        start, end = self._core.window()
        return (end - start) / 1e9

    @property
    def cpus_count(self) -> int:
        """Number of CPUs."""
        return self._core.cpus_count()

    @property
    def task_ids(self) -> list[tuple[int, str]]:
        """Thread ids and names of the tasks."""
        return self._core.task_ids()

    @property
    def available_events(self) -> list[str]:
        """The kinds of events that `df_event` takes here."""
        return self._core.available_events()

    def df_event(self, event: str) -> Any:
        """All events of one kind, such as `sched_switch`, with the fields of the tracepoint.

        `alight_decision` says which step of the policy chose each CPU, and after how many looks.
        """
        return self._frame(self._core.event(event))

    def df_slices(self) -> Any:
        """What ran on which CPU, and for how long, s."""
        return self._frame(self._core.slices())

    @property
    def ana(self) -> Analysis:
        """The analyses: `tasks`, `latency`, `idle`, `frequency`, `load_tracking`."""
        return Analysis(self)

    def _frame(self, table: _alight.Table) -> Any:
        return frame(table, self.backend, categories=True)

    def __repr__(self) -> str:
        return (
            f"<alight.Trace of {self.time_range:g} s, {self.cpus_count} CPUs, "
            f"{len(self.task_ids)} tasks>"
        )


class _Part:
    def __init__(self, trace: Trace) -> None:
        self._core = trace._core
        self._frame = trace._frame


class Analysis:
    """The analyses of a trace, under the names of LISA."""

    def __init__(self, trace: Trace) -> None:
        self.tasks = TasksAnalysis(trace)
        """States of tasks."""
        self.latency = LatencyAnalysis(trace)
        """How long tasks wait."""
        self.idle = IdleAnalysis(trace)
        """Idle states of CPUs."""
        self.frequency = FrequencyAnalysis(trace)
        """Clocks of CPUs."""
        self.load_tracking = LoadTrackingAnalysis(trace)
        """`util_avg` and its kin."""


class TasksAnalysis(_Part):
    """States of tasks."""

    def df_tasks_states(self) -> Any:
        """Every change of a task's state: `pid`, `comm`, `target_cpu` of a wakeup, `cpu`,
        `curr_state`, `next_state`, and `delta`, s until the next.

        States are the numbers of `prev_state`; 512 is woken, 8192 (LISA's own) is on a CPU.
        """
        return self._frame(self._core.tasks_states())

    def df_task_states(self, task: Task, stringify: bool = False) -> Any:
        """The same of one task; `stringify` adds the states as letters."""
        return self._frame(self._core.task_states(task, stringify))

    def df_tasks_wakeups(self) -> Any:
        """By pid the number of `wakeups`, and `comm`."""
        return self._frame(self._core.tasks_wakeups())

    def df_top_wakeup(self, min_wakeups: int = 100) -> Any:
        """The same of tasks with more than `min_wakeups`, the most first."""
        return self._frame(self._core.top_wakeup(min_wakeups))

    def df_rt_tasks(self, min_prio: int = 99) -> Any:
        """Tasks that ran with a kernel priority of at most `min_prio`: `prio`, `comm`."""
        return self._frame(self._core.rt_tasks(min_prio))

    def df_tasks_runtime(self) -> Any:
        """By pid `comm` and `runtime`, s on CPUs."""
        return self._frame(self._core.tasks_runtime())

    def df_task_total_residency(self, task: Task) -> Any:
        """By CPU `runtime`, s that the task ran there."""
        return self._frame(self._core.task_total_residency(task))

    def df_tasks_total_residency(
        self,
        tasks: Optional[Sequence[Task]] = None,
        ascending: bool = False,
        count: Optional[int] = None,
    ) -> Any:
        """By task (`[pid:comm]`) a column for each CPU, and `Total`, s, which sorts the rows."""
        chosen = None if tasks is None else list(tasks)
        return self._frame(self._core.tasks_total_residency(chosen, ascending, count))

    def df_task_activation(self, task: Task, cpu: Optional[int] = None) -> Any:
        """When the task began to run (`active` 1), to sleep (0) or to wait (NaN): `cpu`,
        `duration`, s, and `duty_cycle`, the part of activation and sleep that it ran."""
        return self._frame(self._core.task_activation(task, cpu))


class LatencyAnalysis(_Part):
    """How long tasks wait."""

    def df_latency_wakeup(self, task: Task) -> Any:
        """For each wakeup `wakeup_latency`, s until it runs; the waker's `cpu`, `target_cpu`."""
        return self._frame(self._core.latency_wakeup(task))

    def df_latency_preemption(self, task: Task) -> Any:
        """For each preemption `preempt_latency`, s until the task runs again, and `cpu`."""
        return self._frame(self._core.latency_preemption(task))

    def df_activations(self, task: Task) -> Any:
        """For each wakeup `activation_interval`, s since the wakeup before."""
        return self._frame(self._core.activations(task))

    def df_runtimes(self, task: Task) -> Any:
        """For each end of a run `curr_state`, and `running_time`, s since the wakeup."""
        return self._frame(self._core.runtimes(task))


class IdleAnalysis(_Part):
    """Idle states of CPUs."""

    def df_cpus_idle(self, cpus: Optional[Sequence[int]] = None) -> Any:
        """Changes of idle states: `cpu`, `state`; -1 is not idle."""
        return self._frame(self._core.cpus_idle(None if cpus is None else list(cpus)))

    def df_cpu_idle(self, cpu: int) -> Any:
        """The same of one CPU."""
        return self._frame(self._core.cpus_idle([cpu]))

    def df_cpus_wakeups(self) -> Any:
        """When which `cpu` left idle."""
        return self._frame(self._core.cpus_wakeups())

    def df_cpu_idle_state_residency(self, cpu: int) -> Any:
        """By idle state `time`, s, from the CPU's first event on."""
        return self._frame(self._core.cpu_idle_state_residency(cpu))


class FrequencyAnalysis(_Part):
    """Clocks of CPUs."""

    def df_cpus_frequency(self) -> Any:
        """Changes of frequencies: `cpu`, `frequency`, kHz."""
        return self._frame(self._core.cpus_frequency(None))

    def df_cpu_frequency(self, cpu: int) -> Any:
        """The same of one CPU."""
        return self._frame(self._core.cpus_frequency(cpu))

    def df_cpu_frequency_residency(self, cpu: int) -> Any:
        """By frequency `total_time` and `active_time` (not idle), s."""
        return self._frame(self._core.cpu_frequency_residency(cpu))

    def df_cpu_frequency_transitions(self, cpu: int) -> Any:
        """By frequency the number of `transitions` to it."""
        return self._frame(self._core.cpu_frequency_transitions(cpu))


class LoadTrackingAnalysis(_Part):
    """`util_avg` and its kin."""

    def df_cpus_signal(self, signal: str, cpus: Optional[Sequence[int]] = None) -> Any:
        """A signal of fair run queues: `util`, `load`, or `capacity`, 0 to 1024."""
        return self._frame(self._core.cpus_signal(signal, None if cpus is None else list(cpus)))

    def df_tasks_signal(self, signal: str) -> Any:
        """A signal of tasks: `util`, `load`, `enqueued`, `ewma`, or `required_capacity`."""
        return self._frame(self._core.tasks_signal(signal, None))

    def df_task_signal(self, task: Task, signal: str) -> Any:
        """The same of one task."""
        return self._frame(self._core.tasks_signal(signal, task))
