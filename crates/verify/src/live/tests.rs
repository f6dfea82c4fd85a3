// SPDX-License-Identifier: GPL-2.0-only
//! Logs that are whole, cut short, damaged and hostile.

use super::record::tests::written;
use super::replay::tests::{decided, machine};
use super::*;
use alight_policy::Scheduler;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const DECISIONS: u64 = 600;

/// A root directory in which a kernel says who it is.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("proc/sys/kernel/osrelease", "7.2.13-cloud-amd64\n"),
        ("proc/version", "Linux version 7.2.13-cloud-amd64\n"),
        ("proc/sys/kernel/arch", "x86_64\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

pub(super) fn begin(path: &Path) -> Log {
    let scheduler = Scheduler::parse("linux-5.5+asym-capacity").unwrap();
    let mut log = Log::create(path, root().path(), &scheduler, "scx_alight").unwrap();
    assert_eq!(log.machine(&machine()), None);
    log
}

/// A log of a task that is woken again and again, each time a bit later.
fn log(change: impl Fn(u64, &mut DecisionRecord)) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("live.alight");
    let mut log = begin(&path);
    for n in 0..DECISIONS {
        let mut record = decided();
        record.decision.now += n;
        change(n, &mut record);
        assert_eq!(log.decision(&written(&record)), None);
    }
    log.lost(3);
    let done = log.finish().unwrap();
    let expected = Written {
        decisions: DECISIONS,
        stopped: None,
    };
    assert_eq!(done, expected);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    fs::read(path).unwrap()
}

fn replayed(bytes: &[u8]) -> (LiveReport, Result<(), LiveNotVerified>) {
    verify(&mut Reader::new(bytes).unwrap())
}

#[test]
fn a_whole_log_replays_equal() {
    let (report, whole) = replayed(&log(|_, _| {}));
    whole.unwrap();
    assert!(report.is_equal());
    assert_eq!(
        report.text(),
        "linux-5.5+asym-capacity, kernel 7.2.13-cloud-amd64 x86_64\n       \
         600 asym_fits\n600 decisions replayed, all equal (3 lost)\n"
    );
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["equal"], 600);
    assert_eq!(json["steps"]["asym_fits"], 600);
    assert!(json["difference"].is_null());
}

#[test]
fn the_first_difference_is_shown_with_its_input() {
    let (report, whole) = replayed(&log(|n, record| {
        if n >= 100 {
            record.decision.answer.cpu = 3;
        }
    }));
    whole.unwrap();
    assert!(!report.is_equal());
    assert_eq!(report.equal, 100);
    let text = report.text();
    for expected in [
        "100 decisions replayed, equal\ndecision 100: kernel and host differ",
        "answer: kernel cpu: 3, host cpu: 2,",
        "at 1000100 ns CPU 0 asks, Wake, sync no; allowed: 0,1,2,3",
        "util_avg: 600",
        "CPU 2: Cpu { curr_is_idle: 1",
        "CPU 0 asym_fits: too small (446)",
        "CPU 2 asym_fits: taken (1024)",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["difference"]["decision"], 100);
}

#[test]
fn what_can_be_read_of_a_log_that_was_cut_off_is_replayed() {
    let bytes = log(|_, _| {});
    let (report, whole) = replayed(&bytes[..bytes.len() - 1]);
    assert_eq!(report.equal, DECISIONS);
    assert_eq!(report.lost, None);
    let text = whole.unwrap_err().to_string();
    let length = bytes.len() - 1;
    let expected = format!("is cut short after 601 records, {length} bytes");
    assert!(text.starts_with(&expected), "{text}");
}

#[test]
fn a_scheduler_that_is_loaded_anew_goes_on_in_the_same_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("live.alight");
    let mut log = begin(&path);
    log.decision(&written(&decided()));
    log.machine(&machine());
    log.decision(&written(&decided()));
    log.finish().unwrap();
    let (report, whole) = replayed(&fs::read(path).unwrap());
    whole.unwrap();
    assert_eq!((report.machines, report.equal), (2, 2));
    assert!(report.text().contains("\nloaded 2 times\n"));
}

#[test]
fn logs_of_other_versions_are_refused() {
    let bytes = log(|_, _| {});
    let head = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    let end = head + bytes[head..].iter().position(|&b| b == b'\n').unwrap();
    let header = std::str::from_utf8(&bytes[head..end]).unwrap();
    for (from, to, expected) in [
        ("wake_cap=0 ", "", "'wake_cap' is missing; verify it with"),
        ("\"layouts\":\"", "\"layouts\":\"9", "its structures are 9"),
        (
            "live.decision/1",
            "live.decision/2",
            "is not a log of decisions",
        ),
        ("\"params\"", "\"parameters\"", "has no 'params'"),
    ] {
        assert!(header.contains(from), "{from} is not in {header}");
        let changed = header.replacen(from, to, 1);
        let bytes = [&bytes[..head], changed.as_bytes(), &bytes[end..]].concat();
        let (report, whole) = replayed(&bytes);
        assert_eq!(report.equal, 0);
        let text = whole.unwrap_err().to_string();
        assert!(text.contains(expected), "{expected:?} is not in {text:?}");
    }
}

#[test]
fn a_decision_needs_a_machine() {
    let bytes = log(|_, _| {});
    let mut report = LiveReport::new(Reader::new(&bytes[..]).unwrap().header());
    let error = check(None, &written(&decided()), &mut report).unwrap_err();
    assert_eq!(error, "a decision before the scheduler was loaded");
}

proptest! {
    /// Any byte of a container may be any other: it is refused with its place, or, where the
    /// change means nothing, replays as before.
    #[test]
    fn damaged_logs_are_refused(at in any::<prop::sample::Index>(), bit in 0..8u32) {
        thread_local!(static LOG: Vec<u8> = log(|_, _| {}));
        let mut bytes = LOG.with(Clone::clone);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(mut reader) = Reader::new(&bytes[..]) {
            let (report, whole) = verify(&mut reader);
            if whole.is_ok() && report.is_equal() {
                prop_assert_eq!(report.equal, DECISIONS);
            }
        }
    }

    /// What a container holds may be anything: no number leads the core astray.
    #[test]
    fn hostile_records_are_refused_or_decided(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..4),
        in_machine in any::<bool>(),
    ) {
        let (mut loaded, mut decision) = (machine::write(&machine()), written(&decided()));
        let target = if in_machine { &mut loaded } else { &mut decision };
        for (at, value) in changes {
            let at = at.index(target.len() / 4) * 4;
            target[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let params = Scheduler::parse("linux-5.5+asym-capacity").unwrap().params;
        let _ = replay_one(params, &loaded, &decision);
    }

    #[test]
    fn logs_cut_anywhere_are_refused(at in any::<prop::sample::Index>()) {
        thread_local!(static LOG: Vec<u8> = log(|_, _| {}));
        let bytes = LOG.with(Clone::clone);
        let length = at.index(bytes.len());
        if let Ok(mut reader) = Reader::new(&bytes[..length]) {
            let (report, whole) = verify(&mut reader);
            prop_assert!(whole.is_err());
            prop_assert!(report.is_equal());
        }
    }
}
