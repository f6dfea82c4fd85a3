# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps on a cluster, by Ray.

The process that calls is the only one that writes the store. Tasks of Ray run batches and send
their results home; a worker that dies costs that its batches run again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional

from . import _alight

# A task that takes less gains nothing: Ray needs 1 ms for each.
TASK_SECONDS = 0.2
# Tasks in flight for each core, so that none waits for the driver.
AHEAD = 2
# How often Ray runs a task again whose worker died.
RETRIES = 10

# In a worker: the sweep that it ran last, by its identity.
_LOADED: dict[str, _alight.Sweep] = {}

_Payload = tuple[str, str, tuple[tuple[str, str], ...], str]


def run(
    sweep: _alight.Sweep,
    store: Path,
    jobs: Optional[int],
    progress: Optional[Callable[[int, int, int, int, int, int], object]],
) -> None:
    """Runs what the store lacks on the cluster that is connected, or on one for this call."""
    ray = _imported()
    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False)
    try:
        sweep.run_by(store, _Spread(ray, sweep, jobs), progress)
    finally:
        if started:
            ray.shutdown()


class _Spread:
    """Called with batches: an iterator over their results, a list for each task."""

    def __init__(self, ray: Any, sweep: _alight.Sweep, jobs: Optional[int]) -> None:
        self._ray = ray
        texts = tuple(sorted(sweep.texts().items()))
        payload: _Payload = (sweep.name(), sweep.text(), texts, sweep.identity())
        self._payload = ray.put(payload)
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        self._jobs = jobs
        # Of one batch, as measured by the workers.
        self._seconds: Optional[float] = None

    def __call__(self, batches: list[str]) -> Iterator[list[str]]:
        """After an error, tasks in flight run to their end: each takes `TASK_SECONDS` or one batch.

        `ray.cancel` would end them, but ends the driver by SIGABRT if a task ends at that moment
        (seen in Ray 2.60.0: "Tried to complete task that was not pending").
        """
        ray = self._ray
        waiting: dict[Any, int] = {}
        at = 0
        while at < len(batches) or waiting:
            while at < len(batches) and len(waiting) < AHEAD * self._cores():
                size = self._size(len(batches) - at)
                waiting[self._task.remote(self._payload, batches[at : at + size])] = size
                at += size
            done, _ = ray.wait(list(waiting), num_returns=1)
            for task in done:
                seconds, results = self._result(task)
                self._note(seconds / waiting.pop(task))
                yield results

    def _result(self, task: Any) -> tuple[float, list[str]]:
        """What a task gave. An error of its own is raised as it is, without the worker's."""
        try:
            result: tuple[float, list[str]] = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            message = f"Ray: {error}; what was stored before is kept"
            raise _alight.HostError(message) from error
        return result

    def _cores(self) -> int:
        cores = max(int(self._ray.cluster_resources().get("CPU", 1)), 1)
        return cores if self._jobs is None else min(cores, self._jobs)

    def _size(self, left: int) -> int:
        """Batches of the next task: enough for its time, and no more than leave work for all."""
        if self._seconds is None:
            return 1
        enough = math.ceil(TASK_SECONDS / max(self._seconds, 1e-6))
        return max(1, min(enough, math.ceil(left / self._cores())))

    def _note(self, seconds: float) -> None:
        known = self._seconds
        self._seconds = seconds if known is None else 0.5 * (known + seconds)


def _work(payload: _Payload, batches: list[str]) -> tuple[float, list[str]]:
    """Runs batches on a worker; how long they took, s, and their results."""
    sweep = _loaded(payload)
    begun = time.perf_counter()
    results = sweep.run_batches(batches)
    return (time.perf_counter() - begun, results)


def _loaded(payload: _Payload) -> _alight.Sweep:
    """The sweep of the driver, read once a worker."""
    name, text, texts, identity = payload
    if identity in _LOADED:
        return _LOADED[identity]
    sweep = _alight.Sweep(name, text, dict(texts))
    if sweep.identity() != identity:
        ours = set(sweep.identity().splitlines())
        differs = next((line for line in identity.splitlines() if line not in ours), "")
        raise _alight.BadInput(
            f"{name}: a worker has another sweep than the driver ({differs}); install the same "
            "wheel of alight everywhere, and put recordings at the same place"
        )
    _LOADED.clear()
    _LOADED[identity] = sweep
    return sweep


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError("executor='ray' needs Ray: pip install 'alight[ray]'") from error
    return ray
