// SPDX-License-Identifier: GPL-2.0-only
//! `adrestia` (7ced8eb, wake.c).

use alight_sim::Figures;
use alight_workload::report::Adrestia;

/// The round that is reported: 90 % are faster (`stats_best`).
const REPORTED_PER_MILLE: u32 = 900;

pub(super) fn print(tests: &[Adrestia], figures: &Figures) -> Option<String> {
    let line = |test: &Adrestia| {
        let rounds = &figures.tallies[test.rounds as usize];
        if rounds.count() < u64::from(test.loops) {
            return None;
        }
        let cost = rounds.sorted(REPORTED_PER_MILLE)?;
        Some(match test.arrival_us {
            None => format!("wakeup cost (single): {cost}us\n"),
            Some(us) => format!("wakeup cost (periodic, {us}us): {cost}us\n"),
        })
    };
    tests.iter().map(line).collect()
}
