// SPDX-License-Identifier: GPL-2.0-only
//! Small recordings of stock kernels come out equal, and what is wrong with a
//! recording or a core does not pass.

use alight_recording::{End, Header, Reader, Writer};
use alight_verify::pelt::{PeltNotVerified, PeltReport, rules_of, verify};
use std::collections::BTreeSet;
use std::path::PathBuf;

const KERNELS: [&str; 4] = ["amd64-6.1", "amd64-6.18", "amd64-7.2", "arm64-6.18"];

/// Offsets in a record, `crates/live/src/bpf/record_pelt.h`.
const OP: usize = 0;
const FIRST: usize = 16;
const QUEUE: usize = 24;
const HEAD: usize = 72;
const AVG: usize = 64;
const UTIL_AVG: usize = 48;
const AFTER_UTIL_AVG: usize = HEAD + AVG + UTIL_AVG;
const BEFORE_LOAD_AVG: usize = HEAD + 32;
/// What is still to be subtracted from a queue: entities, and three averages.
const LEFT: usize = HEAD + 2 * AVG;
/// Operations.
const CFS: u32 = 2;
const REMOVE: u32 = 9;
const MIGRATE: u32 = 12;
const RETIME: u32 = 13;
const RELEASE: &str = "6.18.15+deb13-cloud-amd64";

fn recording(kernel: &str) -> Reader<impl std::io::BufRead> {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    Reader::open(&data.join(format!("pelt-{kernel}.alight"))).unwrap()
}

fn records(kernel: &str) -> (Header, Vec<Vec<u8>>) {
    let mut reader = recording(kernel);
    let header = reader.header().clone();
    let mut all = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        all.push(record.bytes.to_vec());
    }
    (header, all)
}

/// A recording of these records, as bytes.
fn written(header: &Header, records: &[Vec<u8>]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("recording");
    let mut writer = Writer::create(&path, header, 1).unwrap();
    for record in records {
        writer.write(0, record).unwrap();
    }
    writer.finish(End::default()).unwrap();
    std::fs::read(path).unwrap()
}

fn replay(header: &Header, records: &[Vec<u8>]) -> (PeltReport, Result<(), PeltNotVerified>) {
    verify(&mut Reader::new(&written(header, records)[..]).unwrap())
}

fn header() -> Header {
    Header {
        kinds: vec!["pelt.event/1".into()],
        kernel: RELEASE.into(),
        build: String::new(),
        arch: "x86_64".into(),
        hz: Some(250),
        clock: String::new(),
        command: String::new(),
        cpus: vec![],
        facts: Default::default(),
    }
}

fn number(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record[at..at + 4].try_into().unwrap())
}

#[test]
fn stock_kernels_come_out_equal() {
    for kernel in KERNELS {
        let (report, whole) = verify(&mut recording(kernel));
        whole.unwrap();
        assert!(report.is_equal(), "{kernel}:\n{}", report.text());
        assert!(report.updates > 1000, "{kernel}: {}", report.updates);
        assert!(report.averages > 300, "{kernel}: {}", report.averages);
        let functions: BTreeSet<_> = report.checks.keys().copied().collect();
        for function in [
            "__update_load_avg_se",
            "__update_load_avg_cfs_rq",
            "__update_load_avg_blocked_se",
            "update_rt_rq_load_avg",
            "attach_entity_load_avg",
            "detach_entity_load_avg",
            "remove_entity_load_avg",
            "util_est_update",
        ] {
            assert!(functions.contains(function), "{kernel}: no {function}");
        }
    }
}

#[test]
fn an_integer_that_is_one_off_is_found() {
    let (header, records) = records("amd64-7.2");
    let mut seen = BTreeSet::new();
    for at in 0..records.len() {
        // Updates and moves; the others have no averages there.
        let op = number(&records[at], OP);
        if op > 8 || !seen.insert(op) {
            continue;
        }
        let mut changed = records.clone();
        changed[at][AFTER_UTIL_AVG] ^= 1;
        let (report, whole) = replay(&header, &changed);
        whole.unwrap();
        assert!(!report.is_equal());
        assert!(report.total().different >= 1, "operation {op}");
        let found = report
            .differences
            .iter()
            .find(|d| d.record == at as u64 + 1)
            .unwrap();
        assert_eq!(found.fields.len(), 1);
        assert_eq!(found.fields[0].0, "util_avg");
        assert_eq!(found.fields[0].1 ^ 1, found.fields[0].2);
    }
    assert!(seen.len() >= 5, "{seen:?}");
}

#[test]
fn the_rules_of_another_kernel_are_rejected() {
    let (header, records) = records("amd64-7.2");
    let kernel = "6.1.0-50-cloud-amd64".to_owned();
    let (report, whole) = replay(&Header { kernel, ..header }, &records);
    whole.unwrap();
    assert!(report.checks["util_est_update"].different > 100);
    assert!(!report.is_equal());
}

#[test]
fn point_releases_differ_in_when_an_estimate_is_made() {
    let (header, _) = records("amd64-7.2");
    for (kernel, early) in [
        ("6.8.12-151-generic", 0),
        ("6.12.118+deb13-amd64", 1),
        ("6.19.14+deb13-cloud-amd64", 1),
        ("7.0.13+deb13-cloud-amd64", 1),
        ("7.0.14", 0),
        ("7.1.4-arch1-1", 1),
        ("7.1.5", 0),
        ("7.2.13+deb14-cloud-amd64", 0),
    ] {
        let kernel = Header {
            kernel: kernel.to_owned(),
            ..header.clone()
        };
        let rules = rules_of(&kernel).unwrap();
        assert_eq!(rules.params.est_early, early, "{}", kernel.kernel);
    }
}

#[test]
fn a_recording_may_begin_anywhere() {
    for kernel in KERNELS {
        let (header, records) = records(kernel);
        for begin in (1..records.len()).step_by(records.len() / 25) {
            let (report, whole) = replay(&header, &records[begin..]);
            whole.unwrap();
            assert!(
                report.is_equal(),
                "{kernel} from record {begin}: {}",
                report.text()
            );
            // What was removed from a queue before it was first seen is not expected later.
            assert!(report.gaps.early <= 1, "{kernel} from record {begin}");
        }
    }
}

/// A CPU removes a task from another's queue, and that CPU subtracts and writes it down first.
#[test]
fn a_removal_may_be_written_down_after_its_subtraction() {
    let (mut late, mut early, mut emptied) = (0, 0, 0);
    for kernel in KERNELS {
        let (header, mut records) = records(kernel);
        let field = |r: &[u8], at| u64::from_le_bytes(r[at..at + 8].try_into().unwrap());
        for at in 0..records.len() {
            let (entity, queue) = (field(&records[at], FIRST), field(&records[at], QUEUE));
            if number(&records[at], OP) != REMOVE || number(&records[at], LEFT) != 1 {
                continue;
            }
            let of_queue = |r: &Vec<u8>| field(r, QUEUE) == queue && number(r, OP) == CFS;
            let Some(length) = records[at + 1..].iter().position(of_queue) else {
                continue;
            };
            // The removal and what moves the task on are the other CPU's; without more of it
            // in between these come to stand behind the subtraction.
            let between = &mut records[at..=at + 1 + length];
            let moves = |r: &Vec<u8>| field(r, FIRST) == entity;
            let others = |r: &&Vec<u8>| {
                let other = field(r, QUEUE) == queue && number(r, OP) == REMOVE;
                let further = ![REMOVE, MIGRATE, RETIME].contains(&number(r, OP));
                other && !moves(r) || moves(r) && further
            };
            if between.iter().any(|r| others(&r)) {
                continue;
            }
            between[0][LEFT..LEFT + 32].fill(0);
            between.sort_by_key(moves);
            let subtraction = between.iter().rfind(|r| of_queue(r)).unwrap();
            emptied += usize::from(field(subtraction, BEFORE_LOAD_AVG) == 0);
            late += 1;
        }
        let (report, whole) = replay(&header, &records);
        whole.unwrap();
        assert!(report.is_equal(), "{kernel}: {}", report.text());
        early += report.gaps.early;
    }
    assert!(early > 0 && emptied > 0, "{early}, {emptied} of {late}");
}

#[test]
fn an_event_that_is_missing_is_found() {
    let (header, mut records) = records("amd64-7.2");
    // The second of two events of one entity that left another state than it found.
    let changes = |r: &[u8]| r[HEAD..HEAD + AVG] != r[HEAD + AVG..HEAD + 2 * AVG];
    let entity = |r: &[u8]| r[FIRST..FIRST + 8].to_vec();
    let at = (1..records.len() - 500)
        .find(|at| {
            let gone = &records[*at];
            number(gone, OP) == 0
                && changes(gone)
                && records[..*at]
                    .iter()
                    .any(|r| entity(r) == entity(gone) && number(r, OP) == 0)
                && records[*at + 1..]
                    .iter()
                    .find(|r| entity(r) == entity(gone) && number(r, OP) < 20)
                    .is_some_and(|next| number(next, OP) == 0)
        })
        .unwrap();
    records.remove(at);
    let (report, whole) = replay(&header, &records);
    whole.unwrap();
    assert!(!report.is_equal());
    assert_eq!(
        report.gaps.unseen.values().sum::<u64>(),
        1,
        "{}",
        report.text()
    );
    assert_eq!(
        report.differences[0].function,
        "before __update_load_avg_se"
    );
    assert!(!report.differences[0].history.is_empty());
}

#[test]
fn a_recording_cut_short_is_used_up_to_there_and_said_so() {
    let (header, records) = records("amd64-6.1");
    let bytes = written(&header, &records);
    let (report, whole) = verify(&mut Reader::new(&bytes[..bytes.len() - 4]).unwrap());
    assert_eq!(report.records, records.len() as u64);
    let text = whole.unwrap_err().to_string();
    assert!(
        text.starts_with(&format!("is cut short after {} records", records.len())),
        "{text}"
    );
}

#[test]
fn a_kernel_newer_than_all_bases_is_held_against_the_newest_and_said_so() {
    for (kernel, said) in [("7.3.4", false), ("7.4.0", true), ("8.0.1", true)] {
        let newer = Header {
            kernel: kernel.into(),
            ..header()
        };
        let (report, result) = replay(&newer, &[]);
        result.unwrap();
        assert_eq!(report.base, "linux-7.3", "{kernel}");
        let text = report.text();
        let gap = "newer than every base: what changed after 7.3 is not modelled";
        assert_eq!(text.lines().nth(1) == Some(gap), said, "{text}");
    }
}

#[test]
fn other_kernels_and_other_recordings_are_refused() {
    let refused = |header: Header| replay(&header, &[]).1.unwrap_err().to_string();
    for kernel in ["5.15.0-1-amd64", "mainline"] {
        assert_eq!(
            refused(Header {
                kernel: kernel.into(),
                ..header()
            }),
            format!(
                "was recorded on the kernel '{kernel}'; load tracking of 5.10, 6.1 and later \
                 can be verified"
            )
        );
    }
    assert_eq!(
        refused(Header {
            kinds: vec!["decision.wakeup/1".into()],
            ..header()
        }),
        "holds no load tracking: its records are decision.wakeup/1, expected pelt.event/1"
    );
}

#[test]
fn what_is_no_event_is_named_with_its_place() {
    let (_, mut records) = records("amd64-6.1");
    records.truncate(3);
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut records = records.clone();
        change(&mut records[2]);
        replay(&header(), &records).1.unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|r| r[OP] = 99),
        "record 3: no operation has the number 99"
    );
    assert_eq!(
        refused(&Vec::clear),
        "record 3: __update_load_avg_se: expected 232 bytes, found 0"
    );
}
