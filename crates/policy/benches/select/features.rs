// SPDX-License-Identifier: GPL-2.0-only
//! What features cost: linux-6.5 and linux-7.2 with every feature against the base alone, on the same
//! states: CPUs that can be packed on, clamps in use, SCHED_IDLE tasks. They may take at most
//! [`MOST_ON`] times the instructions of a decision of the base. Decisions in which the features scan
//! more CPUs than the base does stand apart ([`SINGLE_LOOKS`]): what they cost is the scan's length.
//! Features that are off cost nothing: a core that is compiled without them decides.
//!
//! Valgrind counts the instructions, which no other load disturbs. Times are printed beside them, of
//! several turns the fastest; nothing is demanded of these.

use crate::machines::{Sequence, desktop, epyc, sdm845};
use alight_policy::scheduler::FEATURES;
use alight_policy::topology::{Description, Level, LevelKind, build};
use alight_policy::{Answer, Core, Kind, Mask, Scheduler, Task, Waker, Wakeup};
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

const MOST_ON: f64 = 1.5;
/// What features look at by themselves: the buddy and the previous CPU. More is a longer scan.
const SINGLE_LOOKS: u32 = 2;
/// Pairs of waking and previous CPU.
const PAIRS: usize = 1024;
/// Of so many turns the fastest counts.
const TURNS: usize = 9;
/// The argument that makes this program do one turn, for valgrind.
const ONE_TURN: &str = "--count-turn";

const BASES: [&str; 2] = ["linux-6.5", "linux-7.2"];
const STATES: [(&str, u32); 3] = [("idle", 0), ("half", 1), ("full", 2)];
const ASKED: [(&str, Kind, u32); 3] = [
    ("wake 100", Kind::Wake, 100),
    ("wake 600", Kind::Wake, 600),
    ("fork", Kind::Fork, 0),
];

/// Who decides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Base,
    Features,
}

/// One row: a machine in a state under a base, and what it is asked.
struct Row {
    name: String,
    base: Core,
    features: Core,
    asked: (Kind, u32),
    /// Pairs of CPUs whose search is as long with features, and those where it is longer.
    like: Vec<(u32, u32)>,
    apart: Vec<(u32, u32)>,
}

/// A measurement: which decisions, by whom.
type Part = (fn(&Row) -> Vec<(u32, u32)>, Side);

const PARTS: [Part; 5] = [
    (|row| row.like.clone(), Side::Base),
    (|row| row.like.clone(), Side::Features),
    (|row| row.apart.clone(), Side::Base),
    (|row| row.apart.clone(), Side::Features),
    (all, Side::Base),
];

fn all(row: &Row) -> Vec<(u32, u32)> {
    row.like.iter().chain(&row.apart).copied().collect()
}

fn with_all_features(base: &str) -> String {
    let add =
        |name, feature: &alight_policy::scheduler::Feature| format!("{name}+{}", feature.name);
    FEATURES.iter().fold(base.to_owned(), add)
}

/// Caches and what is in them can be power gated.
fn gated(machine: Description) -> Description {
    let gate = |level: Level| match level.kind {
        LevelKind::Cache => level.gated(),
        _ => level,
    };
    Description {
        levels: machine.levels.into_iter().map(gate).collect(),
        ..machine
    }
}

/// Makes `busy` of every two CPUs run a task, of every eight of them a SCHED_IDLE one.
fn occupy(core: &mut Core, busy: u32) {
    let mut sequence = Sequence(0x9e37_79b9_7f4a_7c15);
    core.root.uclamp_used = 1;
    for cpu in &mut core.cpus {
        (cpu.avg_idle, cpu.idle_stamp, cpu.cfs.last_update_time) = (500_000, 1, 3 << 20);
        if sequence.below(2) < busy {
            (cpu.nr_running, cpu.h_nr_running, cpu.curr_is_idle) = (1, 1, 0);
            (cpu.cfs.load_avg, cpu.cfs.util_avg, cpu.util_est_enqueued) = (700, 600, 900);
            cpu.h_nr_idle = u32::from(sequence.below(8) == 0);
        }
    }
}

impl Row {
    fn new(name: String, machine: &Description, base: &str, busy: u32, asked: (Kind, u32)) -> Self {
        let core = |scheduler: &str| {
            let params = Scheduler::parse(scheduler).expect("a scheduler").params;
            let mut core = build(machine, &params).expect("a machine");
            occupy(&mut core, busy);
            core
        };
        let mut row = Row {
            name,
            base: core(base),
            features: core(&with_all_features(base)),
            asked,
            like: Vec::new(),
            apart: Vec::new(),
        };
        let (mut sequence, nr) = (Sequence(0x1234_5678_9abc_def1), row.base.topology.nr_cpus);
        for _ in 0..PAIRS {
            let pair = (sequence.below(nr), sequence.below(nr));
            let [base, with] = [Side::Base, Side::Features].map(|side| {
                let answer = row.decide(side, pair);
                answer.looked_near + answer.looked_far + answer.summed
            });
            let to = match with > base + SINGLE_LOOKS {
                true => &mut row.apart,
                false => &mut row.like,
            };
            to.push(pair);
        }
        row
    }

    fn decide(&mut self, side: Side, pair: (u32, u32)) -> Answer {
        let allowed: Mask = (0..self.base.topology.nr_cpus).collect();
        let core = match side {
            Side::Features => &mut self.features,
            _ => &mut self.base,
        };
        decide(core, &allowed, self.asked, pair)
    }

    /// Makes all decisions of a part. A function that valgrind can tell apart.
    #[inline(never)]
    fn run_part(&mut self, side: Side, pairs: &[(u32, u32)]) {
        let allowed: Mask = (0..self.base.topology.nr_cpus).collect();
        let core = match side {
            Side::Features => &mut self.features,
            _ => &mut self.base,
        };
        for &pair in pairs {
            black_box(decide(core, &allowed, self.asked, pair));
        }
    }
}

/// A task that slept wakes, or a new one starts; each decision finds the same state.
#[inline(always)]
fn decide(core: &mut Core, allowed: &Mask, (kind, util): (Kind, u32), pair: (u32, u32)) -> Answer {
    let mut wakee = Task {
        id: 2,
        nr_cpus_allowed: core.topology.nr_cpus,
        prev_cpu: if kind == Kind::Wake { pair.1 } else { pair.0 },
        uclamp_max: 512,
        util_est_ewma: util,
        ..Task::default()
    };
    (wakee.pelt.util_avg, wakee.pelt.runnable_avg) = (util, util);
    wakee.pelt.last_update_time = if kind == Kind::Wake { 2 << 20 } else { 0 };
    let mut waker = Task {
        id: 1,
        last_wakee: 2,
        ..Task::default()
    };
    core.llcs[core.places[pair.0 as usize].shared as usize].has_idle_cores = 1;
    core.select(Wakeup {
        task: &mut wakee,
        allowed,
        waker: Waker {
            cpu: pair.0,
            task: &mut waker,
            sync: false,
        },
        kind,
        flags: 0,
        now: 1_000_000,
    })
}

fn rows() -> Vec<Row> {
    let machines = [("8", sdm845()), ("16", desktop()), ("384", epyc())];
    let mut rows = Vec::new();
    for (cpus, machine) in machines {
        let machine = gated(machine);
        for base in BASES {
            for (state, busy) in STATES {
                for (asked, kind, util) in ASKED {
                    let name = format!("{cpus:>4}  {base:<9}  {state:<4}  {asked:<8}");
                    rows.push(Row::new(name, &machine, base, busy, (kind, util)));
                }
            }
        }
    }
    rows
}

// ---- measuring ----

/// Of each part of a row what one decision takes; 0 if the part is empty.
type Costs = [f64; PARTS.len()];

/// Nanoseconds, the least of so many turns.
fn times(row: &mut Row, turns: usize) -> Costs {
    let mut least = [f64::INFINITY; PARTS.len()];
    let pairs = PARTS.map(|(pairs, _)| pairs(row));
    for _ in 0..turns {
        for (i, (_, side)) in PARTS.iter().enumerate() {
            let start = Instant::now();
            row.run_part(*side, &pairs[i]);
            let each = start.elapsed().as_nanos() as f64 / pairs[i].len().max(1) as f64;
            least[i] = least[i].min(each);
        }
    }
    std::array::from_fn(|i| if pairs[i].is_empty() { 0.0 } else { least[i] })
}

/// Is this the program that valgrind was told to run?
pub fn counted_turn(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == ONE_TURN)
}

/// One turn: each part of each row once, in order.
pub fn run_turn() {
    for mut row in rows() {
        for (pairs, side) in PARTS {
            let pairs = pairs(&row);
            row.run_part(side, &pairs);
        }
    }
}

/// Instructions by row; none without valgrind.
fn instructions(rows: &[Row]) -> Option<Vec<Costs>> {
    let dumps = tempfile::tempdir().ok()?;
    let function = "select::features::Row::run_part";
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=no"])
        .arg(format!("--toggle-collect={function}"))
        .arg(format!("--dump-before={function}"))
        .arg(format!(
            "--callgrind-out-file={}/dump",
            dumps.path().display()
        ))
        .arg(std::env::current_exe().ok()?)
        .arg(ONE_TURN)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return None;
    }
    // What a call took is in the dump that the next one began with; the last has no number.
    let (mut calls, last) = (0, rows.len() * PARTS.len());
    let counts = rows.iter().map(|row| {
        PARTS.map(|(pairs, _)| {
            calls += 1;
            let dump = match calls == last {
                true => "dump".to_owned(),
                false => format!("dump.{}", calls + 1),
            };
            let total = collected(&dumps.path().join(dump));
            match pairs(row).len() {
                0 => 0.0,
                decisions => total / decisions as f64,
            }
        })
    });
    Some(counts.collect())
}

/// The sum of a dump of callgrind.
fn collected(dump: &Path) -> f64 {
    let text = std::fs::read_to_string(dump).unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total
        .and_then(|total| total.trim().parse().ok())
        .unwrap_or(f64::NAN)
}

// ---- reporting ----

fn ratio(costs: &Costs, of: usize) -> Option<f64> {
    (costs[of] > 0.0).then(|| costs[of + 1] / costs[of])
}

fn text(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Prints the tables; fails if features take more than they may.
pub fn report(measured: bool) -> ExitCode {
    let mut rows = rows();
    let times: Vec<Costs> = rows
        .iter_mut()
        .map(|row| times(row, if measured { TURNS } else { 1 }))
        .collect();
    let counts = measured.then(|| instructions(&rows)).flatten();
    let mut missed = measured && counts.is_none();
    println!();
    if missed {
        println!("instructions were not counted: install valgrind");
    }
    println!(
        "all features on, times the base alone (at most {MOST_ON} in instructions); in brackets instructions;"
    );
    println!("apart: decisions whose scan is longer with them");
    println!("CPUs  base       state  asked   base ns       on            apart");
    for (i, (row, time)) in rows.iter().zip(&times).enumerate() {
        let count = counts.as_ref().map(|counts| &counts[i]);
        let both = |of: usize| {
            let counted = count.map_or(String::new(), |c| format!(" ({})", text(ratio(c, of))));
            format!("{}{counted}", text(ratio(time, of)))
        };
        let late = count
            .and_then(|count| ratio(count, 0))
            .is_some_and(|ratio| ratio > MOST_ON);
        missed |= late;
        let share = 100 * row.apart.len() / PAIRS;
        println!(
            "{} {:>7.0} {:>13} {share:>3} % {:>13}{}",
            row.name,
            time[4],
            both(0),
            both(2),
            if late { "  TOO MANY" } else { "" }
        );
    }
    ExitCode::from(u8::from(missed))
}
