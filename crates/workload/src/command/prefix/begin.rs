// SPDX-License-Identifier: GPL-2.0-only
//! What a command begins with: the attributes that prefixes set, and what forked tasks inherit of
//! them (`sched_fork()`, `uclamp_fork()`; read in Linux 6.12).

use crate::diagnostic::{Place, Refusal};
use crate::program::{Attributes, Policy, Workload};

/// Scheduling attributes of a command before it does anything.
#[derive(Debug, Default)]
pub(in super::super) struct Begin {
    /// What the first task has. Fields that nobody set are `None`.
    pub attributes: Attributes,
    /// What it forks starts anew (`SCHED_RESET_ON_FORK`).
    pub reset_on_fork: bool,
    /// Where SCHED_DEADLINE was asked for.
    pub deadline_at: Option<Place>,
    /// Where a clamp was asked for.
    pub clamp_at: Option<Place>,
}

impl Begin {
    /// Gives the tasks of a command what it begins with. What a tool sets by itself stays.
    ///
    /// # Errors
    /// What the kernel would refuse when the command forks or sets clamps.
    pub fn apply(&self, workload: &mut Workload) -> Result<(), Refusal> {
        let forks = workload.tasks.iter().any(|task| task.start_ns.is_none());
        if let Some(place) = self.deadline_at
            && forks
            && !self.reset_on_fork
        {
            return Err(Refusal::new(
                place,
                "the command forks, but a task of SCHED_DEADLINE may not fork (EAGAIN); add -R to \
                 chrt: then its first task is of SCHED_DEADLINE and the others are of SCHED_OTHER",
            ));
        }
        let forked = self.forked();
        for task in &mut workload.tasks {
            let begun = match task.start_ns {
                Some(_) => &self.attributes,
                None => &forked,
            };
            self.check_clamps(&task.attributes, begun)?;
            inherit(&mut task.attributes, begun);
        }
        // Which task takes them on is not known here: what holds for the first must do.
        for later in &workload.attributes {
            self.check_clamps(later, &self.attributes)?;
        }
        Ok(())
    }

    /// What a forked task has.
    fn forked(&self) -> Attributes {
        let begun = self.attributes.clone();
        if !self.reset_on_fork {
            return begun;
        }
        let fair = !matches!(
            begun.policy,
            Some(Policy::Fifo | Policy::RoundRobin | Policy::Deadline)
        );
        Attributes {
            policy: begun.policy.filter(|_| fair),
            rt_priority: None,
            nice: begun.nice.filter(|nice| fair && *nice >= 0),
            affinity: begun.affinity,
            group: begun.group,
            ..Attributes::default()
        }
    }

    /// `uclamp_validate()`: a tool that sets one clamp keeps the other.
    fn check_clamps(&self, own: &Attributes, begun: &Attributes) -> Result<(), Refusal> {
        let min = own.uclamp_min.or(begun.uclamp_min).unwrap_or(0);
        let max = own.uclamp_max.or(begun.uclamp_max).unwrap_or(1024);
        match self.clamp_at {
            Some(place) if min > max => Err(Refusal::new(
                place,
                format!(
                    "a task of the command would have util_min {min} above util_max {max}, which \
                     the kernel refuses (EINVAL); lower util_min or raise util_max"
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Fills in what the tool left open.
fn inherit(own: &mut Attributes, begun: &Attributes) {
    let deadline = Some(Policy::Deadline);
    if own.policy.is_none() {
        own.policy = begun.policy;
        own.rt_priority = begun.rt_priority;
        own.dl_period_deadline_ns = begun.dl_period_deadline_ns;
    }
    // With SCHED_DEADLINE the field is the runtime, else the slice.
    if (own.policy == deadline) == (begun.policy == deadline) {
        own.slice_ns = own.slice_ns.or(begun.slice_ns);
    }
    own.nice = own.nice.or(begun.nice);
    if own.affinity.is_none() && !own.lift_affinity {
        own.affinity.clone_from(&begun.affinity);
    }
    own.uclamp_min = own.uclamp_min.or(begun.uclamp_min);
    own.uclamp_max = own.uclamp_max.or(begun.uclamp_max);
    own.group = own.group.take().or_else(|| begun.group.clone());
}
