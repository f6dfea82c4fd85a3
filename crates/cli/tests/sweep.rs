// SPDX-License-Identifier: GPL-2.0-only
//! `alight sweep`: what is interrupted, killed or refused loses nothing that was stored.

#[path = "common/interrupt.rs"]
mod interrupt;

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use common::alight;
use predicates::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::{TempDir, tempdir};

/// Two cells of 4 settings, which take some seconds.
const FILE: &str = "schema = \"alight.sweep/1\"
machines = [\"juno-r0\", \"rk3588\"]
workloads = [\"hackbench -g 1 -f 5 -l 50\"]
base = \"linux-6.5\"
schedulers = [\"bias-prev:spare=0..512 step 256\"]
runs = 16
objectives = { elapsed_s = \"minimise\", energy_j = \"minimise\" }
";

/// The same with so many runs that it still runs when its first ones are in the store, where they
/// come after a quarter of a second.
const LONG_RUNS: usize = 2 * 4 * 200;

fn long_file() -> String {
    FILE.replace("runs = 16", "runs = 200")
}

fn folder(file: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("x.toml"), file).unwrap();
    folder
}

/// `alight sweep x.toml --store NAME` in the folder, with standard output to nobody.
fn started(folder: &Path, store: &str) -> Child {
    Command::cargo_bin("alight")
        .expect("the program is built with its tests")
        .args(["sweep", "x.toml", "--store", store])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the sweep prints, without the rows that name the store.
fn swept(folder: &Path, store: &str) -> String {
    let output = alight(&["sweep", "x.toml", "--store", store])
        .current_dir(folder)
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("again"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every row of every table, but for the command that names the store.
fn dump(store: &Path) -> String {
    let connection = Connection::open(store).unwrap();
    let names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut statement = connection.prepare(names).unwrap();
    let names = statement
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap();
    let mut text = String::new();
    for name in names.map(Result::unwrap) {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {name}"))
            .unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..columns)
                .map(|column| row.get::<_, Value>(column))
                .collect::<Result<Vec<_>, _>>()
        });
        for row in rows.unwrap().map(Result::unwrap) {
            if row.first() != Some(&Value::Text("command".to_owned())) {
                text += &format!("{name} {row:?}\n");
            }
        }
    }
    text
}

fn rows(store: &Path) -> usize {
    dump(store)
        .lines()
        .filter(|line| line.starts_with("runs "))
        .count()
}

#[test]
fn killed_twenty_times_it_ends_as_one_that_was_not() {
    let folder = folder(FILE);
    let whole = swept(folder.path(), "whole");
    let expected = dump(&folder.path().join("whole"));
    let mut killed = 0;
    let mut state: u64 = 37;
    for store in 0.. {
        let name = format!("killed{store}");
        // One that comes to its end before it is killed is compared, and another begins.
        while killed < 20 {
            let mut child = started(folder.path(), &name);
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            std::thread::sleep(Duration::from_millis(5 + (state >> 33) % 100));
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                break;
            }
            killed += 1;
        }
        assert_eq!(swept(folder.path(), &name), whole, "{name}");
        assert!(dump(&folder.path().join(&name)) == expected, "{name}");
        if killed == 20 {
            break;
        }
    }
}

/// Returns when a run is stored; the others take longer than that one.
fn wait_for_runs(store: &Path) {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let found = || {
        let connection = Connection::open_with_flags(store, flags)?;
        connection.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0))
    };
    let begun = std::time::Instant::now();
    while found().unwrap_or(0) == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "no run was stored"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn interrupted_it_says_how_to_go_on() {
    let folder = folder(&long_file());
    let file = folder.path().join("x.toml");
    let store = folder.path().join("x.sqlite");
    let output =
        interrupt::interrupted_after(&["sweep", file.to_str().unwrap(), "--jobs", "1"], || {
            wait_for_runs(&store)
        });
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("of 2 cells are complete, stored in"),
        "{message}"
    );
    assert!(
        message.contains("the same command goes on from there"),
        "{message}"
    );
    let kept = rows(&folder.path().join("x.sqlite"));
    assert!(kept < LONG_RUNS, "it was not interrupted");
    swept(folder.path(), "x.sqlite");
    assert_eq!(rows(&folder.path().join("x.sqlite")), LONG_RUNS);
}

#[test]
fn a_full_disk_ends_it_with_a_message() {
    let folder = folder(&long_file());
    let program = Command::cargo_bin("alight")
        .unwrap()
        .get_program()
        .to_owned();
    let (file, store) = (folder.path().join("x.toml"), folder.path().join("x.sqlite"));
    interrupt::interrupted_after(&["sweep", file.to_str().unwrap(), "--jobs", "1"], || {
        wait_for_runs(&store)
    });
    let before = rows(&store);
    // Files may grow to a few KiB more than that.
    let limit = fs::metadata(&store).unwrap().len() / 1024 + 8;
    let command = format!("ulimit -f {limit}; exec \"$0\" sweep x.toml");
    let output = Command::new("bash")
        .args(["-c", &command])
        .arg(program)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("what was stored before is kept"),
        "{message}"
    );
    assert!(
        message.contains("the same command goes on from there"),
        "{message}"
    );
    let kept = rows(&folder.path().join("x.sqlite"));
    assert!(
        (before..LONG_RUNS).contains(&kept),
        "{kept} runs, {before} before"
    );
    swept(folder.path(), "x.sqlite");
    swept(folder.path(), "whole");
    assert!(dump(&folder.path().join("x.sqlite")) == dump(&folder.path().join("whole")));
}

#[test]
fn of_two_processes_the_second_is_refused() {
    let folder = folder(&FILE.replace("runs = 16", "runs = 2000"));
    let mut first = started(folder.path(), "s");
    while !folder.path().join("s").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = alight(&["sweep", "x.toml", "--store", "s"])
        .current_dir(folder.path())
        .timeout(Duration::from_secs(60))
        .assert();
    first.kill().unwrap();
    first.wait().unwrap();
    second
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("s: another process writes it"));
}

#[test]
fn the_answer_is_shown_again_and_exported() {
    let folder = folder(&FILE.replace("runs = 16", "runs = 2"));
    let printed = swept(folder.path(), "s");
    let show = |more: &[&str]| {
        let args = [&["sweep", "show", "s"], more].concat();
        let output = alight(&args).current_dir(folder.path()).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let again = show(&[]);
    assert!(printed.lines().all(|line| again.contains(line)), "{again}");
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    assert_eq!(json["places"].as_array().map(Vec::len), Some(2));
    let export = |more: &[&str]| {
        let args = [&["sweep", "export", "s", "--csv"], more].concat();
        let output = alight(&args).current_dir(folder.path()).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let csv = export(&[]);
    assert_eq!(export(&["s.csv"]), "");
    assert_eq!(
        fs::read_to_string(folder.path().join("s.csv")).unwrap(),
        csv
    );
    let elapsed = csv
        .lines()
        .filter(|line| line.contains(",elapsed_s,result,s,lower,"));
    assert_eq!(elapsed.count(), 2 * 4 * 2);
}

#[test]
fn bad_input_is_named() {
    let many = "schedulers = [\"bias-prev:spare=0..999\"]\n[[factor]]\n\
                machine = \"memory.working_set_kib\"\nvalues = \"1..160000\"";
    for (from, to, says) in [
        (
            "..512 step 256",
            "..-3",
            vec!["x.toml:5:15: ", "is no range"],
        ),
        (
            "0..512 step 256",
            "512..0",
            vec!["the range `512..0` is empty"],
        ),
        ("spare", "spar", vec!["x.toml:5:15: ", "spare"]),
        (
            "elapsed_s =",
            "elapsd_s =",
            vec!["juno-r0, 'hackbench -g 1 -f 5 -l 50'", "elapsed_s"],
        ),
        (
            "runs = 16",
            "[[factor]]\nmachine = \"memory.llc_ns\"\ntimes = [1, 2]\n[x]",
            vec!["unknown key `x`"],
        ),
        (
            "objectives",
            "design = \"sobol\"\nobjectives",
            vec![
                "the design `sobol` needs factors that are numbers",
                "`pack:mode` takes none|full",
            ],
        ),
        ("\"juno-r0\"", "\"juno-r9\"", vec!["juno-r9", "juno-r0"]),
        (
            "schedulers = [\"bias-prev:spare=0..512 step 256\"]",
            many,
            vec![
                "the sweep has 20160000 cells: up to 3401600000 simulations, about ",
                "to run it, add --allow-runs 3401600000",
            ],
        ),
    ] {
        let mut file = FILE.replace(from, to);
        if to.contains("sobol") {
            file = file.replace("bias-prev:spare=0..512 step 256", "pack:mode=none|full");
        }
        let objectives = "objectives = { elapsed_s = \"minimise\", energy_j = \"minimise\" }\n";
        if to.contains("[[factor]]") && file.contains(objectives) {
            // Keys of the top stand before the first table.
            file = file.replace(objectives, "").replace("runs = 16\n", "");
            file = format!("{objectives}{file}");
        }
        let folder = folder(&file);
        let mut assert = alight(&["sweep", "x.toml"])
            .current_dir(folder.path())
            .assert()
            .code(2)
            .stdout("");
        for text in says {
            assert = assert.stderr(predicate::str::contains(text));
        }
    }
}

#[test]
fn a_store_that_cannot_be_is_refused() {
    let folder = folder(&FILE.replace("runs = 16", "runs = 1"));
    let sweep = |store: &str| {
        let mut command = alight(&["sweep", "x.toml", "--store", store]);
        command.current_dir(folder.path());
        command.assert()
    };
    sweep("/no/such/folder/s")
        .code(1)
        .stderr(predicate::str::contains("No such file"));
    sweep("/proc/s").code(1);
    sweep("x.toml")
        .code(2)
        .stderr(predicate::str::contains("is no store of a sweep"));
    assert!(
        fs::read_to_string(folder.path().join("x.toml"))
            .unwrap()
            .starts_with("schema")
    );
    sweep("s").success();
    let other = FILE
        .replace("0..512 step 256", "0..512 step 512")
        .replace("runs = 16", "runs = 1");
    fs::write(folder.path().join("x.toml"), other).unwrap();
    sweep("s")
        .code(2)
        .stderr(predicate::str::contains("s: is of another sweep"));
    for args in [["sweep", "show", "x.toml"], ["sweep", "show", "none"]] {
        let code = if args[2] == "none" { 1 } else { 2 };
        alight(&args)
            .current_dir(folder.path())
            .assert()
            .code(code)
            .stdout("");
    }
}

#[test]
fn a_cell_that_cannot_run_is_named_and_costs_no_other() {
    let folder = folder(
        &FILE
            .replace("-l 50\"", "-l 5\", \"stuck.json\"")
            .replace("elapsed_s = \"minimise\", ", "")
            .replace("runs = 16", "runs = 2"),
    );
    // Nobody resumes the task.
    let stuck = r#"{"tasks": {"one": {"loop": 1, "run": 100, "suspend": "one"}}}"#;
    fs::write(folder.path().join("stuck.json"), stuck).unwrap();
    let run = |args: &[&str]| {
        let output = alight(args).current_dir(folder.path()).assert();
        let output = output.get_output();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, printed, message) = run(&["sweep", "x.toml", "--store", "s"]);
    assert_eq!(code, Some(3), "{message}");
    let says = "2 of 4 cells cannot run; the others are complete";
    assert!(message.contains(says), "{message}");
    assert!(
        printed.contains("2 of 4 are complete, 2 cannot run"),
        "{printed}"
    );
    assert!(
        printed.contains("cell 1 cannot run: linux-6.5 at seed 1: "),
        "{printed}"
    );
    assert!(printed.contains("best energy_j"), "{printed}");
    let stored = dump(&folder.path().join("s"));
    assert_eq!(
        stored
            .lines()
            .filter(|line| line.starts_with("refused "))
            .count(),
        2
    );
    // They are not tried again, and the answer is the same.
    let again = run(&["sweep", "x.toml", "--store", "s"]);
    assert_eq!(again, (code, printed.clone(), message));
    assert!(dump(&folder.path().join("s")) == stored);
    let (code, shown, _) = run(&["sweep", "show", "s"]);
    assert_eq!((code, shown), (Some(0), printed));
    let (code, table, message) = run(&["sweep", "export", "s", "--csv"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("cells without rows: 2, which cannot run"),
        "{message}"
    );
    assert!(!table.contains("stuck.json") && table.contains("hackbench"));
}
