// SPDX-License-Identifier: GPL-2.0-only
//! Puts the programs of several workloads into one address space: what each
//! calls its own mutex 0 or counter 3 gets a number in the run's tables.

use crate::base::queue::NEVER;
use crate::face::api::Error;
use alight_workload::program::{MeasureSource, Observation, Op, Workload};

/// Offsets of one workload's ids in the run's tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Base {
    pub task: u32,
    pub attributes: u32,
    pub channel: u32,
    pub barrier: u32,
    pub mutex: u32,
    pub condition: u32,
    pub semaphore: u32,
    pub counter: u32,
    pub mark: u32,
    pub histogram: u32,
    pub stamp: u32,
    pub tally: u32,
    pub desk: u32,
    pub deal: u32,
    pub lateness: u16,
    pub log: u32,
    pub workload: u32,
}

/// The run's arrays are indexed by what stands in the programs: nothing may
/// point beside them, whoever made the workload.
pub(crate) fn check(workload: &Workload) -> Result<(), Error> {
    let faulty = |fault: String| Error::Refused(format!("workload '{}': {fault}", workload.name));
    workload.check().map_err(faulty)?;
    for (at, program) in workload.programs.iter().enumerate() {
        let ops = || program.ops.iter();
        let mutexes = ops().filter_map(|op| match *op {
            Op::LockIndexed { base } | Op::UnlockIndexed { base } => Some(base),
            _ => None,
        });
        let desks = ops().filter_map(|op| match *op {
            Op::Leave { first, .. } => Some(first),
            _ => None,
        });
        let picks = [
            ("mutexes", mutexes.max(), workload.mutexes),
            ("desks", desks.max(), workload.instruments.desks),
        ];
        for (what, first, count) in picks {
            let Some(first) = first else { continue };
            let room = count - first;
            let deals = ops().filter_map(|op| match *op {
                Op::Take { deal, .. } => Some(&workload.deals[deal as usize]),
                _ => None,
            });
            let mut beside = deals.filter(|deal| deal.modulo == 0 || deal.modulo > room);
            if let Some(deal) = beside.next() {
                return Err(faulty(format!(
                    "program {at}: {deal:?} picks among more than the {room} {what} from {first} on"
                )));
            }
        }
    }
    Ok(())
}

/// Shifts the ids of a measure to the run's tables.
pub(crate) fn relocate_source(source: MeasureSource, base: Base) -> MeasureSource {
    match source {
        MeasureSource::Elapsed { from, to } => MeasureSource::Elapsed {
            from: from + base.mark,
            to: to + base.mark,
        },
        MeasureSource::Counter { counter } => MeasureSource::Counter {
            counter: counter + base.counter,
        },
        MeasureSource::HistogramMean { histogram } => MeasureSource::HistogramMean {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramMax { histogram } => MeasureSource::HistogramMax {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramMin { histogram } => MeasureSource::HistogramMin {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramStd { histogram } => MeasureSource::HistogramStd {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramQuantile {
            histogram,
            per_mille,
        } => MeasureSource::HistogramQuantile {
            histogram: histogram + base.histogram,
            per_mille,
        },
        MeasureSource::TallyPercentile { tally, per_mille } => MeasureSource::TallyPercentile {
            tally: tally + base.tally,
            per_mille,
        },
        MeasureSource::TallySorted { tally, per_mille } => MeasureSource::TallySorted {
            tally: tally + base.tally,
            per_mille,
        },
        MeasureSource::LeftCluster { first, count } => MeasureSource::LeftCluster {
            first: first + base.task,
            count,
        },
        MeasureSource::OnBiggest { first, count } => MeasureSource::OnBiggest {
            first: first + base.task,
            count,
        },
        MeasureSource::CounterPerSecond { counter, seconds } => MeasureSource::CounterPerSecond {
            counter: counter + base.counter,
            seconds,
        },
        MeasureSource::CounterPercent { counter, of } => MeasureSource::CounterPercent {
            counter: counter + base.counter,
            of: of + base.counter,
        },
        MeasureSource::SinceStart { workload, to } => MeasureSource::SinceStart {
            workload: workload + base.workload,
            to: to + base.mark,
        },
        MeasureSource::Lifetime { workload } => MeasureSource::Lifetime {
            workload: workload + base.workload,
        },
        MeasureSource::Logged { log, what } => MeasureSource::Logged {
            log: log + base.log,
            what,
        },
    }
}

/// Shifts the ids of an observation to the run's tables.
fn relocate_observation(observation: Observation, base: Base) -> Observation {
    match observation {
        Observation::Stamp { stamp } => Observation::Stamp {
            stamp: stamp + base.stamp,
        },
        Observation::StampTimer { stamp, slot } => Observation::StampTimer {
            stamp: stamp + base.stamp,
            slot,
        },
        Observation::Lapse { stamp, tally } => Observation::Lapse {
            stamp: stamp + base.stamp,
            tally: tally + base.tally,
        },
        Observation::LapseAboveZero { stamp, tally } => Observation::LapseAboveZero {
            stamp: stamp + base.stamp,
            tally: tally + base.tally,
        },
        Observation::AddLapse { stamp, counter } => Observation::AddLapse {
            stamp: stamp + base.stamp,
            counter: counter + base.counter,
        },
        Observation::TakeShare {
            counter,
            parts,
            tally,
        } => Observation::TakeShare {
            counter: counter + base.counter,
            parts,
            tally: tally + base.tally,
        },
        Observation::Rate { counter, tally } => Observation::Rate {
            counter: counter + base.counter,
            tally: tally + base.tally,
        },
        Observation::CountLate {
            stamp,
            lateness,
            counter,
        } => Observation::CountLate {
            stamp: stamp + base.stamp,
            lateness: lateness + base.lateness,
            counter: counter + base.counter,
        },
        Observation::HoldIfLate {
            stamp,
            lateness,
            until,
        } => Observation::HoldIfLate {
            stamp: stamp + base.stamp,
            lateness: lateness + base.lateness,
            until: until + base.stamp,
        },
        Observation::Clear { tally } => Observation::Clear {
            tally: tally + base.tally,
        },
    }
}

/// Shifts an operation's ids and labels to the run's tables; work becomes units,
/// and no time is longer than for ever.
pub(crate) fn relocate(op: Op, base: Base, entry: u32, capacity: u64) -> Op {
    match op {
        Op::Run { ns } => Op::Run {
            ns: ns.min(NEVER).saturating_mul(capacity),
        },
        Op::Enter { ns } => Op::Enter {
            ns: ns.min(NEVER).saturating_mul(capacity),
        },
        Op::Timer {
            slot,
            period_ns,
            mode,
            origin,
            histogram,
        } => Op::Timer {
            slot,
            period_ns: period_ns.min(NEVER),
            mode,
            origin,
            histogram: histogram.get().map(|h| h + base.histogram).into(),
        },
        Op::Lock { mutex } => Op::Lock {
            mutex: mutex + base.mutex,
        },
        Op::Unlock { mutex } => Op::Unlock {
            mutex: mutex + base.mutex,
        },
        Op::LockIndexed { base: first } => Op::LockIndexed {
            base: first + base.mutex,
        },
        Op::UnlockIndexed { base: first } => Op::UnlockIndexed {
            base: first + base.mutex,
        },
        Op::Wait { condition, mutex } => Op::Wait {
            condition: condition + base.condition,
            mutex: mutex.map(|m| m + base.mutex),
        },
        Op::Signal { condition } => Op::Signal {
            condition: condition + base.condition,
        },
        Op::Broadcast { condition } => Op::Broadcast {
            condition: condition + base.condition,
        },
        Op::SemPost { semaphore } => Op::SemPost {
            semaphore: semaphore + base.semaphore,
        },
        Op::SemWait { semaphore } => Op::SemWait {
            semaphore: semaphore + base.semaphore,
        },
        Op::Barrier { barrier } => Op::Barrier {
            barrier: barrier + base.barrier,
        },
        Op::Write { channel, bytes } => Op::Write {
            channel: channel + base.channel,
            bytes,
        },
        Op::Read { channel, bytes } => Op::Read {
            channel: channel + base.channel,
            bytes,
        },
        Op::Poll { channel } => Op::Poll {
            channel: channel + base.channel,
        },
        Op::SetAttributes { attributes } => Op::SetAttributes {
            attributes: attributes + base.attributes,
        },
        Op::SetAttributesUntil {
            until,
            before,
            after,
        } => Op::SetAttributesUntil {
            until: until + base.stamp,
            before: before + base.attributes,
            after: after + base.attributes,
        },
        Op::Fork { task } => Op::Fork {
            task: task + base.task,
        },
        Op::LoopBegin { slot, count, end } => Op::LoopBegin {
            slot,
            count,
            end: entry + end,
        },
        Op::LoopEnd { slot, begin } => Op::LoopEnd {
            slot,
            begin: entry + begin,
        },
        Op::Take { deal, done } => Op::Take {
            deal: deal + base.deal,
            done: entry + done,
        },
        Op::Count { counter } => Op::Count {
            counter: counter + base.counter,
        },
        Op::Pass {
            counter,
            log,
            computes,
            cumulative_slack,
        } => Op::Pass {
            counter: counter + base.counter,
            log: log + base.log,
            computes,
            cumulative_slack,
        },
        Op::Mark { mark } => Op::Mark {
            mark: mark + base.mark,
        },
        Op::Observe(observation) => Op::Observe(relocate_observation(observation, base)),
        Op::Call { desk, stamp } => Op::Call {
            desk: desk + base.desk,
            stamp: stamp + base.stamp,
        },
        Op::Serve { desk, done } => Op::Serve {
            desk: desk + base.desk,
            done: entry + done,
        },
        Op::Close { desk } => Op::Close {
            desk: desk + base.desk,
        },
        Op::Attend { desk, stamp } => Op::Attend {
            desk: desk + base.desk,
            stamp: stamp + base.stamp,
        },
        Op::Gather { desk, none } => Op::Gather {
            desk: desk + base.desk,
            none: entry + none,
        },
        Op::Answer { desk, last } => Op::Answer {
            desk: desk + base.desk,
            last: entry + last,
        },
        Op::Leave {
            first,
            limit,
            pause_ns,
        } => Op::Leave {
            first: first + base.desk,
            limit,
            pause_ns,
        },
        Op::Unqueue { desk, none } => Op::Unqueue {
            desk: desk + base.desk,
            none: entry + none,
        },
        Op::Wake {
            task,
            nth,
            hand_off,
            sync,
        } => Op::Wake {
            task: task + base.task,
            nth,
            hand_off,
            sync,
        },
        Op::SleepUntil { ns, slack_ns } => Op::SleepUntil {
            ns: ns.min(NEVER),
            slack_ns,
        },
        Op::SleepFor { ns, slack_ns } => Op::SleepFor {
            ns: ns.min(NEVER),
            slack_ns,
        },
        Op::Complete { ns, cpu } => Op::Complete {
            ns: ns.min(NEVER),
            cpu,
        },
        Op::RunWall { ns } => Op::RunWall { ns: ns.min(NEVER) },
        Op::Sleep { ns } => Op::Sleep { ns: ns.min(NEVER) },
        Op::Stagger { within_ns } => Op::Stagger {
            within_ns: within_ns.min(NEVER),
        },
        Op::Memory { .. }
        | Op::Chase { .. }
        | Op::Io { .. }
        | Op::LockCpu
        | Op::UnlockCpu
        | Op::Await
        | Op::Yield
        | Op::WaitChildren
        | Op::Retire
        | Op::Exit => op,
    }
}
