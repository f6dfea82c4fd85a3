// SPDX-License-Identifier: GPL-2.0-only
//! Every command in the `console` blocks of README.md and docs/ does what the page says.
//!
//! A line `$ COMMAND` is run by the shell in a folder that holds the tree's `workloads/`,
//! `machines/`,
//! `crates/` and `sweeps/`, one page a folder, in the order of the page. It must succeed, or end
//! with N where the line `[exit code N]` follows. Other lines are what it prints, shortened; where
//! answers are counted (`--histogram`) the page holds all from its first line on. After a change
//! that is meant,
//! `ALIGHT_BLESS=1 cargo test -p alight --test docs` writes those anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use tempfile::tempdir;

/// A command of a page and how it must end.
#[derive(Debug, PartialEq)]
struct Step {
    line: usize,
    command: String,
    code: i32,
    /// Other lines.
    prints: Vec<String>,
}

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![tree().join("README.md")];
    let mut folders = vec![tree().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut inside, mut continued) = (false, false);
    for (index, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        let command = line.strip_prefix("$ ").or(continued.then_some(line));
        match (inside, command, steps.last_mut()) {
            (false, ..) => {}
            (true, Some(more), Some(step)) if continued => {
                step.command.push('\n');
                step.command.push_str(more);
            }
            (true, Some(command), _) => steps.push(Step {
                line: index + 1,
                command: command.to_owned(),
                code: 0,
                prints: vec![],
            }),
            (true, None, None) => {}
            (true, None, Some(step)) => {
                let code = line
                    .strip_prefix("[exit code ")
                    .and_then(|rest| rest.strip_suffix(']'));
                match code {
                    Some(code) => step.code = code.parse().expect("a number"),
                    None => step.prints.push(line.to_owned()),
                }
            }
        }
        continued = inside && command.is_some_and(|command| command.ends_with('\\'));
    }
    steps
}

#[test]
fn console_blocks_are_read_as_commands_with_their_ends() {
    let page = "$ not me\n```console\n$ one \\\n  two\noutput\n$ three\n[exit code 2]\n```\n$ nor me\n```sh\n$ nor me\n```\n";
    let step = |line, command: &str, code, prints: &[&str]| Step {
        line,
        command: command.to_owned(),
        code,
        prints: prints.iter().map(|&line| line.to_owned()).collect(),
    };
    assert_eq!(
        steps(page),
        [
            step(3, "one \\\n  two", 0, &["output"]),
            step(6, "three", 2, &[])
        ]
    );
}

/// Holds what the page says that a command prints against the end of what it does print.
fn prints(page: &Path, step: &Step, printed: &str) {
    let known = step.prints.join("\n") + "\n";
    if printed.ends_with(&known) {
        return;
    }
    assert!(
        std::env::var_os("ALIGHT_BLESS").is_some(),
        "{}: {} prints now\n{printed}\nand not\n{known}",
        page.display(),
        step.command
    );
    let first = format!("\n{}\n", step.prints[0]);
    let from = printed.find(&first).expect("the first line stays") + 1;
    let text = fs::read_to_string(page).unwrap();
    fs::write(page, text.replace(&known, &printed[from..])).unwrap();
}

/// A `PATH` on which `alight` is the program under test.
fn path() -> String {
    let program = Command::cargo_bin("alight")
        .unwrap()
        .get_program()
        .to_owned();
    let folder = Path::new(&program).parent().unwrap().to_owned();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// The tutorial opens with what `make demo` prints, whole or its beginning; the row `again` is the
/// command.
#[test]
fn the_tutorial_opens_with_what_the_demo_prints() {
    const MARK: &str = "<!-- `make demo` prints -->\n```\n";
    let page = tree().join("docs/tutorial.md");
    let text = fs::read_to_string(&page).unwrap();
    let mut parts = text.split(MARK);
    let mut now = parts.next().unwrap().to_owned();
    let mut blocks = 0;
    for part in parts {
        let (known, after) = part.split_once("```\n").expect("the end of the block");
        let (_, again) = known.split_once("again ").expect("the row");
        let (again, _) = again.split_once("\n\n").expect("the end of the head");
        let output = Command::new("bash")
            .args(["-c", again])
            .env("PATH", path())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let whole = known.contains("\n* significant");
        let lines = if whole {
            usize::MAX
        } else {
            known.lines().count()
        };
        let beginning: String = printed.split_inclusive('\n').take(lines).collect();
        assert!(
            beginning == known || std::env::var_os("ALIGHT_BLESS").is_some(),
            "docs/tutorial.md, after {again}:\n{beginning}"
        );
        now += &format!("{MARK}{beginning}```\n{after}");
        blocks += 1;
    }
    assert_eq!(blocks, 2);
    if now != text {
        fs::write(&page, now).unwrap();
    }
}

/// The numbers among the words of a text.
fn numbers(text: &str) -> BTreeSet<&str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(&['[', ']', ',', '%'][..]))
        .filter(|word| word.parse::<f64>().is_ok())
        .collect()
}

/// What came out of a study: its section of the report, and its predictions as tables have them.
struct CameOut {
    section: String,
    /// `+3.8% [+3.2, +5.1]`, with the published change.
    predictions: Vec<(String, String)>,
}

/// By study.
fn came_out() -> BTreeMap<String, CameOut> {
    let page = fs::read_to_string(tree().join("docs/results/studies.md")).unwrap();
    let sections = page.split("\n## ").skip(1);
    let sections = sections.map(|section| section.split_once('\n').expect("a heading"));
    let sections: BTreeMap<&str, &str> = sections.collect();
    let listed = Command::cargo_bin("alight")
        .unwrap()
        .args(["study", "list", "--json"])
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let studies = listed["studies"].as_array().unwrap().iter();
    studies
        .map(|study| {
            let name = study["name"].as_str().unwrap();
            let predictions = study["outcome"]["prediction"].as_array().unwrap().iter();
            let came_out = CameOut {
                section: sections[name].to_owned(),
                predictions: predictions.map(predicted).collect(),
            };
            (name.to_owned(), came_out)
        })
        .collect()
}

fn predicted(one: &Value) -> (String, String) {
    // Zero has a plus.
    let signed = |number: &Value| {
        number
            .as_f64()
            .map(|number| format!("{:+.1}", number + 0.0))
    };
    let percent = |number| signed(number).map(|number| format!("{number}%"));
    let costs = [0, 1].map(|end| signed(&one["costs"][end]).unwrap_or_default());
    (
        format!(
            "{} [{}]",
            percent(&one["percent"]).unwrap(),
            costs.join(", ")
        ),
        percent(&one["published"]).unwrap_or_else(|| "-".to_owned()),
    )
}

/// The prediction in a row of a table is one of the study's. If the next column is of what was published,
/// it is that of the same prediction. All other numbers of the cells are in the section.
fn holds(studies: &BTreeMap<String, CameOut>, name: &str, cells: &str, published: bool) {
    let came_out = studies.get(name);
    let came_out = came_out.unwrap_or_else(|| panic!("the report has no section '{name}'"));
    let stated = |(prediction, change): &(String, String)| match published {
        true => format!(" {prediction} | {change} |"),
        false => format!(" {prediction} |"),
    };
    let stated: Vec<String> = came_out.predictions.iter().map(stated).collect();
    let found = stated.iter().find(|stated| cells.contains(*stated));
    let found = found.unwrap_or_else(|| panic!("{name}: {cells}: not one of {stated:?}"));
    let rest = cells.replace(found, "");
    let known = numbers(&came_out.section);
    let wrong: Vec<_> = numbers(&rest).difference(&known).copied().collect();
    assert!(wrong.is_empty(), "{name}: {wrong:?} are not in the report");
}

/// Each row of the README's results has figures of that study.
#[test]
fn the_readmes_results_are_those_of_the_report() {
    let readme = fs::read_to_string(tree().join("README.md")).unwrap();
    let studies = came_out();
    let mut rows = 0;
    for row in readme.lines() {
        let Some(row) = row.strip_prefix("| `alight study run ") else {
            continue;
        };
        let (name, cells) = row.split_once("` |").expect("the end of the command");
        let (_, cells) = cells.split_once('|').expect("words first");
        assert!(numbers(cells).len() >= 4, "{name}: {cells}");
        holds(&studies, name, cells, false);
        rows += 1;
    }
    assert!(rows >= 6, "only {rows} rows were found");
}

/// The tables of what came out have each study, with its figures.
#[test]
fn the_tables_of_what_came_out_are_those_of_the_report() {
    let page = fs::read_to_string(tree().join("docs/explanation/studying.md")).unwrap();
    let (_, tables) = page.split_once("\n## What came out\n").expect("them");
    let tables = tables.split("\n## ").next().unwrap();
    let studies = came_out();
    let mut found = BTreeSet::new();
    for line in tables.lines() {
        let Some(row) = line.strip_prefix("| `") else {
            continue;
        };
        let (name, cells) = row.split_once("` |").expect("the end of the name");
        // The table of kernel versions has two columns more.
        holds(&studies, name, cells, cells.matches('|').count() == 5);
        found.insert(name);
    }
    assert_eq!(found, studies.keys().map(String::as_str).collect());
}

/// The glossary names every step, in a row of its own.
#[test]
fn the_glossary_has_every_step() {
    let page = fs::read_to_string(tree().join("docs/glossary.md")).unwrap();
    let (_, steps) = page
        .split_once("\n## Steps of the selection\n")
        .expect("the section");
    let steps = steps.split("\n## ").next().unwrap();
    for (name, _) in alight_policy::STEPS {
        let row = format!("\n| `{name}` | ");
        assert!(steps.contains(&row), "the glossary lacks the step '{name}'");
    }
}

/// Runs the commands of a page; returns how many.
fn run_page(page: &Path, path: &str) -> usize {
    let dir = tempdir().unwrap();
    for folder in ["workloads", "machines", "crates", "sweeps"] {
        let target = fs::canonicalize(tree().join(folder)).unwrap();
        symlink(target, dir.path().join(folder)).unwrap();
    }
    let steps = steps(&fs::read_to_string(page).unwrap());
    for step in &steps {
        let output = Command::new("bash")
            .args(["-c", &step.command])
            .current_dir(dir.path())
            .env("PATH", path)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(step.code),
            "{}:{}: {}\n{}",
            page.display(),
            step.line,
            step.command,
            String::from_utf8_lossy(&output.stderr)
        );
        if step.command.contains("--histogram") && !step.prints.is_empty() {
            let printed = String::from_utf8_lossy(&output.stdout);
            prints(page, step, &printed);
        }
    }
    steps.len()
}

#[test]
fn every_command_of_the_docs_ends_as_the_page_says() {
    let (path, pages) = (path(), pages());
    let (next, commands) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            commands.fetch_add(run_page(page, &path), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| _ = scope.spawn(work));
    });
    let commands = commands.into_inner();
    assert!(commands >= 20, "only {commands} commands were found");
}

/// Names of all members of a document, but not those of members that are maps from data.
fn members(value: &Value, into: &mut BTreeSet<String>) {
    const MAPS: [&str; 13] = [
        "comparison",
        "schedulers",
        "steps",
        "instead_of",
        "because",
        "parameters",
        "fitted",
        "machine",
        "checks",
        "unseen",
        "seen_by_half",
        "told_by_tracepoint",
        "not_compared",
    ];
    match value {
        Value::Array(items) => items.iter().for_each(|item| members(item, into)),
        Value::Object(map) => {
            for (name, value) in map {
                into.insert(name.clone());
                match value.as_object() {
                    Some(metrics) if name == "metrics" => {
                        metrics.values().for_each(|metric| members(metric, into));
                    }
                    _ if MAPS.contains(&name.as_str()) => {}
                    _ => members(value, into),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_member_of_every_document_is_described() {
    let page = fs::read_to_string(tree().join("docs/reference/documents.md")).unwrap();
    let dir = tempdir().unwrap();
    let broken = dir.path().join("broken.json");
    fs::write(&broken, "{\"tasks\": {\"t\": {\"sleep\": -5}}}").unwrap();
    let quick = ["-m", "juno-r0", "-w", "hackbench -g 1 -l 2"];
    let recording = tree().join("crates/verify/tests/data/pelt-amd64-6.1.alight");
    let workload =
        tree().join("crates/behaviour/tests/recordings/workload-cyclictest-four-7.2.alight");
    let sweep = tree().join("sweeps/first.toml");
    let store = dir.path().join("first.sqlite");
    let board = tree().join("crates/machine-import/tests/data/board.dts");
    let cases: [Vec<&str>; 23] = [
        [
            &["compare"],
            &quick[..],
            &["linux-5.5", "linux-5.5+asym-capacity", "--runs", "2"],
        ]
        .concat(),
        vec!["card", "bias-prev", "-w", "light", "--quick"],
        [&["simulate"], &quick[..]].concat(),
        [&["explain"], &quick[..], &["--task", "hackbench"]].concat(),
        [&["explain"], &quick[..], &["--histogram"]].concat(),
        vec!["policy", "list"],
        vec!["policy", "show", "asym-capacity"],
        vec!["policy", "show", "linux-5.5+asym-capacity"],
        vec!["machine", "list"],
        vec!["machine", "show", "juno-r0"],
        vec!["machine", "check", "juno-r0"],
        vec!["machine", "capture"],
        vec!["machine", "import", board.to_str().unwrap()],
        vec!["lint", broken.to_str().unwrap()],
        vec!["verify", "pelt", recording.to_str().unwrap()],
        vec![
            "verify",
            "workload",
            "--no-write",
            workload.to_str().unwrap(),
        ],
        vec![
            "sweep",
            sweep.to_str().unwrap(),
            "--store",
            store.to_str().unwrap(),
        ],
        vec!["suite", "list"],
        vec!["suite", "show", "OneSmallTask"],
        vec!["suite", "run", "OneSmallTask"],
        vec!["study", "list"],
        vec!["study", "show", "uclamp-spike"],
        vec!["study", "run", "uclamp-spike", "--short", "--sensitivity"],
    ];
    for args in cases {
        let output = Command::cargo_bin("alight")
            .unwrap()
            .args(&args)
            .arg("--json")
            .output()
            .unwrap();
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}"));
        let schema = document["schema"].as_str().expect("a schema is named");
        let heading = format!("## {schema}\n");
        let start = page
            .find(&heading)
            .unwrap_or_else(|| panic!("no section '{heading}'"));
        let section_at = |start: usize| page[start..].split("\n## ").next().unwrap();
        let mut section = section_at(start + heading.len()).to_owned();
        // What several documents have has a section of its own.
        if section.contains("`rests_on`") {
            let shared = "## What an answer rests on\n";
            let start = page.find(shared).expect("the shared section") + shared.len();
            section += section_at(start);
        }
        let mut names = BTreeSet::new();
        members(&document, &mut names);
        for name in names {
            assert!(
                section.contains(&format!("`{name}`")) || section.contains(&format!(".{name}`")),
                "{schema}: member `{name}` is not described"
            );
        }
    }
}
