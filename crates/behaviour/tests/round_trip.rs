// SPDX-License-Identifier: GPL-2.0-only
//! Runs of the model are recorded and replayed: the same switches, wakeups and migrations.

use std::sync::atomic::AtomicBool;

use alight_behaviour::replayed::{self, model};
use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_sim::{Outcome, Scenario};
use alight_workload::{Mode, Workload};

/// Boards with CPUs that are alike and that are not, and a server of 384 CPUs.
const MACHINES: [&str; 3] = ["ca9x4", "juno-r0", "epyc-9654-2s"];

/// Each tool, and each rt-app file that all of these machines can run.
const WORKLOADS: [&str; 27] = [
    "adrestia -l 200",
    "cyclictest -a -t 4 -p 90 -q -D 1",
    "cyclictest -t 4 -q -D 1",
    "frames --duration 1",
    "hackbench -T -g 1 -l 50",
    "hackbench -g 2 -f 5 -l 50",
    "hackbench -p -g 2 -f 5 -l 50",
    "perf bench sched messaging -g 1 -l 20",
    "perf bench sched messaging -p -t -g 1 -l 20",
    "perf bench sched pipe -T -l 500",
    "perf bench sched pipe -l 500",
    "schbench -m 1 -t 3 -r 1",
    "sysbench cpu --threads=4 --events=50 --time=0 run",
    "sysbench threads --threads=6 --events=60 --time=0 run",
    "taskset -c 0 hackbench -p -g 1 -f 2 -l 50",
    "audio-chain.json",
    "frame-pipeline.json",
    "idle-hogs.json",
    "light-tasks.json",
    "lock-handover.json",
    "periodic-mix.json",
    "ramp.json",
    "card/boosted.json",
    "card/capped.json",
    "card/mixed.json",
    "card/ping-pong.json",
    "card/spare-time.json",
];

/// What is bound to CPUs that other machines have not, or is long.
const OTHERS: [(&str, &str); 6] = [
    ("juno-r2", "juno-r2/capped-eight.json"),
    ("juno-r2", "juno-r2/capped-hogs.json"),
    ("juno-r2", "juno-r2/capped-pair.json"),
    ("juno-r2", "juno-r2/wide-tasks.json"),
    ("epyc-9654-2s", "card/spare-time-server.json"),
    ("juno-r0", "schbench -p 4 -t 3 -r 1"),
];

/// Here the counts differ, at most by these parts. What differs first:
///
/// - ca9x4: the moment at which a wakeup preempts a task that calls sched_yield() again and again;
/// - juno-r0, boosted: nothing but the end. The replay ends with its last task, whose CPU has not switched
///   then;
/// - juno-r0, schbench: a CPU leaves its idle state 107 us later;
/// - juno-r0, periodic-mix: a preempted task is not marked as preempted (R for R+);
/// - juno-r2: a task that was moved while it ran sleeps 1.3 us earlier;
/// - epyc-9654-2s: a forked task sleeps 296 ns earlier, which is the cost of a read.
///
/// Why is known of the second alone.
const ALMOST: [(&str, &str, [f64; 3]); 8] = [
    (
        "ca9x4",
        "sysbench threads --threads=6 --events=60 --time=0 run",
        [0.03, 0.08, 0.34],
    ),
    ("juno-r0", "card/boosted.json", [0.002, 0.0, 0.0]),
    ("juno-r0", "schbench -m 1 -t 3 -r 1", [0.003, 0.003, 0.024]),
    ("juno-r0", "periodic-mix.json", [0.0, 0.0, 0.016]),
    ("juno-r2", "juno-r2/wide-tasks.json", [0.008, 0.0, 0.0]),
    (
        "epyc-9654-2s",
        "hackbench -T -g 1 -l 50",
        [0.04, 0.05, 0.07],
    ),
    (
        "epyc-9654-2s",
        "perf bench sched messaging -g 1 -l 20",
        [0.01, 0.04, 0.07],
    ),
    (
        "epyc-9654-2s",
        "perf bench sched messaging -p -t -g 1 -l 20",
        [0.01, 0.02, 0.2],
    ),
];

/// Context switches, wakeups and migrations.
type Counts = [f64; 3];

fn counts(outcome: &Outcome) -> Counts {
    ["context_switches", "wakeups", "cpu_migrations"].map(|name| {
        let mut all = outcome.mechanism.iter();
        let found = all.find(|metric| metric.name == name);
        found.map_or(f64::NAN, |metric| metric.value)
    })
}

fn workload(line: &str) -> Workload {
    let loaded = match line.ends_with(".json") {
        false => Workload::from_command_line(line),
        true => {
            let path = format!("../../workloads/{line}");
            let text = std::fs::read_to_string(&path).unwrap();
            Workload::from_rtapp(line, &text, Mode::Workgen)
        }
    };
    loaded.unwrap().workload
}

/// Of a run, and of a replay of it.
fn round_trip(machine: &Machine, line: &str) -> [Counts; 2] {
    let scheduler = Scheduler::parse("linux-6.1").unwrap();
    let cancel = AtomicBool::new(false);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.alight");

    let original = workload(line);
    let scenario = Scenario::new(machine, std::slice::from_ref(&original), &scheduler);
    let run = model::record(&scenario, None, &path, &cancel, &|_| ()).unwrap();

    let line = alight_replay::Line::parse(path.to_str().unwrap());
    let replay = replayed::load(&line.unwrap().unwrap(), machine).unwrap();
    let scenario = Scenario::new(machine, std::slice::from_ref(&replay), &scheduler);
    let again = alight_sim::run(&scenario, None, &cancel).unwrap();
    [counts(&run), counts(&again)]
}

#[test]
fn runs_of_the_model_replay_to_the_same_counts() {
    let everywhere = MACHINES.map(|machine| WORKLOADS.map(|line| (machine, line)));
    let mut unlike = vec![];
    for (name, line) in everywhere.into_iter().flatten().chain(OTHERS) {
        let machine = Machine::load(name).unwrap();
        let [run, again] = round_trip(&machine, line);
        let near =
            |parts: [f64; 3]| (0..3).all(|at| (run[at] - again[at]).abs() <= run[at] * parts[at]);
        let mut almost = ALMOST.iter();
        let almost = almost.any(|&(on, of, parts)| (on, of) == (name, line) && near(parts));
        if run != again && !almost {
            unlike.push(format!("{name} {line}: {run:?}, replayed {again:?}"));
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}
