// SPDX-License-Identifier: GPL-2.0-only
//! The events of a run of the model, as a recorder would have seen them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use alight_recording::workload::{Call, Context, Event, Interrupt, Left, What};
use alight_trace::{
    Called, Detail, Event as Traced, Interrupt as Interrupted, PrevState, Sink, TaskRef, Waker,
};

/// The soft interrupt of the scheduler (include/linux/interrupt.h).
const SCHED_SOFTIRQ: u64 = 7;
/// The idle task, and the parent of tasks that nobody forks.
const IDLE: u32 = 0;

/// The events of a run.
pub(super) struct Kept {
    events: Vec<Event>,
    changes: Vec<Change>,
    cpus: Vec<Cpu>,
    latest: BTreeMap<u32, Latest>,
    /// Tasks that are in a call.
    calls: BTreeMap<u32, Call>,
    /// Tasks that are on a CPU.
    running: BTreeSet<u32>,
    /// Tasks that timers of the workload start.
    started: BTreeSet<u32>,
}

/// A task takes on other attributes.
pub(super) struct Change {
    /// When, ns.
    pub time: u64,
    pub pid: u32,
    /// Which of those that the run's workloads list.
    pub attributes: u32,
}

/// The last events of a task.
#[derive(Default, Clone, Copy)]
struct Latest {
    /// When the last one was, ns.
    time: u64,
    /// The same without the switch by which it left its CPU, if that was the last.
    on_cpu: u64,
    /// When it came to the scheduler before that.
    scheduled: u64,
    /// That switch, if it was to the idle task: which of the events.
    to_idle: Option<usize>,
}

#[derive(Default, Clone)]
struct Cpu {
    /// Who runs there.
    current: u32,
    /// Interrupts since the last switch: when each began and ended.
    interrupts: Vec<(u64, u64)>,
    /// What it does in a ns, in ns of a CPU of capacity 1: before the last switch, and since when else.
    rates: Vec<(u64, u64)>,
    /// When the begin of the last interrupt is told, ns.
    entered: u64,
    /// When the last switch, or the end of the last interrupt, is told, ns.
    free_at: u64,
    /// How long the interrupt that goes on is told behind its time, ns.
    behind_ns: u64,
    /// An event of the replay itself is left out; so is what belongs to it.
    unseen: bool,
    /// It was told to enter an idle state, and not yet to leave it.
    idles: bool,
}

impl Kept {
    pub fn new(nr_cpus: usize) -> Self {
        Kept {
            events: vec![],
            changes: vec![],
            cpus: vec![Cpu::default(); nr_cpus],
            latest: BTreeMap::new(),
            calls: BTreeMap::new(),
            running: BTreeSet::new(),
            started: BTreeSet::new(),
        }
    }

    /// Events and changes in the order of their times, from the first task's start on; the clocks of
    /// that time come first.
    pub fn finish(mut self) -> (Vec<Event>, Vec<Change>) {
        self.events.sort_by_key(|event| event.time);
        self.changes.sort_by_key(|change| change.time);
        let starts = |event: &Event| matches!(event.what, What::Fork { .. });
        let Some(first) = self.events.iter().position(starts) else {
            return (self.events, self.changes);
        };
        let begin = self.events[first].time;
        let mut clocks = BTreeMap::new();
        for event in self.events.drain(..first) {
            if let What::Frequency { of_cpu, .. } = event.what {
                clocks.insert(
                    of_cpu,
                    Event {
                        time: begin,
                        ..event
                    },
                );
            }
        }
        let events = clocks.into_values().chain(self.events).collect();
        (events, self.changes)
    }

    /// Not before the last event of the task.
    fn behind_latest(&mut self, pid: u32, time: u64) -> u64 {
        let latest = self.latest.entry(pid).or_default();
        // In the model a task can run elsewhere while the CPU that it left still looks for other
        // work. That CPU is told to idle sooner then.
        let last = match latest.to_idle {
            Some(at) => {
                let switch = &mut self.events[at];
                switch.time = switch
                    .time
                    .min(time.max(latest.on_cpu).max(latest.scheduled));
                switch.time.max(latest.on_cpu)
            }
            None => latest.time,
        };
        let time = time.max(last);
        *latest = Latest {
            time,
            on_cpu: time,
            ..Latest::default()
        };
        time
    }

    /// A waking may come while its task is on its way to sleep, as `try_to_wake_up()` does. The switch
    /// from a task that is still on its CPU does not wait for it.
    fn behind_the_sleep(&mut self, pid: u32, time: u64) -> u64 {
        let latest = self.latest.entry(pid).or_default();
        if self.running.contains(&pid) {
            return time.max(latest.on_cpu).max(latest.scheduled);
        }
        latest.on_cpu = time.max(latest.on_cpu).max(latest.scheduled);
        latest.time = latest.time.max(latest.on_cpu).max(latest.scheduled);
        latest.on_cpu
    }

    /// When an event is told that happens at `time`: the events of a task stay in their order.
    fn in_order(&mut self, time: u64, what: What) -> u64 {
        match what {
            What::Waking { pid, current, .. } => {
                let waker = self.latest.get(&current).map_or(0, |latest| latest.time);
                self.behind_the_sleep(pid, time.max(waker))
            }
            What::Switch { prev, next, .. } => {
                let before = self.latest.get(&prev).copied().unwrap_or_default();
                let time = self.behind_both(prev, next, time);
                let at = self.events.len();
                if let Some(left) = self.latest.get_mut(&prev) {
                    left.on_cpu = before.time;
                    left.scheduled = before.scheduled;
                    left.to_idle = (next == IDLE).then_some(at);
                }
                time
            }
            What::Fork { parent, child } => self.behind_both(parent, child, time),
            What::Wakeup { pid, .. }
            | What::WakeupNew { pid, .. }
            | What::Migrate { pid, .. }
            | What::Exit { pid } => self.behind_latest(pid, time),
            _ => time,
        }
    }

    fn behind_both(&mut self, a: u32, b: u32, time: u64) -> u64 {
        let tasks = [a, b].into_iter().filter(|&pid| pid != IDLE);
        let time = tasks
            .clone()
            .fold(time, |time, pid| self.behind_latest(pid, time));
        for pid in tasks {
            self.behind_latest(pid, time);
        }
        time
    }

    /// The CPU enters an idle state, or leaves the one that it is in.
    fn idles(&mut self, time: u64, cpu: u32, state: Option<u32>) {
        let was_idle = std::mem::replace(&mut self.cpus[cpu as usize].idles, state.is_some());
        if was_idle || state.is_some() {
            self.push(time, cpu, What::Idle { state });
        }
    }

    fn push(&mut self, time: u64, cpu: u32, what: What) {
        let cpu = cpu as u16;
        self.events.push(Event { time, cpu, what });
    }

    /// An interrupt, which was due at some time, begins on the CPU, or one ends.
    fn interrupted(&mut self, time: u64, cpu: u32, by: Interrupted, due: Option<u64>) {
        let interrupt = match by {
            Interrupted::Tick => Interrupt::Tick,
            Interrupted::Timer => Interrupt::Hrtimer(0),
            Interrupted::Device => Interrupt::Device(1),
            Interrupted::Ipi => Interrupt::Ipi(0),
            Interrupted::KernelThread => Interrupt::Softirq(SCHED_SOFTIRQ),
        };
        let of = &mut self.cpus[cpu as usize];
        let behind_ns = match due {
            // The model may handle it in the middle of a switch, whose rest is charged behind it.
            Some(_) => of.free_at.saturating_sub(time),
            None => std::mem::take(&mut of.behind_ns),
        };
        let time = time + behind_ns;
        let what = match due {
            Some(due) => {
                of.behind_ns = behind_ns;
                of.entered = time;
                let late_ns = (time - due).try_into().unwrap_or(u32::MAX);
                What::InterruptBegin { interrupt, late_ns }
            }
            None => {
                of.interrupts.push((of.entered, time));
                of.free_at = time;
                What::InterruptEnd { interrupt }
            }
        };
        self.push(time, cpu, what);
    }

    /// When the current task of the CPU began this work, which ends now: at the whole ns before.
    fn began(&self, now: u64, cpu: u32, work: u64) -> u64 {
        let of = &self.cpus[cpu as usize];
        let mut interrupts = of.interrupts.iter().rev().peekable();
        let (mut at, mut left) = (now, work);
        for &(since, rate) in of.rates.iter().rev() {
            while at > since {
                let interrupt = interrupts.next_if(|&&(_, end)| end > since);
                let from = interrupt.map_or(since, |&(_, end)| end.min(at));
                let done = rate.saturating_mul(at - from);
                if done >= left {
                    return at - left.div_ceil(rate);
                }
                left -= done;
                at = interrupt.map_or(from, |&(begin, _)| begin.min(from));
            }
        }
        at
    }

    /// The last event is a waking: from where it came.
    fn waking_comes_from(&mut self, by: Waker, is_sync: bool) {
        let Some(Event { cpu, what, .. }) = self.events.last_mut() else {
            return;
        };
        let What::Waking { context, sync, .. } = what else {
            return;
        };
        *sync = Some(is_sync);
        *context = Some(match by {
            Waker::Task => Context::Task,
            Waker::HandOff | Waker::Begin | Waker::Timer | Waker::Device => Context::Hardirq,
        });
        // These are of the replay, and not of what is replayed.
        let unseen = matches!(by, Waker::HandOff | Waker::Begin);
        self.cpus[usize::from(*cpu)].unseen = unseen;
        if unseen {
            self.events.pop();
        }
    }

    /// A call is told: the first time it begins.
    fn call_begins(&mut self, time: u64, cpu: u32, detail: Detail) {
        let Detail::Call {
            task,
            writes,
            socket,
            channel,
            bytes,
            work,
        } = detail
        else {
            return;
        };
        let pid = task.pid;
        if self.calls.contains_key(&pid) {
            return;
        }
        let call = match (socket, writes) {
            (false, false) => Call::PipeRead,
            (false, true) => Call::PipeWrite,
            (true, false) => Call::SocketReceive,
            (true, true) => Call::SocketSend,
        };
        let began = self.began(time, cpu, work);
        let time = self.behind_latest(pid, began);
        self.calls.insert(pid, call);
        let what = What::CallBegin {
            pid,
            call,
            object: u64::from(channel) + 1,
            count: bytes,
        };
        self.push(time, cpu, what);
    }

    /// A call on a futex begins, or one that waits for a channel.
    fn waits_or_wakes(&mut self, time: u64, cpu: u32, pid: u32, called: Called) {
        let (call, object, count) = match called {
            Called::FutexWait(futex) => (Call::FutexWait, futex, 0),
            Called::FutexWake(futex, most) => (Call::FutexWake, futex, most),
            Called::Poll(channel) => (Call::Poll, u64::from(channel) + 1, 0),
        };
        let time = self.behind_latest(pid, time);
        self.calls.insert(pid, call);
        let what = What::CallBegin {
            pid,
            call,
            object,
            count,
        };
        self.push(time, cpu, what);
    }

    fn call_ends(&mut self, time: u64, cpu: u32, pid: u32, result: i32) {
        if let Some(call) = self.calls.remove(&pid) {
            let time = self.behind_latest(pid, time);
            self.push(time, cpu, What::CallEnd { pid, call, result });
        }
    }
}

impl Sink for Kept {
    fn event(&mut self, time_ns: u64, cpu: u32, event: Traced<'_>) -> io::Result<()> {
        self.event_reached(time_ns, time_ns, cpu, event)
    }

    /// A kernel tells when a CPU gets to something. Events of one task stay in their order.
    fn event_reached(
        &mut self,
        time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Traced<'_>,
    ) -> io::Result<()> {
        match event {
            Traced::IdleEnter { state } => self.idles(time_ns, cpu, Some(state)),
            Traced::IdleExit => self.idles(time_ns, cpu, None),
            _ => {}
        }
        let of = &mut self.cpus[cpu as usize];
        let Some(what) = what(cpu, &event, of.current) else {
            return Ok(());
        };
        if let What::Switch { prev, next, .. } = what {
            self.running.remove(&prev);
            self.running.insert(next);
            of.current = next;
            of.interrupts.clear();
            of.rates.drain(..of.rates.len().saturating_sub(1));
        }
        let time = match what {
            // The timer that starts it is not of the workload.
            What::Fork {
                parent: IDLE,
                child,
            } => {
                self.started.insert(child);
                time_ns
            }
            What::WakeupNew { pid, .. } if self.started.contains(&pid) => time_ns,
            What::Frequency { .. } => reached_ns,
            _ => reached_ns + self.cpus[cpu as usize].behind_ns,
        };
        let time = self.in_order(time, what);
        if let What::Switch { .. } = what {
            self.cpus[cpu as usize].free_at = time;
        }
        self.push(time, cpu, what);
        Ok(())
    }

    fn wants_details(&self) -> bool {
        true
    }

    fn detail(&mut self, time: u64, cpu: u32, detail: Detail) -> io::Result<()> {
        match detail {
            Detail::Waking { by, sync, .. } => self.waking_comes_from(by, sync),
            Detail::Yield { task, work } => {
                let pid = task.pid;
                let time = self.began(time, cpu, work);
                let time = self.behind_latest(pid, time);
                self.push(time, cpu, What::Yield { pid });
            }
            Detail::Interrupt {
                interrupt,
                due_ns,
                reached_ns,
            } => self.interrupted(reached_ns, cpu, interrupt, due_ns),
            Detail::Woken { task, reached_ns } => {
                let pid = task.pid;
                if !std::mem::take(&mut self.cpus[cpu as usize].unseen) {
                    let time = reached_ns + self.cpus[cpu as usize].behind_ns;
                    self.push(time, cpu, What::WakingEnd { pid });
                }
            }
            Detail::Schedule { task, reached_ns } => {
                let pid = task.pid;
                // The call that it is preempted in, which began before, is told behind it.
                let latest = self.latest.entry(pid).or_default();
                let time = latest.time.max(reached_ns);
                latest.scheduled = time;
                self.push(time, cpu, What::Schedule { pid });
            }
            Detail::Call { .. } => self.call_begins(time, cpu, detail),
            Detail::CallBegin {
                task,
                call,
                reached_ns,
            } => self.waits_or_wakes(reached_ns, cpu, task.pid, call),
            Detail::CallEnd {
                task,
                bytes,
                reached_ns,
            } => self.call_ends(reached_ns, cpu, task.pid, bytes as i32),
            Detail::Executes => self.idles(time, cpu, None),
            Detail::Speed { rate } => self.cpus[cpu as usize].rates.push((time, rate)),
            Detail::Attributes { task, attributes } => self.changes.push(Change {
                time,
                pid: task.pid,
                attributes,
            }),
        }
        Ok(())
    }
}

/// `current` runs on the CPU.
fn what(cpu: u32, event: &Traced<'_>, current: u32) -> Option<What> {
    let prio = |task: &TaskRef| task.prio as u16;
    Some(match event {
        Traced::Switch {
            prev,
            prev_state,
            next,
        } => What::Switch {
            prev: prev.pid,
            prev_prio: prio(prev),
            left: match prev_state {
                PrevState::Running => Left::Runnable,
                PrevState::Preempted => Left::Preempted,
                PrevState::Sleeping => Left::Asleep,
                PrevState::Uninterruptible => Left::Blocked,
                PrevState::Dead => Left::Dead,
            },
            next: next.pid,
            next_prio: prio(next),
        },
        Traced::Waking { task, target_cpu } => What::Waking {
            pid: task.pid,
            prio: prio(task),
            current,
            prev_cpu: *target_cpu as u16,
            // A detail follows that tells both.
            context: None,
            sync: None,
        },
        Traced::Wakeup { task, target_cpu } => What::Wakeup {
            pid: task.pid,
            prio: prio(task),
            target_cpu: *target_cpu as u16,
        },
        Traced::WakeupNew { task, target_cpu } => What::WakeupNew {
            pid: task.pid,
            prio: prio(task),
            target_cpu: *target_cpu as u16,
        },
        Traced::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => What::Migrate {
            pid: task.pid,
            prio: prio(task),
            from_cpu: *orig_cpu as u16,
            to_cpu: *dest_cpu as u16,
        },
        Traced::Fork { parent, child } => What::Fork {
            parent: parent.pid,
            child: child.pid,
        },
        Traced::Exit { task } => What::Exit { pid: task.pid },
        Traced::Frequency { khz } => What::Frequency {
            of_cpu: cpu as u16,
            khz: *khz,
        },
        _ => return None,
    })
}
