// SPDX-License-Identifier: GPL-2.0-only
//! How the content of a timeline is packed; `js/timeline/data.js` unpacks it.
//!
//! A run is a row of columns of whole numbers. Times are told as differences from what is known
//! already, so that most numbers are small and many are equal:
//!
//! | column | one number for each | is |
//! |---|---|---|
//! | slices | CPU | how many slices |
//! | gap | slice | its start after the end of the slice before |
//! | length | slice | its end after its start |
//! | task | slice | |
//! | idles | CPU | how many idle periods |
//! | skipped | idle period | slices that began since the period before |
//! | after | idle period | its start after the end of the slice before it |
//! | before | idle period | the start of the slice behind it, or the end of the run, after its end |
//! | state | idle period | |
//! | clocks | CPU | how many changes of the clock |
//! | at | change | after the change before |
//! | khz | change | |
//! | marks | CPU | how many marks, in order of time |
//! | link | mark | 0: none. Else the slice with which its task begins to run there, as a place among the slices of the CPU, less that of the link before, less 1; folded, plus 1 |
//! | delay | mark | linked: start of the slice after the mark; else: the mark after the mark before |
//! | task | mark without link | |
//! | value | mark, a column for each of the timeline's | plus 1; 0: none |
//!
//! Differences are *folded*: 0, -1, 1, -2 become 0, 1, 2, 3. Runs follow each other.

use std::collections::BTreeMap;

use super::{Clock, Idle, Lane, Mark, Run, Slice, Timeline};
use crate::columns::Columns;

/// All runs, as text.
pub(super) fn packed(timeline: &Timeline) -> String {
    let mut columns = Columns::default();
    for run in &timeline.runs {
        Packer::new(timeline, run, &mut columns).pack();
    }
    columns.text()
}

/// A difference as a number that is small if the difference is.
fn folded(from: u64, to: u64) -> u64 {
    let difference = to.wrapping_sub(from) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// Packs one run.
struct Packer<'a> {
    run: &'a Run,
    lanes: Vec<&'a Lane>,
    /// How many values a mark has.
    values: usize,
    columns: &'a mut Columns,
}

impl<'a> Packer<'a> {
    fn new(timeline: &Timeline, run: &'a Run, columns: &'a mut Columns) -> Self {
        const EMPTY: &Lane = &Lane {
            slices: vec![],
            idle: vec![],
            clocks: vec![],
        };
        let lanes = run.cpus.iter().chain(std::iter::repeat(EMPTY));
        Packer {
            run,
            lanes: lanes.take(timeline.cpus.len()).collect(),
            values: timeline.columns.len(),
            columns,
        }
    }

    fn pack(mut self) {
        self.slices();
        self.idles();
        self.clocks();
        self.marks();
    }

    /// How many entries each CPU has.
    fn counts<T>(&mut self, of: impl Fn(&Lane) -> &Vec<T>) {
        let counts: Vec<u64> = (self.lanes.iter())
            .map(|lane| of(lane).len() as u64)
            .collect();
        self.columns.push(&counts);
    }

    fn slices(&mut self) {
        self.counts(|lane| &lane.slices);
        let (mut gaps, mut lengths, mut tasks) = (vec![], vec![], vec![]);
        for lane in &self.lanes {
            let mut end = 0;
            for slice in &lane.slices {
                gaps.push(folded(end, slice.start_ns));
                lengths.push(folded(slice.start_ns, slice.end_ns));
                tasks.push(u64::from(slice.task));
                end = slice.end_ns;
            }
        }
        for column in [gaps, lengths, tasks] {
            self.columns.push(&column);
        }
    }

    fn idles(&mut self) {
        self.counts(|lane| &lane.idle);
        let (mut skipped, mut after, mut before, mut states) = (vec![], vec![], vec![], vec![]);
        for lane in &self.lanes {
            let mut begun = 0;
            for Idle {
                start_ns,
                end_ns,
                state,
            } in &lane.idle
            {
                let next = lane
                    .slices
                    .partition_point(|slice| slice.start_ns <= *start_ns);
                let last_end = next
                    .checked_sub(1)
                    .map_or(0, |last| lane.slices[last].end_ns);
                let next_start = lane
                    .slices
                    .get(next)
                    .map_or(self.run.end_ns, |s| s.start_ns);
                skipped.push(folded(begun, next as u64));
                after.push(folded(last_end, *start_ns));
                before.push(folded(*end_ns, next_start));
                states.push(u64::from(*state));
                begun = next as u64;
            }
        }
        for column in [skipped, after, before, states] {
            self.columns.push(&column);
        }
    }

    fn clocks(&mut self) {
        self.counts(|lane| &lane.clocks);
        let (mut times, mut frequencies) = (vec![], vec![]);
        for lane in &self.lanes {
            let mut last = 0;
            for Clock { at_ns, khz } in &lane.clocks {
                times.push(folded(last, *at_ns));
                frequencies.push(u64::from(*khz));
                last = *at_ns;
            }
        }
        self.columns.push(&times);
        self.columns.push(&frequencies);
    }

    fn marks(&mut self) {
        let mut marks: Vec<&Mark> = (self.run.marks.iter())
            .filter(|mark| (mark.cpu as usize) < self.lanes.len())
            .collect();
        marks.sort_by_key(|mark| (mark.cpu, mark.at_ns));
        let mut counts = vec![0; self.lanes.len()];
        for mark in &marks {
            counts[mark.cpu as usize] += 1;
        }
        self.columns.push(&counts);
        self.links(&marks);
        for column in 0..self.values {
            let value = |mark: &&Mark| {
                let value = mark.values.get(column).copied().unwrap_or(super::NONE);
                u64::from(value.wrapping_add(1))
            };
            let values: Vec<u64> = marks.iter().map(value).collect();
            self.columns.push(&values);
        }
    }

    /// When marks are, by the slices that they start.
    fn links(&mut self, marks: &[&Mark]) {
        let (mut links, mut delays, mut tasks) = (vec![], vec![], vec![]);
        for of_cpu in marks.chunk_by(|a, b| a.cpu == b.cpu) {
            let slices = &self.lanes[of_cpu[0].cpu as usize].slices;
            let of_task = by_task(slices);
            // The place behind that of the last link, and the last mark's time.
            let (mut expected, mut last) = (0, 0);
            for Mark { at_ns, task, .. } in of_cpu {
                let places = of_task.get(task).map_or(&[][..], Vec::as_slice);
                let place = places.partition_point(|place| slices[*place].start_ns < *at_ns);
                if let Some(place) = places.get(place) {
                    links.push(1 + folded(expected, *place as u64));
                    delays.push(slices[*place].start_ns - at_ns);
                    expected = *place as u64 + 1;
                } else {
                    links.push(0);
                    delays.push(folded(last, *at_ns));
                    tasks.push(u64::from(*task));
                }
                last = *at_ns;
            }
        }
        for column in [links, delays, tasks] {
            self.columns.push(&column);
        }
    }
}

/// Where among these slices each task runs.
fn by_task(slices: &[Slice]) -> BTreeMap<u32, Vec<usize>> {
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, slice) in slices.iter().enumerate() {
        places.entry(slice.task).or_default().push(place);
    }
    places
}

#[cfg(test)]
mod tests;
