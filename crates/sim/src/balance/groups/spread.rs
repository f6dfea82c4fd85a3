// SPDX-License-Identifier: GPL-2.0-only
//! Properties of groups: whether tasks are spread over them, and whether they are cores.

use super::Scope;
use crate::kernel::Sibling;
use crate::world::World;
use alight_policy::abi::{NONE, domain_flag};

impl World<'_> {
    /// Are tasks to be spread over the groups (`sds->prefer_sibling`)? `busiest`
    /// is the chosen group.
    pub(in crate::balance) fn prefers_sibling(&self, scope: &Scope, busiest: usize) -> bool {
        match self.kernel.balance.sibling {
            Sibling::Child => self.child_spreads(scope),
            Sibling::Group | Sibling::Cores => self.spreads(busiest),
            Sibling::Nodes => {
                let spans = |level| self.domain(scope.dst, level).flags & domain_flag::NUMA != 0;
                spans(scope.level) && (scope.level == 0 || !spans(scope.level - 1))
            }
        }
    }

    /// Does the child domain of the CPU that balances ask for that?
    pub(super) fn child_spreads(&self, scope: &Scope) -> bool {
        scope.level > 0
            && self.domain(scope.dst, scope.level - 1).flags & domain_flag::PREFER_SIBLING != 0
    }

    /// Does the domain of the group ask for that?
    pub(super) fn spreads(&self, group: usize) -> bool {
        self.group_flags(group) & domain_flag::PREFER_SIBLING != 0
    }

    /// Is the group one core with siblings?
    pub(in crate::balance) fn is_core(&self, group: usize) -> bool {
        self.group_flags(group) & domain_flag::SMT != 0
    }

    /// Flags of the domain that makes up the group (`sg->flags`).
    fn group_flags(&self, group: usize) -> u32 {
        match self.core.groups[group].child {
            NONE => 0,
            child => self.core.domains[child as usize].flags,
        }
    }

    /// Are all siblings of `cpu` idle (`is_core_idle`)?
    pub(in crate::balance) fn core_is_idle(&self, cpu: usize) -> bool {
        match self.core.places[cpu].smt_domain {
            NONE => true,
            core => {
                let span = &self.core.domains[core as usize].span;
                span.iter()
                    .all(|sibling| sibling as usize == cpu || self.is_idle(sibling as usize))
            }
        }
    }
}
