// SPDX-License-Identifier: GPL-2.0-only
//! Recordings of workloads are replayed, and false ones are caught.
//!
//! The recordings are of a stock kernel 7.2 in QEMU, made by `alight record workload`:
//!
//! | file | command |
//! |---|---|
//! | `workload-crowded-one` | rt-app: three timer tasks beside two that always run, one CPU |
//! | `workload-cyclictest-four` | `cyclictest -q -t 4 -i 2000 -D 1`, four CPUs |
//! | `workload-pipes-four` | `hackbench -g 2 -f 5 -l 1000 -p`, four CPUs |
//! | `workload-threads-one` | sysbench threads with yields, one CPU |

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use alight_behaviour::replayed::{self, Standing, Taken, Verdict, model};
use alight_policy::Scheduler;
use alight_recording::Reader;
use alight_recording::workload::{
    Capability, Context, Event, Item, What, WorkloadReader, WorkloadWriter,
};
use alight_replay::Options;
use alight_sim::Scenario;
use alight_workload::Workload;

fn recording(name: &str) -> PathBuf {
    PathBuf::from(format!("tests/recordings/workload-{name}-7.2.alight"))
}

/// The recording with each event changed, or left out.
fn changed(name: &str, to: &Path, mut change: impl FnMut(Event) -> Option<Event>) {
    let reader = Reader::open(&recording(name)).unwrap();
    let mut reader = WorkloadReader::new(reader).unwrap();
    let mut writer = WorkloadWriter::create(to, reader.header().clone(), 1).unwrap();
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            Item::Task(fact) => writer.task(&fact).unwrap(),
            Item::Event(event) => {
                if let Some(event) = change(event) {
                    writer.event(&event).unwrap();
                }
            }
        }
    }
    let end = reader.end().unwrap().clone();
    let told = Capability::listed(&end).unwrap();
    writer.finish(end, &told).unwrap();
}

fn verdict(path: &Path) -> Verdict {
    let taken = Taken::read(path, None, &Options::default()).unwrap();
    let base = taken.own_base().unwrap();
    let own = replayed::check(&taken, &taken, &base, &AtomicBool::new(false)).unwrap();
    Verdict::of(&taken.replay.health, &own, &[])
}

#[test]
fn a_replay_of_timers_is_what_was_recorded() {
    let verdict = verdict(&recording("cyclictest-four"));
    assert_eq!(
        verdict.standing,
        Standing::SelfChecked,
        "{}",
        verdict.line()
    );
    assert!(verdict.line().contains("no recording under another kernel"));
}

#[test]
fn interrupts_that_are_booked_on_the_running_task_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("false.alight");
    changed("crowded-one", &path, |mut event| {
        if let What::Waking {
            current, context, ..
        } = &mut event.what
            && *current != 0
        {
            *context = Some(Context::Task);
        }
        // What interrupted is forgotten, too.
        let interrupt = matches!(
            event.what,
            What::InterruptBegin { .. } | What::InterruptEnd { .. }
        );
        (!interrupt).then_some(event)
    });
    let verdict = verdict(&path);
    assert_eq!(verdict.standing, Standing::NotUsable);
    let why = "timers were taken for the tasks that they interrupted";
    assert!(verdict.line().contains(why), "{}", verdict.line());
}

#[test]
fn wakings_that_were_dropped_because_they_raced_are_missed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("false.alight");
    let mut current = [0; 4];
    changed("pipes-four", &path, |event| {
        match event.what {
            What::Switch { next, .. } => current[usize::from(event.cpu)] = next,
            What::Waking { pid, .. } if current.contains(&pid) => return None,
            _ => {}
        }
        Some(event)
    });
    let verdict = verdict(&path);
    assert_eq!(verdict.standing, Standing::NotUsable);
    let why = "of sleeps end without a waking";
    assert!(verdict.line().contains(why), "{}", verdict.line());
}

#[test]
fn yields_that_were_not_recorded_make_another_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("false.alight");
    changed("threads-one", &path, |event| {
        (!matches!(event.what, What::Yield { .. })).then_some(event)
    });
    let verdict = verdict(&path);
    assert_eq!(verdict.standing, Standing::NotUsable);
    let why = "still_runnable_percent";
    assert!(verdict.line().contains(why), "{}", verdict.line());
}

#[test]
fn a_verdict_is_written_into_the_recording() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.alight");
    std::fs::copy(recording("cyclictest-four"), &path).unwrap();
    assert_eq!(replayed::written(&path).unwrap(), None);
    let found = verdict(&path);
    found.write(&path).unwrap();
    assert_eq!(replayed::written(&path).unwrap(), Some(found));
}

#[test]
fn what_the_model_recorded_is_what_it_replays() {
    let sheet = alight_machine::load("ca9x4").unwrap();
    let scheduler = Scheduler::parse("linux-6.1").unwrap();
    for line in [
        "perf bench sched pipe -l 1000",
        "cyclictest -a -t 4 -q -D 2",
    ] {
        let workload = Workload::from_command_line(line).unwrap().workload;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.alight");
        let scenario = Scenario::new(&sheet.machine, std::slice::from_ref(&workload), &scheduler);
        let cancel = AtomicBool::new(false);
        model::record(&scenario, Some(&sheet.text), &path, &cancel, &|_| ()).unwrap();
        let taken = Taken::read(&path, None, &Options::default()).unwrap();
        assert_eq!(taken.machine, sheet.machine);
        let own = replayed::check(&taken, &taken, &scheduler, &cancel).unwrap();
        let verdict = Verdict::of(&taken.replay.health, &own, &[]);
        assert_eq!(
            verdict.standing,
            Standing::SelfChecked,
            "{line}: {}",
            verdict.line()
        );
    }
}

#[test]
fn tasks_that_are_confined_use_these_cpus_only() {
    let taken = Taken::read(&recording("pipes-four"), None, &Options::default()).unwrap();
    let base = taken.own_base().unwrap();
    for (list, used) in [("0-3", 4), ("1,3", 2), ("2", 1)] {
        let confined = taken.confined(list).unwrap();
        let check = replayed::check(&confined, &taken, &base, &AtomicBool::new(false)).unwrap();
        let busy = (check.quantities.iter())
            .filter(|quantity| quantity.rule.name == "residency_percent_of_cpu")
            .filter_map(|quantity| quantity.model)
            .filter(|runs| runs.to > 0.0)
            .count();
        assert_eq!(busy, used, "{list}");
    }
    for list in ["", "4", "0-4", "x"] {
        assert!(taken.confined(list).is_err(), "{list}");
    }
}
