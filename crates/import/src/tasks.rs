// SPDX-License-Identifier: GPL-2.0-only
//! What is known of each task while a trace goes by, and which of it a recording has to be told.

use alight_recording::workload::{TaskFact, What};

use crate::item::{Body, Item, NameId};
use crate::names::Names;
use crate::options::Options;
use crate::origin::Origin;
use crate::pids::Pids;

/// The kernel's thread that makes all other kernel threads.
const KTHREADD: u32 = 2;

/// What is known of a task.
#[derive(Debug, Clone, Default)]
struct Known {
    /// A fact of it was written.
    told: bool,
    /// Something changed since.
    changed: bool,
    /// It occurs in an event.
    occurs: bool,
    /// How often it came to a CPU.
    runs: u32,
    /// A birth was told by the process, and the event of it is still to come.
    born: bool,
    name: NameId,
    /// 0: not known.
    tgid: u32,
    /// Index of the group, from 1 on; 0: not known.
    group: u32,
    kernel: Option<bool>,
    chosen: bool,
}

/// All tasks of a trace.
#[derive(Debug)]
pub(crate) struct Tasks {
    known: Pids<Known>,
    groups: Vec<String>,
    chosen_groups: Vec<bool>,
    pids: Vec<u32>,
    wanted: Vec<String>,
    /// Numbers that a second task had.
    pub reused: u64,
    /// Tasks that occur.
    pub count: u64,
}

impl Tasks {
    /// None is known.
    pub fn new(options: &Options) -> Self {
        let known = Pids::new();
        Tasks {
            known,
            groups: vec![String::new()],
            chosen_groups: vec![false],
            pids: options.pids.clone(),
            wanted: options.cgroups.clone(),
            reused: 0,
            count: 0,
        }
    }

    /// The index of a group.
    pub fn group(&mut self, path: &str) -> u32 {
        if let Some(found) = self.groups.iter().position(|known| known == path) {
            return found as u32;
        }
        let below = |wanted: &String| {
            let inside = path.strip_prefix(wanted.trim_end_matches('/'));
            inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.chosen_groups.push(self.wanted.iter().any(below));
        self.groups.push(path.to_owned());
        (self.groups.len() - 1) as u32
    }

    /// Learns from an item, in the order of times.
    pub fn learn(&mut self, item: &Item) {
        match item.body {
            Body::Process { pid, tgid, parent } => {
                self.process(pid, tgid, parent, item.time > 0);
            }
            Body::What(What::Fork { parent, child }) => self.fork(parent, child),
            Body::What(What::Switch {
                next: next @ 1.., ..
            }) => {
                let task = self.known.entry(next);
                task.runs = task.runs.saturating_add(1);
            }
            Body::Group { pid, group } => {
                let task = self.known.entry(pid);
                task.changed |= task.group != group;
                task.group = group;
                let chosen = self.chosen_groups.get(group as usize).copied();
                task.chosen |= chosen.unwrap_or(false);
            }
            Body::What(_) | Body::Named { .. } => {}
        }
        for (pid, name) in item.tasks().into_iter().zip(item.names) {
            if let (Some(pid @ 1..), 1..) = (pid, name) {
                let task = self.known.entry(pid);
                task.changed |= task.name != name;
                task.name = name;
            }
        }
    }

    /// Without a time the task was there before.
    fn process(&mut self, pid: u32, tgid: u32, parent: u32, now: bool) {
        if now && parent != 0 && self.known.entry(pid).occurs {
            // A second task of this number.
            self.born(pid, true);
        }
        let above = self.known.entry(if parent == 0 { tgid } else { parent });
        let (kernel, chosen) = (above.kernel, above.chosen);
        let chosen = chosen || self.pids.contains(&pid) || self.pids.contains(&tgid);
        let task = self.known.entry(pid);
        task.born |= now && parent != 0;
        task.changed |= task.tgid != tgid;
        task.tgid = tgid;
        task.chosen |= chosen;
        task.kernel = match parent {
            0 => task.kernel.or(kernel),
            KTHREADD => Some(true),
            _ => Some(kernel.unwrap_or(false)),
        };
        if pid == KTHREADD {
            task.kernel = Some(true);
        }
    }

    fn fork(&mut self, parent: u32, child: u32) {
        self.known.entry(parent).chosen |= self.pids.contains(&parent);
        let Known { chosen, kernel, .. } = self.known.entry(parent).clone();
        if !std::mem::take(&mut self.known.entry(child).born) && self.known.entry(child).occurs {
            self.born(child, false);
        }
        let task = self.known.entry(child);
        task.chosen |= chosen;
        task.kernel = task.kernel.or(match parent {
            KTHREADD => Some(true),
            _ => kernel,
        });
    }

    /// A number comes again.
    fn born(&mut self, pid: u32, born: bool) {
        self.reused += 1;
        *self.known.entry(pid) = Known {
            born,
            ..Known::default()
        };
    }

    /// The fact that has to stand before an item which is about this task, if one has to.
    pub fn fact(
        &mut self,
        pid: u32,
        time: u64,
        names: &Names,
        origin: &Origin,
    ) -> Option<TaskFact> {
        let chosen = self.pids.contains(&pid);
        let task = self.known.entry(pid);
        task.chosen |= chosen;
        if !task.occurs {
            task.occurs = true;
            self.count += 1;
        }
        if task.told && !task.changed {
            return None;
        }
        task.told = true;
        task.changed = false;
        let name = match task.name {
            0 => origin.last_names.get(&pid).cloned(),
            id => Some(names.text(id).to_owned()),
        };
        let choosing = !self.pids.is_empty() || !self.wanted.is_empty();
        Some(TaskFact {
            time,
            pid,
            recorder: (name.as_deref()).map(|name| origin.recorders.contains(&name)),
            comm: name,
            tgid: (task.tgid != 0).then_some(task.tgid),
            kernel_thread: match pid {
                KTHREADD => Some(true),
                _ => task.kernel,
            },
            chosen: choosing.then_some(task.chosen),
            cgroup: (self.groups.get(task.group as usize))
                .filter(|path| !path.is_empty())
                .cloned(),
            ..TaskFact::default()
        })
    }

    /// Paths of groups of tasks that occur, at most ten, harmless for a terminal.
    pub fn groups(&self) -> Vec<String> {
        let occurring = self
            .known
            .all()
            .filter(|(_, task)| task.occurs && task.group > 0);
        let mut all: Vec<&String> = (occurring)
            .filter_map(|(_, task)| self.groups.get(task.group as usize))
            .collect();
        all.sort();
        all.dedup();
        let harmless = |path: &String| alight_text::line(path).into_owned();
        all.into_iter().take(10).map(harmless).collect()
    }

    /// Tasks that occur and are of the workload.
    pub fn chosen(&self) -> usize {
        let known = self.known.all();
        known.filter(|(_, task)| task.occurs && task.chosen).count()
    }

    /// The tasks that came to a CPU most often, at most so many, with the names that they had last.
    pub fn busiest(&self, most: usize, names: &Names, origin: &Origin) -> Vec<(u32, String)> {
        let occurring = self
            .known
            .all()
            .filter(|(_, task)| task.occurs && task.runs > 0);
        let mut all: Vec<(u32, u32, NameId)> = occurring
            .map(|(pid, task)| (task.runs, pid, task.name))
            .collect();
        all.sort_by_key(|(runs, pid, _)| (std::cmp::Reverse(*runs), *pid));
        all.truncate(most);
        let named = |(_, pid, name): (u32, u32, NameId)| {
            let last = origin.last_names.get(&pid).map_or("", String::as_str);
            let name = if name == 0 { last } else { names.text(name) };
            (pid, name.to_owned())
        };
        all.into_iter().map(named).collect()
    }
}
