// SPDX-License-Identifier: GPL-2.0-only
//! The interface of an idle governor (`struct cpuidle_governor`), and the state of the one in use
//! for each CPU.

use super::menu::Menu;
use super::repeat::RepeatMenu;
use super::states::State;
use super::teo::Teo;
use crate::base::table::Table;
use crate::kernel::{Beside, IdleRules, MenuForm, PatternFirst, TeoForm};
use alight_machine::IdleGovernor;

/// Shorter idle times do not repay a real state instead of polling, and no timer needs to be looked
/// up, ns (`RESIDENCY_THRESHOLD_NS`).
pub(crate) const RESIDENCY_THRESHOLD_NS: u64 = 15_000;

/// The governor's input when a CPU goes idle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook<'a> {
    /// The CPU's states, at least one.
    pub states: &'a Table<State>,
    /// Time to its next timer without the tick, ns (`tick_nohz_get_sleep_length`). Below 2^40, so
    /// that products with a correction factor fit.
    pub next_timer_ns: u64,
    /// Time to its next timer or tick, ns (`delta_next`).
    pub delta_next_ns: u64,
    /// Longest wakeup latency that is allowed, ns (PM QoS).
    pub latency_limit_ns: u64,
    /// `TICK_NSEC`.
    pub tick_ns: u64,
    /// The tick is already stopped (`tick_nohz_tick_stopped`).
    pub tick_stopped: bool,
}

impl Outlook<'_> {
    /// Does the latency limit allow only the shallowest state? Then it is chosen, whatever happened
    /// before.
    pub fn latency_forbids_all(&self) -> bool {
        self.latency_limit_ns == 0 || self.latency_limit_ns < self.states[1].wakeup_ns
    }
}

/// The governor's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Index of the state to enter.
    pub state: usize,
    /// The tick should stop.
    pub stop_tick: bool,
    /// No history could have changed the answer.
    pub forced: bool,
}

/// An idle period that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Period {
    /// State that the governor chose.
    pub state: usize,
    /// Time from its entry until the CPU executed again.
    pub residency_ns: u64,
    /// Time from the choice until the governor is told of the end.
    pub span_ns: u64,
    /// The tick ended it (`tick_nohz_idle_got_tick`).
    pub by_tick: bool,
    /// It lasted until the governor wanted to be asked again: until the limit of polling
    /// (`poll_time_limit`), or until the timer of 3.9's menu.
    pub asks_again: bool,
}

/// The state of the governor in use, for each CPU. That of menu, which nearly every kernel has, is
/// with the rest of the CPU ([`super::CpuIdle`]).
#[derive(Debug, Clone)]
pub(crate) enum Memory {
    Menu { pattern_first: Option<PatternFirst> },
    RepeatMenu(Box<[RepeatMenu]>),
    Teo { cpus: Box<[Teo]>, util_aware: bool },
}

impl Memory {
    /// Empty state for all CPUs; `states`: the number of idle states of each.
    ///
    /// # Errors
    /// The reason, if the kernel has no such governor.
    pub fn new(
        governor: IdleGovernor,
        rules: &IdleRules,
        states: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Memory, &'static str> {
        match (governor, rules.menu, rules.teo) {
            (IdleGovernor::Menu, MenuForm::Repeat, _) => Ok(Memory::RepeatMenu(
                vec![RepeatMenu::default(); states.len()].into(),
            )),
            (IdleGovernor::Menu, MenuForm::TimerFirst, _) => Ok(Memory::Menu {
                pattern_first: None,
            }),
            (IdleGovernor::Menu, MenuForm::PatternFirst(rules), _) => Ok(Memory::Menu {
                pattern_first: Some(rules),
            }),
            (IdleGovernor::Teo, _, Some(form)) => Ok(Memory::Teo {
                cpus: states.map(|n| Teo::new(form, n)).collect(),
                util_aware: matches!(
                    form,
                    TeoForm::Recent { util_aware: true }
                        | TeoForm::TimerIfDeep(Beside::RecentAndUse)
                ),
            }),
            (IdleGovernor::Teo, _, None) => {
                Err("has no idle governor teo, which came with Linux 5.1; it has menu")
            }
        }
    }

    /// `cpu` chooses a state. `utilized`: see [`Teo::select`].
    #[inline]
    pub fn select(
        &mut self,
        cpu: usize,
        menu: &mut Menu,
        look: &Outlook,
        utilized: bool,
    ) -> Choice {
        match self {
            Memory::Menu { pattern_first } => menu.select(look, *pattern_first),
            Memory::RepeatMenu(all) => all[cpu].select(look),
            Memory::Teo { cpus, .. } => cpus[cpu].select(look, utilized),
        }
    }

    /// Does the governor use the CPU's utilization?
    #[inline]
    pub fn util_aware(&self) -> bool {
        matches!(
            self,
            Memory::Teo {
                util_aware: true,
                ..
            }
        )
    }

    /// Time from a choice after which the governor wants to be asked again, ns.
    #[inline]
    pub fn alarm_ns(&self, cpu: usize) -> Option<u64> {
        match self {
            Memory::RepeatMenu(all) => all[cpu].alarm_ns(),
            Memory::Menu { .. } | Memory::Teo { .. } => None,
        }
    }

    /// Is it asked again because of a timer, not because of the end of polling?
    #[inline]
    pub fn has_timer(&self) -> bool {
        matches!(self, Memory::RepeatMenu(_))
    }

    /// The idle period of `cpu` is over.
    #[inline]
    pub fn reflect(&mut self, cpu: usize, menu: &mut Menu, end: Period) {
        match self {
            Memory::Menu { .. } => menu.reflect(end),
            Memory::RepeatMenu(all) => all[cpu].reflect(end),
            Memory::Teo { cpus, .. } => cpus[cpu].reflect(end),
        }
    }

    /// Resets the state of `cpu` (`cpuidle_enable_device`).
    pub fn forget(&mut self, cpu: usize, menu: &mut Menu) {
        match self {
            Memory::Menu { .. } => *menu = Menu::default(),
            Memory::RepeatMenu(all) => all[cpu] = RepeatMenu::default(),
            Memory::Teo { cpus, .. } => cpus[cpu].forget(),
        }
    }
}
