// SPDX-License-Identifier: GPL-2.0-only
//! What a picture needs of a run, gathered while it runs: of each CPU its frequencies, and in each
//! of some hundred equal pieces of the time its mean utilization and which kinds of task ran.

use std::collections::BTreeMap;
use std::ops::Range;

use alight_machine::{Governor, Machine};
use alight_sim::Scenario;
use alight_trace::{CpuCounter, Event, Signals, Sink};

/// Pieces of the time shown.
pub const PIECES: usize = 250;
/// Kinds of task that are told apart; all others are one more.
pub const KINDS: usize = 8;
/// What a CPU's time goes to: the kinds of task, all others, and idle states by their depth, of
/// which the last is that one and all deeper ones.
pub const USES: usize = KINDS + 1 + DEPTHS;
/// Idle states that are told apart.
pub const DEPTHS: usize = 4;

/// A run.
#[derive(Debug, Clone)]
pub struct Course {
    /// The time shown, ns.
    pub time: Range<u64>,
    /// Names of the kinds of task.
    pub kinds: Vec<String>,
    /// The CPUs.
    pub cpus: Vec<CpuCourse>,
    /// The kind of each task, by its pid.
    kind_of: BTreeMap<u32, usize>,
}

/// A CPU.
#[derive(Debug, Clone)]
pub struct CpuCourse {
    /// When it got which frequency, kHz; the first is what it has at the start of the time shown.
    pub khz: Vec<(u64, u32)>,
    /// Utilization times ns, in each piece.
    util_ns: Vec<u64>,
    /// What the time of each piece went to, ns.
    used_ns: Vec<[u64; USES]>,
    util: u64,
    since: u64,
    /// What its time goes to; nothing while an idle CPU is about to enter a state.
    used_for: Option<usize>,
}

impl Course {
    /// Of a run that begins; `tasks` are pid, comm and tgid of all of its tasks.
    pub fn new(scenario: &Scenario<'_>, tasks: &[(u32, String, u32)], time: Range<u64>) -> Self {
        let governor = scenario.governor_in_force();
        let mut kinds: Vec<String> = vec![];
        let mut kind_of = BTreeMap::new();
        for (pid, comm, _) in tasks {
            let kind = kind(comm);
            let known = kinds.iter().position(|known| known == kind);
            let at = known.unwrap_or_else(|| {
                kinds.push(kind.to_owned());
                kinds.len() - 1
            });
            kind_of.insert(*pid, at.min(KINDS));
        }
        if kinds.len() > KINDS {
            kinds.truncate(KINDS);
            kinds.push("others".to_owned());
        }
        let cpu = |cpu: &alight_machine::Cpu| CpuCourse {
            khz: vec![(
                time.start,
                first_khz(scenario.machine, cpu.freq_domain, governor),
            )],
            util_ns: vec![0; PIECES],
            used_ns: vec![[0; USES]; PIECES],
            util: 0,
            since: 0,
            used_for: None,
        };
        Course {
            cpus: scenario.machine.cpus.iter().map(cpu).collect(),
            time,
            kinds,
            kind_of,
        }
    }

    /// The run is over.
    pub fn end(&mut self, at_ns: u64) {
        for cpu in 0..self.cpus.len() {
            self.account(cpu, at_ns);
        }
    }

    /// Brings the sums of a CPU to now.
    fn account(&mut self, cpu: usize, now: u64) {
        let time = self.time.clone();
        let c = &mut self.cpus[cpu];
        spread(&time, c.since..now, |piece, ns| {
            c.util_ns[piece] += c.util * ns;
            if let Some(what) = c.used_for {
                c.used_ns[piece][what] += ns;
            }
        });
        c.since = now;
    }

    fn uses(&mut self, cpu: usize, now: u64, what: Option<usize>) {
        self.account(cpu, now);
        self.cpus[cpu].used_for = what;
    }

    /// Length of a piece, ns.
    pub fn piece_ns(&self) -> u64 {
        piece_ns(&self.time)
    }

    /// Mean utilization of a CPU in each piece.
    pub fn util(&self, cpu: usize) -> impl Iterator<Item = u64> {
        let piece = self.piece_ns();
        self.cpus[cpu].util_ns.iter().map(move |sum| sum / piece)
    }

    /// Mean of the summed utilization of some CPUs in each piece.
    pub fn util_of(&self, cpus: &[usize]) -> Vec<f64> {
        let mut sums = vec![0; PIECES];
        for &cpu in cpus {
            for (sum, util) in sums.iter_mut().zip(self.util(cpu)) {
                *sum += util;
            }
        }
        sums.into_iter().map(|sum| sum as f64).collect()
    }

    /// Mean frequency of some CPUs in each piece, MHz.
    pub fn mhz_of(&self, cpus: &[usize]) -> Vec<f64> {
        let piece = self.piece_ns();
        let mut khz_ns = vec![0_u128; PIECES];
        for &cpu in cpus {
            let changes = &self.cpus[cpu].khz;
            let ends = changes[1..]
                .iter()
                .map(|(at, _)| *at)
                .chain([self.time.end]);
            for (&(from, khz), to) in changes.iter().zip(ends) {
                spread(&self.time, from..to, |piece, ns| {
                    khz_ns[piece] += u128::from(khz) * u128::from(ns);
                });
            }
        }
        let whole = u128::from(piece) * cpus.len().max(1) as u128;
        let mhz = |sum: u128| (sum / whole) as f64 / 1000.0;
        khz_ns.into_iter().map(mhz).collect()
    }

    /// To which shares a CPU's time went in each piece, in thousandths.
    pub fn shares(&self, cpu: usize) -> impl Iterator<Item = [u64; USES]> {
        let piece = self.piece_ns();
        let shares = move |used: &[u64; USES]| used.map(|ns| 1000 * ns / piece);
        self.cpus[cpu].used_ns.iter().map(shares)
    }
}

impl Sink for Course {
    /// The counters of a trace come with switches: of who runs for long they say nothing.
    fn wants_signals(&self) -> bool {
        true
    }

    fn signals(&mut self, time_ns: u64, cpu: u32, signals: &Signals) -> std::io::Result<()> {
        self.account(cpu as usize, time_ns);
        self.cpus[cpu as usize].util = u64::from(signals.queue_util_avg);
        Ok(())
    }

    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()> {
        let cpu = cpu as usize;
        match event {
            Event::Switch { next, .. } => {
                let kind = self.kind_of.get(&next.pid).copied();
                self.uses(cpu, time_ns, kind);
            }
            Event::IdleEnter { state } => {
                let depth = (state as usize).min(DEPTHS - 1);
                self.uses(cpu, time_ns, Some(KINDS + 1 + depth));
            }
            Event::IdleExit => self.uses(cpu, time_ns, None),
            Event::CpuCounter {
                counter: CpuCounter::UtilAvg,
                value,
            } => {
                self.account(cpu, time_ns);
                self.cpus[cpu].util = value;
            }
            Event::Frequency { khz } if time_ns < self.time.end => {
                let changes = &mut self.cpus[cpu].khz;
                let at = time_ns.max(self.time.start);
                if at == self.time.start {
                    changes.clear();
                }
                changes.push((at, khz));
            }
            _ => {}
        }
        Ok(())
    }
}

fn piece_ns(time: &Range<u64>) -> u64 {
    ((time.end - time.start) / PIECES as u64).max(1)
}

/// Hands the parts of `span` that lie within the time shown to their pieces.
fn spread(time: &Range<u64>, span: Range<u64>, mut add: impl FnMut(usize, u64)) {
    let piece = piece_ns(time);
    let end = span.end.min(time.start + piece * PIECES as u64);
    let mut at = span.start.max(time.start);
    while at < end {
        let index = (at - time.start) / piece;
        let until = end.min(time.start + (index + 1) * piece);
        add(index as usize, until - at);
        at = until;
    }
}

/// The tasks of a kind share their name but for a number.
fn kind(comm: &str) -> &str {
    let stem = comm.trim_end_matches(|c: char| c.is_ascii_digit());
    match stem.strip_suffix('-') {
        Some(stem) if !stem.is_empty() => stem,
        _ => comm,
    }
}

/// What a run begins with.
fn first_khz(machine: &Machine, domain: usize, governor: Governor) -> u32 {
    let opps = &machine.freq_domains[domain].opps;
    let (first, last) = (opps[0].khz, opps[opps.len() - 1].khz);
    match governor {
        Governor::Performance => last,
        Governor::Powersave | Governor::Schedutil => first,
        Governor::Userspace { khz } => (opps.iter().map(|opp| opp.khz))
            .find(|&opp| opp >= khz)
            .unwrap_or(last),
    }
}
