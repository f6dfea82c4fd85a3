// SPDX-License-Identifier: GPL-2.0-only
//! What differs between the kernels that are simulated: one row a base kernel,
//! one named rule a column. The simulation asks the row, never the name.
//!
//! A column is a number with its unit or one of a few rules; what a rule means
//! and where it comes from stands at its type. What all bases share is in the
//! files of the mechanisms.

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
    /// As in [`alight_policy::scheduler::BASES`].
    pub name: &'static str,
    pub fair: Fair,
    /// `None`: the kernel knows no energy model.
    pub energy_aware: Option<EnergyAware>,
    pub preemption: Preemption,
    pub clamps: Clamps,
    /// Task groups; `Err`: why they are not simulated.
    pub task_groups: Result<TaskGroups, &'static str>,
    pub schedutil: Schedutil,
    pub rt: Rt,
    pub balance: Balance,
    pub wake_list: WakeList,
    pub pipes: Pipes,
    /// `None`: the kernel has no SCHED_DEADLINE (up to 3.13).
    pub deadline: Option<Deadline>,
    pub idle: IdleRules,
    /// A task that wakes on another CPU decays for as long as the one that it leaves was idle
    /// (`migrate_se_pelt_lag`; 6.1 has it, 5.10 not): else the time since that CPU last
    /// updated its queue is lost, and the task looks bigger with each such move.
    pub idle_lag: bool,
}

/// The rules of the real-time class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rt {
    /// `sched_rt_runtime_exceeded`, `balance_runtime`.
    pub throttle: Throttle,
    /// `pull_rt_task`.
    pub pull: Pull,
    /// `find_lowest_rq`: CPUs that are as good take turns (`cpumask_any_and_distribute`,
    /// from 5.11 on), else the first.
    pub spreads: bool,
    /// `rt_task_fits_capacity` (from 5.6 on).
    pub fits_capacity: bool,
    /// What the class takes of a CPU's capacity.
    pub signal: RtSignal,
    /// `switched_to_rt`: time before a running task joined the class does not
    /// count for it (from 5.14 on).
    pub change_settles_signal: bool,
    /// Fair tasks get 50 ms a second beside real-time ones (`fair_server`, from 6.12 on).
    pub fair_server: bool,
}

/// The rules of SCHED_DEADLINE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// Tasks are placed and admitted by capacity (`dl_task_fits_capacity`,
    /// `dl_bw_capacity`, from 5.8 on).
    pub by_capacity: bool,
    /// What all tasks may have of each second, us (`sysctl_sched_rt_runtime`; read in
    /// 6.12 and 7.2).
    pub limit_us: u64,
    /// The fair servers' share is taken from it (from 6.12 on).
    pub counts_servers: bool,
}

/// What limits the time of real-time tasks to 950 ms a second (`sched_rt_runtime_us`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Throttle {
    /// A CPU may use what others leave (RT_RUNTIME_SHARE, up to 5.9).
    Shared,
    /// Each CPU for itself.
    PerCpu,
    /// Nothing without RT_GROUP_SCHED (from 6.12 on).
    None,
}

/// How a CPU gets real-time tasks that wait elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pull {
    /// It takes them.
    Direct,
    /// It has the others push them (RT_PUSH_IPI, from 4.1 on; 6.1.192, 6.8.12 and
    /// 7.2 only do so with PREEMPT_RT).
    Ipi,
}

/// Average of the time that the class runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RtSignal {
    /// `rt_avg` by half seconds; utilization does not contain it (up to 4.18).
    Window,
    /// `avg_rt`, as other load is tracked (from 4.19 on).
    Pelt,
}

/// How the fair class orders its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fair {
    /// By virtual runtime; up to 6.5.
    Cfs(Cfs),
    /// By virtual deadline among those that got less than their share; from 6.6 on.
    Eevdf(Eevdf),
}

/// The rules of CFS. Times that scale grow by 1 + log2 of the CPUs, of 8 at most
/// (`get_update_sysctl_factor`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cfs {
    /// `sysctl_sched_latency`, ns; scales.
    pub latency_ns: u64,
    /// `sysctl_sched_min_granularity`, ns; scales.
    pub min_granularity_ns: u64,
    /// `sysctl_sched_wakeup_granularity`, ns; scales.
    pub wakeup_granularity_ns: u64,
    /// `sched_nr_latency`: with more tasks than that the period grows.
    pub nr_latency: u32,
    /// `__calc_delta`.
    pub division: Division,
    /// `pick_next_task_fair`.
    pub picked_again: PickedAgain,
    /// `sched_slice`.
    pub slice_floor: SliceFloor,
    /// `check_preempt_tick`: a slice longer than `sched_latency` ends there.
    pub tick_limit_is_latency: bool,
    /// `place_entity`: what a SCHED_IDLE task that slept may lie behind the queue's time.
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

/// The current task is picked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PickedAgain {
    /// It was put back before, so that it begins another slice (up to 3.14).
    BeginsSlice,
    /// It goes on (from 3.15 on, with FAIR_GROUP_SCHED).
    GoesOn,
}

/// The shortest slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SliceFloor {
    /// None but the tick.
    None,
    /// `min_granularity` (BASE_SLICE; read in 5.10.262 and 5.15.215).
    Granularity,
    /// The same, but `idle_ns` for a SCHED_IDLE task among others
    /// (`sysctl_sched_idle_min_granularity`, which does not scale; read in 6.1.192).
    GranularityUnlessIdle { idle_ns: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleSleeper {
    /// As any other: half of `latency`.
    HalfLatency,
    /// Half of `min_granularity` (read in 6.1.192, not in 5.15.215).
    HalfGranularity,
}

/// When a picked task stops being a buddy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuddiesCleared {
    /// At each pick.
    Picked,
    /// When it is switched to: a task that is picked again stays its own buddy.
    SwitchedTo,
}

/// When a fair task gives way that a wakeup or a tick told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preemption {
    /// At once, in the kernel too; another CPU gets an interrupt (CONFIG_PREEMPT).
    Full,
    /// When it returns to user mode, at the latest at the second tick; no
    /// interrupt is sent for it (CONFIG_PREEMPT_LAZY, 6.13; `__resched_curr`).
    Lazy,
}

/// Which woken tasks the target itself puts on its queue (`ttwu_queue`, later
/// `ttwu_queue_cond`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeList {
    /// Those of CPUs that share no cache with it (read in 5.4). 5.10.262 adds a wakee that is
    /// just being switched from on the target (`WF_ON_CPU`); here no wakeup meets one.
    OtherCache,
    /// And those of any other CPU if it has no task (read in 5.15.215 and 6.1).
    OtherCacheOrIdle,
}

/// Whom pipes wake when (fs/pipe.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pipes {
    pub waiters: PipeWaiters,
    pub reader: PipeReader,
    pub writer: PipeWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeWaiters {
    /// Both ends wait in one queue, and all are woken, who came last first (up to
    /// 5.5; 0ddad21d3e99 of 5.6 ended that).
    All,
    /// A queue for each end, one woken at a time, in order; it wakes the next where
    /// something is left (from 5.6 on).
    One,
}

/// Which writes wake readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeReader {
    /// Each (read in 3.9.6 and 5.4.30).
    AtWrites,
    /// Those to an empty pipe (from 5.5 on).
    WasEmpty,
}

/// Which reads wake writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeWriter {
    /// Those that free a page (read in 3.9.6 and 5.4.30).
    PageFreed,
    /// Those of a full pipe, though it stays full until a page is free (from 5.5 on;
    /// read in 5.10.223, 6.1.192, 6.5.13 and 6.12.107).
    WasFull,
    /// Those that free a page of a full pipe (from 6.14 on; read in 7.2.13).
    PageOfFullFreed,
}

/// Whose utilization clamps are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clamps {
    /// There are none (up to 5.2).
    Unknown,
    /// Every task's.
    Always,
    /// Those of tasks that join a queue after somebody has asked for a clamp
    /// (`sched_uclamp_used`, from 5.9 on).
    OnceUsed,
    /// The same, but the clamps of a task count once it is queued: what its coming makes the
    /// frequency of does not know of them (`enqueue_task` from 6.12 to 6.16).
    OnceQueued,
}

/// The rules of task groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskGroups {
    /// Averages are divided by all that a sum can hold, not by what its open period
    /// lets it (`LOAD_AVG_MAX`, up to 5.7), and the load of those that left from afar is
    /// known, not only their number (`removed.runnable_sum`, up to 5.6; both read in 5.4.30).
    pub old_sums: bool,
    /// `cpu.idle` (from 5.15 on).
    pub idle: bool,
    /// A queue tells its group of its load once a millisecond at most
    /// (`update_tg_load_avg`; read in 6.5.13 of Ubuntu and from 6.8 on, not in 5.10.262, 5.15.215,
    /// 6.1.192 and 6.6.87).
    pub tells_rarely: bool,
    pub shares: Shares,
}

/// The weight that a group spreads over its CPUs (`calc_group_shares`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shares {
    /// Its own (up to 7.2; later `calc_smp_shares`).
    Own,
    /// Its own for each task that wants to run, as long as it has CPUs for them
    /// (`calc_concur_shares`, the default of debugfs `sched/cgroup_mode`; 7.3). Queues tell how many
    /// want to run by their `runnable_avg`, along with their load.
    PerTask,
}

/// The rules of schedutil; how utilization becomes a frequency is in
/// [`alight_policy::Params::performance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schedutil {
    /// The kernel has no schedutil, which came with 4.7: who asks for it gets that of 5.4.
    pub borrowed: bool,
    pub rate_limit: RateLimit,
    pub hold: Hold,
}

/// Time between two changes if the driver does not say
/// (`cpufreq_policy_transition_delay_us`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateLimit {
    /// A thousand times the latency of a change, 10 ms at most.
    Thousandfold,
    /// The latency and half of it (read in 7.2; 6.8 has the other).
    HalfAsMuchAgain,
}

/// A busy CPU with a clock of its own is not slowed down (`sugov_update_single_freq`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// What was asked for is forgotten, so that it is looked at again (read in 5.4).
    Forgets,
    /// What was asked for before counts on; and a CPU that its upper clamp limits
    /// is slowed down (`uclamp_rq_is_capped`; read in 6.1 and 7.2).
    Restores,
    /// What was asked for before counts on, whatever clamps and new limits say (read in
    /// 5.10.262 and 5.15.215).
    RestoresAlways,
}

/// What surrounds energy-aware placement, whose own rules are the policy core's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnergyAware {
    /// `cpu_overutilized`.
    pub overutilized: Overutilized,
    /// `find_busiest_group`: a misfit task may be pulled though no CPU is overutilized.
    pub misfit_is_exempt: bool,
}

/// When a CPU is overutilized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overutilized {
    /// Its utilization does not fit it (read in 5.4).
    Util,
    /// Its utilization within its clamps does not fit it (read in 5.10.262, 5.15.215, 6.1
    /// and 6.5).
    UtilInClamps,
    /// The same, but a lower clamp that it cannot reach is no reason (read in 7.2).
    UtilUnderClamp,
}

impl Kernel {
    /// The row of a scheduler's base: its name up to the first `+`.
    pub fn of(scheduler: &Scheduler) -> Option<&'static Kernel> {
        let base = scheduler.name.split('+').next()?;
        KERNELS.iter().find(|kernel| kernel.name == base)
    }
}

#[cfg(test)]
mod tests;
