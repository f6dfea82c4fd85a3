// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::command::split;

fn outcome(line: &str) -> Result<Settings, String> {
    let words = split(line).expect("splits");
    read(&words, &mut Remarks::default()).map_err(|r| r.message)
}

#[test]
fn each_spelling_brings_the_defaults_of_its_version() {
    let threads = Test::Threads {
        yields: 1000,
        locks: 8,
    };
    let cpu = Test::Cpu { max_prime: 10_000 };
    let s = Some(NS_PER_S);
    let table = [
        ("--test=threads run", threads, 1, Some(10_000), None),
        ("threads run", threads, 1, None, s.map(|s| 10 * s)),
        (
            "--max-time=5 --max-requests=-1 --test=threads --num-threads=6 run",
            threads,
            6,
            None,
            s.map(|s| 5 * s),
        ),
        (
            "--max-time=5 --test=threads run",
            threads,
            1,
            Some(10_000),
            s.map(|s| 5 * s),
        ),
        (
            "threads --threads=6 --time=5 run",
            threads,
            6,
            None,
            s.map(|s| 5 * s),
        ),
        (
            "threads --num-threads=6 --max-time=5 run",
            threads,
            6,
            None,
            s.map(|s| 5 * s),
        ),
        (
            "cpu --threads=2 --time=0 --events=40 run",
            cpu,
            2,
            Some(40),
            None,
        ),
        (
            "--test=cpu --cpu-max-prime=20000 run",
            Test::Cpu { max_prime: 20_000 },
            1,
            Some(10_000),
            None,
        ),
        (
            "threads --thread-yields=10 --thread-locks=2 run",
            Test::Threads {
                yields: 10,
                locks: 2,
            },
            1,
            None,
            s.map(|s| 10 * s),
        ),
        ("run threads --time=0", threads, 1, None, None),
    ];
    for (line, test, threads, events, time_ns) in table {
        let version = match line.contains("--test=") {
            true => Version::V0_4,
            false => Version::V1_0,
        };
        let expected = Settings {
            version,
            test,
            threads,
            events,
            time_ns,
        };
        assert_eq!(outcome(line), Ok(expected), "{line}");
    }
}

#[test]
fn what_is_refused_and_how() {
    let table = [
        ("threads", "the command is missing"),
        ("run", "no test is named"),
        ("threads --threads 6 run", "--threads needs a value"),
        ("threads 6 run", "`6` is neither an option nor a command"),
        (
            "threads --threads=0 run",
            "--threads is `0`, which is too small",
        ),
        (
            "threads --time=-5 run",
            "--time is `-5`, which is too small",
        ),
        (
            "threads --thread-locks=0 run",
            "--thread-locks is `0`, which is too small",
        ),
        (
            "threads --thread=6 run",
            "no option `--thread`; the nearest: `threads`",
        ),
        ("threads --threads run", "--threads needs a value"),
        ("cpu --cpu-max-prime=0 run", "--cpu-max-prime is `0`"),
        (
            "cpu --thread-locks=3 run",
            "--thread-locks belongs to the test `threads`",
        ),
        ("memory run", "the test `memory` is not modelled"),
        ("thread run", "no test `thread`; the nearest: `threads`"),
        ("threads --rate=10 run", "--rate is not modelled"),
        ("threads prepare", "the command `prepare` runs no test"),
    ];
    for (line, expected) in table {
        let message = outcome(line).expect_err(line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn remarks_on_what_does_nothing_and_on_what_never_ends() {
    let mut remarks = Remarks::default();
    let words = split("threads --time=0 --verbosity=5 run").expect("splits");
    read(&words, &mut remarks).expect("reads");
    let said: Vec<&str> = remarks.list.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("--verbosity has no effect"), "{said:?}");
    assert!(said[1].contains("never ends"), "{said:?}");
}
