// SPDX-License-Identifier: GPL-2.0-only
//! The CPUs of a group, and sums over them.

use super::super::Idle;
use super::super::sums::Sum;
use super::{Scope, Totals};
use crate::balance::Balancer;
use crate::world::occupancy::Count;
use alight_policy::abi::NONE;
use alight_policy::{Group, Mask};

impl Balancer<'_> {
    /// The biggest load of a lone task on a CPU with reduced capacity
    /// (`sched_reduced_capacity`), if the CPU that balances is idle.
    pub(super) fn biggest_reduced(&self, group: usize, scope: &Scope, pct: u32) -> u32 {
        if scope.idle == Idle::No {
            return 0;
        }
        self.members(group, scope.excluded.as_ref())
            .filter(|&cpu| self.fair_runnable(cpu) == 1 && self.capacity_reduced(cpu, pct))
            .map(|cpu| self.nohz.sums.cpus[cpu].load)
            .max()
            .unwrap_or(0)
    }

    pub(super) fn totals(&self, scope: &Scope) -> Totals {
        let domain = self.domain(scope.dst, scope.level);
        let groups = domain.first_group as usize..(domain.first_group + domain.nr_groups) as usize;
        let load = |group: usize| match &scope.excluded {
            None => self.nohz.sums.groups[group].load,
            Some(excluded) => self.sum(group, excluded).load,
        };
        groups.fold(Totals::default(), |t, group| Totals {
            load: t.load + load(group),
            capacity: t.capacity
                + match self.packing.full {
                    true => u64::from(self.packed_capacity(group)),
                    false => self.core.groups[group].capacity.max(1).into(),
                },
        })
    }

    pub(super) fn biggest_misfit(&self, group: usize, scope: &Scope) -> u32 {
        self.members(group, scope.excluded.as_ref())
            .map(|cpu| self.balance[cpu].misfit_load)
            .max()
            .unwrap_or(0)
    }

    /// Sums up a group from its CPUs' signals, without `excluded`.
    pub(in crate::balance) fn sum(&self, group: usize, excluded: &Mask) -> Sum {
        self.members(group, Some(excluded))
            .fold(Sum::default(), |sum, cpu| {
                sum.plus(self.nohz.sums.cpus[cpu])
            })
    }

    /// Counts a group from the views, without `excluded`.
    pub(in crate::balance) fn count(&self, group: usize, excluded: &Mask) -> Count {
        self.members(group, Some(excluded))
            .fold(Count::default(), |count, cpu| {
                let view = &self.core.cpus[cpu];
                let busy = view.nr_running != 0 || view.curr_is_idle == 0 || view.ttwu_pending != 0;
                Count {
                    nr_running: count.nr_running + view.nr_running,
                    idle_cpus: count.idle_cpus + u32::from(!busy),
                }
            })
    }

    /// CPUs of a group in rising order, without `excluded`.
    pub(in crate::balance) fn members<'a>(
        &'a self,
        group: usize,
        excluded: Option<&'a Mask>,
    ) -> impl Iterator<Item = usize> + 'a {
        let Group { child, cpu, .. } = self.core.groups[group];
        let mut word = cpu as usize / 64;
        let (span, end) = match child {
            NONE => (None, word + 1),
            child => (
                Some(&self.core.domains[child as usize].span),
                self.nohz.words,
            ),
        };
        let bits = move |word: usize| {
            let all = span.map_or(1 << (cpu % 64), |span| span.w[word]);
            all & !excluded.map_or(0, |mask| mask.w[word])
        };
        let mut left = bits(word);
        std::iter::from_fn(move || {
            while left == 0 {
                word += 1;
                if word >= end {
                    return None;
                }
                left = bits(word);
            }
            let at = word * 64 + left.trailing_zeros() as usize;
            left &= left - 1;
            Some(at)
        })
    }
}
