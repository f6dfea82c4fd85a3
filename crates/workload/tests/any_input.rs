// SPDX-License-Identifier: GPL-2.0-only
//! No input panics, and whatever loads satisfies `Workload::check`.

use alight_workload::{Mode, Site, Workload, lint};
use proptest::prelude::*;

const MODES: [Mode; 2] = [Mode::Workgen, Mode::Rtapp];

/// Reads a text in all ways there are.
fn read_all_ways(text: &str) {
    for mode in MODES {
        if let Ok(loaded) = Workload::from_rtapp("any.json", text, mode) {
            assert_eq!(loaded.workload.check(), Ok(()), "{text}");
        }
    }
    let site = Site::new("box", [0, 0, 1, 1]);
    let lines = [
        Workload::from_command_line(text),
        Workload::from_command_line_on(text, &site),
    ];
    for loaded in lines.into_iter().flatten() {
        assert_eq!(loaded.workload.check(), Ok(()), "{text}");
    }
}

/// A duration or an amount: mostly small, sometimes at an edge.
fn amount() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..100_000i64, 1 => Just(i64::from(i32::MAX)), 1 => Just(0)]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "unique"]).prop_map(str::to_owned)
}

/// Key and value of a valid event. Keys repeat, as in files for workgen.
fn event() -> impl Strategy<Value = String> {
    let number = (
        prop::sample::select(vec!["run", "run1", "runtime_", "sleep", "mem", "iorun"]),
        amount(),
    );
    let text = (
        prop::sample::select(vec![
            "lock", "unlock", "signal", "broad", "resume", "suspend", "sem_post", "sem_wait",
            "barrier", "yield",
        ]),
        name(),
    );
    let object = (prop::sample::select(vec!["wait", "sync"]), name(), name());
    let timer = (name(), amount(), prop::bool::ANY);
    prop_oneof![
        number.prop_map(|(key, n)| format!("\"{key}\": {n}")),
        text.prop_map(|(key, n)| format!("\"{key}\": \"{n}\"")),
        object.prop_map(|(key, c, m)| format!("'{key}': {{'ref': '{c}', 'mutex': '{m}',}}")),
        timer.prop_map(|(n, period, absolute)| {
            let mode = if absolute { "absolute" } else { "relative" };
            format!("'timer': {{'ref': '{n}', 'period': {period}, 'mode': '{mode}'}}")
        }),
        prop::sample::select(vec!["t0", "t1"]).prop_map(|task| format!("\"fork\": \"{task}\"")),
        (1..10_000i64, amount()).prop_map(|(size, count)| format!(
            "'memrun': {{'type': 'write', 'size': {size}, 'count': {count}}}"
        )),
    ]
}

fn attribute() -> impl Strategy<Value = String> {
    prop_oneof![
        (-20..20i64).prop_map(|nice| format!("'priority': {nice}")),
        prop::collection::vec(0..8u32, 1..4).prop_map(|cpus| format!("'cpus': {cpus:?}")),
        (-1..512i64).prop_map(|clamp| format!("'util_min': {clamp}")),
        (512..1025i64).prop_map(|clamp| format!("'util_max': {clamp}")),
        prop::sample::select(vec!["OTHER", "BATCH", "IDLE"])
            .prop_map(|policy| format!("'policy': 'SCHED_{policy}'")),
    ]
}

fn phase() -> impl Strategy<Value = String> {
    let attributes = prop::collection::vec(attribute(), 0..3);
    let events = prop::collection::vec(event(), 1..6);
    (-1..4i64, attributes, events).prop_map(|(loops, attributes, events)| {
        let members = [attributes, events].concat().join(",\n");
        format!("{{'loop': {loops}, {members},}}")
    })
}

/// A file that workgen and rt-app take.
fn file() -> impl Strategy<Value = String> {
    let task = (
        0..3u32,
        -1..4i64,
        0..1000i64,
        prop::collection::vec(phase(), 1..4),
    );
    prop::collection::vec(task, 2..4).prop_map(|tasks| {
        let mut text = "{ 'tasks': { // generated\n".to_owned();
        for (at, (instances, loops, delay, phases)) in tasks.iter().enumerate() {
            // The first two can be forked; a barrier needs a thread of its own.
            let instances = instances + u32::from(at == 0);
            text += &format!("'t{at}': {{'instance': {instances}, 'delay': {delay}, ");
            text += &format!("'loop': {loops}, 'phases': {{");
            for (at, phase) in phases.iter().enumerate() {
                text += &format!("'p{at}': {phase},");
            }
            text += "}},";
        }
        text + "}, 'global': {'duration': 1, 'calibration': 'CPU0'} /* end */ }\n"
    })
}

/// The only reasons for which a generated file may be refused.
fn is_expected(message: &str) -> bool {
    // Barriers in templates only, and phases that fork in nested loops, depend on what is drawn.
    message.contains("never opens it") || message.contains("because loops that fork are unrolled")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn soup_of_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all_ways(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn soup_of_json_words(words in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "'tasks'", "'phases'", "'run'", "'suspend'", "'global'", "null", "-1",
        "1e9", "99999999999999999999", "'t'", "'timer'", "'fork'", "'cpus'", "true", "//\n", "/*", "*/", "'",
    ]), 0..40)) {
        read_all_ways(&words.concat());
    }

    #[test]
    fn soup_of_options(words in prop::collection::vec(prop::sample::select(vec![
        "taskset", "-c", "0-3", "3", "chrt", "-f", "-d", "-R", "-T", "-P", "10", "nice", "-n", "-5", "numactl", "-N", "-C",
        "+1", "!0", "all", "-m", "uclampset", "-M", "600", "cgexec", "cpu:a", "schbench", "-S", "-a", "-R", "-r", "2",
        "hackbench", "housekeeping", "sysbench", "cyclictest", "-g", "-f", "-l5", "-p", "-pT", "--threads", "--threads=3",
        "--test=cpu", "run", "-t", "8", "-a", "0-3", "-D", "1h", "--", "-", "--x", "99999999999", "-1", "'", "é",
        "--time=0", "-S", "--cpu-max-prime=7", "-i", "-d", "cpu", "threads", "schbench", "perf", "bench",
        "sched", "pipe", "messaging", "adrestia", "frames", "-m", "-M", "auto", "-r", "-w", "-z", "-n", "-F",
        "--split", "-f", "simple", "--ui", "--period=1000", "--duration=1", "wakeup-single", "2", "30",
    ]), 0..8)) {
        read_all_ways(&words.join(" "));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn valid_files_compile(text in file()) {
        for mode in MODES {
            match Workload::from_rtapp("generated.json", &text, mode) {
                Ok(loaded) => prop_assert_eq!(loaded.workload.check(), Ok(())),
                Err(error) => prop_assert!(is_expected(&error.to_string()), "{}\n{}", error, text),
            }
        }
    }
}

/// A generator of numbers that are the same at every run (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Cuts, doubles, swaps and overwrites pieces of a text.
fn mutate(seed: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const INTERESTING: &[&[u8]] = &[
        b"-1",
        b"0",
        b"2147483648",
        b"99999999999999999999",
        b"\"",
        b"'",
        b"{",
        b"}",
        b"[]",
        b",",
        b":",
        b"null",
        b"1e5",
        b"/*",
        b"//",
        b"\\u12",
        b"\xff",
        b"\0",
        b"\"suspend\",",
        b"\"fork\":\"thread0\",",
    ];
    let mut text = seed.to_vec();
    for _ in 0..=numbers.below(4) {
        let from = numbers.below(text.len() + 1);
        let to = (from + numbers.below(12)).min(text.len());
        match numbers.below(4) {
            0 => {
                text.drain(from..to);
            }
            1 => {
                let piece = text[from..to].to_vec();
                text.splice(to..to, piece);
            }
            2 => {
                let piece = INTERESTING[numbers.below(INTERESTING.len())];
                text.splice(from..to, piece.iter().copied());
            }
            _ => {
                let piece = INTERESTING[numbers.below(INTERESTING.len())];
                text.splice(from..from, piece.iter().copied());
            }
        }
    }
    text
}

#[test]
fn mutated_texts_do_no_harm() {
    const ROUNDS: usize = 4000;
    let seeds: &[&[u8]] = &[
        include_bytes!("../../../workloads/periodic-mix.json"),
        include_bytes!("../../../workloads/audio-chain.json"),
        include_bytes!("../../../workloads/lock-handover.json"),
        b"{\"tasks\":{\"thread0\":{\"instance\":0,\"run\":5},\"b\":{\"fork\":\"thread0\",\"loop\":3,\"memrun\":{\"type\":\"chase\",\"size\":4096,\"count\":5}}}}",
        b"hackbench -g 2 -f 3 -l 100 --pipe --threads",
        b"sysbench --test=threads --num-threads=6 --max-time=5 --max-requests=-1 run",
        b"cyclictest -t 8 -q -e 1000000 -D 20 -a 0-3",
    ];
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut loaded = 0;
    for round in 0..ROUNDS {
        let text = mutate(seeds[round % seeds.len()], &mut numbers);
        let text = String::from_utf8_lossy(&text);
        read_all_ways(&text);
        let found = lint::lint(&text, Mode::Workgen);
        loaded += usize::from(found.iter().all(|d| d.severity.as_str() != "error"));
    }
    // Mutations that all broke the text would test the first line of the parser only.
    assert!(
        loaded > ROUNDS / 50,
        "only {loaded} of {ROUNDS} texts still load"
    );
}

#[test]
fn reading_takes_time_in_proportion_to_the_text() {
    // Many duplicates, many names, deep nesting: nothing may grow with the square.
    let duplicates = format!("{{'tasks':{{'t':{{{}}}}}}}", "'run':1,".repeat(50_000));
    let names: String = (0..20_000)
        .map(|n| format!("'t{n}':{{'run':1}},"))
        .collect();
    let names = format!("{{'tasks':{{{names}}}}}");
    let nested = "{'tasks':".repeat(50_000);
    let begin = std::time::Instant::now();
    for text in [duplicates, names, nested] {
        read_all_ways(&text);
    }
    let took = begin.elapsed();
    assert!(took.as_secs() < 10, "took {took:?}");
}
