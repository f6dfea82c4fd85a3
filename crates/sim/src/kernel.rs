// SPDX-License-Identifier: GPL-2.0-only
//! The differences between the simulated kernels: one row per base kernel, one named rule per
//! column. The simulation asks the row, never the name.
//!
//! A column is a number with its unit, or one of a few rules. The type of a rule explains it and
//! gives its source. What all bases share is in the files of the mechanisms.

mod balance;
mod eevdf;
pub(crate) mod hybrid;
mod idle;
mod itmt;
pub(crate) mod sysctl;
mod table;
pub(crate) mod tunables;
pub(crate) mod views;
pub(crate) mod weight;

pub(crate) use balance::*;
pub(crate) use eevdf::*;
pub(crate) use idle::*;
pub(crate) use itmt::*;
pub(crate) use table::KERNELS;

use alight_policy::Scheduler;

/// A base kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Name, as in [`alight_policy::scheduler::BASES`].
    pub name: &'static str,
    pub fair: Fair,
    /// `None`: the kernel has no energy model.
    pub energy_aware: Option<EnergyAware>,
    pub preemption: Preemption,
    pub clamps: Clamps,
    /// Task groups; `Err`: the reason why they are not simulated.
    pub task_groups: Result<TaskGroups, &'static str>,
    pub schedutil: Schedutil,
    pub rt: Rt,
    pub balance: Balance,
    pub wake_list: WakeList,
    pub pipes: Pipes,
    /// `None`: the kernel has no SCHED_DEADLINE (up to 3.13).
    pub deadline: Option<Deadline>,
    pub idle: IdleRules,
    /// Signals of a task that wakes on another CPU decay for the idle time of the CPU that it
    /// leaves, too (`migrate_se_pelt_lag`; in 6.1, not in 5.10). Without this the time since the
    /// last update of that CPU's queue is lost, and the task looks bigger after each such
    /// migration.
    pub idle_lag: bool,
}

/// The rules of the real-time class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rt {
    /// `sched_rt_runtime_exceeded`, `balance_runtime`.
    pub throttle: Throttle,
    /// `pull_rt_task`.
    pub pull: Pull,
    /// `find_lowest_rq`: equally good CPUs take turns (`cpumask_any_and_distribute`, from 5.11 on);
    /// else the first is taken.
    pub spreads: bool,
    /// `rt_task_fits_capacity` (from 5.6 on).
    pub fits_capacity: bool,
    /// How the class reduces a CPU's capacity.
    pub signal: RtSignal,
    /// `switched_to_rt`: a running task that joins the class brings no earlier time into the
    /// class's signal (from 5.14 on).
    pub change_settles_signal: bool,
    /// Fair tasks get 50 ms per second beside real-time tasks (`fair_server`, from 6.12 on).
    pub fair_server: bool,
}

/// The rules of SCHED_DEADLINE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// Tasks are placed and admitted by capacity (`dl_task_fits_capacity`,
    /// `dl_bw_capacity`, from 5.8 on).
    pub by_capacity: bool,
    /// Time per second that all deadline tasks together may use, us (`sysctl_sched_rt_runtime`:
    /// 950000 in 6.12.117 and 7.1.13, 1000000 in 7.2.13).
    pub limit_us: u64,
    /// The fair servers' share is taken from it (from 6.12 on).
    pub counts_servers: bool,
}

/// The limit of real-time tasks to 950 ms per second (`sched_rt_runtime_us`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Throttle {
    /// A CPU may borrow unused time of others (RT_RUNTIME_SHARE, up to 5.9).
    Shared,
    /// The limit holds for each CPU alone.
    PerCpu,
    /// There is no limit without RT_GROUP_SCHED (from 6.12 on).
    None,
}

/// How a CPU pulls real-time tasks that wait on other CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pull {
    /// It pulls them itself.
    Direct,
    /// It asks the other CPUs by IPI to push them (RT_PUSH_IPI, from 4.1 on; 6.1.192, 6.8.12 and
    /// 7.2 only with PREEMPT_RT).
    Ipi,
}

/// Average of the time that the class runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RtSignal {
    /// `rt_avg` in periods of half a second; utilization does not include it (up to 4.18).
    Window,
    /// `avg_rt`, by PELT (from 4.19 on).
    Pelt,
}

/// How the fair class orders its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fair {
    /// By vruntime; up to 6.5.
    Cfs(Cfs),
    /// By virtual deadline among the eligible tasks, which got less than their share; from 6.6 on.
    Eevdf(Eevdf),
}

/// The rules of CFS. Times marked "scales" are multiplied by 1 + log2(CPUs), with 8 CPUs at most
/// (`get_update_sysctl_factor`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cfs {
    /// `sysctl_sched_latency`, ns; scales.
    pub latency_ns: u64,
    /// `sysctl_sched_min_granularity`, ns; scales.
    pub min_granularity_ns: u64,
    /// `sysctl_sched_wakeup_granularity`, ns; scales.
    pub wakeup_granularity_ns: u64,
    /// `sched_nr_latency`: with more tasks than this the period grows.
    pub nr_latency: u32,
    /// `__calc_delta`.
    pub division: Division,
    /// `pick_next_task_fair`.
    pub picked_again: PickedAgain,
    /// `sched_slice`.
    pub slice_floor: SliceFloor,
    /// `check_preempt_tick`: a slice longer than `sched_latency` ends there.
    pub tick_limit_is_latency: bool,
    /// `place_entity`: how far a SCHED_IDLE task that slept may lie behind `min_vruntime`.
    pub idle_sleeper: IdleSleeper,
    /// `clear_buddies`.
    pub buddies_cleared: BuddiesCleared,
}

/// How products with a weight are divided by another weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Division {
    /// Times 2^32 / weight, rounded to nearest (`calc_delta_mine`, up to 3.12).
    RoundedInverse,
    /// Times 2^32 / weight, rounded down (`__calc_delta`, from 3.13 on).
    Inverse,
    /// A division of 64 bits (`__calc_delta`, from 7.1 on).
    Exact,
}

/// What happens if the current task is picked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PickedAgain {
    /// It was put back before the pick, so it begins a new slice (up to 3.14).
    BeginsSlice,
    /// It continues its slice (from 3.15 on, with FAIR_GROUP_SCHED).
    GoesOn,
}

/// The shortest slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SliceFloor {
    /// There is none; only ticks end slices.
    None,
    /// `min_granularity` (BASE_SLICE; read in 5.10.262 and 5.15.215).
    Granularity,
    /// The same, but `idle_ns` for a SCHED_IDLE task among others
    /// (`sysctl_sched_idle_min_granularity`, which does not scale; read in 6.1.192).
    GranularityUnlessIdle { idle_ns: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleSleeper {
    /// As for other tasks: half of `latency`.
    HalfLatency,
    /// Half of `min_granularity` (read in 6.1.192, not in 5.15.215).
    HalfGranularity,
}

/// When a picked task stops being a buddy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuddiesCleared {
    /// At each pick.
    Picked,
    /// When the CPU switches to it: a task that is picked again stays a buddy.
    SwitchedTo,
}

/// When a fair task is preempted after a wakeup or a tick asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preemption {
    /// At once, also in kernel mode; another CPU gets an IPI (CONFIG_PREEMPT).
    Full,
    /// When it returns to user mode, at the latest at the second tick. No IPI is sent
    /// (CONFIG_PREEMPT_LAZY, 6.13; `__resched_curr`).
    Lazy,
}

/// Which woken tasks are put on the wake list, so that the target CPU queues them itself
/// (`ttwu_queue`, later `ttwu_queue_cond`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeList {
    /// Those that are woken from a CPU that shares no cache with the target (read in 5.4).
    OtherCache,
    /// Also a wakee that is still on its CPU, if no other task is there (`WF_ON_CPU`; read in
    /// 5.10.262).
    Leaving,
    /// Also those that are woken from any other CPU, if the target has no task (read in 5.15.215
    /// and 6.1).
    Idle,
}

/// Which tasks pipes wake, and when (fs/pipe.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pipes {
    pub waiters: PipeWaiters,
    pub reader: PipeReader,
    pub writer: PipeWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeWaiters {
    /// Both ends wait in one queue, and all are woken, the last first (up to 5.5; 0ddad21d3e99 of
    /// 5.6 ended that).
    All,
    /// Each end has a queue; one task is woken at a time, in order. It wakes the next if something
    /// is left (from 5.6 on).
    One,
}

/// Which writes wake readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeReader {
    /// Each write (read in 3.9.6 and 5.4.30).
    AtWrites,
    /// Writes to an empty pipe (from 5.5 on).
    WasEmpty,
}

/// Which reads wake writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeWriter {
    /// Reads that free a page (read in 3.9.6 and 5.4.30).
    PageFreed,
    /// Reads of a full pipe, even if it stays full until a page is free (from 5.5 on; read in
    /// 5.10.223, 6.1.192, 6.5.13 and 6.12.107).
    WasFull,
    /// Reads that free a page of a full pipe (from 6.14 on; read in 7.2.13).
    PageOfFullFreed,
}

/// Which tasks' utilization clamps are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clamps {
    /// The kernel has no clamps (up to 5.2).
    Unknown,
    /// Those of every task.
    Always,
    /// Those of tasks that are enqueued after the first request for a clamp (`sched_uclamp_used`,
    /// from 5.9 on).
    OnceUsed,
    /// The same, but a task's clamps count only after it is queued: the frequency update at its
    /// enqueue does not see them (`enqueue_task` from 6.12 to 6.16).
    OnceQueued,
}

/// The rules of task groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskGroups {
    /// Averages are divided by `LOAD_AVG_MAX` (up to 5.7), not by the largest sum that the open
    /// period allows. Tasks that leave a queue from another CPU hand over their load
    /// (`removed.runnable_sum`, up to 5.6), not only their number. Both were read in 5.4.30.
    pub old_sums: bool,
    /// `cpu.idle` (from 5.15 on).
    pub idle: bool,
    /// A queue updates the load of its group once a millisecond at most (`update_tg_load_avg`; read
    /// in 6.5.13 of Ubuntu and from 6.8 on, not in 5.10.262, 5.15.215, 6.1.192 and 6.6.87).
    pub tells_rarely: bool,
    pub shares: Shares,
}

/// The weight that a group distributes over its CPUs (`calc_group_shares`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shares {
    /// Its own weight (up to 7.2; later `calc_smp_shares`).
    Own,
    /// Its own weight for each runnable task, up to its number of CPUs (`calc_concur_shares`, the
    /// default of debugfs `sched/cgroup_mode`; 7.3). Queues report the number of runnable tasks by
    /// their `runnable_avg`, along with their load.
    PerTask,
}

/// The rules of schedutil. [`alight_policy::Params::performance`] has the rule by which utilization
/// becomes a frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schedutil {
    /// The kernel has no schedutil, which came with 4.7: that of 5.4 is used instead.
    pub borrowed: bool,
    pub rate_limit: RateLimit,
    pub hold: Hold,
}

/// Shortest time between two changes if the driver does not state one
/// (`cpufreq_policy_transition_delay_us`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateLimit {
    /// 1000 times the transition latency, 10 ms at most.
    Thousandfold,
    /// 1.5 times the transition latency (read in 7.2; 6.8 has the other).
    HalfAsMuchAgain,
}

/// A busy CPU that is alone in its frequency domain is not slowed down
/// (`sugov_update_single_freq`). The variants say what becomes of `cached_raw_freq` then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It is set to 0, so the frequency is looked up again (read in 5.4).
    Forgets,
    /// It is restored. A CPU that its upper clamp limits is slowed down after all
    /// (`uclamp_rq_is_capped`; read in 6.1 and 7.2).
    Restores,
    /// It is restored, and the frequency held, regardless of clamps and new limits (read in
    /// 5.10.262 and 5.15.215).
    RestoresAlways,
}

/// The rules around energy-aware placement; its own rules are in the policy core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnergyAware {
    /// `cpu_overutilized`.
    pub overutilized: Overutilized,
    /// `find_busiest_group`: a misfit task may be pulled even if no CPU is overutilized.
    pub misfit_is_exempt: bool,
}

/// When a CPU is overutilized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overutilized {
    /// If its utilization does not fit it (read in 5.4).
    Util,
    /// If its clamped utilization does not fit it (read in 5.10.262, 5.15.215, 6.1 and 6.5).
    UtilInClamps,
    /// The same, but a lower clamp above its capacity does not make it overutilized (read in 7.2).
    UtilUnderClamp,
}

impl Kernel {
    /// The row of a scheduler's base, which is its name up to the first `+`.
    pub fn of(scheduler: &Scheduler) -> Option<&'static Kernel> {
        let base = scheduler.name.split('+').next()?;
        KERNELS.iter().find(|kernel| kernel.name == base)
    }
}

#[cfg(test)]
mod tests;
