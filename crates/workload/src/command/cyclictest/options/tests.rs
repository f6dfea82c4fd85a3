// SPDX-License-Identifier: GPL-2.0-only
//! Command lines of cyclictest, and what its threads become.

use super::*;
use crate::command::split;
use crate::program::{Op, TaskSpec};

fn outcome_on(line: &str, site: Option<&Site>) -> Result<Settings, String> {
    let words = split(line).expect("splits");
    let around = Surroundings::new(line, site);
    read(&words, &around, &mut Remarks::default()).map_err(|r| r.message)
}

fn outcome(line: &str) -> Result<Settings, String> {
    outcome_on(line, None)
}

/// Policy, priority and CPU of each thread, and behind a bar the CPUs of the main thread if it has
/// any of its own.
fn spell(settings: &Settings) -> String {
    let thread = |k| {
        let a = settings.attributes(k);
        let or_dash = |n: Option<u32>| n.map_or("-".to_owned(), |n| n.to_string());
        let cpu = settings.cpu_of(k);
        let policy = a.policy.expect("has a policy");
        format!("{policy:?} {} {}", or_dash(a.rt_priority), or_dash(cpu))
    };
    let threads: Vec<String> = (0..settings.threads).map(thread).collect();
    let main = settings.main_attributes().affinity;
    threads.join(", ") + &main.map_or(String::new(), |cpus| format!(" | {cpus:?}"))
}

#[test]
fn periods_grow_by_the_distance() {
    // As rt-tests 2.4 prints them (column I).
    let table: [(&str, &[u64]); 5] = [
        ("-D1 -q", &[1000]),
        ("-t 2 -i 1000 -q", &[1000, 1500]),
        ("-t3 -p 80 -q -D1 -i 200", &[200, 700, 1200]),
        ("-t2 -q -D1 -d0", &[1000, 1000]),
        ("-t 2 -q -D 1 -h 100 -d 700", &[1000, 1000]),
    ];
    for (line, expected) in table {
        let settings = outcome(line).expect(line);
        let periods = (0..settings.threads).map(|k| settings.period_us(k));
        assert_eq!(periods.collect::<Vec<_>>(), expected, "{line}");
    }
}

#[test]
fn threads_get_policy_priority_and_cpu() {
    // Each thread: policy, priority (column P of rt-tests 2.4), CPU.
    let table = [
        ("-q", "Normal - -"),
        ("-p 80 -t2", "Fifo 80 -, Fifo 80 -"),
        ("--policy=idle -p 0 -D2", "Fifo 2 -"),
        ("--policy=rr -t 2", "RoundRobin 3 -, RoundRobin 3 -"),
        ("-t 2 --priospread", "Fifo 3 -, Fifo 2 -"),
        ("-t2 --priospread -p 50", "Fifo 50 -, Fifo 49 -"),
        ("-a -t 2", "Normal - 0, Normal - 1"),
        ("-a 0 -t2", "Normal - 0, Normal - 0 | [0]"),
        (
            "-a3-4,0 -t3",
            "Normal - 0, Normal - 3, Normal - 4 | [0, 3, 4]",
        ),
        ("-a 0-1 -t", "Normal - 0, Normal - 1 | [0, 1]"),
    ];
    for (line, expected) in table {
        let settings = outcome(line).expect(line);
        assert_eq!(spell(&settings), expected, "{line}");
    }
}

/// As rt-tests 2.4 does on two CPUs (`Cpus_allowed` of its threads), but for threads without -a,
/// which are free here.
#[test]
fn a_thread_for_each_cpu_of_the_machine() {
    let site = Site::new("box", [0, 0]);
    for (line, expected) in [
        ("-t", "Normal - -, Normal - -"),
        ("-t -q", "Normal - -, Normal - -"),
        ("-S", "Normal - 0, Normal - 1"),
        ("--smp -p 80", "Fifo 80 0, Fifo 80 1"),
        ("-S --policy=rr", "RoundRobin 3 0, RoundRobin 3 1"),
        ("-S -t 3", "Normal - 0, Normal - 1"),
        ("-t 3 -S", "Normal - 0, Normal - 1"),
        ("-S -a 0", "Normal - 0, Normal - 1"),
        ("-a -t", "Normal - 0, Normal - 1"),
        ("-a -t 3", "Normal - 0, Normal - 1, Normal - 0"),
        ("-a1 -t", "Normal - 1 | [1]"),
        ("-t 2 -a !0", "Normal - 1, Normal - 1 | [1]"),
        ("-t 2 -a +1", "Normal - 1, Normal - 1 | [1]"),
        ("-t 2 -aall", "Normal - 0, Normal - 1 | [0, 1]"),
        ("-a -t2 --mainaffinity=1", "Normal - 0, Normal - 1 | [1]"),
        ("-t2 -a 0 --mainaffinity 1", "Normal - 0, Normal - 0 | [1]"),
    ] {
        let settings = outcome_on(line, Some(&site)).expect(line);
        assert_eq!(spell(&settings), expected, "{line}");
    }
    for (line, words) in [
        ("-a -S", "mutually exclusive"),
        ("-a 9 -t 2", "-a `9`: CPU 9 is out of range; there are 0-1"),
        ("-a 0-9", "CPU 9 is out of range"),
        (
            "--mainaffinity=2",
            "--mainaffinity `2`: CPU 2 is out of range",
        ),
    ] {
        let message = outcome_on(line, Some(&site)).expect_err(line);
        assert!(message.contains(words), "{line}: {message}");
    }
}

/// The interval of each thread of `-S` grows by the distance too (column I of rt-tests 2.4).
#[test]
fn smp_changes_no_interval() {
    let site = Site::new("box", [0, 0, 0]);
    for (line, expected) in [
        ("-S", [1000, 1500, 2000]),
        ("-S -d 100", [1000, 1100, 1200]),
    ] {
        let settings = outcome_on(line, Some(&site)).expect(line);
        let periods = (0..settings.threads).map(|k| settings.period_us(k));
        assert_eq!(periods.collect::<Vec<_>>(), expected, "{line}");
    }
}

#[test]
fn what_a_prefix_allows_is_what_there_is() {
    let site = Site::new("box", [0, 0, 0, 0]);
    for (line, cpus) in [
        (
            "taskset -c 1,3 cyclictest -S -q -D 1",
            vec![vec![1], vec![3]],
        ),
        ("taskset -c 2 cyclictest -a -t -q -D 1", vec![vec![2]]),
        (
            "numactl -C 1-2 cyclictest -a -t 3 -q -D 1",
            vec![vec![1], vec![2], vec![1]],
        ),
        // A list is of the machine, as the tool's answer is.
        ("taskset -c 1 cyclictest -a 0 -t -q -D 1", vec![vec![0]]),
    ] {
        let loaded = crate::Workload::load_on(line, crate::Mode::default(), &site).expect(line);
        // A thread begins where it may, and first of all pins itself.
        let workload = loaded.workload;
        let pins = |task: &TaskSpec| match workload.programs[task.program as usize].ops[0] {
            Op::SetAttributes { attributes } => {
                workload.attributes[attributes as usize].affinity.clone()
            }
            _ => None,
        };
        let found: Vec<_> = workload.tasks[1..].iter().filter_map(pins).collect();
        assert_eq!(found, cpus, "{line}");
    }
}

#[test]
fn limits_and_power_management() {
    let table = [
        ("-q", None, None, Some(0)),
        ("-D 20 -e 1000000", Some(20), None, Some(1_000_000)),
        ("-D2m --latency=5", Some(120), None, Some(5)),
        ("-l100 --default-system", None, Some(100), None),
        ("-l 0 -D 0 --laptop", None, None, None),
    ];
    for (line, duration_s, loops, dma) in table {
        let s = outcome(line).expect(line);
        let duration_ns = duration_s.map(|d: u64| d * NS_PER_S);
        let found = (s.duration_ns, s.loops, s.dma_latency_us);
        assert_eq!(found, (duration_ns, loops, dma), "{line}");
    }
}

#[test]
fn what_is_refused_and_how() {
    let table = [
        ("-t", "write the number, as in -t 8"),
        ("-t -q", "write the number, as in -t 8"),
        ("-t 0", "-t is `0`, which is too small"),
        ("-i 0", "-i is `0`, which is too small"),
        ("-d -1", "-d is `-1`, which is too small"),
        ("-p 100", "-p is `100`, which is too large"),
        ("-D 1x", "-D is `1x`, which is not a whole number"),
        ("-S", "write the number, as in -a -t 8"),
        ("-r", "-r is not modelled"),
        ("--policy=ilde", "the nearest: `idle`"),
        (
            "--intervall=3",
            "no option `--intervall`; the nearest: `--interval`",
        ),
        ("-a 3-1", "runs backwards"),
        ("-q later", "would ignore `later`"),
    ];
    for (line, expected) in table {
        let message = outcome(line).expect_err(line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}
