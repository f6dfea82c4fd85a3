// SPDX-License-Identifier: GPL-2.0-only
//! What an answer rests on stands on the answer: on standard output, in every style, and in the JSON;
//! and what proves nothing is called neither better nor worse.

mod common;

use std::fs;
use std::path::Path;

use common::alight;
use serde_json::Value;
use tempfile::tempdir;

const LOAD: [&str; 2] = ["-w", "perf bench sched pipe -l 20"];

/// A tree of two unlike CPUs, of which a kernel says little: no capacity, no costs.
fn captured(root: &Path) {
    let cpu = root.join("sys/devices/system/cpu");
    let files = [
        ("online", "0-1"),
        ("possible", "0-1"),
        ("present", "0-1"),
        ("cpu0/topology/core_cpus_list", "0"),
        ("cpu0/topology/package_cpus_list", "0-1"),
        ("cpu0/cpufreq/related_cpus", "0"),
        ("cpu0/cpufreq/cpuinfo_min_freq", "800000"),
        ("cpu0/cpufreq/cpuinfo_max_freq", "5200000"),
        ("cpu1/topology/core_cpus_list", "1"),
        ("cpu1/topology/package_cpus_list", "0-1"),
        ("cpu1/cpufreq/related_cpus", "1"),
        ("cpu1/cpufreq/cpuinfo_min_freq", "800000"),
        ("cpu1/cpufreq/cpuinfo_max_freq", "3900000"),
    ];
    for (file, text) in files {
        let path = cpu.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    fs::create_dir_all(root.join("proc")).unwrap();
    let cpuinfo = "vendor_id\t: GenuineIntel\nmodel name\t: hybrid\n";
    fs::write(root.join("proc/cpuinfo"), cpuinfo).unwrap();
}

fn stdout(args: &[&str], root: &Path) -> String {
    let mut command = alight(args);
    let output = command.env("ROOT_PREFIX", root).output().unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_captured_machine_says_on_every_answer_that_nobody_measured_it() {
    let dir = tempdir().unwrap();
    captured(dir.path());
    let quick = [&["-m", "host"], &LOAD[..]].concat();
    let two = ["linux-6.5", "linux-6.5+bias-prev", "--runs", "2"];
    let card = ["-m", "host", "-w", "pipe", "--runs", "2"];
    let mut commands: Vec<Vec<&str>> = vec![];
    for style in ["table", "markdown", "csv", "mmtests", "lkp", "json"] {
        commands.push([&["compare"], &quick[..], &two, &["--style", style]].concat());
    }
    for style in ["table", "markdown", "csv", "json"] {
        let named = ["card", "bias-prev", "--style", style];
        commands.push([&named[..], &card].concat());
    }
    for json in [&[][..], &["--json"]] {
        commands.push([&["simulate"], &quick[..], json].concat());
        commands.push([&["explain", "--histogram"], &quick[..], json].concat());
        let task = ["explain", "--task", "sched-pipe"];
        commands.push([&task[..], &quick, &["--limit", "1"], json].concat());
        let suite = ["suite", "run", "UserspaceSanity", "--machine", "host"];
        commands.push([&suite[..], json].concat());
    }
    let hash = stdout(&["machine", "show", "host", "--json"], dir.path());
    let hash: Value = serde_json::from_str(&hash).unwrap();
    let hash = hash["hash"].as_str().unwrap();
    for command in commands {
        let text = stdout(&command, dir.path());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(hash), "{command:?}: no hash in {text}");
        let [costs, speeds] = match text.starts_with('{') {
            true => ["\"standing\": \"assumed\"", "\"are\": \"assumed_equal\""],
            false => [
                "costs ASSUMED: nobody measured them on this machine",
                "speeds ASSUMED EQUAL: CPU 0 (",
            ],
        };
        for part in [costs, speeds] {
            assert!(words.contains(part), "{command:?}: no '{part}' in {text}");
        }
    }
}

#[test]
fn what_a_kernel_did_not_have_is_left_out_of_its_answer() {
    for (args, left_out) in [
        (&["linux-3.9"][..], Some("schedutil came with Linux 4.7")),
        (&["linux-3.9", "--governor", "performance"], None),
        (&["linux-6.5"], None),
    ] {
        let args = [&["simulate", "-m", "hikey620", "--json"], &LOAD[..], args].concat();
        let output = alight(&args).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = &json["left_out"];
        match left_out {
            Some(sentence) => assert!(said.to_string().contains(sentence), "{args:?}: {said}"),
            None => assert_eq!(said, &serde_json::json!([]), "{args:?}"),
        }
    }
    // Who asks for a governor of idle states that the kernel did not have is refused.
    let teo = ["simulate", "-m", "juno-r0", "--idle-governor", "teo"];
    let refused = alight(&[&teo[..], &LOAD, &["linux-3.9"]].concat());
    let output = { refused }.assert().code(2).get_output().clone();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("came with Linux 5.1"), "{said}");
}

/// +689.8 % [+689.8, +689.8], p = 0, was called a harm: in each of the three runs the latencies are the
/// same, and so there is one sample.
#[test]
fn what_seeds_do_not_move_is_no_harm() {
    let args = ["card", "bias-prev", "--base", "linux-6.5", "-m", "ca9x4"];
    let args = [&args[..], &["-w", "spare-time", "--runs", "3"]].concat();
    let output = alight(&[&args[..], &["--json"]].concat()).output().unwrap();
    let card: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(card["harms"], 0);
    let latency = &card["cells"][0]["metrics"]["worker_wakeup_latency_p99_us"];
    assert_eq!(latency["verdict"], "no_spread");
    assert_eq!(latency["no_interval"], "same_in_every_run");
    for absent in ["p", "p_adjusted", "ci_low", "ci_high"] {
        assert!(latency[absent].is_null(), "{absent}: {latency}");
    }
    let output = alight(&args).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = "the same in every run: no spread to judge by";
    assert!(
        table.contains("harms: 0") && table.contains(said),
        "{table}"
    );
    assert!(!table.contains("[+689.8, +689.8]"), "{table}");
}

#[test]
fn a_comparison_says_why_a_policy_had_nothing_to_do() {
    for (machine, schedulers, why) in [
        (
            "juno-r0",
            ["linux-6.5", "linux-6.5+pack"],
            "`power_gated` in the machine's file), which juno-r0 lacks",
        ),
        (
            "juno-r0",
            ["linux-6.5", "linux-6.5+asym-capacity"],
            "asym-capacity is part of it since 5.7",
        ),
        (
            "juno-r0",
            ["linux-6.5", "linux-6.5+uclamp-sum"],
            "needs tasks with utilization clamps, and this run has none",
        ),
    ] {
        let args = [
            &["compare", "-m", machine, "--runs", "2"],
            &LOAD[..],
            &schedulers,
        ]
        .concat();
        let output = alight(&args).output().unwrap();
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(why), "{schedulers:?}: {table}");
    }
}
