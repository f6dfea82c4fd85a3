// SPDX-License-Identifier: GPL-2.0-only
//! The rows of the base kernels: the rules of each.

use super::*;

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

const SCHEDUTIL: Schedutil = Schedutil {
    borrowed: false,
    rate_limit: RateLimit::Thousandfold,
    hold: Hold::Forgets,
};

/// schedutil of 5.10.262 and 5.15.215.
const SCHEDUTIL_5_10: Schedutil = Schedutil {
    hold: Hold::RestoresAlways,
    ..SCHEDUTIL
};

/// schedutil of 6.1 and 6.5.
const SCHEDUTIL_6_1: Schedutil = Schedutil {
    hold: Hold::Restores,
    ..SCHEDUTIL
};

/// EAS of 5.4 and 5.5.
const EAS: EnergyAware = EnergyAware {
    overutilized: Overutilized::Util,
    misfit_is_exempt: false,
};

/// EAS of 5.10.262 and 5.15.215.
const EAS_5_10: EnergyAware = EnergyAware {
    overutilized: Overutilized::UtilInClamps,
    ..EAS
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

/// CFS of 5.10.262.
const CFS_5_10: Cfs = Cfs {
    slice_floor: SliceFloor::Granularity,
    ..CFS
};

/// CFS of 5.15.215.
const CFS_5_15: Cfs = Cfs {
    buddies_cleared: BuddiesCleared::SwitchedTo,
    ..CFS_5_10
};

/// CFS of 6.1.
const CFS_6_1: Cfs = Cfs {
    slice_floor: SliceFloor::GranularityUnlessIdle { idle_ns: 750_000 },
    idle_sleeper: IdleSleeper::HalfGranularity,
    ..CFS_5_15
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

/// The real-time class of 5.10.262.
const RT_5_10: Rt = Rt {
    throttle: Throttle::PerCpu,
    pull: Pull::Direct,
    fits_capacity: true,
    change_settles_signal: true,
    ..RT
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

/// Task groups from 6.5 on.
const TASK_GROUPS: TaskGroups = TaskGroups {
    old_sums: false,
    idle: true,
    tells_rarely: true,
    shares: Shares::Own,
};

/// Pipes from 6.14 on.
const PIPES_6_14: Pipes = Pipes {
    writer: PipeWriter::PageOfFullFreed,
    ..PIPES_6_1
};

/// schedutil from 6.12 on.
const SCHEDUTIL_6_12: Schedutil = Schedutil {
    rate_limit: RateLimit::HalfAsMuchAgain,
    ..SCHEDUTIL_6_1
};

/// The real-time class of 6.12.118 and from 7.0 on.
const RT_6_12: Rt = Rt {
    throttle: Throttle::None,
    fair_server: true,
    pull: Pull::Direct,
    ..RT_6_5
};

/// SCHED_DEADLINE from 6.12 on.
const DEADLINE_6_12: Deadline = Deadline {
    counts_servers: true,
    ..DEADLINE_6_1
};

/// SCHED_DEADLINE of 7.2 and 7.3.
const DEADLINE_7_2: Deadline = Deadline {
    limit_us: 1_000_000,
    ..DEADLINE_6_12
};

/// EAS from 7.1 on.
const EAS_7_1: EnergyAware = EnergyAware {
    overutilized: Overutilized::UtilUnderClamp,
    ..EAS_6_1
};

/// The bases, oldest first.
pub(crate) static KERNELS: [Kernel; 15] = [
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
            shares: Shares::Own,
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
        name: "linux-5.10",
        idle_lag: false,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TaskGroups {
            idle: false,
            tells_rarely: false,
            ..TASK_GROUPS
        }),
        schedutil: SCHEDUTIL_5_10,
        energy_aware: Some(EAS_5_10),
        fair: Fair::Cfs(CFS_5_10),
        preemption: Preemption::Full,
        rt: RT_5_10,
        balance: BALANCE_5_10,
        wake_list: WakeList::Leaving,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IdleRules {
            lone_state_keeps_tick: true,
            domains: Domains::LastInLatency,
            ..IDLE
        },
    },
    Kernel {
        name: "linux-5.15",
        idle_lag: false,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TaskGroups {
            tells_rarely: false,
            ..TASK_GROUPS
        }),
        schedutil: SCHEDUTIL_5_10,
        energy_aware: Some(EAS_5_10),
        fair: Fair::Cfs(CFS_5_15),
        preemption: Preemption::Full,
        rt: Rt {
            spreads: true,
            ..RT_5_10
        },
        balance: BALANCE_5_15,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IdleRules {
            teo: Some(TeoForm::Recent { util_aware: false }),
            lone_state_keeps_tick: true,
            domains: Domains::LastInLatency,
            ..IDLE
        },
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
        wake_list: WakeList::Idle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IdleRules {
            teo: Some(TeoForm::Recent { util_aware: false }),
            lone_state_keeps_tick: true,
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
        wake_list: WakeList::Idle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IdleRules {
            teo: Some(TeoForm::Recent { util_aware: true }),
            domains: Domains::Last,
            ..IDLE
        },
    },
    Kernel {
        name: "linux-6.6",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TaskGroups {
            tells_rarely: false,
            ..TASK_GROUPS
        }),
        schedutil: SCHEDUTIL_6_1,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Eevdf(EEVDF_6_6),
        preemption: Preemption::Full,
        rt: RT_6_5,
        balance: BALANCE_6_6,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IDLE_6_6,
    },
    Kernel {
        name: "linux-6.8",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_1,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Eevdf(EEVDF_6_8),
        preemption: Preemption::Full,
        rt: Rt {
            pull: Pull::Direct,
            ..RT_6_5
        },
        balance: BALANCE_6_8,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_1),
        idle: IDLE_6_8,
    },
    Kernel {
        name: "linux-6.12",
        idle_lag: true,
        clamps: Clamps::OnceQueued,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_12,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Eevdf(EEVDF_6_12),
        preemption: Preemption::Full,
        rt: RT_6_12,
        balance: BALANCE_6_12,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_1,
        deadline: Some(DEADLINE_6_12),
        idle: IDLE_6_12,
    },
    Kernel {
        name: "linux-6.18",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_12,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Eevdf(EEVDF_6_18),
        preemption: Preemption::Full,
        rt: Rt {
            pull: Pull::Ipi,
            ..RT_6_12
        },
        balance: BALANCE_6_18,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_14,
        deadline: Some(DEADLINE_6_12),
        idle: IDLE_6_18,
    },
    Kernel {
        name: "linux-7.0",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_12,
        energy_aware: Some(EAS_6_1),
        fair: Fair::Eevdf(EEVDF_7_0),
        preemption: Preemption::Lazy,
        rt: RT_6_12,
        balance: BALANCE_7_0,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_14,
        deadline: Some(DEADLINE_6_12),
        idle: IDLE_7_0,
    },
    Kernel {
        name: "linux-7.1",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_12,
        energy_aware: Some(EAS_7_1),
        fair: Fair::Eevdf(EEVDF_7_1),
        preemption: Preemption::Lazy,
        rt: RT_6_12,
        balance: BALANCE_7_1,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_14,
        deadline: Some(DEADLINE_6_12),
        idle: IDLE_7_1,
    },
    Kernel {
        name: "linux-7.2",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TASK_GROUPS),
        schedutil: SCHEDUTIL_6_12,
        energy_aware: Some(EAS_7_1),
        fair: Fair::Eevdf(EEVDF_7_2),
        preemption: Preemption::Lazy,
        rt: RT_6_12,
        balance: BALANCE_7_2,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_14,
        deadline: Some(DEADLINE_7_2),
        idle: IDLE_7_1,
    },
    Kernel {
        name: "linux-7.3",
        idle_lag: true,
        clamps: Clamps::OnceUsed,
        task_groups: Ok(TaskGroups {
            shares: Shares::PerTask,
            ..TASK_GROUPS
        }),
        schedutil: SCHEDUTIL_6_12,
        energy_aware: Some(EAS_7_1),
        fair: Fair::Eevdf(EEVDF_7_3),
        preemption: Preemption::Lazy,
        rt: RT_6_12,
        balance: BALANCE_7_3,
        wake_list: WakeList::Idle,
        pipes: PIPES_6_14,
        deadline: Some(DEADLINE_7_2),
        idle: IDLE_7_1,
    },
];
