// SPDX-License-Identifier: GPL-2.0-only
//! The buddy of each CPU for feature pack, and where full mode searches for another one.
//!
//! Both follow from the scheduling domains and from which of their groups can be power gated
//! ("sched: packing small tasks" v4, April 2013; leaders: v5, October 2013).
//!
//! The power of a group is the capacity of its CPUs. Kernels of 2013 compared
//! `cpu_power`, which has another scale but the same order of CPUs.

use crate::abi::{Cpu, Domain, Group, NONE, Params, Place, Share, domain_flag, rule, table_of};
use crate::core::Core;
use crate::shape::Shape;
use crate::store::Store;

/// Where full packing searches for the buddy of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// First of the CPUs that can only be gated together with this one; the others follow it.
    pub leader: u32,
    /// Level of the domain whose activity counts; [`NONE`] if nothing can be gated.
    pub level: u32,
    /// The group of that domain that is filled first: the one with the least power per CPU.
    pub group: u32,
}

/// The views of a machine that packing needs.
pub(crate) struct View<'a> {
    pub places: &'a [Place],
    pub domains: &'a [Domain],
    pub groups: &'a [Group],
}

/// All groups of a domain except `own`, in ring order from it.
pub fn other_groups(domain: &Domain, own: u32) -> impl Iterator<Item = usize> {
    let (first, end) = (domain.first_group, domain.first_group + domain.nr_groups);
    (own + 1..end).chain(first..own).map(|group| group as usize)
}

impl View<'_> {
    /// How many domains of `cpu`, from the lowest on, have groups that can only be gated together.
    fn gated_together(&self, cpu: usize) -> usize {
        let place = &self.places[cpu];
        let chain = &place.domain[..place.nr_domains as usize];
        (chain.iter())
            .take_while(|&&d| self.domains[d as usize].flags & domain_flag::SHARE_POWERDOMAIN != 0)
            .count()
    }

    /// The CPU to pack on, with its level and group. The search goes upward from the lowest domain
    /// whose groups can be gated alone, and ends at the first domain that gives another CPU than
    /// this one. A domain gives the first CPU of the group with the least power per CPU, of equals
    /// of the lowest group.
    fn buddy(&self, cpu: usize) -> Option<(u32, Search)> {
        let place = &self.places[cpu];
        let leader = match self.gated_together(cpu) {
            0 => cpu as u32,
            levels => {
                let span = &self.domains[place.domain[levels - 1] as usize].span;
                span.iter().next().unwrap_or(cpu as u32)
            }
        };
        let mut found = None;
        for level in self.gated_together(cpu)..place.nr_domains as usize {
            let domain = &self.domains[place.domain[level] as usize];
            if domain.flags & domain_flag::SHARE_POWERDOMAIN != 0 {
                break;
            }
            let (group, id) = self.cheapest(domain, place.group[level], cpu as u32);
            let search = Search {
                leader,
                level: level as u32,
                group,
            };
            found = Some((id, search));
            if id != cpu as u32 {
                break;
            }
        }
        found
    }

    /// The group with the least power per CPU, and the CPU that stands for it.
    fn cheapest(&self, domain: &Domain, own: u32, cpu: u32) -> (u32, u32) {
        let (mut best, mut id) = (own, cpu);
        for other in other_groups(domain, own) {
            let (g, b) = (&self.groups[other], &self.groups[best as usize]);
            let power = u64::from(g.capacity) * u64::from(b.weight);
            let least = u64::from(b.capacity) * u64::from(g.weight);
            if power < least || power == least && g.cpu < id {
                (best, id) = (other as u32, g.cpu);
            }
        }
        (best, id)
    }

    /// Buddies of all CPUs; none without the feature.
    pub fn buddies(&self, params: &Params) -> Vec<u32> {
        let buddy = |cpu| match params.pack {
            rule::PACK_NONE => NONE,
            _ => self.buddy(cpu).map_or(NONE, |(id, _)| id),
        };
        (0..self.places.len()).map(buddy).collect()
    }
}

/// Where full mode searches for the buddy of each CPU.
pub fn searches(shape: &Shape<impl Store>) -> Vec<Search> {
    let view = View {
        places: &shape.places,
        domains: &shape.domains,
        groups: &shape.groups,
    };
    let nowhere = |cpu| Search {
        leader: cpu as u32,
        level: NONE,
        group: NONE,
    };
    (0..shape.places.len())
        .map(|cpu| view.buddy(cpu).map_or(nowhere(cpu), |(_, search)| search))
        .collect()
}

/// The share of time in which `cpu` had tasks, by the signals that the scheduler uses for packing.
pub fn share(k: &Params, cpu: &Cpu) -> Share {
    let mut share = Share::default();
    // SAFETY: valid, and exclusively borrowed where written.
    unsafe { (table_of(k).cpu_share)(k, cpu, &mut share) };
    share
}

/// The CPUs of a group, in their order.
fn members(core: &Shape<impl Store>, group: usize) -> impl Iterator<Item = usize> {
    let Group { child, cpu, .. } = core.groups[group];
    let (single, span) = match child {
        NONE => (Some(cpu), None),
        child => (None, Some(&core.domains[child as usize].span)),
    };
    let span = span.into_iter().flat_map(|span| span.iter());
    single.into_iter().chain(span).map(|cpu| cpu as usize)
}

/// Full packing: buddies that follow the activity of CPUs.
pub struct Follow<'a, S: Store, Available: Fn(usize) -> u64> {
    /// The machine with the signals of its CPUs.
    pub core: &'a Core<S>,
    /// One of each CPU, from [`searches`].
    pub searches: &'a [Search],
    /// Capacity that real-time tasks leave of a CPU, whether it takes part or not
    /// (`power_available`).
    pub available: Available,
}

impl<S: Store, Available: Fn(usize) -> u64> Follow<'_, S, Available> {
    /// How much of its capacity `cpu` has used lately. If it was never idle, that is all of it,
    /// plus 1 if tasks wait (docs/policies/pack.md, a).
    pub fn activity(&self, cpu: usize) -> u64 {
        let view = &self.core.cpus[cpu];
        let Share { part, whole } = share(&self.core.params, view);
        let available = (self.available)(cpu);
        match whole {
            0 => 0,
            _ if part < whole => part * available / whole,
            _ => available + u64::from(view.nr_running > 1),
        }
    }

    /// The buddy that `cpu` gets now (`update_packing_buddy`; docs/policies/pack.md, b). CPUs are
    /// taken in the order of their groups, beginning with the least power per CPU, until their
    /// capacity covers the domain's activity. If `cpu` is one of them it is its own buddy, else the
    /// last of them is.
    pub fn buddy(&self, cpu: usize) -> u32 {
        let level = self.searches[cpu].level;
        let activity = match level {
            NONE => 0,
            level => {
                let domain = self.core.places[cpu].domain[level as usize];
                let span = self.core.domains[domain as usize].span;
                span.iter().map(|other| self.activity(other as usize)).sum()
            }
        };
        self.covering(cpu, activity)
    }

    /// The same for a given activity of the domain, in units of capacity.
    pub fn covering(&self, cpu: usize, activity: u64) -> u32 {
        let search = self.searches[cpu];
        let leader = search.leader as usize;
        let kept = match takes_part(leader, &self.core.cpus[leader]) {
            true => cpu as u32,
            false => self.core.cpus[leader].buddy,
        };
        if cpu != leader || search.level == NONE {
            return kept;
        }
        let level = self.core.places[cpu].domain[search.level as usize];
        let domain = &self.core.domains[level as usize];
        let mut need = match self.core.params.pack_level {
            0 => u64::MAX,
            level => activity * u64::from(102_400 / level) / 1024,
        };
        let groups = other_groups(domain, search.group);
        for group in std::iter::once(search.group as usize).chain(groups) {
            if need == 0 {
                break;
            }
            let available = members(self.core, group).map(&self.available);
            let available: u64 = available.sum();
            if available > need {
                return self.last_needed(group, cpu, need);
            }
            if members(self.core, group).any(|member| member == cpu) {
                return cpu as u32;
            }
            need -= available;
        }
        kept
    }

    /// The CPU of `group` whose capacity completes `need`, or `cpu` if that comes before it.
    fn last_needed(&self, group: usize, cpu: usize, mut need: u64) -> u32 {
        let mut last = cpu;
        for member in members(self.core, group) {
            last = member;
            need = need.saturating_sub((self.available)(member));
            if member == cpu || need == 0 {
                break;
            }
        }
        last as u32
    }
}

/// Does this CPU take part in packing: is it its own buddy, or has it none?
pub fn takes_part(cpu: usize, view: &Cpu) -> bool {
    view.buddy == cpu as u32 || view.buddy == NONE
}
