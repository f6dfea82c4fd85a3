// SPDX-License-Identifier: GPL-2.0-only
//! Names of others: of any length, with any characters, in files of any encoding, behind symbolic links.
//! Nothing of them makes the program panic, breaks a table, or reaches a terminal as a control character.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use common::alight;
use tempfile::{TempDir, tempdir};

/// One more would be 64 KiB with what stands around it.
const LONG: usize = 65_520;
const STYLES: [&str; 6] = ["table", "markdown", "csv", "json", "mmtests", "lkp"];

/// A machine file in which the states and the cluster that are called so have another name.
fn machine(directory: &TempDir, name: &str) -> String {
    // A string of JSON is one of TOML, but for one character.
    let name = serde_json::to_string(name)
        .unwrap()
        .replace('\u{7f}', "\\u007f");
    let juno = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../machines/juno-r0.toml"
    ));
    let text = juno.expect("built in").replace("\"cluster-sleep\"", &name);
    let text = text.replace("[cluster.little]", &format!("[cluster.{name}]"));
    assert!(text.matches(&name).count() > 1, "the file has these names");
    written(directory, "machine.toml", &text)
}

/// An rt-app file of one task.
fn workload(directory: &TempDir, task: &str) -> String {
    let text = serde_json::json!({
        "tasks": { task: { "loop": 3, "run": 1000, "timer": { "ref": "tick", "period": 5000 } } },
    });
    written(directory, "workload.json", text.to_string())
}

fn written(directory: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = directory.path().join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn run(args: &[&str]) -> Output {
    alight(args).output().expect("it starts")
}

/// What it said, and how it ended.
fn said(args: &[&str]) -> (String, Option<i32>) {
    let output = run(args);
    let both = [output.stdout, output.stderr].concat();
    (
        String::from_utf8(both).expect("UTF-8"),
        output.status.code(),
    )
}

/// All verbs that show names of a machine and of a workload.
fn verbs<'a>(machine: &'a str, workload: &'a str) -> Vec<Vec<&'a str>> {
    let on = ["-m", machine, "-w", workload];
    let of = |verb: &'a str, rest: &[&'a str]| [&[verb], &on[..], rest].concat();
    let mut all: Vec<Vec<&str>> = STYLES
        .iter()
        .map(|style| {
            of(
                "compare",
                &["linux-5.5", "linux-6.5", "--runs=2", "--style", style],
            )
        })
        .collect();
    all.push(of("simulate", &["linux-5.5"]));
    all.push(of("simulate", &["linux-5.5", "--json"]));
    all.push(of("explain", &["linux-5.5", "--histogram"]));
    all.push(vec!["machine", "show", machine]);
    all.push(vec!["machine", "show", machine, "--json"]);
    all.push(vec!["machine", "check", machine]);
    all.push(vec!["lint", workload]);
    all
}

#[test]
fn names_of_any_length_are_shown() {
    let directory = tempdir().unwrap();
    let name = "n".repeat(LONG);
    let (machine, workload) = (machine(&directory, &name), workload(&directory, &name));
    for args in verbs(&machine, &workload) {
        let (said, code) = said(&args);
        assert_eq!(
            code,
            Some(0),
            "{args:?}: {}",
            said.chars().take(400).collect::<String>()
        );
        // Tables for people have short cells; documents and heads have the whole name.
        if args.contains(&"table") || args.contains(&"mmtests") || args.contains(&"lkp") {
            // What is remarked on the file stands beside the report.
            let report = said.lines().filter(|line| !line.starts_with("alight: "));
            let long = report.filter(|line| line.len() > 1000);
            assert_eq!(long.count(), 0, "{args:?}");
            assert!(said.contains("nnn…"), "{args:?}: names are cut");
        }
    }
}

#[test]
fn control_characters_never_reach_a_terminal() {
    let directory = tempdir().unwrap();
    // ESC and CSI that clear the screen, CR, BEL, an override of the direction.
    let name = "a\u{1b}[2J\u{9b}2Jb\rc\u{7}d\u{202e}e";
    let (machine, workload) = (machine(&directory, name), workload(&directory, name));
    let mut all = verbs(&machine, &workload);
    let command = format!("hackbench -g 1 -l {name}");
    let absent = format!("{name}.json");
    all.extend([
        vec!["simulate", "-m", "juno-r0", "-w", &command],
        vec!["simulate", "-m", "juno-r0", "-w", &absent],
        vec!["simulate", "-m", name, "-w", "hackbench"],
        vec!["simulate", "-m", "juno-r0", "-w", "hackbench", name],
        vec![
            "simulate",
            "-m",
            "juno-r0",
            "-w",
            "hackbench",
            "--seed",
            name,
        ],
        vec!["lint", &absent],
        vec!["machine", "show", name],
        vec!["machine", "check", name],
        vec!["policy", "show", name],
        vec!["study", "show", name],
        vec!["suite", "show", name],
        vec![name],
        vec!["simulate", "-m", "juno-r0", "-w", &workload, "--trace", "-"],
    ]);
    for args in all {
        let (said, code) = said(&args);
        assert!(matches!(code, Some(0..=2)), "{args:?}: {said}");
        let bad = said
            .chars()
            .find(|&c| c != '\n' && c != '\t' && (c.is_control() || c == '\u{202e}'));
        assert_eq!(bad, None, "{args:?}: {said:?}");
    }
}

/// A document says what it said: what is written out is what JSON has for it.
#[test]
fn documents_keep_their_meaning() {
    let directory = tempdir().unwrap();
    let name = "a\u{9b}b\u{202e}c\u{7f}";
    let machine = machine(&directory, name);
    let output = run(&["machine", "show", &machine, "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["machine"].to_string().contains(name));
}

#[test]
fn the_encoding_of_a_file_is_named() {
    let directory = tempdir().unwrap();
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let json = r#"{"tasks": {"t": {"loop": 1, "run": 10}}}"#;
    let juno = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../machines/juno-r0.toml"
    ));
    let juno = juno.expect("built in");
    let cases = [
        // rt-app refuses a mark, TOML allows it.
        (
            "mark.json",
            format!("\u{feff}{json}").into_bytes(),
            Err("byte order mark"),
        ),
        (
            "wide.json",
            utf_16(json),
            Err("is UTF-16; save it as UTF-8"),
        ),
        ("mark.toml", format!("\u{feff}{juno}").into_bytes(), Ok(())),
        (
            "wide.toml",
            utf_16(&juno),
            Err("is UTF-16; save it as UTF-8"),
        ),
        (
            "latin.toml",
            b"a = 1\nb = \"\xe4\"\n".to_vec(),
            Err("byte 0xe4 in line 2"),
        ),
        (
            "study-wide.toml",
            utf_16("title = 1"),
            Err("is UTF-16; save it as UTF-8"),
        ),
    ];
    for (name, bytes, expected) in cases {
        let path = written(&directory, name, bytes);
        let verbs: &[&[&str]] = match name {
            name if name.ends_with(".json") => &[&["lint"], &["simulate", "-m", "juno-r0", "-w"]],
            name if name.starts_with("study") => &[&["study", "show"]],
            _ => &[&["machine", "check"]],
        };
        for verb in verbs {
            let (said, code) = said(&[verb, &[path.as_str()][..]].concat());
            match expected {
                Ok(()) => assert_eq!(code, Some(0), "{name}: {said}"),
                Err(words) => {
                    assert_eq!(code, Some(2), "{name}: {said}");
                    assert!(
                        said.contains(words) && said.contains(name),
                        "{name}: {said}"
                    );
                }
            }
        }
    }
}

/// Each option that names a file to write.
#[test]
fn files_are_written_through_symbolic_links() {
    let run = ["-m", "juno-r0", "-w", "hackbench -g 1 -l 1"];
    let trace = [&["simulate"], &run[..], &["--trace"]].concat();
    let suite = ["suite", "run", "OneSmallTask", "-m", "juno-r0", "-o"];
    for (args, ending) in [(&trace[..], "txt"), (&trace, "pftrace"), (&suite, "json")] {
        for exists in [true, false] {
            let directory = tempdir().unwrap();
            let at = |name: &str| directory.path().join(name);
            fs::create_dir(at("elsewhere")).unwrap();
            let (target, link) = (
                format!("elsewhere/target.{ending}"),
                at(&format!("link.{ending}")),
            );
            if exists {
                fs::write(at(&target), "old").unwrap();
            }
            symlink(&target, &link).unwrap();
            let (said, _) = said(&[args, &[link.to_str().unwrap()]].concat());
            let is_link = |path: &Path| fs::symlink_metadata(path).unwrap().is_symlink();
            assert!(is_link(&link), "{args:?}, {exists}: {said}");
            assert!(
                fs::metadata(at(&target)).is_ok_and(|found| found.len() > 100),
                "{args:?}: {said}"
            );
            // Nothing unfinished is left, here or there.
            assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 1);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
        }
    }
}

#[test]
fn of_several_workloads_an_error_names_the_one() {
    let good = "hackbench -g 1 -l 1";
    for (workloads, words) in [
        (&["hackbench --nothing"][..], None),
        (
            &[good, "hackbench --nothing"],
            Some("-w 2 of 2, 'hackbench --nothing': "),
        ),
        (
            &["absent.json", good, good],
            Some("-w 1 of 3, 'absent.json': "),
        ),
    ] {
        let options = workloads.iter().flat_map(|text| ["-w", text]);
        let args: Vec<&str> = ["simulate", "-m", "juno-r0"]
            .into_iter()
            .chain(options)
            .collect();
        let (said, code) = said(&args);
        assert_eq!(code, Some(2), "{said}");
        match words {
            Some(words) => assert!(said.contains(words), "{said}"),
            None => assert!(!said.contains(" of 1"), "{said}"),
        }
    }
}
