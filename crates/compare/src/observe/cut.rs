// SPDX-License-Identifier: GPL-2.0-only
//! What timelines leave out. Side by side they show the same time: the run with the most slices limits
//! all. A CPU that is offline is in no idle state.

use std::ops::Range;

use alight_html::timeline::Idle;
use alight_sim::{Action, Change};

use super::Observed;

/// Cuts lanes and marks of all runs where the first that was cut had its last slice.
pub fn to_one_end(runs: &mut [Observed]) {
    let cut_ones = runs.iter().filter(|run| run.is_cut);
    let ends = cut_ones.map(|run| run.shown.end);
    let Some(end) = ends.min() else { return };
    for run in runs {
        if run.shown.end > end {
            cut(run, end);
        }
    }
}

fn cut(run: &mut Observed, end: u64) {
    run.shown.end = end;
    run.is_cut = true;
    run.marks.retain(|mark| mark.at_ns < end);
    for lane in &mut run.lanes {
        lane.slices.retain(|slice| slice.start_ns < end);
        lane.idle.retain(|idle| idle.start_ns < end);
        lane.clocks.retain(|clock| clock.at_ns < end);
        if let Some(last) = lane.slices.last_mut() {
            last.end_ns = last.end_ns.min(end);
        }
        if let Some(last) = lane.idle.last_mut() {
            last.end_ns = last.end_ns.min(end);
        }
    }
}

/// Leaves out the idle states of CPUs while they are offline: the kernel tells when a CPU enters the
/// last one, and not that it is off.
pub fn while_offline(run: &mut Observed, changes: &[Change]) {
    for (cpu, lane) in run.lanes.iter_mut().enumerate() {
        for off in offline(changes, cpu) {
            let idle = std::mem::take(&mut lane.idle);
            lane.idle = idle
                .into_iter()
                .flat_map(|idle| outside(idle, &off))
                .collect();
        }
    }
}

/// When a CPU is offline, ns.
fn offline(changes: &[Change], cpu: usize) -> Vec<Range<u64>> {
    let mut ordered: Vec<&Change> = changes.iter().collect();
    ordered.sort_by_key(|change| change.at_ns);
    let mut all: Vec<Range<u64>> = vec![];
    for change in ordered {
        let is_off = all.last().is_some_and(|last| last.end == u64::MAX);
        match &change.action {
            Action::Offline(cpus) if cpus.contains(cpu) && !is_off => {
                all.push(change.at_ns..u64::MAX);
            }
            Action::Online(cpus) if cpus.contains(cpu) && is_off => {
                all.last_mut().expect("it is off").end = change.at_ns;
            }
            _ => {}
        }
    }
    all
}

/// The parts of an idle period before and after this time.
fn outside(idle: Idle, off: &Range<u64>) -> impl Iterator<Item = Idle> {
    let before = Idle {
        end_ns: idle.end_ns.min(off.start),
        ..idle
    };
    let after = Idle {
        start_ns: idle.start_ns.max(off.end),
        ..idle
    };
    [before, after]
        .into_iter()
        .filter(|part| part.start_ns < part.end_ns)
}
