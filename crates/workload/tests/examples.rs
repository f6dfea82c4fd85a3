// SPDX-License-Identifier: GPL-2.0-only
//! The examples that come with rt-app (doc/examples, May 2026), in both reading modes: each loads, or
//! is refused for the stated reason. They are not part of this project; without them the test says so.

use alight_workload::{Mode, Severity, Workload};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What becomes of a file.
enum Outcome {
    /// It loads: threads (forked ones included), and warnings.
    Loads(usize, usize),
    /// It is refused: line, and what the message contains.
    Refused(u32, &'static str),
}

use Outcome::{Loads, Refused};

const NO_TASKS: &str = "the key `tasks` is missing";
const LOCK_ORDER: &str =
    "`lock_order` is an array, expected a string; keys that begin with `lock` are events";
const BARE_SUSPEND: &str = "found `,`, expected `:`; write the value of the key `suspend`";

/// File, outcome in the mode workgen, outcome in the mode rtapp.
const TABLE: &[(&str, Outcome, Outcome)] = &[
    ("browser-long.json", Loads(9, 7), Loads(9, 28)),
    ("browser-short.json", Loads(9, 7), Loads(9, 28)),
    (
        "cpufreq_governor_efficiency/calibration.json",
        Loads(1, 0),
        Loads(1, 0),
    ),
    (
        "cpufreq_governor_efficiency/dvfs.json",
        Loads(1, 0),
        Loads(1, 0),
    ),
    ("custom-slice.json", Loads(2, 0), Loads(2, 0)),
    (
        "merge/global.json",
        Refused(1, NO_TASKS),
        Refused(1, NO_TASKS),
    ),
    (
        "merge/resources.json",
        Refused(1, NO_TASKS),
        Refused(1, NO_TASKS),
    ),
    (
        "merge/thread0.json",
        Refused(7, LOCK_ORDER),
        Refused(7, LOCK_ORDER),
    ),
    (
        "merge/thread1.json",
        Refused(7, LOCK_ORDER),
        Refused(7, LOCK_ORDER),
    ),
    (
        "merge/thread2.json",
        Refused(7, LOCK_ORDER),
        Refused(7, LOCK_ORDER),
    ),
    (
        "merge/thread3.json",
        Refused(7, LOCK_ORDER),
        Refused(7, LOCK_ORDER),
    ),
    ("mp3-long.json", Loads(5, 0), Loads(5, 4)),
    ("mp3-short.json", Loads(5, 0), Loads(5, 4)),
    ("spreading-tasks.json", Loads(2, 0), Loads(2, 1)),
    ("template.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example1.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example10.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example11.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example2.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example3.json", Loads(12, 0), Loads(12, 0)),
    ("tutorial/example4.json", Loads(2, 0), Loads(2, 0)),
    ("tutorial/example5.json", Loads(2, 0), Loads(2, 5)),
    ("tutorial/example6.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example7.json", Loads(2, 0), Loads(2, 0)),
    ("tutorial/example8.json", Loads(1, 0), Loads(1, 0)),
    ("tutorial/example9.json", Loads(4, 0), Loads(4, 0)),
    ("video-long.json", Loads(17, 6), Refused(6, BARE_SUSPEND)),
    ("video-short.json", Loads(17, 6), Refused(6, BARE_SUSPEND)),
];

/// `None`, said aloud, if the examples are not there.
fn examples() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let examples = root.join("../shared/rt-app-examples");
    if examples.is_dir() {
        return Some(examples);
    }
    eprintln!("SKIPPED: {} does not exist", examples.display());
    None
}

#[test]
fn each_example_loads_or_is_refused_for_the_stated_reason() {
    let Some(examples) = examples() else { return };
    for (file, workgen, rtapp) in TABLE {
        for (mode, expected) in [(Mode::Workgen, workgen), (Mode::Rtapp, rtapp)] {
            let path = examples.join(file);
            let loaded = Workload::load(&path.display().to_string(), mode);
            let which = format!("{file} as {}", mode.as_str());
            match (loaded, expected) {
                (Ok(loaded), Loads(tasks, warnings)) => {
                    assert_eq!(loaded.workload.check(), Ok(()), "{which}");
                    assert_eq!(loaded.workload.tasks.len(), *tasks, "{which}");
                    let all = loaded.diagnostics.iter();
                    let warned = all.filter(|d| d.severity == Severity::Warning);
                    assert_eq!(warned.count(), *warnings, "{which}");
                }
                (Err(error), Refused(line, reason)) => {
                    let diagnostic = error.to_diagnostic();
                    assert_eq!(diagnostic.line, *line, "{which}: {error}");
                    assert!(diagnostic.message.contains(reason), "{which}: {error}");
                    assert!(error.to_string().contains(file), "{which}: {error}");
                }
                (Ok(_), Refused(..)) => panic!("{which} loads"),
                (Err(error), Loads(..)) => panic!("{which}: {error}"),
            }
        }
    }
}

#[test]
fn the_table_names_every_example() {
    let Some(examples) = examples() else { return };
    let mut found = BTreeSet::new();
    let mut folders = vec![examples.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                let name = path.strip_prefix(&examples).expect("is below");
                found.insert(name.display().to_string());
            }
        }
    }
    let named: BTreeSet<String> = TABLE.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(found, named);
}

#[test]
fn mp3_runs_as_its_author_meant_it_only_with_duplicates_kept() {
    let Some(examples) = examples() else { return };
    let path = examples.join("mp3-short.json").display().to_string();
    let runs_of_audio_out = |mode| {
        let workload = Workload::load(&path, mode).expect("loads").workload;
        let program = &workload.programs[workload.tasks[1].program as usize];
        let run = |op: &alight_workload::program::Op| match op {
            alight_workload::program::Op::Run { ns } => Some(ns / 1000),
            _ => None,
        };
        program.ops.iter().filter_map(run).collect::<Vec<_>>()
    };
    assert_eq!(runs_of_audio_out(Mode::Workgen), [275, 4725]);
    assert_eq!(runs_of_audio_out(Mode::Rtapp), [4725]);
}
