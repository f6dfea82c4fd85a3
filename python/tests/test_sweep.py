# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps: the same store and the same table as the command's."""

from __future__ import annotations

import csv
import html
import io
import os
import signal
import sqlite3
import sys
import threading
import time

import pandas
import polars
import pyarrow.parquet
import pytest

import alight
from alight import _progress

SWEEP = {
    "schema": "alight.sweep/1",
    "machines": ["juno-r0"],
    "workloads": ["hackbench -g 1 -f 2 -l 5", "hackbench -g 1 -f 3 -l 3"],
    "base": "linux-6.5",
    "schedulers": ["bias-prev:spare=0..512 step 256"],
    "factor": [{"machine": "memory.llc_line_ns", "times": [1, 2]}],
    "runs": 2,
    "objectives": {"elapsed_s": "minimise"},
}


def rows(store) -> list[tuple]:
    """All tables of a store but for the command that made it."""
    with sqlite3.connect(store) as connection:
        tables = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            )
        ]
        found = [
            (table, *row)
            for table in tables
            for row in connection.execute(f"SELECT * FROM {table}")
        ]
    return [row for row in found if row[:2] != ("sweep", "command")]


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "spare.toml"
    file.write_text(alight.Sweep(SWEEP).text)
    return file


def test_a_store_is_that_of_the_command(command, file, tmp_path):
    ours, theirs = tmp_path / "ours.sqlite", tmp_path / "theirs.sqlite"
    found = alight.Sweep(SWEEP).run(ours)
    printed = command("sweep", str(file), "--store", str(theirs))
    assert printed.returncode == 0, printed.stderr
    assert rows(ours) == rows(theirs)
    assert str(found) == command("sweep", "show", str(ours)).stdout
    assert found.json() == command("sweep", "show", str(ours), "--json").stdout
    assert found.document["schema"] == "alight.sweep-answer/1"
    # Of a dict and of a file, and on one core.
    again = alight.Sweep(file).run(tmp_path / "again.sqlite", jobs=1)
    assert rows(again.path) == rows(ours)
    # The command goes on with the store of the package: nothing is left to be done.
    assert command("sweep", str(file), "--store", str(ours)).returncode == 0
    assert rows(ours) == rows(theirs)


def test_a_data_frame_has_the_values_of_the_export(command, tmp_path):
    found = alight.Sweep(SWEEP).run(tmp_path / "s.sqlite")
    printed = command("sweep", "export", str(found.path), "--csv").stdout
    expected = list(csv.DictReader(io.StringIO(printed)))
    frame = found.df(backend="polars")
    assert frame.columns == list(expected[0])
    for name in frame.columns:
        for value, cell in zip(frame[name].to_list(), (row[name] for row in expected)):
            if isinstance(value, (int, float)):
                assert value == float(cell), name
            else:
                assert (value or "") == cell, name
    # Factors are numbers; the base has no tunable.
    assert frame["bias-prev:spare"].dtype == polars.Float64
    assert set(frame["bias-prev:spare"].to_list()) == {None, 0, 256, 512}
    by_pandas = found.df(backend="pandas")
    assert by_pandas["value"].tolist() == frame["value"].to_list()


def test_parquet_is_read_by_others(tmp_path):
    found = alight.Sweep(SWEEP).run(tmp_path / "s.sqlite")
    file = tmp_path / "runs.parquet"
    found.to_parquet(file)
    expected = found.df(backend="polars")
    assert polars.read_parquet(file).equals(expected)
    assert pandas.read_parquet(file)["value"].tolist() == expected["value"].to_list()
    assert pyarrow.parquet.read_table(file).num_rows == len(expected)
    with pytest.raises(OSError):
        found.to_parquet(tmp_path / "none" / "runs.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.parquet", "s.sqlite"]


def test_machines_and_workloads_may_be_objects(tmp_path):
    board = alight.Machine.from_toml(alight.Machine("juno-r0").toml, name="board.toml")
    tasks = {
        "global": {"duration": 1, "calibration": "CPU0"},
        "tasks": {"one": {"loop": 5, "run": 900, "sleep": 900}},
    }
    load = alight.Workload.rtapp(tasks, name="one.json")
    sweep = alight.Sweep(
        {**SWEEP, "machines": [board], "workloads": [load], "objectives": {"energy_j": "minimise"}}
    )
    assert sweep._core.texts() == {"board.toml": board.toml, "one.json": load.text}
    frame = sweep.run(tmp_path / "s.sqlite").df(backend="polars")
    assert set(frame["machine"].to_list()) == {"board.toml"}
    other = alight.Machine.from_toml(alight.Machine("tc2").toml, name="board.toml")
    with pytest.raises(alight.BadInput, match="^two texts are called 'board.toml'"):
        alight.Sweep({**SWEEP, "machines": [board, other]})


def test_what_is_wrong_with_a_sweep_is_said_in_the_words_of_the_command(command, tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text(alight.Sweep(SWEEP).text.replace("memory.llc_line_ns", "memory.llc_lines_ns"))
    with pytest.raises(alight.BadInput) as refused:
        alight.Sweep(file)
    assert command("sweep", str(file)).stderr == f"alight: error: {refused.value}\n"
    with pytest.raises(alight.BadInput, match="^sweep.toml:"):
        alight.Sweep({**SWEEP, "machine": "juno-r0"})
    with pytest.raises(alight.BadInput, match=r"^none\.toml: cannot be read: "):
        alight.Sweep("none.toml")
    with pytest.raises(alight.BadInput):
        alight.Sweep({**SWEEP, "runs": None})


def test_a_large_sweep_says_so_before_it_starts(tmp_path):
    sweep = alight.Sweep({**SWEEP, "runs": 1000})
    with pytest.raises(alight.BadInput) as refused:
        sweep.run(tmp_path / "s.sqlite", allow_runs=1000)
    assert str(refused.value).startswith(
        f"the sweep has 4 cells: up to {sweep.most_runs} simulations, about "
    )
    assert str(refused.value).endswith(f"to run it, add allow_runs {sweep.most_runs}")
    assert not (tmp_path / "s.sqlite").exists()


def test_other_files_are_refused(tmp_path):
    other = tmp_path / "other.sqlite"
    other.write_text("no store")
    for ask in (lambda: alight.Sweep.open(other), lambda: alight.Sweep(SWEEP).run(other)):
        with pytest.raises(alight.BadInput, match="is no store of a sweep; name another file"):
            ask()
    alight.Sweep(SWEEP).run(tmp_path / "s.sqlite")
    with pytest.raises(alight.BadInput, match="is of another sweep: .* differ; name another file"):
        alight.Sweep({**SWEEP, "seed": 9}).run(tmp_path / "s.sqlite")
    with pytest.raises(alight.HostError):
        alight.Sweep.open(tmp_path / "none.sqlite")
    with pytest.raises(alight.BadInput, match="^executor 'dask': expected 'local' or 'ray'$"):
        alight.Sweep(SWEEP).run(tmp_path / "s.sqlite", executor="dask")


def test_after_ctrl_c_a_sweep_goes_on(tmp_path):
    # Runs enough that some are made before, and some after.
    sweep = alight.Sweep({**SWEEP, "runs": 300})
    store = tmp_path / "s.sqlite"

    def interrupt():
        # Once something is stored.
        while not (store.exists() and stored(store)):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        sweep.run(store, jobs=1)
    thread.join()
    assert 0 < stored(store) < sweep.most_runs
    whole = sweep.run(tmp_path / "whole.sqlite")
    assert rows(sweep.run(store).path) == rows(whole.path)


def test_a_page_is_that_of_the_command_and_a_notebook_shows_it(command, tmp_path):
    found = alight.Sweep(SWEEP).run(tmp_path / "s.sqlite")
    file = tmp_path / "s.html"
    shown = command("sweep", "show", str(found.path), "--html", str(file))
    assert shown.returncode == 0, shown.stderr
    assert found.html() == file.read_text()
    framed = found._repr_html_()
    assert framed.startswith("<iframe srcdoc=") and 'title="alight sweep show"' in framed
    assert html.escape(found.html(), quote=True) in framed


def test_a_function_is_told_how_far_a_sweep_is(tmp_path):
    sweep = alight.Sweep({**SWEEP, "runs": 50})
    told: list[alight.SweepProgress] = []
    sweep.run(tmp_path / "s.sqlite", progress=told.append)
    assert told == sorted(told, key=lambda at: at.runs)
    assert {(at.cells, at.most_runs, at.spared) for at in told} == {(4, sweep.most_runs, 0)}
    assert told[-1].complete == 4 and told[-1].runs == sweep.most_runs
    # One that is complete says so.
    told.clear()
    sweep.run(tmp_path / "s.sqlite", progress=told.append)
    assert [at.complete for at in told] == [4]


def test_what_the_function_raises_ends_the_sweep_and_keeps_what_is_stored(tmp_path):
    sweep = alight.Sweep({**SWEEP, "runs": 3000})

    def enough(at: alight.SweepProgress) -> None:
        if at.runs > 20:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="^enough$"):
        sweep.run(tmp_path / "s.sqlite", progress=enough)
    assert 20 < stored(tmp_path / "s.sqlite") < sweep.most_runs


# Nobody resumes the task.
STUCK = {"tasks": {"one": {"loop": 1, "run": 100, "suspend": "one"}}}


def test_cells_that_cannot_run_are_told_and_cost_no_others(command, tmp_path):
    stuck = alight.Workload.rtapp(STUCK, name=str(tmp_path / "stuck.json"))
    (tmp_path / "stuck.json").write_text(stuck.text)
    sweep = alight.Sweep(
        {
            **SWEEP,
            "workloads": [SWEEP["workloads"][0], stuck],
            "objectives": {"energy_j": "minimise"},
        }
    )
    with pytest.warns(alight.AlightWarning, match="^2 of 4 cells cannot run .*; cell 2 ") as told:
        found = sweep.run(tmp_path / "s.sqlite")
    assert told[0].filename == __file__
    assert [(cell.cell, cell.machine) for cell in found.refused] == [(2, "juno-r0"), (3, "juno-r0")]
    assert [cell.figures for cell in found.refused] == [
        {"memory.llc_line_ns": "1"},
        {"memory.llc_line_ns": "2"},
    ]
    assert found.refused[0].why.startswith("linux-6.5 at seed 1: ")
    assert found.document["extent"]["refused"] == 2
    assert set(found.df(backend="polars")["workload"].to_list()) == {SWEEP["workloads"][0]}
    # The command has the same, and goes on from there.
    file = tmp_path / "stuck.toml"
    file.write_text(sweep.text)
    theirs = command("sweep", str(file), "--store", str(tmp_path / "theirs.sqlite"))
    assert theirs.returncode == 3, theirs.stderr
    assert rows(tmp_path / "theirs.sqlite") == rows(found.path)
    assert command("sweep", str(file), "--store", str(found.path)).returncode == 3
    assert str(found) == command("sweep", "show", str(found.path)).stdout


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_where_somebody_looks(tmp_path, monkeypatch):
    stores = (tmp_path / f"{at}.sqlite" for at in range(9))
    for stream, progress, drawn in [
        (Terminal(), None, True),
        (Terminal(), False, False),
        (io.StringIO(), None, False),
        (io.StringIO(), True, True),
    ]:
        monkeypatch.setattr(sys, "stderr", stream)
        alight.Sweep(SWEEP).run(next(stores), progress=progress)
        written = stream.getvalue()
        assert ("/4 cells, " in written) == drawn, written
        # The line is taken away.
        assert not written.split("\r")[-2:-1] or not written.split("\r")[-2].strip()
    monkeypatch.setattr(sys, "stderr", None)
    alight.Sweep(SWEEP).run(next(stores))


def test_the_bar_says_how_long_it_takes_at_most():
    bar = _progress._Bar(io.StringIO())
    bar._begun = (time.monotonic() - 60.0, 0)
    bar.hear(alight.SweepProgress(cells=4, complete=1, refused=0, runs=10, most_runs=50, spared=10))
    line = bar._stream.getvalue().strip("\r")
    assert line == "##########" + "." * 30 + " 1/4 cells, 10 runs, 10 spared, 3 min left at most"


def stored(store) -> int:
    """Runs in a store that another thread writes."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.Error:
        return 0
