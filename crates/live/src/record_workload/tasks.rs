// SPDX-License-Identifier: GPL-2.0-only
//! What is known of the tasks, and which of them are the workload.

use super::groups::Groups;
use crate::workload_skeleton::types::workload_fact;
use alight_policy::pelt;
use alight_recording::workload::{Policy, TaskFact, TaskState};
use std::collections::{HashMap, HashSet};

/// `struct workload_fact`, has (`record_workload.h`).
const HAS_GROUP: u32 = 1 << 0;
const HAS_CLAMPS: u32 = 1 << 1;
const HAS_SLICE: u32 = 1 << 2;
const HAS_START: u32 = 1 << 3;
const HAS_VRUNTIME: u32 = 1 << 4;
const HAS_VLAG: u32 = 1 << 5;
const KERNEL: u32 = 1 << 6;
const WHOLE_PROCESS: u32 = 1 << 7;

/// include/linux/sched.h
const TASK_UNINTERRUPTIBLE: u32 = 2;
/// A period of load tracking is 2 to this power ns (kernel/sched/pelt.c).
const PERIOD_BITS: u32 = 20;

/// Which tasks are the workload, each with all its descendants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// The processes of these numbers.
    Processes(HashSet<u32>),
    /// The tasks of this group of the cpu controller and of those in it.
    Group(String),
}

/// The tasks, as they were last recorded.
pub struct Tasks {
    chosen: Chosen,
    /// Processes that are the workload, also by descent.
    processes: HashSet<u32>,
    /// The recorder's own process.
    recorder: u32,
    /// CPUs that the machine may have.
    nr_cpus: usize,
    groups: Groups,
    known: HashMap<u32, TaskFact>,
}

impl Tasks {
    /// Nothing is known yet.
    pub fn new(chosen: Chosen, recorder: u32, nr_cpus: usize, groups: Groups) -> Self {
        Tasks {
            chosen,
            processes: HashSet::new(),
            recorder,
            nr_cpus,
            groups,
            known: HashMap::new(),
        }
    }

    /// Chooses a process before anything of it is known.
    pub fn choose(&mut self, process: u32) {
        self.processes.insert(process);
    }

    /// Takes what the kernel says of a task, and returns what is new: of the task, and of the other
    /// threads of its process if the kernel says it of all.
    pub fn learn(&mut self, said: &workload_fact) -> Vec<TaskFact> {
        let mut now = self.read(said);
        now.chosen = Some(self.is_chosen(&now, said.parent));
        if now.chosen == Some(true) {
            self.processes.insert(said.tgid);
        }
        let mut new: Vec<TaskFact> = self.change(now.clone()).into_iter().collect();
        if said.has & WHOLE_PROCESS != 0 {
            let threads: Vec<TaskFact> = (self.known.values())
                .filter(|task| task.tgid == now.tgid && task.pid != now.pid)
                .cloned()
                .collect();
            new.extend(threads.into_iter().filter_map(|thread| {
                self.change(TaskFact {
                    time: now.time,
                    cgroup: now.cgroup.clone(),
                    chosen: now.chosen,
                    ..thread
                })
            }));
        }
        new
    }

    /// The numbers of the workload's tasks: those that are known, and those in `more`, which the
    /// kernel has reported since.
    pub fn chosen<'a>(&mut self, more: impl Iterator<Item = &'a workload_fact>) -> Vec<u32> {
        let mut all: Vec<u32> = (self.known.values())
            .filter(|task| task.chosen == Some(true))
            .map(|task| task.pid)
            .collect();
        for said in more {
            let task = self.read(said);
            if self.is_chosen(&task, said.parent) {
                self.processes.insert(said.tgid);
                all.push(said.pid);
            }
        }
        all
    }

    /// A task ends: its number may be given to another task.
    pub fn forget(&mut self, pid: u32) {
        self.known.remove(&pid);
    }

    fn is_chosen(&self, task: &TaskFact, parent: u32) -> bool {
        let descends = [task.tgid, Some(parent)];
        if descends
            .iter()
            .flatten()
            .any(|one| self.processes.contains(one))
        {
            return true;
        }
        match &self.chosen {
            Chosen::Processes(processes) => task.tgid.is_some_and(|one| processes.contains(&one)),
            Chosen::Group(path) => {
                (task.cgroup.as_deref()).is_some_and(|group| within(group, path))
            }
        }
    }

    /// Remembers it, and returns what differs from what was known.
    fn change(&mut self, now: TaskFact) -> Option<TaskFact> {
        let before = self.known.get(&now.pid).cloned().unwrap_or_default();
        let new = difference(&now, &before);
        let kept = TaskFact {
            // These change all the time: they are always passed on.
            cpu: None,
            state: None,
            util_avg: None,
            vruntime: None,
            vlag: None,
            wakee_flips: None,
            ..now.clone()
        };
        self.known.insert(now.pid, kept);
        let nothing = TaskFact {
            time: new.time,
            pid: new.pid,
            ..TaskFact::default()
        };
        (new != nothing).then_some(new)
    }

    fn read(&mut self, said: &workload_fact) -> TaskFact {
        let name: Vec<u8> = (said.comm.iter())
            .map(|&byte| byte as u8)
            .take_while(|&byte| byte != 0)
            .collect();
        let has = |bit| said.has & bit != 0;
        let policy = policy(said.policy);
        let deadline = policy == Some(Policy::Deadline);
        let start = has(HAS_START);
        let mut fact = TaskFact {
            time: said.time,
            pid: said.pid,
            comm: Some(String::from_utf8_lossy(&name).into_owned()),
            tgid: Some(said.tgid),
            kernel_thread: Some(has(KERNEL)),
            recorder: Some(said.tgid == self.recorder),
            affinity: affinity(&said.affinity, self.nr_cpus),
            policy,
            nice: Some(said.nice),
            rt_priority: (said.rt_priority > 0).then_some(said.rt_priority),
            uclamp_min: has(HAS_CLAMPS).then_some(said.uclamp_min),
            uclamp_max: has(HAS_CLAMPS).then_some(said.uclamp_max),
            slice_ns: has(HAS_SLICE).then_some(said.slice),
            dl_period_ns: deadline.then_some(said.dl_period),
            dl_deadline_ns: deadline.then_some(said.dl_deadline),
            vruntime: has(HAS_VRUNTIME).then_some(said.vruntime),
            vlag: has(HAS_VLAG).then_some(said.vlag),
            ..TaskFact::default()
        };
        if has(HAS_GROUP) {
            fact.cgroup = Some(match said.autogroup {
                0 => self.groups.path(said.cgroup),
                // As the kernel calls it (autogroup_path()).
                number => format!("/autogroup-{number}"),
            });
        }
        if start {
            fact.cpu = Some(said.cpu);
            fact.state = Some(state(said));
            fact.util_avg = Some(util_avg(said));
        }
        if start || !self.known.contains_key(&said.pid) {
            fact.wakee_flips = Some(said.wakee_flips);
        }
        fact
    }
}

/// Whether the group is `path` or lies in it.
fn within(group: &str, path: &str) -> bool {
    (group.strip_prefix(path.trim_end_matches('/')))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn policy(number: u32) -> Option<Policy> {
    // include/uapi/linux/sched.h
    Some(match number {
        0 => Policy::Normal,
        1 => Policy::Fifo,
        2 => Policy::Rr,
        3 => Policy::Batch,
        5 => Policy::Idle,
        6 => Policy::Deadline,
        7 => Policy::Ext,
        _ => return None,
    })
}

fn state(said: &workload_fact) -> TaskState {
    match said.state {
        0 if said.on_cpu != 0 => TaskState::Running,
        0 => TaskState::Runnable,
        state if state & TASK_UNINTERRUPTIBLE != 0 => TaskState::Blocked,
        _ => TaskState::Asleep,
    }
}

/// Decayed up to the last update of its queue: the kernel does so when the task is woken.
fn util_avg(said: &workload_fact) -> u32 {
    pelt::decay(said.util_avg.into(), said.util_stale >> PERIOD_BITS) as u32
}

/// The list of these CPUs, like `0-3,6`; `None`: there are more CPUs than the mask has.
fn affinity(mask: &[u64], nr_cpus: usize) -> Option<String> {
    if nr_cpus > mask.len() * 64 {
        return None;
    }
    let allowed = |cpu: usize| mask[cpu / 64] >> (cpu % 64) & 1 != 0;
    let mut parts = Vec::new();
    let mut cpu = 0;
    while cpu < nr_cpus {
        if !allowed(cpu) {
            cpu += 1;
            continue;
        }
        let first = cpu;
        while cpu < nr_cpus && allowed(cpu) {
            cpu += 1;
        }
        parts.push(match cpu - first {
            1 => first.to_string(),
            _ => format!("{first}-{}", cpu - 1),
        });
    }
    Some(parts.join(","))
}

/// `now`, without the fields that have not changed.
fn difference(now: &TaskFact, before: &TaskFact) -> TaskFact {
    let mut new = now.clone();
    macro_rules! only_new {
        ($($field:ident)*) => {
            $(if new.$field == before.$field {
                new.$field = None;
            })*
        };
    }
    only_new!(comm tgid kernel_thread chosen recorder cgroup affinity policy nice rt_priority);
    only_new!(uclamp_min uclamp_max slice_ns dl_period_ns dl_deadline_ns);
    new
}

#[cfg(test)]
mod tests;
