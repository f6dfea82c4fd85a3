// SPDX-License-Identifier: GPL-2.0-only
//! Workloads in blocks: draws their programs by the seed of the run.

use crate::base::rng::{Purpose, below};
use crate::face::api::Scenario;
use alight_workload::Workload;

/// The scenario's workloads with the programs that its seed draws; `None`: no workload is in
/// blocks.
pub(crate) fn workloads(scenario: &Scenario<'_>) -> Option<Vec<Workload>> {
    let in_blocks = |workload: &Workload| workload.blocks.is_some();
    if !scenario.workloads.iter().any(in_blocks) {
        return None;
    }
    let drawn = scenario.workloads.iter().zip(0..);
    Some(
        drawn
            .map(|(workload, index)| of(workload, index, scenario.seed))
            .collect(),
    )
}

fn of(workload: &Workload, index: u64, seed: u64) -> Workload {
    let Some(blocks) = &workload.blocks else {
        return workload.clone();
    };
    let draw = |k: u64, many: u64| below(seed, index << 32 | k, Purpose::Block, many);
    let programs = blocks.programs(&blocks.order(draw));
    workload.with_programs(programs)
}

#[cfg(test)]
mod tests;
