// SPDX-License-Identifier: GPL-2.0-only
//! Makes programs of the events of one window: a stretch of a recording in which nothing was lost.
//!
//! Each task's program is what the task was seen to do, in the order of its events. Work is the time
//! on a CPU by its speed; a sleep is named by what ended it.
//!
//! | ended by | operation | goes on |
//! |---|---|---|
//! | a task that is replayed | `Await`, and `Wake` in the waker's program | when that task gets there |
//! | the same, which releases a lock | `Await`, and `Wake` without `hand_off` | as above, or at once |
//! | the same, before the sleep | `Await`, and `Wake` without `hand_off` | as above, or at once |
//! | a timer | `SleepUntil`, or `SleepFor` of a pause | at that time after the start, or after as long |
//! | a device, a task that is left out | `Complete` | after as long as was recorded |
//!
//! A replay cannot deadlock. In the order of the recording each waking stands behind the beginning
//! of the sleep that it ends, or does not wait for it. So the earliest operation that was not
//! carried out yet can be: whatever it needs stands before it.

pub(crate) mod calls;
mod cuts;
mod turns;
mod wakings;

use std::collections::{BTreeSet, HashMap, HashSet};

use alight_machine::{CpuSet, Machine};
use alight_recording::workload::{Event, Interrupt, TaskFact, What};
use alight_workload::blocks::Cut;
use alight_workload::program::{AttributesId, Begins, Op};

use crate::attributes;
use crate::channels::Channels;
use crate::charges::Charges;
use crate::health::Health;
use crate::interrupts::Nesting;
use crate::roles::Roles;
use crate::task::{Charged, Role, State, Task};
use crate::ticks::Ticks;
use crate::work::Speeds;

/// The idle task.
const IDLE: u32 = 0;

/// Programs in the making.
pub(crate) struct Window<'a> {
    machine: &'a Machine,
    pub channels: &'a Channels,
    all_cpus: CpuSet,
    pub roles: Roles,
    pub start: u64,
    pub end: u64,
    speeds: Speeds<'a>,
    charges: Charges<'a>,
    cpus: Vec<Cpu>,
    /// Events tell how woken tasks are queued.
    wakeups_told: bool,
    /// Interrupts of timers are told, and the tick is one of them.
    timers_told: bool,
    /// Events tell when wakeups are done.
    ends_told: bool,
    pub tasks: Vec<Task>,
    /// Who has waited on which futex.
    waited_on: HashSet<(u64, usize)>,
    by_pid: HashMap<u32, usize>,
    /// Attributes that tasks change to.
    pub changes: Vec<alight_workload::program::Attributes>,
    pub health: Health,
    /// When all tasks were cut, ns after the start.
    pub cuts: Vec<u64>,
    /// Length of a block, ns.
    block_ns: Option<u64>,
    /// Blocks in which a task is born or ends.
    pub uneven: BTreeSet<usize>,
    pub ticks: Ticks,
}

/// What is known of a CPU.
#[derive(Debug, Clone, Default)]
struct Cpu {
    current: Option<u32>,
    interrupts: Nesting,
    /// Its clock is known.
    clock_told: bool,
    /// How long the next switch takes, ns, if it is told when it begins.
    switch_ns: Option<u64>,
    /// How much later than the model has it the next task comes, ns.
    late_ns: u64,
    /// Events tell when it is idle.
    idles_told: bool,
}

impl<'a> Window<'a> {
    pub fn new(
        (machine, channels): (&'a Machine, &'a Channels),
        roles: Roles,
        start: u64,
        block_ns: Option<u64>,
    ) -> Self {
        let nr_cpus = machine.cpus.len();
        Window {
            machine,
            channels,
            all_cpus: CpuSet::first_n(nr_cpus),
            roles,
            start,
            end: start,
            speeds: Speeds::new(machine, start),
            charges: Charges::new(machine),
            cpus: vec![Cpu::default(); nr_cpus],
            wakeups_told: false,
            timers_told: false,
            ends_told: false,
            tasks: Vec::new(),
            waited_on: HashSet::new(),
            by_pid: HashMap::new(),
            changes: Vec::new(),
            health: Health::default(),
            cuts: vec![],
            block_ns,
            uneven: BTreeSet::new(),
            ticks: Ticks::new(machine.hz),
        }
    }

    /// What is known of a task from now on. False if it is the first that tells which tasks are of
    /// the workload, after some were taken for it: the window has to begin here.
    pub fn fact(&mut self, fact: &TaskFact) -> bool {
        self.end = fact.time;
        if self.roles.learn(fact) && !self.tasks.is_empty() {
            return false;
        }
        self.changes_to(fact);
        true
    }

    fn changes_to(&mut self, fact: &TaskFact) {
        let Some(&task) = self.by_pid.get(&fact.pid) else {
            return;
        };
        let known = &mut self.tasks[task];
        let before = attributes::stated(&known.fact, &self.all_cpus);
        crate::roles::merge(&mut known.fact, fact);
        let after = attributes::stated(&known.fact, &self.all_cpus);
        let states = fact.policy.is_some() || fact.nice.is_some();
        let Some(taken) = attributes::taken_on(&before, &after, states) else {
            return;
        };
        if !known.is_replayed() {
            return;
        }
        self.book(fact.time, task);
        let known = &mut self.tasks[task];
        if !known.has_begun() {
            known.attributes = after;
            return;
        }
        if let State::Running { cpu, .. } = self.tasks[task].state {
            self.tasks[task].owe(self.charges.attributes(cpu));
        }
        let id = self.changes.len() as AttributesId;
        self.changes.push(taken);
        self.tasks[task].push(Op::SetAttributes { attributes: id });
    }

    /// Something happened.
    pub fn event(&mut self, event: &Event) {
        self.end = event.time;
        self.cut_until(event.time);
        let (now, cpu) = (event.time, usize::from(event.cpu));
        if cpu >= self.cpus.len() {
            return;
        }
        match event.what {
            What::Switch {
                prev,
                prev_prio,
                left,
                next,
                next_prio,
            } => {
                self.leaves(now, cpu, (prev, prev_prio), left, next);
                self.comes(now, cpu, next, next_prio);
            }
            What::Waking {
                pid,
                prio,
                current,
                context,
                sync,
                prev_cpu,
            } => self.waking(
                now,
                cpu,
                (pid, prio, prev_cpu.into()),
                (current, context),
                sync.unwrap_or(false),
            ),
            What::Wakeup {
                pid, target_cpu, ..
            } => {
                self.is_queued(cpu, pid, target_cpu.into());
                self.did_not_sleep(pid);
            }
            what => self.beside(now, cpu, what),
        }
    }

    /// Something happened beside switches and wakings.
    fn beside(&mut self, now: u64, cpu: usize, what: What) {
        match what {
            What::Fork { parent, child } => self.forks(now, cpu, parent, child),
            What::Yield { pid } => self.yields(now, pid),
            What::InterruptBegin { interrupt, late_ns } => {
                if self.cpus[cpu].current == Some(IDLE) {
                    self.switch_begins(cpu);
                }
                let cpu = &mut self.cpus[cpu];
                cpu.interrupts.begin(interrupt, now, late_ns);
                self.timers_told |= interrupt.is_timer();
                if interrupt == Interrupt::Tick {
                    let due = now.saturating_sub(late_ns.into());
                    self.ticks.push(due.saturating_sub(self.start));
                }
            }
            What::InterruptEnd { interrupt } => {
                self.timers_told |= interrupt.is_timer();
                self.cpus[cpu].interrupts.end(interrupt, now);
            }
            What::Frequency { of_cpu, khz } => {
                let of_cpu = usize::from(of_cpu);
                if of_cpu < self.cpus.len() {
                    self.book_current(now, of_cpu);
                    self.cpus[of_cpu].clock_told = true;
                    self.speeds.set_khz(of_cpu, khz, now);
                }
            }
            What::CallBegin {
                pid,
                call,
                object,
                count,
            } => self.call_begins(now, pid, call, object, count),
            What::CallEnd { pid, call, result } => self.call_ends(now, pid, call, result),
            What::Hotplug { .. } => self.health.hotplugs += 1,
            What::Idle { state } => {
                self.cpus[cpu].idles_told = true;
                self.executes(now, cpu, state.is_none());
                self.switch_begins(cpu);
            }
            What::WakingEnd { pid } => self.waking_ends(now, cpu, pid),
            What::Schedule { pid } => self.schedules(now, cpu, pid),
            _ => {}
        }
    }

    /// The task of this number. One that was not seen before is there since the start; it was on
    /// this CPU last, unless a fact says otherwise.
    fn task(&mut self, pid: u32, prio: u16, cpu: usize) -> usize {
        if let Some(&task) = self.by_pid.get(&pid) {
            return task;
        }
        let fact = self.roles.fact(pid);
        let begins = Begins {
            cpu: fact.cpu.unwrap_or(cpu as u32),
            util_avg: fact.util_avg.unwrap_or(0).min(1024),
            wakee_flips: fact.wakee_flips.unwrap_or(0),
            vruntime_ahead: fact.vruntime,
        };
        let task = self.add(pid, prio, fact);
        self.tasks[task].begins = Some(begins);
        task
    }

    fn add(&mut self, pid: u32, prio: u16, fact: TaskFact) -> usize {
        let role = self.roles.role(&fact);
        let mut attributes = attributes::stated(&fact, &self.all_cpus);
        if fact.policy.is_none() && fact.nice.is_none() {
            let by_prio = attributes::of_prio(prio);
            attributes.policy = by_prio.policy;
            attributes.nice = by_prio.nice;
            attributes.rt_priority = by_prio.rt_priority;
        }
        let task = self.tasks.len();
        let mut made = Task::new(pid, role, fact, attributes);
        // It was not there, or was not seen, at the cuts before.
        made.cuts = vec![Cut::default(); self.cuts.len()];
        self.tasks.push(made);
        if self.by_pid.insert(pid, task).is_some() {
            self.health.reused_pids += 1;
        }
        match role {
            Role::Member => self.health.members += 1,
            Role::Background => self.health.background += 1,
            Role::LeftOut => self.health.left_out += 1,
        }
        task
    }

    fn forks(&mut self, now: u64, cpu: usize, parent: u32, child: u32) {
        self.note_uneven();
        let by = self.by_pid.get(&parent).copied();
        let fact = self.roles.child(child, by.map(|by| &self.tasks[by].fact));
        let process = fact.tgid.is_none_or(|tgid| tgid == child);
        // A child begins with the priority of its parent.
        let task = self.add(child, 120, fact);
        if let Some(by) = by {
            let inherited = self.tasks[by].attributes.clone();
            if self.roles.says_nothing(child) {
                self.tasks[task].attributes = inherited;
            }
        }
        let forks = |by: &usize| self.tasks[*by].is_replayed() && !self.tasks[*by].is_asleep();
        match by.filter(forks) {
            Some(by) if self.tasks[task].is_replayed() => {
                self.tasks[task].start_ns = None;
                self.book(now, by);
                self.tasks[by].owe(self.charges.fork(cpu, process));
                self.tasks[by].push(Op::Fork { task: task as u32 });
                self.tasks[task].woken_by = Some(Charged::nothing(by, cpu));
            }
            _ => self.tasks[task].start_ns = Some(now - self.start),
        }
    }

    fn yields(&mut self, now: u64, pid: u32) {
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        self.book(now, task);
        let State::Running { cpu, .. } = self.tasks[task].state else {
            return;
        };
        self.tasks[task].push(Op::Yield);
        self.tasks[task].owe(self.charges.yields(cpu));
        self.health.yields += u64::from(self.tasks[task].is_replayed());
    }

    /// A new window from `now` on; who runs where is known.
    pub fn next(self, now: u64) -> (Self, Self) {
        let mut next = Window::new(
            (self.machine, self.channels),
            self.roles.clone(),
            now,
            self.block_ns,
        );
        for (cpu, was) in self.cpus.iter().enumerate() {
            next.cpus[cpu].clock_told = was.clock_told;
        }
        (self, next)
    }
}
