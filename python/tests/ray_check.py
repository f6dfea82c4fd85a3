# SPDX-License-Identifier: GPL-2.0-only
"""What test_ray.py runs in a network of its own: `ray_check.py CHECK FOLDER`."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
import warnings
from pathlib import Path

import ray
from test_sweep import STUCK, SWEEP, rows, stored

import alight
from alight import _ray

LONG = {**SWEEP, "runs": 60}


def equal(folder: Path) -> None:
    """Two workers' store is the serial one, and a task has batches enough."""
    serial = alight.Sweep(LONG).run(folder / "serial.sqlite", jobs=1)
    sizes: list[int] = []
    sized = _ray._Spread._size

    def noted(self: _ray._Spread, left: int) -> int:
        sizes.append(sized(self, left))
        return sizes[-1]

    _ray._Spread._size = noted
    # So long that a task has several batches on a slow machine, too.
    _ray.TASK_SECONDS = 30.0
    told: list[alight.SweepProgress] = []
    spread = alight.Sweep(LONG).run(
        folder / "spread.sqlite", jobs=2, executor="ray", progress=told.append
    )
    assert rows(spread.path) == rows(serial.path)
    assert told[0].runs == 0 and told[-1].runs == told[-1].most_runs and told[-1].complete == 4
    assert sum(sizes) == 4 * 60, sizes
    # The first are one batch each, to be measured.
    assert sizes[0] == 1 and max(sizes) >= 5, sizes
    assert not ray.is_initialized(), "the cluster of the call is gone"


def until(folder: Path) -> None:
    """A sweep that stops when it knows stops at the same runs."""
    sweep = {**SWEEP, "until": {"metric": "elapsed_s", "half_width_percent": 20, "max_runs": 40}}
    del sweep["runs"]
    serial = alight.Sweep(sweep).run(folder / "serial.sqlite", jobs=1)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    spread = alight.Sweep(sweep).run(folder / "spread.sqlite", executor="ray")
    assert rows(spread.path) == rows(serial.path)
    assert ray.is_initialized(), "a cluster that was connected stays"


def refused(folder: Path) -> None:
    """Cells that cannot run are those of a serial sweep."""
    stuck = alight.Workload.rtapp(STUCK, name="stuck.json")
    sweep = alight.Sweep(
        {
            **SWEEP,
            "workloads": [SWEEP["workloads"][0], stuck],
            "objectives": {"energy_j": "minimise"},
        }
    )
    warnings.simplefilter("ignore", alight.AlightWarning)
    serial = sweep.run(folder / "serial.sqlite", jobs=1)
    spread = sweep.run(folder / "spread.sqlite", jobs=2, executor="ray")
    assert len(serial.refused) == 2 and rows(spread.path) == rows(serial.path)


def changed(folder: Path) -> None:
    """A program that gives other runs than the stored ones does not go on, with or without Ray."""
    store = folder / "s.sqlite"
    alight.Sweep(SWEEP).run(store)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE runs SET hash = '0123456789abcdef'")
    before = rows(store)
    more = alight.Sweep({**SWEEP, "runs": 3})
    for executor in ("local", "ray"):
        try:
            more.run(store, executor=executor)
        except alight.BadInput as error:
            assert "is stored with the identity 0123456789abcdef" in str(error), error
        else:
            raise AssertionError("not refused")
    runs = [row for row in rows(store) if row[0] == "runs"]
    assert runs == [row for row in before if row[0] == "runs"]


def death(folder: Path) -> None:
    """A worker that dies costs that its batches run again."""
    works = _ray._work

    def dies_twice(payload: _ray._Payload, batches: list[str]) -> tuple[float, list[str]]:
        for turn in ("first", "second"):
            mark = folder / turn
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return works(payload, batches)

    serial = alight.Sweep(LONG).run(folder / "serial.sqlite", jobs=1)
    _ray._work = dies_twice
    spread = alight.Sweep(LONG).run(folder / "spread.sqlite", jobs=2, executor="ray")
    assert (folder / "second").exists()
    assert rows(spread.path) == rows(serial.path)


def interrupted(folder: Path) -> None:
    """After ctrl-C the store has what had come, and the sweep goes on, with or without Ray."""
    sweep = alight.Sweep({**SWEEP, "runs": 400})
    store = folder / "spread.sqlite"

    def interrupt() -> None:
        while not (store.exists() and stored(store)):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        sweep.run(store, jobs=2, executor="ray")
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("no KeyboardInterrupt")
    assert 0 < stored(store) < sweep.most_runs
    serial = sweep.run(folder / "serial.sqlite", jobs=1)
    assert rows(sweep.run(store).path) == rows(serial.path)


def elsewhere(folder: Path) -> None:
    """Files of the driver need not be where the workers are; another sweep there is refused."""
    board = alight.Machine.from_toml(alight.Machine("juno-r0").toml, name="board.toml")
    sweep = alight.Sweep({**SWEEP, "machines": [board]})
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    spread = sweep.run(folder / "spread.sqlite", executor="ray")
    assert rows(spread.path) == rows(sweep.run(folder / "serial.sqlite").path)

    loaded = _ray._loaded

    def works(payload: _ray._Payload, batches: list[str]) -> tuple[float, list[str]]:
        name, text, texts, identity = payload
        return loaded((name, text, texts, identity.replace("program alight ", "program alight 9.")))

    _ray._work = works
    try:
        sweep.run(folder / "other.sqlite", executor="ray")
    except alight.BadInput as error:
        said = "sweep.toml: a worker has another sweep than the driver (program alight 9."
        assert str(error).startswith(said), error
    else:
        raise AssertionError("not refused")


def lost(folder: Path) -> None:
    """Where workers die again and again, the sweep ends with an error, and keeps what it has."""
    works = _ray._work

    def dies(payload: _ray._Payload, batches: list[str]) -> tuple[float, list[str]]:
        if any('"cell":3' in batch for batch in batches):
            os.kill(os.getpid(), signal.SIGKILL)
        return works(payload, batches)

    _ray._work, _ray.RETRIES = dies, 1
    sweep = alight.Sweep(SWEEP)
    store = folder / "spread.sqlite"
    try:
        sweep.run(store, jobs=1, executor="ray")
    except alight.HostError as error:
        assert str(error).endswith("; what was stored before is kept"), error
    else:
        raise AssertionError("no HostError")
    assert stored(store) > 0
    _ray._work = works
    serial = sweep.run(folder / "serial.sqlite")
    assert rows(sweep.run(store).path) == rows(serial.path)


if __name__ == "__main__":
    check, folder = sys.argv[1:]
    globals()[check](Path(folder))
