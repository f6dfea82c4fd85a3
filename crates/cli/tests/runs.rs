// SPDX-License-Identifier: GPL-2.0-only
//! Whole runs of the program: what it prints, and how it ends when the machine that it runs on fails.

mod common;
#[path = "common/interrupt.rs"]
mod interrupt;

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use common::alight;
use interrupt::interrupted;
use predicates::prelude::*;
use serde_json::Value;
use tempfile::tempdir;

/// A workload that is over in a moment.
const QUICK: &str = "hackbench -g 1 -l 5";

const COMPARE: [&str; 8] = [
    "compare",
    "-m",
    "juno-r0",
    "-w",
    QUICK,
    "linux-5.5",
    "linux-5.5+asym-capacity",
    "--runs=3",
];

fn stdout(args: &[&str]) -> String {
    let output = alight(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).unwrap()
}

#[test]
fn compare_answers_in_every_style() {
    for (style, says) in [
        ("table", "95% interval"),
        ("markdown", "| metric | scheduler |"),
        ("csv", "delta_percent"),
        ("json", "\"schema\": \"alight.compare/1\""),
        ("mmtests", "Amean"),
        ("lkp", "%stddev"),
    ] {
        let text = stdout(&[&COMPARE[..], &["--style", style]].concat());
        assert!(text.contains(says), "{style}: no '{says}' in\n{text}");
        assert!(text.contains("elapsed_s"), "{style}: no result in\n{text}");
    }
}

#[test]
fn the_table_says_why() {
    let text = stdout(&[&COMPARE[..], &["--full"]].concat());
    for mechanism in [
        "cpu_migrations",
        "context_switches",
        "slow_path_selections",
        "fast_path_selections",
        "found_idle_percent",
        "busy_capacity_446_percent",
        "busy_capacity_1024_percent",
    ] {
        assert!(text.contains(mechanism), "no '{mechanism}' in\n{text}");
    }
}

#[test]
fn the_same_comparison_gives_the_same_bytes_whatever_the_threads() {
    let with = |jobs| stdout(&[&COMPARE[..], &["--json", "--jobs", jobs]].concat());
    let first = with("1");
    // The last is more than any machine can start.
    for jobs in ["1", "3", "8000", "18446744073709551615"] {
        assert_eq!(first, with(jobs), "{jobs}");
    }
}

#[test]
fn the_comparison_states_its_conditions_and_holds_its_samples() {
    let document = json(&[&COMPARE[..], &["--json", "--seed", "7"]].concat());
    assert_eq!(document["machine"], "juno-r0");
    assert_eq!(document["workloads"][0], QUICK);
    assert_eq!(document["seeds"], serde_json::json!([7, 8, 9]));
    assert_eq!(
        document["variants"][1]["scheduler"],
        "linux-5.5+asym-capacity"
    );
    let elapsed = &document["variants"][0]["metrics"]["elapsed_s"];
    assert_eq!(elapsed["better"], "lower");
    assert_eq!(elapsed["samples"].as_array().unwrap().len(), 3);
    let delta = &document["deltas"][0];
    assert_eq!(delta["base"], "linux-5.5");
    assert!(delta["metrics"]["elapsed_s"]["significant"].is_boolean());
}

#[test]
fn the_command_that_a_report_names_gives_the_report_again() {
    let first = json(&[&COMPARE[..], &["--json", "--duration", "20ms"]].concat());
    let words = shell_words::split(first["command"].as_str().unwrap()).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words[0], "alight");
    assert_eq!(first, json(&[&words[1..], &["--json"]].concat()));
}

#[test]
fn a_run_of_a_comparison_is_the_run_that_simulate_makes() {
    let compared = json(&[&COMPARE[..], &["--json", "--seed", "5"]].concat());
    let single = json(&[
        "simulate",
        "-m",
        "juno-r0",
        "-w",
        QUICK,
        "--seed",
        "6",
        "--json",
        "linux-5.5",
    ]);
    assert_eq!(
        compared["variants"][0]["metrics"]["elapsed_s"]["samples"][1],
        single["metrics"]["elapsed_s"]["value"]
    );
}

/// Whoever names no scheduler means the newest kernel, and is told so.
#[test]
fn without_a_scheduler_it_is_the_newest_base() {
    let newest = alight_policy::scheduler::BASES.last().unwrap().name;
    let document = json(&["simulate", "-m", "juno-r0", "-w", QUICK, "--json"]);
    assert_eq!(document["scheduler"], newest);
    for verb in ["simulate", "explain"] {
        let help = stdout(&[verb, "--help"]);
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            help.contains(&format!("[default: --base, else {newest}]")),
            "{help}"
        );
    }
    let age = |name: &str| -> Vec<u32> {
        let numbers = name.trim_start_matches("linux-").split('.');
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let ages: Vec<_> = alight_policy::scheduler::BASES
        .iter()
        .map(|base| age(base.name))
        .collect();
    assert!(ages.is_sorted(), "the newest is last: {ages:?}");
}

#[test]
fn tools_print_in_their_own_words_one_after_the_other() {
    let cyclictest = "cyclictest -t 1 -D 1";
    let args = ["simulate", "-m", "juno-r0", "-w", QUICK, "-w", cyclictest];
    let text = stdout(&[&args[..], &["--style", "tool"]].concat());
    let beginnings = [
        "Running in ",
        "Each sender ",
        "Time: 0.",
        "# /dev/cpu_",
        "T: 0 (",
    ];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), beginnings.len(), "{text}");
    for (line, beginning) in lines.iter().zip(beginnings) {
        assert!(line.starts_with(beginning), "{text}");
    }
}

#[test]
fn a_tool_that_is_cut_short_has_nothing_to_print() {
    let args = [
        "simulate",
        "-m",
        "juno-r0",
        "-w",
        QUICK,
        "--duration",
        "11ms",
    ];
    alight(&[&args[..], &["--style", "tool"]].concat())
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("give the run a longer --duration"));
}

#[test]
fn several_workloads_run_at_once_until_the_duration() {
    let document = json(&[
        "simulate",
        "-m",
        "juno-r0",
        "-w",
        QUICK,
        "-w",
        "cyclictest -t 2 -q -D 5",
        "--duration",
        "100ms",
        "--governor",
        "performance",
        "--check",
        "--json",
    ]);
    assert_eq!(document["workloads"].as_array().unwrap().len(), 2);
    assert_eq!(document["governor"], "performance");
    assert_eq!(document["end_ns"], 100_000_000);
}

#[test]
fn explain_names_candidates_and_the_step_that_answered() {
    let args = [
        "explain",
        "-m",
        "juno-r0",
        "-w",
        QUICK,
        "--task",
        "hackbench",
        "--limit",
        "5",
    ];
    let text = stdout(&args);
    assert!(text.contains("answer  CPU "), "{text}");
    assert!(text.contains("the steps that answered"), "{text}");
    let document = json(&[&args[..], &["--json"]].concat());
    assert_eq!(document["schema"], "alight.explain/1");
    assert_eq!(document["decisions"].as_array().unwrap().len(), 5);
    let late = json(&[&args[..7], &["--at", "11ms", "--json"]].concat());
    let decisions = late["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 1);
    assert!(decisions[0]["time_ns"].as_u64().unwrap() >= 11_000_000);
}

/// All tasks, or one; the rows add up; the base beside them, and how to measure the whole.
#[test]
fn explain_counts_which_steps_answered() {
    let scheduler = "linux-5.5+asym-capacity";
    let args = ["explain", "-m", "juno-r0", "-w", QUICK, "--histogram"];
    let text = stdout(&[&args[..], &[scheduler]].concat());
    for says in [
        "asym-capacity  asym_target",
        "linux-5.5      slow_",
        "for which the base would have chosen another CPU",
        "alight compare -m juno-r0",
    ] {
        assert!(text.contains(says), "no '{says}' in\n{text}");
    }
    let all = json(&[&args[..], &[scheduler, "--json"]].concat());
    assert_eq!(all["schema"], "alight.explain-histogram/1");
    let rows = all["rows"].as_array().unwrap();
    let counts = rows.iter().map(|row| row["all"]["count"].as_u64().unwrap());
    let total = all["total"]["all"]["count"].as_u64().unwrap();
    assert_eq!(counts.sum::<u64>(), total);
    let one = json(&[&args[..], &[scheduler, "--task", "hackbench", "--json"]].concat());
    let count = one["total"]["all"]["count"].as_u64().unwrap();
    assert!(count > 0 && count <= total);
    let base = json(&[&args[..], &["linux-5.5", "--json"]].concat());
    assert_eq!(base["total"]["other_cpu"]["count"], 0);
}

#[test]
fn machines_and_policies_are_listed_shown_and_checked() {
    for (args, says) in [
        (&["machine", "list"][..], "juno-r0"),
        (
            &["machine", "list", "--json"],
            "\"schema\": \"alight.machines/1\"",
        ),
        (&["machine", "show", "juno-r0"], "Cortex-A57"),
        (
            &["machine", "show", "juno-r0", "--json"],
            "\"schema\": \"alight.machine/1\"",
        ),
        (
            &["machine", "check", "juno-r0", "--json"],
            "\"schema\": \"alight.machine-check/1\"",
        ),
        (&["policy", "list"], "+asym-capacity"),
        (
            &["policy", "list", "--json"],
            "\"schema\": \"alight.policies/1\"",
        ),
        (&["policy", "show", "asym-capacity"], "not on linux-3.9"),
        (
            &["policy", "show", "linux-5.5+asym-capacity", "--json"],
            "\"wake_cap\": 0",
        ),
    ] {
        let text = stdout(args);
        assert!(text.contains(says), "{args:?}: no '{says}' in\n{text}");
    }
}

#[test]
fn a_captured_machine_can_be_simulated() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("this.toml");
    fs::write(&path, stdout(&["machine", "capture"])).unwrap();
    let path = path.to_str().unwrap();
    alight(&["machine", "check", path]).assert().success();
    alight(&["simulate", "-m", path, "-w", "hackbench -g 1 -l 1"])
        .assert()
        .success();
}

#[test]
fn a_trace_is_written_by_its_ending() {
    let dir = tempdir().unwrap();
    for (name, says) in [("run.pftrace", None), ("run.txt", Some("sched_switch"))] {
        let path = dir.path().join(name);
        alight(&[
            "simulate",
            "-m",
            "juno-r0",
            "-w",
            QUICK,
            "--trace",
            path.to_str().unwrap(),
        ])
        .assert()
        .success();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() > 1000, "{name} has {} bytes", bytes.len());
        if let Some(says) = says {
            assert!(String::from_utf8(bytes).unwrap().contains(says));
        }
    }
}

#[test]
fn a_trace_on_standard_output_has_it_alone() {
    let args = ["simulate", "-m", "juno-r0", "-w", QUICK, "--json"];
    let traced = [&args[..], &["--trace", "-"]].concat();
    let traced = alight(&traced).output().unwrap();
    assert!(traced.status.success());
    let trace = String::from_utf8(traced.stdout).unwrap();
    assert!(trace.starts_with("# tracer: nop\n"), "{trace:.80}");
    assert!(trace.lines().last().unwrap().contains("] "), "an event");
    let beside: Value = serde_json::from_slice(&traced.stderr).expect("a report");
    assert_eq!(json(&args)["hash"], beside["hash"]);
}

#[test]
fn a_trace_does_not_change_the_run() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.pftrace");
    let args = ["simulate", "-m", "juno-r0", "-w", QUICK, "--json"];
    let plain = json(&args);
    let traced = json(&[&args[..], &["--trace", path.to_str().unwrap()]].concat());
    assert_eq!(plain["hash"], traced["hash"]);
}

#[test]
fn a_full_disk_ends_the_trace_with_a_message_and_code_1() {
    alight(&[
        "simulate",
        "-m",
        "juno-r0",
        "-w",
        QUICK,
        "--trace",
        "/dev/full",
    ])
    .assert()
    .code(1)
    .stdout("")
    .stderr(predicate::str::contains("/dev/full").and(predicate::str::contains("No space left")));
}

#[test]
fn a_trace_that_cannot_be_completed_leaves_no_file() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.pftrace");
    let program = Command::cargo_bin("alight")
        .unwrap()
        .get_program()
        .to_owned();
    let script = "ulimit -f 8; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(program)
        .args(["simulate", "-m", "juno-r0", "-w", QUICK, "--trace"])
        .arg(&path)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("run.pftrace"), "{message}");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "something was left"
    );
}

#[test]
fn a_folder_that_does_not_exist_is_told() {
    alight(&[
        "simulate",
        "-m",
        "juno-r0",
        "-w",
        QUICK,
        "--trace",
        "/nonexistent/run.pftrace",
    ])
    .assert()
    .code(1)
    .stderr(predicate::str::contains("/nonexistent/"));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    let output = Command::cargo_bin("alight")
        .unwrap()
        .args(["machine", "show", "juno-r0"])
        .stdout(Stdio::from(OwnedFd::from(writer)))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("standard output"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn a_full_standard_output_is_told() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::cargo_bin("alight")
        .unwrap()
        .args(["policy", "list"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left"));
}

#[test]
fn ctrl_c_prints_the_runs_that_are_complete() {
    let long = ["--runs", "100000", "--json", "--jobs", "1"];
    let output = interrupted(&[&COMPARE[..7], &long].concat(), 700);
    let messages = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    let runs = document["runs"].as_u64().unwrap();
    assert!((1..100_000).contains(&runs), "{runs} runs");
    let end = format!("{runs} of 100000 runs are complete");
    assert!(messages.contains(&end), "{messages}");
}

#[test]
fn ctrl_c_prints_what_one_long_run_did() {
    let long = ["-w", "hackbench -p -l 100000000"];
    let simulate = ["simulate", "-m", "juno-r0", "linux-5.5", "--json"];
    let output = interrupted(&[&simulate[..], &long].concat(), 1500);
    let messages = String::from_utf8_lossy(&output.stderr);
    let end = "interrupted: the numbers are those of the part that ran";
    assert!(messages.contains(end), "{messages}");
    // The bar is for terminals.
    assert!(!messages.contains(" left"), "{messages}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    let switches = &document["metrics"]["context_switches"]["value"];
    assert!(switches.as_f64().unwrap() > 0.0, "{switches}");
}

const CARD: [&str; 10] = [
    "card",
    "bias-prev",
    "--base",
    "linux-6.5",
    "-m",
    "ca9x4",
    "-w",
    "spare-time",
    "-w",
    "idle",
];

#[test]
fn a_card_answers_in_every_style() {
    for (style, says) in [
        ("table", "harms: "),
        ("markdown", "| machine | workload | metric |"),
        ("csv", "delta_percent"),
        ("json", "\"schema\": \"alight.card/1\""),
    ] {
        let text = stdout(&[&CARD[..], &["--runs", "2", "--style", style]].concat());
        for says in [says, "worker_wakeup_latency_p99_us", "idle"] {
            assert!(text.contains(says), "{style}: no '{says}' in\n{text}");
        }
    }
}

#[test]
fn a_card_is_the_same_again_whatever_the_threads() {
    let with = |jobs| json(&[&CARD[..], &["--runs", "2", "--json", "--jobs", jobs]].concat());
    let first = with("1");
    assert_eq!(first, with("3"));
    let words = shell_words::split(first["command"].as_str().unwrap()).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(first, json(&[&words[1..], &["--json"]].concat()));
}

/// The command that stands beside a cell gives its numbers.
#[test]
fn a_line_of_a_card_is_that_of_the_comparison_it_names() {
    let card = json(&[&CARD[..], &["--runs", "3", "--json"]].concat());
    let (cell, idle) = (&card["cells"][0], &card["cells"][1]);
    assert_eq!(
        (&idle["workload"], &idle["identical"]),
        (&"idle".into(), &true.into())
    );
    let words = shell_words::split(cell["command"].as_str().unwrap()).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The file that the command names is that of the source tree.
    let output = alight(&[&words[1..], &["--json"]].concat())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let compared: Value = serde_json::from_slice(&output).unwrap();
    let metrics = cell["metrics"].as_object().unwrap();
    assert!(metrics.len() >= 4, "{metrics:?}");
    for (name, number) in metrics {
        let delta = &compared["deltas"][0]["metrics"][name];
        for member in ["delta_percent", "ci_low", "ci_high"] {
            assert_eq!(number[member], delta[member], "{name} {member}");
        }
        let base = &compared["variants"][0]["metrics"][name];
        assert_eq!(number["base_mean"], base["mean"], "{name}");
    }
}

#[test]
fn without_a_base_a_card_takes_the_newest_that_lacks_the_feature() {
    for (feature, base) in [("bias-prev", "linux-7.3"), ("sched-idle", "linux-5.5")] {
        let card = json(&[
            "card", feature, "--quick", "--runs", "1", "-w", "idle", "--json",
        ]);
        assert_eq!(card["base"], base);
    }
}

#[test]
fn ctrl_c_prints_the_cells_that_are_complete() {
    let cells = ["-m", "tc2", "-w", "idle", "-w", "mutexes"];
    let long = ["--runs", "200", "--json", "--jobs", "1"];
    let output = interrupted(&[&["card", "bias-prev"], &cells[..], &long].concat(), 5000);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("1 of 2 cells are complete"), "{messages}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["cells"].as_array().unwrap().len(), 1);
}
