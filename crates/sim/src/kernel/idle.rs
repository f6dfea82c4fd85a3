// SPDX-License-Identifier: GPL-2.0-only
//! The differences between kernels in the idle loop and its governors.
//!
//! Read in drivers/cpuidle/governors of 6.6.87, 6.8.0, 6.12.118, 7.1.13, 7.2.13 and 7.3.4, and in
//! teo.c as it was between 6.14 and 6.18. menu.c and teo.c of 7.1.13 are those of 7.2.13.

/// The rules of the idle loop and its governors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdleRules {
    pub menu: MenuForm,
    /// `None`: the kernel has no such governor (up to 5.0). Otherwise menu has priority (rating 20,
    /// teo 19).
    pub teo: Option<TeoForm>,
    /// The tick stops before the governor is asked, if no timer of the wheel is due
    /// within it (`tick_nohz_stop_sched_tick`; up to 4.16).
    pub tick_stops_first: bool,
    /// With at most one idle state, the tick goes on until it has woken the CPU once
    /// (`cpuidle_idle_call`; read in 5.10.262, 5.15.215, 6.1.192, 6.12.118 and from 7.0.14 on, not
    /// in 6.6.87 and 6.18.15).
    pub lone_state_keeps_tick: bool,
    pub domains: Domains,
}

/// Which CPU enters idle states of domains (PSCI, OS-initiated).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domains {
    /// None (up to 5.5).
    Nobody,
    /// The last CPU, if no CPU wakes up soon (`cpuidle-psci-domain.c` came with 5.6).
    Last,
    /// The same, only if the latency limit allows it (6.17, and stable releases of August 2025).
    LastInLatency,
}

/// The menu governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MenuForm {
    /// With a mode for repeating periods and a timer of its own (3.8 to 3.10).
    Repeat,
    /// It looks up the next timer first (read in 5.4, 6.1 and 6.5).
    TimerFirst,
    /// It looks for a pattern in the last idle periods before it looks up the next timer (from 6.6
    /// on).
    PatternFirst(PatternFirst),
}

/// The differences between the forms of menu that look for a pattern first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternFirst {
    /// Which periods are left out to find a pattern (`get_typical_interval`).
    pub outliers: Outliers,
    /// 6.6 to 6.13 (`interactivity_req`): the prediction limits the wakeup latency while the tick
    /// goes on; the first real state replaces polling, whatever its target residency; and a short
    /// pattern counts, without a look at the timer, even with the tick stopped. Later: none of
    /// these, and polling goes on unless the target residency of that state is below 15 us.
    pub hurries: bool,
    /// With the tick stopped, a short prediction counts if a timer is within two ticks, which
    /// corrects it (SAFE_TIMER_RANGE_NS, from 7.1 on). Else the time to that timer counts.
    pub near_timer_is_net: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outliers {
    /// The longest are left out (up to 6.14, and 6.12.118).
    Longest,
    /// Those farther from the mean are left out (from 6.15 on; read in 7.2.13).
    BothEnds,
}

/// The timer events oriented governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TeoForm {
    /// Hits, misses and early hits of each state (5.1 to 5.13). `whole_us`: times are
    /// whole microseconds (up to 5.4; 5.10 counts nanoseconds).
    EarlyHits { whole_us: bool },
    /// Hits and intercepts of each state, and the last nine of them (read in 6.1 and 6.5).
    /// `util_aware`: it takes a shallower state if the CPU is utilized (read in 6.5).
    Recent { util_aware: bool },
    /// Hits and intercepts. It looks up the timer after it has found a state, unless that is
    /// shallow (6.6 to 6.18).
    TimerIfDeep(Beside),
    /// The same. Ticks and short periods are counted separately, and metrics decay to 0 (from 6.19
    /// on; read in 7.2). `near_timer_is_net`: with the tick stopped, the metrics are ignored only
    /// if the next timer is more than two ticks away (SAFE_TIMER_RANGE_NS, from 7.1 on). Without
    /// it, they then lead to no state with a target residency below a tick.
    TimerLast { near_timer_is_net: bool },
}

/// What [`TeoForm::TimerIfDeep`] looks at in addition to hits and intercepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The last nine wakeups, and whether the CPU is utilized (read in 6.6.87 and 6.8.0).
    RecentAndUse,
    /// Neither. It looks up the timer even if the metrics lead to the shallowest state (read in
    /// 6.12.118).
    Nothing,
    /// Short periods: it skips the timer only if most periods were short. It also counts intercepts
    /// after at least a tick (6.14 to 6.18).
    ShortPeriods,
}

/// 5.5.
pub(crate) const IDLE: IdleRules = IdleRules {
    menu: MenuForm::TimerFirst,
    teo: Some(TeoForm::EarlyHits { whole_us: false }),
    tick_stops_first: false,
    lone_state_keeps_tick: false,
    domains: Domains::Nobody,
};

/// 6.6.87.
pub(crate) const IDLE_6_6: IdleRules = IdleRules {
    menu: MenuForm::PatternFirst(PatternFirst {
        outliers: Outliers::Longest,
        hurries: true,
        near_timer_is_net: false,
    }),
    teo: Some(TeoForm::TimerIfDeep(Beside::RecentAndUse)),
    domains: Domains::Last,
    ..IDLE
};

/// 6.8.0-151 of Ubuntu, whose menu governor is that of later releases.
pub(crate) const IDLE_6_8: IdleRules = IdleRules {
    menu: IDLE_6_18.menu,
    teo: IDLE_6_6.teo,
    ..IDLE_6_12
};

/// 6.12.118.
pub(crate) const IDLE_6_12: IdleRules = IdleRules {
    menu: MenuForm::PatternFirst(PatternFirst {
        outliers: Outliers::Longest,
        hurries: false,
        near_timer_is_net: false,
    }),
    teo: Some(TeoForm::TimerIfDeep(Beside::Nothing)),
    lone_state_keeps_tick: true,
    domains: Domains::LastInLatency,
    ..IDLE
};

/// 6.18.15.
pub(crate) const IDLE_6_18: IdleRules = IdleRules {
    menu: MenuForm::PatternFirst(PatternFirst {
        outliers: Outliers::BothEnds,
        hurries: false,
        near_timer_is_net: false,
    }),
    teo: Some(TeoForm::TimerIfDeep(Beside::ShortPeriods)),
    lone_state_keeps_tick: false,
    ..IDLE_6_12
};

/// 7.0.14.
pub(crate) const IDLE_7_0: IdleRules = IdleRules {
    teo: Some(TeoForm::TimerLast {
        near_timer_is_net: false,
    }),
    lone_state_keeps_tick: true,
    ..IDLE_6_18
};

/// 7.1.13, 7.2.13 and 7.3.4.
pub(crate) const IDLE_7_1: IdleRules = IdleRules {
    menu: MenuForm::PatternFirst(PatternFirst {
        outliers: Outliers::BothEnds,
        hurries: false,
        near_timer_is_net: true,
    }),
    teo: Some(TeoForm::TimerLast {
        near_timer_is_net: true,
    }),
    ..IDLE_7_0
};
