// SPDX-License-Identifier: GPL-2.0-only
//! Links operations: shifts their ids and labels to the run's tables.

use super::Base;
use super::measures::relocate_observation;
use crate::base::queue::NEVER;
use alight_workload::program::Op;

/// Shifts an operation's ids and labels to the run's tables. Work becomes units, and times are
/// limited to [`NEVER`].
pub(crate) fn relocate(op: Op, base: Base, entry: u32, capacity: u64) -> Op {
    match op {
        Op::Run { .. }
        | Op::Enter { .. }
        | Op::Timer { .. }
        | Op::SleepUntil { .. }
        | Op::SleepFor { .. }
        | Op::Complete { .. }
        | Op::RunWall { .. }
        | Op::Sleep { .. }
        | Op::Stagger { .. } => relocate_time(op, base, capacity),
        Op::Lock { .. }
        | Op::Unlock { .. }
        | Op::LockIndexed { .. }
        | Op::UnlockIndexed { .. }
        | Op::Wait { .. }
        | Op::Signal { .. }
        | Op::Broadcast { .. }
        | Op::SemPost { .. }
        | Op::SemWait { .. }
        | Op::Barrier { .. }
        | Op::Write { .. }
        | Op::Read { .. }
        | Op::Poll { .. } => relocate_shared(op, base),
        Op::Call { .. }
        | Op::Serve { .. }
        | Op::Close { .. }
        | Op::Attend { .. }
        | Op::Gather { .. }
        | Op::Answer { .. }
        | Op::Leave { .. }
        | Op::Unqueue { .. } => relocate_desk(op, base, entry),
        Op::SetAttributes { .. }
        | Op::SetAttributesUntil { .. }
        | Op::Fork { .. }
        | Op::Wake { .. } => relocate_task(op, base),
        Op::LoopBegin { .. } | Op::LoopEnd { .. } | Op::Take { .. } => {
            relocate_course(op, base, entry)
        }
        Op::Count { .. } | Op::Pass { .. } | Op::Mark { .. } | Op::Observe(_) => {
            relocate_measured(op, base)
        }
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

/// The same for an operation with a time: work becomes units, and times are limited to [`NEVER`].
fn relocate_time(op: Op, base: Base, capacity: u64) -> Op {
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
        _ => unreachable!(),
    }
}

/// The same for an operation on a lock, another object that tasks wait for, or a channel.
fn relocate_shared(op: Op, base: Base) -> Op {
    match op {
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
        _ => unreachable!(),
    }
}

/// The same for an operation at a desk.
fn relocate_desk(op: Op, base: Base, entry: u32) -> Op {
    match op {
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
        _ => unreachable!(),
    }
}

/// The same for an operation on a task or its attributes.
fn relocate_task(op: Op, base: Base) -> Op {
    match op {
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
        _ => unreachable!(),
    }
}

/// The same for an operation that can jump.
fn relocate_course(op: Op, base: Base, entry: u32) -> Op {
    match op {
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
        _ => unreachable!(),
    }
}

/// The same for an operation that counts, marks or observes.
fn relocate_measured(op: Op, base: Base) -> Op {
    match op {
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
        _ => unreachable!(),
    }
}
