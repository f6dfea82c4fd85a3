// SPDX-License-Identifier: GPL-2.0-only
//! The search for an imbalance in Linux 3.9: groups are compared by the weight of their tasks per
//! CPU power. Only a group that has more tasks than capacity, or uneven CPUs, can be the busiest
//! (`update_sd_lb_stats`, `find_busiest_group`, `calculate_imbalance`, `fix_small_imbalance`,
//! `find_busiest_queue` of 3.9.6).
//!
//! - `load_index`: the weight of a queue now and a while ago (`cpu_load[]`);
//! - `power`: the power of a CPU (`cpu_power`), and the number of tasks that it is worth;
//! - `turns`: when a CPU looks for work, for itself and for CPUs without a tick.

mod load_index;
mod power;
pub(super) mod turns;

pub(super) use power::rounded;

use super::Idle;
use super::by_load::{Weighed, better_moved};
use super::groups::Scope;
use super::imbalance::{Imbalance, Migrate};
use crate::balance::Balancer;
use crate::kernel::Judged;
use crate::world::World;
use alight_policy::Mask;
use alight_policy::abi::domain_flag;
use load_index::LoadIndex;

/// The state that only 3.9's balancing keeps; empty with other kernels.
#[derive(Debug, Clone)]
pub(super) struct Early {
    cpus: Box<[EarlyCpu]>,
    /// Power of each group of `alight_policy::Core::groups` (`sgp->power`).
    groups: Box<[u32]>,
    /// CPUs that went idle and have had no busy tick since (NOHZ_IDLE).
    idled: Mask,
}

impl Default for Early {
    fn default() -> Self {
        Early {
            cpus: Vec::new().into(),
            groups: Vec::new().into(),
            idled: Mask::EMPTY,
        }
    }
}

/// The part of this state that belongs to a CPU.
#[derive(Debug, Clone, Copy, Default)]
struct EarlyCpu {
    index: LoadIndex,
    /// `rq->cpu_power`
    power: u32,
    /// Its power if packing is ignored.
    available: u32,
    /// Its power if packing and the time of real-time tasks are ignored.
    full: u32,
}

/// A group as 3.9 sees it (`struct sg_lb_stats`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Side {
    /// Sum over its CPUs: of each, the lower of the weights now and a while ago; in the local
    /// group the higher.
    load: u64,
    /// Weight of its tasks.
    weight: u64,
    power: u64,
    nr_running: u64,
    /// Tasks that its power is worth.
    capacity: u64,
    idle_cpus: u64,
    cpus: u64,
    /// One of its CPUs has a task's load more than another, and one has two tasks more than
    /// another (`group_imb`).
    uneven: bool,
    /// It has capacity for one more task.
    has_capacity: bool,
}

/// The inputs of an attempt beside the groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub pct: u64,
    pub idle: Idle,
    /// Mean weight of the tasks on the CPU that balances.
    pub dst_per_task: u64,
}

impl Side {
    fn avg_load(&self) -> u64 {
        self.load * 1024 / self.power
    }

    fn per_task(&self) -> u64 {
        self.weight.checked_div(self.nr_running).unwrap_or(0)
    }

    /// In a domain that spreads tasks over groups: if the local group has room, this one is
    /// worth one task only.
    fn spread(&mut self, local: &Side) {
        if local.has_capacity {
            self.capacity = self.capacity.min(1);
        }
    }

    /// `update_sd_pick_busiest`; `most`: the average load of the busiest so far.
    fn busier_than(&self, most: u64) -> bool {
        self.avg_load() > most && (self.nr_running > self.capacity || self.uneven)
    }

    fn weighed(&self, per_task: u64) -> Weighed {
        Weighed {
            load: self.avg_load(),
            capacity: self.power,
            per_task,
        }
    }
}

/// The weight to move, if there is an imbalance (`find_busiest_group`). It may be
/// 0: then the source queue counts as pinned.
fn find(local: &Side, busiest: &Side, average: u64, terms: &Terms) -> Option<u64> {
    let (here, there) = (local.avg_load(), busiest.avg_load());
    let fills = terms.idle == Idle::Newly && local.has_capacity && !busiest.has_capacity;
    if !busiest.uneven && !fills {
        let balanced = match terms.idle {
            Idle::Yes => {
                local.idle_cpus <= busiest.idle_cpus + 1 && busiest.nr_running <= busiest.cpus
            }
            Idle::No | Idle::Newly => 100 * there <= terms.pct * here,
        };
        if here >= there || here >= average || balanced {
            return None;
        }
    }
    Some(amount(local, busiest, average, terms))
}

/// `calculate_imbalance`; differences wrap as the kernel's unsigned ones do.
fn amount(local: &Side, busiest: &Side, average: u64, terms: &Terms) -> u64 {
    let (here, there) = (local.avg_load(), busiest.avg_load());
    let per_task = match busiest.uneven {
        true => busiest.per_task().min(average),
        false => busiest.per_task(),
    };
    if there < average {
        return small(local, busiest, per_task, 0, terms);
    }
    // Do not take so many tasks that the group goes idle.
    let above = match busiest.uneven {
        true => u64::MAX,
        false => {
            let more = busiest.nr_running.wrapping_sub(busiest.capacity);
            more.wrapping_mul(1024 * 1024) / busiest.power
        }
    };
    let pull = (there - average).min(above).wrapping_mul(busiest.power);
    let room = average.wrapping_sub(here).wrapping_mul(local.power);
    let amount = pull.min(room) / 1024;
    match amount < per_task {
        true => small(local, busiest, per_task, amount, terms),
        false => amount,
    }
}

/// The imbalance is less than a task (`fix_small_imbalance`): the load of one task if its move
/// is worth it, else `amount`.
fn small(local: &Side, busiest: &Side, per_task: u64, amount: u64, terms: &Terms) -> u64 {
    let (here, there) = (local.avg_load(), busiest.avg_load());
    let (local_per_task, steps) = match local.nr_running {
        0 => (terms.dst_per_task, 2),
        _ if per_task > local.per_task() => (local.per_task(), 1),
        _ => (local.per_task(), 2),
    };
    let scaled = per_task * 1024 / busiest.power;
    let apart = there.wrapping_sub(here).wrapping_add(scaled);
    let gains = || better_moved(local.weighed(local_per_task), busiest.weighed(per_task));
    match apart >= scaled * steps || gains() {
        true => per_task,
        false => amount,
    }
}

impl World<'_> {
    /// Is load balanced as in 3.9?
    #[inline]
    pub(super) fn by_index(&self) -> bool {
        self.kernel.balance.judged == Judged::Index
    }

    /// The load index that an attempt uses (`get_sd_load_idx`).
    fn load_index(&self, scope: &Scope) -> usize {
        let flags = self.domain(scope.dst, scope.level).flags;
        let is = |flag: u32| flags & flag != 0;
        match scope.idle {
            Idle::Newly => 0,
            Idle::No if is(domain_flag::SMT) => 0,
            Idle::No if is(domain_flag::NUMA) => 3,
            Idle::No => 2,
            Idle::Yes if is(domain_flag::NUMA) => 2,
            Idle::Yes if is(domain_flag::SHARE_LLC) => 0,
            Idle::Yes => 1,
        }
    }
}

impl Balancer<'_> {
    /// The CPU to take from, and how much.
    pub(super) fn source_by_index(&mut self, scope: &Scope) -> Option<(usize, Imbalance)> {
        let (group, amount) = self.find_by_index(scope)?;
        let imbalance = Imbalance {
            what: Migrate::Load,
            amount: amount as i64,
        };
        Some((self.queue_by_index(scope, group, amount)?, imbalance))
    }

    /// The group to take from, and how much.
    fn find_by_index(&mut self, scope: &Scope) -> Option<(usize, u64)> {
        let (own, groups) = self.look_at_domain(scope);
        let others = || (own + 1..groups.end).chain(groups.start..own);
        let spreads = self.prefers_sibling(scope, own);
        if scope.excluded.is_none() && !self.any_exceeds(scope, others(), spreads) {
            return None;
        }
        let local = self.side(scope, own, true);
        let (mut load, mut power) = (local.load, local.power);
        let mut busiest: Option<(usize, Side)> = None;
        for group in others() {
            let mut other = self.side(scope, group, false);
            if spreads {
                other.spread(&local);
            }
            (load, power) = (load + other.load, power + other.power);
            let most = busiest.map_or(0, |(_, side)| side.avg_load());
            if other.busier_than(most) {
                busiest = Some((group, other));
            }
        }
        let (group, busiest) = busiest?;
        let view = &self.core.cpus[scope.dst];
        let terms = Terms {
            pct: self.domain(scope.dst, scope.level).imbalance_pct.into(),
            idle: scope.idle,
            dst_per_task: view.weight.checked_div(view.nr_running).unwrap_or(0).into(),
        };
        let amount = find(&local, &busiest, 1024 * load / power, &terms)?;
        Some((group, amount))
    }

    /// Has a group more tasks than capacity, or a CPU two tasks? If not, no group can be the
    /// busiest, whatever its load.
    fn any_exceeds(
        &self,
        scope: &Scope,
        mut others: impl Iterator<Item = usize>,
        spreads: bool,
    ) -> bool {
        let most = if spreads { 1 } else { u64::MAX };
        let span = &self.domain(scope.dst, scope.level).span;
        self.overloaded.intersects(span, self.nohz.words)
            || others.any(|group| {
                let capacity = self.capacity_of_group(scope, group).min(most);
                u64::from(self.occupancy.groups[group].nr_running) > capacity
            })
    }

    /// `update_sg_lb_stats`
    fn side(&self, scope: &Scope, group: usize, local: bool) -> Side {
        let index = self.load_index(scope);
        let mut side = Side {
            power: self.nohz.early.groups[group].into(),
            cpus: self.core.groups[group].weight.into(),
            ..Side::default()
        };
        let (mut most, mut least) = ((0, 0), (u64::MAX, u64::MAX));
        for cpu in self.members(group, scope.excluded.as_ref()) {
            let view = &self.core.cpus[cpu];
            let nr = u64::from(view.nr_running);
            let load = self.indexed_load(cpu, index, local);
            most = (most.0.max(load), most.1.max(nr));
            least = (least.0.min(load), least.1.min(nr));
            side.load += load;
            side.weight += u64::from(view.weight);
            side.nr_running += nr;
            side.idle_cpus += u64::from(self.is_idle(cpu));
        }
        side.uneven =
            !local && most.1.saturating_sub(least.1) > 1 && most.0 - least.0 >= side.per_task();
        side.capacity = self.capacity_of_group(scope, group);
        side.has_capacity = side.capacity > side.nr_running;
        side
    }

    /// The CPU of the group with the most weight per power (`find_busiest_queue`). CPUs with a
    /// single task that is too heavy are skipped.
    fn queue_by_index(&self, scope: &Scope, group: usize, amount: u64) -> Option<usize> {
        let mut most = 0;
        let mut busiest = None;
        for cpu in self.members(group, scope.excluded.as_ref()) {
            let view = &self.core.cpus[cpu];
            let (weight, power) = (u64::from(view.weight), self.nohz.early.cpus[cpu].power);
            let worth_a_task = || match rounded(power) {
                0 => self.is_nearly_whole(scope, group),
                _ => true,
            };
            if view.nr_running == 1 && weight > amount && worth_a_task() {
                continue;
            }
            let load = weight * 1024 / u64::from(power);
            if load > most {
                most = load;
                busiest = Some(cpu);
            }
        }
        busiest
    }
}

#[cfg(test)]
mod tests;
