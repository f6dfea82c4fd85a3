// SPDX-License-Identifier: GPL-2.0-only
//! Small traces for tests, and their tables as text.

use crate::events::{Happened, Known, Trace, What, Woken};
use crate::table::{Table, Values};

/// Tasks of small traces.
pub const A: u32 = 100;
pub const B: u32 = 101;

/// A trace of two CPUs to 1000 ns.
pub fn trace(events: &[(u64, u32, What)]) -> Trace {
    let event = |&(time, cpu, what): &(u64, u32, What)| Happened { time, cpu, what };
    Trace {
        events: events.iter().map(event).collect(),
        known: Known {
            comms: [(A, "a".to_owned()), (B, "b".to_owned())].into(),
            capacities: vec![512, 1024],
        },
        window: 0..1000,
        ..Trace::default()
    }
}

pub fn wakeup(pid: u32, target: u32) -> What {
    let prio = 120;
    What::Wakeup(Woken { pid, prio, target })
}

/// `prev` leaves in `state`, `next` comes.
pub fn switch(prev: u32, state: u32, next: u32) -> What {
    What::Switch {
        prev,
        prev_prio: 120,
        state,
        next,
        next_prio: 120,
    }
}

/// The table as lines: the names, then the rows. Times are in ns, `-` is a missing value.
pub fn lines(table: &Table) -> Vec<String> {
    let names: Vec<&str> = (table.columns().iter())
        .map(|column| column.name.as_str())
        .collect();
    let row = |row: usize| {
        let cells = table.columns().iter().map(|column| {
            if column.present.as_ref().is_some_and(|there| !there[row]) {
                return "-".to_owned();
            }
            match &column.values {
                Values::Time(values) | Values::Int(values) => values[row].to_string(),
                Values::Whole(values) => values[row].to_string(),
                Values::Bool(values) => values[row].to_string(),
                Values::Float(values) if values[row].is_nan() => "-".to_owned(),
                Values::Float(values) => format!("{:e}", values[row]),
                Values::Text { codes, words } => words[codes[row] as usize].clone(),
            }
        });
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut lines = vec![names.join(" ")];
    lines.extend((0..table.rows()).map(row));
    lines
}
