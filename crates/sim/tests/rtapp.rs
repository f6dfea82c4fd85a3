// SPDX-License-Identifier: GPL-2.0-only
//! rt-app files from end to end: what the binary does with them is what a run does, and what it logs
//! is what is reported. Where a figure of the binary is named, it is of rt-app 55cb0c0.

mod common;

use alight_sim::{Error, Outcome};
use alight_workload::{Mode, Workload};
use common::{MS, Run, machine, metric};

/// A file in which single quotes stand for double ones.
fn read(text: &str, mode: Mode) -> Workload {
    let loaded = Workload::from_rtapp("file.json", text, mode);
    loaded.unwrap_or_else(|e| panic!("{text}: {e}")).workload
}

fn go(text: &str, mode: Mode) -> Result<Outcome, Error> {
    let juno = machine("juno-r0");
    let workloads = [read(text, mode)];
    let run = Run {
        scheduler: "linux-7.2",
        ..Run::new(&juno, &workloads)
    };
    run.go()
}

fn outcome(text: &str) -> Outcome {
    go(text, Mode::Workgen).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refusal(text: &str) -> String {
    match go(text, Mode::Workgen) {
        Err(Error::Refused(what)) => what,
        other => panic!("{text}: not refused: {other:?}"),
    }
}

/// Alone on its CPU, which may not idle deeply, a task is woken within 100 us by each timer that it
/// sleeps for; a pass of 35 ms makes it miss some, and how late it is stands in the slack.
#[test]
fn points_that_have_passed_are_no_wakeups() {
    let of = "{ 'tasks': { 't': { 'cpus': [0], 'loop': 4, 'phases': {
        'long': { 'loop': 1, 'run': 35000, 'timer': { 'ref': 'unique', 'period': 10000, 'mode': 'MODE' } },
        'short': { 'loop': 19, 'run': 100, 'timer': { 'ref': 'unique', 'period': 10000, 'mode': 'MODE' } } } } },
        'global': { 'calibration': 100 } }";
    let juno = machine("juno-r0");
    for (mode, missed) in [("absolute", 30..42), ("relative", 4..5)] {
        let workloads = [
            read(&of.replace("MODE", mode), Mode::Workgen),
            common::load("cyclictest -q -e 0 -i 1000000 -D 1"),
        ];
        let run = Run {
            scheduler: "linux-7.2",
            ..Run::new(&juno, &workloads)
        };
        let found = run.go().expect("runs");
        let of = |name: &str| metric(&found, &format!("t_{name}"));
        let latency = of("wakeup_latency_us");
        assert!((60.0..100.0).contains(&latency), "{mode}: {latency}");
        assert!(of("wakeup_latency_max_us") < 150.0, "{mode}");
        let missed_here = of("missed") as u64;
        assert!(missed.contains(&missed_here), "{mode}: {missed_here}");
        // CPU 0 has 446 of 1024: 35 ms of work are 80 ms there and more before its clock is up, 70 too
        // many.
        let least = of("slack_min_us");
        assert!((-100_000.0..-69_000.0).contains(&least), "{mode}: {least}");
        let slept = 80.0 - missed_here as f64;
        let wu_lat = of("wu_lat_us");
        assert!(
            (wu_lat - latency * slept / 80.0).abs() < 0.01,
            "{mode}: {wu_lat}: 0 for those that were missed"
        );
        let run = (80_000.0 + 19.0 * 230.0) / 20.0;
        let found = of("run_us");
        assert!((run..1.4 * run).contains(&found), "{mode}: {found}");
    }
}

/// What a task may be given is decided by the kernel, and asked for as rt-app asks.
#[test]
fn deadline_tasks_may_have_all_cpus_and_no_less() {
    let task = |of_task: &str, of_phase: &str| {
        format!(
            "{{ 'tasks': {{ 'ctl': {{ 'policy': 'SCHED_DEADLINE', 'dl-runtime': 2000, 'dl-period': 20000, {of_task} 'loop': 1,
                'phases': {{ 'p': {{ {of_phase} 'loop': 10, 'run': 100,
                'timer': {{ 'ref': 'unique', 'period': 20000, 'mode': 'absolute' }} }} }} }} }} }}"
        )
    };
    let all = "'cpus': [0, 1, 2, 3, 4, 5],";
    for (of_task, of_phase) in [("", ""), (all, ""), ("", all), (all, all)] {
        let found = outcome(&task(of_task, of_phase));
        assert_eq!(metric(&found, "ctl_loops"), 10.0, "{of_task} {of_phase}");
    }
    for (of_task, of_phase) in [("'cpus': [0],", ""), ("", "'cpus': [0, 1, 2, 3, 4],")] {
        let why = refusal(&task(of_task, of_phase));
        assert!(why.contains("EBUSY") && why.contains("'ctl-0'"), "{why}");
    }
}

#[test]
fn a_refused_admission_names_its_cause() {
    let why = refusal(
        "{ 'tasks': { 'w': { 'instance': 6, 'runtime': 200, 'timer': { 'ref': 'unique', 'period': 1000 } } },
           'global': { 'default_policy': 'SCHED_DEADLINE', 'duration': 1 } }",
    );
    for part in [
        "it asks for 200 us each 200 us, a whole CPU",
        "an event `runtime`",
        "EBUSY",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

/// A duration counts from the start of the workload, which is a few ms into the run.
#[test]
fn a_duration_is_exact() {
    let juno = machine("juno-r0");
    let hog = || {
        read(
            "{ 'tasks': { 'hog': { 'run': -1 } }, 'global': { 'duration': 1 } }",
            Mode::Workgen,
        )
    };
    let short = || common::load("hackbench -g 1 -f 2 -l 2");
    let mut ends = vec![];
    for seed in 1..=4 {
        for workloads in [vec![hog()], vec![hog(), short()]] {
            let run = Run {
                seed,
                ..Run::new(&juno, &workloads)
            };
            let found = run.go().expect("runs");
            // It computed all the time, but for what interrupts took.
            let share = metric(&found, "hog_cpu_percent");
            let ran = metric(&found, "hog_cpu_s");
            assert!((99.5..=100.0).contains(&share), "seed {seed}: {share}");
            assert!(
                (ran * 100.0 - share).abs() < 1e-9,
                "seed {seed}: {ran} s of one second"
            );
            ends.push(found.end_ns);
        }
    }
    assert!(
        ends.iter().all(|end| (1000 * MS..1010 * MS).contains(end)),
        "{ends:?}"
    );
    ends.sort_unstable();
    assert!(
        ends[7] - ends[0] > MS,
        "starts differ by the seed: {ends:?}"
    );
}

/// Where another workload runs longer, the threads of a file end with its duration.
#[test]
fn threads_end_with_their_duration() {
    let juno = machine("juno-r0");
    let text = "{ 'tasks': { 'hog': { 'cpus': [1], 'run': -1 }, 'tick': { 'timer': { 'ref': 'unique', 'period': 10000 } },
                'waits': { 'sem_wait': 'never' }, 'cut': { 'loop': 1000, 'sleep': 10000 } },
                'global': { 'duration': 1 } }";
    let longer = "{ 'tasks': { 'other': { 'loop': 1, 'sleep': 3000000 } } }";
    let workloads = [read(text, Mode::Workgen), read(longer, Mode::Workgen)];
    for scheduler in ["linux-5.5", "linux-7.2"] {
        let run = Run {
            scheduler,
            ..Run::new(&juno, &workloads)
        };
        let found = run.go().expect("runs");
        assert!(
            found.end_ns > 3000 * MS,
            "{scheduler}: the other one goes on"
        );
        let ran = metric(&found, "hog_cpu_s");
        assert!((0.99..1.01).contains(&ran), "{scheduler}: {ran} s");
        // A sleep of 10 ms takes longer by the way out of idle, a timer does not.
        for (name, least) in [("tick_loops", 97.0), ("cut_loops", 85.0)] {
            let loops = metric(&found, name);
            assert!(
                (least..=100.0).contains(&loops),
                "{scheduler}: {name}: {loops}"
            );
        }
        assert!(
            metric(&found, "elapsed_s") > 3.0,
            "{scheduler}: of the other one"
        );
    }
}

/// Work without an end needs a limit of time, and has it by a duration.
#[test]
fn a_hog_without_end() {
    let file = |event: &str, global: &str| {
        format!("{{ 'tasks': {{ 't': {{ 'loop': 1, {event} }} }}{global} }}")
    };
    for event in [
        "'run': -1",
        "'run': -7",
        "'mem': -1",
        "'memrun': { 'type': 'chase', 'size': 4096, 'count': -1 }",
    ] {
        let why = refusal(&file(event, ""));
        assert_eq!(
            why,
            "workload 'file.json' never ends; give the run a --duration"
        );
        let found = outcome(&file(event, ", 'global': { 'duration': 1 }"));
        assert!(metric(&found, "t_cpu_percent") > 99.0, "{event}");
        assert_eq!(metric(&found, "t_loops"), 0.0, "{event}");
    }
}

/// A negative delay is none. Negative sleeps are refused, and last for ever in what the binary makes
/// of them.
#[test]
fn negative_times() {
    for mode in [Mode::Workgen, Mode::Rtapp] {
        let text = "{ 'tasks': { 't': { 'delay': -100, 'loop': 3, 'run': 100 } } }";
        let found = go(text, mode).expect("runs");
        assert_eq!(metric(&found, "t_loops"), 3.0, "{mode:?}");
        assert!(metric(&found, "elapsed_s") < 0.002, "{mode:?}");
    }
    for event in ["'sleep': -5", "'timer': { 'ref': 'a', 'period': -5 }"] {
        let text = |global: &str| {
            format!("{{ 'tasks': {{ 't': {{ 'loop': 3, 'run': 100, {event} }} }}{global} }}")
        };
        let found = go(&text(", 'global': { 'duration': 1 }"), Mode::Rtapp).expect("runs");
        assert_eq!(metric(&found, "t_loops"), 0.0, "{event}");
        let Err(Error::Refused(why)) = go(&text(""), Mode::Rtapp) else {
            panic!("{event}: not stuck");
        };
        assert!(why.contains("'t-0' sleeps for ever"), "{why}");
    }
}

/// A file that comes to its end says how long it took.
#[test]
fn finite_files_have_an_elapsed_time() {
    for (text, least, most) in [
        (
            "{ 'tasks': { 't': { 'loop': 100, 'run': 1000, 'cpus': [1] } }, 'global': { 'calibration': 'CPU1' } }",
            0.1,
            0.15,
        ),
        (
            "{ 'tasks': { 't': { 'loop': 100, 'sleep': 1000 } } }",
            0.1,
            0.13,
        ),
        (
            "{ 'tasks': { 'short': { 'loop': 1, 'run': 1000 }, 'long': { 'delay': 200000, 'loop': 1, 'run': 1000 } } }",
            0.2,
            0.21,
        ),
    ] {
        let found = outcome(text);
        let elapsed = metric(&found, "elapsed_s");
        assert!((least..most).contains(&elapsed), "{text}: {elapsed}");
        assert_eq!(found.results[0].name, "elapsed_s", "it comes first");
    }
    let endless = outcome("{ 'tasks': { 't': { 'run': 1000 } }, 'global': { 'duration': 1 } }");
    assert!(endless.results.iter().all(|m| m.name != "elapsed_s"));
    let cut = outcome(
        "{ 'tasks': { 't': { 'loop': 9, 'sleep': 1000000 } }, 'global': { 'duration': 1 } }",
    );
    assert!(
        metric(&cut, "elapsed_s").is_nan(),
        "it has not come to its end"
    );
}

/// A thread that is forked 45 ms late has missed the points of its timers until then: an absolute one
/// it uses at once until it has caught up, a relative one begins anew.
#[test]
fn a_forked_thread_comes_late_to_its_timers() {
    let of = "{ 'tasks': { 'child': { 'instance': 0, 'loop': 8, 'run': 10,
                    'timer': { 'ref': 'unique', 'period': 10000, 'mode': 'MODE' } },
                'parent': { 'loop': 1, 'sleep': 45000, 'fork': 'child' } } }";
    for (mode, missed, elapsed_ms) in [("absolute", 4.0, 80.0), ("relative", 1.0, 115.0)] {
        let found = outcome(&of.replace("MODE", mode));
        assert_eq!(metric(&found, "child_missed"), missed, "{mode}");
        let elapsed = 1e3 * metric(&found, "elapsed_s");
        assert!(
            (elapsed_ms..elapsed_ms + 6.0).contains(&elapsed),
            "{mode}: {elapsed}"
        );
    }
}

/// CPU time follows the weights of nice 0 and nice 5, 1024 and 335 (`sched_prio_to_weight`).
#[test]
fn cpu_shares_of_tasks() {
    let found = outcome(
        "{ 'tasks': { 'a': { 'cpus': [1], 'run': 1000 }, 'b': { 'cpus': [1], 'priority': 5, 'run': 1000 },
                      'pair': { 'instance': 2, 'cpus': [2], 'run': 1000 } },
           'global': { 'duration': 4 } }",
    );
    for (name, percent) in [("a", 75.3), ("b", 24.7), ("pair", 100.0)] {
        let share = metric(&found, &format!("{name}_cpu_percent"));
        let ran = metric(&found, &format!("{name}_cpu_s"));
        assert!((share - percent).abs() < 1.0, "{name}: {share} %");
        assert!((ran - share * 0.04).abs() < 1e-6, "{name}: {ran} s");
    }
}

/// A task that computes when its duration is over goes on to the end of its operation, for which it gets
/// no CPU time any more.
#[test]
fn cpu_time_ends_with_the_duration() {
    let file =
        "{ 'tasks': { 'hog': { 'cpus': [1], 'run': 900000 } }, 'global': { 'duration': 1 } }";
    let other = common::load("cyclictest -q -t 1 -i 10000 -D 3");
    let workloads = [read(file, Mode::Workgen), other];
    let juno = machine("juno-r0");
    let found = Run::new(&juno, &workloads).go().expect("it runs");
    let share = metric(&found, "hog_cpu_percent");
    assert!((99.0..=100.0).contains(&share), "{share} %");
}

/// What is said of workloads that wait for themselves: since when, who, and for what.
#[test]
fn stuck_files_name_the_tasks_and_what_they_wait_for() {
    for (tasks, parts) in [
        (
            "'a': { 'loop': 10, 'run': 1000, 'barrier': 'x' }, 'b': { 'loop': 5, 'run': 1000, 'barrier': 'x' }",
            &[
                "'a-0' waits at the barrier `x`, where 1 of 2 tasks wait",
                "'b-1', which uses it too, has ended",
            ][..],
        ),
        (
            "'a': { 'loop': 1, 'lock': 'm', 'sleep': 2000, 'lock1': 'n' }, 'b': { 'loop': 1, 'lock': 'n', 'sleep': 2000, 'lock1': 'm' }",
            &[
                "'a-0' waits for the mutex `n`, which 'b-1' holds",
                "'b-1' waits for the mutex `m`, which 'a-0' holds",
            ],
        ),
        (
            "'a': { 'loop': 1, 'run': 1000, 'suspend': 'a' }, 'b': { 'loop': 1, 'sem_wait': 's' }",
            &[
                "'a-0' waits for the condition `a`",
                "'b-1' waits for the semaphore `s`",
            ],
        ),
        (
            "'t': { 'instance': 9, 'loop': 1, 'run': 1000, 'sem_wait': 's' }",
            &["'t-5' waits for the semaphore `s`", "and 3 more wait"],
        ),
    ] {
        let text = format!("{{ 'tasks': {{ {tasks} }} }}");
        let why = refusal(&text);
        for part in parts {
            assert!(why.contains(part), "{part}: {why}");
        }
        // Within the first 30 ms, and not when the simulated time is at its end.
        let at = why
            .strip_prefix("the workload is stuck at ")
            .expect("a time");
        let (time, unit) = at.split_once(' ').expect("a number and a unit");
        let time: f64 = time.parse().expect("a number");
        assert!(unit.starts_with("us: ") && time < 30_000.0, "{why}");
        // Others may go on: the run would have no end.
        let juno = machine("juno-r0");
        let workloads = [read(&text, Mode::Workgen), common::load("housekeeping")];
        let run = Run {
            check: false,
            ..Run::new(&juno, &workloads)
        };
        let beside = run.go().expect_err("stuck").to_string();
        assert!(
            beside.starts_with("workload 'file.json' is stuck at "),
            "{beside}"
        );
        assert!(beside.contains(parts[0]), "{beside}");
    }
}
