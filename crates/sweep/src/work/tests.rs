// SPDX-License-Identifier: GPL-2.0-only

use std::sync::atomic::AtomicU32;

use alight_sim::{Outcome, Scenario};

use super::*;
use crate::synthetic::{noise, of, run, run_until, spare, sweep};

const FILE: &str = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..40\"]\n\
                    objectives.y = \"minimise\"";
const UNTIL: &str = "until = { metric = \"y\", half_width_percent = 1, max_runs = 40 }";

/// Settings of the second and the third cell scatter ever more.
fn truth(scenario: &Scenario<'_>) -> f64 {
    let spare = spare(scenario).unwrap_or(0);
    let scatter = [0.0, 40.0, 60.0][(spare as usize / 16).min(2)];
    1000.0 + f64::from(spare) + scatter * noise(scenario, spare.into())
}

fn simulate(scenario: &Scenario<'_>) -> Result<Outcome, alight_sim::Error> {
    Ok(of(scenario.seed, truth(scenario)))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn a_cell_ends_when_it_is_known() {
    let folder = folder();
    let sweep = sweep(&format!("{FILE}\n{UNTIL}"));
    let store = run(&sweep, &folder.path().join("s"), &truth).expect("a store");
    let ends: Vec<End> = store.ends().expect("ends").into_values().collect();
    let runs: Vec<u32> = ends.iter().map(|end| end.runs).collect();
    assert_eq!(runs, [5, 20, 40]);
    assert_eq!(ends[0].half_width_percent, Some(0.0));
    assert_eq!(
        ends.iter().map(|end| end.known).collect::<Vec<_>>(),
        [Some(true); 3]
    );
    for end in &ends {
        assert!(
            end.half_width_percent.is_some_and(|half| half <= 1.0),
            "{end:?}"
        );
    }
    let work = Work::new(&sweep, store).expect("work");
    let standing = work.standing();
    assert_eq!((standing.complete, standing.spared), (3, 35 * 17 + 20 * 17));
    assert_eq!(standing.runs, standing.most_runs - standing.spared);
}

#[test]
fn results_in_any_order_and_any_batches_give_the_same_store() {
    for more in ["runs = 7", UNTIL] {
        let folder = folder();
        let sweep = sweep(&format!("{FILE}\n{more}"));
        let usual = run(&sweep, &folder.path().join("usual"), &truth).expect("a store");
        let store = Store::open(&folder.path().join("other"), &sweep, "alight sweep x.toml");
        let mut work = Work::new(&sweep, store.expect("a store")).expect("work");
        let mut rounds = 0;
        loop {
            let mut batches = work.next();
            if batches.is_empty() {
                break;
            }
            batches.reverse();
            // Some results do not come home, some twice, and all come as JSON.
            for (index, batch) in batches.into_iter().enumerate() {
                let run = |s: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| simulate(s);
                let result = sweep.run(batch, &run, &AtomicBool::new(false), &|_| ());
                let json = serde_json::to_string(&result.expect("runs")).expect("JSON");
                let result: Done = serde_json::from_str(&json).expect("a result");
                if index % 3 != 1 {
                    work.add(&result).expect("added");
                }
                if index % 5 == 0 {
                    work.add(&result).expect("added again");
                }
            }
            rounds += 1;
            assert!(rounds < 100, "{more}: no end");
        }
        let other = work.into_store().expect("a store");
        assert!(
            usual.csv().expect("a table") == other.csv().expect("a table"),
            "{more}"
        );
        assert_eq!(
            usual.ends().expect("ends"),
            other.ends().expect("ends"),
            "{more}"
        );
    }
}

#[test]
fn what_is_interrupted_goes_on() {
    for more in ["runs = 7", UNTIL] {
        let folder = folder();
        let sweep = sweep(&format!("{FILE}\n{more}"));
        let usual = run(&sweep, &folder.path().join("usual"), &truth).expect("a store");
        let path = folder.path().join("other");
        let mut sessions = 0;
        loop {
            let (cancel, left) = (AtomicBool::new(false), AtomicU32::new(80));
            let truth = |scenario: &Scenario<'_>| {
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    cancel.store(true, Ordering::Relaxed);
                }
                truth(scenario)
            };
            let store = run_until(&sweep, &path, &truth, &cancel).expect("a store");
            sessions += 1;
            assert!(sessions < 100, "{more}: no end");
            if store.ends().expect("ends").len() == 3 {
                assert!(usual.csv().expect("a table") == store.csv().expect("a table"));
                break;
            }
        }
        assert!(sessions > 2, "{more}: {sessions} sessions");
    }
}

/// A COMMIT that fails, by a reference to nothing that is checked no earlier; and an INSERT that
/// fails and ends its transaction, as SQLite does on a full disk. Both when `runs` rows are there.
fn failure(kind: &str, runs: u64) -> String {
    let then = match kind {
        "insert" => "SELECT RAISE(ROLLBACK, 'no room')",
        _ => "INSERT INTO child VALUES (1)",
    };
    format!(
        "PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
         CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER fails AFTER INSERT ON runs
         WHEN (SELECT count(*) FROM runs) = {runs} BEGIN {then}; END;"
    )
}

#[test]
fn a_store_that_fails_loses_no_run_of_a_complete_cell() {
    let folder = folder();
    let more = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..160\"]\nruns = 3\n\
                objectives.y = \"minimise\"";
    let sweep = sweep(more);
    let whole = run(&sweep, &folder.path().join("whole"), &truth).expect("a store");
    let (table, ends) = (whole.csv().expect("a table"), whole.ends().expect("ends"));
    for (kind, at) in ["insert", "commit"]
        .into_iter()
        .flat_map(|kind| [1, 26, 200, 333, 490].map(|at| (kind, at)))
    {
        let path = folder.path().join(format!("{kind}{at}"));
        drop(Store::open(&path, &sweep, "alight sweep x.toml").expect("a store"));
        let store = Store::open(&path, &sweep, "alight sweep x.toml").expect("a store");
        store.execute_for_test(&failure(kind, at));
        let mut work = Work::new(&sweep, store).expect("work");
        let mut refused = 0;
        // Jobs that run when the store fails still add what they have.
        for (index, batch) in work.next().into_iter().enumerate() {
            let run = |s: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| simulate(s);
            let result = sweep.run(batch, &run, &AtomicBool::new(false), &|_| ());
            let added = work.add(&result.expect("runs"));
            let added = added.and_then(|()| match index % 4 {
                0 => work.store.flush(),
                _ => Ok(()),
            });
            refused += u32::from(added.is_err());
        }
        assert!(refused > 0, "{kind} {at}: nothing failed");
        assert!(work.into_store().is_err(), "{kind} {at}: it wrote again");
        let store = Store::read(&path).expect("a store");
        store.execute_for_test("DROP TRIGGER fails; DROP TABLE child; DROP TABLE parent");
        drop(store);
        let store = run(&sweep, &path, &truth).expect("the rest");
        assert!(table == store.csv().expect("a table"), "{kind} {at}");
        assert_eq!(ends, store.ends().expect("ends"), "{kind} {at}");
    }
}

#[test]
fn what_somebody_deleted_is_run_again() {
    let folder = folder();
    let sweep = sweep(&format!("{FILE}\nruns = 3"));
    let whole = run(&sweep, &folder.path().join("whole"), &truth).expect("a store");
    for deleted in [
        "DELETE FROM runs WHERE cell = 1 AND setting = 20 AND seed = 2",
        "DELETE FROM metrics WHERE cell = 1 AND setting = 20 AND seed = 2",
        "DELETE FROM runs WHERE cell = 0",
        "UPDATE runs SET seed = 0 WHERE cell = 2 AND seed = 3; \
         UPDATE metrics SET seed = 0 WHERE cell = 2 AND seed = 3",
    ] {
        let path = folder.path().join("other");
        let store = run(&sweep, &path, &truth).expect("a store");
        store.execute_for_test(deleted);
        let work = Work::new(&sweep, store).expect("work");
        assert_eq!(work.standing().complete, 2, "{deleted}");
        drop(work);
        let store = run(&sweep, &path, &truth).expect("the rest");
        store.execute_for_test(
            "DELETE FROM runs WHERE seed = 0; DELETE FROM metrics WHERE seed = 0; \
                                DELETE FROM steps WHERE seed = 0",
        );
        assert!(
            whole.csv().expect("a table") == store.csv().expect("a table"),
            "{deleted}"
        );
        assert_eq!(store.ends().expect("ends").len(), 3, "{deleted}");
    }
}

#[test]
fn more_runs_are_added_to_those_that_are_there() {
    let folder = folder();
    let path = folder.path().join("s");
    drop(run(&sweep(&format!("{FILE}\nruns = 3")), &path, &truth).expect("a store"));
    let more = sweep(&format!("{FILE}\nruns = 5"));
    let calls = AtomicU32::new(0);
    let counted = |scenario: &Scenario<'_>| {
        calls.fetch_add(1, Ordering::Relaxed);
        truth(scenario)
    };
    let store = run(&more, &path, &counted).expect("a store");
    // One stored run is made again, to see whether the program still gives the same.
    assert_eq!(calls.into_inner(), 2 * (41 + 3) + 1);
    let ends = store.ends().expect("ends");
    assert!(
        ends.values().all(|end| (end.runs, end.most) == (5, 5)),
        "{ends:?}"
    );
}

#[test]
fn a_program_that_gives_other_runs_does_not_go_on() {
    let folder = folder();
    let path = folder.path().join("s");
    drop(run(&sweep(&format!("{FILE}\nruns = 3")), &path, &truth).expect("a store"));
    let other = |scenario: &Scenario<'_>| truth(scenario) + 1.0;
    let more = sweep(&format!("{FILE}\nruns = 5"));
    let error = run(&more, &path, &other)
        .err()
        .expect("refused")
        .to_string();
    assert!(
        error.contains("run 1 of cell 0 is stored with the identity"),
        "{error}"
    );
    let store = Store::read(&path).expect("a store");
    assert_eq!(store.runs().expect("runs"), 3 * (41 + 3));
}

#[test]
fn a_run_that_fails_keeps_what_came_before_it() {
    let folder = folder();
    let path = folder.path().join("s");
    let sweep = sweep(&format!("{FILE}\nruns = 3"));
    let fails = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| match spare(scenario) {
        Some(40) => Err(alight_sim::Error::Invariant {
            time_ns: 7,
            event: 3,
            what: "two tasks run".to_owned(),
        }),
        _ => simulate(scenario),
    };
    let store = Store::open(&path, &sweep, "").expect("a store");
    let work = Work::new(&sweep, store).expect("work");
    let done = work.run(&fails, Spread::QUIET, &AtomicBool::new(false), &|_| ());
    let error = done.err().expect("a failure").to_string();
    assert_eq!(
        error,
        "juno-r0, 'hackbench -g 1 -l 1', linux-6.5+bias-prev:spare=40 at seed 1: invariant broken \
         at 7 ns, event 3: two tasks run"
    );
    let store = Store::read(&path).expect("a store");
    assert_eq!(store.ends().expect("ends").len(), 2);
    assert!(store.refused().expect("cells").is_empty());
}

/// Refuses the setting of 20 from the second seed on: the second of three cells.
fn refuses(scenario: &Scenario<'_>) -> Result<Outcome, alight_sim::Error> {
    match spare(scenario) {
        Some(20) if scenario.seed > 1 => Err(alight_sim::Error::Refused("no such task".to_owned())),
        _ => simulate(scenario),
    }
}

#[test]
fn a_cell_that_cannot_run_is_kept_with_its_reason_and_tried_once() {
    for more in ["runs = 7", UNTIL] {
        let folder = folder();
        let path = folder.path().join("s");
        let sweep = sweep(&format!("{FILE}\n{more}"));
        let calls = AtomicU32::new(0);
        let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
            calls.fetch_add(1, Ordering::Relaxed);
            refuses(scenario)
        };
        let go_on = AtomicBool::new(false);
        let at_last = Mutex::new(Standing::default());
        let all = || {
            let store = Store::open(&path, &sweep, "alight sweep x.toml").expect("a store");
            let work = Work::new(&sweep, store).expect("work");
            let hear = |standing| *at_last.lock().expect("free") = standing;
            let store = work.run(&run, Spread::QUIET, &go_on, &hear);
            store.unwrap_or_else(|error| panic!("{error}"))
        };
        let store = all();
        let refused = store.refused().expect("cells");
        assert_eq!((refused.len(), refused[0].cell), (1, 1), "{refused:?}");
        assert_eq!(
            refused[0].why, "linux-6.5+bias-prev:spare=20 at seed 2: no such task",
            "{more}"
        );
        let ends: Vec<u64> = store.ends().expect("ends").into_keys().collect();
        assert_eq!(ends, [0, 2], "{more}");
        assert!(store.samples_of_cell(1, "y").expect("samples").is_empty());
        let standing = *at_last.lock().expect("free");
        assert_eq!((standing.complete, standing.refused), (2, 1), "{more}");
        assert_eq!(
            standing.runs,
            standing.most_runs - standing.spared,
            "{more}"
        );
        // Nothing is left to be done.
        calls.store(0, Ordering::Relaxed);
        let (table, before) = (store.csv().expect("a table"), refused);
        drop(store);
        let store = all();
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{more}");
        assert!(table == store.csv().expect("a table"), "{more}");
        assert_eq!(store.refused().expect("cells"), before, "{more}");
    }
}

#[test]
fn a_refusal_takes_the_runs_of_its_cell_away_in_any_order() {
    let folder = folder();
    let sweep = sweep(&format!("{FILE}\nruns = 4"));
    let run = |s: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| refuses(s);
    let stored = |name: &str, turned: bool| {
        let store = Store::open(&folder.path().join(name), &sweep, "").expect("a store");
        let mut work = Work::new(&sweep, store).expect("work");
        let mut batches = work.next();
        if turned {
            batches.reverse();
        }
        for batch in batches {
            let done = sweep.run(batch, &run, &AtomicBool::new(false), &|_| ());
            let json = serde_json::to_string(&done.expect("done")).expect("JSON");
            let done: Done = serde_json::from_str(&json).expect("done");
            work.add(&done).expect("added");
        }
        assert!(work.next().is_empty(), "{name}");
        assert_eq!(work.standing().runs, work.standing().most_runs, "{name}");
        let store = work.into_store().expect("a store");
        (
            store.csv().expect("a table"),
            store.refused().expect("cells"),
        )
    };
    assert!(stored("s", false) == stored("t", true));
}

#[test]
fn a_trial_skips_cells_that_cannot_run() {
    let sweep = sweep(&format!("{FILE}\nruns = 3"));
    let refuse = |from: u32| {
        move |s: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| match spare(s) {
            Some(spare) if spare < from => Err(alight_sim::Error::Refused("no task".to_owned())),
            _ => simulate(s),
        }
    };
    let go_on = AtomicBool::new(false);
    assert!(Trial::run(&sweep, &refuse(20), None, &go_on).is_ok());
    let error = Trial::run(&sweep, &refuse(99), None, &go_on).expect_err("none runs");
    let says = "juno-r0, 'hackbench -g 1 -l 1', linux-6.5+bias-prev:spare=0 at seed 1: no task";
    assert_eq!(error.to_string(), says);
}

#[test]
fn a_number_that_no_run_reports_is_named_with_its_neighbours() {
    let folder = folder();
    let sweep = sweep(&format!("{FILE}\nconstraints = [\"event <= 3\"]"));
    let done = run(&sweep, &folder.path().join("s"), &truth);
    let error = done.err().expect("a failure").to_string();
    assert!(
        error.contains("event") && error.contains("events"),
        "{error}"
    );
}

#[test]
fn a_trial_says_how_long_a_sweep_takes() {
    let sweep = sweep(&format!("{FILE}\nruns = 1000000"));
    let run = |s: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| simulate(s);
    let trial = Trial::run(&sweep, &run, None, &AtomicBool::new(false)).expect("a trial");
    let words = trial.in_words(&sweep, "--allow-runs");
    let head = "the sweep has 3 cells: up to 44000000 simulations, about ";
    assert!(words.starts_with(head), "{words}");
    assert!(
        words.ends_with("to run it, add --allow-runs 44000000"),
        "{words}"
    );
}
