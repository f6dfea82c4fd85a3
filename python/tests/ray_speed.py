# SPDX-License-Identifier: GPL-2.0-only
"""How much faster a sweep of 200 cells is by Ray on two cores than serially on one.

    unshare --net --pid --fork --kill-child --mount-proc sh -c \\
        'ip link set lo up && exec target/tools/python/bin/python python/tests/ray_speed.py'

Prints seconds of both, of Ray's start, and the ratio. Something else that runs on the machine slows
both, and Ray more.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import ray
from test_sweep import SWEEP, rows

import alight

CELLS = {
    **SWEEP,
    "workloads": ["hackbench -g 2 -l 100"],
    "schedulers": ["bias-prev:spare=256"],
    "factor": [
        {"machine": "memory.llc_line_ns", "times": [round(1 + n / 100, 2) for n in range(200)]}
    ],
    "runs": 3,
}


def timed(ask):
    begun = time.perf_counter()
    return ask(), time.perf_counter() - begun


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sweep = alight.Sweep(CELLS)
        serial, alone = timed(lambda: sweep.run(Path(folder) / "serial.sqlite", jobs=1))
        _, start = timed(lambda: ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False))
        spread, together = timed(lambda: sweep.run(Path(folder) / "spread.sqlite", executor="ray"))
        _, local = timed(lambda: sweep.run(Path(folder) / "local.sqlite"))
        assert rows(serial.path) == rows(spread.path)
        print(
            f"{sweep.cells} cells: serially {alone:.1f} s, by Ray {together:.1f} s on 2 cores "
            f"({alone / together:.2f} times as fast), Ray's start {start:.1f} s, "
            f"two threads without Ray {local:.1f} s ({alone / local:.2f})"
        )
