// SPDX-License-Identifier: GPL-2.0-only
//! A call of which the recorder saw one end only is no difference: it is counted,
//! its result is not compared, and the state is taken anew from the next event.
//! Everything else is compared as ever, and a recording with many of those does
//! not pass.
//!
//! The halves are made of whole events of a stock kernel, as the recorder makes
//! them (`crates/live/src/bpf/record_pelt.bpf.c`, `seen_by_half()`, `end_leaving()`).

use alight_recording::{End, Header, Reader, Writer};
use alight_verify::pelt::{PeltReport, verify};
use std::path::PathBuf;

/// Offsets in a record, `crates/live/src/bpf/record_pelt.h`.
const OP: usize = 0;
const FLAGS: usize = 4;
const FIRST: usize = 16;
const RESULT: usize = 60;
const HEAD: usize = 72;
const AVG: usize = 64;
const AFTER: usize = HEAD + AVG;
const AFTER_UTIL_AVG: usize = AFTER + 48;

const TRACED: u32 = 1 << 0;
const NO_BEFORE: u32 = 1 << 3;
const NO_AFTER: u32 = 1 << 6;
const NO_TRACE: u32 = 1 << 7;

const SE: u32 = 0;
const BLOCKED: u32 = 1;
const REMOVE: u32 = 9;
const INIT: u32 = 10;
const RETIME: u32 = 13;
const EST_SE: u32 = 19;

type Record = Vec<u8>;

/// Where all CPUs are equal, a blocked entity that was brought up to date is then
/// removed or moved; on arm64 it is also woken where it was.
const EQUAL: &str = "pelt-amd64-7.2.alight";
const ASYMMETRIC: &str = "pelt-arm64-6.18.alight";

fn records(recording: &str) -> (Header, Vec<Record>) {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut reader = Reader::open(&data.join(recording)).unwrap();
    let header = reader.header().clone();
    let mut all = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        all.push(record.bytes.to_vec());
    }
    (header, all)
}

fn replay(header: &Header, records: &[Record], end: End) -> PeltReport {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("recording");
    let mut writer = Writer::create(&path, header, 1).unwrap();
    for record in records {
        writer.write(0, record).unwrap();
    }
    writer.finish(end).unwrap();
    let (report, whole) = verify(&mut Reader::open(&path).unwrap());
    whole.unwrap();
    report
}

fn number(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record[at..at + 4].try_into().unwrap())
}

fn op(record: &[u8]) -> u32 {
    number(record, OP)
}

fn set(record: &mut [u8], at: usize, value: u32) {
    record[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn entity(record: &[u8]) -> &[u8] {
    &record[FIRST..FIRST + 8]
}

/// An event of the entity itself; the sums of estimates name a task, but are the queue's.
fn is_of_entity(record: &[u8]) -> bool {
    op(record) <= EST_SE
}

/// Where the next event of the same entity is.
fn next(records: &[Record], at: usize) -> Option<usize> {
    (at + 1..records.len()).find(|next| {
        is_of_entity(&records[*next]) && entity(&records[*next]) == entity(&records[at])
    })
}

/// Where the one before is.
fn previous(records: &[Record], at: usize) -> Option<usize> {
    (0..at).rev().find(|before| {
        is_of_entity(&records[*before]) && entity(&records[*before]) == entity(&records[at])
    })
}

/// An event of `wanted` that changes its entity, whose next event is one of `then`.
fn find(records: &[Record], wanted: u32, then: &[u32]) -> usize {
    (0..records.len())
        .find(|at| {
            let record = &records[*at];
            op(record) == wanted
                && (wanted == REMOVE || record[HEAD..AFTER] != record[AFTER..AFTER + AVG])
                && previous(records, *at).is_some()
                && next(records, *at).is_some_and(|next| then.contains(&op(&records[next])))
        })
        .unwrap()
}

/// What is written down of a call that began as this one did, and whose end was passed over.
fn without_end(record: &mut Record) {
    let flags = number(record, FLAGS) | NO_AFTER;
    set(record, FLAGS, flags);
    set(record, RESULT, 0);
    record[AFTER..].fill(0);
}

/// What is written down of a call that ended as this one did, and whose beginning was passed over.
fn without_beginning(record: &mut Record) {
    let flags = number(record, FLAGS) & !TRACED | NO_BEFORE;
    set(record, FLAGS, flags);
    record[HEAD..AFTER].fill(0);
}

/// Equal, complete, and `halves` calls of `function` seen by half.
fn assert_accepted(report: &PeltReport, function: &str, halves: u64) {
    assert!(report.is_equal(), "{}", report.text());
    assert!(report.is_complete(), "{}", report.text());
    assert_eq!(report.seen_by_half.len(), 1, "{}", report.text());
    assert_eq!(report.seen_by_half[function], halves);
    assert!(report.text().contains(&format!(
        "{halves}  calls of which one end was seen, not compared: {function}"
    )));
}

#[test]
fn whole_recordings_have_none() {
    let (header, records) = records(EQUAL);
    let report = replay(&header, &records, End::default());
    assert!(report.is_equal() && report.is_complete());
    assert!(report.seen_by_half.is_empty());
    assert_eq!(report.gaps.taken_anew, 0);
    assert_eq!(report.allowed, 1);
}

#[test]
fn the_state_after_a_call_without_end_is_that_of_the_next_event() {
    let name = "__update_load_avg_blocked_se";
    // The next event holds a state to be compared from, or tells a state only.
    for (recording, then, not_compared) in [
        (ASYMMETRIC, &[SE, BLOCKED][..], 1),
        (EQUAL, &[RETIME, REMOVE], 2),
    ] {
        let (header, mut records) = records(recording);
        let all = replay(&header, &records, End::default());
        let at = find(&records, BLOCKED, then);
        without_end(&mut records[at]);
        let report = replay(&header, &records, End::default());
        assert_accepted(&report, name, 1);
        assert_eq!(report.gaps.taken_anew, 1);
        assert_eq!(report.total().equal, all.total().equal - not_compared);
        assert_eq!(report.checks[name].equal, all.checks[name].equal - 1);
        assert_eq!(report.updates, all.updates - 1);

        // Without the mark it would be compared as if whole.
        let flags = number(&records[at], FLAGS);
        set(&mut records[at], FLAGS, flags & !NO_AFTER);
        let report = replay(&header, &records, End::default());
        assert!(!report.is_equal());
        assert_eq!(report.checks[name].different, 1);
    }
}

#[test]
fn what_comes_after_a_call_without_end_is_compared_again() {
    let (header, mut records) = records(ASYMMETRIC);
    let at = find(&records, BLOCKED, &[SE]);
    let then = next(&records, at).unwrap();
    without_end(&mut records[at]);
    records[then][AFTER_UTIL_AVG] ^= 1;
    let report = replay(&header, &records, End::default());
    assert!(!report.is_equal());
    assert_eq!(report.differences[0].record, then as u64 + 1);
    assert_eq!(report.differences[0].function, "__update_load_avg_se");
}

#[test]
fn a_removal_without_end_is_paid_by_what_is_known_of_its_entity() {
    let (header, mut records) = records(EQUAL);
    let all = replay(&header, &records, End::default());
    // One that has something to remove.
    let at = (0..records.len())
        .find(|at| {
            let record = &records[*at];
            op(record) == REMOVE
                && record[AFTER_UTIL_AVG] > 0
                && previous(&records, *at).is_some_and(|p| op(&records[p]) == BLOCKED)
        })
        .unwrap();
    without_end(&mut records[at]);
    let report = replay(&header, &records, End::default());
    assert_accepted(&report, "remove_entity_load_avg", 1);
    assert_eq!(report.gaps.taken_anew, 0);
    assert_eq!(report.gaps.followed, all.gaps.followed);
    assert_eq!(report.total().equal, all.total().equal - 1);

    // That it was paid: without the event, the queue's subtraction is nobody's.
    records.remove(at);
    let report = replay(&header, &records, End::default());
    assert!(report.gaps.unpaid > 0 || !report.gaps.unseen.is_empty());
}

#[test]
fn a_removal_of_what_is_not_known_makes_its_queue_unknown() {
    let (header, mut records) = records(EQUAL);
    let at = find(&records, BLOCKED, &[REMOVE]);
    let removal = next(&records, at).unwrap();
    without_end(&mut records[at]);
    without_end(&mut records[removal]);
    // Two by half in so few updates are one too many, but no difference.
    let report = replay(&header, &records, End::default());
    assert!(report.is_equal(), "{}", report.text());
    assert_eq!(report.halves(), 2);
    assert_eq!(report.gaps.taken_anew, 2);

    // Or when the recording begins with it.
    let report = replay(&header, &records[removal..], End::default());
    assert_accepted(&report, "remove_entity_load_avg", 1);
    assert_eq!(report.gaps.taken_anew, 2);
}

#[test]
fn a_call_without_beginning_tells_the_state_it_left() {
    let (header, whole) = records(EQUAL);
    for (wanted, name, then) in [
        (BLOCKED, "__update_load_avg_blocked_se", SE),
        (REMOVE, "remove_entity_load_avg", 12),
    ] {
        let mut records = whole.clone();
        let at = find(&records, wanted, &[then, RETIME, INIT]);
        without_beginning(&mut records[at]);
        let report = replay(&header, &records, End::default());
        assert_accepted(&report, name, 1);
        assert_eq!(report.gaps.taken_anew, 0);
    }
}

#[test]
fn a_tracepoint_that_could_not_be_heard_does_not_disagree() {
    let (header, mut records) = records(EQUAL);
    let at = (0..records.len())
        .find(|at| op(&records[*at]) == SE && number(&records[*at], FLAGS) & TRACED != 0)
        .unwrap();
    let flags = number(&records[at], FLAGS) & !TRACED;
    set(&mut records[at], FLAGS, flags | NO_TRACE);
    let report = replay(&header, &records, End::default());
    assert_accepted(&report, "pelt_se_tp", 1);
    set(&mut records[at], FLAGS, flags);
    let report = replay(&header, &records, End::default());
    assert_eq!(report.tracepoint_disagrees, 1);
    assert!(!report.is_equal());
}

#[test]
fn many_are_too_many() {
    let (header, whole) = records(ASYMMETRIC);
    let report = replay(&header, &whole, End::default());
    assert_eq!(report.allowed, 1 + report.updates / 10_000);

    let halves: Vec<_> = (0..whole.len())
        .filter(|at| {
            op(&whole[*at]) == BLOCKED && next(&whole, *at).is_some_and(|n| op(&whole[n]) == SE)
        })
        .take(2)
        .collect();
    let mut records = whole.clone();
    for at in halves {
        without_end(&mut records[at]);
    }
    let report = replay(&header, &records, End::default());
    assert!(report.is_equal() && !report.is_complete());

    // So are events that left no trace, whatever the rest is.
    for (lost, complete) in [(1, true), (2, false)] {
        let end = End {
            lost: [("program_interrupted".to_owned(), lost)].into(),
            ..End::default()
        };
        let report = replay(&header, &whole, end);
        assert!(report.is_equal());
        assert_eq!(report.is_complete(), complete, "{lost} lost");
    }
}
