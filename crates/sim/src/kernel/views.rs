// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's view of a machine: levels, domains and groups as the kernel builds them.

use crate::face::api::Error;
use crate::kernel;
use crate::kernel::hybrid::hybrids;
use crate::kernel::itmt::RankedDomains;
use crate::kernel::{Hybrids, Kernel};
use alight_machine::views::of_machine;
use alight_machine::{ItmtDriver, Machine};
use alight_policy::topology::{Description, LevelKind};
use alight_policy::{Core, Mask, Params, topology};
/// The scheduler's view of the machine with these CPUs online.
pub(crate) fn views(
    machine: &Machine,
    kernel: &Kernel,
    params: &Params,
    online: Mask,
) -> Result<Core, Error> {
    let mut description = of_machine(machine);
    kernel::views::describe(machine, kernel, &mut description);
    topology::build_online(&description, params, online)
        .map_err(|error| Error::Refused(format!("machine '{}': {error}", machine.name)))
}

/// Adapts the levels of `machine` to `kernel`: which of them follow priorities, and whether there
/// are clusters.
pub(crate) fn describe(machine: &Machine, kernel: &kernel::Kernel, description: &mut Description) {
    let hybrid = machine.core_types.len() > 1;
    let intel = (machine.itmt.as_ref()).is_some_and(|itmt| itmt.driver == ItmtDriver::IntelPstate);
    let lacks_clusters = (kernel.balance.itmt).is_some_and(|itmt| itmt.hybrids_lack_clusters);
    if hybrid && intel && lacks_clusters {
        description
            .levels
            .retain(|level| level.kind != LevelKind::Cluster);
    }
    let Some(rules) = rules(machine, kernel) else {
        return;
    };
    for level in &mut description.levels {
        level.ranked = match level.kind {
            LevelKind::Smt => rules.domains == RankedDomains::ToCache,
            LevelKind::Cluster | LevelKind::Cache => true,
            LevelKind::Package => rules.domains == RankedDomains::AboveCores,
            LevelKind::Numa { .. } => false,
        };
    }
}

/// The rules by which `kernel` follows the priorities of `machine`, if it does.
pub(crate) fn rules(machine: &Machine, kernel: &kernel::Kernel) -> Option<kernel::Itmt> {
    let driver = machine.itmt.as_ref()?.driver;
    if hybrids(machine, kernel).is_some_and(|hybrids| hybrids != Hybrids::Alike) {
        return None;
    }
    let rules = kernel.balance.itmt?;
    (driver != ItmtDriver::AmdPstate || rules.amd).then_some(rules)
}
