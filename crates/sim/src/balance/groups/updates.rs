// SPDX-License-Identifier: GPL-2.0-only
//! Shared state that an attempt updates: overload and overutilization of the root domain, the
//! number of CPUs of a cache that a wakeup scans, and the capacity of the local group.

use super::super::Idle;
use super::Scope;
use crate::balance::Balancer;
use crate::world::World;
use alight_policy::abi::NONE;
use alight_policy::nr_idle_scan;

impl World<'_> {
    /// Updates the overutilization of the root domain.
    pub(super) fn update_overutilized(&mut self, scope: &Scope) {
        let place = &self.core.places[scope.dst];
        let topmost = scope.level + 1 == place.nr_domains as usize;
        let mut cpus = self.domain(scope.dst, scope.level).span;
        if let Some(excluded) = &scope.excluded {
            for (word, out) in cpus.w.iter_mut().zip(&excluded.w) {
                *word &= !out;
            }
        }
        self.overutilized_seen(&cpus, topmost);
    }
}

impl Balancer<'_> {
    /// Periodic balancing of a cache's domain sets how many of its CPUs a wakeup scans: fewer,
    /// the more they are used (`update_idle_cpu_scan`).
    pub(super) fn update_idle_cpu_scan(&mut self, scope: &Scope) {
        if self.core.params.sis_util == 0 || scope.idle == Idle::Newly {
            return;
        }
        let place = &self.core.places[scope.dst];
        let domain = place.domain[scope.level];
        let (weight, shared) = (self.core.domains[domain as usize].weight, place.shared);
        if domain != self.nohz.shared_domain[shared as usize] {
            return;
        }
        self.sums_refresh();
        let domain = &self.core.domains[domain as usize];
        let groups = domain.first_group as usize..(domain.first_group + domain.nr_groups) as usize;
        let util: u64 = groups
            .map(|group| match &scope.excluded {
                None => self.nohz.sums.groups[group].util,
                Some(excluded) => self.sum(group, excluded).util,
            })
            .sum();
        let pct = domain.imbalance_pct;
        self.core.llcs[shared as usize].nr_idle_scan = nr_idle_scan(util, weight, pct);
    }

    /// After an attempt in the top domain: does any CPU have work for others (`rd->overload`)?
    pub(in crate::balance) fn update_overload(&mut self, scope: &Scope, misfit: bool) {
        let place = &self.core.places[scope.dst];
        if scope.level + 1 == place.nr_domains as usize {
            let span = &self.core.domains[place.domain[scope.level] as usize].span;
            self.occupancy.overload = misfit || self.overloaded.intersects(span, self.nohz.words);
        }
    }

    /// Sums the capacity of the local group again when that is due (`update_group_capacity`).
    pub(super) fn update_local_capacity(&mut self, scope: &Scope, own: usize) {
        let now = scope.now;
        if scope.idle == Idle::Newly && now < self.nohz.next_update[own] {
            return;
        }
        let interval = self.balance[scope.dst].levels[scope.level].balance_interval;
        self.nohz.next_update[own] = now + self.nohz.interval(u64::from(interval));

        let child = self.core.groups[own].child;
        if child == NONE && (self.has_classes() || self.has_pressure() || self.has_irq_time()) {
            self.scale_rt_capacity(scope.dst);
            if self.has_pressure() {
                self.note_inversion(scope.dst);
            }
        }
        let (capacity, least, most) = if child == NONE {
            let capacity = self.core.cpus[scope.dst].capacity.max(1);
            (capacity, capacity, capacity)
        } else {
            let child = &self.core.domains[child as usize];
            let first = child.first_group as usize;
            (first..first + child.nr_groups as usize)
                .map(|group| &self.core.groups[group])
                .fold((0, u32::MAX, 0), |(sum, least, most), g| {
                    (
                        sum + g.capacity,
                        least.min(g.min_capacity),
                        most.max(g.max_capacity),
                    )
                })
        };
        self.core.set_group_capacity(own, capacity, least, most);
        if self.by_index() {
            self.update_cpu_power(scope.dst, own);
        }
    }
}
