// SPDX-License-Identifier: GPL-2.0-only
//! What every compiled workload must satisfy; the simulator relies on it without looking again.

use crate::blocks::Blocks;
use crate::program::{
    Attributes, LOOP_SLOTS, MeasureSource, Observation, Op, Policy, Program, TIMER_SLOTS, TaskSpec,
    Workload,
};

/// Longest `comm`, bytes (`TASK_COMM_LEN` of Linux less the final NUL).
pub(crate) const MAX_COMM: usize = 15;

impl Workload {
    /// Checks that all identifiers and labels are in range, loops nest, attributes are possible, and
    /// every task can start.
    ///
    /// # Errors
    /// Says where the first fault is. A fault is a bug of the compiler that made the workload.
    pub fn check(&self) -> Result<(), String> {
        for (at, program) in self.programs.iter().enumerate() {
            self.check_program(program)
                .map_err(|fault| format!("program {at}, {fault}"))?;
        }
        if let Some(blocks) = &self.blocks {
            self.check_blocks(blocks)?;
        }
        for (at, task) in self.tasks.iter().enumerate() {
            self.check_task(task)
                .map_err(|fault| format!("task {at} ({}): {fault}", task.comm))?;
        }
        for (at, attributes) in self.attributes.iter().enumerate() {
            check_attributes(attributes).map_err(|fault| format!("attributes {at}: {fault}"))?;
        }
        for (at, deal) in self.deals.iter().enumerate() {
            in_range("counter", deal.counter, self.counters as usize)
                .map_err(|fault| format!("deal {at}: {fault}"))?;
        }
        for measure in &self.measures {
            self.check_measure(&measure.source)
                .map_err(|fault| format!("measure {}: {fault}", measure.name))?;
        }
        if let Some(at) = self.barriers.iter().position(|parties| *parties == 0) {
            return Err(format!("barrier {at} has no parties"));
        }
        Ok(())
    }

    fn check_task(&self, task: &TaskSpec) -> Result<(), String> {
        if task.comm.is_empty() || task.comm.len() > MAX_COMM {
            return Err(format!("comm has {} bytes", task.comm.len()));
        }
        in_range("program", task.program, self.programs.len())?;
        check_attributes(&task.attributes)
    }

    fn check_program(&self, program: &Program) -> Result<(), String> {
        for (at, op) in program.ops.iter().enumerate() {
            let fault = |fault| format!("op {at} ({op:?}): {fault}");
            self.check_op(op, program).map_err(fault)?;
        }
        check_loops(program)
    }

    /// Programs of blocks go straight on, and each task has its own.
    fn check_blocks(&self, blocks: &Blocks) -> Result<(), String> {
        let own = |(at, task): (usize, &TaskSpec)| task.program as usize == at;
        if blocks.tasks.len() != self.tasks.len() || !self.tasks.iter().enumerate().all(own) {
            return Err("the blocks are not of these tasks".to_owned());
        }
        blocks.check()?;
        for (at, pieces) in blocks.tasks.iter().enumerate() {
            for op in &pieces.ops {
                let straight = matches!(
                    op,
                    Op::Run { .. }
                        | Op::Enter { .. }
                        | Op::Wake { .. }
                        | Op::Await
                        | Op::SleepUntil { .. }
                        | Op::SleepFor { .. }
                        | Op::Complete { .. }
                        | Op::Yield
                        | Op::SetAttributes { .. }
                        | Op::Fork { .. }
                        | Op::Mark { .. }
                        | Op::Exit
                        | Op::Retire
                );
                let fault = |fault: String| format!("blocks of task {at}, {op:?}: {fault}");
                if !straight {
                    return Err(fault("not an operation of a recording".to_owned()));
                }
                self.check_op(op, &Program::default()).map_err(fault)?;
            }
        }
        Ok(())
    }

    fn check_op(&self, op: &Op, program: &Program) -> Result<(), String> {
        match *op {
            Op::Timer {
                slot,
                period_ns,
                histogram,
                ..
            } => {
                in_range("timer slot", u32::from(slot), TIMER_SLOTS)?;
                if period_ns == 0 {
                    return Err("period is 0".to_owned());
                }
                match histogram.get() {
                    Some(id) => in_range("histogram", id, self.histograms.len()),
                    None => Ok(()),
                }
            }
            Op::Lock { mutex } | Op::Unlock { mutex } => {
                in_range("mutex", mutex, self.mutexes as usize)
            }
            Op::LockIndexed { base } | Op::UnlockIndexed { base } => {
                in_range("mutex", base, self.mutexes as usize)
            }
            Op::Wait { condition, mutex } => {
                in_range("condition", condition, self.conditions as usize)?;
                match mutex {
                    Some(id) => in_range("mutex", id, self.mutexes as usize),
                    None => Ok(()),
                }
            }
            Op::Signal { condition } | Op::Broadcast { condition } => {
                in_range("condition", condition, self.conditions as usize)
            }
            Op::SemPost { semaphore } | Op::SemWait { semaphore } => {
                in_range("semaphore", semaphore, self.semaphores as usize)
            }
            Op::Barrier { barrier } => in_range("barrier", barrier, self.barriers.len()),
            Op::Write { channel, bytes } | Op::Read { channel, bytes } => {
                if bytes == 0 {
                    return Err("transfers no bytes".to_owned());
                }
                in_range("channel", channel, self.channels.len())
            }
            Op::Poll { channel } => in_range("channel", channel, self.channels.len()),
            Op::SetAttributes { attributes } => {
                in_range("attributes", attributes, self.attributes.len())
            }
            Op::SetAttributesUntil {
                until,
                before,
                after,
            } => {
                in_range("stamp", until, self.instruments.stamps as usize)?;
                in_range("attributes", before, self.attributes.len())?;
                in_range("attributes", after, self.attributes.len())
            }
            Op::Fork { task } => self.check_fork(task),
            Op::Take { deal, done } => {
                in_range("deal", deal, self.deals.len())?;
                in_range("label", done, program.ops.len() + 1)
            }
            Op::Count { counter } => in_range("counter", counter, self.counters as usize),
            Op::Pass { counter, log, .. } => {
                in_range("counter", counter, self.counters as usize)?;
                in_range("log", log, self.logs as usize)
            }
            Op::Mark { mark } => in_range("mark", mark, self.marks as usize),
            Op::Observe(observation) => self.check_observation(observation),
            Op::Call { desk, stamp } => {
                in_range("desk", desk, self.instruments.desks as usize)?;
                in_range("stamp", stamp, self.instruments.stamps as usize)
            }
            Op::Serve { desk, done } => {
                in_range("desk", desk, self.instruments.desks as usize)?;
                in_range("label", done, program.ops.len() + 1)
            }
            Op::Close { desk } => in_range("desk", desk, self.instruments.desks as usize),
            Op::Attend { desk, stamp } => {
                in_range("desk", desk, self.instruments.desks as usize)?;
                in_range("stamp", stamp, self.instruments.stamps as usize)
            }
            Op::Gather { desk, none: label }
            | Op::Answer { desk, last: label }
            | Op::Unqueue { desk, none: label } => {
                in_range("desk", desk, self.instruments.desks as usize)?;
                in_range("label", label, program.ops.len() + 1)
            }
            Op::Leave { first, .. } => in_range("desk", first, self.instruments.desks as usize),
            Op::LoopBegin { slot, .. } | Op::LoopEnd { slot, .. } => {
                in_range("loop slot", u32::from(slot), LOOP_SLOTS)
            }
            Op::Wake { nth: 0, .. } => {
                Err("a wakeup of the Await 0: they are counted from 1".to_owned())
            }
            Op::Wake { task, .. } => in_range("task", task, self.tasks.len()),
            Op::Stagger { within_ns: 0 } => Err("a stagger within 0 ns".to_owned()),
            Op::Run { .. }
            | Op::Enter { .. }
            | Op::RunWall { .. }
            | Op::Memory { .. }
            | Op::Chase { .. }
            | Op::Io { .. }
            | Op::LockCpu
            | Op::UnlockCpu
            | Op::Sleep { .. }
            | Op::Stagger { .. }
            | Op::Await
            | Op::SleepUntil { .. }
            | Op::SleepFor { .. }
            | Op::Complete { .. }
            | Op::Yield
            | Op::WaitChildren
            | Op::Retire
            | Op::Exit => Ok(()),
        }
    }

    fn check_observation(&self, observation: Observation) -> Result<(), String> {
        let stamp = |id| in_range("stamp", id, self.instruments.stamps as usize);
        let tally = |id| in_range("tally", id, self.instruments.tallies as usize);
        let counter = |id| in_range("counter", id, self.counters as usize);
        let lateness = |id| in_range("lateness", u32::from(id), self.lateness.len());
        match observation {
            Observation::Stamp { stamp: id } => stamp(id),
            Observation::StampTimer { stamp: id, slot } => {
                in_range("timer slot", u32::from(slot), TIMER_SLOTS)?;
                stamp(id)
            }
            Observation::Lapse {
                stamp: id,
                tally: to,
            }
            | Observation::LapseAboveZero {
                stamp: id,
                tally: to,
            } => stamp(id).and(tally(to)),
            Observation::AddLapse {
                stamp: id,
                counter: to,
            } => stamp(id).and(counter(to)),
            Observation::CountLate {
                stamp: id,
                lateness: of,
                counter: to,
            } => stamp(id).and(lateness(of)).and(counter(to)),
            Observation::HoldIfLate {
                stamp: id,
                lateness: of,
                until,
            } => stamp(id).and(lateness(of)).and(stamp(until)),
            Observation::TakeShare { parts: 0, .. } => Err("shares among nobody".to_owned()),
            Observation::TakeShare {
                counter: id,
                tally: to,
                ..
            }
            | Observation::Rate {
                counter: id,
                tally: to,
            } => counter(id).and(tally(to)),
            Observation::Clear { tally: id } => tally(id),
        }
    }

    fn check_fork(&self, task: u32) -> Result<(), String> {
        in_range("task", task, self.tasks.len())?;
        match self.tasks[task as usize].start_ns {
            None => Ok(()),
            Some(_) => Err("forks a task that starts by itself".to_owned()),
        }
    }

    fn check_measure(&self, source: &MeasureSource) -> Result<(), String> {
        match *source {
            MeasureSource::Elapsed { from, to } => {
                in_range("mark", from, self.marks as usize)?;
                in_range("mark", to, self.marks as usize)
            }
            MeasureSource::Counter { counter } => {
                in_range("counter", counter, self.counters as usize)
            }
            MeasureSource::HistogramMean { histogram }
            | MeasureSource::HistogramMax { histogram }
            | MeasureSource::HistogramMin { histogram }
            | MeasureSource::HistogramStd { histogram } => {
                in_range("histogram", histogram, self.histograms.len())
            }
            MeasureSource::HistogramQuantile {
                histogram,
                per_mille,
            } => {
                in_range("quantile", per_mille, 1001)?;
                in_range("histogram", histogram, self.histograms.len())
            }
            MeasureSource::TallyPercentile { tally, per_mille } => {
                in_range("quantile", per_mille, 1001)?;
                in_range("tally", tally, self.instruments.tallies as usize)
            }
            MeasureSource::TallySorted { tally, per_mille } => {
                in_range("quantile", per_mille, 1000)?;
                in_range("tally", tally, self.instruments.tallies as usize)
            }
            MeasureSource::LeftCluster { first, count }
            | MeasureSource::OnBiggest { first, count } => {
                in_range("task", first, self.tasks.len())?;
                in_range("task", first.saturating_add(count), self.tasks.len() + 1)
            }
            MeasureSource::CounterPerSecond { seconds: 0, .. } => {
                Err("a rate over no time".to_owned())
            }
            MeasureSource::CounterPerSecond { counter, .. } => {
                in_range("counter", counter, self.counters as usize)
            }
            MeasureSource::CounterPercent { counter, of } => {
                in_range("counter", counter, self.counters as usize)?;
                in_range("counter", of, self.counters as usize)
            }
            MeasureSource::SinceStart { workload, to } => {
                in_range("workload", workload, 1)?;
                in_range("mark", to, self.marks as usize)
            }
            MeasureSource::Lifetime { workload } => in_range("workload", workload, 1),
            MeasureSource::Logged { log, .. } => in_range("log", log, self.logs as usize),
        }
    }
}

fn in_range(what: &str, id: u32, count: usize) -> Result<(), String> {
    if (id as usize) < count {
        Ok(())
    } else {
        Err(format!("{what} {id} of {count}"))
    }
}

/// Loops nest, each in a slot that no loop around it uses, and their labels point at each other.
fn check_loops(program: &Program) -> Result<(), String> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (at, op) in program.ops.iter().enumerate() {
        match *op {
            Op::LoopBegin { slot, .. } => {
                if open.iter().any(|(used, _)| *used == slot) {
                    return Err(format!("op {at}: loop slot {slot} is in use"));
                }
                open.push((slot, at));
            }
            Op::LoopEnd { slot, begin } => {
                let Some((open_slot, open_at)) = open.pop() else {
                    return Err(format!("op {at}: no loop is open"));
                };
                let Op::LoopBegin { end, .. } = program.ops[open_at] else {
                    return Err(format!("op {open_at}: no loop begins here"));
                };
                if slot != open_slot || begin as usize != open_at + 1 || end as usize != at + 1 {
                    return Err(format!(
                        "ops {open_at} and {at}: the loop's ends do not match"
                    ));
                }
            }
            _ => {}
        }
    }
    match open.last() {
        None => Ok(()),
        Some((_, at)) => Err(format!("op {at}: the loop has no end")),
    }
}

fn check_attributes(attributes: &Attributes) -> Result<(), String> {
    if let Some(nice) = attributes.nice
        && !(-20..=19).contains(&nice)
    {
        return Err(format!("nice {nice}"));
    }
    if let Some(priority) = attributes.rt_priority
        && !(1..=99).contains(&priority)
    {
        return Err(format!("real-time priority {priority}"));
    }
    if let Some(cpus) = &attributes.affinity
        && (cpus.is_empty() || !cpus.is_sorted_by(|a, b| a < b))
    {
        return Err(format!("affinity {cpus:?}"));
    }
    if attributes.lift_affinity && attributes.affinity.is_some() {
        return Err("affinity is both set and lifted".to_owned());
    }
    for clamp in [attributes.uclamp_min, attributes.uclamp_max] {
        if clamp.is_some_and(|clamp| clamp > 1024) {
            return Err(format!("utilization clamp {clamp:?}"));
        }
    }
    check_deadline(attributes)
}

/// `sched_setattr(2)`: runtime <= deadline <= period, and the runtime is not 0.
fn check_deadline(attributes: &Attributes) -> Result<(), String> {
    if attributes.policy != Some(Policy::Deadline) {
        return Ok(());
    }
    match (attributes.slice_ns, attributes.dl_period_deadline_ns) {
        (Some(runtime), Some((period, deadline)))
            if 0 < runtime && runtime <= deadline && deadline <= period =>
        {
            Ok(())
        }
        (runtime, period_deadline) => Err(format!(
            "deadline runtime {runtime:?}, period and deadline {period_deadline:?}"
        )),
    }
}
