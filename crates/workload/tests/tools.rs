// SPDX-License-Identifier: GPL-2.0-only
//! What the command lines of schbench, perf bench sched, adrestia, frames and housekeeping become.

use alight_workload::program::{ChannelKind, Deal, Lateness, Observation, Op};
use alight_workload::report::{Adrestia, PerfFormat, Report};
use alight_workload::{Mode, Severity, Workload};

fn load(line: &str) -> Workload {
    let loaded = Workload::load(line, Mode::Workgen).unwrap_or_else(|e| panic!("{line}: {e}"));
    assert_eq!(loaded.workload.check(), Ok(()), "{line}");
    loaded.workload
}

fn ops(workload: &Workload, task: usize) -> &[Op] {
    &workload.programs[workload.tasks[task].program as usize].ops
}

fn names(workload: &Workload) -> Vec<&str> {
    workload.measures.iter().map(|m| m.name.as_str()).collect()
}

/// Work that a task does at a time, ns.
fn work(workload: &Workload, task: usize) -> Option<u64> {
    ops(workload, task).iter().find_map(|op| match op {
        Op::Run { ns } => Some(*ns),
        _ => None,
    })
}

fn count(workload: &Workload, task: usize, what: impl Fn(&Op) -> bool) -> usize {
    ops(workload, task).iter().filter(|op| what(op)).count()
}

#[test]
fn a_worker_of_schbench_asks_sleeps_locks_computes() {
    let workload = load("schbench -m 2 -t 3 -r 20");
    let comms: Vec<&str> = workload.tasks.iter().map(|t| t.comm.as_str()).collect();
    let group = [
        "schbench-msg",
        "schbench-worker",
        "schbench-worker",
        "schbench-worker",
    ];
    assert_eq!(comms, [&["schbench"][..], &group, &group].concat());
    // The second worker of the second message thread.
    let (answered, begun) = (8, 9);
    let expected = [
        Op::Take { deal: 0, done: 13 },
        Op::Observe(Observation::Stamp { stamp: answered }),
        Op::Call {
            desk: 1,
            stamp: answered,
        },
        Op::Observe(Observation::LapseAboveZero {
            stamp: answered,
            tally: 0,
        }),
        Op::Observe(Observation::Stamp { stamp: begun }),
        Op::Sleep { ns: 100_000 },
        Op::LockCpu,
        Op::Run { ns: 16_861_711 },
        Op::UnlockCpu,
        Op::Observe(Observation::LapseAboveZero {
            stamp: begun,
            tally: 1,
        }),
        Op::Count { counter: 0 },
    ];
    assert_eq!(ops(&workload, 7)[1..12], expected);
    let time = Deal {
        counter: 1,
        modulo: 0,
        limit: u64::MAX,
        until_ns: 20_000_000_000,
    };
    assert_eq!(workload.deals[0], time);
    let message = [
        Op::Fork { task: 6 },
        Op::Fork { task: 7 },
        Op::Fork { task: 8 },
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 6,
        },
        Op::Serve { desk: 1, done: 6 },
        Op::LoopEnd { slot: 0, begin: 4 },
        Op::WaitChildren,
        Op::Exit,
    ];
    assert_eq!(ops(&workload, 5), message);
    assert_eq!(workload.tasks[7].working_set_bytes, Some(256 * 1024));
    assert_eq!(
        names(&workload),
        [
            "wakeup_latency_p50_us",
            "wakeup_latency_p90_us",
            "wakeup_latency_p99_us",
            "wakeup_latency_p999_us",
            "request_latency_p50_us",
            "request_latency_p90_us",
            "request_latency_p99_us",
            "request_latency_p999_us",
            "requests_per_s",
        ]
    );
}

#[test]
fn schbench_options_change_the_request() {
    // Line, work of a request in us, whether it locks, sleeps.
    let table = [
        ("schbench -t 1", 16_861, true, 1),
        ("schbench -t 1 -n 1", 3_372, true, 1),
        ("schbench -t 1 -L", 16_861, false, 1),
        ("schbench -t 1 -C", 16_861, false, 1),
        ("schbench -t 1 -F 64", 2_107, true, 1),
        ("schbench -t 1 --cache_footprint 64", 16_861, true, 1),
        // 20 % of 256 KB are 46 rows, 80 % are 93: one product of the first, four of the second.
        ("schbench -t 1 --split 20", 9_937, true, 1),
        ("schbench -t 1 --split=100", 16_861, true, 1),
    ];
    for (line, work_us, locks, sleeps) in table {
        let workload = load(line);
        assert_eq!(
            work(&workload, 2).map(|ns| ns / 1000),
            Some(work_us),
            "{line}"
        );
        let locking = count(&workload, 2, |op| matches!(op, Op::LockCpu));
        assert_eq!(locking, usize::from(locks), "{line}");
        let sleeping = count(&workload, 2, |op| matches!(op, Op::Sleep { .. }));
        assert_eq!(sleeping, sleeps, "{line}");
    }
}

#[test]
fn schbench_looks_each_second_and_forgets_the_warmup() {
    let rate = |op: &Op| matches!(op, Op::Observe(Observation::Rate { .. }));
    let clear = |op: &Op| matches!(op, Op::Observe(Observation::Clear { .. }));
    // Line, looks and forgotten tallies as they stand in main's program.
    let table = [
        ("schbench -t 1 -r 40", 2, 0),
        ("schbench -t 1 -r 40 -w 5", 40, 3),
        ("schbench -t 1 -r 29 -w 5", 2, 0),
        ("schbench -t 1 -r 40 -z 10", 41, 12),
        ("schbench -t 1 -r 0 -z 10", 1, 3),
    ];
    for (line, looks, forgotten) in table {
        let workload = load(line);
        assert_eq!(count(&workload, 0, rate), looks, "{line}");
        assert_eq!(count(&workload, 0, clear), forgotten, "{line}");
    }
}

#[test]
fn schbench_pins_as_the_tool_does() {
    let line = "schbench -m 3 -t 1 -M 4-5 -W 0,2";
    let workload = load(line);
    let pinned: Vec<_> = workload
        .attributes
        .iter()
        .map(|a| a.affinity.clone())
        .collect();
    assert_eq!(
        pinned,
        [Some(vec![4]), Some(vec![5]), Some(vec![4])],
        "{line}"
    );
    assert!(
        workload.tasks[1..]
            .iter()
            .all(|t| t.attributes.affinity == Some(vec![0, 2]))
    );
    let auto = load("schbench -m 2 -t 1 -M auto -W 3");
    let pinned: Vec<_> = auto.attributes.iter().map(|a| a.affinity.clone()).collect();
    assert_eq!(pinned, [Some(vec![0]), Some(vec![1])]);
    assert!(auto.tasks.iter().all(|t| t.attributes.affinity.is_none()));
}

#[test]
fn perf_bench_messaging_is_hackbench_with_its_own_name() {
    let perf = load("perf bench sched messaging -g 2 -l 7 -p -t");
    let hackbench = load("hackbench -g 2 -f 20 -l 7 -p -T");
    assert_eq!(perf.programs, hackbench.programs);
    assert_eq!(perf.channels, hackbench.channels);
    assert!(
        perf.tasks
            .iter()
            .all(|t| t.comm == "sched-messaging" && t.process == 0)
    );
    assert_eq!(load("perf bench sched messaging").tasks.len(), 401);
}

#[test]
fn perf_bench_pipe_hands_a_token_to_and_fro() {
    let read = |channel| Op::Read { channel, bytes: 4 };
    let write = |channel| Op::Write { channel, bytes: 4 };
    let begin = |at: u32, count| Op::LoopBegin {
        slot: 0,
        count,
        end: at + 4,
    };
    let end = |at: u32| Op::LoopEnd {
        slot: 0,
        begin: at + 1,
    };
    let processes = load("perf bench sched pipe");
    let parent = [
        Op::Mark { mark: 0 },
        Op::Fork { task: 1 },
        begin(2, 1_000_000),
        write(0),
        read(1),
        end(2),
        Op::WaitChildren,
        Op::Mark { mark: 1 },
        Op::Exit,
    ];
    let first = |count| [begin(0, count), read(0), write(1), end(0), Op::Exit];
    assert_eq!(ops(&processes, 0), parent);
    assert_eq!(ops(&processes, 1), first(1_000_000));
    assert_eq!(processes.tasks[1].process, 1);
    let threads = load("/usr/bin/perf bench --format=simple sched pipe -Tl 9");
    assert_eq!(threads.tasks.len(), 3);
    assert_eq!(ops(&threads, 1), first(9));
    assert_eq!(
        ops(&threads, 2),
        [begin(0, 9), write(0), read(1), end(0), Op::Exit]
    );
    assert_eq!(threads.channels, [ChannelKind::Pipe; 2]);
    assert!(matches!(
        threads.report,
        Some(Report::PerfPipe(_, PerfFormat::Simple))
    ));
}

#[test]
fn adrestia_runs_both_tests_or_the_one_named() {
    let tests = |line: &str| match load(line).report {
        Some(Report::Adrestia(tests)) => tests,
        other => panic!("{line}: {other:?}"),
    };
    let single = Adrestia {
        arrival_us: None,
        rounds: 0,
        loops: 30_000,
    };
    let periodic = |rounds| Adrestia {
        arrival_us: Some(10),
        rounds,
        loops: 10_000,
    };
    assert_eq!(tests("adrestia -t 3"), [single, periodic(1)]);
    assert_eq!(tests("adrestia -t 3 wakeup-periodic"), [periodic(0)]);
    let workload = load("adrestia -t 2 -l 5 -a 7 wakeup-periodic");
    assert_eq!(names(&workload), ["wakeup_cost_periodic_us"]);
    let stamp = |stamp| Op::Observe(Observation::Stamp { stamp });
    let write = |channel| Op::Write { channel, bytes: 1 };
    let read = |channel| Op::Read { channel, bytes: 1 };
    let round = [
        Op::Sleep { ns: 7000 },
        stamp(0),
        write(0),
        stamp(1),
        write(2),
        read(1),
        read(3),
        Op::Observe(Observation::TakeShare {
            counter: 0,
            parts: 2,
            tally: 0,
        }),
    ];
    assert_eq!(ops(&workload, 0)[3..11], round);
    let lapse = Op::Observe(Observation::AddLapse {
        stamp: 1,
        counter: 0,
    });
    assert_eq!(ops(&workload, 2)[1..4], [read(2), lapse, write(3)]);
}

#[test]
fn a_late_frame_boosts_both_threads_for_some_periods() {
    let workload = load("frames --duration 1 --boost 512 --boost-periods 3 --period 10000");
    let clamps: Vec<_> = workload.attributes.iter().map(|a| a.uclamp_min).collect();
    assert_eq!(clamps, [Some(512), Some(0)]);
    for task in [1, 2] {
        assert_eq!(workload.tasks[task].attributes.uclamp_min, None);
        let runs = count(&workload, task, |op| matches!(op, Op::Run { .. }));
        let set = |op: &Op| {
            matches!(
                op,
                Op::SetAttributesUntil {
                    before: 0,
                    after: 1,
                    ..
                }
            )
        };
        assert_eq!(count(&workload, task, set), runs, "task {task}, each frame");
    }
    let hold = |op: &Op| {
        let Op::Observe(Observation::HoldIfLate { lateness, .. }) = *op else {
            return false;
        };
        assert_eq!(lateness, 0);
        true
    };
    let missed = Lateness {
        limit_ns: 20_000_000,
        hold_us: 30_000,
    };
    assert_eq!(workload.lateness, [missed]);
    assert_eq!(count(&workload, 2, hold), 100, "each frame of a second");
}

#[test]
fn frames_go_from_vsync_through_two_threads() {
    let workload = load("frames --duration 10 --background 2 --util-min 300");
    let comms: Vec<&str> = workload.tasks.iter().map(|t| t.comm.as_str()).collect();
    let expected = [
        "frames",
        "ui",
        "render",
        "compositor",
        "background-0",
        "background-1",
    ];
    assert_eq!(comms, expected);
    let frames = count(&workload, 1, |op| matches!(op, Op::Timer { .. }));
    assert!(
        (400..600).contains(&frames),
        "{frames} in 10 s at 60 Hz with pauses"
    );
    for task in [2, 3] {
        let runs = count(&workload, task, |op| matches!(op, Op::Run { .. }));
        assert_eq!(runs, frames, "task {task}");
    }
    let waits = count(&workload, 1, |op| matches!(op, Op::SemWait { .. }));
    assert_eq!(waits, frames - 2, "two frames are in the making");
    for (task, clamp) in [(1, Some(300)), (2, Some(300)), (3, None)] {
        assert_eq!(
            workload.tasks[task].attributes.uclamp_min, clamp,
            "task {task}"
        );
    }
    let boosts = |op: &Op| matches!(op, Op::SetAttributesUntil { .. });
    assert_eq!(count(&workload, 1, boosts), 0, "nobody asked for it");
    let works = |line: &str| work(&load(line), 1);
    assert_eq!(works("frames --seed 5"), works("frames --seed 5"));
    assert_ne!(
        load("frames --seed 5").programs,
        load("frames --seed 6").programs
    );
    assert_eq!(
        names(&workload),
        [
            "jank_percent",
            "frames",
            "frame_time_p50_us",
            "frame_time_p90_us",
            "frame_time_p95_us",
            "frame_time_p99_us"
        ]
    );
}

#[test]
fn refusals_name_the_column_and_what_to_do() {
    let table = [
        ("schbench", 1, "add -t N"),
        ("schbench -t 0", 10, "-t is `0`, which is too small"),
        (
            "schbench -t 4 --auto-rps=50",
            15,
            "--auto-rps is not modelled",
        ),
        (
            "schbench -t 4 --split 101",
            15,
            "--split is `101`, which is too large",
        ),
        ("schbench -t 4 --thread 5 3", 26, "would ignore `3`"),
        ("schbench -t 4 --runtimes 5", 15, "the nearest: `--runtime`"),
        ("schbench -t 4 -W 5-2", 15, "runs backwards; write 2-5"),
        ("schbench -t 4 -M cpu0", 15, "not a whole number"),
        (
            "schbench -t 4000 -m 4000",
            10,
            "expected at most 100000; lower -m or -t",
        ),
        (
            "schbench -t 4 -F 60000000",
            10,
            "a request would take more than a day",
        ),
        (
            "schbench -t 4 -r 100000 -z 3",
            10,
            "the longest run with -w or -z",
        ),
        ("perf", 1, "expected `bench`"),
        (
            "perf stat",
            6,
            "perf is followed by `stat`; the nearest: `bench`",
        ),
        (
            "perf bench mem memcpy",
            12,
            "the collection `mem` is not modelled",
        ),
        ("perf bench shed pipe", 12, "the nearest: `sched`"),
        (
            "perf bench sched all",
            18,
            "`all` is not modelled; expected `messaging` or `pipe`",
        ),
        ("perf bench sched pip", 18, "the nearest: `pipe`"),
        ("perf bench sched", 1, "expected `messaging` or `pipe`"),
        (
            "perf bench -f xml sched pipe",
            12,
            "-f is `xml`; expected `default` or `simple`",
        ),
        (
            "perf bench sched pipe -l 0",
            23,
            "-l is `0`, which is too small",
        ),
        ("perf bench sched pipe -G a,b", 23, "-G is not modelled"),
        (
            "perf bench sched pipe --loops 5",
            23,
            "the nearest: `--loop`",
        ),
        ("perf bench sched messaging -f 5", 28, "has no option `-f`"),
        ("perf bench sched messaging -g 9999", 28, "lower -g to 2500"),
        (
            "adrestia -L",
            10,
            "the tests are wakeup-single and wakeup-periodic",
        ),
        (
            "adrestia wakeup",
            10,
            "no test `wakeup`; the nearest: `wakeup-single`",
        ),
        ("adrestia -l 0", 10, "-l is `0`"),
        (
            "adrestia wakeup-single wakeup-periodic",
            24,
            "runs one test or all",
        ),
        ("adrestia -l 2000000000 -t 9", 10, "lower -l or -t"),
        (
            "frames --duration 601",
            8,
            "too large; expected a whole number from 1 to 600",
        ),
        ("frames --uii 5", 8, "the nearest: `--ui`"),
        ("frames --util-min 1025", 8, "--util-min is `1025`"),
        ("frames 5", 8, "would ignore `5`"),
    ];
    for (line, column, expected) in table {
        let error = Workload::load(line, Mode::Workgen).expect_err(line);
        let diagnostic = error.to_diagnostic();
        assert!(diagnostic.message.contains(expected), "{line}: {error}");
        assert_eq!(diagnostic.column, column, "{line}: {error}");
    }
}

#[test]
fn remarks_on_what_does_nothing() {
    let table = [
        ("schbench -t 4 -i 5", 15, Severity::Note, "-i has no effect"),
        (
            "schbench -t 4 -r 5 -w 2",
            10,
            Severity::Note,
            "warms up only in runs of 30 s",
        ),
        (
            "schbench -t 4 --cache_footprint 9",
            15,
            Severity::Warning,
            "use -F",
        ),
        (
            "adrestia -s 50",
            10,
            Severity::Note,
            "none of its tests uses it",
        ),
        (
            "perf bench -r 3 sched pipe",
            12,
            Severity::Note,
            "does not concern",
        ),
    ];
    for (line, column, severity, expected) in table {
        let loaded = Workload::load(line, Mode::Workgen).unwrap_or_else(|e| panic!("{line}: {e}"));
        let said = &loaded.diagnostics[..];
        assert_eq!(said.len(), 1, "{line}: {said:?}");
        assert_eq!(
            (said[0].column, said[0].severity),
            (column, severity),
            "{line}"
        );
        assert!(said[0].message.contains(expected), "{line}: {said:?}");
    }
}

#[test]
fn housekeeping_is_one_system_of_small_tasks() {
    let workload = load("housekeeping");
    assert!(workload.background);
    assert_eq!(workload.tasks.len(), 8);
    for task in 0..8 {
        let work = work(&workload, task).expect("it computes");
        let pause = ops(&workload, task).iter().find_map(|op| match op {
            Op::Sleep { ns } => Some(*ns),
            _ => None,
        });
        assert!((100_000..=1_000_000).contains(&work), "{work}");
        assert!(
            pause.is_some_and(|ns| (20_000_000..=500_000_000).contains(&ns)),
            "{pause:?}"
        );
    }
    assert_eq!(
        load("housekeeping --tasks 8 --seed 1").programs,
        workload.programs
    );
    assert_ne!(load("housekeeping --seed 2").programs, workload.programs);
    assert_eq!(load("housekeeping --tasks 3").tasks.len(), 3);
}
