// SPDX-License-Identifier: GPL-2.0-only
//! The frequency of each frequency domain: the governors performance, powersave, userspace and
//! schedutil (`kernel/sched/cpufreq_schedutil.c`).
//!
//! schedutil is called at every change of a queue's utilization (`cpufreq_update_util`). It wants
//! the lowest operating point with a quarter more capacity than is used (`demand`). If the driver
//! can switch fast, the change takes effect after the hardware's time. Else a kernel thread on a
//! CPU of the domain calls the driver, which sleeps meanwhile. The thread costs two context
//! switches there.
//!
//! Changes of limits are in [`crate::power::pressure`].
//!
//! Not modelled: the boost after waiting for I/O, since nothing modelled causes it. The governor's
//! thread is not a task: its time is charged to a CPU of the domain.

use crate::base::queue::NEVER;
use crate::base::table::Table;
use crate::kernel::{Hold, RateLimit};
use crate::power::pressure::Limits;
use crate::power::{Power, energy_model};
use crate::world::World;
use crate::world::state::Phase;
use alight_machine::{FreqDomain, Governor, Machine, Opp};
use alight_policy::Params;
use alight_trace::Event;

/// Rate limit in multiples of the transition latency (`LATENCY_MULTIPLIER`).
const LATENCY_MULTIPLIER: u64 = 1000;
/// Rate limit if the latency is unknown, us.
const UNKNOWN_LATENCY_US: u64 = 1000;
/// Longest rate limit derived in this way, us (`cpufreq_policy_transition_delay_us`).
const MAX_TRANSITION_DELAY_US: u64 = 10_000;

/// A frequency domain (`struct cpufreq_policy` and `struct sugov_policy`).
#[derive(Debug, Clone)]
pub(crate) struct FreqState {
    /// schedutil sets the operating point; else it is fixed.
    dynamic: bool,
    governor: Governor,
    /// Index of the current operating point.
    current: u32,
    /// Index of the highest operating point that may be used.
    highest: u32,
    pub limits: Limits,
    cpus: Box<[u32]>,
    change: Change,
    /// Number of frequency changes in the counted time.
    pub changes: u64,
    sugov: Sugov,
}

/// A pending change of frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// The governor's thread has been woken on behalf of this CPU.
    Woken {
        cpu: u32,
    },
    /// The hardware switches to this operating point; `again`: the governor has asked for another
    /// change meanwhile, on behalf of this CPU.
    Switching {
        opp: u32,
        again: Option<u32>,
    },
}

impl FreqState {
    fn new(domain: &FreqDomain, governor: Governor, sugov: Sugov) -> Self {
        let top = domain.opps.len() as u32 - 1;
        FreqState {
            dynamic: governor == Governor::Schedutil && top != 0,
            current: Self::fixed(governor, domain, top).unwrap_or(0),
            governor,
            highest: top,
            limits: Limits::NONE,
            cpus: domain.cpus.iter().map(|cpu| cpu as u32).collect(),
            change: Change::None,
            changes: 0,
            sugov,
        }
    }

    /// Index of the current operating point.
    #[inline]
    pub fn opp_index(&self) -> u32 {
        self.current
    }

    /// The current operating point of the domain; `domain` is its number in `machine`.
    #[inline]
    pub fn opp<'a>(&self, machine: &'a Machine, domain: usize) -> &'a Opp {
        &machine.freq_domains[domain].opps[self.current as usize]
    }
}

/// The frequency domains of a machine.
pub(super) fn freq_of(world: &World<'_>, governor: Governor) -> Table<FreqState> {
    let of_domain = |domain: &FreqDomain| {
        let rate_limit = rate_limit_ns(domain, world.kernel.schedutil.rate_limit);
        let sugov = Sugov::new(rate_limit, efficient(domain, &world.core.params));
        FreqState::new(domain, governor, sugov)
    };
    let freq: Vec<_> = world.machine.freq_domains.iter().map(of_domain).collect();
    // SAFETY: indexed by the frequency domains of CPUs, which are numbered over these domains, and
    // by the slots of a queue with as many.
    unsafe { Table::new(freq) }
}

/// Shortest time between two changes, ns (`cpufreq_policy_transition_delay_us`).
fn rate_limit_ns(domain: &FreqDomain, rule: RateLimit) -> u64 {
    let of_latency = |latency_us: u64| match rule {
        RateLimit::Thousandfold => (latency_us * LATENCY_MULTIPLIER).min(MAX_TRANSITION_DELAY_US),
        RateLimit::HalfAsMuchAgain => latency_us + (latency_us >> 1),
    };
    domain
        .rate_limit_ns
        .unwrap_or_else(|| match domain.switch_ns / 1000 {
            0 => UNKNOWN_LATENCY_US * 1000,
            latency_us => of_latency(latency_us) * 1000,
        })
}

/// For each operating point of `domain`, the one that is used instead: itself, or the next
/// efficient one (`CPUFREQ_RELATION_E`).
fn efficient(domain: &FreqDomain, params: &Params) -> Box<[u32]> {
    let inefficient = match params.skip_inefficient {
        0 => vec![],
        _ => energy_model::inefficient(domain, params),
    };
    let mut taken: Vec<u32> = (0..domain.opps.len() as u32).collect();
    for at in (0..inefficient.len()).rev() {
        if inefficient[at] {
            taken[at] = taken[at + 1];
        }
    }
    taken.into()
}

/// State of schedutil (`struct sugov_policy`).
#[derive(Debug, Clone)]
struct Sugov {
    /// Earliest time of the next change: `last_freq_update_time` plus the delay.
    next_update_at: u64,
    freq_update_delay_ns: u64,
    /// Wanted frequency, kHz; 0 before the first update.
    next_freq: u32,
    /// The wanted frequency before it was rounded to an operating point, kHz.
    cached_raw_freq: u32,
    /// The limits have changed since the last update (`need_freq_update`).
    limits_changed: bool,
    /// `idle_calls` of the domain's only CPU at the last update.
    saved_idle_calls: u32,
    /// See [`efficient`].
    efficient: Box<[u32]>,
}

impl Sugov {
    fn new(freq_update_delay_ns: u64, efficient: Box<[u32]>) -> Self {
        Sugov {
            next_update_at: 0,
            freq_update_delay_ns,
            next_freq: 0,
            cached_raw_freq: 0,
            limits_changed: false,
            saved_idle_calls: 0,
            efficient,
        }
    }

    /// `sugov_start`.
    fn restart(&mut self) {
        self.next_update_at = 0;
        self.next_freq = 0;
        self.cached_raw_freq = 0;
        self.limits_changed = false;
    }

    /// `sugov_limits`: the next update ignores the rate limit and looks up the frequency again.
    fn limit(&mut self) {
        self.next_update_at = 0;
        self.limits_changed = true;
    }

    /// May the frequency change at `now`? (`sugov_should_update_freq`)
    #[inline]
    fn due(&self, now: u64) -> bool {
        now >= self.next_update_at
    }

    /// Was the only CPU of the domain busy ever since the last update (`sugov_cpu_is_busy`)? Its
    /// idle calls are unchanged then.
    fn still_busy(&mut self, idle_calls: u32) -> bool {
        let same = idle_calls == self.saved_idle_calls;
        self.saved_idle_calls = idle_calls;
        same
    }

    /// The operating point's frequency for `raw` kHz, kHz (`get_next_freq`,
    /// `cpufreq_driver_resolve_freq`). `opps` are the operating points that may be used; `anew`:
    /// they may differ from the last time.
    fn resolve(&mut self, raw: u32, opps: &[Opp], anew: bool) -> u32 {
        if raw == self.cached_raw_freq && !anew {
            return self.next_freq;
        }
        self.cached_raw_freq = raw;
        let lowest = lowest_at_least(opps, raw);
        // The efficient operating point may be above the limit (`cpufreq_is_in_limits`).
        let efficient = opps.get(self.efficient[lowest] as usize);
        efficient.unwrap_or(&opps[lowest]).khz
    }

    /// Frequency for `raw` kHz at an update, kHz. `hold`: the frequency must not fall
    /// (`sugov_update_single_freq`).
    fn next(&mut self, raw: u32, opps: &[Opp], hold: Option<Hold>) -> u32 {
        let before = self.cached_raw_freq;
        // Every update clears the flag, with or without a hold (`need_freq_update`).
        let limited = std::mem::take(&mut self.limits_changed);
        let khz = self.resolve(raw, opps, limited);
        let Some(hold) = hold else { return khz };
        if khz >= self.next_freq || limited && hold != Hold::RestoresAlways {
            return khz;
        }
        self.cached_raw_freq = match hold {
            Hold::Forgets => 0,
            Hold::Restores | Hold::RestoresAlways => before,
        };
        self.next_freq
    }

    /// Stores the next frequency; true if it is a new one (`sugov_update_next_freq`).
    fn commit(&mut self, now: u64, khz: u32) -> bool {
        if khz == self.next_freq {
            return false;
        }
        self.next_freq = khz;
        self.next_update_at = now + self.freq_update_delay_ns;
        true
    }
}

/// Index of the lowest operating point with at least `khz`, else of the top one
/// (`CPUFREQ_RELATION_L`).
pub(crate) fn lowest_at_least(opps: &[Opp], khz: u32) -> usize {
    opps.partition_point(|opp| opp.khz < khz)
        .min(opps.len() - 1)
}

impl Power<'_> {
    /// Sets the rates of all CPUs at the start of the run.
    pub(super) fn rates_begin(&mut self) {
        for domain in 0..self.freq.len() {
            self.set_rates(domain);
        }
    }

    /// Limits `domain` to the operating points up to index `highest` (`cpufreq_set_policy`,
    /// `cpufreq_governor_limits`).
    pub fn cpufreq_limit(&mut self, domain: usize, highest: u32) {
        let limits = &self.machine.freq_domains[domain];
        let freq = &mut self.freq[domain];
        freq.highest = highest;
        freq.sugov.limit();
        if freq.dynamic {
            match &mut freq.change {
                Change::None => {}
                // The thread applies the limit when it runs.
                Change::Woken { .. } => return,
                // The limit waits until the thread is done (`work_lock`).
                Change::Switching { opp, .. } => return *opp = (*opp).min(highest),
            }
        }
        let now = match FreqState::fixed(freq.governor, limits, highest) {
            Some(opp) => opp,
            // `cpufreq_policy_apply_limits`
            None if !limits.fast_switch => freq.current.min(highest),
            None => return,
        };
        if now != freq.current || freq.change != Change::None {
            freq.change = Change::Switching {
                opp: now,
                again: None,
            };
            self.freq_queue.set(domain, self.now + limits.switch_ns);
        }
    }

    /// `cpu` went offline or came back: the governor of its policy stops and restarts with the
    /// online CPUs (`cpufreq_offline`, `cpufreq_online`, `sugov_start`). The frequency stays.
    pub fn cpufreq_cpus_changed(&mut self, cpu: usize) {
        let domain = self.cpus[cpu].freq_domain as usize;
        let members = self.machine.freq_domains[domain].cpus.iter();
        let freq = &mut self.freq[domain];
        freq.cpus = members
            .map(|cpu| cpu as u32)
            .filter(|&cpu| self.world.hotplug.online.contains(cpu))
            .collect();
        freq.sugov.restart();
        match &mut freq.change {
            Change::None => {}
            Change::Woken { .. } => {
                freq.change = Change::None;
                self.freq_queue.set(domain, NEVER);
            }
            Change::Switching { again, .. } => *again = None,
        }
    }

    fn sugov_update(&mut self, cpu: usize, domain: usize) {
        let opps = &self.machine.freq_domains[domain].opps;
        let rule = self.kernel.schedutil.hold;
        let alone = self.freq[domain].cpus.len() == 1;
        let may_hold = alone && (rule != Hold::Restores || !self.capped(cpu));
        let hold = may_hold && {
            let idle_calls = self.idle[cpu].idle_calls;
            self.freq[domain].sugov.still_busy(idle_calls)
        };
        let demand = self.highest_demand(&self.freq[domain].cpus);
        let raw = demand.frequency(&self.core.params, opps[opps.len() - 1].khz);
        let allowed = &opps[..=self.freq[domain].highest as usize];
        let sugov = &mut self.freq[domain].sugov;
        let khz = sugov.next(raw, allowed, hold.then_some(rule));
        if sugov.commit(self.world.now, khz) {
            self.request(cpu, domain);
        }
    }

    /// Requests the governor's new frequency on behalf of `cpu`. The change happens in an event of
    /// the domain, since CPUs are in the middle of an operation here.
    pub fn request(&mut self, cpu: usize, domain: usize) {
        let machine = self.machine;
        let limits = &machine.freq_domains[domain];
        let freq = &mut self.freq[domain];
        let woken = Change::Woken { cpu: cpu as u32 };
        let (change, due) = match (limits.fast_switch, freq.change) {
            (true, Change::None) => (
                Change::Switching {
                    opp: freq.wanted(limits),
                    again: None,
                },
                limits.switch_ns,
            ),
            // The register is written again before the clock has settled.
            (true, _) => {
                freq.change = Change::Switching {
                    opp: freq.wanted(limits),
                    again: None,
                };
                return;
            }
            (false, Change::None) => (woken, 0),
            // The thread reads the wanted frequency when it runs.
            (false, Change::Woken { .. }) => return,
            (false, Change::Switching { opp, .. }) => {
                freq.change = Change::Switching {
                    opp,
                    again: Some(cpu as u32),
                };
                return;
            }
        };
        freq.change = change;
        self.freq_queue.set(domain, self.now + due);
    }

    /// The governor's thread runs and calls the driver (`sugov_work`).
    pub fn sugov_work(&mut self, domain: usize, cpu: usize) {
        let machine = self.machine;
        let limits = &machine.freq_domains[domain];
        let opp = self.freq[domain].wanted(limits);
        if opp == self.freq[domain].current {
            self.freq[domain].change = Change::None;
            return;
        }
        self.freq[domain].change = Change::Switching { opp, again: None };
        let switch = self.costs(cpu).switch;
        if let Some(host) = self.sugov_host(domain, cpu) {
            self.end_rounds(host);
            self.makes_way_for_kernel(host);
            self.arm(host);
        }
        let due = self.now + self.ns(cpu, switch) + limits.switch_ns;
        self.freq_queue.set(domain, due);
    }

    /// The CPU of `domain` whose task makes way for the governor's thread: `cpu` if it runs a task,
    /// else the first that does. `None`: on an idle CPU the thread delays no task.
    fn sugov_host(&self, domain: usize, cpu: usize) -> Option<usize> {
        let runs = |&cpu: &usize| self.cpus[cpu].phase == Phase::Running;
        let members = self.freq[domain].cpus.iter().map(|&cpu| cpu as usize);
        std::iter::once(cpu).chain(members).find(runs)
    }

    /// Sets speed and `freq_scale` (`arch_set_freq_scale`) of the CPUs of `domain`.
    fn set_rates(&mut self, domain: usize) {
        let machine = self.machine;
        let opps = &machine.freq_domains[domain].opps;
        let opp = self.freq[domain].opp(machine, domain);
        let scale = u64::from(opp.khz) * 1024 / u64::from(opps[opps.len() - 1].khz);
        for cpu in machine.freq_domains[domain].cpus.iter() {
            self.set_speed(cpu, machine.cpus[cpu].speed_at(opp.capacity).into());
            self.core.cpus[cpu].freq_scale = scale as u32;
        }
    }

    /// A deadline task starts to need bandwidth on `cpu`: the next update ignores the rate limit
    /// (`ignore_dl_rate_limit`).
    pub fn cpufreq_hurries(&mut self, cpu: usize) {
        let domain = self.cpus[cpu].freq_domain as usize;
        let sugov = &mut self.freq[domain].sugov;
        sugov.next_update_at = 0;
        sugov.limits_changed = true;
        self.cpufreq_update(cpu);
    }

    /// Called when the utilization of the queue of `cpu` may have changed (`cpufreq_update_util`).
    #[inline]
    pub fn cpufreq_update(&mut self, cpu: usize) {
        self.signals_changed(cpu);
        let domain = self.cpus[cpu].freq_domain as usize;
        let freq = &self.freq[domain];
        if freq.dynamic && freq.sugov.due(self.now) {
            self.sugov_update(cpu, domain);
        }
    }

    /// Returns the pending change of `domain`, which is due. A switch is complete; a woken thread
    /// runs.
    pub fn cpufreq_due(&mut self, domain: usize) -> Change {
        self.freq_queue.set(domain, NEVER);
        let state = &mut self.freq[domain];
        let due = state.change;
        if let Change::Switching { .. } = due {
            state.change = Change::None;
        }
        due
    }

    /// Sets the operating point of `domain` now. The caller has updated the clocks of its queues.
    pub fn opp_changed(&mut self, domain: usize, opp: u32) {
        let machine = self.machine;
        self.freq[domain].current = opp;
        self.set_rates(domain);
        self.meters_opp(domain);
        self.stats.freq_changes += 1;
        self.freq[domain].changes += 1;
        let khz = self.freq[domain].opp(machine, domain).khz;
        for cpu in machine.freq_domains[domain].cpus.iter() {
            self.trace_frequency(cpu, khz);
            self.arm(cpu);
        }
    }

    /// Tells a sink with details the initial frequencies. They are not events of the run.
    pub fn trace_clocks(&mut self) {
        if !self.detailed {
            return;
        }
        let machine = self.machine;
        for (domain, of) in machine.freq_domains.iter().enumerate() {
            let khz = self.freq[domain].opp(machine, domain).khz;
            for cpu in of.cpus.iter() {
                self.emit(cpu, Event::Frequency { khz });
                self.trace_rate(cpu);
            }
        }
    }
}

impl FreqState {
    /// Index of the operating point that the governor wants.
    fn wanted(&self, limits: &FreqDomain) -> u32 {
        (lowest_at_least(&limits.opps, self.sugov.next_freq) as u32).min(self.highest)
    }
}

#[cfg(test)]
mod tests;
