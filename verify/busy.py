#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How busy each CPU is in a part of a run of the model.

  verify/busy.py FROM TO CPUS <TRACE

TRACE is what `alight simulate --trace FILE.txt` writes; FROM and TO are seconds. Prints a number for
each CPU: percent of that time in which it ran a task.
"""

import re
import sys

SWITCH = re.compile(r"\[(\d+)\] \S+ +([\d.]+): sched_switch: .* next_pid=(\d+) ")


def main():
    begin, end, cpus = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    busy, running, since = [0.0] * cpus, [False] * cpus, [0.0] * cpus

    def until(cpu, time):
        """The CPU has done what it does from the last switch to this time."""
        if running[cpu]:
            busy[cpu] += max(0.0, min(time, end) - max(since[cpu], begin))
        since[cpu] = time

    for line in sys.stdin:
        if found := SWITCH.search(line):
            cpu = int(found[1])
            until(cpu, float(found[2]))
            running[cpu] = found[3] != "0"
    for cpu in range(cpus):
        until(cpu, end)
    print(*(round(100 * time / (end - begin)) for time in busy))


main()
