// SPDX-License-Identifier: GPL-2.0-only
//! Runs the tasks' programs: each operation first costs time on its CPU, then
//! takes effect; what it wakes or waits for may change who runs.

use crate::program::effect::Effect;
mod sleep;

use crate::base::queue::NEVER;
use crate::base::rng::{Purpose, below};
use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::place::Place;
use crate::program::Programs;
use crate::world::World;
use crate::world::cost::OpCost;
use crate::world::state::Call;
use crate::world::state::Life;
use alight_workload::program::{LOOP_SLOTS, Op};
pub(crate) use sleep::TIMER_SLACK;

/// Operations of one task in one instant that are taken for a loop without end.
const MOST_IN_NO_TIME: u32 = 1_000_000;
/// What an operation costs before it takes effect.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    units: u64,
    stall: u64,
    wall_until: u64,
}

impl World<'_> {
    fn step(&mut self, task: usize) {
        self.tasks[task].pc += 1;
        self.tasks[task].fresh = true;
    }

    /// Is the operation at `pc`, which costs so much, one that rt-app logs as `run`?
    fn computes_at(&self, pc: u32, cost: Cost) -> bool {
        match self.ops[pc as usize] {
            Op::Run { .. } => cost.units != 0,
            Op::RunWall { .. } => cost.wall_until > self.now,
            _ => false,
        }
    }

    /// Goes on behind the operation at `pc`, through ends of loops, which
    /// concern nobody else; returns the operation found.
    #[inline]
    fn skip_loops(&mut self, task: usize) -> Op {
        self.tasks[task].pc += 1;
        self.leave_loops(task);
        self.ops[self.tasks[task].pc as usize]
    }

    /// Goes through the ends of loops that stand at `pc`.
    #[inline]
    pub fn leave_loops(&mut self, task: usize) {
        // A loop of loop ends would not end: its bound is the nesting.
        for _ in 0..LOOP_SLOTS {
            let Op::LoopEnd { slot, begin } = self.ops[self.tasks[task].pc as usize] else {
                break;
            };
            let next = self.loop_end(task, slot, begin);
            self.tasks[task].pc = next.unwrap_or(self.tasks[task].pc + 1);
        }
    }

    /// Where a loop goes on, if it does.
    #[inline]
    fn loop_end(&mut self, task: usize, slot: u8, begin: u32) -> Option<u32> {
        let left = &mut self.tasks[task].loops[slot as usize];
        if *left != u64::MAX {
            *left -= 1;
        }
        (*left != 0).then_some(begin)
    }

    /// Lines of `bytes` come several at a time.
    fn stream_ns(&self, bytes: u64) -> u64 {
        self.chase_ns(bytes) / u64::from(self.machine.memory.refill_mlp.max(1))
    }

    /// Lines of `bytes` come one after the other.
    fn chase_ns(&self, bytes: u64) -> u64 {
        let line = u64::from(self.machine.memory.dram_line_ns);
        (bytes / 64).saturating_mul(line).min(NEVER)
    }
}

impl Place<'_> {
    fn wait_children(&mut self, cpu: usize, task: usize) -> Effect {
        if self.tasks[task].children == 0 {
            return Effect::Done;
        }
        self.sleep_current(cpu);
        Effect::RetryAfterSleep
    }
}

impl Programs<'_> {
    /// Sets what the operation at `pc` costs; true if that takes time.
    ///
    /// Work has no effect of its own: it is one segment with the operation
    /// behind it, which then stands at `pc`.
    #[inline(always)]
    pub fn begin(&mut self, cpu: usize, task: usize) -> bool {
        let mut cost = self.cost(cpu, task);
        let mut fresh = false;
        if self.tasks[task].logged && self.computes_at(self.tasks[task].pc, cost) {
            self.run_begins(task);
        }
        if matches!(self.ops[self.tasks[task].pc as usize], Op::Run { .. }) {
            match self.skip_loops(task) {
                Op::Run { .. } | Op::RunWall { .. } => fresh = true,
                _ => {
                    let more = self.cost(cpu, task);
                    cost.units = cost.units.saturating_add(more.units);
                    cost.stall += more.stall;
                }
            }
        }
        let t = &mut self.tasks[task];
        t.fresh = fresh;
        t.units = cost.units;
        t.stall = cost.stall;
        t.wall_until = cost.wall_until;
        cost.units != 0
            || cost.stall != 0
            || cost.wall_until > self.now
            || self.cpus[cpu].steal != 0
    }

    /// When the work of the segment that ends now was done: the operation at `pc`, which is one
    /// with it, comes behind.
    fn work_ended(&self, cpu: usize, task: usize) -> u64 {
        let t = &self.tasks[task];
        if t.fresh || matches!(self.ops[t.pc as usize], Op::RunWall { .. }) {
            return self.now;
        }
        let behind = self.cost(cpu, task);
        self.now - behind.stall - behind.units.div_ceil(self.cpus[cpu].rate)
    }

    /// What the operation at `pc` costs.
    #[inline(always)]
    fn cost(&self, cpu: usize, task: usize) -> Cost {
        let pc = self.tasks[task].pc as usize;
        match self.op_costs[pc] {
            OpCost::Own => self.own_cost(cpu, task, self.ops[pc]),
            fixed => Cost {
                units: self.costs(cpu).ops[fixed as usize],
                ..Cost::default()
            },
        }
    }

    /// Does the current task of `cpu` compute, outside the kernel? A system call
    /// lies at the end of the segment that it is one with.
    pub fn in_user_mode(&self, cpu: usize) -> bool {
        let task = self.cpus[cpu].curr as usize;
        let t = &self.tasks[task];
        match self.ops[t.pc as usize] {
            _ if t.fresh => true,
            Op::Run { .. } | Op::RunWall { .. } | Op::Memory { .. } | Op::Chase { .. } => true,
            _ => t.units > self.cost(cpu, task).units,
        }
    }

    #[inline]
    fn own_cost(&self, cpu: usize, task: usize, op: Op) -> Cost {
        match op {
            // Scaled to units of work when the program was loaded.
            Op::Run { ns } => Cost {
                units: ns,
                ..Cost::default()
            },
            Op::RunWall { ns } => Cost {
                wall_until: self.now + ns,
                ..Cost::default()
            },
            Op::Memory { bytes } => Cost {
                stall: self.stream_ns(bytes),
                ..Cost::default()
            },
            Op::Chase { bytes } => Cost {
                stall: self.chase_ns(bytes),
                ..Cost::default()
            },
            Op::Fork { task: child } => {
                let costs = self.costs(cpu);
                let process = self.tasks[child as usize].process != self.tasks[task].process;
                Cost {
                    units: costs.fork + if process { costs.fork_mm } else { 0 },
                    ..Cost::default()
                }
            }
            Op::WaitChildren if self.tasks[task].children != 0 => Cost {
                units: self.costs(cpu).futex,
                ..Cost::default()
            },
            Op::LockCpu => Cost {
                wall_until: match self.spin_ns(cpu, task) {
                    0 => 0,
                    spin => self.now + spin,
                },
                ..Cost::default()
            },
            _ => Cost::default(),
        }
    }
}

impl Sim<'_> {
    /// The current task of `cpu` has done what its operation costs: let it take
    /// effect, and go on until something takes time.
    #[inline(always)]
    pub fn execute(&mut self, cpu: usize) {
        for _ in 0..MOST_IN_NO_TIME {
            let task = self.cpus[cpu].curr as usize;
            if self.tasks[task].computing {
                let ended_at = self.work_ended(cpu, task);
                self.run_ended(task, ended_at);
            }
            // In a call to wait it is queued: it ends behind that.
            if self.tasks[task].cancelled && self.tasks[task].call != Call::In {
                self.exit(cpu, task);
                return self.schedule(cpu);
            }
            if self.tasks[task].fresh {
                if self.begin(cpu, task) {
                    return;
                }
                // Work of no length stood before other work, which has not begun.
                if self.tasks[task].fresh {
                    continue;
                }
            }
            let op = self.ops[self.tasks[task].pc as usize];
            self.tasks[task].wall_until = 0;
            match self.take_effect(cpu, task, op) {
                Effect::Done => self.step(task),
                Effect::Jump(to) => {
                    self.tasks[task].pc = to;
                    self.tasks[task].fresh = true;
                    self.come_round(cpu, to);
                }
                Effect::DoneAfterSleep => {
                    self.step(task);
                    return self.schedule(cpu);
                }
                Effect::RetryAfterSleep => return self.schedule(cpu),
                Effect::RetryAfterWork => {}
                Effect::Yield => {
                    self.step(task);
                    self.stats.yields += 1;
                    if self.core.cpus[cpu].nr_running > 1 {
                        self.tasks[task].yielded = true;
                        self.schedule(cpu);
                        if self.cpus[cpu].curr as usize != task {
                            return;
                        }
                    }
                }
                Effect::Moved => return self.step(task),
                Effect::Exit => {
                    self.exit(cpu, task);
                    return self.schedule(cpu);
                }
            }
            if self.sees_resched(cpu) {
                return self.give_way(cpu);
            }
            // What the call charged passes first. Then it is over, and looks whether to give way.
            if self.cpus[cpu].steal != 0 {
                return;
            }
        }
        let name = &self.comms[self.cpus[cpu].curr as usize];
        let why = format!(
            "'{name}' executes a million operations at {} ns: it has a loop in which no operation \
             takes time; give it a run or a sleep",
            self.now
        );
        self.refuse(why);
    }

    #[inline]
    fn take_effect(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Run { .. }
            | Op::RunWall { .. }
            | Op::Memory { .. }
            | Op::Chase { .. }
            | Op::Io { .. } => Effect::Done,
            Op::Sleep { ns } => self.sleep(cpu, task, ns),
            Op::Stagger { within_ns } => {
                let ns = below(self.seed, task as u64, Purpose::Stagger, within_ns);
                self.sleep(cpu, task, ns)
            }
            Op::Timer { .. } => self.timer(cpu, task, op),
            Op::Lock { mutex } => self.lock(cpu, mutex),
            Op::Unlock { mutex } => self.unlock(cpu, mutex),
            Op::LockIndexed { base } => {
                let mutex = base + self.tasks[task].register;
                self.lock(cpu, mutex)
            }
            Op::UnlockIndexed { base } => {
                let mutex = base + self.tasks[task].register;
                self.unlock(cpu, mutex)
            }
            Op::Wait { condition, mutex } => self.wait_condition(cpu, condition, mutex),
            Op::Signal { condition } => self.signal(cpu, condition, false),
            Op::Broadcast { condition } => self.signal(cpu, condition, true),
            Op::SemPost { semaphore } => self.sem_post(cpu, semaphore),
            Op::SemWait { semaphore } => self.sem_wait(cpu, semaphore),
            Op::Barrier { barrier } => self.barrier(cpu, barrier),
            Op::Write { channel, bytes } => {
                self.trace_call(cpu, task, op);
                let effect = self.write(cpu, channel, bytes);
                self.trace_call_end(cpu, task, effect)
            }
            Op::Read { channel, bytes } => {
                self.trace_call(cpu, task, op);
                let effect = self.read(cpu, channel, bytes);
                self.trace_call_end(cpu, task, effect)
            }
            Op::Poll { channel } => self.poll(cpu, channel),
            Op::Yield => {
                self.trace_yield(cpu);
                if self.core.cpus[cpu].nr_running > 1 || self.yields_alone(task as u32) {
                    match self.is_rt(task as u32) {
                        true => self.yield_rt(cpu),
                        false => self.yield_fair(cpu),
                    }
                }
                Effect::Yield
            }
            Op::SetAttributes { attributes } => self.set_attributes(cpu, task, attributes),
            Op::SetAttributesUntil {
                until,
                before,
                after,
            } => {
                let holds = self.before_stamp(until);
                let attributes = if holds { before } else { after };
                self.set_attributes(cpu, task, attributes)
            }
            Op::Fork { task: child } => {
                self.tasks[child as usize].parent = task as u32;
                self.tasks[task].children += 1;
                self.inherit_flips(task, child as usize);
                if self.has_groups() {
                    self.inherit_group(task as u32, child);
                }
                self.start(cpu, child);
                Effect::Done
            }
            Op::WaitChildren => self.wait_children(cpu, task),
            Op::Exit => Effect::Exit,
            Op::Retire => {
                self.is_over(task);
                Effect::Done
            }
            Op::LoopBegin { slot, count, end } => {
                if count == 0 {
                    return Effect::Jump(end);
                }
                self.tasks[task].loops[slot as usize] = count;
                Effect::Done
            }
            Op::LoopEnd { slot, begin } => self
                .loop_end(task, slot, begin)
                .map_or(Effect::Done, Effect::Jump),
            Op::Take { deal, done } => self.take(task, deal, done),
            Op::Count { counter } => {
                self.count_one(counter);
                Effect::Done
            }
            Op::Pass {
                counter,
                log: _,
                computes,
                cumulative_slack,
            } => {
                self.count_one(counter);
                self.pass_ends(task, computes, cumulative_slack);
                Effect::Done
            }
            Op::Mark { mark } => {
                self.pass_mark(mark);
                Effect::Done
            }
            Op::Observe(observation) => {
                self.observe(task, observation);
                Effect::Done
            }
            Op::Call { desk, stamp } => self.call(cpu, desk, stamp),
            Op::Serve { desk, done } => self.serve(cpu, desk, done),
            Op::Close { desk } => self.close(cpu, desk),
            Op::Attend { desk, stamp } => self.attend(cpu, desk, stamp),
            Op::Gather { desk, none } => self.gather(desk, none),
            Op::Answer { desk, last } => self.answer(cpu, desk, last),
            Op::Unqueue { desk, none } => self.unqueue(desk, none),
            Op::Leave {
                first,
                limit,
                pause_ns,
            } => {
                let desk = first + self.tasks[task].register;
                match self.leave_request(cpu, desk, limit) {
                    true => Effect::Done,
                    false => self.sleep(cpu, task, pause_ns.into()),
                }
            }
            Op::LockCpu => self.lock_cpu(cpu, task),
            Op::UnlockCpu => self.unlock_cpu(task),
            Op::Wake { .. } => self.wake_recorded(cpu, op),
            Op::Await => self.await_wakeup(cpu, task),
            Op::Enter { ns } => self.enter_recorded(cpu, task, ns),
            Op::SleepUntil { ns, slack_ns } => {
                let at = self.time_of(task, ns);
                self.sleep_to(cpu, task, at, slack_ns)
            }
            Op::SleepFor { ns, slack_ns } => {
                let at = self.now + ns;
                self.sleep_to(cpu, task, at, slack_ns)
            }
            Op::Complete { ns, cpu: on } => self.complete(cpu, task, ns, on),
        }
    }

    /// Creates the task on `cpu`.
    fn start(&mut self, cpu: usize, task: u32) {
        let parent = self.current_view(cpu);
        self.trace_fork(cpu, parent, task);
        self.comes_to_life(task);
        self.wake_new(cpu, task);
    }

    /// The task is there from now on.
    pub fn comes_to_life(&mut self, task: u32) {
        self.tasks[task as usize].started = self.now;
        self.cache_aware_thread(task, 1);
        let w = self.tasks[task as usize].workload as usize;
        if self.workloads[w].start == NEVER {
            self.workload_starts(w);
        }
    }

    /// The task ends; its parent may have waited for that.
    fn exit(&mut self, cpu: usize, task: usize) {
        self.exit_current(cpu);
        self.cache_aware_thread(task as u32, -1);
        self.is_over(task);
        self.awaits_no_more(cpu, task);
        let parent = self.tasks[task].parent;
        if parent == NONE {
            return;
        }
        let world = self.world();
        let p = &mut world.tasks[parent as usize];
        p.children -= 1;
        // Of another sleep the operation behind it stands at `pc`, and has not begun.
        let waits = p.life == Life::Asleep
            && !p.fresh
            && matches!(world.ops[p.pc as usize], Op::WaitChildren);
        if p.children == 0 && waits {
            self.wake(cpu, parent, false);
        }
    }
}

#[cfg(test)]
mod tests;
