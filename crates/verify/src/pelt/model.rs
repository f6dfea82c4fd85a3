// SPDX-License-Identifier: GPL-2.0-only
//! The core, asked what it makes of one event: from the state that a function
//! found and what it was given to the state that it leaves.

use super::event::{Avg, Clocks, EST_UNCHANGED, PeltEvent, Removed, flag};
use super::rules::Rules;
use alight_policy::abi::task_flag;
use alight_policy::{Cpu, Params, Task, pelt, rq};

/// One signal set brought up to date (`__update_load_avg_se`, `..._blocked_se`,
/// `update_rt_rq_load_avg`, ...), and whether a period ended.
pub fn update(found: &Avg, now: u64, held: [u64; 3], weight: u64) -> (Avg, bool) {
    let mut signals = found.pelt();
    let [load, runnable, running] = held;
    let averaged = pelt::accumulate(&mut signals, now, load, runnable, running);
    if averaged {
        pelt::average(&mut signals, weight);
    }
    (found.with(&signals), averaged)
}

/// A task's estimate is due again once its averages changed (`cfs_se_util_change`).
pub fn estimate_due(mut avg: Avg) -> Avg {
    avg.est &= !EST_UNCHANGED;
    avg
}

/// A queue brought up to date, after what was removed from it.
pub fn refresh(rules: &Rules, found: &Avg, event: &PeltEvent, removed: &Removed) -> Avg {
    let mut cpu = Cpu {
        weight: event.load as u32,
        h_nr_running: event.runnable as u32,
        clock_pelt: event.now,
        cfs: found.pelt(),
        removed_load: removed.load as u32,
        removed_util: removed.util as u32,
        removed_runnable: removed.runnable as u32,
        removed_nr: u16::from(removed.nr > 0),
        ..Cpu::default()
    };
    rq::refresh(&rules.params, &mut cpu, event.running != 0);
    found.with(&cpu.cfs)
}

/// An event of an entity and its queue: what `change` makes of both.
fn both(
    entity: &Avg,
    queue: &Avg,
    event: &PeltEvent,
    change: impl FnOnce(&mut Cpu, &mut Task),
) -> (Avg, Avg) {
    let mut cpu = Cpu {
        cfs: queue.pelt(),
        capacity_orig: event.capacity,
        ..Cpu::default()
    };
    let mut task = Task {
        pelt: entity.pelt(),
        weight: event.load as u32,
        ..Task::default()
    };
    change(&mut cpu, &mut task);
    (entity.with(&task.pelt), queue.with(&cpu.cfs))
}

pub fn attach(rules: &Rules, entity: &Avg, queue: &Avg, event: &PeltEvent) -> (Avg, Avg) {
    both(entity, queue, event, |cpu, task| {
        rq::attach_signals(&rules.params, cpu, task)
    })
}

pub fn detach(rules: &Rules, entity: &Avg, queue: &Avg, event: &PeltEvent) -> (Avg, Avg) {
    both(entity, queue, event, |cpu, task| {
        rq::detach_signals(&rules.params, cpu, task)
    })
}

/// The event's `runnable` is the new weight.
pub fn reweight(rules: &Rules, entity: &Avg, queue: &Avg, event: &PeltEvent) -> (Avg, Avg) {
    both(entity, queue, event, |cpu, task| {
        rq::reweight(&rules.params, cpu, task, event.runnable as u32)
    })
}

/// The first utilization of a task.
pub fn first(rules: &Rules, entity: &Avg, queue: &Avg, event: &PeltEvent) -> (Avg, Avg) {
    both(entity, queue, event, |cpu, task| {
        rq::init_util(&rules.params, cpu, task)
    })
}

/// What a task that leaves from afar adds to what is to be subtracted.
pub fn remove(entity: &Avg, event: &PeltEvent) -> Removed {
    let mut gone = Removed::default();
    both(entity, entity, event, |cpu, task| {
        rq::remove(&Params::NONE, cpu, task);
        gone = Removed {
            nr: cpu.removed_nr.into(),
            load: cpu.removed_load.into(),
            util: cpu.removed_util.into(),
            runnable: cpu.removed_runnable.into(),
        };
    });
    gone
}

/// A task as far as its estimate goes. Before 6.8 that is a pair.
fn estimator(rules: &Rules, avg: &Avg) -> Task {
    let value = avg.est & !EST_UNCHANGED;
    let unchanged = if avg.est & EST_UNCHANGED == 0 {
        0
    } else {
        task_flag::EST_UNCHANGED
    };
    Task {
        pelt: avg.pelt(),
        util_est_enqueued: if rules.est_pair { value } else { 0 },
        util_est_ewma: if rules.est_pair { avg.ewma } else { value },
        flags: unchanged,
        ..Task::default()
    }
}

/// The queue's sum of estimates after `task` joined.
pub fn est_enqueue(rules: &Rules, sum: u32, task: &Avg) -> u32 {
    let mut cpu = Cpu {
        util_est_enqueued: sum,
        ..Cpu::default()
    };
    rq::est_enqueue(&rules.params, &mut cpu, &estimator(rules, task));
    cpu.util_est_enqueued
}

/// The queue's sum of estimates after `task` left.
pub fn est_dequeue(rules: &Rules, sum: u32, task: &Avg) -> u32 {
    let mut cpu = Cpu {
        util_est_enqueued: sum,
        ..Cpu::default()
    };
    rq::est_dequeue(&rules.params, &mut cpu, &mut estimator(rules, task), false);
    cpu.util_est_enqueued
}

/// The estimate of a task that was dequeued. `avg`: its averages when the
/// estimate was made; `found`: with the estimate that it had.
pub fn estimate(rules: &Rules, found: &Avg, avg: &Avg, event: &PeltEvent) -> (u32, u32) {
    let mut cpu = Cpu {
        capacity_orig: event.capacity,
        ..Cpu::default()
    };
    let mut task = estimator(rules, found);
    task.pelt = avg.pelt();
    rq::est_dequeue(
        &rules.params,
        &mut cpu,
        &mut task,
        event.flags & flag::SLEEP != 0,
    );
    let unchanged = if task.flags & task_flag::EST_UNCHANGED == 0 {
        0
    } else {
        EST_UNCHANGED
    };
    if rules.est_pair {
        (task.util_est_enqueued | unchanged, task.util_est_ewma)
    } else {
        (task.util_est_ewma | unchanged, 0)
    }
}

/// A runqueue's clocks at a new time, or (`idle`) when the idle task takes over.
/// `util_sums`: of the fair, the real-time and the deadline class.
pub fn clocks(
    found: &Clocks,
    event: &PeltEvent,
    clock_task: u64,
    util_sums: [u32; 3],
    idle: bool,
) -> Clocks {
    let [fair, rt, deadline] = util_sums;
    let mut cpu = Cpu {
        curr_is_idle: u8::from(event.flags & flag::CURR_IDLE != 0),
        capacity_orig: event.capacity,
        freq_scale: event.freq,
        clock: found.clock_task,
        clock_pelt: found.clock_pelt,
        lost_idle_time: found.lost_idle_time,
        ..Cpu::default()
    };
    cpu.cfs.util_sum = fair;
    if idle {
        rq::clock_idle(&mut cpu, rt.wrapping_add(deadline));
    } else {
        rq::clock(&mut cpu, clock_task);
    }
    Clocks {
        clock: found.clock + (cpu.clock - found.clock_task),
        clock_task: cpu.clock,
        clock_pelt: cpu.clock_pelt,
        lost_idle_time: cpu.lost_idle_time,
    }
}
