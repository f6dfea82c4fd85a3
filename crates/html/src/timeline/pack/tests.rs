// SPDX-License-Identifier: GPL-2.0-only
//! What is packed can be unpacked: held by an unpacker that follows the table above the packer, as
//! the script does.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::columns::tests::Reader;
use crate::timeline::{Column, NONE};

/// The counts of CPUs, and their sum.
fn sizes(reader: &mut Reader, cpus: usize) -> (Vec<u64>, usize) {
    let counts: Vec<u64> = reader.column(cpus).collect();
    let sum = counts.iter().sum::<u64>() as usize;
    (counts, sum)
}

fn unfolded(from: u64, code: u64) -> u64 {
    from.wrapping_add((code >> 1) ^ (code & 1).wrapping_neg())
}

fn unpacked_lanes(reader: &mut Reader, cpus: usize, end_ns: u64) -> Vec<Lane> {
    let mut lanes = vec![Lane::default(); cpus];
    let (counts, all) = sizes(reader, cpus);
    let (mut gaps, mut lengths) = (reader.column(all), reader.column(all));
    let mut tasks = reader.column(all);
    for (lane, count) in lanes.iter_mut().zip(counts) {
        let mut last = 0;
        for _ in 0..count {
            let start_ns = unfolded(last, gaps.next().unwrap());
            last = unfolded(start_ns, lengths.next().unwrap());
            let task = tasks.next().unwrap() as u32;
            lane.slices.push(Slice {
                start_ns,
                end_ns: last,
                task,
            });
        }
    }
    let (counts, all) = sizes(reader, cpus);
    let (mut skipped, mut after) = (reader.column(all), reader.column(all));
    let (mut before, mut states) = (reader.column(all), reader.column(all));
    for (lane, count) in lanes.iter_mut().zip(counts) {
        let mut next = 0;
        for _ in 0..count {
            next = unfolded(next, skipped.next().unwrap());
            let slices = &lane.slices;
            let last = (next as usize)
                .checked_sub(1)
                .map_or(0, |last| slices[last].end_ns);
            let behind = slices
                .get(next as usize)
                .map_or(end_ns, |slice| slice.start_ns);
            let folded = before.next().unwrap();
            lane.idle.push(Idle {
                start_ns: unfolded(last, after.next().unwrap()),
                end_ns: behind.wrapping_sub(unfolded(0, folded)),
                state: states.next().unwrap() as u32,
            });
        }
    }
    let (counts, all) = sizes(reader, cpus);
    let (mut times, mut khz) = (reader.column(all), reader.column(all));
    for (lane, count) in lanes.iter_mut().zip(counts) {
        let mut at_ns = 0;
        for _ in 0..count {
            at_ns = unfolded(at_ns, times.next().unwrap());
            lane.clocks.push(Clock {
                at_ns,
                khz: khz.next().unwrap() as u32,
            });
        }
    }
    lanes
}

fn unpacked_marks(reader: &mut Reader, lanes: &[Lane], values: usize) -> Vec<Mark> {
    let (counts, all) = sizes(reader, lanes.len());
    let links: Vec<u64> = reader.column(all).collect();
    let mut delays = reader.column(all);
    let alone = links.iter().filter(|link| **link == 0).count();
    let (mut links, mut tasks) = (links.into_iter(), reader.column(alone));
    let mut marks = vec![];
    for (cpu, count) in counts.into_iter().enumerate() {
        let (mut expected, mut last) = (0, 0);
        for _ in 0..count {
            let delay = delays.next().unwrap();
            let task = match links.next().unwrap() {
                0 => {
                    last = unfolded(last, delay);
                    tasks.next().unwrap() as u32
                }
                link => {
                    let place = unfolded(expected, link - 1);
                    let slice = lanes[cpu].slices[place as usize];
                    expected = place + 1;
                    last = slice.start_ns - delay;
                    slice.task
                }
            };
            marks.push(Mark {
                at_ns: last,
                cpu: cpu as u32,
                task,
                values: vec![],
            });
        }
    }
    for _ in 0..values {
        let column = reader.column(all);
        for (mark, value) in marks.iter_mut().zip(column) {
            mark.values.push((value as u32).wrapping_sub(1));
        }
    }
    marks
}

fn unpacked(text: &str, timeline: &Timeline) -> Vec<Run> {
    let mut reader = Reader::new(text);
    let one = |run: &Run| {
        let cpus = unpacked_lanes(&mut reader, timeline.cpus.len(), run.end_ns);
        let marks = unpacked_marks(&mut reader, &cpus, timeline.columns.len());
        Run {
            name: run.name.clone(),
            end_ns: run.end_ns,
            cpus,
            marks,
        }
    };
    let runs = timeline.runs.iter().map(one).collect();
    assert!(reader.is_at_end());
    runs
}

/// Times that rise, two for each period.
fn rising(periods: usize) -> impl Strategy<Value = Vec<[u64; 2]>> {
    let length = prop_oneof![0_u64..5, 0_u64..1 << 40];
    let steps = vec((0_u64..5, length), 0..periods);
    steps.prop_map(|steps| {
        let mut now = 0;
        let mut later = |step| {
            now += step;
            now
        };
        (steps.into_iter())
            .map(|(gap, length)| [later(gap), later(length)])
            .collect()
    })
}

fn lane() -> impl Strategy<Value = Lane> {
    let kinds = vec(0_u32..4, 12);
    (rising(12), rising(6), rising(4), kinds).prop_map(|(slices, idle, clocks, kinds)| {
        let kind = |at: usize| kinds[at % kinds.len()];
        Lane {
            slices: (slices.into_iter().enumerate())
                .map(|(at, [start_ns, end_ns])| Slice {
                    start_ns,
                    end_ns,
                    task: kind(at),
                })
                .collect(),
            idle: (idle.into_iter().enumerate())
                .map(|(at, [start_ns, end_ns])| Idle {
                    start_ns,
                    end_ns,
                    state: kind(at),
                })
                .collect(),
            clocks: (clocks.into_iter())
                .map(|[at_ns, khz]| Clock {
                    at_ns,
                    khz: khz as u32,
                })
                .collect(),
        }
    })
}

fn mark() -> impl Strategy<Value = Mark> {
    let value = prop_oneof![Just(0), Just(NONE), Just(NONE - 1), any::<u32>()];
    let at = prop_oneof![0_u64..40, 0_u64..1 << 42];
    (at, 0_u32..3, 0_u32..5, vec(value, 2)).prop_map(|(at_ns, cpu, task, values)| Mark {
        at_ns,
        cpu,
        task,
        values,
    })
}

fn timeline(runs: Vec<Run>) -> Timeline {
    let label = || Column::Nanoseconds { label: "l".into() };
    Timeline {
        cpus: vec!["a".into(), "b".into(), "c".into()],
        columns: vec![label(), label()],
        runs,
        ..Timeline::default()
    }
}

proptest! {
    #[test]
    fn what_is_packed_can_be_unpacked(
        lanes in vec(vec(lane(), 3), 2),
        marks in vec(vec(mark(), 0..20), 2),
        end_ns in 0_u64..1 << 45,
    ) {
        let runs = lanes.into_iter().zip(marks).map(|(cpus, marks)| {
            Run { name: String::new(), end_ns, cpus, marks }
        });
        let mut timeline = timeline(runs.collect());
        let runs = unpacked(&packed(&timeline), &timeline);
        for run in &mut timeline.runs {
            run.marks.sort_by_key(|mark| (mark.cpu, mark.at_ns));
        }
        prop_assert_eq!(runs, timeline.runs);
    }
}

#[test]
fn what_has_no_place_is_left_out_and_what_is_missing_is_empty() {
    let mark = |cpu| Mark {
        at_ns: 1,
        cpu,
        task: 0,
        values: vec![],
    };
    let run = Run {
        marks: vec![mark(2), mark(3)],
        ..Run::default()
    };
    let timeline = timeline(vec![run]);
    let run = &unpacked(&packed(&timeline), &timeline)[0];
    assert_eq!(run.cpus, vec![Lane::default(); 3]);
    assert_eq!(run.marks.len(), 1);
    assert_eq!(run.marks[0].values, [NONE, NONE]);
}

#[test]
fn times_that_fall_do_not_stop_it() {
    let slice = |start_ns, end_ns| Slice {
        start_ns,
        end_ns,
        task: 0,
    };
    let lane = Lane {
        slices: vec![slice(9, 3), slice(u64::MAX, 0)],
        ..Lane::default()
    };
    let run = Run {
        cpus: vec![lane],
        ..Run::default()
    };
    let timeline = timeline(vec![run]);
    let run = &unpacked(&packed(&timeline), &timeline)[0];
    assert_eq!(run.cpus[0], timeline.runs[0].cpus[0]);
}
