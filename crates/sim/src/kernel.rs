// SPDX-License-Identifier: GPL-2.0-only
//! What differs between the kernels that are simulated: one row a base kernel,
//! one named rule a column. The simulation asks the row, never the name.
//!
//! A column is a number with its unit or one of a few rules; what a rule means
//! and where it comes from stands at its type. What all bases share is in the
//! files of the mechanisms.

mod balance;

pub(crate) use balance::*;

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
    /// A division of 64 bits (`__calc_delta`, after 6.12).
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
    /// `min_granularity`; `idle_ns` for a SCHED_IDLE task among others
    /// (BASE_SLICE, from 5.13 on; `sysctl_sched_idle_min_granularity`, 5.15, does not scale).
    Granularity { idle_ns: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleSleeper {
    /// As any other: half of `latency`.
    HalfLatency,
    /// Half of `min_granularity` (from 5.15 on).
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

/// The rules of EEVDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Eevdf {
    /// `sysctl_sched_base_slice`, ns; scales.
    pub base_slice_ns: u64,
    /// Shortest and longest slice that a task may ask for by sched_setattr(), ns.
    pub custom_slice_ns: (u64, u64),
    /// `__calc_delta`.
    pub division: Division,
    /// A timer ends a turn where the machine's kernel can afford one (sched feature HRTICK).
    pub hrtick: bool,
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
    /// Those of CPUs that share no cache with it (read in 5.4).
    OtherCache,
    /// And those of any other CPU if it has no task (read in 6.1).
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

/// Pipes of 3.9 and 5.4.
const PIPES_5_4: Pipes = Pipes {
    waiters: PipeWaiters::All,
    reader: PipeReader::AtWrites,
    writer: PipeWriter::PageFreed,
};

/// Pipes of 5.5.
const PIPES_5_5: Pipes = Pipes {
    waiters: PipeWaiters::All,
    reader: PipeReader::WasEmpty,
    writer: PipeWriter::WasFull,
};

/// Pipes of 6.1 and 6.5.
const PIPES_6_1: Pipes = Pipes {
    waiters: PipeWaiters::One,
    ..PIPES_5_5
};

/// What differs in the idle loop and its governors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdleRules {
    pub menu: MenuForm,
    /// `None`: the kernel has no such governor (up to 5.0). Where it has, menu comes
    /// first (rating 20 against 19).
    pub teo: Option<TeoForm>,
    /// The tick stops before the governor is asked, if no timer of the wheel is due
    /// within it (`tick_nohz_stop_sched_tick`; up to 4.16).
    pub tick_stops_first: bool,
    /// Where there is one state at most, the tick goes on until it has woken the
    /// CPU once (`cpuidle_idle_call`; read in 7.2).
    pub lone_state_keeps_tick: bool,
    pub domains: Domains,
}

/// Who enters idle states of domains (PSCI, OS-initiated).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domains {
    /// Nobody (up to 5.5).
    Nobody,
    /// The last CPU, if nobody wakes up soon (`cpuidle-psci-domain.c` came with 5.6).
    Last,
    /// And if the latency limit allows it (6.17, and stable releases of August 2025).
    LastInLatency,
}

/// The menu governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MenuForm {
    /// With a mode for repeating periods and a timer of its own (3.8 to 3.10).
    Repeat,
    /// It asks for the next timer first (read in 5.4, 6.1 and 6.5).
    TimerFirst,
    /// It looks for a pattern in the last idle periods before it asks for the next
    /// timer, and leaves out short periods as well as long ones (read in 7.2).
    PatternFirst,
}

/// The timer events oriented governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TeoForm {
    /// Hits, misses and early hits of each state (5.1 to 5.13). `whole_us`: times are
    /// whole microseconds (up to 5.4; 5.10 counts nanoseconds).
    EarlyHits { whole_us: bool },
    /// Hits and intercepts of each state, and the last nine of them (read in 6.1 and
    /// 6.5). `util_aware`: a shallower state where the CPU is in use (read in 6.5).
    Recent { util_aware: bool },
    /// Hits and intercepts; the timer is asked last (read in 7.2).
    TimerLast,
}

/// 5.5.
const IDLE: IdleRules = IdleRules {
    menu: MenuForm::TimerFirst,
    teo: Some(TeoForm::EarlyHits { whole_us: false }),
    tick_stops_first: false,
    lone_state_keeps_tick: false,
    domains: Domains::Nobody,
};

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
    /// (`update_tg_load_avg`; read in 6.5.13 and 7.2, not in 6.1.192).
    pub tells_rarely: bool,
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
}

const SCHEDUTIL: Schedutil = Schedutil {
    borrowed: false,
    rate_limit: RateLimit::Thousandfold,
    hold: Hold::Forgets,
};

/// schedutil of 6.1 and 6.5.
const SCHEDUTIL_6_1: Schedutil = Schedutil {
    hold: Hold::Restores,
    ..SCHEDUTIL
};

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
    /// Its utilization within its clamps does not fit it (read in 6.1 and 6.5).
    UtilInClamps,
    /// The same, but a lower clamp that it cannot reach is no reason (read in 7.2).
    UtilUnderClamp,
}

/// EAS of 5.4 and 5.5.
const EAS: EnergyAware = EnergyAware {
    overutilized: Overutilized::Util,
    misfit_is_exempt: false,
};

/// EAS of 6.1 and 6.5.
const EAS_6_1: EnergyAware = EnergyAware {
    overutilized: Overutilized::UtilInClamps,
    misfit_is_exempt: true,
};

/// CFS of 5.4 and 5.5.
const CFS: Cfs = Cfs {
    latency_ns: 6_000_000,
    min_granularity_ns: 750_000,
    wakeup_granularity_ns: 1_000_000,
    nr_latency: 8,
    division: Division::Inverse,
    picked_again: PickedAgain::GoesOn,
    slice_floor: SliceFloor::None,
    tick_limit_is_latency: false,
    idle_sleeper: IdleSleeper::HalfLatency,
    buddies_cleared: BuddiesCleared::Picked,
};

/// CFS of 6.1.
const CFS_6_1: Cfs = Cfs {
    slice_floor: SliceFloor::Granularity { idle_ns: 750_000 },
    idle_sleeper: IdleSleeper::HalfGranularity,
    buddies_cleared: BuddiesCleared::SwitchedTo,
    ..CFS
};

/// The real-time class of 5.4 and 5.5.
const RT: Rt = Rt {
    throttle: Throttle::Shared,
    pull: Pull::Ipi,
    spreads: false,
    fits_capacity: false,
    signal: RtSignal::Pelt,
    change_settles_signal: false,
    fair_server: false,
};

/// The real-time class of 6.5.
const RT_6_5: Rt = Rt {
    throttle: Throttle::PerCpu,
    spreads: true,
    fits_capacity: true,
    change_settles_signal: true,
    ..RT
};

/// SCHED_DEADLINE of 5.4 and 5.5.
const DEADLINE: Deadline = Deadline {
    by_capacity: false,
    limit_us: 950_000,
    counts_servers: false,
};

/// SCHED_DEADLINE of 6.1 and 6.5.
const DEADLINE_6_1: Deadline = Deadline {
    by_capacity: true,
    ..DEADLINE
};

/// Task groups of 6.5 and 7.2.
const TASK_GROUPS: TaskGroups = TaskGroups {
    old_sums: false,
    idle: true,
    tells_rarely: true,
};

/// The bases, oldest first.
pub(crate) static KERNELS: [Kernel; 6] = [
    Kernel {
        name: "linux-3.9",
        idle_lag: false,
        clamps: Clamps::Unknown,
        task_groups: Err("Linux 3.9 weighs groups by the sums of another load tracking"),
        schedutil: Schedutil {
            borrowed: true,
            ..SCHEDUTIL
        },
        energy_aware: None,
        fair: Fair::Cfs(Cfs {
            division: Division::RoundedInverse,
            picked_again: PickedAgain::BeginsSlice,
            ..CFS
        }),
        preemption: Preemption::Full,
        rt: Rt {
            pull: Pull::Direct,
            signal: RtSignal::Window,
            ..RT
        },
        balance: BALANCE_3_9,
        wake_list: WakeList::OtherCache,
        pipes: PIPES_5_4,
        deadline: None,
        idle: IdleRules {
            menu: MenuForm::Repeat,
            teo: None,
            tick_stops_first: true,
            lone_state_keeps_tick: false,
            domains: Domains::Nobody,
        },
    },
    Kernel {
        name: "linux-5.4",
        idle_lag: false,
        clamps: Clamps::Always,
        task_groups: Err("Linux 5.4 balances groups by the load of their runnable tasks"),
        schedutil: SCHEDUTIL,
        energy_aware: Some(EAS),
        fair: Fair::Cfs(CFS),
        preemption: Preemption::Full,
        rt: RT,
        balance: BALANCE_5_4,
        wake_list: WakeList::OtherCache,
        pipes: PIPES_5_4,
        deadline: Some(DEADLINE),
        idle: IdleRules {
            teo: Some(TeoForm::EarlyHits { whole_us: true }),
            ..IDLE
        },
    },
    Kernel {
        name: "linux-5.5",
        idle_lag: false,
        clamps: Clamps::Always,
        task_groups: Ok(TaskGroups {
            old_sums: true,
            idle: false,
            tells_rarely: false,
        }),
        schedutil: SCHEDUTIL,
        energy_aware: Some(EAS),
        fair: Fair::Cfs(CFS),
        preemption: Preemption::Full,
        rt: RT,
        balance: BALANCE,
        wake_list: WakeList::OtherCache,
        pipes: PIPES_5_5,
        deadline: Some(DEADLINE),
        idle: IDLE,
    },
    Kernel {
        name: "linux-6.1",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TaskGroups {
            tells_rarely: false,
            ..TASK_GROUPS
        }),
        schedutil: SCHEDUTIL_6_1,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Cfs(CFS_6_1),
        preemption: Preemption::Full,
        rt: Rt {
            pull: Pull::Direct,
            ..RT_6_5
        },
        balance: BALANCE_6_1,
        wake_list: WakeList::OtherCacheOrIdle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IdleRules {
            teo: Some(TeoForm::Recent { util_aware: false }),
            domains: Domains::LastInLatency,
            ..IDLE
        },
    },
    Kernel {
        name: "linux-6.5",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_1,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Cfs(Cfs {
            tick_limit_is_latency: true,
            ..CFS_6_1
        }),
        preemption: Preemption::Full,
        rt: RT_6_5,
        balance: BALANCE_6_5,
        wake_list: WakeList::OtherCacheOrIdle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IdleRules {
            teo: Some(TeoForm::Recent { util_aware: true }),
            domains: Domains::Last,
            ..IDLE
        },
    },
    Kernel {
        name: "linux-7.2",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: Schedutil {
            rate_limit: RateLimit::HalfAsMuchAgain,
            ..SCHEDUTIL_6_1
        },
        energy_aware: Some(EnergyAware {
            overutilized: Overutilized::UtilUnderClamp,
            ..EAS_6_1
        }),
        fair: Fair::Eevdf(Eevdf {
            base_slice_ns: 700_000,
            custom_slice_ns: (100_000, 100_000_000),
            division: Division::Exact,
            hrtick: true,
        }),
        preemption: Preemption::Lazy,
        rt: Rt {
            throttle: Throttle::None,
            fair_server: true,
            pull: Pull::Direct,
            ..RT_6_5
        },
        balance: BALANCE_7_2,
        wake_list: WakeList::OtherCacheOrIdle,
        pipes: Pipes {
            writer: PipeWriter::PageOfFullFreed,
            ..PIPES_6_1
        },
        deadline: Some(Deadline {
            limit_us: 1_000_000,
            counts_servers: true,
            ..DEADLINE_6_1
        }),
        idle: IdleRules {
            menu: MenuForm::PatternFirst,
            teo: Some(TeoForm::TimerLast),
            lone_state_keeps_tick: true,
            domains: Domains::LastInLatency,
            ..IDLE
        },
    },
];

impl Kernel {
    /// The row of a scheduler's base: its name up to the first `+`.
    pub fn of(scheduler: &Scheduler) -> Option<&'static Kernel> {
        let base = scheduler.name.split('+').next()?;
        KERNELS.iter().find(|kernel| kernel.name == base)
    }
}

#[cfg(test)]
mod tests;
