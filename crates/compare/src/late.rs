// SPDX-License-Identifier: GPL-2.0-only
//! Changes to the machine that a run did not live to see.

use alight_sim::{Action, Change, about, time};

/// Sentences on the changes that came too late for a run that ended at `end_ns`.
pub fn too_late(changes: &[Change], end_ns: u64) -> Vec<String> {
    let late = changes.iter().filter(|change| change.at_ns >= end_ns);
    let sentence = |change: &Change| {
        let (at, end) = (time(change.at_ns), about(end_ns));
        let what = match change.action {
            Action::CountAnew => {
                format!("--count-from {at} had no effect, the whole run is counted")
            }
            _ => format!("the change at {at} was not made"),
        };
        format!("{what}: the workloads ended at {end} (--duration ends a run later or earlier)")
    };
    late.map(sentence).collect()
}
