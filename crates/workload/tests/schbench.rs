// SPDX-License-Identifier: GPL-2.0-only
//! The other tools that schbench has been and can be: requests that are handed out (`-R`), a pipe
//! (`-p`), and the tool of 2016 to January 2020 (`-c`).

use alight_workload::program::{Observation, Op};
use alight_workload::{Loaded, Mode, Severity, Site, Workload};

const US: u64 = 1000;
const S: u64 = 1_000_000_000;

fn loaded(line: &str) -> Loaded {
    Workload::load(line, Mode::Workgen).unwrap_or_else(|e| panic!("{line}: {e}"))
}

/// The operations of the first task of this name.
fn ops<'w>(workload: &'w Workload, comm: &str) -> &'w [Op] {
    let task = workload.tasks.iter().find(|task| task.comm == comm);
    &workload.programs[task.expect(comm).program as usize].ops
}

fn count(workload: &Workload, comm: &str) -> usize {
    workload
        .tasks
        .iter()
        .filter(|task| task.comm == comm)
        .count()
}

fn sleeps(ops: &[Op]) -> Vec<u64> {
    let sleep = |op: &Op| match op {
        Op::Sleep { ns } => Some(*ns),
        _ => None,
    };
    ops.iter().filter_map(sleep).collect()
}

#[test]
fn the_published_line_of_the_old_tool() {
    let loaded = loaded("schbench -m 2 -t 4 -s 10000 -c 1000000 -r 10");
    let workload = &loaded.workload;
    assert_eq!(count(workload, "schbench-msg"), 2);
    assert_eq!(count(workload, "schbench-worker"), 8);
    assert_eq!(sleeps(ops(workload, "schbench")), [10 * S]);
    // A worker spins for a second of wall time, then asks.
    let worker = ops(workload, "schbench-worker");
    let spins = |op: &&Op| matches!(op, Op::RunWall { .. } | Op::Call { .. });
    let spins: Vec<&Op> = worker.iter().filter(spins).collect();
    assert_eq!(spins[0], &Op::RunWall { ns: S });
    assert!(matches!(spins[1..], [Op::Call { desk: 0, .. }]));
    // A message thread waits for the first, sleeps 10 ms and up to a quarter more, answers all.
    let message = ops(workload, "schbench-msg");
    let at = message
        .iter()
        .position(|op| matches!(op, Op::Attend { .. }));
    let round = &message[at.expect("waits")..][..3];
    assert!(
        matches!(
            round,
            [Op::Attend { .. }, Op::Sleep { .. }, Op::Serve { .. }]
        ),
        "{round:?}"
    );
    let drawn = sleeps(message);
    assert!(
        drawn
            .iter()
            .all(|ns| (10_000 * US..12_500 * US).contains(ns)),
        "{drawn:?}"
    );
    let mut distinct = drawn.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > drawn.len() / 2, "{drawn:?}");
    let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(
        names.join(" ").replace("wakeup_latency_", ""),
        "p50_us p75_us p90_us p95_us p99_us p995_us p999_us requests_per_s"
    );
    let said = &loaded.diagnostics[0];
    assert_eq!(said.severity, Severity::Note);
    assert!(
        said.message.contains("the tool of 2016 to January 2020"),
        "{said:?}"
    );
}

/// Defaults of 99faedc; `-p` sets `-s` and `-c` to 0 unless they are given.
#[test]
fn the_old_tool_has_its_own_defaults() {
    // Message threads, workers, seconds, the least sleep and the spin in us, bytes of the pipe.
    for (line, expected) in [
        (
            "schbench -c 100",
            (2, 32, 30, Some(30_000), Some(100), None),
        ),
        (
            "schbench --sleeptime 400 -t 1",
            (2, 2, 30, Some(400), Some(30_000), None),
        ),
        (
            "schbench -c 0 -s 0 -m 1 -t 3 -r 2",
            (1, 3, 2, None, None, None),
        ),
        (
            "schbench --cputime=5 -p 64 -m 1 -t 1",
            (1, 1, 30, None, Some(5), Some(64)),
        ),
    ] {
        let workload = loaded(line).workload;
        let worker = ops(&workload, "schbench-worker");
        let spin = worker.iter().find_map(|op| match op {
            Op::RunWall { ns } => Some(ns / US),
            _ => None,
        });
        let bytes = worker.iter().find_map(|op| match op {
            Op::Memory { bytes } => Some(*bytes),
            _ => None,
        });
        let least = sleeps(ops(&workload, "schbench-msg")).into_iter().min();
        let found = (
            count(&workload, "schbench-msg"),
            count(&workload, "schbench-worker"),
            sleeps(ops(&workload, "schbench"))[0] / S,
            spin,
            bytes,
        );
        let a_quarter_more = |us: u64| us..us + us / 4;
        assert_eq!(least.is_some(), expected.3.is_some(), "{line}");
        if let (Some(least), Some(us)) = (least, expected.3) {
            assert!(
                a_quarter_more(us).contains(&(least / US)),
                "{line}: {least}"
            );
        }
        assert_eq!(
            found,
            (expected.0, expected.1, expected.2, expected.4, expected.5),
            "{line}"
        );
    }
}

#[test]
fn options_of_another_release_say_so() {
    for (line, column, words) in [
        (
            "schbench -c 100 -F 64",
            17,
            "schbench got -F in December 2021",
        ),
        (
            "schbench -w 5 -c 100",
            10,
            "schbench got -w in October 2020",
        ),
        ("schbench -c 9 -M auto", 15, "schbench got -M in May 2025"),
        (
            "schbench -c 9 --split 5",
            15,
            "schbench got --split in December 2025",
        ),
        (
            "schbench -c 9 -R 5",
            15,
            "-R of the schbench that has -c is not modelled",
        ),
        (
            "schbench -c 9 -a",
            15,
            "-a of the schbench that has -c is not modelled",
        ),
        ("schbench -c 9 -s 3", 15, "a division by zero"),
        ("schbench -c 9 -r 0", 15, "-r is `0`, which is too small"),
        (
            "schbench -t 2 -a",
            15,
            "-a is an option of older releases of schbench and was removed in April 2023",
        ),
        ("schbench -t 2 -A 50", 15, "-A is not modelled"),
        (
            "schbench -t 2 -R 5 -p 5",
            10,
            "-R and -p together are not modelled",
        ),
        (
            "schbench -t 2 -p 1048577",
            15,
            "-p is `1048577`, which is too large",
        ),
    ] {
        let error = Workload::load(line, Mode::Workgen)
            .map(|_| ())
            .expect_err(line);
        let error = error.to_string();
        assert!(
            error.starts_with(&format!("command line:1:{column}: ")),
            "{line}: {error}"
        );
        assert!(error.contains(words), "{line}: {error}");
    }
    for (line, words) in [
        (
            "schbench -t 2 -s 10000",
            "up to April 2023 it was the delay of a message thread",
        ),
        ("schbench -m 4 -t 2 -R 3", "-R is less than -m"),
        (
            "schbench -t 2 -R 30 -r 60 -w 5",
            "does not warm up with -R or -p",
        ),
    ] {
        let said = loaded(line).diagnostics;
        assert!(
            said.iter().any(|d| d.message.contains(words)),
            "{line}: {said:?}"
        );
    }
}

/// `requests_per_sec /= message_threads`; each second they are dealt to the workers in turn.
#[test]
fn requests_are_handed_out_each_second() {
    for (line, each) in [
        ("schbench -m 2 -t 4 -R 401 -r 3", Some(200)),
        ("schbench -m 1 -t 4 --rps 7 -r 3", Some(7)),
        ("schbench -m 4 -t 2 -R 3 -r 3", None),
    ] {
        let workload = loaded(line).workload;
        let message = ops(&workload, "schbench-msg");
        let dealt = message.iter().find_map(|op| match op {
            Op::LoopBegin { slot: 1, count, .. } => Some(*count),
            _ => None,
        });
        assert_eq!(dealt, each, "{line}");
        let worker = ops(&workload, "schbench-worker");
        let asks = worker.iter().any(|op| matches!(op, Op::Call { .. }));
        assert_eq!(asks, each.is_none(), "{line}");
        if each.is_some() {
            let second = |op: &Op| matches!(op, Op::Timer { period_ns: S, .. });
            assert!(message.iter().any(second), "{line}");
            let workers = if line.contains("-t 4") { 4 } else { 2 };
            let turns = |op: &Op| matches!(op, Op::Take { deal, .. } if workload.deals[*deal as usize].modulo == workers);
            assert!(message.iter().any(turns), "{line}");
        }
    }
}

#[test]
fn a_pipe_is_written_by_both_ends() {
    let workload = loaded("schbench -m 1 -t 2 -p 4096 -r 2").workload;
    for comm in ["schbench-worker", "schbench-msg"] {
        let writes = ops(&workload, comm)
            .iter()
            .filter(|op| **op == Op::Memory { bytes: 4096 });
        assert_eq!(writes.count(), 1, "{comm}");
    }
    let worker = ops(&workload, "schbench-worker");
    assert!(
        !worker
            .iter()
            .any(|op| matches!(op, Op::Run { .. } | Op::Sleep { .. })),
        "{worker:?}"
    );
    let latency = Observation::LapseAboveZero { stamp: 0, tally: 0 };
    assert!(worker.contains(&Op::Observe(latency)));
    let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names.last(), Some(&"transfers_per_s"));
    assert!(
        !names.iter().any(|name| name.starts_with("request")),
        "{names:?}"
    );
}

/// `(num_cpus + message_threads - 1) / message_threads`.
#[test]
fn without_t_there_is_a_worker_for_each_cpu() {
    let site = Site::new("box", [0; 6]);
    for (line, workers) in [
        ("schbench -r 1", 6),
        ("schbench -m 2 -r 1", 6),
        ("schbench -m 4 -r 1", 8),
        ("taskset 1 schbench -r 1", 6),
    ] {
        let workload = Workload::load_on(line, Mode::Workgen, &site)
            .expect(line)
            .workload;
        assert_eq!(count(&workload, "schbench-worker"), workers, "{line}");
    }
    let error = Workload::load("schbench -r 1", Mode::Workgen)
        .map(|_| ())
        .expect_err("no machine");
    assert!(error.to_string().contains("add -t N"), "{error}");
}
