// SPDX-License-Identifier: GPL-2.0-only
//! What the command lines of the tools become: tasks, what they share, the loops, the measures.

use alight_workload::program::{
    ChannelKind, Deal, MeasureSource, Observation, Op, OptionalId, TimerMode, TimerOrigin,
};
use alight_workload::{Mode, Severity, Workload};

fn load(line: &str) -> Workload {
    let loaded = Workload::load(line, Mode::Workgen).unwrap_or_else(|e| panic!("{line}: {e}"));
    assert_eq!(loaded.workload.check(), Ok(()), "{line}");
    assert_eq!(loaded.workload.name, line);
    loaded.workload
}

fn ops(workload: &Workload, task: usize) -> &[Op] {
    &workload.programs[workload.tasks[task].program as usize].ops
}

#[test]
fn hackbench_parent_forks_collects_releases_and_reaps() {
    let workload = load("hackbench -g 2 -f 3 -l 7 -s 50 --pipe");
    assert_eq!(workload.tasks.len(), 1 + 2 * (3 + 3));
    assert_eq!(workload.channels, vec![ChannelKind::Pipe; 2 + 2 * 3]);
    let (ready, wake) = (0, 1);
    let mut expected: Vec<Op> = (1..=12).map(|task| Op::Fork { task }).collect();
    expected.extend([
        Op::LoopBegin {
            slot: 0,
            count: 12,
            end: 15,
        },
        Op::Read {
            channel: ready,
            bytes: 1,
        },
        Op::LoopEnd { slot: 0, begin: 13 },
        Op::Mark { mark: 0 },
        Op::Write {
            channel: wake,
            bytes: 1,
        },
        Op::WaitChildren,
        Op::Mark { mark: 1 },
        Op::Exit,
    ]);
    assert_eq!(ops(&workload, 0), expected);
    assert_eq!(workload.measures.len(), 1);
    assert_eq!(workload.measures[0].name, "elapsed_s");
    let elapsed = MeasureSource::Elapsed { from: 0, to: 1 };
    assert_eq!(workload.measures[0].source, elapsed);
}

#[test]
fn hackbench_workers_of_a_group_use_the_channels_of_that_group() {
    let workload = load("hackbench -g 2 -f 3 -l 7 -s 50 --pipe");
    // The second group: channels 5 to 7, receivers first.
    let receiver_of_6 = [
        Op::Write {
            channel: 0,
            bytes: 1,
        },
        Op::Poll { channel: 1 },
        Op::LoopBegin {
            slot: 0,
            count: 21,
            end: 5,
        },
        Op::Read {
            channel: 6,
            bytes: 50,
        },
        Op::LoopEnd { slot: 0, begin: 3 },
        Op::Exit,
    ];
    assert_eq!(ops(&workload, 1 + 6 + 1), receiver_of_6);
    let sender = [
        Op::Write {
            channel: 0,
            bytes: 1,
        },
        Op::Poll { channel: 1 },
        Op::LoopBegin {
            slot: 0,
            count: 7,
            end: 7,
        },
        Op::Write {
            channel: 5,
            bytes: 50,
        },
        Op::Write {
            channel: 6,
            bytes: 50,
        },
        Op::Write {
            channel: 7,
            bytes: 50,
        },
        Op::LoopEnd { slot: 0, begin: 3 },
        Op::Exit,
    ];
    for task in 10..=12 {
        assert_eq!(ops(&workload, task), sender);
    }
}

#[test]
fn hackbench_defaults_and_spellings() {
    // Line, tasks, messages of a sender, bytes, kind of channel, processes.
    let (socket, pipe) = (ChannelKind::Socket, ChannelKind::Pipe);
    let table = [
        ("hackbench", 401, 100, 100, socket, 401),
        ("/usr/bin/hackbench -T", 401, 100, 100, socket, 1),
        (
            "hackbench -g 32 -f 20 --threads --pipe -l 480000 -s 100",
            1281,
            480_000,
            100,
            pipe,
            1,
        ),
        (
            "hackbench -g32 -f20 -Tp -l480000 -s100",
            1281,
            480_000,
            100,
            pipe,
            1,
        ),
        (
            "hackbench --groups=1 --fds 5 --process --datasize=8",
            11,
            100,
            8,
            socket,
            11,
        ),
        ("hackbench -T -P -g 1", 41, 100, 100, socket, 41),
    ];
    for (line, tasks, loops, bytes, kind, processes) in table {
        let workload = load(line);
        assert_eq!(workload.tasks.len(), tasks, "{line}");
        assert_eq!(workload.channels[2], kind, "{line}");
        let mut ids: Vec<u32> = workload.tasks.iter().map(|t| t.process).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), processes, "{line}");
        let sender = ops(&workload, tasks - 1);
        let count = sender.iter().find_map(|op| match op {
            Op::LoopBegin { count, .. } => Some(*count),
            _ => None,
        });
        assert_eq!(count, Some(loops), "{line}");
        let sends = |op: &&Op| matches!(op, Op::Write { bytes: b, .. } if *b == bytes);
        assert!(sender.iter().any(|op| sends(&op)), "{line}");
    }
}

#[test]
fn sysbench_threads_take_lock_yield_unlock_count() {
    let workload =
        load("sysbench --max-time=5 --max-requests=-1 --test=threads --num-threads=6 run");
    assert_eq!(workload.tasks.len(), 7);
    assert_eq!(workload.barriers, [7]);
    assert_eq!(workload.mutexes, 8);
    let worker = |stamp: u32| {
        [
            Op::Barrier { barrier: 0 },
            Op::Mark { mark: 0 },
            Op::LoopBegin {
                slot: 0,
                count: u64::MAX,
                end: 15,
            },
            Op::Take { deal: 0, done: 15 },
            Op::Observe(Observation::Stamp { stamp }),
            Op::LoopBegin {
                slot: 1,
                count: 1000,
                end: 10,
            },
            Op::LockIndexed { base: 0 },
            Op::Yield,
            Op::UnlockIndexed { base: 0 },
            Op::LoopEnd { slot: 1, begin: 6 },
            Op::Observe(Observation::Lapse { stamp, tally: 0 }),
            Op::Observe(Observation::AddLapse {
                stamp,
                counter: 8 + stamp,
            }),
            Op::Count { counter: 2 + stamp },
            Op::Count { counter: 1 },
            Op::LoopEnd { slot: 0, begin: 3 },
            Op::Exit,
        ]
    };
    for task in 1..7 {
        assert_eq!(ops(&workload, task), worker(task as u32 - 1));
    }
    let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["events"]);
    assert_eq!(
        workload.measures[0].source,
        MeasureSource::Counter { counter: 1 }
    );
}

#[test]
fn sysbench_cpu_computes_a_limited_number_of_events() {
    let workload = load("sysbench cpu --threads=4 --time=0 --events=100 run");
    let worker = ops(&workload, 1);
    assert_eq!(worker[3], Op::Take { deal: 0, done: 11 });
    let deal = Deal {
        counter: 0,
        modulo: 0,
        limit: 100,
        until_ns: u64::MAX,
    };
    assert_eq!(workload.deals, [deal]);
    assert_eq!(worker[5], Op::Run { ns: 20_000_000 });
    let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["events", "elapsed_s"]);
}

#[test]
fn cyclictest_threads_wait_run_and_record_into_one_histogram() {
    let workload = load("cyclictest -t 2 -q -e 1000000 -D 20");
    assert_eq!(workload.duration_ns, Some(20_000_000_000));
    assert_eq!(workload.dma_latency_us, Some(1_000_000));
    for (task, period_ns) in [(1, 1_000_000), (2, 1_500_000)] {
        let timer = Op::Timer {
            slot: 0,
            period_ns,
            mode: TimerMode::SkipMissed,
            origin: TimerOrigin::FirstUse,
            histogram: OptionalId::some(0),
        };
        assert_eq!(ops(&workload, task)[1], timer);
        let thread = task as u32 - 1;
        let noted = [
            Op::Observe(Observation::StampTimer {
                stamp: thread,
                slot: 0,
            }),
            Op::Observe(Observation::Lapse {
                stamp: thread,
                tally: thread,
            }),
        ];
        assert_eq!(ops(&workload, task)[2..4], noted);
    }
    let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
    let expected = [
        "wakeup_latency_us",
        "wakeup_latency_std_us",
        "wakeup_latency_min_us",
        "wakeup_latency_p99_us",
        "wakeup_latency_max_us",
    ];
    assert_eq!(names, expected);
}

/// Ops of the only loop of a task, and how often it goes round.
fn only_loop(workload: &Workload, task: usize) -> (u64, &[Op]) {
    let ops = ops(workload, task);
    let round = |op: &Op| match *op {
        Op::LoopBegin { count, end, .. } => Some((count, end)),
        _ => None,
    };
    let (at, (count, end)) = ops
        .iter()
        .enumerate()
        .find_map(|(at, op)| Some((at, round(op)?)))
        .expect("a loop");
    (count, &ops[at + 1..end as usize - 1])
}

#[test]
fn cyclictest_looks_at_its_threads_each_10_ms_and_prints_unless_it_is_quiet() {
    let table = [
        ("cyclictest -q -t 2 -D 1", u64::MAX, 1000),
        ("cyclictest -t 2 -D 1", u64::MAX, 17_000),
        ("cyclictest -t 2 -l 1000 -D 1", 99, 17_000),
        ("cyclictest -q -l 1", 0, 1000),
    ];
    for (line, looks, work_ns) in table {
        let look = [Op::Run { ns: work_ns }, Op::Sleep { ns: 10_000_000 }];
        assert_eq!(only_loop(&load(line), 0), (looks, &look[..]), "{line}");
    }
}

/// rt-tests 2.4 printed C: 100, 56, 37, 28 and 1000, 255, 146 for these.
#[test]
fn cyclictest_ends_when_its_first_thread_has_its_loops() {
    let table: [(&str, &[u64]); 3] = [
        ("cyclictest -t 4 -l 100 -q -d 1000", &[100, 57, 38, 28]),
        ("cyclictest -t 3 -l 1000 -q -d 3000", &[1000, 253, 145]),
        ("cyclictest -t 2 -l 5 -q -i 10 -d 100000", &[5, 1]),
    ];
    for (line, loops) in table {
        let workload = load(line);
        let found: Vec<u64> = (1..=loops.len())
            .map(|task| only_loop(&workload, task).0)
            .collect();
        assert_eq!(found, loops, "{line}");
    }
}

#[test]
fn options_without_effect_are_noted_where_they_stand() {
    let loaded = Workload::load("cyclictest -D 5 -a -m -u", Mode::Workgen).expect("loads");
    let said = loaded.diagnostics.iter();
    let said: Vec<_> = said
        .map(|d| (d.severity, d.column, &d.message[..2]))
        .collect();
    assert_eq!(
        said,
        [(Severity::Note, 20, "-m"), (Severity::Note, 23, "-u")]
    );
}

#[test]
fn refusals_name_the_column_and_what_to_do() {
    let table = [
        ("", 1, "the workload is empty"),
        ("hackbnech -g 3", 1, "the nearest: `hackbench`"),
        (
            "hackbench -g 0",
            11,
            "-g is `0`, which is too small; expected a whole number from 1",
        ),
        (
            "hackbench --loop-count=3",
            11,
            "has no option `--loop-count`; the nearest: `--loops`",
        ),
        (
            "hackbench -p -i",
            14,
            "-i: TCP connections are not modelled",
        ),
        ("hackbench 10 process 100", 11, "write -g 10 -l 100"),
        ("hackbench 5 thread", 11, "write -g 5 -T"),
        ("hackbench later", 11, "would ignore `later`"),
        (
            "hackbench -g 100000 -f 1000",
            11,
            "expected at most 100000; lower -g or -f",
        ),
        (
            "hackbench -l 5x",
            11,
            "-l is `5x`, which is not a whole number",
        ),
        ("hackbench -s \"100", 14, "this quote is not closed"),
        (
            "sysbench threads --thread-lock=3 run",
            18,
            "the nearest: `thread-locks`",
        ),
        (
            "cyclictest -t 2 -D 1 -i -5",
            22,
            "-i is `-5`, which is too small",
        ),
    ];
    for (line, column, expected) in table {
        let error = Workload::load(line, Mode::Workgen).expect_err(line);
        let diagnostic = error.to_diagnostic();
        assert!(diagnostic.message.contains(expected), "{line}: {error}");
        assert_eq!(
            (diagnostic.line, diagnostic.column),
            (1, column),
            "{line}: {error}"
        );
    }
}

#[test]
fn a_file_that_is_not_there() {
    let error = Workload::load("no/such/file.json", Mode::Workgen).expect_err("is missing");
    assert!(
        error
            .to_string()
            .starts_with("no/such/file.json: cannot be read"),
        "{error}"
    );
}

#[test]
fn a_command_may_end_with_the_name_of_a_file() {
    let workload = load("cyclictest -D 1 --json out.json");
    assert_eq!(workload.tasks.len(), 2);
}
