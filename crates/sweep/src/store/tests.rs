// SPDX-License-Identifier: GPL-2.0-only

use std::fs;
use std::sync::atomic::AtomicBool;

use rusqlite::Connection;

use super::*;
use crate::synthetic::{of, run, spare, sweep};

const FILE: &str = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..40\"]\nruns = 3\n\
                    objectives.y = \"minimise\"";

fn truth(scenario: &alight_sim::Scenario<'_>) -> f64 {
    f64::from(spare(scenario).unwrap_or(500)) + scenario.seed as f64
}

impl Store {
    /// Does to the file what no command does.
    pub(crate) fn execute_for_test(&self, sql: &str) {
        self.connection.execute_batch(sql).expect(sql);
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn refusal<T>(store: Result<T, StoreError>) -> String {
    match store {
        Err(StoreError::Refused { message, .. }) => message,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_store_gives_back_what_was_added() {
    let folder = folder();
    let store = run(&sweep(FILE), &folder.path().join("s"), &truth).expect("a store");
    let data = store.data().expect("data");
    assert_eq!(
        (data.cells.len(), data.settings.len(), data.ends.len()),
        (3, 41 + 3, 3)
    );
    assert_eq!(data.templates[0].factors[0].range, "0..40 step 1");
    assert_eq!(
        data.settings[1].levels["bias-prev:spare"],
        (0, "0".to_owned())
    );
    let samples = store.samples("y").expect("samples");
    assert_eq!(samples[&(0, 0)], [(1, 501.0), (2, 502.0), (3, 503.0)]);
    assert_eq!(samples[&(2, 41)], [(1, 41.0), (2, 42.0), (3, 43.0)]);
    let csv = store.csv().expect("a table");
    let head = "cell,machine,workload,setting,scheduler,template,bias-prev:spare,seed,metric,kind,\
                unit,better,value";
    assert_eq!(csv.lines().next(), Some(head));
    let row = "2,juno-r0,hackbench -g 1 -l 1,41,linux-6.5+bias-prev:spare=40,\
               linux-6.5+bias-prev:spare=*,40,3,y,result,,lower,43";
    assert!(csv.lines().any(|line| line == row), "{csv}");
}

#[test]
fn results_are_the_rows_of_the_table() {
    let folder = folder();
    let store = run(&sweep(FILE), &folder.path().join("s"), &truth).expect("a store");
    let results = store.results().expect("results");
    let csv = store.csv().expect("a table");
    assert_eq!(results.rows.len(), csv.lines().count() - 1);
    let last = results.rows.last().expect("a row");
    let name = &results.metrics[last.metric].name;
    let row = format!("{},{name}", last.seed);
    let printed = csv.lines().last().expect("a row");
    assert!(printed.contains(&row) && printed.ends_with(&format!(",{}", last.value)));
    assert!(
        results
            .rows
            .is_sorted_by_key(|row| (row.cell, row.setting, row.seed, row.metric))
    );
}

#[test]
fn a_store_of_something_else_is_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    drop(run(&sweep(FILE), &path, &truth).expect("a store"));
    for (from, to, message) in [
        ("0..40", "0..41", "is of another sweep: machines, workloads"),
        (
            "\"minimise\"",
            "\"minimise\"\nseed = 2",
            "is of another sweep",
        ),
        (
            "\"minimise\"",
            "\"minimise\"\noptions.duration = \"1s\"",
            "is of another sweep",
        ),
    ] {
        let other = sweep(&FILE.replace(from, to));
        let found = refusal(Store::open(&path, &other, ""));
        assert!(
            found.contains(message) && found.contains("name another file"),
            "{found}"
        );
    }
    // What is asked of the same runs may change, and there may be more of them.
    for (from, to) in [
        (
            "objectives.y = \"minimise\"",
            "objectives.events = \"maximise\"",
        ),
        ("runs = 3", "runs = 4"),
        ("runs = 3", "runs = 3\nconstraints = [\"y <= 3\"]"),
    ] {
        let store = Store::open(&path, &sweep(&FILE.replace(from, to)), "");
        store.unwrap_or_else(|error| panic!("{to}: {error}"));
    }
    let change = |sql: &str| {
        let connection = Connection::open(&path).expect("a database");
        connection.execute_batch(sql).expect(sql);
    };
    change("UPDATE provenance SET hash = '0.0.9' WHERE kind = 'program'");
    let found = refusal(Store::open(&path, &sweep(FILE), ""));
    assert!(
        found.contains("was made by alight 0.0.9, this is alight"),
        "{found}"
    );
    change("UPDATE provenance SET hash = 'x' WHERE kind = 'machine'");
    change("PRAGMA user_version = 9");
    let found = refusal(Store::open(&path, &sweep(FILE), ""));
    assert!(
        found.contains("version 9, this program reads version 1"),
        "{found}"
    );
    assert_eq!(refusal(Store::read(&path)), found);
    change("PRAGMA application_id = 3");
    let found = refusal(Store::read(&path));
    assert!(found.contains("no store of a sweep"), "{found}");
}

#[test]
fn a_number_that_the_stored_runs_lack_is_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    drop(run(&sweep(FILE), &path, &truth).expect("a store"));
    for (more, name) in [
        ("objectives.events_s = \"minimise\"", "events_s"),
        ("constraints = [\"nonsense <= 5\"]", "nonsense"),
        ("constraints = [\"event* <= 5\"]", "event*"),
    ] {
        let other = FILE.replace("objectives", &format!("{more}\nobjectives"));
        let found = refusal(Store::open(&path, &sweep(&other), ""));
        let message = format!("now names the number `{name}`, and the stored runs of juno-r0");
        assert!(found.contains(&message), "{found}");
    }
    // What was refused left no trace, and is refused again.
    let store = Store::read(&path).expect("a store");
    assert!(!store.data().expect("data").facts["constraints"].contains("nonsense"));
}

#[test]
fn a_file_that_is_no_store_is_left_as_it_is() {
    let folder = folder();
    for (name, bytes) in [
        ("text", "schema = 1, and so on ".repeat(300)),
        ("short", "x".into()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).expect("a file");
        let found = refusal(Store::open(&path, &sweep(FILE), ""));
        assert!(found.contains("is no store of a sweep"), "{name}: {found}");
        assert_eq!(
            fs::read_to_string(&path).expect("the file"),
            bytes,
            "{name}"
        );
    }
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("a file");
    assert!(refusal(Store::read(&empty)).contains("no sweep has been stored"));
    Store::open(&empty, &sweep(FILE), "").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_second_who_writes_is_refused_and_a_reader_is_not() {
    let folder = folder();
    let path = folder.path().join("s");
    let sweep = sweep(FILE);
    let first = Store::open(&path, &sweep, "").expect("a store");
    let found = refusal(Store::open(&path, &sweep, ""));
    assert!(found.contains("another process writes it"), "{found}");
    Store::read(&path).expect("a reader").data().expect("data");
    // The refusal left the locks of the first: another process cannot begin to write.
    first.execute_for_test("BEGIN IMMEDIATE");
    assert!(Store::open(&path, &sweep, "").is_err());
    let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=0)\n\
                  try: db.execute('BEGIN IMMEDIATE')\n\
                  except sqlite3.OperationalError: sys.exit(7)";
    let mut other = std::process::Command::new("python3");
    if let Ok(status) = other.args(["-c", script]).arg(&path).status() {
        assert_eq!(status.code(), Some(7), "the lock of the first is gone");
    }
    first.execute_for_test("ROLLBACK");
    drop(first);
    Store::open(&path, &sweep, "").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_full_disk_loses_nothing_that_was_stored() {
    let folder = folder();
    let path = folder.path().join("s");
    let sweep = sweep(FILE);
    let mut store = Store::open(&path, &sweep, "").expect("a store");
    let pages: i64 = (store.connection)
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("pages");
    // A disk with room for some cells.
    (store.connection)
        .pragma_update(None, "max_page_count", pages + 12)
        .expect("a limit");
    let simulate = |scenario: &alight_sim::Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        Ok(of(scenario.seed, truth(scenario)))
    };
    let mut kept = 0;
    let error = (0..sweep.cells()).find_map(|cell| {
        let batch = crate::sweep::Batch {
            cell,
            first_run: 0,
            runs: 3,
        };
        let result = sweep.attempt(batch, &simulate, &AtomicBool::new(false), &|_| ());
        let added = store.add(&sweep, &result.expect("runs"));
        match added.and_then(|()| store.flush()) {
            Ok(()) => {
                kept += 1;
                None
            }
            Err(error) => Some(error.to_string()),
        }
    });
    let error = error.expect("the disk is full");
    assert!(
        error.contains("the disk is full; what was stored before is kept"),
        "{error}"
    );
    drop(store);
    assert!(kept > 0, "nothing was stored before");
    let store = Store::read(&path).expect("a store");
    assert_eq!(store.data().expect("data").cells.len(), kept);
    drop(store);
    // With room again it goes on, and ends as one that was not interrupted.
    let whole = run(&sweep, &path, &truth)
        .expect("the rest")
        .csv()
        .expect("a table");
    let other = run(&sweep, &folder.path().join("t"), &truth).expect("a store");
    assert!(whole == other.csv().expect("a table"));
}

#[test]
fn a_run_that_gives_something_else_than_before_is_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    let sweep = sweep(FILE);
    let mut store = run(&sweep, &path, &truth).expect("a store");
    let batch = crate::sweep::Batch {
        cell: 0,
        first_run: 1,
        runs: 1,
    };
    let again = |store: &mut Store, more: f64| {
        let simulate = |scenario: &alight_sim::Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
            Ok(of(scenario.seed, truth(scenario) + more))
        };
        let result = sweep.attempt(batch, &simulate, &AtomicBool::new(false), &|_| ());
        store.add(&sweep, &result.expect("runs"))
    };
    let csv = store.csv().expect("a table");
    again(&mut store, 0.0).expect("the same again changes nothing");
    let found = refusal(again(&mut store, 1.0));
    assert!(
        found.contains("run 2 of cell 0 is stored with the identity"),
        "{found}"
    );
    assert!(csv == store.csv().expect("a table"));
}

#[test]
fn a_file_that_cannot_be_made_is_the_hosts_failure() {
    let missing = Path::new("/no/such/folder/s");
    match Store::open(missing, &sweep(FILE), "") {
        Err(StoreError::Host { message, .. }) => assert!(message.contains("No such file")),
        _ => panic!("a store in no folder"),
    }
    // Nothing was stored before in what is not there, or only read.
    let error = Store::read(missing).err().expect("no file").to_string();
    assert_eq!(
        error,
        "/no/such/folder/s: No such file or directory (os error 2)"
    );
    let folder = folder();
    for found in [
        Store::read(folder.path()),
        Store::open(folder.path(), &sweep(FILE), ""),
    ] {
        assert!(refusal(found).contains("is a folder; name the file of a store"));
    }
}

#[test]
fn a_store_that_became_read_only_loses_nothing() {
    let folder = folder();
    let path = folder.path().join("s");
    let sweep = sweep(FILE);
    let mut store = run(&sweep, &path, &truth).expect("a store");
    let csv = store.csv().expect("a table");
    (store.connection)
        .pragma_update(None, "query_only", true)
        .expect("no writing");
    let end = End {
        runs: 1,
        most: 1,
        half_width_percent: None,
        known: None,
    };
    let ended = store.end(0, &end).and_then(|()| store.flush());
    let error = ended.err().map(|error| error.to_string()).expect("refused");
    assert!(
        error.contains("read-only; what was stored before is kept"),
        "{error}"
    );
    assert!(csv == store.csv().expect("a table"));
}
