// SPDX-License-Identifier: GPL-2.0-only
//! What each tool prints, letter by letter: goldens next to this file, made from the same figures.
//! Where the real tool was at hand its output is what the golden was written from.

use alight_sim::{Figures, Tally};
use alight_workload::{Mode, Workload};

use super::{NothingToPrint, check, print, render};
use crate::fake;

/// A tally of `samples`.
fn tally(samples: impl IntoIterator<Item = u64>) -> Tally {
    let mut tally = Tally::default();
    samples.into_iter().for_each(|sample| tally.record(sample));
    tally
}

fn load(line: &str) -> Workload {
    let loaded = Workload::load(line, Mode::default()).unwrap_or_else(|e| panic!("{line}: {e}"));
    loaded.workload
}

/// Marks 0 and 1 `us` apart, from the middle of a microsecond on.
fn elapsed(us: u64) -> Vec<Option<(u64, u64)>> {
    let (from, to) = (1_000_500, 1_000_500 + us * 1000);
    vec![Some((from, from + 1)), Some((from + 2, to))]
}

/// What a tool with a command line prints of figures that could be its own.
fn printed(line: &str, figures: &Figures) -> String {
    let workload = load(line);
    let report = workload.report.as_ref().expect("tools have a report");
    print(report, figures).unwrap_or_else(|| panic!("{line} prints nothing"))
}

#[test]
fn tools_that_print_a_time() {
    let table = [
        (
            "hackbench -g 1 -f 2 -l 5 -p -T -s 7",
            1_234_567,
            "Running in threaded mode with 1 groups using 4 file descriptors each (== 4 tasks)\n\
             Each sender will pass 5 messages of 7 bytes\n\
             Time: 1.234\n",
        ),
        (
            "hackbench",
            999,
            "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\n\
             Each sender will pass 100 messages of 100 bytes\n\
             Time: 0.000\n",
        ),
        (
            "perf bench sched messaging -g 1 -l 2",
            17_001,
            "# Running 'sched/messaging' benchmark:\n\
             # 20 sender and receiver processes per group\n\
             # 1 groups == 40 processes run\n\n     \
             Total time: 0.017 [sec]\n",
        ),
        (
            "perf bench -f simple sched messaging -t",
            12_017_001,
            "12.017\n",
        ),
        (
            "perf bench sched pipe -l 100 -T",
            2880,
            "# Running 'sched/pipe' benchmark:\n\
             # Executed 100 pipe operations between two threads\n\n     \
             Total time: 0.002 [sec]\n\n      \
             28.800000 usecs/op\n          \
             34722 ops/sec\n",
        ),
        (
            "perf bench sched pipe -l 5",
            3449,
            "# Running 'sched/pipe' benchmark:\n\
             # Executed 5 pipe operations between two processes\n\n     \
             Total time: 0.003 [sec]\n\n     \
             689.800000 usecs/op\n           \
             1449 ops/sec\n",
        ),
        ("perf bench --format=simple sched pipe", 3449, "0.003\n"),
    ];
    for (line, us, expected) in table {
        let figures = Figures {
            marks: elapsed(us),
            ..Figures::default()
        };
        assert_eq!(printed(line, &figures), expected, "{line}");
    }
}

#[test]
fn cyclictest_prints_a_line_a_thread() {
    let figures = Figures {
        first_pid: 31_561,
        tallies: vec![tally([71, 3678, 96]), tally([])],
        ..Figures::default()
    };
    assert_eq!(
        printed(
            "cyclictest -t 2 -q -D 1 -i 10000 -p 80 --priospread",
            &figures
        ),
        "# /dev/cpu_dma_latency set to 0us\n\
         T: 0 (31562) P:80 I:10000 C:      3 Min:     71 Act:   96 Avg: 1281 Max:    3678\n\
         T: 1 (31563) P:79 I:10500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n"
    );
}

/// The three blocks were printed by schbench's own functions from these samples. The counts behind
/// the percentiles are those since the percentile before, printed or not.
#[test]
fn schbench_prints_what_its_histogram_says() {
    let figures = Figures {
        over: true,
        counters: vec![301, 0],
        tallies: vec![
            tally((1..=1000).map(|us| us % 100 + 1)),
            tally((0..300).map(|n| 16_000 + 10 * n)),
            tally([0, 98, 100, 103]),
        ],
        ..Figures::default()
    };
    let expected = "\
Wakeup Latencies percentiles (usec) runtime 3 (s) (1000 total samples)
\t  50.0th: 50         (300 samples)
\t  90.0th: 90         (400 samples)
\t* 99.0th: 99         (90 samples)
\t  99.9th: 100        (10 samples)
\t  min=1, max=100
Request Latencies percentiles (usec) runtime 3 (s) (300 total samples)
\t  50.0th: 17504      (90 samples)
\t  90.0th: 18720      (122 samples)
\t* 99.0th: 18976      (24 samples)
\t  99.9th: 18976      (0 samples)
\t  min=16000, max=18990
RPS percentiles (requests) runtime 3 (s) (4 total samples)
\t  20.0th: 0          (1 samples)
\t* 50.0th: 98         (1 samples)
\t  90.0th: 103        (2 samples)
\t  min=98, max=103
average rps: 100.33
sched delay: message 0 (usec) worker 0 (usec)
";
    assert_eq!(printed("schbench -t 2 -r 3", &figures), expected);
}

/// A worker in the mean did 500 of 2000 rounds a second, 4 KB each.
#[test]
fn schbench_prints_what_went_through_its_pipes() {
    let figures = Figures {
        over: true,
        counters: vec![2000, 0],
        tallies: vec![
            tally((1..=1000).map(|us| us % 100 + 1)),
            tally([]),
            tally([]),
        ],
        ..Figures::default()
    };
    let expected = "\
Wakeup Latencies percentiles (usec) runtime 2 (s) (1000 total samples)
\t  20.0th: 20         (200 samples)
\t  50.0th: 50         (300 samples)
\t  90.0th: 90         (400 samples)
\t* 99.0th: 99         (90 samples)
\t  99.9th: 100        (10 samples)
\t  min=1, max=100
avg worker transfer: 500.00 ops/sec 1.95MB/s
";
    assert_eq!(
        printed("schbench -m 1 -t 2 -p 4096 -r 2", &figures),
        expected
    );
}

/// The format of 99faedc, whose least latency is never set.
#[test]
fn the_old_schbench_prints_seven_percentiles() {
    let figures = Figures {
        over: true,
        counters: vec![1200, 0],
        tallies: vec![
            tally((1..=200).map(|us| us % 100 + 1)),
            tally([]),
            tally([]),
        ],
        ..Figures::default()
    };
    let latencies = "\
Latency percentiles (usec)
\t50.0th: 50
\t75.0th: 75
\t90.0th: 90
\t95.0th: 95
\t*99.0th: 99
\t99.5th: 100
\t99.9th: 100
\tmin=0, max=100
";
    assert_eq!(
        printed("schbench -m 1 -t 3 -c 100 -r 2", &figures),
        latencies
    );
    let transfers = "avg worker transfer: 200.00 ops/sec 195.31KB/s\n";
    assert_eq!(
        printed("schbench -m 1 -t 3 -c 0 -p 1000 -r 2", &figures),
        latencies.to_owned() + transfers
    );
}

#[test]
fn adrestia_prints_the_round_that_nine_of_ten_beat() {
    let figures = Figures {
        tallies: vec![tally(1..=10), tally([7; 10])],
        ..Figures::default()
    };
    assert_eq!(
        printed("adrestia -l 10 -a 20", &figures),
        "wakeup cost (single): 10us\nwakeup cost (periodic, 20us): 7us\n"
    );
}

#[test]
fn frames_print_how_many_were_late() {
    let figures = Figures {
        marks: elapsed(20_000_000),
        counters: vec![800, 9, 0],
        tallies: vec![tally((1..=100).map(|n| n * 400))],
        ..Figures::default()
    };
    assert_eq!(
        printed("frames", &figures),
        "Total frames rendered: 800\n\
         Janky frames: 9 (1.12%)\n\
         50th percentile: 20ms\n\
         90th percentile: 36ms\n\
         95th percentile: 37ms\n\
         99th percentile: 39ms\n"
    );
}

fn sysbench_figures() -> Figures {
    Figures {
        marks: elapsed(5_000_400),
        // Dealt, done; of both workers: done, us.
        counters: vec![104, 100, 49, 51, 4_900_000, 5_000_000],
        tallies: vec![tally((0..100).map(|n| 98_505 + 10 * n))],
        ..Figures::default()
    }
}

#[test]
fn sysbench_0_4_prints_a_summary() {
    let tail = "\nTest execution summary:
    total time:                          5.0004s
    total number of events:              100
    total time taken by event execution: 9.9000
    per-request statistics:
         min:                                 98.50ms
         avg:                                 99.00ms
         max:                                 99.50ms
         approx.  95 percentile:              99.46ms

Threads fairness:
    events (avg/stddev):           50.0000/1.00
    execution time (avg/stddev):   4.9500/0.05

";
    let head = "sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 2

";
    let threads = "Doing thread subsystem performance test
Thread yields per test: 1000 Locks used: 8
Threads started!
Done.

";
    let cpu = "Doing CPU performance benchmark

Threads started!
Done.

Maximum prime number checked in CPU test: 20000

";
    let table = [
        ("sysbench --test=threads --num-threads=2 run", threads),
        (
            "sysbench --test=cpu --cpu-max-prime=20000 --num-threads=2 run",
            cpu,
        ),
    ];
    for (line, middle) in table {
        let expected = [head, middle, tail].concat();
        assert_eq!(printed(line, &sysbench_figures()), expected, "{line}");
    }
}

#[test]
fn sysbench_1_0_prints_latencies_in_milliseconds() {
    let expected = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 2
Initializing random number generator from current time


Prime numbers limit: 10000

Initializing worker threads...

Threads started!

CPU speed:
    events per second:    20.00

General statistics:
    total time:                          5.0004s
    total number of events:              100

Latency (ms):
         min:                                   98.50
         avg:                                   99.00
         max:                                   99.50
         95th percentile:                       99.33
         sum:                                 9900.00

Threads fairness:
    events (avg/stddev):           50.0000/1.00
    execution time (avg/stddev):   4.9500/0.05

";
    let line = "sysbench cpu --threads=2 --time=5 run";
    assert_eq!(printed(line, &sysbench_figures()), expected);
    let threads = printed(
        "sysbench threads --threads=2 --time=5 run",
        &sysbench_figures(),
    );
    assert!(
        !threads.contains("CPU speed") && !threads.contains("Prime"),
        "{threads}"
    );
}

#[test]
fn a_tool_that_did_not_end_prints_nothing_but_cyclictest() {
    let cut = |line: &str| {
        let workload = load(line);
        let figures = Figures {
            marks: vec![Some((0, 0)), None],
            counters: vec![0; 16],
            tallies: vec![Tally::default(); 3],
            ..Figures::default()
        };
        let outcome = alight_sim::Outcome {
            figures: vec![figures],
            ..fake::outcome(1)
        };
        render(&[workload], &outcome)
    };
    for line in [
        "hackbench",
        "perf bench sched messaging",
        "perf bench sched pipe",
        "sysbench threads run",
        "schbench -t 1 -r 3",
        "adrestia",
        "frames",
    ] {
        assert_eq!(
            cut(line),
            Err(NothingToPrint::Unfinished(line.to_owned())),
            "{line}"
        );
    }
    assert!(cut("cyclictest").is_ok());
}

#[test]
fn rt_app_files_have_no_tool() {
    let text = "{\"tasks\": {\"t\": {\"run\": 5}}}";
    let loaded = Workload::from_rtapp("t.json", text, Mode::default()).expect("loads");
    let workloads = [load("hackbench"), loaded.workload];
    assert_eq!(
        check(&workloads),
        Err(NothingToPrint::NoTool("t.json".to_owned()))
    );
    assert_eq!(check(&workloads[..1]), Ok(()));
}
