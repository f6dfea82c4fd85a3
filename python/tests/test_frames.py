# SPDX-License-Identifier: GPL-2.0-only
"""Traces as data frames: of runs and of recordings, by pandas and by polars."""

from __future__ import annotations

import inspect

import pandas
import polars
import pyarrow
import pytest

import alight
from alight import _trace

LOAD = "hackbench -g 1 -l 8"
GIVEN = {"task": 1003, "signal": "util", "cpu": 0}


@pytest.fixture(scope="module")
def run():
    return alight.simulate("juno-r0", LOAD, "linux-6.5")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, command):
    file = tmp_path_factory.mktemp("run") / "run.alight"
    command("simulate", "-m", "juno-r0", "-w", LOAD, "linux-6.5", "--trace", str(file))
    return alight.Trace(file)


def methods():
    parts = (
        _trace.TasksAnalysis,
        _trace.LatencyAnalysis,
        _trace.IdleAnalysis,
        _trace.FrequencyAnalysis,
        _trace.LoadTrackingAnalysis,
    )
    for part, kind in zip(("tasks", "latency", "idle", "frequency", "load_tracking"), parts):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith("df_"):
                needed = [
                    p.name
                    for p in inspect.signature(method).parameters.values()
                    if p.default is p.empty and p.name != "self"
                ]
                yield pytest.param(part, name, needed, id=name)


def same(found, expected):
    """Seconds of a time are divided in another way."""
    if isinstance(found, float) and isinstance(expected, (int, float)):
        return found == pytest.approx(expected, rel=1e-12)
    return found == expected


def call(trace, part, name, needed):
    return getattr(getattr(trace.ana, part), name)(**{arg: GIVEN[arg] for arg in needed})


@pytest.mark.parametrize("part, name, needed", list(methods()))
def test_pandas_and_polars_have_the_same_values(run, part, name, needed):
    by_pandas = call(run.trace.get_view("pandas"), part, name, needed)
    by_polars = call(run.trace.get_view("polars"), part, name, needed)
    columns = by_pandas.reset_index()
    assert list(columns) == by_polars.columns
    for column in columns:
        expected = by_polars[column]
        if expected.dtype == polars.Duration:
            expected = expected.cast(polars.Int64) / 1e9
        found = [None if pandas.isna(value) else value for value in columns[column]]
        assert all(map(same, found, expected.to_list())), column


def test_a_recording_has_the_states_of_its_run(run, recorded):
    # Of each task in order. Times differ: a recording has when a CPU got to an event.
    def by_task(trace):
        states = trace.get_view("polars").ana.tasks.df_tasks_states()
        return states.sort("pid", maintain_order=True).drop("Time", "delta")

    assert len(by_task(recorded)) > 1000
    assert by_task(run.trace).equals(by_task(recorded))
    assert recorded.cpus_count == run.trace.cpus_count == 6


def test_a_recording_says_what_it_lacks(recorded):
    assert "sched_pelt_se" not in recorded.available_events
    with pytest.raises(alight.BadInput) as refused:
        recorded.ana.load_tracking.df_tasks_signal("util")
    assert str(refused.value) == (
        "the trace has no event `sched_pelt_se`: runs of the model tell it, recordings do not"
    )


def test_tables_agree_with_the_report(run):
    trace = run.trace.get_view("polars")
    switches = trace.df_event("sched_switch")
    decisions = trace.df_event("alight_decision")
    assert len(switches) == run.metrics["context_switches"]
    assert len(decisions) == sum(run.steps.values())
    counts = dict(decisions.group_by("step").len().iter_rows())
    assert counts == {step: count for step, count in run.steps.items() if count}
    residency = trace.ana.tasks.df_tasks_total_residency()["Total"].sum()
    assert residency == pytest.approx(trace.df_slices()["duration"].sum())
    clocks = trace.ana.frequency.df_cpu_frequency_residency(0)["total_time"].sum()
    assert clocks == pytest.approx(trace.time_range)
    assert trace.window == (0.0, run.end_ns / 1e9)


def test_columns_and_units_are_those_of_lisa(run):
    states = run.trace.get_view("pandas").ana.tasks.df_tasks_states()
    assert states.index.name == "Time"
    assert states.index.max() <= run.end_ns / 1e9
    assert list(states) == ["pid", "comm", "target_cpu", "cpu", "curr_state", "next_state", "delta"]
    assert states["comm"].dtype == "category"
    # A wakeup names its CPU, other changes have none.
    assert (states["target_cpu"].notna() == (states["curr_state"] == 0x200)).all()
    task = run.trace.get_view("pandas").ana.tasks.df_task_states(1003, stringify=True)
    assert set(task["curr_state_str"]) <= {"A", "W", "S", "R", "R+", "D", "X"}


def test_a_task_can_be_named_in_every_way(run):
    trace = run.trace.get_view("polars")
    for task in (
        1003,
        "1003",
        "1003:hackbench",
        "[1003:hackbench]",
        (1003, None),
        (1003, "hackbench"),
    ):
        assert len(trace.ana.tasks.df_task_states(task)) > 0, task
    with pytest.raises(alight.BadInput, match="tasks are named 'hackbench'; name one by its pid"):
        trace.ana.tasks.df_task_states("hackbench")
    with pytest.raises(alight.BadInput, match="^no task is pid 7; the trace has: 1000:hackbench"):
        trace.ana.tasks.df_task_states(7)


def test_arrow_takes_tables_with_their_types(run):
    table = pyarrow.table(run.trace._core.tasks_states())
    table.validate(full=True)
    assert table.schema.field("Time").type == pyarrow.duration("ns")
    assert table.schema.field("comm").type == pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    assert table["target_cpu"].null_count > 0
    answer = alight.compare("juno-r0", LOAD, ["linux-5.5", "linux-6.1"], runs=2, seed=2**63)
    samples = pyarrow.table(answer._core.table(True))
    samples.validate(full=True)
    assert samples.schema.field("seed").type == pyarrow.uint64()
    assert set(samples["seed"].to_pylist()) == {2**63, 2**63 + 1}
    summary = pyarrow.table(answer._core.table(False))
    summary.validate(full=True)
    assert summary.schema.field("significant").type == pyarrow.bool_()


def test_a_table_outlives_what_made_it():
    stream = alight.simulate("juno-r0", LOAD).trace._core.tasks_states().__arrow_c_stream__()
    frames = [
        polars.DataFrame(alight.simulate("juno-r0", LOAD).trace._core.tasks_states())
        for _ in range(20)
    ]
    del stream
    assert all(frame.equals(frames[0]) for frame in frames)


def test_an_unknown_package_is_refused(run):
    with pytest.raises(alight.BadInput, match="^backend 'dask': expected 'pandas' or 'polars'$"):
        run.df(backend="dask")


def test_the_runs_of_a_comparison_have_traces():
    answer = alight.compare("juno-r0", LOAD, ["linux-5.5", "linux-6.1"], runs=2)
    single = alight.simulate("juno-r0", LOAD, "linux-6.1", seed=2)
    of_one, of_other = answer.trace("linux-6.1", 2), single.trace
    assert of_one.window == of_other.window
    assert of_one.get_view("polars").df_slices().equals(of_other.get_view("polars").df_slices())
    with pytest.raises(
        alight.BadInput, match="^no scheduler 'linux-6.5' in the comparison; it has "
    ):
        answer.trace("linux-6.5")
    with pytest.raises(
        alight.BadInput, match="^no seed 3 in the comparison; its seeds are 1 to 2$"
    ):
        answer.trace(seed=3)
