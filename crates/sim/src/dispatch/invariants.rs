// SPDX-License-Identifier: GPL-2.0-only
//! The invariants, checked after every event in a run with `--check`. The checks read everything
//! and change nothing.

mod cpu;
mod tasks;

use crate::balance::Balancer;
use crate::base::queue::NEVER;
use crate::face::api::Error;
use crate::queues::Queues;
use crate::world::state::Phase;
use tasks::Sums;

impl Queues<'_> {
    /// Compares the totals that workloads and CPUs keep with `sums`, the sums over the tasks.
    fn broken_totals(&self, sums: &Sums) -> Option<String> {
        for (workload, (state, count)) in self.workloads.iter().zip(&sums.alive).enumerate() {
            if state.alive != *count {
                return Some(format!(
                    "workload {workload} lost a task: {count} of {} are left",
                    state.alive
                ));
            }
        }
        let busy: u64 = self.cpus.iter().map(|c| c.stats.busy_ns).sum();
        if sums.ran != busy {
            return Some(format!("tasks ran for {} ns, CPUs for {busy}", sums.ran));
        }
        // Linux floors the sum at 0 when it subtracts: estimates can be lost, not gained.
        let gained = |(_, (view, sum)): &(usize, (&alight_policy::abi::Cpu, &u64))| {
            u64::from(view.util_est_enqueued) > **sum
        };
        let mut kept = self.core.cpus.iter().zip(&sums.estimates).enumerate();
        if let Some((cpu, (view, sum))) = kept.find(gained) {
            return Some(format!(
                "CPU {cpu} has an estimate of {}, its tasks one of {sum}",
                view.util_est_enqueued
            ));
        }
        None
    }

    /// Is there a CPU whose hrtick timer should not be armed?
    fn broken_hrtick(&self) -> Option<String> {
        let timer = |c: &crate::world::state::Cpu| c.hrtick_at != NEVER;
        if let Some(cpu) = self.cpus.iter().position(|c| {
            timer(c)
                && (c.phase != Phase::Running || !self.tunables.hrtick || c.hrtick_at < self.now)
        }) {
            return Some(format!(
                "CPU {cpu} has an hrtick timer that should not be armed"
            ));
        }
        None
    }
}

impl Balancer<'_> {
    /// # Errors
    /// Names the first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Error> {
        self.find_broken().map_or(Ok(()), |what| {
            Err(Error::Invariant {
                time_ns: self.now,
                event: self.events,
                what,
            })
        })
    }

    fn find_broken(&self) -> Option<String> {
        let sums = match self.sum_tasks() {
            Ok(sums) => sums,
            Err(what) => return Some(what),
        };
        if let Some(what) = (self.broken_totals(&sums)).or_else(|| self.broken_hrtick()) {
            return Some(what);
        }
        if let Err(what) = (self.power_check())
            .and_then(|()| self.balance_check())
            .and_then(|()| self.uclamp_check())
            .and_then(|()| self.clamped_check())
        {
            return Some(what);
        }
        if let Some(what) = self.groups_check().or_else(|| self.broken_smt()) {
            return Some(what);
        }
        (0..self.cpus.len())
            .find_map(|cpu| self.broken_cpu(cpu, sums.queued[cpu], sums.weight[cpu]))
    }
}

#[cfg(test)]
mod tests;
