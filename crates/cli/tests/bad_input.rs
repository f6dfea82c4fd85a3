// SPDX-License-Identifier: GPL-2.0-only
//! Bad input is refused before anything runs: exit code 2, nothing on standard
//! output, and a message that says where, what was found and what to write instead.

mod common;

use std::fs;

use common::alight;
use predicates::prelude::*;
use tempfile::tempdir;

struct Case {
    args: &'static [&'static str],
    says: &'static [&'static str],
}

/// Refused, saying all of this.
fn refused(args: &[&str], says: &[&str]) {
    let mut assert = alight(args).assert().code(2).stdout("");
    for text in says {
        assert = assert.stderr(predicate::str::contains(*text));
    }
}

#[test]
fn unknown_names_are_answered_with_the_nearest_valid_ones() {
    let cases = [
        Case {
            args: &["simulate", "-m", "juno-r1", "-w", "hackbench"],
            says: &["juno-r1", "juno-r0", "juno-r2"],
        },
        Case {
            args: &["machine", "show", "jun0"],
            says: &["jun0", "juno-r0"],
        },
        Case {
            args: &["simulate", "-m", "juno-r0", "-w", "hackbench", "linux-5.6"],
            says: &[
                "unknown base 'linux-5.6'",
                "the nearest below it is 'linux-5.5'",
            ],
        },
        Case {
            args: &[
                "compare",
                "-m",
                "juno-r0",
                "-w",
                "hackbench",
                "linux-5.5",
                "linux-5.5+asym",
            ],
            says: &["unknown feature 'asym'", "did you mean 'asym-capacity'"],
        },
        Case {
            args: &[
                "simulate",
                "-m",
                "juno-r0",
                "-w",
                "hackbench",
                "linux-5.5+asym-capacity:depth=3",
            ],
            says: &["has no tunable 'depth'", "prev-first"],
        },
        Case {
            args: &["policy", "show", "asym-capacty"],
            says: &["did you mean 'asym-capacity'", "linux-5.5"],
        },
        Case {
            args: &["simulate", "-m", "juno-r0", "-w", "hackbnch -g 3"],
            says: &["hackbnch", "`hackbench`"],
        },
        Case {
            args: &["simulate", "-m", "juno-r0", "-w", "hackbench --loups 3"],
            says: &["command line:1:11", "--loups", "`--loops`"],
        },
        Case {
            args: &[
                "simulate",
                "-m",
                "juno-r0",
                "-w",
                "sysbench thread --threads=4 run",
            ],
            says: &["threads"],
        },
        Case {
            args: &[
                "simulate",
                "-m",
                "juno-r0",
                "-w",
                "hackbench",
                "--governor",
                "schedutl",
            ],
            says: &["'schedutl'", "the nearest valid: schedutil, "],
        },
        Case {
            args: &[
                "compare",
                "-m",
                "juno-r0",
                "-w",
                "hackbench",
                "linux-5.5",
                "linux-5.5",
                "--style",
                "tabel",
            ],
            says: &["a similar value exists: 'table'"],
        },
        Case {
            args: &[
                "explain",
                "-m",
                "juno-r0",
                "-w",
                "hackbench -g 1",
                "--task",
                "hackbnch",
            ],
            says: &["no task is named 'hackbnch'", "hackbench"],
        },
        Case {
            args: &["explain", "-m", "juno-r0", "-w", "hackbench -g 1"],
            says: &["not provided", "--task <NAME>"],
        },
        Case {
            args: &[
                "explain",
                "-m",
                "juno-r0",
                "-w",
                "hackbench -g 1",
                "--histogram",
                "--limit",
                "3",
            ],
            says: &["'--histogram' cannot be used with '--limit <N>'"],
        },
        Case {
            args: &[
                "explain",
                "-m",
                "juno-r0",
                "-w",
                "hackbench -g 1",
                "--histogram",
                "--task",
                "hackbnch",
            ],
            says: &["no task is named 'hackbnch'", "hackbench"],
        },
        Case {
            args: &[
                "simulate",
                "-m",
                "juno-r0",
                "-w",
                "hackbench",
                "--trace",
                "out.pftace",
            ],
            says: &["out.pftace", ".pftrace"],
        },
        Case {
            args: &["smulate"],
            says: &["similar subcommand", "'simulate'"],
        },
    ];
    for case in cases {
        refused(case.args, case.says);
    }
}

#[test]
fn impossible_values_are_refused() {
    const RUN: [&str; 5] = ["compare", "-m", "juno-r0", "-w", "hackbench"];
    const BOTH: [&str; 2] = ["linux-5.5", "linux-5.5+asym-capacity"];
    let one_or_more = "expected a whole number, 1 or more";
    let cases: [(&[&str], &str); 12] = [
        (&["--runs", "0"], one_or_more),
        (&["--runs", "-3"], one_or_more),
        (&["--runs", "many"], one_or_more),
        (&["--jobs", "0"], one_or_more),
        (&["--duration", "-5s"], "the time is negative"),
        (&["--duration", "0s"], "the run has no length"),
        (&["--duration", "5"], "'5' has no unit"),
        (&["--duration", "5h"], "'h' is no unit"),
        (&["--seed", "-1"], "expected a whole number"),
        (
            &["--wakee-flips", "-1"],
            "expected a whole number, 0 to 4294967295",
        ),
        (
            &["--seed", "18446744073709551615", "--runs", "2"],
            "use a smaller seed",
        ),
        (&["--json", "--style", "csv"], "cannot be used with"),
    ];
    for (options, says) in cases {
        refused(&[&RUN[..], &BOTH, options].concat(), &[says]);
    }
    refused(
        &[&RUN[..], &BOTH[..1]].concat(),
        &["a comparison needs two schedulers or more, found linux-5.5; name another"],
    );
}

/// A kernel clamps some of this in silence. A user would never know.
#[test]
fn what_the_machine_cannot_do_is_refused_with_what_it_can() {
    const RUN: [&str; 5] = ["simulate", "-m", "juno-r0", "-w", "hackbench -g 1 -l 10"];
    let cases: [(&[&str], &[&str]); 11] = [
        (
            &["--governor", "userspace"],
            &["userspace needs a speed in kHz", "userspace:800000"],
        ),
        (
            &["--governor", "userspace:800"],
            &["--governor 'userspace:800'", "450000 to 1100000 kHz"],
        ),
        (
            &["--governor", "userspace:2000000"],
            &["asks for 2000000 kHz", "450000 to 1100000 kHz"],
        ),
        (
            &["--hotplug", "20ms:off:9"],
            &["--hotplug '20ms:off:9'", "at 20 ms CPU 9", "CPUs 0 to 5"],
        ),
        (
            &["--hotplug", "20ms:off:0-5"],
            &["--hotplug", "at 20 ms the last CPU"],
        ),
        (
            &["--hotplug", "2s:off:1", "--duration", "1s"],
            &["--hotplug '2s:off:1'", "at 2 s", "the run ends at 1 s"],
        ),
        (
            &["--cap", "1s:4-5:1200"],
            &["--cap '1s:4-5:1200'", "1200 kHz", "450000 kHz", "in kHz"],
        ),
        (
            &["--cap", "3s:4:max", "--duration", "3s"],
            &["--cap '3s:4:max'", "the run ends at 3 s"],
        ),
        (&["--thermal", "1s:0:800"], &["--thermal", "450000 kHz"]),
        (&["--thermal", "1s:7:800000"], &["--thermal", "CPUs 0 to 5"]),
        (
            &["--cap", "1s:0:450000,2s:0-9:max"],
            &["--cap '1s:0:450000,2s:0-9:max'", "at 2 s CPU 6"],
        ),
    ];
    for (options, says) in cases {
        refused(&[&RUN[..], options].concat(), says);
    }
    const EXPLAIN: [&str; 7] = [
        "explain",
        "-m",
        "juno-r0",
        "-w",
        "hackbench -g 1 -l 10",
        "--task",
        "hackbench",
    ];
    let late = ["--at", "2s", "--duration", "1s"];
    let says = "--at 2 s is after the end of the run, 1 s";
    refused(&[&EXPLAIN[..], &late].concat(), &[says]);
    // Where the end shows only when the run is over.
    let says = "--at 60 s is after the end of the run, ";
    refused(&[&EXPLAIN[..], &["--at", "60s"]].concat(), &[says]);
    let counted = ["--at", "60s", "--histogram"];
    refused(&[&EXPLAIN[..], &counted].concat(), &[says]);
}

/// What could not be followed, or not in time, is told.
#[test]
fn what_is_done_otherwise_than_asked_is_told() {
    const RUN: [&str; 5] = ["simulate", "-m", "juno-r0", "-w", "hackbench -g 1 -l 10"];
    for (options, says) in [
        (
            ["--governor", "userspace:1000000"],
            "CPUs 0,3-5 cannot run at the speed of userspace:1000000; they run at 850000 kHz",
        ),
        (
            ["--hotplug", "60s:off:1"],
            "the change at 60 s was not made: the workloads ended at ",
        ),
        (
            ["--hotplug", "1ms:off:1,2ms:off:1-2"],
            "--hotplug '1ms:off:1,2ms:off:1-2': at 2 ms CPU 1 is off already, since 1 ms",
        ),
        (
            ["--hotplug", "1ms:on:1"],
            "--hotplug '1ms:on:1': at 1 ms CPU 1 is not off",
        ),
        (
            ["--hotplug", "2ms:on:1,1ms:off:1"],
            "the change at 1 ms is listed after the one at 2 ms",
        ),
        (
            ["--cap", "1ms:1:max"],
            "--cap '1ms:1:max': at 1 ms CPU 1 is not limited",
        ),
    ] {
        alight(&[&RUN[..], &options].concat())
            .assert()
            .success()
            .stderr(predicate::str::contains(says));
    }
    let both = ["linux-5.5", "linux-7.2", "--runs", "2"];
    let late = ["--cap", "60s:1:max"];
    alight(&[&["compare"], &RUN[1..], &both, &late].concat())
        .assert()
        .success()
        .stderr(predicate::str::contains("the change at 60 s was not made"));
}

#[test]
fn impossible_workloads_are_refused() {
    for (workload, says) in [
        ("hackbench -g 0", "-g"),
        ("hackbench -l -1", "-l"),
        ("sysbench threads --threads=0 run", "threads"),
        ("cyclictest -t 0", "-t"),
        (
            "hackbench -g 'x",
            "command line:1:14: this quote is not closed",
        ),
    ] {
        refused(&["simulate", "-m", "juno-r0", "-w", workload], &[says]);
    }
}

#[test]
fn broken_rt_app_files_are_refused_with_their_place() {
    let dir = tempdir().unwrap();
    let cases = [
        (
            "comma.json",
            "{\"tasks\": {\n  \"t\": {\"run\": 1000,\n",
            &["comma.json:3:1", "expected"][..],
        ),
        (
            "negative.json",
            "{\"tasks\": {\"t\": {\"sleep\": -5, \"loop\": 1}}}",
            &["negative.json:1:", "-5", "expected 0 or more"],
        ),
        (
            "nowhere.json",
            "{\"tasks\": {\"t\": {\"cpus\": [], \"run\": 1000, \"loop\": 1}}}",
            &["nowhere.json:1:", "run on no CPU"],
        ),
        (
            "far.json",
            "{\"tasks\": {\"t\": {\"cpus\": [99], \"run\": 1000, \"loop\": 1}}}",
            &["CPU 99", "CPUs 0 to 5"],
        ),
    ];
    for (name, text, says) in cases {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        refused(
            &["simulate", "-m", "juno-r0", "-w", path.to_str().unwrap()],
            says,
        );
    }
    refused(
        &["simulate", "-m", "juno-r0", "-w", "absent.json"],
        &["absent.json", "cannot be read"],
    );
    refused(&["lint", "absent.json"], &["absent.json", "cannot be read"]);
}

#[test]
fn broken_machine_files_are_refused_with_their_place() {
    let dir = tempdir().unwrap();
    let cases = [
        (
            "quote.toml",
            "schema = \"alight.machine/1\"\nname = x\"\n",
            &["quote.toml:2:8", "expected"][..],
        ),
        (
            "schema.toml",
            "schema = \"alight.machine/9\"\n",
            &["schema.toml:1:", "alight.machine/1"],
        ),
        ("empty.toml", "", &["empty.toml:1:1", "schema"]),
    ];
    for (name, text, says) in cases {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        refused(&["simulate", "-m", path, "-w", "hackbench"], says);
        refused(&["machine", "check", path], says);
    }
    refused(
        &["machine", "show", "absent.toml"],
        &["absent.toml", "cannot be read"],
    );
}

#[test]
fn a_machine_that_cannot_be_fails_its_check() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("board.toml");
    // A little cluster whose second operating point is slower than its first.
    let juno = include_str!("../../../machines/juno-r0.toml");
    let broken = juno.replace("khz = [450_000, 575_000", "khz = [650_000, 575_000");
    assert_ne!(broken, juno, "the edit must bite");
    fs::write(&path, broken).unwrap();
    alight(&["machine", "check", path.to_str().unwrap()])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("error"));
}

#[test]
fn lint_tells_what_is_wrong_and_fails() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("broken.json");
    fs::write(&path, "{\"tasks\": {\"t\": {\"sleep\": -5}}}").unwrap();
    let path = path.to_str().unwrap();
    alight(&["lint", path]).assert().code(2).stdout(
        predicate::str::contains("broken.json:1:").and(predicate::str::contains("1 error, ")),
    );
    alight(&["lint", path, "--json"])
        .assert()
        .code(2)
        .stdout(predicate::str::contains("\"schema\": \"alight.lint/1\""));
}

#[test]
fn help_names_the_exit_codes() {
    alight(&["--help"])
        .assert()
        .success()
        .stdout(predicate::str::contains("Exit codes:").and(predicate::str::contains("130")));
    alight(&[]).assert().code(2);
}

#[test]
fn a_card_of_what_cannot_be_is_refused_with_what_would_do() {
    let cases = [
        Case {
            args: &["card", "bias-prv"],
            says: &[
                "there is no base and no feature 'bias-prv'",
                "did you mean 'bias-prev'",
            ],
        },
        Case {
            args: &["card", "bias-prev:spair=3"],
            says: &["no tunable 'spair'", "spare"],
        },
        Case {
            args: &["card", "uclamp-sum", "--base", "linux-5.4"],
            says: &[
                "does not go with linux-5.4",
                "clamps count in the frequency of Linux 5.4 only",
                "linux-5.5, linux-5.10",
            ],
        },
        Case {
            args: &["card", "sched-idle", "--base", "linux-6.5"],
            says: &[
                "sched-idle is part of it since 5.6",
                "bases that lack it: linux-5.4, linux-5.5",
            ],
        },
        Case {
            args: &["card", "pack=none"],
            says: &["make it equal to linux-7.3"],
        },
        Case {
            args: &["card", "bias-prev", "--base", "linux-6.7"],
            says: &["unknown base 'linux-6.7'", "linux-6.6"],
        },
        Case {
            args: &["card", "asym-capacity", "-m", "hikey620"],
            says: &["it needs CPUs that differ in capacity", "hikey620 lacks"],
        },
        Case {
            args: &["card", "bias-prev", "-m", "juno-r3"],
            says: &["juno-r3", "juno-r0"],
        },
        Case {
            args: &["card", "bias-prev", "-w", "hackbensh"],
            says: &[
                "no workload 'hackbensh'",
                "did you mean 'hackbench'",
                "frames",
            ],
        },
        Case {
            args: &["card", "bias-prev", "-m", "epyc-9654-2s", "-w", "mixed"],
            says: &["none of these workloads runs on machines of this size"],
        },
        Case {
            args: &["card", "bias-prev", "--runs", "0"],
            says: &["--runs", "1 or more"],
        },
        Case {
            args: &["card", "bias-prev", "--seed", "18446744073709551615"],
            says: &["the last seed exceeds"],
        },
    ];
    for case in cases {
        refused(case.args, case.says);
    }
}
