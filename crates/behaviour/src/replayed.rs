// SPDX-License-Identifier: GPL-2.0-only
//! Recordings of a workload, held against replays of them.
//!
//! Two checks say whether a replay can be trusted:
//!
//! - the *self-check*: the replay of a recording, on the recorded machine under the recorded kernel's
//!   rules, behaves as the recording. A replay with false causes can pass it;
//! - the *cross-check*: the replay of a recording under another scheduler behaves as a recording that
//!   was made under that scheduler.

mod ask;
mod confined;
pub(crate) mod groups;
pub mod model;
mod report;
mod verdict;

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_machine::{DataSheet, HRTICK_SINCE, Machine};
use alight_policy::Scheduler;
use alight_recording::workload::{
    Event, Item, Left, MACHINE, NotAWorkload, SCHED_EXT, VERDICT, What, WorkloadReader,
};
use alight_recording::{Header, Reader};
use alight_replay::{Channels, NotReplayable, Options, Replay};
use alight_sim::Scenario;
use alight_trace::{Event as Traced, PrevState, Sink, TaskRef};

use crate::measures::{Gathered, Measurements, Window};
use crate::quantity::{Agreement, Quantity};
use crate::{NotComparable, SEEDS, base_of};

pub use ask::load;
pub use confined::BadAffinity;
pub use groups::GroupCheck;
pub use report::{json, page, text};
pub use verdict::{Standing, Verdict};

use groups::{Group, Side};

/// Why a recording of a workload cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum NotVerified {
    /// It cannot be replayed.
    #[error(transparent)]
    Replay(#[from] NotReplayable),
    /// It is not a recording.
    #[error(transparent)]
    Recording(#[from] alight_recording::Error),
    /// It is not one of a workload.
    #[error(transparent)]
    Workload(#[from] NotAWorkload),
    /// No machine is known.
    #[error("does not hold the machine that was recorded: name it with -m")]
    NoMachine,
    /// The machine that it holds cannot be used.
    #[error("the machine of the recording: {0}")]
    Machine(#[from] alight_machine::Error),
    /// No base has the rules of its kernel, or the replay cannot be simulated.
    #[error(transparent)]
    NotComparable(#[from] NotComparable),
    /// Another scheduler than the kernel's own had its tasks.
    #[error(
        "was made under the sched_ext scheduler '{0}', whose rules no base has: name a scheduler that \
         has them with --scheduler"
    )]
    SchedExt(String),
    /// Nothing was measured.
    #[error("holds no event of the workload in its longest window without losses")]
    Nothing,
}

/// A recording of a workload: its replay, and what the kernel did.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Where it comes from.
    pub header: Header,
    /// The machine by which it is replayed.
    pub machine: Machine,
    /// The workload.
    pub replay: Replay,
    groups: Vec<Group>,
    kernel: Side,
    window: Window,
}

impl Taken {
    /// Reads a recording. `machine` is the one that was recorded; `None`: the recording holds it.
    ///
    /// # Errors
    /// It cannot be read or replayed.
    pub fn read(
        path: &Path,
        machine: Option<&Machine>,
        options: &Options,
    ) -> Result<Self, NotVerified> {
        let mut reader = open(path)?;
        let header = reader.header().clone();
        let machine = match machine {
            Some(machine) => machine.clone(),
            None => machine_of(&header)?.ok_or(NotVerified::NoMachine)?,
        };
        let channels = Channels::find(&mut open(path)?)?;
        let replay = alight_replay::load_with(&mut reader, &machine, options, &channels)?;
        let mut gathered = Gathered::default();
        gather(&mut open(path)?, replay.window, &mut gathered)?;
        gathered.sort();
        let groups = Group::of(&replay);
        let members = groups::members(&replay).map(|task| task.pid).collect();
        let (from, to) = gathered.span(&members).ok_or(NotVerified::Nothing)?;
        let window = Window {
            from,
            to,
            tasks: replay.health.members as usize,
        };
        let kernel = Side::measure(&gathered, window, &machine, &members, &groups, |group| {
            group.pids.clone()
        });
        Ok(Taken {
            header,
            machine,
            replay,
            groups,
            kernel,
            window,
        })
    }

    /// The base whose rules its kernel has.
    ///
    /// # Errors
    /// There is none.
    pub fn own_base(&self) -> Result<Scheduler, NotVerified> {
        if let Some(name) = self.header.facts.get(SCHED_EXT) {
            return Err(NotVerified::SchedExt(name.clone()));
        }
        let base = base_of(self.header.kernel_version(), &self.header.kernel)?;
        Ok(Scheduler::parse(base).expect("the bases are those of the core"))
    }

    /// Whether it was made under other rules than another one.
    pub fn differs_from(&self, other: &Self) -> bool {
        let rules = |taken: &Self| {
            let ext = taken.header.facts.get(SCHED_EXT);
            (taken.header.kernel.clone(), ext.cloned())
        };
        rules(self) != rules(other)
    }
}

/// The machine that a recording holds, with where its figures come from.
///
/// # Errors
/// The file is not a recording of a workload, or holds no machine that can be used.
pub fn machine_in(path: &Path) -> Result<DataSheet, NotVerified> {
    let reader = open(path)?;
    sheet(reader.header())?.ok_or(NotVerified::NoMachine)
}

fn sheet(header: &Header) -> Result<Option<DataSheet>, alight_machine::Error> {
    let Some(text) = header.facts.get(MACHINE) else {
        return Ok(None);
    };
    let name = "the recording";
    let sheet = alight_machine::parse(name, text)?.resolve()?;
    let says = sheet.figures.iter().any(|figure| figure.path == "hrtick");
    Ok(Some(match says || !hrtick_under_newer(header) {
        true => sheet,
        false => alight_machine::parse_under(name, text, HRTICK_ON)?.resolve()?,
    }))
}

/// What the machine files of older recordings lack.
const HRTICK_ON: &str = r#"
hrtick = { value = true, source = "default" }
[sources.default]
text = "default of kernels from 7.1 on for this architecture"
confidence = "derived"
"#;

/// Whether 7.1 would end slices by timers on a machine that an older kernel recorded. That the older
/// one does not is its own default and says nothing of the machine: 7.1 turns the feature on where
/// CONFIG_HRTIMER_REARM_DEFERRED is set, which x86 selects (features.h, arch/x86/Kconfig). Machines
/// that are captured now have that in their files.
fn hrtick_under_newer(header: &Header) -> bool {
    let older = header
        .kernel_version()
        .is_some_and(|it| (it.major, it.minor) < HRTICK_SINCE);
    older && header.arch == "x86_64" && !model::is_of_model(header)
}

fn machine_of(header: &Header) -> Result<Option<Machine>, alight_machine::Error> {
    Ok(sheet(header)?.map(|sheet| sheet.machine))
}

/// What an earlier check wrote into a recording.
///
/// # Errors
/// The recording is not whole.
pub fn written(path: &Path) -> Result<Option<Verdict>, NotVerified> {
    let mut reader = Reader::open(path)?;
    while reader.next_record()?.is_some() {}
    let verdict = reader.end().and_then(|end| end.facts.get(VERDICT));
    Ok(verdict.and_then(|text| serde_json::from_str(text).ok()))
}

/// How a replay under a scheduler compares with what a kernel did.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The scheduler that was simulated.
    pub scheduler: String,
    /// The recording that it is held against was made under other rules than the replayed one.
    pub other_rules: bool,
    /// The figures of all tasks of the workload.
    pub quantities: Vec<Quantity>,
    /// Those of tasks of one name.
    pub groups: Vec<GroupCheck>,
}

impl Check {
    /// Number of quantities with this verdict, those of groups too.
    pub fn count(&self, verdict: Agreement) -> usize {
        self.all().filter(|(_, q)| q.verdict == verdict).count()
    }

    /// All quantities, with the group that they are of.
    pub fn all(&self) -> impl Iterator<Item = (Option<&str>, &Quantity)> {
        let own = self.quantities.iter().map(|quantity| (None, quantity));
        own.chain(self.groups.iter().flat_map(|group| {
            let name = Some(group.name.as_str());
            group
                .quantities
                .iter()
                .map(move |quantity| (name, quantity))
        }))
    }
}

/// Replays `from` under `scheduler` and holds it against what the kernel of `to` did. With the same
/// recording twice this is the self-check.
///
/// # Errors
/// The replay cannot be simulated.
pub fn check(
    from: &Taken,
    to: &Taken,
    scheduler: &Scheduler,
    cancel: &AtomicBool,
) -> Result<Check, NotVerified> {
    let mut model = Vec::new();
    for seed in SEEDS {
        model.push(simulate(from, scheduler, seed, cancel)?);
    }
    let figures: Vec<&Measurements> = model.iter().map(|side| &side.figures).collect();
    let mut quantities = crate::quantities(&[&to.kernel.figures], &figures);
    quantities.extend(groups::judge_clocks(&to.kernel, &model));
    Ok(Check {
        scheduler: scheduler.name.clone(),
        other_rules: to.differs_from(from),
        quantities,
        groups: groups::judge(&from.groups, &to.groups, &to.kernel, &model),
    })
}

fn simulate(
    from: &Taken,
    scheduler: &Scheduler,
    seed: u64,
    cancel: &AtomicBool,
) -> Result<Side, NotVerified> {
    let scenario = Scenario {
        seed,
        ..Scenario::new(
            &from.machine,
            std::slice::from_ref(&from.replay.workload),
            scheduler,
        )
    };
    let mut gathered = Gathered::default();
    let outcome = alight_sim::run(&scenario, Some(&mut gathered), cancel)
        .map_err(NotComparable::Simulation)?;
    let first = outcome
        .figures
        .first()
        .map_or(0, |figures| figures.first_pid);
    let pid = |task: u32| first + task;
    let members: BTreeSet<u32> = (0..)
        .zip(&from.replay.tasks)
        .filter(|(_, task)| task.member)
        .map(|(number, _)| pid(number))
        .collect();
    gathered.sort();
    let (begin, end) = gathered.span(&members).ok_or(NotVerified::Nothing)?;
    let window = Window {
        from: begin,
        to: end,
        tasks: from.window.tasks,
    };
    let of = |group: &Group| group.tasks.iter().map(|&task| pid(task)).collect();
    Ok(Side::measure(
        &gathered,
        window,
        &from.machine,
        &members,
        &from.groups,
        of,
    ))
}

fn open(path: &Path) -> Result<WorkloadReader<std::io::BufReader<std::fs::File>>, NotVerified> {
    Ok(WorkloadReader::new(Reader::open(path)?)?)
}

/// Gathers the events of a window.
fn gather<R: BufRead>(
    reader: &mut WorkloadReader<R>,
    (from, to): (u64, u64),
    into: &mut Gathered,
) -> Result<(), NotVerified> {
    while let Some(item) = reader.next_item()? {
        let Item::Event(event) = item else { continue };
        if (from..=to).contains(&event.time)
            && let Some(traced) = traced(&event)
        {
            // It only remembers.
            let _ = into.event(event.time, event.cpu.into(), traced);
        }
    }
    Ok(())
}

/// The event as the simulator's traces have it.
fn traced(event: &Event) -> Option<Traced<'static>> {
    let task = |pid, prio: u16| TaskRef {
        pid,
        prio: prio.into(),
    };
    Some(match event.what {
        What::Switch {
            prev,
            prev_prio,
            left,
            next,
            next_prio,
        } => Traced::Switch {
            prev: task(prev, prev_prio),
            prev_state: match left {
                Left::Runnable => PrevState::Running,
                Left::Preempted => PrevState::Preempted,
                Left::Asleep => PrevState::Sleeping,
                Left::Blocked => PrevState::Uninterruptible,
                Left::Dead => PrevState::Dead,
            },
            next: task(next, next_prio),
        },
        What::Waking {
            pid,
            prio,
            prev_cpu,
            ..
        } => Traced::Waking {
            task: task(pid, prio),
            target_cpu: prev_cpu.into(),
        },
        What::Wakeup {
            pid,
            prio,
            target_cpu,
        } => Traced::Wakeup {
            task: task(pid, prio),
            target_cpu: target_cpu.into(),
        },
        What::WakeupNew {
            pid,
            prio,
            target_cpu,
        } => Traced::WakeupNew {
            task: task(pid, prio),
            target_cpu: target_cpu.into(),
        },
        What::Migrate {
            pid,
            prio,
            from_cpu,
            to_cpu,
        } => Traced::Migrate {
            task: task(pid, prio),
            orig_cpu: from_cpu.into(),
            dest_cpu: to_cpu.into(),
        },
        What::Frequency { khz, .. } => Traced::Frequency { khz },
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
