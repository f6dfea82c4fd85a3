// SPDX-License-Identifier: GPL-2.0-only
//! Rounds: loops that only their own task can observe are computed in closed form, without events.
//! Such a task is alone on its CPU. Its loop takes a mutex that no other task wants, yields, and
//! releases the mutex. Only the last operation of the last iteration is an event. The operations
//! before it are applied at once, by a division, when something could observe them.
//!
//! Three things end the rounds, with the state as if each operation had been an event: an event of
//! the CPU itself, a second task on its queue, and another task at the mutex. A query of the task's
//! progress or a change of frequency only brings the rounds up to now. `World::acted` tells which
//! CPUs' operations of the present instant are included. There are no rounds in runs with `check`,
//! which serve as the reference, nor in runs whose sink wants to know each yield.
//! which serve as the reference, nor in runs whose sink wants to know each yield.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::world::World;
use alight_workload::program::Op;

/// Largest number of operations in a round.
const LONGEST: usize = 8;

/// The rounds of a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    /// The task whose loop is collapsed, [`NONE`] if there is none.
    pub task: u32,
    /// Index of the first operation of the loop.
    begin: u32,
    /// The mutex that it takes and releases, [`NONE`] if none.
    mutex: u32,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds {
            task: NONE,
            begin: NONE,
            mutex: NONE,
        }
    }
}

/// For each operation: length of the collapsible loop body that starts here, or 0.
pub(crate) fn lengths(ops: &[Op]) -> Box<[u8]> {
    let mut lengths = vec![0; ops.len()];
    for (end, op) in ops.iter().enumerate() {
        let Op::LoopEnd { begin, .. } = *op else {
            continue;
        };
        if is_round(&ops[begin as usize..end]) {
            lengths[begin as usize] = (end - begin as usize) as u8;
        }
    }
    lengths.into()
}

fn is_round(body: &[Op]) -> bool {
    let yields = match body {
        [Op::Lock { mutex }, yields @ .., Op::Unlock { mutex: same }] if mutex == same => yields,
        [
            Op::LockIndexed { base },
            yields @ ..,
            Op::UnlockIndexed { base: same },
        ] if base == same => yields,
        yields => yields,
    };
    let yields_only = yields.iter().all(|op| matches!(op, Op::Yield));
    (1..=LONGEST).contains(&body.len()) && yields_only
}

/// One round at the CPU's present rate.
struct Round {
    /// Duration of each operation, ns.
    lasts: [u64; LONGEST],
    len: usize,
    /// Duration of the round, ns.
    whole: u64,
    /// Slot of the loop's counter.
    slot: usize,
}

impl World<'_> {
    fn round(&self, cpu: usize) -> Round {
        let begin = self.cpus[cpu].rounds.begin as usize;
        let len = usize::from(self.round_lengths[begin]);
        let costs = self.costs(cpu);
        let rate = self.cpus[cpu].rate;
        let mut lasts = [0; LONGEST];
        for (at, lasts) in lasts[..len].iter_mut().enumerate() {
            let cost = self.op_costs[begin + at] as usize;
            *lasts = costs.ops[cost].div_ceil(rate);
        }
        let Op::LoopEnd { slot, .. } = self.ops[begin + len] else {
            unreachable!("a round ends with its loop")
        };
        Round {
            whole: lasts.iter().sum(),
            lasts,
            len,
            slot: slot as usize,
        }
    }

    /// Time from the end of the running operation to the end of the last one, ns.
    pub fn rounds_left(&self, cpu: usize) -> u64 {
        let round = self.round(cpu);
        let rounds = &self.cpus[cpu].rounds;
        let t = &self.tasks[rounds.task as usize];
        let (at, left) = ((t.pc - rounds.begin) as usize, t.loops[round.slot]);
        let rest: u64 = round.lasts[at + 1..round.len].iter().sum();
        (left - 1).saturating_mul(round.whole).saturating_add(rest)
    }

    /// Applies the operations that the rounds of `cpu` completed up to now.
    pub fn catch_up_rounds(&mut self, cpu: usize) {
        // A CPU that acted before in this instant has completed the operations due at it.
        let last = self.now - u64::from(cpu >= self.acted);
        let c = &self.cpus[cpu];
        let rounds = c.rounds;
        let t = &self.tasks[rounds.task as usize];
        let mut now = c.segment_start + c.steal + t.units.div_ceil(c.rate);
        if now > last {
            return;
        }
        debug_assert_eq!(self.core.cpus[cpu].nr_running, 1, "CPU {cpu}");
        let round = self.round(cpu);
        let mut at = (t.pc - rounds.begin) as usize;
        let is_yield = |at| matches!(self.ops[rounds.begin as usize + at], Op::Yield);
        let in_round = (0..round.len).filter(|&at| is_yield(at)).count() as u64;
        let whole = (last - now) / round.whole;
        let (mut done, mut yields) = (whole * round.len as u64, whole * in_round);
        let mut ended = whole;
        now += whole * round.whole;
        loop {
            done += 1;
            yields += u64::from(is_yield(at));
            at += 1;
            if at == round.len {
                at = 0;
                ended += 1;
            }
            if now + round.lasts[at] > last {
                break;
            }
            now += round.lasts[at];
        }
        self.events += done;
        self.stats.yields += yields;
        if rounds.mutex != NONE {
            let owner = if at == 0 { NONE } else { rounds.task };
            self.mutexes[rounds.mutex as usize].owner = owner;
        }
        let pc = rounds.begin + at as u32;
        let units = self.costs(cpu).ops[self.op_costs[pc as usize] as usize];
        let t = &mut self.tasks[rounds.task as usize];
        // An endless loop has no count.
        if t.loops[round.slot] != u64::MAX {
            t.loops[round.slot] -= ended;
        }
        t.pc = pc;
        t.units = units;
        let c = &mut self.cpus[cpu];
        c.segment_start = now;
        c.steal = 0;
    }

    /// Ends the rounds of `cpu`: from now on each operation is an event.
    #[inline(always)]
    pub fn end_rounds(&mut self, cpu: usize) {
        if self.cpus[cpu].rounds.task != NONE {
            self.end_these_rounds(cpu);
        }
    }

    #[inline(never)]
    fn end_these_rounds(&mut self, cpu: usize) {
        self.catch_up_rounds(cpu);
        self.forget_rounds(cpu);
        self.arm(cpu);
    }

    fn forget_rounds(&mut self, cpu: usize) {
        let mutex = std::mem::take(&mut self.cpus[cpu].rounds).mutex;
        if mutex != NONE {
            self.mutexes[mutex as usize].rounds_of = NONE;
        }
    }

    /// A task takes or releases `mutex`, whether or not the rounds are its own.
    #[inline]
    pub fn end_rounds_at(&mut self, mutex: u32) {
        let cpu = self.mutexes[mutex as usize].rounds_of;
        if cpu != NONE {
            self.end_rounds(cpu as usize);
        }
    }

    /// The current task of `cpu` is about to start the loop at `begin` again.
    #[inline]
    pub fn come_round(&mut self, cpu: usize, begin: u32) {
        if self.round_lengths[begin as usize] != 0 {
            self.begin_rounds(cpu, begin);
        }
    }

    fn begin_rounds(&mut self, cpu: usize, begin: u32) {
        let task = self.cpus[cpu].curr;
        let t = &self.tasks[task as usize];
        let mutex = match self.ops[begin as usize] {
            Op::Lock { mutex } => mutex,
            Op::LockIndexed { base } => base + t.register,
            _ => NONE,
        };
        let c = &self.cpus[cpu];
        let stays = !c.need_resched && !c.resched_lazy && c.steal == 0 && !self.is_rt(task);
        let alone = self.core.cpus[cpu].nr_running == 1;
        let ends_by_time = self.workloads[t.workload as usize].over_at < NEVER - 1;
        if self.check || self.detailed || !stays || !alone || ends_by_time {
            return;
        }
        if mutex != NONE {
            self.end_rounds_at(mutex);
            let m = &mut self.mutexes[mutex as usize];
            if m.owner != NONE || !m.waiters.is_empty() {
                return;
            }
            m.rounds_of = cpu as u32;
        }
        self.cpus[cpu].rounds = Rounds { task, begin, mutex };
        let round = self.round(cpu);
        if round.lasts[..round.len].contains(&0) {
            self.forget_rounds(cpu);
        }
    }
}
