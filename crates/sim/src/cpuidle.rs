// SPDX-License-Identifier: GPL-2.0-only
//! A CPU in the idle loop (`kernel/sched/idle.c`, Linux 5.5): which state it
//! enters, whether its tick stops, when the state is real, and how long the way
//! out of it takes.
//!
//! What the governor asks for and what the hardware does are two things. A
//! state of cluster scope is a vote: as long as some CPU of the cluster has not
//! cast its own, the hardware is in the deepest core state below it (PSCI,
//! platform coordinated). The last vote makes it real for all; the first CPU
//! that leaves ends it for all.

mod menu;
#[cfg(test)]
pub(crate) mod tests;

use crate::api::Metric;
use crate::energy::Rest;
use crate::queue::NEVER;
use crate::state::Sim;
use crate::timeline::NONE;
use alight_machine::{IdleScope, IdleState};
use menu::{Choice, Menu, Outlook, Period, spins};
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
    /// When polling ends without an event and the governor is asked again;
    /// [`NEVER`] in other states.
    pub poll_until: u64,
    /// The tick was stopped in this stay in the idle loop.
    tick_stopped: bool,
    /// Times that the tick was stopped, or stayed so (`ts->idle_calls`).
    pub idle_calls: u32,
    /// Per state; as many as its core type has.
    residency: Box<[Residency]>,
    /// Its physical core among those of its cluster.
    pub core_slot: u32,
}

/// Time in one state.
#[derive(Debug, Clone, Copy, Default)]
struct Residency {
    /// Times that it was asked for.
    entries: u64,
    /// Time that the hardware was in it, entry and exit left out.
    ns: u64,
}

impl Default for CpuIdle {
    fn default() -> Self {
        CpuIdle {
            menu: Menu::default(),
            state: 0,
            core_state: 0,
            entered_at: 0,
            entry_begin: 0,
            entry_end: 0,
            resumes_at: 0,
            booked_to: 0,
            poll_until: NEVER,
            tick_stopped: false,
            idle_calls: 0,
            residency: Box::default(),
            core_slot: 0,
        }
    }
}

impl CpuIdle {
    /// For a CPU with `states` idle states, on the physical core `core_slot` of its cluster.
    pub fn new(states: usize, core_slot: u32) -> Self {
        let residency = vec![Residency::default(); states].into();
        CpuIdle {
            residency,
            core_slot,
            ..CpuIdle::default()
        }
    }

    /// In an idle state that no interrupt has ended.
    pub fn resting(&self) -> bool {
        self.resumes_at == NEVER
    }

    /// Powers of the core in this idle period, uW: with and without the cluster.
    pub fn powers(&self, states: &[IdleState]) -> (u64, u64) {
        (
            states[self.core_state as usize].power_uw,
            states[self.state as usize].power_uw,
        )
    }

    /// Books residency up to `to`; the cluster state is real from `deep_from` on.
    pub fn book(&mut self, to: u64, deep_from: u64) {
        if to <= self.booked_to || self.residency.is_empty() {
            return;
        }
        let deep = deep_from.clamp(self.booked_to, to);
        self.residency[self.core_state as usize].ns += deep - self.booked_to;
        self.residency[self.state as usize].ns += to - deep;
        self.booked_to = to;
    }
}

/// How deep the core goes when it asks for `state` and the cluster does not follow.
fn core_state(states: &[IdleState], state: usize) -> usize {
    match states[state].scope {
        IdleScope::Core => state,
        IdleScope::Cluster => states[..state]
            .iter()
            .rposition(|s| s.scope == IdleScope::Core)
            .unwrap_or(state),
    }
}

/// How long a CPU may poll before the governor is asked again
/// (`cpuidle_poll_time`): until the first real state would have paid off.
fn poll_limit(states: &[IdleState], tick_ns: u64) -> u64 {
    states.get(1).map_or(tick_ns, |s| s.residency_ns)
}

impl Sim<'_> {
    /// The idle states of `cpu`.
    #[inline]
    pub(crate) fn idle_states(&self, cpu: usize) -> &[IdleState] {
        &self.machine.core_types[self.cpus[cpu].core_type as usize].idle_states
    }

    /// The idle task executes on `cpu` and nothing is to be done but `work` ns of
    /// what is under way: enters an idle state behind it and stops the tick if it
    /// pays (`cpuidle_idle_call`).
    pub fn idle_enter(&mut self, cpu: usize, work: u64) {
        let machine = self.machine;
        let states = &machine.core_types[self.cpus[cpu].core_type as usize].idle_states[..];
        let tick_stopped = self.cpus[cpu].idle.tick_stopped && self.cpus[cpu].tick_at == NEVER;
        if !tick_stopped && self.cpus[cpu].tick_at == NEVER {
            self.cpus[cpu].tick_at = self.next_tick();
        }
        let choice = self.idle_select(cpu, states, tick_stopped);
        self.stop_tick(cpu, choice.stop_tick || tick_stopped);
        self.enter(cpu, choice, work);
    }

    /// Enters the chosen state (`cpuidle_enter_state`).
    fn enter(&mut self, cpu: usize, choice: Choice, work: u64) {
        let machine = self.machine;
        let states = &machine.core_types[self.cpus[cpu].core_type as usize].idle_states[..];
        let now = self.now;
        let begin = now + work;
        self.trace_idle(cpu, Some(choice.state as u32));
        let Some(state) = states.get(choice.state) else {
            // No state is known (`default_idle_call`): no latency, and no power.
            self.core.cpus[cpu].exit_latency = 0;
            let idle = &mut self.cpus[cpu].idle;
            idle.entered_at = now;
            idle.entry_begin = begin;
            idle.entry_end = begin;
            idle.resumes_at = NEVER;
            self.rest(
                cpu,
                Rest {
                    core_uw: 0,
                    deep_uw: 0,
                    quiet_from: begin,
                    spins: false,
                },
            );
            return;
        };
        let cluster = &mut self.meters[self.cpus[cpu].cluster as usize];
        let last_vote = state.scope == IdleScope::Cluster && cluster.vote();
        let core_state = core_state(states, choice.state);
        let entry_ns = if last_vote {
            state.entry_ns
        } else {
            states[core_state].entry_ns
        };
        let spins = spins(state);

        self.core.cpus[cpu].exit_latency = state.wakeup_ns.min(u64::from(NONE - 1)) as u32;
        let idle = &mut self.cpus[cpu].idle;
        idle.state = choice.state as u32;
        idle.core_state = core_state as u32;
        idle.entered_at = now;
        idle.entry_begin = begin;
        idle.entry_end = begin + entry_ns;
        idle.booked_to = idle.entry_end;
        idle.resumes_at = NEVER;
        idle.residency[choice.state].entries += 1;
        if spins && !choice.forced {
            idle.poll_until = begin + poll_limit(states, self.tunables.tick);
        }
        self.rest(
            cpu,
            Rest {
                core_uw: states[core_state].power_uw,
                deep_uw: state.power_uw,
                quiet_from: begin + entry_ns,
                spins,
            },
        );
        if last_vote {
            self.meters[self.cpus[cpu].cluster as usize].deepen();
        }
    }

    fn idle_select(&mut self, cpu: usize, states: &[IdleState], tick_stopped: bool) -> Choice {
        if states.is_empty() {
            // `default_idle_call`: the tick stops first.
            return Choice {
                state: 0,
                stop_tick: true,
                forced: true,
            };
        }
        let c = &mut self.cpus[cpu];
        let next_timer_ns = match c.timers.first_key() {
            Some(at) => at.saturating_sub(self.now).min(NO_TIMER_NS),
            None => NO_TIMER_NS,
        };
        let delta_next_ns = match tick_stopped {
            true => next_timer_ns,
            false => next_timer_ns.min(c.tick_at.saturating_sub(self.now)),
        };
        c.idle.menu.select(&Outlook {
            states,
            next_timer_ns,
            delta_next_ns,
            latency_limit_ns: self.latency_limit_ns,
            tick_ns: self.tunables.tick,
            tick_stopped,
        })
    }

    /// Stops the tick, or keeps it (`tick_nohz_idle_stop_tick`, `tick_nohz_idle_retain_tick`).
    #[inline]
    fn stop_tick(&mut self, cpu: usize, stop: bool) {
        let c = &mut self.cpus[cpu];
        c.idle.tick_stopped = stop;
        if !stop {
            return;
        }
        c.idle.idle_calls = c.idle.idle_calls.wrapping_add(1);
        if c.tick_at != NEVER {
            c.tick_at = NEVER;
            self.nohz_enter_idle(cpu);
        }
    }

    /// An interrupt arrives at the idle `cpu` at `at` (now or later): when does
    /// the CPU execute again? An entry that has begun goes on to its end; then
    /// comes the exit of the state that the hardware was in.
    pub fn idle_leave(&mut self, cpu: usize, at: u64) -> u64 {
        let machine = self.machine;
        let states = &machine.core_types[self.cpus[cpu].core_type as usize].idle_states[..];
        let idle = &self.cpus[cpu].idle;
        debug_assert!(at >= idle.entered_at && idle.resumes_at == NEVER);
        let Some(state) = states.get(idle.state as usize) else {
            let resumes_at = at.max(idle.entry_end);
            self.unrest(cpu, at, false);
            self.cpus[cpu].idle.resumes_at = resumes_at;
            return resumes_at;
        };
        let (entry_begin, not_begun) = (idle.entry_begin, at < idle.entry_begin);
        let core_exit_ns = states[idle.core_state as usize].exit_ns;
        let entry_end = idle.entry_end;
        let votes = state.scope == IdleScope::Cluster;
        let cluster_down = if votes {
            self.cluster_up(cpu, at)
        } else {
            None
        };
        let cluster = &mut self.meters[self.cpus[cpu].cluster as usize];
        let resumes_at = match cluster_down {
            _ if not_begun => entry_begin,
            Some(down_at) => {
                cluster.up_at = at.max(down_at) + state.exit_ns;
                cluster.up_at
            }
            // The cluster may be on its way up for another of its CPUs.
            None if votes => (at.max(entry_end) + core_exit_ns).max(cluster.up_at),
            None => at.max(entry_end) + core_exit_ns,
        };
        self.cpus[cpu].idle.book(at, NEVER);
        self.unrest(cpu, at, spins(state));
        self.cpus[cpu].idle.resumes_at = resumes_at;
        resumes_at
    }

    /// `cpu` executes again after [`Sim::idle_leave`]. `by_tick`: its tick woke it.
    ///
    /// A stopped tick stays so until a task runs (`tick_nohz_idle_exit`).
    pub fn idle_left(&mut self, cpu: usize, by_tick: bool) {
        let idle = &mut self.cpus[cpu].idle;
        idle.menu.reflect(Period {
            state: idle.state as usize,
            residency_ns: idle.resumes_at - idle.entered_at,
            by_tick,
            poll_time_limit: idle.poll_until <= idle.resumes_at,
        });
        idle.poll_until = NEVER;
        self.core.cpus[cpu].exit_latency = NONE;
        self.trace_idle(cpu, None);
    }

    /// `cpu`, which is idle, watches `need_resched`: waking it needs no IPI.
    #[inline]
    pub fn idle_polling(&self, cpu: usize) -> bool {
        let state = self.cpus[cpu].idle.state as usize;
        self.idle_states(cpu).get(state).is_some_and(|s| s.polling)
    }

    /// `cpu` polls in software.
    pub(crate) fn idle_spins(&self, cpu: usize) -> bool {
        let state = self.cpus[cpu].idle.state as usize;
        self.idle_states(cpu).get(state).is_some_and(spins)
    }

    /// `cpu` asks, or asked last, for a state of its cluster.
    pub(crate) fn idle_votes(&self, cpu: usize) -> bool {
        let state = self.cpus[cpu].idle.state as usize;
        self.idle_states(cpu)
            .get(state)
            .is_some_and(|s| s.scope == IdleScope::Cluster)
    }

    /// Idle states over all CPUs: how often each was asked for, and the share of
    /// the run that the hardware was in it.
    pub fn idle_results(&mut self) -> Vec<Metric> {
        self.meters_flush();
        // By depth, then by name: core types may name their states differently.
        let mut states: BTreeMap<(usize, &str), Residency> = BTreeMap::new();
        let machine = self.machine;
        for cpu in &self.cpus {
            let named = &machine.core_types[cpu.core_type as usize].idle_states;
            for (depth, (state, spent)) in named.iter().zip(&cpu.idle.residency).enumerate() {
                let sum = states.entry((depth, &state.name)).or_default();
                sum.entries += spent.entries;
                sum.ns += spent.ns;
            }
        }
        let all_ns = self.now as f64 * self.cpus.len() as f64;
        let mut results = vec![];
        for ((_, name), sum) in states {
            let name = snake(name);
            results.push(Metric {
                name: format!("idle_entries_{name}"),
                unit: "",
                better: None,
                value: sum.entries as f64,
            });
            results.push(Metric {
                name: format!("idle_residency_{name}_percent"),
                unit: "percent",
                better: None,
                value: if self.now == 0 {
                    0.0
                } else {
                    100.0 * sum.ns as f64 / all_ns
                },
            });
        }
        results
    }
}

/// A name as part of a metric's: `cluster-sleep` is `cluster_sleep`.
pub(crate) fn snake(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}
