// SPDX-License-Identifier: GPL-2.0-only
//! Who ran where, when and for how long: figures of a run from its events, be
//! they a kernel's or the simulator's.

mod clocks;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use alight_trace::{Event, PrevState, Sink, TaskRef};

use super::quantity::{Measurement, NICE_SHARE, RESIDENCY, RULES, Rule, rule_of};

/// Kernel priority of nice 0.
const NICE_0: i32 = 120;
/// Priorities of the fair class are from here on.
const FAIR: i32 = 100;
/// Nobody.
const IDLE: TaskRef = TaskRef {
    pid: 0,
    prio: NICE_0,
};

/// What is kept of an event.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Switch {
        prev: TaskRef,
        stays: bool,
        next: TaskRef,
    },
    Waking {
        pid: u32,
        prev_cpu: u32,
    },
    Wakeup {
        pid: u32,
        cpu: u32,
    },
    Born {
        pid: u32,
    },
    Migrate {
        pid: u32,
    },
    Fork {
        parent: u32,
        child: u32,
    },
    Exit {
        pid: u32,
    },
    Frequency {
        khz: u32,
    },
}

/// Gathers the events of a run.
#[derive(Debug, Default)]
pub struct Gathered {
    events: Vec<(u64, u32, Kept)>,
    /// Of a simulated run, when the last event of each task took place.
    latest: BTreeMap<u32, u64>,
}

impl Sink for Gathered {
    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> io::Result<()> {
        let kept = match event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => Kept::Switch {
                prev,
                stays: matches!(prev_state, PrevState::Running | PrevState::Preempted),
                next,
            },
            Event::Waking { task, target_cpu } => Kept::Waking {
                pid: task.pid,
                prev_cpu: target_cpu,
            },
            Event::Wakeup { task, target_cpu } => Kept::Wakeup {
                pid: task.pid,
                cpu: target_cpu,
            },
            Event::WakeupNew { task, .. } => Kept::Born { pid: task.pid },
            Event::Migrate { task, .. } => Kept::Migrate { pid: task.pid },
            Event::Fork { parent, child } => Kept::Fork {
                parent: parent.pid,
                child: child.pid,
            },
            Event::Exit { task } => Kept::Exit { pid: task.pid },
            Event::Frequency { khz } => Kept::Frequency { khz },
            _ => return Ok(()),
        };
        self.events.push((time_ns, cpu, kept));
        Ok(())
    }

    /// A kernel's tracepoints tell when a CPU gets to something. Events of one task stay in their order.
    fn event_reached(
        &mut self,
        _time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Event<'_>,
    ) -> io::Result<()> {
        let (first, second) = match event {
            Event::Switch { prev, next, .. } => (prev.pid, next.pid),
            Event::Waking { task, .. }
            | Event::Wakeup { task, .. }
            | Event::WakeupNew { task, .. }
            | Event::Migrate { task, .. }
            | Event::Exit { task } => (task.pid, IDLE.pid),
            _ => (IDLE.pid, IDLE.pid),
        };
        let mut at = reached_ns;
        for pid in [first, second].into_iter().filter(|pid| *pid != IDLE.pid) {
            at = at.max(self.latest.get(&pid).copied().unwrap_or(0));
        }
        for pid in [first, second].into_iter().filter(|pid| *pid != IDLE.pid) {
            self.latest.insert(pid, at);
        }
        self.event(at, cpu, event)
    }
}

/// What was seen of one wakeup, until its task runs.
#[derive(Debug, Clone, Copy)]
struct Woken {
    at: u64,
    waker_cpu: u32,
    prev_cpu: u32,
}

/// What is known of one task at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct TaskCourse {
    woken: Option<Woken>,
    /// Since when it is runnable and not running.
    waits_since: Option<u64>,
    /// Since when it runs.
    runs_since: Option<u64>,
}

/// The figures of a run in the making.
#[derive(Debug, Default)]
struct Sums {
    switches: u64,
    stays: u64,
    wakeups: u64,
    to_prev: u64,
    to_waker: u64,
    to_idle: u64,
    migrations: u64,
    latency: Vec<u64>,
    delay: Vec<u64>,
    slices: Vec<u64>,
    busy: Vec<u64>,
    /// CPU time and slices by priority.
    by_prio: BTreeMap<i32, (u64, u64)>,
}

/// Each figure by its rule, and which one of its kind.
pub type Measurements = BTreeMap<(usize, Option<i32>), Measurement>;

/// Where a figure stands among the others.
pub fn key(rule: &Rule, of: Option<i32>) -> (usize, Option<i32>) {
    let at = RULES.iter().position(|other| other.name == rule.name);
    (at.unwrap_or(RULES.len()), of)
}

/// The part of a run that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The last task is born, ns.
    pub from: u64,
    /// The first task ends, ns.
    pub to: u64,
    /// Tasks of the workload.
    pub tasks: usize,
}

/// Why a run has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Nothing {
    /// The workload's own tasks are never all there.
    #[error("the first task of the workload ends before the last one is born")]
    NeverWhole,
    /// There are no events of it.
    #[error("no event is of a task of the workload")]
    NoTask,
}

impl Gathered {
    /// The tasks of the workload: the one with the pid `root` and whoever descends from it, or all.
    fn tasks(&self, root: Option<u32>) -> BTreeSet<u32> {
        let mut tasks: BTreeSet<u32> = root.into_iter().collect();
        for (_, _, event) in &self.events {
            match *event {
                Kept::Fork { parent, child } if tasks.contains(&parent) => {
                    tasks.insert(child);
                }
                Kept::Born { pid } if root.is_none() => {
                    tasks.insert(pid);
                }
                _ => {}
            }
        }
        tasks
    }

    fn window(&self, tasks: &BTreeSet<u32>) -> Result<Window, Nothing> {
        let at = |found: fn(&Kept) -> Option<u32>| {
            (self.events.iter()).filter_map(move |(time, _, event)| Some((*time, found(event)?)))
        };
        let mut born = at(|event| match event {
            Kept::Born { pid } => Some(*pid),
            _ => None,
        });
        let mut ended = at(|event| match event {
            Kept::Exit { pid } => Some(*pid),
            _ => None,
        });
        let ours = |(_, pid): &(u64, u32)| tasks.contains(pid);
        let from = born.rfind(ours);
        let to = ended.find(ours);
        let last = self.events.last().map(|(time, ..)| *time);
        let from = from.ok_or(Nothing::NoTask)?.0;
        // A run that is cut has tasks that do not end.
        let to = to.map(|(time, _)| time).or(last).unwrap_or(from);
        if from >= to {
            return Err(Nothing::NeverWhole);
        }
        Ok(Window {
            from,
            to,
            tasks: tasks.len(),
        })
    }

    /// The figures of the workload whose first task is `root`; without one all tasks are its.
    ///
    /// # Errors
    /// There is nothing to look at.
    pub fn measure(
        mut self,
        root: Option<u32>,
        nr_cpus: usize,
    ) -> Result<(Window, Measurements), Nothing> {
        // A CPU that is interrupted between reading the clock and writing comes late.
        self.sort();
        let tasks = self.tasks(root);
        let window = self.window(&tasks)?;
        Ok((window, self.measure_of(&tasks, window, nr_cpus).0))
    }

    /// The figures of these tasks in this window, and the time that each CPU ran them, ns.
    pub fn measure_of(
        &self,
        tasks: &BTreeSet<u32>,
        window: Window,
        nr_cpus: usize,
    ) -> (Measurements, Vec<u64>) {
        let mut measuring = Measuring {
            window,
            current: vec![IDLE; nr_cpus],
            tasks: tasks
                .iter()
                .map(|pid| (*pid, TaskCourse::default()))
                .collect(),
            measured: Sums {
                busy: vec![0; nr_cpus],
                ..Sums::default()
            },
        };
        for (time, cpu, event) in &self.events {
            measuring.event(*time, *cpu, *event);
        }
        measuring.end();
        let busy = measuring.measured.busy.clone();
        (figures(window, nr_cpus, measuring.measured), busy)
    }

    /// Brings the events in the order of their times.
    pub fn sort(&mut self) {
        self.events.sort_by_key(|(time, ..)| *time);
    }

    /// From the first switch from or to one of these tasks until the last one.
    pub fn span(&self, tasks: &BTreeSet<u32>) -> Option<(u64, u64)> {
        let switch = |(time, _, event): &(u64, u32, Kept)| match event {
            Kept::Switch { prev, next, .. } => {
                let ours = tasks.contains(&prev.pid) || tasks.contains(&next.pid);
                ours.then_some(*time)
            }
            _ => None,
        };
        let first = self.events.iter().find_map(switch)?;
        Some((first, self.events.iter().rev().find_map(switch)?))
    }
}

struct Measuring {
    window: Window,
    /// Who runs on each CPU.
    current: Vec<TaskRef>,
    tasks: BTreeMap<u32, TaskCourse>,
    measured: Sums,
}

impl Measuring {
    fn event(&mut self, time: u64, cpu: u32, event: Kept) {
        let inside = (self.window.from..self.window.to).contains(&time);
        match event {
            Kept::Switch { prev, stays, next } => {
                let ours = self.leaves(time, cpu, prev, stays) | self.comes(time, next.pid);
                self.measured.switches += u64::from(ours && inside);
                if let Some(current) = self.current.get_mut(cpu as usize) {
                    *current = next;
                }
            }
            Kept::Waking { pid, prev_cpu } => {
                if let Some(task) = self.tasks.get_mut(&pid) {
                    task.woken = Some(Woken {
                        at: time,
                        waker_cpu: cpu,
                        prev_cpu,
                    });
                }
            }
            Kept::Wakeup { pid, cpu } => self.woken(time, pid, cpu, inside),
            Kept::Born { pid } => {
                if let Some(task) = self.tasks.get_mut(&pid) {
                    task.waits_since = Some(time);
                }
            }
            Kept::Migrate { pid } => {
                self.measured.migrations += u64::from(inside && self.tasks.contains_key(&pid));
            }
            Kept::Fork { .. } | Kept::Exit { .. } | Kept::Frequency { .. } => {}
        }
    }

    /// Books what `prev` ran; says whether it is the workload's.
    fn leaves(&mut self, time: u64, cpu: u32, prev: TaskRef, stays: bool) -> bool {
        let window = self.window;
        let Some(task) = self.tasks.get_mut(&prev.pid) else {
            return false;
        };
        let since = task.runs_since.take();
        task.waits_since = stays.then_some(time);
        let (from, to) = (since.unwrap_or(time).max(window.from), time.min(window.to));
        if from < to {
            if let Some(busy) = self.measured.busy.get_mut(cpu as usize) {
                *busy += to - from;
            }
            let of_prio = self.measured.by_prio.entry(prev.prio).or_default();
            of_prio.0 += to - from;
            of_prio.1 += 1;
        }
        if let Some(since) = since.filter(|since| *since >= window.from && time < window.to) {
            self.measured.slices.push(time - since);
            self.measured.stays += u64::from(stays);
        }
        true
    }

    fn comes(&mut self, time: u64, pid: u32) -> bool {
        let window = self.window;
        let Some(task) = self.tasks.get_mut(&pid) else {
            return false;
        };
        task.runs_since = Some(time);
        let waited = task.waits_since.take();
        let woken = task.woken.take();
        if time < window.to {
            let since_inside = |since: &u64| *since >= window.from;
            if let Some(since) = waited.filter(since_inside) {
                self.measured.delay.push(time - since);
            }
            // Who is woken while running does not wait for a CPU.
            if let Some(at) = woken.map(|woken| woken.at).filter(since_inside)
                && waited.is_some()
            {
                self.measured.latency.push(time - at);
            }
        }
        true
    }

    fn woken(&mut self, time: u64, pid: u32, cpu: u32, inside: bool) {
        let idle = self.current.get(cpu as usize).map(|current| current.pid) == Some(IDLE.pid);
        let Some(task) = self.tasks.get_mut(&pid) else {
            return;
        };
        if task.runs_since.is_some() {
            // It had not gone to sleep yet: nobody chose a CPU, and nobody waits.
            task.woken = None;
            return;
        }
        task.waits_since = Some(time);
        let Some(woken) = task.woken.filter(|_| inside) else {
            return;
        };
        let measured = &mut self.measured;
        measured.wakeups += 1;
        measured.to_idle += u64::from(idle);
        if cpu == woken.prev_cpu {
            measured.to_prev += 1;
        } else if cpu == woken.waker_cpu {
            measured.to_waker += 1;
        }
    }

    /// Books who still runs.
    fn end(&mut self) {
        let to = self.window.to;
        for cpu in 0..self.current.len() as u32 {
            let current = self.current[cpu as usize];
            self.leaves(to, cpu, current, true);
        }
    }
}

fn figures(window: Window, nr_cpus: usize, mut measured: Sums) -> Measurements {
    let mut figures = Measurements::new();
    let seconds = (window.to - window.from) as f64 / 1e9;
    let mut put = |name: &str, of: Option<i32>, value: f64, samples: u64| {
        figures.insert(key(rule_of(name), of), Measurement { value, samples });
    };
    put("elapsed_s", None, seconds, measured.switches);
    let mut rate = |name, count: u64| put(name, None, count as f64 / seconds, count);
    rate("context_switches_per_s", measured.switches);
    rate("wakeups_per_s", measured.wakeups);
    let migrated = (measured.migrations, measured.wakeups);
    if nr_cpus > 1 {
        rate("migrations_per_s", migrated.0);
    }
    let mut share = |name, part: u64, whole: u64| {
        if whole > 0 {
            put(name, None, 100.0 * part as f64 / whole as f64, whole);
        }
    };
    let slices = measured.slices.len() as u64;
    share("still_runnable_percent", measured.stays, slices);
    let wakeups = measured.wakeups;
    share("wakeups_to_idle_percent", measured.to_idle, wakeups);
    if nr_cpus > 1 {
        let other = wakeups - measured.to_prev - measured.to_waker;
        share("wakeups_to_previous_percent", measured.to_prev, wakeups);
        share("wakeups_to_waker_percent", measured.to_waker, wakeups);
        share("wakeups_to_other_percent", other, wakeups);
    }
    for (name, values) in [
        ("wakeup_latency", &mut measured.latency),
        ("run_delay", &mut measured.delay),
        ("slice", &mut measured.slices),
    ] {
        values.sort_unstable();
        for percent in [50, 95, 99] {
            let name = format!("{name}_p{percent}_us");
            if let Some(ns) = percentile(values, percent)
                && RULES.iter().any(|rule| rule.name == name)
            {
                put(&name, None, ns as f64 / 1e3, values.len() as u64);
            }
        }
    }
    measured.busy.sort_unstable_by(|a, b| b.cmp(a));
    for (rank, busy) in (1..).zip(&measured.busy) {
        put(RESIDENCY, Some(rank), *busy as f64 / 1e7 / seconds, slices);
    }
    // Nice values share a CPU only where there are several.
    let fair = |(prio, _): &(&i32, &(u64, u64))| **prio >= FAIR;
    if measured.by_prio.iter().filter(fair).count() > 1 {
        let whole: u64 = measured.by_prio.values().map(|(ns, _)| ns).sum();
        for (prio, (ns, slices)) in measured.by_prio.iter().filter(fair) {
            let share = 100.0 * *ns as f64 / whole.max(1) as f64;
            put(NICE_SHARE, Some(prio - NICE_0), share, *slices);
        }
    }
    figures
}

/// Of sorted values.
fn percentile(values: &[u64], percent: usize) -> Option<u64> {
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests;
