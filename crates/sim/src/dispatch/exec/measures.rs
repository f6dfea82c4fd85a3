// SPDX-License-Identifier: GPL-2.0-only
//! Operations that count, mark and observe; none of them takes time.

use crate::program::Programs;
use crate::program::effect::Effect;
use alight_workload::program::Op;

impl Programs<'_> {
    /// Records something for the report of the workload.
    #[inline(always)]
    pub(super) fn note(&mut self, task: usize, op: Op) -> Effect {
        match op {
            Op::Count { counter } => self.count_one(counter),
            Op::Pass {
                counter,
                log: _,
                computes,
                cumulative_slack,
            } => {
                self.count_one(counter);
                self.pass_ends(task, computes, cumulative_slack);
            }
            Op::Mark { mark } => self.pass_mark(mark),
            Op::Observe(observation) => self.observe(task, observation),
            _ => unreachable!(),
        }
        Effect::Done
    }
}
