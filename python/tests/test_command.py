# SPDX-License-Identifier: GPL-2.0-only
"""The package and the command say the same, byte for byte."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import alight

MACHINE, LOAD = "juno-r0", "hackbench -g 1 -l 5"
PAIR = ["linux-5.5", "+asym-capacity"]

# What the package is asked, and the same as words of the command.
COMPARISONS = [
    ({}, []),
    ({"seed": 7, "runs": 2}, ["--seed", "7", "--runs", "2"]),
    ({"duration": "5ms"}, ["--duration", "5ms"]),
    (
        {"governor": "performance", "idle_governor": "teo"},
        ["--governor", "performance", "--idle-governor", "teo"],
    ),
    ({"hotplug": "1ms:off:2,5ms:on:2"}, ["--hotplug", "1ms:off:2,5ms:on:2"]),
    (
        {"sysctl": ["sched_util_clamp_min=100", "sched_util_clamp_max=900"]},
        ["--sysctl", "sched_util_clamp_min=100", "--sysctl", "sched_util_clamp_max=900"],
    ),
    ({"wakee_flips": 3, "count_from": "2ms"}, ["--wakee-flips", "3", "--count-from", "2ms"]),
]


@pytest.mark.parametrize("options, words", COMPARISONS)
def test_a_comparison_is_that_of_the_command(command, options, words):
    given = {"runs": 3, **options}
    answer = alight.compare(MACHINE, LOAD, PAIR, **given)
    runs = [] if "runs" in options else ["--runs", "3"]
    asked = ["compare", "-m", MACHINE, "-w", LOAD, *words, *runs, *PAIR]
    printed = command(*asked, "--json")
    assert answer.json() == printed.stdout
    assert list(answer.hashes.values()) == [v["hash"] for v in answer.document["variants"]]
    assert answer.text() == command(*asked).stdout
    assert answer.text(full=True) == command(*asked, "--full").stdout


def test_a_comparison_ends_when_the_difference_is_known(command):
    asked = ["compare", "-m", MACHINE, "-w", LOAD, "--until", "elapsed_s=30%", *PAIR, "--json"]
    answer = alight.compare(MACHINE, LOAD, PAIR, until="elapsed_s=30%")
    assert answer.json() == command(*asked).stdout
    assert len(answer.seeds) < 80


def test_two_workloads_run_at_once(command):
    loads = [LOAD, "hackbench -g 1 -f 2 -l 3"]
    answer = alight.compare(MACHINE, loads, PAIR, runs=2)
    asked = ["compare", "-m", MACHINE, "-w", loads[0], "-w", loads[1], "--runs", "2", *PAIR]
    assert answer.json() == command(*asked, "--json").stdout


ONE = "linux-5.5+asym-capacity"

PAGES = [
    (lambda: alight.compare(MACHINE, LOAD, PAIR, runs=3), ["compare", "--runs", "3", *PAIR]),
    (lambda: alight.simulate(MACHINE, LOAD, ONE), ["simulate", ONE]),
    (
        lambda: alight.explain(MACHINE, LOAD, ONE, task="hackbench"),
        ["explain", "--task", "hackbench", ONE],
    ),
    (lambda: alight.explain(MACHINE, LOAD, ONE, histogram=True), ["explain", "--histogram", ONE]),
]


@pytest.mark.parametrize("ask, words", PAGES, ids=[" ".join(words) for _, words in PAGES])
def test_the_page_is_that_of_the_command(command, tmp_path, ask, words):
    file = tmp_path / "page.html"
    verb, *rest = words
    printed = command(verb, "-m", MACHINE, "-w", LOAD, *rest, "--html", str(file))
    assert printed.returncode == 0, printed.stderr
    found = ask()
    assert found.html() == file.read_text()
    framed = found._repr_html_()
    assert framed.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    # Nothing of the page ends the attribute.
    assert framed.count('"') == 8


@pytest.mark.parametrize("samples", [False, True])
def test_a_data_frame_has_the_values_of_the_csv(command, samples):
    asked = ["compare", "-m", MACHINE, "-w", LOAD, "--runs", "3", *PAIR, "--style", "csv"]
    printed = command(*asked, *(["--samples"] if samples else [])).stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    frame = alight.compare(MACHINE, LOAD, PAIR, runs=3).df(samples=samples, backend="polars")
    assert len(frame) == len(rows)
    for name in set(frame.columns) & set(rows[0]):
        for found, cell in zip(frame[name].to_list(), (row[name] for row in rows)):
            if cell == "":
                assert found is None, name
            elif isinstance(found, bool):
                assert str(found).lower() == cell, name
            elif isinstance(found, (int, float)):
                assert found == float(cell), name
            else:
                assert found == cell, name
    # Left out is what is the same in all rows.
    constant = {name for name in rows[0] if len({row[name] for row in rows}) == 1}
    assert set(rows[0]) - set(frame.columns) <= constant


def test_a_run_is_that_of_the_command(command):
    run = alight.simulate(MACHINE, LOAD, "linux-6.5", seed=3)
    asked = ["simulate", "-m", MACHINE, "-w", LOAD, "--seed", "3", "linux-6.5"]
    assert run.json() == command(*asked, "--json").stdout
    assert str(run) == command(*asked, "--full").stdout
    assert run.hash == run.document["hash"]
    assert run.metrics == {name: m["value"] for name, m in run.document["metrics"].items()}


@pytest.mark.parametrize(
    "given, words",
    [
        ({"task": "hackbench", "limit": 2}, ["--task", "hackbench", "--limit", "2"]),
        ({"task": "hackbench", "at": "9ms"}, ["--task", "hackbench", "--at", "9ms"]),
        ({"histogram": True}, ["--histogram"]),
    ],
)
def test_an_explanation_is_that_of_the_command(command, given, words):
    found = alight.explain(MACHINE, LOAD, "linux-5.5+asym-capacity", **given)
    asked = ["explain", "-m", MACHINE, "-w", LOAD, *words, "linux-5.5+asym-capacity"]
    assert found.json() == command(*asked, "--json").stdout
    assert str(found) == command(*asked).stdout


def test_machines_are_those_of_the_command(command):
    listed = json.loads(command("machine", "list", "--json").stdout)
    assert alight.machines() == [machine["name"] for machine in listed["machines"]]
    for name in alight.machines():
        machine = alight.Machine(name)
        assert machine.json() == command("machine", "show", name, "--json").stdout
        assert str(machine) == command("machine", "show", name).stdout


def test_schedulers_are_those_of_the_command(command):
    listed = json.loads(command("policy", "list", "--json").stdout)
    known = alight.schedulers()
    assert list(known) == [base["name"] for base in listed["bases"]] + [
        f"+{feature['name']}" for feature in listed["features"]
    ]


# What cannot be asked, and the words in which the command refuses it.
REFUSED = [
    (lambda: alight.compare("juno", LOAD, PAIR), ["compare", "-m", "juno", "-w", LOAD, *PAIR]),
    (
        lambda: alight.compare(MACHINE, "hackbnch", PAIR),
        ["compare", "-m", MACHINE, "-w", "hackbnch", *PAIR],
    ),
    (
        lambda: alight.compare(MACHINE, LOAD, ["linux-5.5"]),
        ["compare", "-m", MACHINE, "-w", LOAD, "linux-5.5"],
    ),
    (
        lambda: alight.compare(MACHINE, LOAD, ["linux-5.5", "biasprev"]),
        ["compare", "-m", MACHINE, "-w", LOAD, "linux-5.5", "biasprev"],
    ),
    (
        lambda: alight.compare(MACHINE, LOAD, PAIR, seed=2**64 - 1),
        ["compare", "-m", MACHINE, "-w", LOAD, "--seed", str(2**64 - 1), *PAIR],
    ),
    (
        lambda: alight.compare(MACHINE, LOAD, PAIR, until="elapsd_s=1%"),
        ["compare", "-m", MACHINE, "-w", LOAD, "--until", "elapsd_s=1%", *PAIR],
    ),
    (lambda: alight.compare(None, LOAD, PAIR), ["compare", "-w", LOAD, *PAIR]),
    (lambda: alight.simulate(MACHINE, "none.json"), ["simulate", "-m", MACHINE, "-w", "none.json"]),
    (
        lambda: alight.simulate(MACHINE, LOAD, hotplug="1s:off:99"),
        ["simulate", "-m", MACHINE, "-w", LOAD, "--hotplug", "1s:off:99"],
    ),
    (
        lambda: alight.explain(MACHINE, LOAD, task="hakbench"),
        ["explain", "-m", MACHINE, "-w", LOAD, "--task", "hakbench"],
    ),
    (lambda: alight.Machine("none.toml"), ["machine", "show", "none.toml"]),
]


@pytest.mark.parametrize("ask, words", REFUSED, ids=[" ".join(words) for _, words in REFUSED])
def test_bad_input_is_refused_in_the_words_of_the_command(command, ask, words):
    with pytest.raises(alight.BadInput) as refused:
        ask()
    printed = command(*words)
    assert printed.returncode == 2
    assert printed.stderr == f"alight: error: {refused.value}\n"
    assert isinstance(refused.value, ValueError)


def test_a_remark_of_the_command_is_a_warning(command):
    # One remark of the workload's reader, and one of a change that comes after the run's end.
    load = "cyclictest -t 2 -q -D 1"
    with pytest.warns(alight.AlightWarning) as warned:
        alight.simulate(MACHINE, load, hotplug="100s:off:2")
    printed = command("simulate", "-m", MACHINE, "-w", load, "--hotplug", "100s:off:2")
    assert len(warned) == 2
    assert "".join(f"alight: {w.message}\n" for w in warned) == printed.stderr
    # The line that asked is the one that is warned of.
    assert {Path(w.filename).name for w in warned} == {Path(__file__).name}
