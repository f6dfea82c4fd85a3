#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of `make bench-live`, on standard output, of what the guests printed.

  report.py SCHEDULER COMMIT RELEASE PEERS WORK PARALLEL

COMMIT is that of scx_alight. PEERS has a line "NAME VERSION" for each other scheduler, WORK and PARALLEL are the
lines of guest.sh in the two sessions. What is known of a row that falls short is
in reasons.md beside this file.
"""

import pathlib
import statistics
import sys
import textwrap
from collections import defaultdict

# Row and metric: (what it is, unit, whether lower is better, goal).
# Goals: "work" no more than the leanest peer; "throughput" within 5 % of the
# kernel's own scheduler; "tail" no worse than the worst of its runs; None: shown only.
METRICS = {
    ("pipe-one-cpu", "ns"): ("wakeup and switch, one CPU", "instructions", True, "work"),
    ("pipe", "ns"): ("wakeup, decision and switch, any CPU", "instructions", True, "work"),
    ("hackbench-pipes", "s"): ("hackbench, pipes, threads", "s", True, "throughput"),
    ("hackbench-sockets", "s"): ("hackbench, sockets, processes", "s", True, "throughput"),
    ("sysbench-threads", "events"): ("sysbench threads", "events", False, "throughput"),
    ("schbench", "rps"): ("schbench, requests a second", "1/s", False, "throughput"),
    ("schbench", "p50.0"): ("schbench wakeup p50", "us", True, None),
    ("schbench", "p99.0"): ("schbench wakeup p99", "us", True, "tail"),
    ("cyclictest", "avg"): ("cyclictest average", "us", True, None),
    ("cyclictest", "p99"): ("cyclictest p99", "us", True, "tail"),
    ("cyclictest", "max"): ("cyclictest max", "us", True, None),
    ("cyclictest-loaded", "avg"): ("cyclictest among hogs, average", "us", True, None),
    ("cyclictest-loaded", "p99"): ("cyclictest among hogs, p99", "us", True, "tail"),
    ("cyclictest-loaded", "max"): ("cyclictest among hogs, max", "us", True, None),
    ("cyclictest-idle", "avg"): ("cyclictest among SCHED_IDLE hogs, average", "us", True, None),
    ("cyclictest-idle", "p99"): ("cyclictest among SCHED_IDLE hogs, p99", "us", True, "tail"),
    ("cyclictest-idle", "max"): ("cyclictest among SCHED_IDLE hogs, max", "us", True, None),
}
TOLERANCE = 0.05
OURS, KERNELS = "alight", "kernel"


def prose(text, first="", rest=""):
    """A paragraph of Markdown in lines of at most 100 characters."""
    print(textwrap.fill(text, 100, initial_indent=first, subsequent_indent=rest,
                        break_long_words=False, break_on_hyphens=False))


def item(text):
    """An item of a list, wrapped likewise."""
    prose(text, "- ", "  ")


def read(path):
    """{(row, metric): {scheduler: [value of each run]}}, and the other lines."""
    values, others = defaultdict(lambda: defaultdict(list)), []
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split()
        if len(words) == 6 and words[0] == "value":
            values[words[3], words[4]][words[2]].append(float(words[5]))
        elif line.strip():
            others.append(line)
    return values, others


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def shown(runs):
    """Median and, as the spread, the least and the most."""
    if not runs:
        return ""
    return f"{number(statistics.median(runs))} ({number(min(runs))}–{number(max(runs))})"


def shortfall(goal, lower, by_scheduler):
    """How far the median misses its goal, or None."""
    medians = {name: statistics.median(runs) for name, runs in by_scheduler.items() if runs}
    ours = medians.get(OURS)
    peers = {n: m for n, m in medians.items() if n not in (OURS, KERNELS)}
    if ours is None or goal is None:
        return None
    if goal == "work":
        if not peers:
            return None
        best = min(peers, key=peers.get)
        reference, allowed, name = peers[best], 0.0, best
    else:
        if KERNELS not in medians:
            return None
        reference, allowed, name = medians[KERNELS], TOLERANCE, "the kernel's scheduler"
    if not reference:
        return None
    worse = (ours / reference - 1) if lower else (1 - ours / reference)
    met = ours <= max(by_scheduler[KERNELS]) if goal == "tail" else worse <= allowed
    return None if met else f"{worse * 100:.0f} % worse than {name}"


def inside_spread(goal, unit, by_scheduler):
    """Of a tail that meets its goal only because the kernel's own runs differ: by how much, or None."""
    ours, kernels = by_scheduler.get(OURS), by_scheduler.get(KERNELS)
    if goal != "tail" or not ours or not kernels:
        return None
    ours, usual, worst = statistics.median(ours), statistics.median(kernels), max(kernels)
    if not usual < ours <= worst:
        return None
    return f"{number(ours)} {unit}, the kernel's scheduler {number(usual)}, in its worst run {number(worst)}"


def table(values, order, work):
    print("| row | unit | " + " | ".join(order) + " |")
    print("|---|---" + "|---" * len(order) + "|")
    for key, (what, unit, _, _) in METRICS.items():
        if key not in values or (key[0].startswith("pipe") and not work):
            continue
        cells = [shown(values[key].get(name)) for name in order]
        print(f"| {what} | {unit} | " + " | ".join(cells) + " |")


def reasons():
    """{row: text} of reasons.md: paragraphs after a heading that is the row's name."""
    texts, row = defaultdict(list), None
    for line in pathlib.Path(__file__).with_name("reasons.md").read_text().splitlines():
        if line.startswith("## "):
            row = line[3:].strip()
        elif row and line.strip():
            texts[row].append(line.strip())
    return {row: " ".join(lines) for row, lines in texts.items()}


def main():
    if len(sys.argv) != 7:
        sys.exit("usage: report.py SCHEDULER COMMIT RELEASE PEERS WORK PARALLEL")
    scheduler, commit, release = sys.argv[1:4]
    peers = [line.split(None, 1) for line in pathlib.Path(sys.argv[4]).read_text().splitlines()]
    sessions = [("work", *read(sys.argv[5])), ("parallel", *read(sys.argv[6]))]
    order = [KERNELS, OURS] + [peer[0] for peer in peers]
    runs = {len(r) for _, values, _ in sessions for by_name in values.values() for r in by_name.values()}
    runs = f"{min(runs)} to {max(runs)}" if len(runs) > 1 else f"{max(runs, default=0)}"

    print("# What it costs in a kernel\n")
    others = ", ".join(p[1].strip() if len(p) > 1 else p[0] for p in peers) or "none"
    prose(f"`make bench-live` compares schedulers in an emulated machine of 8 CPUs with Debian's kernel {release}: "
          f"the kernel's own scheduler (kernel), `scx_alight {scheduler}` of commit {commit} (alight), and the other scx "
          f"schedulers at hand: {others}. The runs are interleaved, in another order in each round; runs of each: {runs}. "
          "A cell has the median, and in brackets the least and the most. Emulated time is not hardware time: compare "
          "cells of one row only.")
    print()

    fallen, inside = [], []
    titles = {
        "work": ("Work", "The guest's time is its count of instructions, and the CPUs take turns. So this measures work, not "
                 "speed side by side. The first two rows count all instructions from one `write` of `perf bench sched pipe` to "
                 "the return of the `read` that it wakes."),
        "parallel": ("Side by side", "The CPUs run at once, on fewer real ones. The spread shows how exact such a figure is."),
    }
    for name, values, others in sessions:
        if not values:
            continue
        title, text = titles[name]
        print(f"## {title}\n")
        prose(text)
        print()
        table(values, order, name == "work")
        print()
        for line in others:
            if line.startswith(("refused", "ended")):
                item(line)
        for key, (what, unit, lower, goal) in METRICS.items():
            if key not in values:
                continue
            if short := shortfall(goal, lower, values[key]):
                fallen.append((title, key, what, short))
            if figures := inside_spread(goal, unit, values[key]):
                inside.append((title, key, what, figures))

    print("\n## What falls short\n")
    prose("The goals: a wakeup and switch takes no more instructions than under the leanest other scheduler; throughput is "
          "within 5 % of that of the kernel's own scheduler; the median of the p99 latency is at most the worst of the kernel's "
          "own runs, because its tails differ that much.")
    print()
    known = reasons()
    told = set()
    for title, key, what, short in fallen:
        why = "As above." if key[0] in told else known.get(key[0], "The reason is not known.")
        told.add(key[0])
        item(f"{title}, {what}: {short}. {why}")
    if not fallen:
        print("Nothing.")
    if inside:
        print()
        prose("These rows meet the goal for p99 latency, with a median above the median of the kernel's scheduler:")
        print()
    for title, key, what, figures in inside:
        why = "" if key[0] in told else known.get(key[0], "")
        told.add(key[0])
        item(f"{title}, {what}: {figures}. {why}".rstrip())


if __name__ == "__main__":
    main()
