# SPDX-License-Identifier: GPL-2.0-only
"""Machines, workloads and options as Python has them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import alight

LOAD = "hackbench -g 1 -l 5"
TASKS = {
    "global": {"duration": 1, "calibration": "CPU0"},
    "tasks": {"one": {"loop": 20, "run": 2000, "timer": {"ref": "tick", "period": 5000}}},
}


def test_a_machine_of_a_text_is_that_of_the_file(tmp_path):
    text = alight.Machine("juno-r0").toml
    held = alight.Machine.from_toml(text, name="board.toml")
    file = tmp_path / "board.toml"
    file.write_text(text)
    assert (held.name, held.cpus) == ("juno-r0", 6)
    by_text = alight.simulate(held, LOAD)
    by_file = alight.simulate(file, LOAD)
    by_name = alight.simulate(alight.Machine("juno-r0"), LOAD)
    assert by_text.hash == by_file.hash == by_name.hash
    assert "-m board.toml" in by_text.command


def test_a_machine_that_cannot_be_names_its_place():
    with pytest.raises(alight.BadInput, match=r"^board\.toml:1:"):
        alight.Machine.from_toml("name = 7", name="board.toml")


def test_a_workload_of_a_dict_is_that_of_the_file(tmp_path):
    file = tmp_path / "one.json"
    file.write_text(json.dumps(TASKS))
    held = alight.Workload.rtapp(TASKS, name="one.json")
    assert json.loads(held.text) == TASKS
    assert alight.simulate("juno-r0", held).hash == alight.simulate("juno-r0", file).hash
    assert alight.Workload.rtapp(json.dumps(TASKS)).text == json.dumps(TASKS)


def test_a_workload_that_cannot_be_names_its_place():
    with pytest.raises(alight.BadInput, match=r"^one\.json:\d+:\d+: "):
        alight.Workload.rtapp({"tasks": 7}, name="one.json")


def test_a_recorded_workload_is_replayed(tmp_path, command):
    file = tmp_path / "a file.alight"
    made = command("simulate", "-m", "juno-r0", "-w", LOAD, "--trace", str(file))
    assert made.returncode == 0, made.stderr
    workload = alight.Workload.from_recording(file, "--no-background")
    # The recording holds its machine.
    run = alight.simulate(None, workload)
    asked = ["simulate", "-w", f"'{file}' --no-background", "--json"]
    assert run.document["machine"] == "juno-r0"
    assert run.json() == command(*asked).stdout


@pytest.mark.parametrize(
    "options, text",
    [
        ({"lenght": "5s"}, "no option `lenght`; expected machine, workload, seed, duration, "),
        ({"duration": "5"}, "duration '5': '5' has no unit; "),
        ({"wakee_flips": -1}, "wakee-flips '-1': expected a whole number, 0 to "),
        ({"seed": -1}, "seed '-1': expected a whole number, 0 to "),
    ],
)
def test_an_option_that_cannot_be_is_named(options, text):
    with pytest.raises(alight.BadInput) as refused:
        alight.simulate("juno-r0", LOAD, **options)
    assert str(refused.value).startswith(text)


@pytest.mark.parametrize(
    "given, text",
    [
        ({"runs": 0}, "runs 0: expected 1 to 1000000 runs"),
        ({"runs": 1_000_001}, "runs 1000001: expected 1 to 1000000 runs"),
        ({"jobs": 0}, "jobs 0: expected a whole number, 1 or more"),
    ],
)
def test_a_number_that_cannot_be_is_named(given, text):
    with pytest.raises(alight.BadInput) as refused:
        alight.compare("juno-r0", LOAD, ["linux-5.5", "linux-6.1"], **given)
    assert str(refused.value) == text


def test_nothing_to_run_and_nothing_to_compare_are_refused():
    with pytest.raises(alight.BadInput, match="^no workload"):
        alight.simulate("juno-r0", [])
    with pytest.raises(alight.BadInput, match="^a comparison needs two schedulers or more, found none"):
        alight.compare("juno-r0", LOAD, [])
    with pytest.raises(alight.BadInput, match="^no task: name one by task="):
        alight.explain("juno-r0", LOAD)


def test_a_value_of_another_type_is_refused():
    for value in (1.5, True, b"5s"):
        with pytest.raises((TypeError, alight.BadInput)):
            alight.simulate("juno-r0", LOAD, duration=value)


def test_a_warning_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", alight.AlightWarning)
        with pytest.raises(alight.AlightWarning):
            alight.simulate("juno-r0", LOAD, hotplug="100s:off:2")


def test_the_number_of_jobs_changes_nothing():
    one, two = (
        alight.compare("juno-r0", LOAD, ["linux-5.5", "linux-6.1"], runs=4, jobs=jobs)
        for jobs in (1, 2)
    )
    assert one.json() == two.json()


def test_objects_say_what_they_are():
    answer = alight.compare("juno-r0", LOAD, ["linux-5.5", "linux-6.1"], runs=2)
    assert repr(answer) == (
        "<alight.Comparison juno-r0, hackbench -g 1 -l 5: linux-5.5, linux-6.1; 2 runs each>"
    )
    assert repr(alight.Machine("tc2")) == "<alight.Machine tc2, 5 CPUs>"
    assert repr(alight.Workload(Path("a.json"))) == "<alight.Workload a.json>"
