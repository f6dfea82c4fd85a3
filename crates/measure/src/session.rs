// SPDX-License-Identifier: GPL-2.0-only
//! One measurement of a machine: rounds of all benchmarks, one after the other.

use crate::changes::Changes;
use crate::clocks::Clock;
use crate::host::{Core, Host, Sibling};
use crate::idle::{self, State};
use crate::outcome::{Measurement, Unmeasured};
use crate::rounds::{Key, Rounds};
use crate::{costs, lines, report, usable, work};
use alight_machine::{DataSheet, capture, kernel};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// How to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Folder that stands for `/` where the kernel is read and set; the benchmarks run on this host.
    pub root: PathBuf,
    /// Rounds, 1 or more.
    pub rounds: u32,
}

/// How far a measurement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Benchmarks that have ended.
    pub done: usize,
    /// Benchmarks in all.
    pub of: usize,
    /// The one that runs now.
    pub what: &'static str,
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum NotMeasured {
    /// This machine cannot be captured.
    #[error("{0}")]
    Machine(#[from] alight_machine::Error),
    /// The system refuses what every benchmark needs.
    #[error("measuring this machine: {0}")]
    System(#[from] io::Error),
    /// None of its CPUs may be used.
    #[error("none of the CPUs of this machine may be used: start the program with other CPUs")]
    NoCpu,
    /// A signal asked to end.
    #[error("interrupted; what was changed for the measurement is as before")]
    Interrupted,
    /// A signal asked to end, and files could not be brought back.
    #[error("interrupted, and these files could not be brought back: {0}")]
    Lost(String),
}

/// A benchmark of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Paths(usize),
    Idle(usize),
    Work(usize),
    Frequencies(usize),
    Fetch(usize),
    Loads,
}

impl Step {
    fn what(self) -> &'static str {
        match self {
            Self::Paths(_) => "kernel paths",
            Self::Idle(_) => "idle states",
            Self::Work(_) => "speed",
            Self::Frequencies(_) => "frequencies",
            Self::Fetch(_) => "cache lines of other CPUs",
            Self::Loads => "cache and memory",
        }
    }
}

/// What all rounds share, and what they found.
#[derive(Debug)]
pub(crate) struct Session {
    pub host: Host,
    pub root: PathBuf,
    /// Idle states of each core type.
    pub states: Vec<Vec<State>>,
    /// The clock of each core type.
    pub clocks: Vec<Option<Clock>>,
    /// The clocks are held at their highest frequency.
    pub held: bool,
    /// Idle states may be switched off.
    pub switched: bool,
    /// Rounds at whose start another task wanted a CPU.
    pub busy: u32,
    pub rounds: Rounds,
    /// Benchmarks that failed, with the last reason.
    pub failed: BTreeMap<&'static str, String>,
    changes: Changes,
}

/// Measures this machine.
///
/// `stop`: raised to end early, looked at between benchmarks, each of which takes up to three
/// seconds on an idle machine.
/// `tell`: hears of each benchmark.
///
/// # Errors
/// See [`NotMeasured`]. What was changed in sysfs is as before then too.
pub fn machine(
    options: &Options,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Progress),
) -> Result<Measurement, NotMeasured> {
    let captured = capture(&options.root)?.draft()?.resolve()?;
    let topology = kernel::Topology::read(&options.root)?;
    let online: Vec<usize> = topology.online.iter().collect();
    let host = Host::new(&options.root, &captured, &online, &usable()?);
    if host.cores.is_empty() {
        return Err(NotMeasured::NoCpu);
    }
    let mut session = Session::new(options, host);
    session.run(options.rounds.max(1), stop, tell)?;
    let offline = topology.present.difference(&topology.online);
    session.end(options, &captured, offline)
}

impl Session {
    pub(crate) fn new(options: &Options, host: Host) -> Self {
        let root = options.root.clone();
        let firsts: Vec<usize> = host.cores.iter().map(|core| core.cpus[0]).collect();
        let states: Vec<Vec<State>> = (firsts.iter())
            .map(|&cpu| idle::states(&root, cpu))
            .collect();
        let mut changes = Changes::default();
        let mut clocks = host.usable.iter().filter_map(|&cpu| Clock::of(&root, cpu));
        let held = clocks.all(|clock| clock.hold(clock.highest, &mut changes).is_ok());
        if !held {
            changes.back_to(0);
        }
        let mut session = Self {
            clocks: firsts.iter().map(|&cpu| Clock::of(&root, cpu)).collect(),
            host,
            root,
            states,
            held,
            switched: false,
            busy: 0,
            rounds: Rounds::default(),
            failed: BTreeMap::new(),
            changes,
        };
        session.switched = session.may_switch();
        session
    }

    /// May idle states be switched off?
    fn may_switch(&mut self) -> bool {
        let mark = self.changes.mark();
        let states = self.states.iter().filter(|states| states.len() > 1);
        let mut tried = states.map(|states| idle::switch(&states[0], &mut self.changes));
        let may = tried.all(|tried| tried.is_ok());
        self.changes.back_to(mark);
        may
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for core in 0..self.host.cores.len() {
            steps.push(Step::Paths(core));
            if !self.states[core].is_empty() {
                steps.push(Step::Idle(core));
            }
            steps.push(Step::Work(core));
            if self.held && self.clocks[core].is_some() && self.host.cores[core].khz.len() > 1 {
                steps.push(Step::Frequencies(core));
            }
        }
        steps.extend((0..self.host.pairs.len()).map(Step::Fetch));
        steps.push(Step::Loads);
        steps
    }

    fn run(
        &mut self,
        rounds: u32,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), NotMeasured> {
        let steps = self.steps();
        let of = steps.len() * rounds as usize;
        for (done, &step) in (0..rounds).flat_map(|_| &steps).enumerate() {
            if done % steps.len() == 0 {
                self.busy += u32::from(self.others_run());
            }
            let what = step.what();
            tell(Progress { done, of, what });
            if let Err(error) = self.step(step) {
                self.failed.insert(what, error.to_string());
            }
            if stop.load(Ordering::Relaxed) {
                self.changes.back_to(0);
                return Err(match self.changes.lost() {
                    [] => NotMeasured::Interrupted,
                    lost => NotMeasured::Lost(lost.join("; ")),
                });
            }
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> io::Result<()> {
        match step {
            Step::Paths(core) => self.paths(core),
            Step::Idle(core) => self.idle(core),
            Step::Work(core) => self.work(core),
            Step::Frequencies(core) => self.frequencies(core),
            Step::Fetch(pair) => self.fetch(pair),
            Step::Loads => self.loads(),
        }
    }

    fn core(&self, core: usize) -> &Core {
        &self.host.cores[core]
    }

    /// Kernel paths. What a CPU does that wakes from idle is not seen where others want it.
    fn paths(&mut self, core: usize) -> io::Result<()> {
        let before = self.others_run();
        let paths = costs::of(&self.core(core).cpus)?;
        let idle = !(before || self.others_run());
        let within = |name| costs::WITHIN.iter().any(|(known, _)| *known == name);
        let select = self.host.usable.len() > 2;
        let own = |name| {
            let from_idle = ["idle_exit_ns", "ipi_receive_ns"].contains(&name);
            !within(name) && (select || name != "select_ns") && (idle || !from_idle)
        };
        for (name, ns) in paths.costs.into_iter().filter(|(name, _)| own(*name)) {
            self.rounds.add(Key::Cost(core, name), ns);
        }
        self.rounds.add(Key::AfterIdle(core), paths.after_idle);
        if let Some(ns) = paths.interrupted.filter(|_| idle) {
            self.rounds.add(Key::Interrupted(core), ns);
        }
        if let Some(kept) = paths.messages_kept {
            self.rounds.add(Key::MessagesKept, kept.into());
        }
        let turns = u64::from(paths.one_processor);
        self.rounds.add(Key::OneProcessor, turns);
        Ok(())
    }

    /// Do others run or want to?
    fn others_run(&self) -> bool {
        running(&self.root).is_some_and(|tasks| tasks > 1)
    }

    fn idle(&mut self, core: usize) -> io::Result<()> {
        let cpu = self.core(core).cpus[0];
        let changes = self.switched.then_some(&mut self.changes);
        for (state, ns) in idle::late(cpu, &self.states[core], changes)? {
            self.rounds.add(Key::Late(core, state), ns);
        }
        Ok(())
    }

    fn work(&mut self, core: usize) -> io::Result<()> {
        let cpu = self.core(core).cpus[0];
        self.rounds.add(Key::Work(core), work::alone(cpu)?);
        if let Some(Sibling::Usable(sibling)) = self.core(core).sibling {
            let beside = work::beside(cpu, sibling)?;
            self.rounds.add(Key::WorkBeside(core), beside);
        }
        Ok(())
    }

    fn frequencies(&mut self, core: usize) -> io::Result<()> {
        let Some(clock) = self.clocks[core].clone() else {
            return Ok(());
        };
        let (cpu, frequencies) = (self.core(core).cpus[0], self.core(core).khz.clone());
        for khz in frequencies {
            let mark = self.changes.mark();
            let loops = (clock.hold(khz, &mut self.changes)).and_then(|()| work::alone(cpu));
            self.changes.back_to(mark);
            self.rounds.add(Key::WorkAt(core, khz), loops?);
        }
        Ok(())
    }

    fn fetch(&mut self, pair: usize) -> io::Result<()> {
        let (distance, writer, reader) = self.host.pairs[pair];
        let fetch = lines::fetch(writer, reader)?;
        self.rounds.add(Key::Line(distance), fetch.line);
        self.rounds.add(Key::Refill(distance), fetch.refill);
        Ok(())
    }

    fn loads(&mut self) -> io::Result<()> {
        let (cpu, l2) = (self.core(0).cpus[0], self.core(0).l2);
        if let Some(bytes) = self.host.cache.and_then(|cache| within(cache, l2)) {
            self.rounds.add(Key::Cache, lines::load(cpu, bytes)?);
        }
        let beyond = beyond(self.host.cache.unwrap_or(0));
        self.rounds.add(Key::Memory, lines::load(cpu, beyond)?);
        Ok(())
    }

    fn end(
        mut self,
        options: &Options,
        captured: &DataSheet,
        offline: alight_machine::CpuSet,
    ) -> Result<Measurement, NotMeasured> {
        self.changes.back_to(0);
        let lost = self.changes.lost().to_vec();
        let mut unmeasured = Vec::new();
        if !offline.is_empty() {
            let what = format!("CPUs {offline}");
            unmeasured.push(Unmeasured::new(
                what,
                "they are offline, and not in the file",
            ));
        }
        let measurement = report::of(&self, options, captured, unmeasured)?;
        Ok(Measurement {
            lost,
            ..measurement
        })
    }
}

/// Tasks that run or want to, this one too (`/proc/loadavg`).
fn running(root: &std::path::Path) -> Option<u32> {
    let text = std::fs::read_to_string(root.join("proc/loadavg")).ok()?;
    text.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

/// Bytes that the last-level cache `cache` holds and an L2 does not; `None`: the two are one.
fn within(cache: usize, l2: usize) -> Option<usize> {
    let bytes = (l2.saturating_mul(4)).min(cache / 4);
    (bytes >= l2.saturating_mul(2)).then_some(bytes)
}

/// Bytes that no cache holds, given the last-level one.
fn beyond(cache: usize) -> usize {
    (cache.saturating_mul(2)).clamp(64 << 20, 512 << 20)
}

#[cfg(test)]
mod tests;
