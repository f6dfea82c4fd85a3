// SPDX-License-Identifier: GPL-2.0-only
//! Parts with nothing, or next to nothing, to show.

use alight_html::chart::{Axis, Line, Scale, Shape};
use alight_html::timeline::{Lane, Run, Slice, Timeline};
use alight_html::{Bars, Chart, Heat, Page, Table};

/// Adds them.
pub(super) fn add(page: Page) -> Page {
    page.parts(
        "Nothing to show",
        &[
            &Timeline::default(),
            &timeline(0),
            &timeline(1),
            &chart(&[], Scale::Linear, Scale::Linear),
            &chart(&[(0.0, 0.0)], Scale::Log, Scale::Log),
            &chart(&[(5.0, 1.0)], Scale::Log, Scale::Tail),
            &heat(0),
            &heat(1),
            &Bars::default(),
        ],
    )
}

/// A run of one CPU, without and with one slice of one nanosecond.
fn timeline(end_ns: u64) -> Timeline {
    let slice = Slice {
        start_ns: 0,
        end_ns,
        task: 0,
    };
    let lane = Lane {
        slices: (0..end_ns).map(|_| slice).collect(),
        ..Lane::default()
    };
    Timeline {
        cpus: vec!["CPU 0".into()],
        tasks: vec!["task".into()],
        runs: vec![Run {
            name: "a run".into(),
            end_ns,
            cpus: vec![lane],
            marks: vec![],
        }],
        ..Timeline::default()
    }
}

fn chart(points: &[(f64, f64)], x: Scale, y: Scale) -> Chart {
    let axis = |scale| Axis {
        label: "values".into(),
        unit: String::new(),
        scale,
    };
    Chart {
        x: axis(x),
        y: axis(y),
        shape: Shape::Straight,
        lines: vec![Line {
            name: "a line".into(),
            points: points.to_vec(),
        }],
        short: Table::new([""]),
    }
}

fn heat(cells: usize) -> Heat {
    Heat {
        names: (0..cells).map(|cell| cell.to_string()).collect(),
        from: "from".into(),
        to: "to".into(),
        counted: "wakeups".into(),
        borders: vec![],
        strong_borders: vec![],
        maps: vec![alight_html::heat::Map {
            name: "a map".into(),
            counts: vec![0],
        }],
        short: Table::new([""]),
    }
}
