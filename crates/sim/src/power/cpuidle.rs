// SPDX-License-Identifier: GPL-2.0-only
//! A CPU in the idle loop (`kernel/sched/idle.c`): the state that it enters, whether its tick
//! stops, when the hardware reaches the state, and how long the exit takes.
//!
//! The governor's request and the hardware's state differ. A state of cluster scope is a vote:
//! until all CPUs of the cluster have voted, the hardware is in the deepest core state below it
//! (PSCI, platform coordinated). With the last vote the whole cluster enters the state; the first
//! CPU that leaves ends it for all. A state of domain scope is not in any CPU's list: the last CPU
//! that enters its deepest state chooses it ([`domain`]; PSCI, OS-initiated).

use crate::kernel::{Domains, Kernel};
use alight_machine::Machine;
mod domain;
mod governor;
mod menu;
mod repeat;
mod states;
mod teo;
#[cfg(test)]
pub(crate) mod tests;

use crate::base::queue::NEVER;
use crate::base::table::Table;
use crate::base::timeline::NONE;
use crate::face::api::{Metric, snake};
use crate::power::Power;
use crate::power::energy::Rest;
use crate::world::World;
pub(crate) use governor::Choice;
pub(crate) use governor::Memory;
use governor::{Outlook, Period};
use menu::Menu;
pub(crate) use states::{DomainState, State, domain_states, own_states, states};
use std::collections::BTreeMap;

/// Time to the next timer of a CPU without timers, ns: 18 minutes. Real systems always have some
/// timer. Above 100 ms the governor does not distinguish times.
const NO_TIMER_NS: u64 = (1 << 40) - 1;

/// A CPU's idle period, and the state of its governor.
#[derive(Debug, Clone)]
pub(crate) struct CpuIdle {
    menu: Menu,
    /// State that was requested.
    state: u32,
    /// State of the core while the cluster is not in the cluster state: `state`, or the deepest
    /// core state below it.
    core_state: u32,
    /// State while the cluster is in the cluster state: `state`, or that of the domain.
    deep_state: u32,
    /// Time of the request.
    entered_at: u64,
    /// Start of the entry. Until then the idle task has other work, and an interrupt finds it
    /// there.
    entry_begin: u64,
    /// End of the entry. From `entry_begin` to here nothing stops the entry.
    entry_end: u64,
    /// Time at which it executes again; [`NEVER`] until an interrupt has come.
    resumes_at: u64,
    /// Residency is booked up to here.
    booked_to: u64,
    /// Hardware state at the last booking, [`NONE`] if there was none in this idle period.
    booked_in: u32,
    /// The tick was stopped in this stay in the idle loop (`tick_stopped`).
    tick_stopped: bool,
    /// Its tick ended the last state of this stay.
    got_tick: bool,
    /// Number of times that the tick was stopped, or stayed stopped (`ts->idle_calls`).
    pub idle_calls: u32,
    /// Per state of its core type.
    residency: Box<[Residency]>,
}

/// Counters of one idle state.
#[derive(Debug, Clone, Copy, Default)]
struct Residency {
    /// Requests: by the governor, or, for a domain's state, by the last CPU.
    requested: u64,
    /// Stays of the hardware in it. Each has added time to `ns`: there is no stay without time, and
    /// no time without a stay.
    reached: u64,
    /// Time that the hardware was in it, ns, without entry and exit.
    ns: u64,
}

impl Residency {
    fn add(&mut self, other: &Residency) {
        self.requested += other.requested;
        self.reached += other.reached;
        self.ns += other.ns;
    }
}

impl Default for CpuIdle {
    fn default() -> Self {
        CpuIdle {
            menu: Menu::default(),
            state: 0,
            core_state: 0,
            deep_state: 0,
            entered_at: 0,
            entry_begin: 0,
            entry_end: 0,
            resumes_at: 0,
            booked_to: 0,
            booked_in: NONE,
            tick_stopped: false,
            got_tick: false,
            idle_calls: 0,
            residency: [].into(),
        }
    }
}

impl CpuIdle {
    /// The state that was asked for last.
    pub fn state(&self) -> usize {
        self.state as usize
    }

    /// For a CPU with `states` idle states.
    pub fn new(states: usize) -> Self {
        let residency = vec![Residency::default(); states].into();
        CpuIdle {
            residency,
            ..CpuIdle::default()
        }
    }

    /// Is it in an idle state that no interrupt has ended?
    pub fn resting(&self) -> bool {
        self.resumes_at == NEVER
    }

    /// Power of the core in this idle period, uW: outside and inside of the cluster state.
    pub fn powers(&self, states: &[State]) -> (u64, u64) {
        let state = &states[self.state as usize];
        (state.core_power_uw, state.power_uw)
    }

    /// Restarts the residency counters; the caller has booked the time before. A stay that goes on
    /// counts as reached in the new time, too.
    pub fn forget_residency(&mut self) {
        self.residency.fill(Residency::default());
        self.booked_in = NONE;
    }

    /// Books residency up to `to`; the cluster is in the cluster state from `deep_from` on.
    pub fn book(&mut self, to: u64, deep_from: u64) {
        if to <= self.booked_to {
            return;
        }
        let deep = deep_from.clamp(self.booked_to, to);
        self.book_in(self.core_state, deep - self.booked_to);
        self.book_in(self.deep_state, to - deep);
        self.booked_to = to;
    }

    /// Books that the hardware was in `state` for the next `ns`.
    #[inline]
    fn book_in(&mut self, state: u32, ns: u64) {
        if ns == 0 {
            return;
        }
        let found = &mut self.residency[state as usize];
        found.ns += ns;
        found.reached += u64::from(self.booked_in != state);
        self.booked_in = state;
    }
}

/// The idle states of each core type as the kernel has them, and the states of its domains.
pub(super) fn idle_states_of(
    machine: &Machine,
    kernel: &Kernel,
) -> (Table<Table<State>>, Table<Vec<DomainState>>) {
    let known = machine.core_types.iter().map(|of| &of.idle_states);
    let of_cpus: Vec<_> = (known.clone())
        .map(|known| match kernel.idle.domains != Domains::Nobody {
            true => states(known),
            false => states(own_states(known)),
        })
        .collect();
    let of_domains: Vec<_> = known.map(|known| domain_states(known)).collect();
    // SAFETY: indexed by the core types of CPUs, which are numbered over these core types.
    unsafe { (Table::new(of_cpus), Table::new(of_domains)) }
}

/// Longest time that a CPU polls before the governor is asked again, ns (`cpuidle_poll_time`): the
/// target residency of the first real state.
fn poll_limit(states: &[State], tick_ns: u64) -> u64 {
    states.get(1).map_or(tick_ns, |s| s.residency_ns)
}

impl World<'_> {
    /// Is `cpu` more utilized than 6.5's teo allows for an idle CPU (`teo_cpu_is_utilized`,
    /// `UTIL_THRESHOLD_SHIFT`)?
    fn idle_utilized(&self, cpu: usize) -> bool {
        self.energy_util(cpu) > self.core.cpus[cpu].capacity_orig >> 6
    }
}

impl Power<'_> {
    /// Starts a stay of `cpu` in the idle loop (`do_idle`).
    #[inline]
    pub fn idle_stay_begins(&mut self, cpu: usize) {
        self.idle[cpu].got_tick = false;
    }

    /// Asks the governor for a state of `cpu` (`cpuidle_select`). If the tick goes on, its next
    /// time is set before.
    #[inline(always)]
    pub fn idle_choose(&mut self, cpu: usize) -> Choice {
        let stopped = self.idle[cpu].tick_stopped && self.cpus[cpu].tick_at == NEVER;
        if !stopped && self.cpus[cpu].tick_at == NEVER {
            self.cpus[cpu].tick_at = self.next_tick();
        }
        let stopped = stopped || self.kernel.idle.tick_stops_first;
        let mut choice = self.idle_select(cpu, stopped);
        if self.kernel.idle.lone_state_keeps_tick && self.idle_states(cpu).len() == 1 {
            choice.stop_tick = self.idle[cpu].got_tick;
        }
        choice.stop_tick |= stopped;
        choice
    }

    /// Stops the tick of `cpu`, or keeps it (`tick_nohz_idle_stop_tick`,
    /// `tick_nohz_idle_retain_tick`). True if a running tick stopped.
    #[inline]
    pub fn idle_stop_tick(&mut self, cpu: usize, stop: bool) -> bool {
        let idle = &mut self.idle[cpu];
        idle.tick_stopped = stop;
        if stop {
            idle.idle_calls = idle.idle_calls.wrapping_add(1);
        }
        let tick_at = &mut self.cpus[cpu].tick_at;
        stop && std::mem::replace(tick_at, NEVER) != NEVER
    }

    /// The idle states of `cpu`.
    #[inline]
    pub(crate) fn idle_states(&self, cpu: usize) -> &Table<State> {
        &self.idle_states[self.cpus[cpu].core_type as usize]
    }

    /// The state that `cpu` requested last.
    #[inline]
    fn idle_state(&self, cpu: usize) -> &State {
        &self.idle_states(cpu)[self.idle[cpu].state as usize]
    }

    /// `cpu` goes offline: after `work` ns it enters its deepest state and stays there
    /// (`play_dead`). Its tick restarts when it comes back.
    pub fn idle_dead(&mut self, cpu: usize, work: u64) {
        self.idle[cpu].tick_stopped = false;
        let dead = Choice {
            state: self.idle_states(cpu).len() - 1,
            stop_tick: true,
            forced: true,
        };
        self.enter(cpu, dead, work);
    }

    /// `cpu` was offline: resets its governor (`cpuidle_enable_device`).
    pub fn idle_forgotten(&mut self, cpu: usize) {
        self.idle_left(cpu, false);
        self.idle_memory.forget(cpu, &mut self.idle[cpu].menu);
    }

    /// Enters the chosen state after `work` ns of work under way, and sets the governor's timer.
    #[inline(always)]
    pub fn idle_enter(&mut self, cpu: usize, choice: Choice, work: u64) {
        self.enter(cpu, choice, work);
        if let Some(ns) = self.idle_memory.alarm_ns(cpu) {
            self.cpus[cpu].ask_again_at = self.now + ns;
        }
    }

    /// The same, without the governor's timer (`cpuidle_enter_state`).
    #[inline(always)]
    fn enter(&mut self, cpu: usize, choice: Choice, work: u64) {
        let begin = self.now + work;
        self.trace_idle(cpu, Some(choice.state as u32));
        let states = &self.idle_states[self.cpus[cpu].core_type as usize];
        let state = &states[choice.state];
        let cluster = self.cpus[cpu].cluster as usize;
        let last_vote = state.votes && self.meters[cluster].vote();
        let chosen = match last_vote && state.by_last {
            true => self.last_chooses(cpu, begin),
            false => None,
        };
        let follows = chosen.is_some() || (last_vote && !state.by_last);
        let entry_ns = match (&chosen, follows) {
            (Some(chosen), _) => chosen.state.entry_ns,
            (None, true) => state.entry_ns,
            (None, false) => state.core_entry_ns,
        };
        let entry_end = begin + entry_ns;

        self.world.core.cpus[cpu].exit_latency = state.wakeup_ns.min(u64::from(NONE - 1)) as u32;
        let idle = &mut self.idle[cpu];
        idle.state = choice.state as u32;
        idle.core_state = state.core_state;
        idle.deep_state = state.deep_state;
        idle.entered_at = self.world.now;
        idle.entry_begin = begin;
        idle.entry_end = entry_end;
        idle.booked_to = entry_end;
        idle.booked_in = NONE;
        idle.resumes_at = NEVER;
        idle.residency[choice.state].requested += 1;
        if let Some(chosen) = &chosen {
            idle.residency[chosen.state.state as usize].requested += 1;
        }
        if state.spins && !choice.forced {
            self.world.cpus[cpu].ask_again_at =
                begin + poll_limit(states, self.world.tunables.tick);
        }
        let rest = Rest {
            core_uw: state.core_power_uw,
            deep_uw: state.power_uw,
            quiet_from: entry_end,
            spins: state.spins,
        };
        self.rest(cpu, rest);
        if follows {
            self.meters[cluster].deepen();
        }
        if let Some(chosen) = chosen {
            self.domain_follows(cluster, chosen.depth);
        }
    }

    #[inline]
    fn idle_select(&mut self, cpu: usize, tick_stopped: bool) -> Choice {
        let utilized = self.idle_memory.util_aware() && self.idle_utilized(cpu);
        let c = &self.world.cpus[cpu];
        let until = |at: u64| at.saturating_sub(self.world.now);
        let next_timer_ns = until(c.timers.first_at()).min(NO_TIMER_NS);
        let delta_next_ns = match tick_stopped {
            true => next_timer_ns,
            false => next_timer_ns.min(until(c.tick_at)),
        };
        let look = Outlook {
            states: &self.idle_states[c.core_type as usize],
            next_timer_ns,
            delta_next_ns,
            latency_limit_ns: self.latency_limit_ns,
            tick_ns: self.world.tunables.tick,
            tick_stopped,
        };
        (self.idle_memory).select(cpu, &mut self.idle[cpu].menu, &look, utilized)
    }

    /// An interrupt arrives at the idle `cpu` at `at` (now or later). Returns the time at which the
    /// CPU executes again. An entry under way is completed first. Then comes the exit of the
    /// hardware's state.
    #[inline(always)]
    pub fn idle_leave(&mut self, cpu: usize, at: u64) -> u64 {
        let State {
            votes,
            spins,
            core_exit_ns,
            ..
        } = *self.idle_state(cpu);
        let idle = &self.idle[cpu];
        debug_assert!(at >= idle.entered_at && idle.resumes_at == NEVER);
        let (entry_begin, entry_end) = (idle.entry_begin, idle.entry_end);
        let core_out = at.max(entry_end) + core_exit_ns;
        let out = if votes {
            let down_at = self.cluster_up(cpu, at);
            let cluster = self.cpus[cpu].cluster as usize;
            match down_at {
                Some(down_at) if at >= entry_begin => {
                    let up_at = at.max(down_at) + self.cluster_exit_ns(cpu);
                    self.meters[cluster].up_at = up_at;
                    up_at
                }
                // The cluster may be leaving its state for another of its CPUs.
                _ => core_out.max(self.meters[cluster].up_at),
            }
        } else {
            core_out
        };
        let resumes_at = if at < entry_begin { entry_begin } else { out };
        let idle = &mut self.idle[cpu];
        idle.book(at, NEVER);
        idle.resumes_at = resumes_at;
        self.unrest(cpu, at, spins);
        resumes_at
    }

    /// `cpu` executes again after [`Power::idle_leave`]. `by_tick`: its tick woke it.
    ///
    /// A stopped tick stays stopped until a task runs (`tick_nohz_idle_exit`).
    #[inline(always)]
    pub fn idle_left(&mut self, cpu: usize, by_tick: bool) {
        let idle = &mut self.idle[cpu];
        idle.got_tick = by_tick;
        let end = Period {
            state: idle.state as usize,
            residency_ns: idle.resumes_at - idle.entered_at,
            span_ns: self.world.now - idle.entered_at,
            by_tick,
            asks_again: self.world.cpus[cpu].ask_again_at <= idle.resumes_at,
        };
        self.world.cpus[cpu].ask_again_at = NEVER;
        self.idle_memory.reflect(cpu, &mut idle.menu, end);
        if end.asks_again && self.idle_memory.has_timer() {
            let timer = self.costs(cpu).timer;
            self.charge(cpu, timer);
        }
        self.core.cpus[cpu].exit_latency = NONE;
        self.trace_idle(cpu, None);
    }

    /// Does the idle `cpu` watch `need_resched`? Then waking it needs no IPI.
    #[inline]
    pub fn idle_polling(&self, cpu: usize) -> bool {
        self.idle_state(cpu).polling
    }

    /// Does `cpu` poll in software?
    pub(crate) fn idle_spins(&self, cpu: usize) -> bool {
        self.idle_state(cpu).spins
    }

    /// Is the state that `cpu` requested last a vote for the cluster's state?
    pub(crate) fn idle_votes(&self, cpu: usize) -> bool {
        self.idle_state(cpu).votes
    }

    /// Does the last CPU choose whether the cluster enters a state?
    pub(crate) fn idle_by_last(&self, cpu: usize) -> bool {
        self.idle_state(cpu).by_last
    }

    /// Metrics of idle states over all CPUs: requests, stays of the hardware, and the share of the
    /// run that the hardware was in each.
    pub fn idle_results(&mut self) -> Vec<Metric> {
        self.meters_flush();
        // Sorted by depth, then by name: core types may name their states differently.
        let mut states: BTreeMap<(usize, &str), Residency> = BTreeMap::new();
        let machine = self.machine;
        for (cpu, idle) in self.cpus.iter().zip(self.idle.iter()) {
            let named = &machine.core_types[cpu.core_type as usize].idle_states;
            for (depth, (state, spent)) in named.iter().zip(&idle.residency).enumerate() {
                states.entry((depth, &state.name)).or_default().add(spent);
            }
        }
        let all_ns = self.counted_ns() as f64 * self.cpus.len() as f64;
        let percent = |ns: u64| match all_ns == 0.0 {
            true => 0.0,
            false => 100.0 * ns as f64 / all_ns,
        };
        let metric = |name: String, unit, value| Metric {
            name,
            unit,
            better: None,
            value,
        };
        let mut results = vec![];
        for ((_, name), sum) in states {
            let name = snake(name);
            let count = |what, n: u64| metric(format!("idle_{what}_{name}"), "", n as f64);
            results.push(count("requested", sum.requested));
            results.push(count("reached", sum.reached));
            let name = format!("idle_residency_{name}_percent");
            results.push(metric(name, "percent", percent(sum.ns)));
        }
        results
    }
}
