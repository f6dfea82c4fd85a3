// SPDX-License-Identifier: GPL-2.0-only
//! Which recorded tasks are replayed, and as what.

use std::collections::HashMap;

use alight_recording::workload::TaskFact;

use crate::task::Role;

/// Kernel threads that carry out what the model does by itself: moves between CPUs, hotplug.
const STOPPERS: [&str; 3] = ["migration/", "cpuhp/", "idle_inject/"];

/// What is known of tasks, and what is to be replayed.
#[derive(Debug, Default, Clone)]
pub(crate) struct Roles {
    /// Some task is chosen: the others are not of the workload.
    chosen: bool,
    /// Tasks that are not of the workload are replayed too.
    background: bool,
    facts: HashMap<u32, TaskFact>,
}

impl Roles {
    pub fn new(background: bool) -> Self {
        Roles {
            background,
            ..Roles::default()
        }
    }

    /// Something is known of a task from now on. True if it is the first that is chosen.
    pub fn learn(&mut self, fact: &TaskFact) -> bool {
        let first = !self.chosen && fact.chosen == Some(true);
        self.chosen |= first;
        merge(self.facts.entry(fact.pid).or_default(), fact);
        first
    }

    /// What is known of the task now.
    pub fn fact(&self, pid: u32) -> TaskFact {
        let known = self.facts.get(&pid).cloned();
        known.unwrap_or_else(|| TaskFact {
            pid,
            ..TaskFact::default()
        })
    }

    /// What is known of a task that was just born: what its own facts do not say it has of its parent.
    pub fn child(&self, pid: u32, parent: Option<&TaskFact>) -> TaskFact {
        let own = self.facts.get(&pid);
        let mut fact = parent.cloned().unwrap_or_default();
        fact.pid = pid;
        fact.tgid = None;
        if let Some(own) = own {
            merge(&mut fact, own);
        }
        fact
    }

    /// Whether no fact is about the task.
    pub fn says_nothing(&self, pid: u32) -> bool {
        !self.facts.contains_key(&pid)
    }

    pub fn role(&self, fact: &TaskFact) -> Role {
        let stopper = |comm: &String| STOPPERS.iter().any(|name| comm.starts_with(name));
        if fact.recorder == Some(true) || fact.comm.as_ref().is_some_and(stopper) {
            return Role::LeftOut;
        }
        let member = match self.chosen {
            true => fact.chosen == Some(true),
            false => fact.kernel_thread != Some(true),
        };
        match (member, self.background) {
            (true, _) => Role::Member,
            (false, true) => Role::Background,
            (false, false) => Role::LeftOut,
        }
    }
}

/// Adds to what is known what a later fact says.
pub(crate) fn merge(known: &mut TaskFact, later: &TaskFact) {
    macro_rules! take {
        ($($field:ident),*) => {
            $(if later.$field.is_some() {
                known.$field.clone_from(&later.$field);
            })*
        };
    }
    (known.time, known.pid) = (later.time, later.pid);
    take!(
        comm,
        tgid,
        kernel_thread,
        chosen,
        recorder,
        cgroup,
        affinity,
        policy,
        nice,
        rt_priority,
        uclamp_min,
        uclamp_max,
        slice_ns,
        dl_period_ns,
        dl_deadline_ns,
        cpu,
        state,
        util_avg,
        vruntime,
        vlag,
        wakee_flips
    );
}
