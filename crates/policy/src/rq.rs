// SPDX-License-Identifier: GPL-2.0-only
//! Updates a CPU's view when tasks are enqueued, run and leave (`policy/runqueue.h`).
//! Functions that return a bool return true if the queue's utilization may have changed,
//! which is when the kernel calls the frequency governor.

use crate::abi::{Cpu, Params, Task, table, table_of};

/// Brings the CPU's clocks to `now` ns.
#[inline]
pub fn clock(cpu: &mut Cpu, now: u64) {
    // SAFETY: the view is exclusively borrowed, here and in the functions below.
    unsafe { (table().update_rq_clock)(cpu, now) }
}

/// The CPU is about to run its idle task; `others`: `util_sum` of the real-time and
/// the deadline class.
#[inline]
pub fn clock_idle(cpu: &mut Cpu, others: u32) {
    // SAFETY: as above.
    unsafe { (table().update_idle_rq_clock_pelt)(cpu, others) }
}

/// A task joins the queue; `curr_fair`: a fair task is current.
#[inline]
pub fn enqueue(k: &Params, cpu: &mut Cpu, task: &mut Task, curr_fair: bool) -> bool {
    // SAFETY: as above; `cpu` and `task` are distinct.
    unsafe { (table_of(k).enqueue_entity)(k, cpu, task, curr_fair.into()) != 0 }
}

/// A task leaves the queue; `running`: it is current; `sleeps`: it goes to sleep.
#[inline]
pub fn dequeue(
    k: &Params,
    cpu: &mut Cpu,
    task: &mut Task,
    running: bool,
    curr_fair: bool,
    sleeps: bool,
) -> bool {
    // SAFETY: as above.
    unsafe {
        (table_of(k).dequeue_entity)(
            k,
            cpu,
            task,
            running.into(),
            curr_fair.into(),
            sleeps.into(),
        ) != 0
    }
}

/// Brings the queue's signals of 2013, if they are kept, up to its clock.
#[inline]
pub fn update13(k: &Params, cpu: &mut Cpu) {
    // SAFETY: as above.
    unsafe { (table_of(k).update_rq_runnable_avg)(k, cpu) }
}

/// A queued task is about to run.
#[inline]
pub fn set_next(k: &Params, cpu: &mut Cpu, task: &mut Task) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).set_next_entity)(k, cpu, task) != 0 }
}

/// The current task runs on, or stops running and stays queued.
#[inline]
pub fn update_curr(k: &Params, cpu: &mut Cpu, task: &mut Task) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).update_curr)(k, cpu, task) != 0 }
}

/// A queued task leaves for another CPU and takes its signals along.
#[inline]
pub fn detach(k: &Params, cpu: &mut Cpu, task: &mut Task, curr_fair: bool) {
    // SAFETY: as above.
    unsafe { (table_of(k).detach_task)(k, cpu, task, curr_fair.into()) }
}

/// The current task sleeps but stays queued until it is picked or woken
/// (delayed dequeue, 6.12 and later).
#[inline]
pub fn delay(k: &Params, cpu: &mut Cpu, task: &mut Task) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).set_delayed)(k, cpu, task) != 0 }
}

/// A task that sleeps on the queue was woken: it stays on this queue and is runnable again.
#[inline]
pub fn requeue(k: &Params, cpu: &mut Cpu, task: &mut Task, curr_fair: bool) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).requeue_delayed_entity)(k, cpu, task, curr_fair.into()) != 0 }
}

/// A task that sleeps on the queue was picked: it leaves.
#[inline]
pub fn dequeue_delayed(k: &Params, cpu: &mut Cpu, task: &mut Task, curr_fair: bool) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).dequeue_delayed)(k, cpu, task, curr_fair.into()) != 0 }
}

/// End of an idle phase of `idle_ns`; its average is capped at `max` ns.
#[inline]
pub fn idle_end(cpu: &mut Cpu, idle_ns: u64, max: u64) {
    // SAFETY: as above.
    unsafe { (table().update_avg_idle)(cpu, idle_ns, max) }
}

/// Updates a queue's own signals (blocked load).
#[inline]
pub fn refresh(k: &Params, cpu: &mut Cpu, curr_fair: bool) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).update_cfs_rq_load_avg)(k, cpu, curr_fair.into()) != 0 }
}

/// A sleeper leaves its old queue `cpu`; it is attached to the queue on which it wakes.
#[inline]
pub fn remove(k: &Params, cpu: &mut Cpu, task: &mut Task) {
    // SAFETY: as above.
    unsafe { (table_of(k).remove_entity_load_avg)(k, cpu, task) }
}

/// A sleeper that still belongs to `cpu` decays up to `until` of its PELT time, ns
/// (`__update_load_avg_blocked_se`).
#[inline]
pub fn decay(k: &Params, cpu: &mut Cpu, task: &mut Task, until: u64) {
    // SAFETY: as above.
    unsafe { (table_of(k).update_load_avg_blocked_se)(k, cpu, task, until) }
}

/// Initial utilization of a new task on `cpu`.
#[inline]
pub fn init_util(k: &Params, cpu: &Cpu, task: &mut Task) {
    // SAFETY: as above.
    unsafe { (table_of(k).post_init_entity_util_avg)(k, cpu, task) }
}

/// Estimated utilization of a task.
#[inline]
pub fn util_est(k: &Params, task: &Task) -> u32 {
    // SAFETY: as above.
    unsafe { (table_of(k).task_util_est)(k, task) }
}

/// Adds a task's signals to a queue; from then on they follow its PELT clock
/// (`attach_entity_load_avg`).
#[inline]
pub fn attach_signals(k: &Params, cpu: &mut Cpu, task: &mut Task) {
    // SAFETY: as above.
    unsafe { (table_of(k).attach_entity_load_avg)(k, cpu, task) }
}

/// Takes a task's signals from its queue (`detach_entity_load_avg`).
#[inline]
pub fn detach_signals(k: &Params, cpu: &mut Cpu, task: &mut Task) {
    // SAFETY: as above.
    unsafe { (table_of(k).detach_entity_load_avg)(k, cpu, task) }
}

/// Gives a task of this queue another weight (`reweight_entity`). If the task is queued, the
/// caller updates [`Cpu::weight`].
#[inline]
pub fn reweight(k: &Params, cpu: &mut Cpu, task: &mut Task, weight: u32) {
    // SAFETY: as above.
    unsafe { (table_of(k).reweight_entity)(k, cpu, task, weight) }
}

/// A task's estimate counts on its queue from now on (`util_est_enqueue`).
#[inline]
pub fn est_enqueue(k: &Params, cpu: &mut Cpu, task: &Task) {
    // SAFETY: as above.
    unsafe { (table_of(k).util_est_enqueue)(k, cpu, task) }
}

/// A task's estimate no longer counts on its queue. If the task sleeps, the estimate is
/// recomputed from its averages (`util_est_dequeue`, `util_est_update`).
#[inline]
pub fn est_dequeue(k: &Params, cpu: &mut Cpu, task: &mut Task, sleeps: bool) {
    // SAFETY: as above.
    unsafe { (table_of(k).util_est_dequeue)(k, cpu, task, sleeps.into()) }
}

/// With `uclamp-sum`, the last step when a task joins, after [`enqueue`]: from now on it counts
/// as its clamps say. True: the governor must be called again.
#[inline]
pub fn clamped_joined(k: &Params, cpu: &mut Cpu, task: &mut Task) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).clamped_task_joined)(k, cpu, task) != 0 }
}

/// With `uclamp-sum`: the clamps of a queued task have changed.
#[inline]
pub fn clamps_changed(k: &Params, cpu: &mut Cpu, task: &mut Task) -> bool {
    // SAFETY: as above.
    unsafe { (table_of(k).clamps_changed)(k, cpu, task) != 0 }
}

/// With `uclamp-sum`: clamped utilization of a CPU. `boost`: waiting time of tasks counts too, on
/// bases that choose frequencies by it.
#[inline]
pub fn cpu_util_clamped(k: &Params, cpu: &Cpu, boost: bool) -> u32 {
    // SAFETY: as above.
    unsafe { (table_of(k).cpu_util_cfs_uclamp)(k, cpu, boost.into()) }
}

/// With `uclamp-sum`: estimated utilization of a task, clamped.
#[inline]
pub fn clamped_est(k: &Params, task: &Task) -> u32 {
    // SAFETY: as above.
    unsafe { (table_of(k).task_util_est_uclamp)(k, task) }
}
