// SPDX-License-Identifier: GPL-2.0-only
//! The program of one thread.

use super::super::model::{Action, Event, FOR_EVER, Phase, Task};
use super::super::read::check_sched;
use super::attributes::{effective_cpus, of_sched, with_cpus};
use super::definition::{LINE_BYTES, computes};
use super::resources::START_BARRIER;
use super::{Compiler, MAX_FORKS, MAX_OPS};
use crate::assembler::Assembler;
use crate::diagnostic::Refusal;
use crate::program::{Attributes, Op, OptionalId, Policy, Program, TimerMode, TimerOrigin};

/// Work that is put into a loop in which nothing takes time, ns: about what rt-app's own reading of
/// the clock takes (assumed). Time would stand still otherwise.
const LOOP_NS: u64 = 1000;
/// Work without an end is a loop of pieces: of computing, ns, and of memory, bytes.
const PIECE_NS: u64 = 1_000_000;
const PIECE_BYTES: u64 = 1 << 20;

/// What a thread has from the one that created it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Inherited {
    pub forked: bool,
    pub affinity: Option<Vec<u32>>,
}

impl Inherited {
    /// Where delays and timers begin: `t_zero`, which the first thread sets when all that start by
    /// themselves do, and which stays the same for those that are forked later.
    fn timer_origin(&self) -> TimerOrigin {
        match self.forked {
            true => TimerOrigin::WorkloadStart,
            false => TimerOrigin::TaskStart,
        }
    }
}

impl Compiler<'_> {
    pub(super) fn thread_program(
        &mut self,
        definition: usize,
        inherited: &Inherited,
    ) -> Result<Program, Refusal> {
        let config = self.config;
        let task = &config.tasks[definition];
        let mut asm = Assembler::default();
        if !inherited.forked {
            asm.op(Op::Barrier {
                barrier: START_BARRIER,
            });
        }
        let origin = inherited.timer_origin();
        self.delay(&mut asm, task, definition, origin);
        let plan = self.plan(task, inherited)?;
        self.set_attributes(&mut asm, plan.at_start.clone());
        let unrolled = self.definitions[definition].forks;
        let thread = Thread {
            task,
            definition,
            origin,
            plan,
        };
        if unrolled {
            self.unrolled(&mut asm, &thread)?;
        } else {
            asm.repeat(task.loops, |body| {
                for at in 0..task.phases.len() {
                    self.phase_in_loop(body, &thread, at);
                }
            });
        }
        let program = asm.finish();
        self.ops += program.ops.len();
        self.refuse_too_large(task, 0)?;
        Ok(program)
    }

    fn refuse_too_large(&self, task: &Task, more: usize) -> Result<(), Refusal> {
        if self.ops + more <= MAX_OPS {
            return Ok(());
        }
        Err(Refusal::new(
            task.place,
            format!(
                "the file makes more than {MAX_OPS} instructions, because loops that fork are unrolled; fork less"
            ),
        ))
    }

    /// Sleeps until the delay is over. Timers begin there too, so each passes its first point.
    fn delay(&mut self, asm: &mut Assembler, task: &Task, definition: usize, origin: TimerOrigin) {
        if task.delay_ns == 0 {
            return;
        }
        let slots = self.definitions[definition].timers.len().max(1);
        for slot in 0..slots as u8 {
            asm.op(Op::Timer {
                slot,
                period_ns: task.delay_ns,
                mode: TimerMode::Absolute,
                origin,
                histogram: OptionalId::NONE,
            });
        }
    }

    /// Decides which attributes are set where.
    fn plan(&self, task: &Task, inherited: &Inherited) -> Result<Plan, Refusal> {
        let mut policy = task.sched.policy.unwrap_or(Policy::Normal);
        let cpus: Vec<Option<Vec<u32>>> = task
            .phases
            .iter()
            .map(|phase| effective_cpus(task, phase, inherited))
            .collect();
        let moves = cpus.windows(2).any(|pair| pair[0] != pair[1]);
        let mut at_start = of_sched(&task.sched, policy);
        at_start.group = task.taskgroup.clone();
        if !moves {
            at_start.affinity = cpus.first().cloned().flatten();
        }
        let mut at_phases = Vec::with_capacity(task.phases.len());
        for (phase, cpus) in task.phases.iter().zip(&cpus) {
            let mut attributes = Attributes::default();
            if let Some(sched) = &phase.sched {
                policy = sched.policy.unwrap_or(policy);
                check_sched(sched, Some(policy))?;
                attributes = of_sched(sched, policy);
            }
            if moves {
                attributes = with_cpus(attributes, cpus.clone());
            }
            attributes.group = phase.taskgroup.clone();
            at_phases.push(attributes);
        }
        Ok(Plan {
            at_start,
            at_phases,
            cpus,
        })
    }

    fn set_attributes(&mut self, asm: &mut Assembler, attributes: Attributes) {
        if attributes == Attributes::default() {
            return;
        }
        let known = self.workload.attributes.iter();
        let id = known.clone().position(|a| *a == attributes);
        let id = id.unwrap_or_else(|| {
            self.workload.attributes.push(attributes);
            self.workload.attributes.len() - 1
        });
        asm.op(Op::SetAttributes {
            attributes: id as u32,
        });
    }

    fn phase_in_loop(&mut self, asm: &mut Assembler, thread: &Thread, at: usize) {
        self.set_attributes(asm, thread.plan.at_phases[at].clone());
        let phase = &thread.task.phases[at];
        asm.repeat(phase.loops, |body| {
            for event in &phase.events {
                self.event(body, thread, event);
            }
            self.end_of_loop(body, thread, phase);
        });
    }

    /// rt-app counts and logs each pass through a phase.
    fn end_of_loop(&mut self, asm: &mut Assembler, thread: &Thread, phase: &Phase) {
        if !phase.events.iter().any(takes_time) {
            asm.op(Op::Run { ns: LOOP_NS });
        }
        let definition = &self.definitions[thread.definition];
        asm.op(Op::Pass {
            counter: definition.counter,
            log: definition.log,
            computes: phase.events.iter().any(computes),
            cumulative_slack: self.config.global.cumulative_slack,
        });
    }

    /// Writes the loops out as far as they fork, because each fork creates another thread.
    fn unrolled(&mut self, asm: &mut Assembler, thread: &Thread) -> Result<(), Refusal> {
        let mut pass = 0;
        while pass < thread.task.loops {
            for at in 0..thread.task.phases.len() {
                if !self.unrolled_phase(asm, thread, at)? {
                    return Ok(());
                }
            }
            pass += 1;
        }
        Ok(())
    }

    /// Answers whether anything follows.
    fn unrolled_phase(
        &mut self,
        asm: &mut Assembler,
        thread: &Thread,
        at: usize,
    ) -> Result<bool, Refusal> {
        let phase = &thread.task.phases[at];
        let is_fork = |event: &Event| matches!(event.action, Action::Fork { .. });
        if !phase.events.iter().any(is_fork) {
            self.phase_in_loop(asm, thread, at);
            self.refuse_too_large(thread.task, asm.len())?;
            return Ok(phase.loops != u64::MAX);
        }
        self.set_attributes(asm, thread.plan.at_phases[at].clone());
        let mut pass = 0;
        while pass < phase.loops {
            for event in &phase.events {
                match &event.action {
                    Action::Fork { task } => {
                        if !self.fork_event(asm, thread, at, event, task) {
                            return Ok(false);
                        }
                    }
                    _ => self.event(asm, thread, event),
                }
            }
            self.end_of_loop(asm, thread, phase);
            self.refuse_too_large(thread.task, asm.len())?;
            pass += 1;
        }
        Ok(true)
    }

    /// Answers `false` where rt-app gives up.
    fn fork_event(
        &mut self,
        asm: &mut Assembler,
        thread: &Thread,
        phase: usize,
        event: &Event,
        name: &str,
    ) -> bool {
        let inherited = Inherited {
            forked: true,
            affinity: thread.plan.cpus[phase].clone(),
        };
        match self.fork(name, inherited) {
            Some(task) => {
                asm.op(Op::Fork { task });
                true
            }
            None => {
                self.remarks.warn(
                    event.place,
                    format!(
                        "`{name}` could be forked more than {MAX_FORKS} times; rt-app ends there, and so does the forking thread here"
                    ),
                );
                asm.op(Op::Exit);
                false
            }
        }
    }

    fn event(&mut self, asm: &mut Assembler, thread: &Thread, event: &Event) {
        if let Some(piece) = piece_of_endless(&event.action) {
            return asm.repeat(u64::MAX, |body| body.op(piece));
        }
        let resources = &mut self.resources;
        match &event.action {
            Action::Run { ns } => asm.op(Op::Run { ns: *ns }),
            Action::RunWall { ns } => asm.op(Op::RunWall { ns: *ns }),
            Action::Sleep { ns } => asm.op(Op::Sleep { ns: *ns }),
            Action::Timer {
                name, period_ns, ..
            } => self.timer(asm, thread, name, *period_ns),
            Action::Lock { mutex } => asm.op(Op::Lock {
                mutex: resources.mutex(mutex),
            }),
            Action::Unlock { mutex } => asm.op(Op::Unlock {
                mutex: resources.mutex(mutex),
            }),
            Action::Wait { condition, mutex } => asm.op(Op::Wait {
                condition: resources.condition(condition),
                mutex: Some(resources.mutex(mutex)),
            }),
            Action::Sync { condition, mutex } => {
                let condition = resources.condition(condition);
                asm.op(Op::Signal { condition });
                asm.op(Op::Wait {
                    condition,
                    mutex: Some(resources.mutex(mutex)),
                });
            }
            Action::Signal { condition } => asm.op(Op::Signal {
                condition: resources.condition(condition),
            }),
            Action::Broadcast { condition } => asm.op(Op::Broadcast {
                condition: resources.condition(condition),
            }),
            Action::SemPost { semaphore } => asm.op(Op::SemPost {
                semaphore: resources.semaphore(semaphore),
            }),
            Action::SemWait { semaphore } => asm.op(Op::SemWait {
                semaphore: resources.semaphore(semaphore),
            }),
            Action::Suspend { name } => {
                let mutex = resources.mutex(name);
                let condition = resources.condition(name);
                asm.op(Op::Lock { mutex });
                asm.op(Op::Wait {
                    condition,
                    mutex: Some(mutex),
                });
                asm.op(Op::Unlock { mutex });
            }
            Action::Resume { name } => {
                let mutex = resources.mutex(name);
                let condition = resources.condition(name);
                asm.op(Op::Lock { mutex });
                asm.op(Op::Broadcast { condition });
                asm.op(Op::Unlock { mutex });
            }
            Action::Barrier { name } => asm.op(Op::Barrier {
                barrier: resources.barrier(name),
            }),
            Action::Memory { bytes, .. } => asm.op(Op::Memory { bytes: *bytes }),
            Action::Chase { loads, .. } => asm.op(Op::Chase {
                bytes: loads.saturating_mul(LINE_BYTES),
            }),
            Action::Io { bytes } => asm.op(Op::Io { bytes: *bytes }),
            Action::Yield => asm.op(Op::Yield),
            // Loops that fork are unrolled, and fork_event() sees to them.
            Action::Fork { .. } => {}
        }
    }

    fn timer(&mut self, asm: &mut Assembler, thread: &Thread, name: &str, period_ns: u64) {
        let definition = &self.definitions[thread.definition];
        let slot = definition
            .timers
            .iter()
            .position(|(known, _)| known == name);
        let (Some(slot), true) = (slot, period_ns > 0) else {
            return;
        };
        asm.op(Op::Timer {
            slot: slot as u8,
            period_ns,
            mode: definition.timers[slot].1,
            origin: thread.origin,
            histogram: definition.histogram.into(),
        });
    }
}

/// A thread being compiled.
struct Thread<'a> {
    task: &'a Task,
    definition: usize,
    origin: TimerOrigin,
    plan: Plan,
}

/// Attributes at the start and at each phase, and the CPUs of each phase.
struct Plan {
    at_start: Attributes,
    at_phases: Vec<Attributes>,
    cpus: Vec<Option<Vec<u32>>>,
}

/// What work without an end is made of.
fn piece_of_endless(action: &Action) -> Option<Op> {
    let (bytes, ns) = (PIECE_BYTES, PIECE_NS);
    match *action {
        Action::Run { ns: FOR_EVER } => Some(Op::Run { ns }),
        Action::Memory {
            bytes: FOR_EVER, ..
        } => Some(Op::Memory { bytes }),
        Action::Chase {
            loads: FOR_EVER, ..
        } => Some(Op::Chase { bytes }),
        Action::Io { bytes: FOR_EVER } => Some(Op::Io { bytes }),
        _ => None,
    }
}

/// Whether an event takes time by itself or waits.
fn takes_time(event: &Event) -> bool {
    match &event.action {
        Action::Run { ns } => *ns > 0,
        Action::RunWall { .. } => true,
        Action::Sleep { ns } => *ns > 0,
        Action::Memory { bytes, .. } | Action::Io { bytes } => *bytes > 0,
        Action::Chase { loads, .. } => *loads > 0,
        Action::Timer { period_ns, .. } => *period_ns > 0,
        Action::Wait { .. }
        | Action::Sync { .. }
        | Action::Suspend { .. }
        | Action::SemWait { .. } => true,
        // A barrier for one does not wait.
        Action::Barrier { .. }
        | Action::Lock { .. }
        | Action::Unlock { .. }
        | Action::Signal { .. }
        | Action::Broadcast { .. }
        | Action::SemPost { .. }
        | Action::Resume { .. }
        | Action::Yield
        | Action::Fork { .. } => false,
    }
}
