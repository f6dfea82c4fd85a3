// SPDX-License-Identifier: GPL-2.0-only
//! From what the kernel had to what the core reads: units, versions, names.

use super::layout::{CpuState, NOT_SHARED, TaskState, Wakeup, flag};
use alight_policy::abi::{class, task_flag, wake_flag};
use alight_policy::{Core, Cpu, Kind, NONE, Pelt, Task};
use alight_recording::KernelVersion;

const WF_EXEC: u32 = 0x02;
const WF_FORK: u32 = 0x04;
const WF_SYNC: u32 = 0x10;
const WF_CURRENT_CPU: u32 = 0x40;
const PF_EXITING: u32 = 0x0000_0004;
const PF_KTHREAD: u32 = 0x0020_0000;
const SCHED_BATCH: u32 = 3;
const SCHED_IDLE: u32 = 5;
const TASK_ON_RQ_QUEUED: u32 = 1;
/// The task has not been averaged since its estimate was stored; 5.13 and later.
const UTIL_AVG_UNCHANGED: u32 = 0x8000_0000;
/// `NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET`: not in a task (`!in_task()`); up to 7.2.
const IN_INTERRUPT: u32 = 0x00ff_0100;
/// The same from 7.3 on, where bits 16 to 23 count how often interrupts are off and the others lie
/// above (include/linux/preempt.h). An NMI raises the count of hard interrupts too, and has one
/// bit of its own or four; the lowest is in both layouts.
const IN_INTERRUPT_7_3: u32 = 0x1f00_0100;

/// What the rules of translation depend on.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Of the recorded kernel.
    pub kernel: KernelVersion,
    /// ns
    pub tick: u64,
}

impl Rules {
    /// `util_est` is a pair (up to 6.7).
    fn est_is_a_pair(self) -> bool {
        (self.kernel.major, self.kernel.minor) < (6, 8)
    }

    /// Time in ns that the kernel counts in jiffies.
    pub fn time(self, jiffies: u64) -> u64 {
        jiffies.wrapping_mul(self.tick)
    }

    fn task(self, t: &TaskState, jiffies: u64) -> Task {
        let est = t.util_est & !UTIL_AVG_UNCHANGED;
        let (util_est_enqueued, util_est_ewma) = if self.est_is_a_pair() {
            (est, t.util_est_ewma)
        } else {
            (0, est)
        };
        let flags = [
            (t.flags & PF_EXITING != 0, task_flag::EXITING),
            (t.flags & PF_KTHREAD != 0, task_flag::KTHREAD),
            (t.on_rq == TASK_ON_RQ_QUEUED, task_flag::ON_RQ),
            (
                t.util_est & UTIL_AVG_UNCHANGED != 0,
                task_flag::EST_UNCHANGED,
            ),
        ];
        Task {
            pelt: Pelt {
                last_update_time: t.last_update_time,
                load_sum: t.load_sum,
                runnable_sum: t.runnable_sum,
                util_sum: t.util_sum,
                period_contrib: t.period_contrib,
                load_avg: h_load(t, jiffies),
                runnable_avg: t.runnable_avg,
                util_avg: t.util_avg,
                uclamp: 0,
            },
            wakee_flip_decay_ts: self.time(t.flip_decay),
            wakee_flips: t.wakee_flips,
            id: t.pid,
            weight: t.weight,
            util_est_enqueued,
            util_est_ewma,
            uclamp_min: t.uclamp_min.into(),
            uclamp_max: t.uclamp_max.into(),
            recent_used_cpu: t.recent_used_cpu,
            nr_cpus_allowed: t.nr_cpus_allowed,
            class: match t.policy {
                SCHED_BATCH => class::BATCH,
                SCHED_IDLE => class::IDLE,
                _ => class::NORMAL,
            },
            flags: (flags.iter()).fold(0, |all, (set, flag)| if *set { all | flag } else { all }),
            ..Task::default()
        }
    }

    /// See [`wake_flag`].
    pub fn wake_flags(self, wakeup: &Wakeup) -> u32 {
        let in_interrupt = match (self.kernel.major, self.kernel.minor) < (7, 3) {
            true => IN_INTERRUPT,
            false => IN_INTERRUPT_7_3,
        };
        // Recorders that learn the bits from the running kernel tell; older ones do not.
        let interrupt = match wakeup.flags & flag::CONTEXT {
            0 => wakeup.preempt_count & in_interrupt != 0,
            _ => wakeup.flags & flag::INTERRUPT != 0,
        };
        let either = |set, flag| if set { flag } else { 0 };
        either(interrupt, wake_flag::INTERRUPT)
            | either(
                wakeup.wake_flags & WF_CURRENT_CPU != 0,
                wake_flag::CURRENT_CPU,
            )
    }

    /// The wakee; it ran last on the wakeup's previous CPU.
    pub fn wakee(self, wakeup: &Wakeup) -> Task {
        Task {
            prev_cpu: wakeup.prev_cpu,
            ..self.task(&wakeup.wakee, wakeup.jiffies)
        }
    }

    /// The waker.
    pub fn waker(self, wakeup: &Wakeup) -> Task {
        let same = wakeup.flags & flag::SAME_WAKEE != 0;
        Task {
            prev_cpu: wakeup.this_cpu,
            last_wakee: if same { wakeup.wakee.pid } else { NONE },
            ..self.task(&wakeup.waker, wakeup.jiffies)
        }
    }
}

/// The task's load as the root queue sees it (`task_h_load()`). Each queue
/// computes its own share once a tick. For a queue of the root, the share is
/// its load; that of a task group stays as it was recorded.
fn h_load(t: &TaskState, jiffies: u64) -> u32 {
    let queue = if t.depth == 0 && t.h_load_stamp != jiffies {
        t.queue_load_avg
    } else {
        t.h_load
    };
    (u64::from(t.load_avg) * queue / (t.queue_load_avg + 1)) as u32
}

fn cpu(c: &CpuState, clock: u64) -> Cpu {
    Cpu {
        curr_is_idle: c.curr_is_idle.into(),
        ttwu_pending: c.ttwu_pending.into(),
        offline: (!c.online).into(),
        uclamp_idle: c.uclamp_idle.into(),
        nr_running: c.nr_running.into(),
        h_nr_running: c.h_nr_runnable.into(),
        h_nr_idle: c.h_nr_idle.into(),
        // The two are copied one after the other.
        h_nr_delayed: c.h_nr_queued.saturating_sub(c.h_nr_runnable),
        util_est_enqueued: c.util_est,
        capacity_orig: c.capacity_orig.into(),
        capacity: c.capacity.into(),
        exit_latency: c.exit_latency.checked_mul(1000).unwrap_or(NONE),
        clock,
        cfs: Pelt {
            last_update_time: c.last_update_time,
            load_avg: c.load_avg,
            runnable_avg: c.runnable_avg,
            util_avg: c.util_avg,
            ..Pelt::default()
        },
        idle_stamp: c.idle_stamp,
        rt_nr_running: c.rt_nr_running,
        rt_util: c.rt_util,
        dl_util: c.dl_util,
        dl_bandwidth: c.dl_bandwidth,
        hw_pressure: c.hw_pressure,
        hw_load_avg: c.hw_load_avg,
        cpufreq_pressure: c.cpufreq_pressure,
        uclamp_min: c.uclamp_min,
        uclamp_max: c.uclamp_max,
        ..Cpu::default()
    }
}

/// Gives the core the state of all CPUs.
pub fn fill(core: &mut Core, wakeup: &Wakeup) {
    for (at, state) in wakeup.cpus.iter().enumerate() {
        core.cpus[at] = cpu(state, wakeup.clock);
        let place = core.places[at];
        let llc = &mut core.llcs[place.llc as usize];
        if state.nr_idle_scan != NOT_SHARED {
            llc.nr_idle_scan = state.nr_idle_scan.into();
        }
        let shared = &mut core.llcs[place.shared as usize];
        shared.has_idle_cores = state.has_idle_cores.into();
        if place.shared != place.llc && state.asym_idle_scan != NOT_SHARED {
            shared.nr_idle_scan = state.asym_idle_scan.into();
        }
    }
    let here = &mut core.cpus[wakeup.this_cpu as usize];
    here.avg_idle = wakeup.avg_idle;
    here.avg_scan_cost = wakeup.avg_scan_cost;
    let is = |bit| u32::from(wakeup.flags & bit != 0);
    core.root.overutilized = is(flag::OVERUTILIZED);
    core.root.uclamp_used = is(flag::UCLAMP_USED);
    core.set_keys(is(flag::SMT), is(flag::ASYM), is(flag::CLUSTER));
}

/// Why the CPU is wanted.
pub fn kind(wakeup: &Wakeup) -> Kind {
    if wakeup.wake_flags & WF_EXEC != 0 {
        Kind::Exec
    } else if wakeup.wake_flags & WF_FORK != 0 {
        Kind::Fork
    } else {
        Kind::Wake
    }
}

/// The waker says that it will sleep.
pub fn sync(wakeup: &Wakeup) -> bool {
    wakeup.wake_flags & WF_SYNC != 0
}

#[cfg(test)]
mod tests;
