// SPDX-License-Identifier: GPL-2.0-only
//! The load balancing rules of each kernel, as differences from the kernel before it.

use super::*;

/// 3.9.6.
pub(crate) const BALANCE_3_9: Balance = Balance {
    judged: Judged::Index,
    interval: Interval {
        busy_factor: 64,
        bounds: Bounds::ByLevel,
        ..BALANCE.interval
    },
    sibling: Sibling::Nodes,
    detach: Detach {
        load: DetachLoad::HalfWeight,
        newest_first: true,
        load_first: true,
        takes_last: true,
        tries_all: true,
        ..BALANCE.detach
    },
    active: Active {
        voluntary: false,
        push_forgets: false,
        ..BALANCE.active
    },
    newidle: Newidle {
        gate: Gate::IdleTime,
        ..BALANCE.newidle
    },
    nohz: NohzRules {
        round: NohzRound::OwnFirst,
        ..BALANCE.nohz
    },
    idle_ends: IdleEnds::WakeupAtMost,
    ..BALANCE
};

/// 5.4.30.
pub(crate) const BALANCE_5_4: Balance = Balance {
    judged: Judged::Load,
    detach: Detach {
        load: DetachLoad::Half,
        ..BALANCE.detach
    },
    ..BALANCE
};

/// 5.5.
pub(crate) const BALANCE: Balance = Balance {
    judged: Judged::Kind,
    interval: Interval {
        busy_factor: 32,
        busy_factor_nodes: 32,
        bounds: Bounds::Weight,
        less_a_jiffy: false,
        tells_nohz: true,
    },
    sleepers_count: false,
    runnable: false,
    overloaded_if_overutilized: false,
    reduced_is_misfit: false,
    misfit: Misfit::ToBiggerGroup,
    better_off: BetterOff::FitsGroup,
    ties: Ties {
        spare_by_tasks: false,
        full_later: false,
        misfit_later: true,
        mixed_smt: false,
    },
    smt_balance: false,
    sibling: Sibling::Child,
    cache_counts_tasks: false,
    full_takes_no_load: false,
    numa_tolerance: NumaTolerance::None,
    source: Source {
        greater_capacity: false,
        skips_empty: false,
        util_of_several: false,
        util_boosted: false,
        lone_beside_busy: false,
    },
    detach: Detach {
        load: DetachLoad::HalfUntilFailed,
        newest_first: false,
        load_first: false,
        takes_last: false,
        tries_all: false,
        util_shifts: false,
        lone_is_not_pinned: false,
        past_pinned: false,
        cold_among_siblings: false,
        ineligible_stays: false,
    },
    active: Active {
        voluntary: true,
        push_forgets: true,
        for_tasks_only: false,
        misfit_is_no_failure: false,
    },
    newidle: Newidle {
        gate: Gate::MigrationCost,
        dice: Dice::None,
        heeds_pending: false,
    },
    nohz: NohzRules {
        round: NohzRound::ByNumber,
        any_misfit: false,
        next_kick: false,
        on_idle_core: false,
    },
    idle_core_balances: false,
    misfit_status: MisfitStatus::Any,
    misfit_counts: MisfitCounts::Always,
    idle_ends: IdleEnds::Wakeup,
    gathers_threads: false,
    itmt: None,
};

/// 5.10.262.
pub(crate) const BALANCE_5_10: Balance = Balance {
    interval: Interval {
        busy_factor: 16,
        busy_factor_nodes: 16,
        less_a_jiffy: true,
        tells_nohz: false,
        ..BALANCE.interval
    },
    runnable: true,
    ties: Ties {
        spare_by_tasks: true,
        ..BALANCE.ties
    },
    cache_counts_tasks: true,
    full_takes_no_load: true,
    numa_tolerance: NumaTolerance::TwoRun,
    source: Source {
        util_of_several: true,
        ..BALANCE.source
    },
    detach: Detach {
        load: DetachLoad::Shifted,
        util_shifts: true,
        cold_among_siblings: true,
        ..BALANCE.detach
    },
    nohz: NohzRules {
        round: NohzRound::Ring,
        ..BALANCE.nohz
    },
    misfit_status: MisfitStatus::Movable,
    itmt: Some(ITMT_5_10),
    ..BALANCE
};

/// 5.15.215.
pub(crate) const BALANCE_5_15: Balance = Balance {
    misfit: Misfit::ToBiggerCpu {
        on_idle_core: false,
    },
    better_off: BetterOff::BiggerThanCpu,
    numa_tolerance: NumaTolerance::Quarter,
    source: Source {
        greater_capacity: true,
        skips_empty: true,
        ..BALANCE_5_10.source
    },
    active: Active {
        for_tasks_only: true,
        ..BALANCE_5_10.active
    },
    detach: Detach {
        lone_is_not_pinned: true,
        ..BALANCE_5_10.detach
    },
    newidle: Newidle {
        heeds_pending: true,
        ..BALANCE_5_10.newidle
    },
    ..BALANCE_5_10
};

/// 6.1.192.
pub(crate) const BALANCE_6_1: Balance = Balance {
    reduced_is_misfit: true,
    misfit: Misfit::ToBiggerCpu { on_idle_core: true },
    better_off: BetterOff::BiggerThanCpuFirst,
    numa_tolerance: NumaTolerance::ImbNumaNr,
    newidle: Newidle {
        gate: Gate::FirstDomain,
        dice: Dice::BySuccess,
        ..BALANCE_5_15.newidle
    },
    nohz: NohzRules {
        next_kick: true,
        ..BALANCE_5_15.nohz
    },
    itmt: Some(ITMT_6_1),
    ..BALANCE_5_15
};

/// 6.5.13.
pub(crate) const BALANCE_6_5: Balance = Balance {
    misfit: Misfit::ToBiggerCpu {
        on_idle_core: false,
    },
    better_off: BetterOff::BiggerThanCpu,
    ties: Ties {
        full_later: true,
        ..BALANCE_6_1.ties
    },
    sibling: Sibling::Group,
    source: Source {
        util_boosted: true,
        ..BALANCE_6_1.source
    },
    detach: Detach {
        util_shifts: false,
        past_pinned: true,
        ..BALANCE_6_1.detach
    },
    newidle: Newidle {
        dice: Dice::None,
        ..BALANCE_6_1.newidle
    },
    itmt: Some(ITMT_6_5),
    ..BALANCE_6_1
};

/// 6.6.87.
pub(crate) const BALANCE_6_6: Balance = Balance {
    ties: Ties {
        mixed_smt: true,
        ..BALANCE_6_5.ties
    },
    smt_balance: true,
    sibling: Sibling::Cores,
    detach: Detach {
        past_pinned: false,
        ..BALANCE_6_5.detach
    },
    idle_core_balances: true,
    itmt: Some(ITMT_6_6),
    ..BALANCE_6_5
};

/// 6.8.12 of Ubuntu.
pub(crate) const BALANCE_6_8: Balance = Balance {
    misfit: Misfit::ToBiggerCpu { on_idle_core: true },
    better_off: BetterOff::BiggerThanCpuFirst,
    detach: Detach {
        util_shifts: true,
        ..BALANCE_6_6.detach
    },
    newidle: Newidle {
        dice: Dice::BySuccess,
        ..BALANCE_6_6.newidle
    },
    itmt: Some(ITMT_6_8),
    ..BALANCE_6_6
};

/// 6.12.118.
pub(crate) const BALANCE_6_12: Balance = Balance {
    sleepers_count: true,
    ties: Ties {
        misfit_later: false,
        ..BALANCE_6_8.ties
    },
    active: Active {
        misfit_is_no_failure: true,
        ..BALANCE_6_8.active
    },
    nohz: NohzRules {
        any_misfit: true,
        ..BALANCE_6_8.nohz
    },
    misfit_status: MisfitStatus::MovableToBigger,
    itmt: Some(ITMT_6_12),
    ..BALANCE_6_8
};

/// 6.18.15.
pub(crate) const BALANCE_6_18: Balance = Balance {
    sleepers_count: false,
    misfit: Misfit::ToBiggerCpu {
        on_idle_core: false,
    },
    better_off: BetterOff::BiggerThanCpu,
    detach: Detach {
        ineligible_stays: true,
        ..BALANCE_6_12.detach
    },
    itmt: Some(ITMT_6_18),
    ..BALANCE_6_12
};

/// 7.0.14.
pub(crate) const BALANCE_7_0: Balance = Balance {
    misfit: Misfit::ToBiggerCpu { on_idle_core: true },
    better_off: BetterOff::BiggerThanCpuFirst,
    idle_ends: IdleEnds::Switch,
    itmt: Some(ITMT_7_0),
    ..BALANCE_6_18
};

/// 7.1.13, which lacks two fixes that 7.0.14 has.
pub(crate) const BALANCE_7_1: Balance = Balance {
    overloaded_if_overutilized: true,
    misfit: Misfit::ToBiggerCpu {
        on_idle_core: false,
    },
    better_off: BetterOff::BiggerThanCpu,
    newidle: Newidle {
        dice: Dice::BySuccessAndRate,
        ..BALANCE_7_0.newidle
    },
    ..BALANCE_7_0
};

/// 7.2.13.
pub(crate) const BALANCE_7_2: Balance = Balance {
    misfit: Misfit::ToBiggerCpu { on_idle_core: true },
    better_off: BetterOff::BiggerThanCpuFirst,
    gathers_threads: true,
    ..BALANCE_7_1
};

/// 7.3.4.
pub(crate) const BALANCE_7_3: Balance = Balance {
    source: Source {
        lone_beside_busy: true,
        ..BALANCE_7_2.source
    },
    nohz: NohzRules {
        on_idle_core: true,
        ..BALANCE_7_2.nohz
    },
    misfit_counts: MisfitCounts::IfHelped,
    itmt: Some(ITMT_7_3),
    ..BALANCE_7_2
};
