// SPDX-License-Identifier: GPL-2.0-only
//! The invariants of an EEVDF queue.

use crate::base::timeline::NONE;
use crate::queues::Queues;
use alight_policy::abi::task_flag;

impl Queues<'_> {
    /// The first broken invariant of the queue `q`: its sums are those of its entities, and one
    /// of them is eligible if none is current.
    pub(crate) fn eevdf_check(&self, q: usize) -> Option<String> {
        let queue = &self.eevdf.queues[q];
        let curr = self.fair_curr(q);
        let queued = |&task: &u32| {
            let view = &self.views[task as usize];
            let here = self.line_of(self.tasks[task as usize].cpu as usize, task) == q;
            let stands = here && !(self.groups.flat && self.is_group(task));
            stands && view.flags & task_flag::ON_RQ != 0 && task != curr && !self.is_rt(task)
        };
        let (mut sum, mut weight) = (0i128, 0i64);
        for task in (0..self.tasks.len() as u32).filter(queued) {
            let own = self.exact_weight(task) as i64;
            let distance = self.entity(task).vruntime.wrapping_sub(queue.zero) as i64;
            sum += i128::from(own) * i128::from(distance);
            weight += own;
        }
        if (i128::from(queue.sum), queue.weight) != (sum, weight) {
            return Some(format!(
                "queue {q} sums up to {} of weight {}, its tasks to {sum} of {weight}",
                queue.sum, queue.weight
            ));
        }
        if queue.len() != 0 && curr == NONE {
            let mean = self.mean(q);
            let due = queue.pick(&self.eevdf.entities, |vruntime| mean.eligible(vruntime));
            if due == NONE {
                return Some(format!("no task in queue {q} is eligible"));
            }
        }
        None
    }
}
