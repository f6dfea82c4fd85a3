# SPDX-License-Identifier: GPL-2.0-only
"""Pictures show the numbers of the comparison."""

from __future__ import annotations

import matplotlib
import pytest

import alight

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def answer():
    return alight.compare("juno-r0", "hackbench -g 1 -l 5", ["linux-5.5", "linux-6.1"], runs=4)


def test_differences_are_drawn_with_their_intervals(answer):
    ax = answer.plot.delta(["elapsed_s", "energy_j"])
    deltas = answer.document["deltas"][0]["metrics"]
    for place, name in enumerate(["elapsed_s", "energy_j"]):
        point, _, (bar,) = ax.containers[place]
        assert point.get_xdata()[0] == pytest.approx(deltas[name]["delta_percent"])
        (ends,) = bar.get_segments()
        assert list(ends[:, 0]) == pytest.approx([deltas[name]["ci_low"], deltas[name]["ci_high"]])
        assert ax.get_yticklabels()[place].get_text() == f"{name}  {deltas[name]['verdict']}"


def test_results_and_energy_are_drawn_by_default(answer):
    drawn = [label.get_text().split()[0] for label in answer.plot.delta().get_yticklabels()]
    assert drawn[0] == "elapsed_s"
    assert "energy_j" in drawn
    assert "wakeups" not in drawn


def test_an_unknown_number_is_refused(answer):
    with pytest.raises(alight.BadInput, match="^no difference of elapsd_s in the comparison$"):
        answer.plot.delta(["elapsd_s"])


def test_a_timeline_has_every_slice_of_every_scheduler(answer):
    axes = answer.plot.timeline(seed=2)
    assert [ax.get_title(loc="left") for ax in axes] == ["linux-5.5", "linux-6.1"]
    for ax in axes:
        trace = answer.trace(ax.get_title(loc="left"), 2)
        slices = trace.get_view("polars").df_slices()
        (boxes,) = ax.collections
        assert len(boxes.get_paths()) == len(slices)
        begin = boxes.get_paths()[0].vertices[0]
        first = slices.row(0, named=True)
        assert tuple(begin) == pytest.approx(
            (first["Time"].total_seconds(), first["cpu"] - 0.4), abs=1e-6
        )


def test_a_part_of_the_time_can_be_drawn(answer):
    axes = answer.plot.timeline(time=(0.001, 0.002))
    assert axes[0].get_xlim() == (0.001, 0.002)
