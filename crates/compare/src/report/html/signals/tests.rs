// SPDX-License-Identifier: GPL-2.0-only
//! Which lines there are, and what their points and short tables say.

use super::*;
use crate::course::PIECES;
use crate::report::html::tests::{observed, rows};
use alight_trace::{CpuCounter, Event, Sink};

/// How long an observed run is, ns: a millisecond for each piece.
const END_NS: u64 = PIECES as u64 * 1_000_000;

/// A run in which each of these CPUs has a utilization, or a clock in kHz, from a time on.
fn run(machine: &Machine, name: &str, events: &[(u64, u32, Event<'_>)]) -> Observed {
    let mut run = observed(machine, name);
    assert_eq!(run.end_ns, END_NS);
    for (at_ns, cpu, event) in events {
        run.course.event(*at_ns, *cpu, *event).expect("it is kept");
    }
    run.course.end(END_NS);
    run
}

fn util(value: u64) -> Event<'static> {
    let counter = CpuCounter::UtilAvg;
    Event::CpuCounter { counter, value }
}

fn lines(chart: &Chart) -> Vec<&str> {
    chart.lines.iter().map(|line| line.name.as_str()).collect()
}

#[test]
fn each_of_a_few_core_types_has_its_cpus() {
    let juno = Machine::load("juno-r0").expect("built in");
    let mut many = juno.clone();
    while many.core_types.len() <= MOST_TYPES {
        many.core_types.push(juno.core_types[0].clone());
    }
    let all: Vec<usize> = (0..6).collect();
    let one = Machine::load("hikey620").expect("built in");
    for (machine, expected) in [
        (
            &juno,
            vec![("Cortex-A53", vec![0, 3, 4, 5]), ("Cortex-A57", vec![1, 2])],
        ),
        (&many, vec![("", all)]),
        (&one, vec![("", (0..8).collect())]),
    ] {
        let found = groups(machine);
        let found: Vec<(&str, Vec<usize>)> = (found.iter())
            .map(|(name, cpus)| (name.as_str(), cpus.clone()))
            .collect();
        assert_eq!(found, expected, "{}", machine.name);
    }
}

#[test]
fn a_line_is_named_after_its_run_and_its_core_type() {
    for (name, expected) in [
        (
            "juno-r0",
            &[
                "a, Cortex-A53",
                "a, Cortex-A57",
                "b, Cortex-A53",
                "b, Cortex-A57",
            ][..],
        ),
        ("hikey620", &["a", "b"]),
    ] {
        let machine = Machine::load(name).expect("built in");
        let observation = Observation {
            machine: &machine,
            runs: ["a", "b"].map(|name| run(&machine, name, &[])).into(),
        };
        let chart = chart(&observation, "util", "", Course::util_of);
        assert_eq!(lines(&chart), expected);
    }
}

/// The Cortex-A57 are CPU 1, used from a fifth of the time on, and CPU 2, used from half of it on.
#[test]
fn points_are_sums_of_utilizations_and_means_of_clocks() {
    let machine = Machine::load("juno-r0").expect("built in");
    let clock = |khz| Event::Frequency { khz };
    let events = [
        (0, 1, clock(400_000)),
        (0, 2, clock(400_000)),
        (END_NS / 5, 1, util(100)),
        (END_NS / 2, 2, util(300)),
        (END_NS / 2, 2, clock(1_000_000)),
    ];
    let observation = Observation {
        machine: &machine,
        runs: vec![run(&machine, "one", &events)],
    };
    let values = |of: Of| {
        let chart = chart(&observation, "y", "", of);
        let line = (chart.lines.iter()).find(|line| line.name == "one, Cortex-A57");
        line.expect("of the type").points.clone()
    };
    let (sums, means) = (values(Course::util_of), values(Course::mhz_of));
    assert_eq!((sums.len(), means.len()), (PIECES, PIECES));
    for (at, util, mhz) in [
        (0, 0.0, 400.0),
        (49, 0.0, 400.0),
        (50, 100.0, 400.0),
        (124, 100.0, 400.0),
        (125, 400.0, 700.0),
        (249, 400.0, 700.0),
    ] {
        assert_eq!(sums[at], (at as f64, util), "utilization, piece {at}");
        assert_eq!(means[at], (at as f64, mhz), "clock, piece {at}");
    }
}

/// 0 for a fifth of the time, 100 for three tenths, 400 for half of it.
#[test]
fn the_short_table_has_mean_and_largest() {
    let machine = Machine::load("juno-r0").expect("built in");
    let events = [(END_NS / 5, 1, util(100)), (END_NS / 2, 1, util(400))];
    let observation = Observation {
        machine: &machine,
        runs: vec![run(&machine, "one", &events)],
    };
    let html = add(Page::new("signals"), &observation).render();
    let rows = rows(&html, "Utilization and clocks");
    for expected in [
        ["one, Cortex-A53", "0", "0"],
        ["one, Cortex-A57", "230", "400"],
    ] {
        assert!(rows.iter().any(|row| row == &expected), "{rows:?}");
    }
}
