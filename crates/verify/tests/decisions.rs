// SPDX-License-Identifier: GPL-2.0-only
//! Decisions of stock kernels, decided again (`tests/data/README.md` says how
//! they were recorded).

use alight_policy::Scheduler;
use alight_recording::{End, Header, Reader, Writer};
use alight_verify::decisions::{self, Cause, DecisionsNotVerified, DecisionsReport};
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

/// Recordings: name, base, and how many decisions each holds at the least.
const RECORDINGS: [(&str, &str, u64); 4] = [
    ("decisions-amd64-6.1.alight", "linux-6.1", 2000),
    ("decisions-amd64-6.18.alight", "linux-6.18", 2000),
    ("decisions-amd64-7.2.alight", "linux-7.2", 2000),
    ("decisions-arm64-6.18.alight", "linux-6.18", 2000),
];

fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn reader(bytes: &[u8]) -> Reader<Cursor<&[u8]>> {
    Reader::new(Cursor::new(bytes)).unwrap()
}

fn verify(name: &str, scheduler: Option<&str>) -> DecisionsReport {
    let scheduler = scheduler.map(|name| Scheduler::parse(name).unwrap());
    let bytes = bytes(name);
    let (report, result) = decisions::verify(&mut reader(&bytes), scheduler.as_ref());
    result.unwrap();
    report
}

#[test]
fn the_core_decides_as_the_kernels_did() {
    for (name, base, least) in RECORDINGS {
        let report = verify(name, None);
        assert_eq!(report.scheduler, base, "{name}");
        assert!(
            report.wakeups >= least,
            "{name}: {} decisions",
            report.wakeups
        );
        assert_eq!(report.lost, 0, "{name}");
        let rules = report.causes.get(&Cause::Rule).copied().unwrap_or(0);
        assert_eq!(rules, 0, "{name}:\n{}", report.text());
        assert!(report.agrees(), "{name}:\n{}", report.text());
    }
}

#[test]
fn what_changed_under_the_kernel_is_equal_to_the_state_at_the_exit() {
    let report = verify("decisions-amd64-7.2.alight", None);
    let causes: Vec<_> = report.causes.iter().map(|(c, n)| (*c, *n)).collect();
    assert_eq!(causes, [(Cause::Exit, 4)], "{}", report.text());
    assert_eq!(report.equal_at_either(), report.wakeups);
    // A recording without the states at the exit cannot tell that.
    let report = verify("decisions-amd64-6.1.alight", None);
    let causes: Vec<_> = report.causes.iter().map(|(c, n)| (*c, *n)).collect();
    assert_eq!(causes, [(Cause::Race, 1)], "{}", report.text());
}

#[test]
fn a_wrong_base_is_rejected() {
    let wrong_bases = [
        (
            "decisions-amd64-6.1.alight",
            ["linux-3.9", "linux-5.5", "linux-7.2"],
        ),
        (
            "decisions-amd64-6.18.alight",
            ["linux-3.9", "linux-5.5", "linux-7.2"],
        ),
        (
            "decisions-amd64-7.2.alight",
            ["linux-3.9", "linux-5.5", "linux-6.1"],
        ),
        (
            "decisions-arm64-6.18.alight",
            ["linux-6.1", "linux-6.5", "linux-7.2"],
        ),
    ];
    for (name, wrong_bases) in wrong_bases {
        for wrong in wrong_bases {
            let report = verify(name, Some(wrong));
            assert!(!report.agrees(), "{name} as {wrong}:\n{}", report.text());
            assert_eq!(report.scheduler, wrong);
        }
    }
}

/// The text of the difference of this number in a recording.
fn explained(name: &str, scheduler: Option<&Scheduler>, number: u64) -> String {
    let explained = decisions::explain(&mut reader(&bytes(name)), scheduler, number);
    explained.expect("there is one").text()
}

#[test]
fn differences_show_both_sides() {
    let bytes = bytes(RECORDINGS[0].0);
    let wrong = Scheduler::parse("linux-3.9").unwrap();
    let text = explained(RECORDINGS[0].0, Some(&wrong), 1);
    for part in [
        "the kernel chose CPU ",
        "waking CPU ",
        "wakee ",
        "the core: target CPU ",
    ] {
        assert!(text.contains(part), "'{part}' is missing in:\n{text}");
    }
    let changed = explained("decisions-amd64-7.2.alight", None, 1);
    assert!(
        changed.contains("the CPUs that changed, after the kernel had chosen"),
        "{changed}"
    );
    let beyond = decisions::explain(&mut reader(&bytes), Some(&wrong), u64::MAX);
    assert!(matches!(beyond, Err(DecisionsNotVerified::NoDifference { found, .. }) if found > 0));
}

#[test]
fn what_was_read_of_a_recording_that_is_cut_short_is_reported() {
    let bytes = bytes(RECORDINGS[0].0);
    let end = bytes.len() - 1;
    let (report, result) = decisions::verify(&mut reader(&bytes[..end]), None);
    assert!(
        matches!(result, Err(DecisionsNotVerified::Recording(_))),
        "{result:?}"
    );
    assert!(report.wakeups > 0 && !report.whole);
}

/// The recording of 7.2 with another header and end.
fn changed(
    header: impl Fn(&mut Header),
    end: End,
) -> (DecisionsReport, Result<(), DecisionsNotVerified>) {
    let bytes = bytes("decisions-amd64-7.2.alight");
    let mut from = reader(&bytes);
    let mut head = from.header().clone();
    header(&mut head);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("recording");
    let mut to = Writer::create(&path, &head, 1).unwrap();
    while let Some(record) = from.next_record().unwrap() {
        to.write(record.kind, record.bytes).unwrap();
    }
    to.finish(end).unwrap();
    let bytes = fs::read(path).unwrap();
    decisions::verify(&mut reader(&bytes), None)
}

#[test]
fn what_the_recorder_lost_is_counted() {
    let end = End {
        lost: [("ring_full".to_owned(), 7)].into(),
        ..End::default()
    };
    let (report, result) = changed(|_| {}, end);
    result.unwrap();
    assert_eq!((report.lost, report.whole), (7, true));
    assert!(report.text().contains(", lost 7"), "{}", report.text());
}

#[test]
fn a_kernel_newer_than_all_bases_is_held_against_the_newest_and_said_so() {
    let gap = "newer than every base: what changed after 7.3 is not modelled";
    for (kernel, base, said) in [
        ("7.3.4", "linux-7.3", false),
        ("7.4.0-rc1", "linux-7.3", true),
        ("8.0.1", "linux-7.3", true),
    ] {
        let (report, result) = changed(|header| header.kernel = kernel.into(), End::default());
        result.unwrap();
        assert_eq!(report.scheduler, base, "{kernel}");
        assert!(report.wakeups > 0, "{kernel}");
        let text = report.text();
        let head = text.lines().nth(1).expect("a second line");
        assert_eq!(head.contains(gap), said, "{text}");
    }
}

#[test]
fn kernels_and_records_that_are_not_known_are_refused() {
    let refused = |header: &dyn Fn(&mut Header)| {
        let (report, result) = changed(header, End::default());
        assert_eq!((report.wakeups, report.whole), (0, false));
        result.unwrap_err().to_string()
    };
    for kernel in ["5.15.0-1-amd64", "mainline"] {
        assert_eq!(
            refused(&|header| header.kernel = kernel.into()),
            format!(
                "was recorded on the kernel '{kernel}'; decisions of 5.10, 6.1 and later can be verified"
            )
        );
    }
    assert_eq!(
        refused(&|header| header.kinds = vec!["pelt.event/1".into()]),
        "holds no decisions: its records are pelt.event/1, expected decision.wakeup/3"
    );
    assert_eq!(
        refused(&|header| header.hz = None),
        "has no length of the tick: the kernel's config was not readable (CONFIG_HZ)"
    );
    // A record of the older form is shorter where CPUs changed.
    let older = refused(&|header| header.kinds = vec!["decision.wakeup/1".into()]);
    assert!(older.starts_with("record 1: a wakeup has "), "{older}");
}
