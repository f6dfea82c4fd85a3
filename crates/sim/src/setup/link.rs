// SPDX-License-Identifier: GPL-2.0-only
//! Links the programs of several workloads into one address space: each workload's own ids, such as
//! mutex 0 or counter 3, become indices of the run's tables.

mod measures;
mod operations;

use crate::face::api::Error;
use alight_workload::program::{Op, Workload};
pub(crate) use measures::relocate_source;
pub(crate) use operations::relocate;

/// Offsets of one workload's ids in the run's tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Base {
    pub task: u32,
    pub attributes: u32,
    pub channel: u32,
    pub barrier: u32,
    pub mutex: u32,
    pub condition: u32,
    pub semaphore: u32,
    pub counter: u32,
    pub mark: u32,
    pub histogram: u32,
    pub stamp: u32,
    pub tally: u32,
    pub desk: u32,
    pub deal: u32,
    pub lateness: u16,
    pub log: u32,
    pub workload: u32,
}

/// Checks that the ids in the programs are in range, since the run's arrays are indexed by them
/// without further checks.
pub(crate) fn check(workload: &Workload) -> Result<(), Error> {
    let faulty = |fault: String| Error::Refused(format!("workload '{}': {fault}", workload.name));
    workload.check().map_err(faulty)?;
    for (at, program) in workload.programs.iter().enumerate() {
        let ops = || program.ops.iter();
        let mutexes = ops().filter_map(|op| match *op {
            Op::LockIndexed { base } | Op::UnlockIndexed { base } => Some(base),
            _ => None,
        });
        let desks = ops().filter_map(|op| match *op {
            Op::Leave { first, .. } => Some(first),
            _ => None,
        });
        let picks = [
            ("mutexes", mutexes.max(), workload.mutexes),
            ("desks", desks.max(), workload.instruments.desks),
        ];
        for (what, first, count) in picks {
            let Some(first) = first else { continue };
            let room = count - first;
            let deals = ops().filter_map(|op| match *op {
                Op::Take { deal, .. } => Some(&workload.deals[deal as usize]),
                _ => None,
            });
            let mut beside = deals.filter(|deal| deal.modulo == 0 || deal.modulo > room);
            if let Some(deal) = beside.next() {
                return Err(faulty(format!(
                    "program {at}: {deal:?} picks among more than the {room} {what} from {first} on"
                )));
            }
        }
    }
    Ok(())
}
