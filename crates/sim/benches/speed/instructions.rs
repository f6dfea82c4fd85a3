// SPDX-License-Identifier: GPL-2.0-only
//! Instructions per job, counted by valgrind: the same number whatever else the machine does. Each
//! is held against the figure of the tree (`instructions.txt`); one that is more than 2 % above it
//! is a regression.
//!
//! A program of ours is counted twice, for a short and for a long run. The difference is what jobs
//! cost, without what a run costs to begin with. `BLESS=1` writes the figures anew, which a commit
//! explains.

use crate::{Row, load, periodic, simulate};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The argument that makes this program do one run, for valgrind.
pub const ONE_RUN: &str = "--one-run";

/// Above the figure of the tree by so much an instruction count has grown, percent.
const ALLOWED_PERCENT: f64 = 2.0;

/// Machine, its CPUs, base; lengths of the short and the long run, ms.
const RUNS: [(&str, &str, u64, u64); 9] = [
    ("hikey620", "linux-3.9", 500, 3000),
    ("hikey620", "linux-5.4", 500, 3000),
    ("hikey620", "linux-5.5", 500, 3000),
    ("hikey620", "linux-6.1", 500, 3000),
    ("hikey620", "linux-6.5", 500, 3000),
    ("hikey620", "linux-7.2", 500, 3000),
    ("gs101", "linux-6.5", 500, 3000),
    ("epyc-9654-2s", "linux-5.5", 60, 120),
    ("epyc-9654-2s", "linux-7.2", 60, 120),
];

/// Periodic tasks a CPU, half load in all.
const TASKS_PER_CPU: usize = 8;

fn row(machine: &str, scheduler: &'static str, ms: u64) -> Row {
    let machine = load(machine);
    Row {
        what: String::new(),
        scheduler,
        workload: periodic(machine.cpus.len(), TASKS_PER_CPU),
        machine,
        simulated_ms: ms,
        counted: "jobs",
    }
}

/// Simulates the run of this index for so many ms, and prints how many jobs there were.
pub fn one_run(arguments: &[String]) {
    let number = |at: usize| arguments[at].parse::<u64>().expect("a number");
    let (machine, scheduler, ..) = RUNS[number(0) as usize];
    println!("{}", simulate(&row(machine, scheduler, number(1))));
}

/// Instructions and jobs of one run.
fn count(run: usize, ms: u64) -> Option<(f64, f64)> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args([ONE_RUN, &run.to_string(), &ms.to_string()])
        .stderr(Stdio::piped())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected :"));
    let instructions = collected?.1.trim().parse().ok()?;
    let jobs = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .ok()?;
    Some((instructions, jobs))
}

/// The figures of the tree, by machine and base.
fn known(text: &str, machine: &str, base: &str) -> Option<f64> {
    (text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>()))
    .find(|words| words.len() == 3 && words[..2] == [machine, base])
    .and_then(|words| words[2].parse().ok())
}

/// Prints instructions per job; true if some have grown, or if they cannot be counted.
pub fn report() -> bool {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/speed/instructions.txt");
    let tree = std::fs::read_to_string(&file).unwrap_or_default();
    println!(
        "instructions per job (wake, run, sleep); {TASKS_PER_CPU} periodic tasks a CPU, half load"
    );
    println!(
        "{:<14} {:<10} {:>8} {:>8} {:>8}",
        "machine", "base", "counted", "tree", "change"
    );
    let mut text =
        "# Instructions per job: machine, base, figure. Written by BLESS=1 make bench.\n"
            .to_owned();
    let mut grew = false;
    for (run, (machine, base, short, long)) in RUNS.into_iter().enumerate() {
        let Some(((less, few), (more, many))) = count(run, short).zip(count(run, long)) else {
            println!("{machine:<14} {base:<10} not counted: install valgrind");
            return true;
        };
        let each = ((more - less) / (many - few)).round();
        writeln!(text, "{machine} {base} {each}").expect("a string takes it");
        let Some(before) = known(&tree, machine, base) else {
            println!("{machine:<14} {base:<10} {each:>8} {:>8} {:>8}", "-", "new");
            continue;
        };
        let change = 100.0 * (each / before - 1.0);
        let mark = if change > ALLOWED_PERCENT {
            "  GREW"
        } else {
            ""
        };
        grew |= change > ALLOWED_PERCENT;
        println!("{machine:<14} {base:<10} {each:>8} {before:>8} {change:>+7.1}%{mark}");
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).expect("the figures are written");
        return false;
    }
    if grew {
        println!(
            "grew by more than {ALLOWED_PERCENT} %: make it cheaper, or say why in the commit that writes {}",
            file.display()
        );
    }
    grew
}
