// SPDX-License-Identifier: GPL-2.0-only
//! What the suite asks, and that its answers follow from what was seen.

use alight_compare::{Progress, Spread};
use alight_sim::Scenario;

use super::observe::Slice;
use super::record::record;
use super::*;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn platform(machine: &str) -> Platform {
    Platform::of(&alight_machine::load(machine).unwrap().machine)
}

fn recorded(scenario: &str, machine: &str, base: &str) -> TrialRecord {
    let sheet = alight_machine::load(machine).unwrap();
    let scheduler = alight_policy::Scheduler::parse(base).unwrap();
    let case = Trial {
        entry: find(scenario).unwrap(),
        scenario: Scenario::new(&sheet.machine, &[], &scheduler),
        trust: &sheet.trust(),
    };
    let record = record(&case, &AtomicBool::new(false));
    record.unwrap().expect("nobody cancels")
}

/// As [`recorded`], all of its first run seen otherwise.
fn changed(record: &TrialRecord, change: impl Fn(&mut Seen)) -> TrialRecord {
    let mut record = record.clone();
    change(&mut record.runs[0].seen);
    record
}

fn fails(record: &TrialRecord) -> Vec<&'static str> {
    let verdict = judge(record);
    let wrong = verdict.figures().iter().filter(|figure| !figure.holds);
    wrong.map(|figure| figure.limit.test).collect()
}

#[test]
fn names_are_given_once_and_limits_have_reasons() {
    let entries = entries();
    for (at, entry) in entries.iter().enumerate() {
        let first = entries.iter().position(|other| other.name == entry.name);
        assert_eq!(first, Some(at), "{}", entry.name);
        assert!(!entry.limits.is_empty(), "{}", entry.name);
        assert!(entry.limits.iter().all(|limit| !limit.reason.is_empty()));
    }
    assert_eq!(entries.len(), 27);
}

#[test]
fn a_big_task_does_not_fit_the_second_biggest_class_but_the_biggest() {
    for machine in ["juno-r0", "juno-r2", "sdm845", "rk3588", "gs101"] {
        let classes = platform(machine).asymmetric().unwrap();
        let [below, top] = [classes.len() - 2, classes.len() - 1].map(|at| classes[at].capacity);
        let big = plan::Work::periodic(eas::big_util(&classes), 1000).peak_util();
        assert!(big * 5 > below * 4, "{machine}: {big} of {below}");
        assert!(big * 5 < top * 4, "{machine}: {big} of {top}");
    }
}

#[test]
fn a_little_task_peaks_midway_between_two_clocks_of_a_small_cpu() {
    // Juno's A53: 450 and 575 MHz are the two around half of 850.
    let juno = platform("juno-r0");
    let classes = juno.classes();
    let util = eas::little_util(&juno, &classes[0]).unwrap();
    let peak = plan::Work::periodic(util, 1000).peak_util();
    // The swing is that of a slightly bigger task: the middle is missed by less than 2 %.
    let khz = f64::from(peak) * 1.25 / 446.0 * 850_000.0;
    assert!((khz - 512_500.0).abs() < 10_000.0, "{khz}");
}

#[test]
fn where_a_task_was_and_when_it_was_done_decides_on_energy() {
    let juno = platform("juno-r0");
    let good = recorded("OneSmallTask", "juno-r0", "linux-6.5");
    assert_eq!(judge(&good).word(), "PASS");
    let big = juno.biggest() as u32;
    let on_big = changed(&good, |seen| {
        for slice in &mut seen.tasks[0].slices {
            slice.cpu = big;
        }
    });
    assert_eq!(fails(&on_big), ["task_placement"], "too dear");
    let late = changed(&good, |seen| {
        seen.tasks[0].late = seen.tasks[0].activations / 6
    });
    assert_eq!(fails(&late), ["slack"], "16 % are late");
    let gone = changed(&good, |seen| seen.tasks[0].end = None);
    assert_eq!(judge(&gone).word(), "UNDECIDED", "it never ended");
}

#[test]
fn signals_that_are_off_fail() {
    let good = recorded("PELTTask", "juno-r0", "linux-7.2");
    assert_eq!(judge(&good).word(), "PASS");
    let off = changed(&good, |seen| {
        for sample in &mut seen.tasks[0].samples {
            sample.util += 60;
        }
    });
    assert!(fails(&off).contains(&"util_behaviour"), "{:?}", fails(&off));
    let once = changed(&good, |seen| seen.tasks[0].samples[200].load += 60);
    assert_eq!(fails(&once), ["load_correctness max"]);
}

#[test]
fn an_estimate_below_what_was_used_fails() {
    for base in ["linux-6.5", "linux-7.2"] {
        let good = recorded("UtilConvergence", "juno-r0", base);
        assert_eq!(judge(&good).word(), "PASS", "{base}");
        let low = changed(&good, |seen| {
            for sample in &mut seen.tasks[0].samples {
                (sample.enqueued, sample.ewma) = (sample.enqueued / 2, sample.ewma / 2);
            }
        });
        assert_eq!(fails(&low), ["means", "activations"], "{base}");
    }
}

#[test]
fn utilization_that_stays_behind_fails() {
    let good = recorded("TwoTasksCPUMigration", "juno-r0", "linux-6.5");
    assert_eq!(judge(&good).word(), "PASS");
    let stuck = changed(&good, |seen| {
        for sample in &mut seen.tasks[0].samples {
            sample.queue_util = sample.queue_util * 9 / 10;
        }
    });
    assert_eq!(fails(&stuck), ["util_task_migration"]);
}

/// Two tasks on Juno from 0 on; the big CPU is done at 100 ms.
fn staggered(moves_at_ms: u64) -> TrialRecord {
    const MS: u64 = 1_000_000;
    let mut record = recorded("StaggeredFinishes", "juno-r0", "linux-6.5");
    let slice = |from: u64, to: u64, cpu| Slice {
        from: from * MS,
        to: to * MS,
        cpu,
        sleeps: false,
        next: None,
    };
    let bigger = [1, 2];
    for (at, task) in record.runs[0].seen.tasks.iter_mut().enumerate() {
        task.phases = vec![0, 0, MS];
        let cpu = at as u32;
        (task.slices, task.end) = match bigger.contains(&cpu) {
            true => (vec![slice(0, 100, cpu)], Some(100 * MS)),
            false => (vec![slice(0, 90, cpu)], Some(90 * MS)),
        };
    }
    let task = &mut record.runs[0].seen.tasks[0];
    task.slices = vec![slice(0, moves_at_ms, 0), slice(moves_at_ms, 300, 1)];
    task.end = Some(300 * MS);
    record
}

#[test]
fn a_big_cpu_that_idles_beside_a_busy_small_one_fails_after_one_balancing_interval() {
    // 6 CPUs at 250 Hz: 6 ms, in whole ticks 8.
    assert!(fails(&staggered(108)).is_empty());
    assert_eq!(fails(&staggered(109)), ["throughput"]);
}

#[test]
fn figures_do_not_depend_on_the_number_of_threads() {
    let machine = alight_machine::load("juno-r0").unwrap().machine;
    let scheduler = alight_policy::Scheduler::parse("linux-6.5").unwrap();
    let case = |name| Trial {
        entry: find(name).unwrap(),
        scenario: Scenario {
            seed: 3,
            ..Scenario::new(&machine, &[], &scheduler)
        },
        trust: alight_compare::fake::trust(),
    };
    let cases = ["RampUp", "TwoBigThreeSmall", "PELTTask"].map(case);
    let go_on = AtomicBool::new(false);
    let together = record_all(&cases, Spread::QUIET, &go_on).unwrap();
    let alone = cases
        .iter()
        .map(|case| record(case, &go_on).unwrap().unwrap());
    assert_eq!(together, alone.collect::<Vec<_>>());
}

/// Of what is cancelled, what was complete by then is kept, and nothing half-done.
#[test]
fn a_cancelled_suite_keeps_what_is_complete() {
    let machine = alight_machine::load("juno-r0").unwrap().machine;
    let scheduler = alight_policy::Scheduler::parse("linux-6.5").unwrap();
    let case = Trial {
        entry: find("RampUp").unwrap(),
        scenario: Scenario {
            seed: 3,
            ..Scenario::new(&machine, &[], &scheduler)
        },
        trust: alight_compare::fake::trust(),
    };
    for after in 0..3 {
        let cancel = AtomicBool::new(after == 0);
        let done = AtomicUsize::new(0);
        let how = Spread {
            threads: NonZeroUsize::new(1),
            progress: &|told| {
                if told == Progress::Run && done.fetch_add(1, Ordering::Relaxed) + 1 >= after {
                    cancel.store(true, Ordering::Relaxed);
                }
            },
        };
        let records = record_all(&[case; 4], how, &cancel).unwrap();
        assert_eq!(records.len(), after);
    }
    let cancelled = AtomicBool::new(true);
    assert_eq!(
        record(&case, &cancelled).unwrap(),
        None,
        "half a run is none"
    );
}

#[test]
fn a_saved_run_is_judged_as_it_was() {
    let records = vec![
        recorded("OneSmallTask", "gs101", "linux-7.2"),
        recorded("HotplugRollback", "gs101", "linux-7.2"),
    ];
    let read = record::from_json(&record::to_json(&records)).unwrap();
    assert_eq!(read, records);
}

#[test]
fn damaged_records_are_refused_with_their_place() {
    let good = recorded("OneSmallTask", "juno-r0", "linux-6.5");
    let refused = |record: TrialRecord| {
        let text = record::to_json(&[record]);
        record::from_json(&text).unwrap_err()
    };
    let error = refused(changed(&good, |seen| seen.tasks[0].slices[0].cpu = 99));
    assert!(
        error.starts_with("record 0 (OneSmallTask): small_0 ran on no CPU"),
        "{error}"
    );
    let error = refused(changed(&good, |seen| seen.tasks.clear()));
    assert!(error.contains("1 tasks planned, 0 seen"), "{error}");
    let other = record::to_json(&[]).replace("record/1", "record/9");
    let error = record::from_json(&other).unwrap_err();
    assert!(
        error.contains("'alight.suite-record/9', expected is"),
        "{error}"
    );
}

/// What a verdict rests on stands above it, is saved with the record, and of records of an older
/// version it is said that nobody knows.
#[test]
fn a_verdict_says_what_it_rests_on() {
    let sheet = alight_machine::load("juno-r0").unwrap();
    let hash = format!("{:016x}", sheet.machine.hash());
    for (base, left_out) in [
        ("linux-6.5", None),
        ("linux-3.9", Some("schedutil came with Linux 4.7")),
    ] {
        let record = recorded("RampUp", "juno-r0", base);
        let saved = super::record::from_json(&super::record::to_json(&[record])).unwrap();
        let judged: Vec<_> = (saved.into_iter())
            .map(|record| (record.clone(), judge(&record)))
            .collect();
        let text = report::table(&judged);
        let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let head = format!("rests on juno-r0: machine hash {hash}; costs fitted to");
        assert!(squeezed.starts_with(&head), "{text}");
        assert_eq!(text.contains("left out"), left_out.is_some(), "{text}");
        assert!(squeezed.contains(left_out.unwrap_or_default()), "{text}");
        let json = report::document(&judged);
        assert_eq!(json["machines"][0]["rests_on"]["hash"], hash);
        let said = json["scenarios"][0]["left_out"].to_string();
        assert!(said.contains(left_out.unwrap_or("[]")), "{said}");
    }
    let old = TrialRecord {
        grounds: None,
        ..recorded("RampUp", "juno-r0", "linux-6.5")
    };
    let verdict = judge(&old);
    let text = report::table(&[(old, verdict)]);
    let said = "rests on  juno-r0: unknown: recorded by a version that does not write it\n";
    assert!(text.starts_with(said), "{text}");
}
