// SPDX-License-Identifier: GPL-2.0-only
//! The golden corpus of documents: what the program writes, byte for byte. Of each JSON document and
//! each report, of traces in both formats, and of logs of decisions.
//!
//! `tests/golden/documents.txt` holds a digest of each, and of each member of a JSON document; `make
//! golden` writes it anew and says what moved. Documents that moved are left in a folder that is named.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// A name, and the words of the command.
type Document = (&'static str, &'static [&'static str]);

const SMALL: &str = "hackbench -g 1 -f 2 -l 10 --pipe";
const PERIODIC: &str = "workloads/periodic-mix.json";
const IDLE: &str = "workloads/idle-hogs.json";

const DOCUMENTS: &[Document] = &[
    ("simulate", &["simulate", "-m", "juno-r0", "-w", SMALL]),
    (
        "simulate.json",
        &["simulate", "-m", "juno-r0", "-w", SMALL, "--json"],
    ),
    (
        "simulate-counted-later.json",
        &[
            "simulate",
            "-m",
            "sdm845",
            "-w",
            PERIODIC,
            "--duration",
            "200ms",
            "--count-from",
            "100ms",
            "--json",
            "linux-7.2",
        ],
    ),
    (
        "simulate-checked.json",
        &[
            "simulate",
            "-m",
            "epyc-9654-2s",
            "-w",
            SMALL,
            "--check",
            "--json",
            "linux-6.5+bias-prev",
        ],
    ),
    (
        "simulate-two-workloads.json",
        &[
            "simulate",
            "-m",
            "tc2",
            "-w",
            "cyclictest -t 2 -q -D 1",
            "-w",
            IDLE,
            "--duration",
            "100ms",
            "--json",
            "linux-3.9+pack",
        ],
    ),
    (
        "simulate-changed.json",
        &[
            "simulate",
            "-m",
            "hikey620",
            "-w",
            IDLE,
            "--duration",
            "100ms",
            "--hotplug",
            "20ms:off:7,60ms:on:7",
            "--json",
            "linux-6.1+sched-idle",
        ],
    ),
    (
        "simulate.tool",
        &["simulate", "-m", "juno-r0", "-w", SMALL, "--style", "tool"],
    ),
    (
        "explain",
        &[
            "explain",
            "-m",
            "juno-r0",
            "-w",
            SMALL,
            "--task",
            "hackbench",
            "--limit",
            "5",
            "linux-5.5+asym-capacity",
        ],
    ),
    (
        "explain.json",
        &[
            "explain",
            "-m",
            "gs101",
            "-w",
            PERIODIC,
            "--duration",
            "100ms",
            "--task",
            "small-3",
            "--limit",
            "200",
            "--json",
            "linux-6.5+uclamp-sum",
        ],
    ),
    (
        "explain-bias-prev.json",
        &[
            "explain",
            "-m",
            "epyc-9654-2s",
            "-w",
            SMALL,
            "--task",
            "hackbench",
            "--limit",
            "100",
            "--json",
            "linux-6.5+bias-prev",
        ],
    ),
    (
        "explain-pack.json",
        &[
            "explain",
            "-m",
            "tc2",
            "-w",
            "workloads/light-tasks.json",
            "--duration",
            "60ms",
            "--task",
            "light0-0",
            "--limit",
            "100",
            "--json",
            "linux-3.9+pack",
        ],
    ),
    (
        "explain-sched-idle.json",
        &[
            "explain",
            "-m",
            "hikey620",
            "-w",
            IDLE,
            "--duration",
            "60ms",
            "--task",
            "worker-0",
            "--limit",
            "100",
            "--json",
            "linux-6.1+sched-idle",
        ],
    ),
    (
        "explain-histogram.json",
        &[
            "explain",
            "-m",
            "juno-r0",
            "-w",
            SMALL,
            "--histogram",
            "--json",
            "linux-5.5+asym-capacity",
        ],
    ),
    ("machine-list.json", &["machine", "list", "--json"]),
    ("machine-show", &["machine", "show", "juno-r0"]),
    ("machine-show.json", &["machine", "show", "gs101", "--json"]),
    (
        "machine-check.json",
        &["machine", "check", "epyc-9654-2s", "--json"],
    ),
    ("policy-list.json", &["policy", "list", "--json"]),
    (
        "policy-show.json",
        &["policy", "show", "linux-6.5+bias-prev", "--json"],
    ),
    ("lint.json", &["lint", PERIODIC, "--json"]),
    ("study-list.json", &["study", "list", "--json"]),
    (
        "study-show.json",
        &["study", "show", "uclamp-spike", "--json"],
    ),
    (
        "study-run.json",
        &["study", "run", "uclamp-spike", "--short", "--json"],
    ),
    ("suite-list.json", &["suite", "list", "--json"]),
    (
        "suite-run.json",
        &[
            "suite",
            "run",
            "-m",
            "juno-r2",
            "SmallTaskPacking",
            "--json",
        ],
    ),
];

const STYLES: [&str; 6] = ["table", "markdown", "csv", "json", "mmtests", "lkp"];

/// What a comparison and a card are asked in each style.
const COMPARE: &[&str] = &[
    "compare",
    "-m",
    "juno-r0",
    "-w",
    SMALL,
    "-w",
    "housekeeping",
    "--runs",
    "3",
    "linux-5.5",
    "linux-5.5+asym-capacity",
    "linux-6.5",
    "linux-7.2",
    "--style",
];
const CARD: &[&str] = &[
    "card",
    "sched-idle",
    "-m",
    "hikey620",
    "-w",
    "mixed",
    "-w",
    "spare-time",
    "--runs",
    "2",
    "--style",
];

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Standard output of a command, which succeeds or ends with a verdict.
fn printed(words: &[&str]) -> Vec<u8> {
    let mut alight = Command::cargo_bin("alight").expect("it is built");
    let output = alight
        .args(words)
        .current_dir(tree())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        matches!(code, Some(0 | 1)) && !output.stdout.is_empty(),
        "{words:?}: {code:?}: {said}"
    );
    output.stdout
}

/// A trace of a run in the format of `ending`.
fn trace(folder: &Path, ending: &str, scheduler: &str) -> Vec<u8> {
    let file = folder.join(format!("trace.{ending}"));
    let path = file.to_str().expect("UTF-8");
    printed(&[
        "simulate",
        "-m",
        "juno-r0",
        "-w",
        SMALL,
        "-w",
        "workloads/frame-pipeline.json",
        "--duration",
        "60ms",
        "--trace",
        path,
        scheduler,
    ]);
    std::fs::read(&file).expect("it is written")
}

fn documents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all: BTreeMap<String, Vec<u8>> = (DOCUMENTS.iter())
        .map(|(name, words)| ((*name).to_owned(), printed(words)))
        .collect();
    for (verb, words) in [("compare", COMPARE), ("card", CARD)] {
        for style in STYLES
            .iter()
            .filter(|style| verb == "compare" || !matches!(**style, "mmtests" | "lkp"))
        {
            let words: Vec<&str> = words.iter().chain([style]).copied().collect();
            all.insert(format!("{verb}.{style}"), printed(&words));
        }
    }
    for base in ["linux-5.5", "linux-7.2"] {
        for ending in ["txt", "pftrace"] {
            all.insert(
                format!("trace-{base}.{ending}"),
                trace(folder, ending, base),
            );
        }
    }
    all
}

/// Lines of the corpus: of each document its length and a digest, then a digest of each member.
fn lines(documents: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let digest = |bytes: &[u8]| format!("{:016x}", xxh3_64(bytes));
    let mut lines = BTreeMap::new();
    for (name, bytes) in documents {
        lines.insert(name.clone(), format!("{} {}", bytes.len(), digest(bytes)));
        if let Ok(Value::Object(members)) = serde_json::from_slice(bytes) {
            for (key, value) in members {
                lines.insert(
                    format!("{name}:{key}"),
                    digest(value.to_string().as_bytes()),
                );
            }
        }
    }
    lines
}

#[test]
fn documents_are_what_they_were() {
    let file = tree().join("tests/golden/documents.txt");
    let folder = tempfile::tempdir().expect("a folder");
    let documents = documents(folder.path());
    let is = lines(&documents);
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    let was: BTreeMap<String, String> = (stored.lines().filter(|line| !line.starts_with('#')))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name.to_owned(), rest.to_owned()))
        .collect();
    let names = was
        .keys()
        .chain(is.keys().filter(|name| !was.contains_key(*name)));
    let moved: Vec<&String> = names
        .filter(|name| was.get(*name) != is.get(*name))
        .collect();
    if moved.is_empty() {
        println!("golden: no document moved");
        return;
    }
    let kept = tree().join("target/golden");
    std::fs::create_dir_all(&kept).expect("a folder");
    let mut said = String::new();
    for name in &moved {
        match (was.get(*name), is.get(*name)) {
            (None, _) => writeln!(said, "{name}: new"),
            (_, None) => writeln!(said, "{name}: gone"),
            _ => writeln!(said, "{name}: moved"),
        }
        .expect("a string");
        if let Some(bytes) = documents.get(*name) {
            std::fs::write(kept.join(name), bytes).expect("written");
        }
    }
    println!("{said}golden: the documents that moved are in target/golden");
    let bless = std::env::var_os("ALIGHT_BLESS").is_some();
    assert!(
        bless,
        "documents moved; if that is meant, `make golden` writes the corpus, and the commit says why:\n{said}"
    );
    let mut text = "# The golden corpus of documents. `make golden` writes this file; see README.md beside it.\n".to_owned();
    for (name, rest) in &is {
        writeln!(text, "{name} {rest}").expect("a string");
    }
    std::fs::write(file, text).expect("written");
}
