// SPDX-License-Identifier: GPL-2.0-only
//! What a run is judged by, taken from its events.

use std::collections::BTreeMap;
use std::io;

use alight_trace::{Event, PrevState, Signals, Sink};
use serde::{Deserialize, Serialize};

/// A run: enough to judge it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its tasks, in the order of the plan.
    pub tasks: Vec<TaskSeen>,
    /// CPUs that were off: CPU, from, to (ns).
    pub offline: Vec<(u32, u64, u64)>,
    /// Changes of clocks: ns, CPU, kHz.
    pub clocks: Vec<(u64, u32, u32)>,
    /// Events that a tool counted.
    pub events: u64,
}

/// The observed life of one task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSeen {
    /// Start of each of its phases, ns.
    pub phases: Vec<u64>,
    /// Its end, ns; `None`: it was still there when the run ended.
    pub end: Option<u64>,
    /// Times of its wakeups, ns.
    pub wakings: Vec<u64>,
    /// Its slices on CPUs, in order.
    pub slices: Vec<Slice>,
    /// Activations that it completed.
    pub activations: u64,
    /// Those that ended after the next one was due.
    pub late: u64,
    /// Load tracking, if the plan asks for it.
    pub samples: Vec<Sample>,
}

/// A time on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Start, ns.
    pub from: u64,
    /// End, ns.
    pub to: u64,
    /// The CPU.
    pub cpu: u32,
    /// It slept then; else it was preempted.
    pub sleeps: bool,
    /// Who came instead: index of the task; `None`: nobody, or none of the plan's.
    pub next: Option<u32>,
}

/// Load tracking of a task and of its queue behind an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Time, ns.
    pub at: u64,
    /// The CPU.
    pub cpu: u32,
    /// `util_avg`.
    pub util: u32,
    /// `load_avg`.
    pub load: u32,
    /// `util_est.enqueued`; what 6.8 and later have in its place is `ewma` too.
    pub enqueued: u32,
    /// `util_est.ewma`.
    pub ewma: u32,
    /// The queue's `util_avg`.
    pub queue_util: u32,
    /// The queue's `load_avg`.
    pub queue_load: u32,
    /// The last one before it slept.
    pub sleeps: bool,
}

impl Slice {
    /// Length, ns.
    pub fn length(&self) -> u64 {
        self.to - self.from
    }
}

impl TaskSeen {
    /// Time that it ran within a window on CPUs of which `chosen` holds, ns.
    pub fn ran(&self, window: (u64, u64), chosen: impl Fn(u32) -> bool) -> u64 {
        let within = |slice: &Slice| {
            let (from, to) = (slice.from.max(window.0), slice.to.min(window.1));
            to.saturating_sub(from)
        };
        let mine = self.slices.iter().filter(|slice| chosen(slice.cpu));
        mine.map(within).sum()
    }

    /// Slices that begin an activation: the first, and each behind a sleep.
    pub fn starts(&self) -> impl Iterator<Item = &Slice> {
        let slept = std::iter::once(true).chain(self.slices.iter().map(|slice| slice.sleeps));
        let with = self.slices.iter().zip(slept);
        with.filter(|(_, slept)| *slept).map(|(slice, _)| slice)
    }

    /// Window of the phase at this place.
    pub fn phase(&self, at: usize) -> (u64, u64) {
        let last = self.slices.last().map_or(0, |slice| slice.to);
        let end = self.end.unwrap_or(last);
        let next = self.phases.get(at + 1).copied();
        (self.phases[at], next.unwrap_or(end))
    }
}

/// Takes notes while a run goes on.
#[derive(Debug, Default)]
pub struct Observer {
    /// Index of a task by thread id.
    numbers: BTreeMap<u32, u32>,
    running: BTreeMap<u32, (u64, u32)>,
    signals: bool,
    /// The observations so far.
    pub seen: Seen,
}

impl Observer {
    /// For `tasks` of these thread ids; `signals`: with load tracking.
    pub fn new(pids: impl IntoIterator<Item = u32>, signals: bool) -> Self {
        let numbers: BTreeMap<u32, u32> = pids.into_iter().zip(0..).collect();
        let seen = Seen {
            tasks: vec![TaskSeen::default(); numbers.len()],
            ..Seen::default()
        };
        Observer {
            numbers,
            signals,
            seen,
            running: BTreeMap::new(),
        }
    }

    fn task(&mut self, pid: u32) -> Option<&mut TaskSeen> {
        let number = *self.numbers.get(&pid)?;
        self.seen.tasks.get_mut(number as usize)
    }

    fn stopped(&mut self, now: u64, pid: u32, state: PrevState, next: u32) {
        let Some((from, cpu)) = self.running.remove(&pid) else {
            return;
        };
        let next = self.numbers.get(&next).copied();
        let Some(task) = self.task(pid) else { return };
        let dead = state == PrevState::Dead;
        let sleeps = matches!(state, PrevState::Sleeping | PrevState::Uninterruptible) || dead;
        task.slices.push(Slice {
            from,
            to: now,
            cpu,
            sleeps,
            next: next.filter(|_| !sleeps),
        });
        if dead {
            task.end = Some(now);
        }
    }
}

impl Sink for Observer {
    fn wants_signals(&self) -> bool {
        self.signals
    }

    fn signals(&mut self, at: u64, cpu: u32, of: &Signals) -> io::Result<()> {
        if let Some(task) = self.task(of.task.pid) {
            task.samples.push(Sample {
                at,
                cpu,
                util: of.util_avg,
                load: of.load_avg,
                enqueued: of.util_est_enqueued,
                ewma: of.util_est_ewma,
                queue_util: of.queue_util_avg,
                queue_load: of.queue_load_avg,
                sleeps: of.sleeps,
            });
        }
        Ok(())
    }

    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Waking { task, .. } => {
                if let Some(task) = self.task(task.pid) {
                    task.wakings.push(time_ns);
                }
            }
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                self.stopped(time_ns, prev.pid, prev_state, next.pid);
                if self.numbers.contains_key(&next.pid) {
                    self.running.insert(next.pid, (time_ns, cpu));
                }
            }
            Event::Frequency { khz } => self.seen.clocks.push((time_ns, cpu, khz)),
            _ => {}
        }
        Ok(())
    }
}
