// SPDX-License-Identifier: GPL-2.0-only
//! One recorded wakeup, decided again.

use super::layout::{DomainState, TaskState, Wakeup, flag};
use super::machine::{self, BadRecordedMachine, DomainFlags};
use super::report::Explanation;
use super::view::{self, Rules};
use super::{DecisionsNotVerified, moments};
use alight_policy::abi::rule;
use alight_policy::{Answer, Core, Note, Params, PerfDomain, STEPS, Scheduler, Waker};
use alight_recording::{Header, KernelVersion};

/// Candidates that an explanation lists at most.
const NOTES: usize = 512;

/// Why the core's answer to the state at the entry differs, as far as the record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Something changed while the kernel searched, and to the state at the exit
    /// the core answers as the kernel did.
    Exit,
    /// Something changed, and the core answers as the kernel did if some CPUs are
    /// taken from the entry and some from the exit.
    Mixture,
    /// Something changed, and no state between the two gives the kernel's answer:
    /// a CPU changed more than once, or a rule is missing.
    Race,
    /// The wakee was on its way between two CPUs (`wake_cpu` is not its CPU).
    Moving,
    /// A task group stands between a task and the root: its share of the load is
    /// computed once a tick, on its way through all groups.
    TaskGroup,
    /// None of these: a rule that is missing or wrong.
    Rule,
}

impl Cause {
    /// All, in the order in which they are looked for.
    pub const ALL: [Cause; 6] = [
        Cause::Exit,
        Cause::Mixture,
        Cause::Race,
        Cause::Moving,
        Cause::TaskGroup,
        Cause::Rule,
    ];

    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Exit => "race_exit",
            Cause::Mixture => "race_mixture",
            Cause::Race => "race",
            Cause::Moving => "moving",
            Cause::TaskGroup => "task_group",
            Cause::Rule => "rule",
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Cause::Exit => {
                "CPUs changed while the kernel searched: the core decides alike from the state at the exit"
            }
            Cause::Mixture => {
                "CPUs changed meanwhile: the core decides alike from some CPUs at the entry, others at the exit"
            }
            Cause::Race => {
                "CPUs changed meanwhile: the core decides alike from no state between entry and exit"
            }
            Cause::Moving => "the wakee was being moved between CPUs",
            Cause::TaskGroup => {
                "a task is in a task group, whose share of the load is not modelled"
            }
            Cause::Rule => "a rule is missing or wrong",
        }
    }
}

/// Did anything but the time change under the recorder or the kernel's function? A task's queue
/// is copied with the task and again with its CPU, a moment later.
pub fn disturbed(wakeup: &Wakeup) -> bool {
    let copied_alike = |task: &TaskState, cpu: u32| {
        task.depth != 0
            || (wakeup.cpus.get(cpu as usize)).is_none_or(|cpu| {
                task.queue_load_avg == u64::from(cpu.load_avg)
                    && task.queue_last_update == cpu.last_update_time
            })
    };
    wakeup.changed != 0
        || (wakeup.flags ^ wakeup.exit_flags) & flag::OVERUTILIZED != 0
        || !copied_alike(&wakeup.wakee, wakeup.task_cpu)
        || !copied_alike(&wakeup.waker, wakeup.this_cpu)
}

/// What became of a wakeup.
#[derive(Debug, Clone, Copy)]
pub struct Judgement {
    /// The core's answer.
    pub answer: Answer,
    /// The CPU that the core chose, before an affinity that changed meanwhile corrects it.
    pub cpu: u32,
    /// Why it differs from the kernel's; `None`: it does not.
    pub cause: Option<Cause>,
}

/// What differs between a kernel and the base that it is held against, which is the last that is not
/// newer.
pub fn between_bases(kernel: KernelVersion, params: &mut Params) {
    match (kernel.major, kernel.minor) {
        // Read in 6.14.11 and 6.17.8, which place as 6.18.15 does: cpu_util() and
        // update_sg_wakeup_stats() lack what 6.12.118 has as fixes.
        (6, 13..=17) => {
            params.util_boost = rule::BOOST_QUEUE;
            params.idlest_allowed_only = 0;
        }
        // Read in 6.19.11: 6.18.15 but for update_sg_wakeup_stats().
        (6, 19..) => params.idlest_allowed_only = 1,
        // Read in 7.1.13: choose_sched_idle_rq(), select_idle_cpu(), group_is_overloaded() are those
        // of 7.2, the rules for unlike CPUs with siblings are not there yet.
        (7, 1) => {
            params.sched_idle = rule::SCHED_IDLE_NORMAL;
            params.empty_scan_tells_nothing = 1;
            params.idlest_eas_spares = 1;
        }
        _ => {}
    }
}

/// Decides recorded wakeups again, one after the other.
pub struct Judge {
    rules: Rules,
    flags: DomainFlags,
    params: Params,
    energy_model: Option<String>,
    perf: Vec<PerfDomain>,
    core: Option<Core>,
    domains: Vec<Vec<DomainState>>,
}

impl Judge {
    /// A judge for the recording with this header.
    ///
    /// # Errors
    /// If the header lacks what the translation needs.
    pub fn new(header: &Header, scheduler: &Scheduler) -> Result<Self, DecisionsNotVerified> {
        let kernel = header
            .kernel_version()
            .ok_or_else(|| DecisionsNotVerified::Kernel {
                found: header.kernel.clone(),
            })?;
        let hz = header
            .hz
            .filter(|hz| *hz > 0)
            .ok_or(DecisionsNotVerified::Tick)?;
        Ok(Judge {
            rules: Rules {
                kernel,
                tick: 1_000_000_000 / u64::from(hz),
            },
            flags: DomainFlags::of(header, kernel),
            params: scheduler.params,
            energy_model: header.facts.get("energy_model").cloned(),
            perf: Vec::new(),
            core: None,
            domains: Vec::new(),
        })
    }

    /// Takes over the domains of a wakeup that has them.
    ///
    /// # Errors
    /// If they cannot be built.
    pub fn prepare(&mut self, wakeup: &Wakeup) -> Result<(), BadRecordedMachine> {
        if wakeup.domains.is_empty() {
            let (found, expected) = (wakeup.cpus.len(), self.domains.len());
            return match self.core {
                Some(_) if found != expected => Err(BadRecordedMachine::Cpus { found, expected }),
                _ => Ok(()),
            };
        }
        match &mut self.core {
            Some(core) if same_structure(&self.domains, &wakeup.domains) => {
                machine::update_groups(core, wakeup);
            }
            _ => {
                if let Some(json) = &self.energy_model {
                    let capacity =
                        |cpu: usize| wakeup.cpus.get(cpu).map_or(0, |c| c.capacity_orig.into());
                    self.perf = machine::energy_model(json, capacity)?;
                }
                let mut core = machine::build(&self.flags, wakeup, &self.params)?;
                machine::check_energy_model(&mut core, &self.perf)?;
                self.core = Some(core);
                self.domains.clone_from(&wakeup.domains);
            }
        }
        Ok(())
    }

    /// The machine is known.
    pub fn ready(&self) -> bool {
        self.core.is_some()
    }

    /// Decides.
    ///
    /// # Panics
    /// If the machine is not known yet.
    pub fn judge(&mut self, wakeup: &Wakeup) -> Judgement {
        let (answer, cpu) = self.choice(wakeup);
        let mut judgement = Judgement {
            answer,
            cpu,
            cause: None,
        };
        if judgement.cpu != wakeup.answer {
            judgement.cause = Some(self.cause(wakeup));
        }
        judgement
    }

    /// Why the core's answer is not the kernel's.
    fn cause(&mut self, wakeup: &Wakeup) -> Cause {
        let disturbed = disturbed(wakeup);
        let later = disturbed || wakeup.exit_ticks != 0;
        if later && self.decides(&moments::exit(wakeup)) {
            Cause::Exit
        } else if later && moments::between(wakeup).any(|moment| self.decides(&moment)) {
            Cause::Mixture
        } else if disturbed {
            Cause::Race
        } else if wakeup.task_cpu != wakeup.prev_cpu {
            Cause::Moving
        } else if wakeup.wakee.depth != 0 || wakeup.waker.depth != 0 {
            Cause::TaskGroup
        } else {
            Cause::Rule
        }
    }

    /// Does the core decide as the kernel did?
    fn decides(&mut self, wakeup: &Wakeup) -> bool {
        self.choice(wakeup).1 == wakeup.answer
    }

    /// The core's answer, and the CPU that it chose before an affinity that changed
    /// meanwhile corrects it: the kernel's function returns before this correction.
    fn choice(&mut self, wakeup: &Wakeup) -> (Answer, u32) {
        let answer = self.decide(wakeup, None);
        if STEPS[answer.step as usize].0 != "fallback" {
            return (answer, answer.cpu);
        }
        let mut notes = Vec::with_capacity(NOTES);
        self.decide(wakeup, Some(&mut notes));
        (answer, before_fallback(&notes).unwrap_or(answer.cpu))
    }

    /// Decides, and keeps what was found of each candidate.
    ///
    /// # Panics
    /// If the machine is not known yet.
    pub fn explain(&mut self, record: u64, wakeup: &Wakeup) -> Explanation {
        let judgement = self.judge(wakeup);
        let mut notes = Vec::with_capacity(NOTES);
        self.decide(wakeup, Some(&mut notes));
        Explanation {
            record,
            wakeup: wakeup.clone(),
            judgement,
            notes,
            wakee: self.rules.wakee(wakeup),
            waker: self.rules.waker(wakeup),
        }
    }

    fn decide(&mut self, wakeup: &Wakeup, notes: Option<&mut Vec<Note>>) -> Answer {
        let core = self
            .core
            .as_mut()
            .expect("a wakeup with domains came before");
        view::fill(core, wakeup);
        let energy = wakeup.flags & flag::ENERGY != 0;
        if energy == core.perf.is_empty() {
            let had = core.set_perf(std::mem::take(&mut self.perf));
            self.perf = had.expect("checked with the core");
        }
        let (mut wakee, mut waker) = (self.rules.wakee(wakeup), self.rules.waker(wakeup));
        let question = alight_policy::Wakeup {
            task: &mut wakee,
            allowed: &machine::mask(wakeup.allowed),
            waker: Waker {
                cpu: wakeup.this_cpu,
                task: &mut waker,
                sync: view::sync(wakeup),
            },
            kind: view::kind(wakeup),
            flags: self.rules.wake_flags(wakeup),
            now: self.rules.time(wakeup.jiffies),
        };
        match notes {
            Some(notes) => core.explain(question, notes),
            None => core.select(question),
        }
    }
}

/// The CPU taken before the last one.
fn before_fallback(notes: &[Note]) -> Option<u32> {
    let taken = |note: &&Note| note.verdict == 0;
    notes.iter().rev().filter(taken).nth(1).map(|note| note.cpu)
}

/// Do two recordings of the domains differ in the groups' capacities only?
fn same_structure(a: &[Vec<DomainState>], b: &[Vec<DomainState>]) -> bool {
    let fixed = |d: &DomainState| {
        (
            d.span,
            d.group_span,
            d.flags,
            d.imbalance_pct,
            d.imb_numa_nr,
        )
    };
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| fixed(a) == fixed(b)))
}
