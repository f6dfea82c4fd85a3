// SPDX-License-Identifier: GPL-2.0-only
//! Propagation of changes in a group's queue to its entity and to the queue of the CPU
//! (`propagate_entity_load_avg`).

use super::{MAX, MIN_DIVIDER, divider};
use crate::queues::Queues;
use alight_policy::abi::{Pelt, rule};

/// `add_positive` of 32 bits.
fn add(value: u32, delta: i64) -> u32 {
    (i64::from(value) + delta).max(0) as u32
}

/// `add_positive` of 64 bits.
fn add_64(value: u64, delta: i64) -> u64 {
    value.checked_add_signed(delta).unwrap_or(0)
}

/// A queue's sum is at least its average times the least divider. A kernel that takes the larger
/// of both in 32 bits cuts the sum to 32 bits (see `policy_sums_rule`).
fn bound(sums: u32, sum: u64, average: u32) -> u64 {
    let least = u64::from(average) * u64::from(MIN_DIVIDER);
    match sums {
        rule::SUMS_CUT => u64::from((sum as u32).max(least as u32)),
        _ => sum.max(least),
    }
}

/// Are a queue's sums computed from its averages (read in 5.10.262 and 5.15.215)?
fn averaged(sums: u32) -> bool {
    matches!(sums, rule::SUMS_AVERAGED | rule::SUMS_AVERAGED_BUT_LOAD)
}

/// The relation between sums and averages.
#[derive(Clone, Copy)]
struct Division {
    /// `policy_params::sums`.
    sums: u32,
    /// See [`crate::kernel::TaskGroups::old_sums`].
    old_sums: bool,
    divider: u32,
}

/// The inputs of an entity's load beside its signals.
#[derive(Clone, Copy)]
struct Load {
    /// Load sums that came (positive) or went in the group's queue.
    came: i64,
    /// Weight of the entity, and of the tasks in its queue.
    weight: u32,
    below: u32,
}

impl Division {
    /// `update_tg_cfs_util`.
    #[inline(always)]
    fn propagate_util(self, own: &mut Pelt, root: &mut Pelt, below: &Pelt) {
        let change = i64::from(below.util_avg) - i64::from(own.util_avg);
        if change != 0 {
            own.util_avg = below.util_avg;
            let sum = own.util_avg * self.divider;
            let more = i64::from(sum) - i64::from(own.util_sum);
            own.util_sum = sum;
            root.util_avg = add(root.util_avg, change);
            root.util_sum = match self.old_sums {
                true => root.util_avg * MAX,
                false if averaged(self.sums) => root.util_avg * self.divider,
                false => bound(self.sums, add(root.util_sum, more).into(), root.util_avg) as u32,
            };
        }
    }

    /// `update_tg_cfs_runnable`.
    #[inline(always)]
    fn propagate_runnable(self, own: &mut Pelt, root: &mut Pelt, below: &Pelt) {
        let change = i64::from(below.runnable_avg) - i64::from(own.runnable_avg);
        if change != 0 {
            own.runnable_avg = below.runnable_avg;
            let sum = u64::from(own.runnable_avg) * u64::from(self.divider);
            let more = sum.wrapping_sub(own.runnable_sum) as i64;
            own.runnable_sum = sum;
            root.runnable_avg = add(root.runnable_avg, change);
            root.runnable_sum = match averaged(self.sums) {
                true => u64::from(root.runnable_avg) * u64::from(self.divider),
                false => bound(
                    self.sums,
                    add_64(root.runnable_sum, more),
                    root.runnable_avg,
                ),
            };
        }
    }

    /// `update_tg_cfs_load`.
    #[inline(always)]
    fn propagate_load(self, own: &mut Pelt, root: &mut Pelt, below: &Pelt, of: Load) {
        let Load { came, weight, .. } = of;
        let held = own.load_sum as i64;
        let time = match came >= 0 {
            true => (came + held).min(self.divider.into()),
            false => match of.below {
                0 => 0,
                weight => held.min((below.load_sum / u64::from(weight)) as i64),
            },
        };
        let time = time.max(i64::from(own.util_sum >> 10)) as u64;
        let sum = u64::from(weight) * time;
        let load = (sum / u64::from(self.divider)) as u32;
        let change = i64::from(load) - i64::from(own.load_avg);
        if averaged(self.sums) {
            (own.load_sum, own.load_avg) = (time, load);
            root.load_avg = add(root.load_avg, change);
            if change != 0 || self.sums == rule::SUMS_AVERAGED_BUT_LOAD {
                root.load_sum = u64::from(root.load_avg) * u64::from(self.divider);
            }
        } else if change != 0 {
            let more = sum.wrapping_sub(u64::from(weight) * own.load_sum) as i64;
            (own.load_sum, own.load_avg) = (time, load);
            root.load_avg = add(root.load_avg, change);
            root.load_sum = bound(self.sums, add_64(root.load_sum, more), root.load_avg);
        }
    }
}

impl Queues<'_> {
    /// Propagates changes in the group's queue to the entity and the queue of `cpu`
    /// (`propagate_entity_load_avg`). True if there were any.
    pub(super) fn propagate(&mut self, cpu: usize, entity: u32) -> bool {
        let rules = self.group_rules();
        let queue = &mut self.groups.queues[entity as usize - self.groups.tasks];
        if !std::mem::take(&mut queue.propagate) {
            return false;
        }
        let came = std::mem::take(&mut queue.prop_sum);
        let (sums, old_sums) = (self.power.core.params.sums, rules.old_sums);
        let root = &mut self.power.world.core.cpus[cpu].cfs;
        let view = &mut self.power.world.views[entity as usize];
        let (own, below, weight) = (&mut view.pelt, &queue.view.cfs, view.weight);
        let divider = match old_sums {
            true => MAX,
            false => divider(root),
        };
        let by = Division {
            sums,
            old_sums,
            divider,
        };
        by.propagate_util(own, root, below);
        by.propagate_runnable(own, root, below);
        if came != 0 {
            let of = Load {
                came,
                weight,
                below: queue.view.weight,
            };
            by.propagate_load(own, root, below, of);
        }
        true
    }
}
