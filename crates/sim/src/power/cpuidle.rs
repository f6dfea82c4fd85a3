// SPDX-License-Identifier: GPL-2.0-only
//! A CPU in the idle loop (`kernel/sched/idle.c`): which state it
//! enters, whether its tick stops, when the state is real, and how long the way
//! out of it takes.
//!
//! What the governor asks for and what the hardware does are two things. A
//! state of cluster scope is a vote: as long as some CPU of the cluster has not
//! cast its own, the hardware is in the deepest core state below it (PSCI,
//! platform coordinated). The last vote makes it real for all; the first CPU
//! that leaves ends it for all. A state of domain scope is on no CPU's list: the last
//! CPU to enter its deepest state chooses it ([`domain`]; PSCI, OS-initiated).

use crate::kernel::Domains;
use crate::kernel::Kernel;
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

/// Time to the next timer of a CPU that has none, ns: 18 minutes. Systems always
/// have some timer; from 100 ms on, the governor no longer tells times apart.
const NO_TIMER_NS: u64 = (1 << 40) - 1;

/// A CPU's idle period and what its governor remembers.
#[derive(Debug, Clone)]
pub(crate) struct CpuIdle {
    menu: Menu,
    /// State that was asked for.
    state: u32,
    /// State of the core while the cluster state is not real: the same, or the
    /// deepest core state below it.
    core_state: u32,
    /// State while it is real: the same as `state`, or that of the domain.
    deep_state: u32,
    /// When the state was asked for.
    entered_at: u64,
    /// Until then the idle task has other work; an interrupt finds it there.
    entry_begin: u64,
    /// When the core is in it; from the begin to then nothing stops the entry.
    entry_end: u64,
    /// When it executes again, set once an interrupt has come.
    resumes_at: u64,
    /// Residency is booked up to here.
    booked_to: u64,
    /// State that the hardware was in when it was last booked, [`NONE`] if not in this idle period.
    booked_in: u32,
    /// The tick was stopped in this stay in the idle loop.
    tick_stopped: bool,
    /// Its tick has woken it from the last state of this stay.
    got_tick: bool,
    /// Times that the tick was stopped, or stayed so (`ts->idle_calls`).
    pub idle_calls: u32,
    /// Per state of its core type.
    residency: Box<[Residency]>,
}

/// What is counted of one state.
#[derive(Debug, Clone, Copy, Default)]
struct Residency {
    /// Times that it was asked for: by the governor, or as the domain's by the last CPU.
    requested: u64,
    /// Stays of the hardware in it that have a part in `ns`: there is none without time, and no time
    /// without one.
    reached: u64,
    /// Time that the hardware was in it, entry and exit left out.
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

    /// In an idle state that no interrupt has ended.
    pub fn resting(&self) -> bool {
        self.resumes_at == NEVER
    }

    /// Powers of the core in this idle period, uW: with and without the cluster.
    pub fn powers(&self, states: &[State]) -> (u64, u64) {
        let state = &states[self.state as usize];
        (state.core_power_uw, state.power_uw)
    }

    /// Residencies count from now on; what was before is booked. A stay that goes on is one that is
    /// reached in the time that counts, too.
    pub fn forget_residency(&mut self) {
        self.residency.fill(Residency::default());
        self.booked_in = NONE;
    }

    /// Books residency up to `to`; the cluster state is real from `deep_from` on.
    pub fn book(&mut self, to: u64, deep_from: u64) {
        if to <= self.booked_to {
            return;
        }
        let deep = deep_from.clamp(self.booked_to, to);
        self.book_in(self.core_state, deep - self.booked_to);
        self.book_in(self.deep_state, to - deep);
        self.booked_to = to;
    }

    /// The hardware was in `state` for `ns`, behind what is booked already.
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

/// The idle states of each core type as the kernel has them, and those of its domains.
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
    // SAFETY: looked up by the core types of CPUs, which were numbered over the same ones.
    unsafe { (Table::new(of_cpus), Table::new(of_domains)) }
}

/// How long a CPU may poll before the governor is asked again
/// (`cpuidle_poll_time`): until the first real state would have paid off.
fn poll_limit(states: &[State], tick_ns: u64) -> u64 {
    states.get(1).map_or(tick_ns, |s| s.residency_ns)
}

impl World<'_> {
    /// More of `cpu` is in use than teo of 6.5 takes for idle (`teo_cpu_is_utilized`,
    /// `UTIL_THRESHOLD_SHIFT`).
    fn idle_utilized(&self, cpu: usize) -> bool {
        self.energy_util(cpu) > self.core.cpus[cpu].capacity_orig >> 6
    }
}

impl Power<'_> {
    /// A stay of `cpu` in the idle loop begins (`do_idle`).
    #[inline]
    pub fn idle_stay_begins(&mut self, cpu: usize) {
        self.idle[cpu].got_tick = false;
    }

    /// What the governor chooses for `cpu`, whose tick goes on at its next time if it does
    /// (`cpuidle_select`).
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

    /// Stops the tick of `cpu`, or keeps it (`tick_nohz_idle_stop_tick`, `tick_nohz_idle_retain_tick`);
    /// does it stop now?
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

    /// The state that `cpu` asks, or asked last, for.
    #[inline]
    fn idle_state(&self, cpu: usize) -> &State {
        &self.idle_states(cpu)[self.idle[cpu].state as usize]
    }

    /// `cpu` goes off: behind `work` ns it is in its deepest state and stays there
    /// (`play_dead`). Its tick starts anew when it comes back.
    pub fn idle_dead(&mut self, cpu: usize, work: u64) {
        self.idle[cpu].tick_stopped = false;
        let dead = Choice {
            state: self.idle_states(cpu).len() - 1,
            stop_tick: true,
            forced: true,
        };
        self.enter(cpu, dead, work);
    }

    /// `cpu` was off; its governor begins anew (`cpuidle_enable_device`).
    pub fn idle_forgotten(&mut self, cpu: usize) {
        self.idle_left(cpu, false);
        self.idle_memory.forget(cpu, &mut self.idle[cpu].menu);
    }

    /// Enters the chosen state behind `work` ns of what is under way.
    #[inline(always)]
    pub fn idle_enter(&mut self, cpu: usize, choice: Choice, work: u64) {
        self.enter(cpu, choice, work);
        if let Some(ns) = self.idle_memory.alarm_ns(cpu) {
            self.cpus[cpu].ask_again_at = self.now + ns;
        }
    }

    /// The same, without an alarm of the governor (`cpuidle_enter_state`).
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

    /// An interrupt arrives at the idle `cpu` at `at` (now or later): when does
    /// the CPU execute again? An entry that has begun goes on to its end; then
    /// comes the exit of the state that the hardware was in.
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
                // The cluster may be on its way up for another of its CPUs.
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
    /// A stopped tick stays so until a task runs (`tick_nohz_idle_exit`).
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

    /// `cpu`, which is idle, watches `need_resched`: waking it needs no IPI.
    #[inline]
    pub fn idle_polling(&self, cpu: usize) -> bool {
        self.idle_state(cpu).polling
    }

    /// `cpu` polls in software.
    pub(crate) fn idle_spins(&self, cpu: usize) -> bool {
        self.idle_state(cpu).spins
    }

    /// `cpu` asks, or asked last, for a state that its cluster can follow.
    pub(crate) fn idle_votes(&self, cpu: usize) -> bool {
        self.idle_state(cpu).votes
    }

    /// Whether the cluster follows is for the last CPU to choose.
    pub(crate) fn idle_by_last(&self, cpu: usize) -> bool {
        self.idle_state(cpu).by_last
    }

    /// Idle states over all CPUs: how often each was asked for, how often the hardware got into it,
    /// and the share of the run that it was in it.
    pub fn idle_results(&mut self) -> Vec<Metric> {
        self.meters_flush();
        // By depth, then by name: core types may name their states differently.
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
