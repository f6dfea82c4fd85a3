// SPDX-License-Identifier: GPL-2.0-only
//! Lag: the distance by which the mean of a queue is ahead of a task, and its bounds.

use crate::base::timeline::NONE;
use crate::kernel::{LagLimit, Sleepers};
use crate::queues::Queues;

impl Queues<'_> {
    /// The distance by which the mean is ahead of the queued `task`, within a limit
    /// (`entity_lag`).
    pub(in crate::queues::fair) fn lag(&mut self, q: usize, task: u32) -> i64 {
        let mean = self.mean_vruntime(q);
        let slice = match self.tunables.eevdf.lag_limit {
            LagLimit::TwoSlices => self.entity(task).slice,
            LagLimit::LongestSlice => self.longest_slice(q),
        };
        let limit = self.lag_limit(task, slice);
        let behind = mean.wrapping_sub(self.entity(task).vruntime) as i64;
        behind.clamp(-limit, limit)
    }

    /// Longest slice on the queue `q` (`cfs_rq_max_slice`).
    fn longest_slice(&self, q: usize) -> u64 {
        let queued = self.eevdf.queues[q].longest_slice(&self.eevdf.entities);
        let curr = self.fair_curr(q);
        let own = match curr {
            NONE => 0,
            curr => self.entity(curr).slice,
        };
        queued.unwrap_or(0).max(own)
    }

    /// The longest lag of `task` if the limit is made of `slice` (`entity_lag`).
    fn lag_limit(&self, task: u32, slice: u64) -> i64 {
        let tick = self.tunables.tick;
        let time = match self.tunables.eevdf.lag_limit {
            LagLimit::TwoSlices => (2 * slice).max(tick),
            LagLimit::LongestSlice => slice + tick,
        };
        self.virtual_of(task, time) as i64
    }

    /// Sets the lag of a delayed sleeper: it may pay off a negative lag, but gains no positive
    /// one. True if it must be placed anew for that, or for the bound of lag
    /// (`update_entity_lag`, up to 7.0 `requeue_delayed_entity` and
    /// `finish_delayed_dequeue_entity`).
    pub(in crate::queues::fair) fn lag_of_delayed(&mut self, q: usize, task: u32) -> bool {
        let now = self.lag(q, task);
        if self.tunables.eevdf.sleepers == Sleepers::PayDebt {
            self.entity_mut(task).lag = now.min(0);
            return now > 0;
        }
        let e = self.entity_mut(task);
        e.lag = now.max(e.lag).min(0);
        let (lag, vruntime) = (e.lag, e.vruntime);
        // Lag was measured from the mean, which is the queue's zero now.
        self.eevdf.queues[q].zero.wrapping_sub(lag as u64) != vruntime
    }

    /// Sets the lag of `task` so that [`Queues::place`] places it `ahead` of `origin`, by default
    /// of the mean; returns the origin. An empty queue places it at the mean: then the origin is
    /// `ahead` before the mean.
    pub fn lag_to_stand_ahead(
        &mut self,
        q: usize,
        task: u32,
        origin: Option<u64>,
        ahead: i64,
    ) -> u64 {
        let limit = self.lag_limit(task, self.slice(task));
        let ahead = ahead.clamp(-limit, limit);
        let mean = self.mean_vruntime(q);
        let weight = self.mean(q).weight;
        if weight == 0 {
            self.entity_mut(task).lag = -ahead;
            return mean.wrapping_sub(ahead as u64);
        }
        let origin = origin.unwrap_or(mean);
        let behind = mean.wrapping_sub(origin.wrapping_add_signed(ahead)) as i64;
        let own = self.exact_weight(task) as i64;
        let lag = i128::from(behind) * i128::from(weight) / i128::from(weight + own);
        self.entity_mut(task).lag = lag as i64;
        origin
    }
}
