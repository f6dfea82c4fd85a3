// SPDX-License-Identifier: GPL-2.0-only
//! What differs between kernels in the idle loop and its governors.
//!
//! Read in drivers/cpuidle/governors of 6.6.87, 6.8.0, 6.12.118, 7.2.13 and 7.3.4, and in teo.c as it
//! was between 6.14 and 6.18. What 7.1 changed in teo where the tick is stopped was read in the
//! change itself.

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
    /// CPU once (`cpuidle_idle_call`; read in 5.10.262, 5.15.215, 6.1.192,
    /// 6.12.118 and from 7.0.14 on, not in 6.6.87 and 6.18.15).
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
    /// It looks for a pattern in the last idle periods before it asks for the next timer
    /// (from 6.6 on).
    PatternFirst(PatternFirst),
}

/// What differs between the forms of menu that look for a pattern first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternFirst {
    /// Which periods are left out to find a pattern (`get_typical_interval`).
    pub outliers: Outliers,
    /// The prediction limits the wakeup latency while the tick goes on; polling gives way to the first
    /// real state whatever its length; and a short pattern is believed, and the timer not asked for, with
    /// the tick stopped too (6.6 to 6.13, `interactivity_req`). Later the other way round: polling
    /// goes on if that state pays off from 15 us on only.
    pub hurries: bool,
    /// With the tick stopped a timer within two ticks is net enough for a short prediction
    /// (SAFE_TIMER_RANGE_NS, from 7.1 on). Else the time to that timer is believed.
    pub near_timer_is_net: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outliers {
    /// The longest (up to 6.14, and 6.12.118).
    Longest,
    /// Those farther from the mean (from 6.15 on; read in 7.2.13).
    BothEnds,
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
    /// Hits and intercepts; the timer is asked once a state is found, unless that is a
    /// shallow one (6.6 to 6.18).
    TimerIfDeep(Beside),
    /// The same; ticks and short periods are counted apart, metrics decay to 0 (from 6.19 on;
    /// read in 7.2). `near_timer_is_net`: with the tick stopped only a timer farther off than two
    /// ticks is reason not to trust the metrics (SAFE_TIMER_RANGE_NS, from 7.1 on); else they lead
    /// to no state that pays off before a tick's time.
    TimerLast { near_timer_is_net: bool },
}

/// What [`TeoForm::TimerIfDeep`] looks at beside hits and intercepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The last nine wakeups, and whether the CPU is in use (read in 6.6.87 and 6.8.0).
    RecentAndUse,
    /// Neither; where the metrics lead to the shallowest state it asks for the timer all the
    /// same (read in 6.12.118).
    Nothing,
    /// Short periods: the timer is left alone only if most periods were such; and how many
    /// intercepts came behind a tick's time (6.14 to 6.18).
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

/// 7.2.13.
pub(crate) const IDLE_7_2: IdleRules = IdleRules {
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
