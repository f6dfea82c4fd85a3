// SPDX-License-Identifier: GPL-2.0-only
//! From what the user named to what a simulation takes. What is odd about it goes to standard error.

use alight_behaviour::replayed;
use alight_compare::late::too_late;
use alight_machine::Error::Unknown;
use alight_machine::{DataSheet, Governor, Machine, Trust};
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;
use alight_replay::{ENDING, Line};
use alight_sim::{Cgroup, Change, Scenario, Sysctl};
use alight_workload::{Mode, Site, Workload};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::remark;

/// What all verbs that simulate load.
pub struct Input {
    /// Where.
    pub machine: Machine,
    /// The machine's file, as one text.
    pub machine_text: String,
    /// How far its figures can be trusted.
    pub trust: Trust,
    /// What runs.
    pub workloads: Vec<Workload>,
    /// What is done to the machine meanwhile.
    pub changes: Vec<Change>,
    /// Task groups that were described.
    pub groups: Vec<Cgroup>,
    /// Sysctls, in the order in which they are written.
    pub sysctls: Vec<Sysctl>,
}

impl Input {
    /// Loads the machine and the workloads.
    ///
    /// # Errors
    /// Whatever is wrong with either.
    pub fn load(args: &RunArgs) -> Result<Self, Failure> {
        let sheet = load_sheet(&machine_name(args)?)?;
        let (trust, machine) = (sheet.trust(), sheet.machine);
        let workloads = load_workloads(&args.workloads, &machine)?;
        if let Some(governor) = args.governor {
            check_governor(governor, &machine)?;
        }
        Ok(Input {
            workloads,
            changes: changes(args, &machine)?,
            machine,
            machine_text: sheet.text,
            trust,
            groups: args
                .groups
                .iter()
                .map(|option| option.group.clone())
                .collect(),
            sysctls: (args.sysctls.iter()).map(|option| option.sysctl).collect(),
        })
    }

    /// Tells of changes that came too late for a run that ended at `end_ns`.
    pub fn remark_late(&self, end_ns: u64) {
        for sentence in too_late(&self.changes, end_ns) {
            remark(&sentence);
        }
    }

    /// One run of `scheduler`.
    pub fn scenario<'a>(&'a self, args: &RunArgs, scheduler: &'a Scheduler) -> Scenario<'a> {
        args.apply(Scenario {
            groups: &self.groups,
            sysctls: &self.sysctls,
            changes: &self.changes,
            ..Scenario::new(&self.machine, &self.workloads, scheduler)
        })
    }
}

/// What is done to the machine; tells of what does nothing.
///
/// # Errors
/// What cannot be done, with the option that asks for it.
fn changes(args: &RunArgs, machine: &Machine) -> Result<Vec<Change>, Failure> {
    let mut all = vec![];
    for (name, option) in args.changes() {
        alight_sim::check_changes(&option.changes, machine, args.duration)
            .map_err(|error| Failure::BadInput(format!("{name} '{}': {error}", option.text)))?;
        for sentence in alight_sim::without_effect(&option.changes, machine) {
            remark(&format!("{name} '{}': {sentence}", option.text));
        }
        all.extend_from_slice(&option.changes);
    }
    Ok(all)
}

/// Refuses a governor that cannot be, and tells which CPUs cannot follow it.
fn check_governor(governor: Governor, machine: &Machine) -> Result<(), Failure> {
    alight_sim::check_governor(governor, machine)
        .map_err(|error| Failure::BadInput(format!("--governor '{governor}': {error}")))?;
    for (cpus, khz) in alight_sim::clamped_by_range(governor, machine) {
        remark(&format!(
            "CPUs {cpus} cannot run at the speed of {governor}; they run at {khz} kHz"
        ));
    }
    Ok(())
}

/// What `-m` says, or else the machine of the first workload that is a recording: as its options
/// say, or the one that it holds.
///
/// # Errors
/// Neither is there.
fn machine_name(args: &RunArgs) -> Result<String, Failure> {
    let recorded = || {
        let mut lines = args.workloads.iter().filter_map(|text| Line::parse(text));
        let line = lines.find_map(Result::ok)?;
        let holds = line.file.to_str().map(str::to_owned);
        line.recorded_on.or(holds)
    };
    let name = args.machine.clone().or_else(recorded);
    name.ok_or_else(|| {
        Failure::bad_input(
            "no machine: add -m with a name of `alight machine list`, a file ending in .toml or \
             .alight, or `host`; only a recording (-w FILE.alight) holds its machine itself",
        )
    })
}

/// The machine of this name, and how far its figures can be trusted.
///
/// # Errors
/// Whatever is wrong with it.
pub fn load_machine(name: &str) -> Result<(Machine, Trust), Failure> {
    let sheet = load_sheet(name)?;
    let trust = sheet.trust();
    Ok((sheet.machine, trust))
}

fn load_sheet(name: &str) -> Result<DataSheet, Failure> {
    let sheet = match name.ends_with(ENDING) {
        true => replayed::machine_in(name.as_ref())
            .map_err(|error| Failure::BadInput(format!("{name}: {error}")))?,
        false => alight_machine::load(name).map_err(|error| match error {
            // Of recordings that crate knows nothing.
            error @ Unknown { .. } => {
                Failure::BadInput(format!("{error}; a recording's ends in `{ENDING}`"))
            }
            error => error.into(),
        })?,
    };
    for warning in &sheet.warnings {
        remark(&warning.to_string());
    }
    for note in &sheet.notes {
        remark(&format!("machine {name}: {note}"));
    }
    Ok(sheet)
}

/// The workloads of all `-w`; where there are several, an error says of which it is.
fn load_workloads(texts: &[String], machine: &Machine) -> Result<Vec<Workload>, Failure> {
    let site = alight_sim::site(machine);
    let one = |(index, text): (usize, &String)| {
        load_workload(text, &site, machine).map_err(|failure| match (texts.len(), failure) {
            (2.., Failure::BadInput(error)) => Failure::BadInput(format!(
                "-w {} of {}, '{}': {error}",
                index + 1,
                texts.len(),
                alight_text::cell(text)
            )),
            (_, failure) => failure,
        })
    };
    texts.iter().enumerate().map(one).collect()
}

fn load_workload(text: &str, site: &Site, machine: &Machine) -> Result<Workload, Failure> {
    if let Some(line) = Line::parse(text) {
        let line = line.map_err(Failure::bad_input)?;
        return replayed::load(&line, machine)
            .map_err(|error| Failure::BadInput(format!("{}: {error}", line.file.display())));
    }
    let loaded = Workload::load_on(text, Mode::default(), site).map_err(Failure::bad_input)?;
    for diagnostic in &loaded.diagnostics {
        remark(&format!(
            "{text}:{}:{}: {}: {}",
            diagnostic.line,
            diagnostic.column,
            diagnostic.severity.as_str(),
            diagnostic.message
        ));
    }
    Ok(loaded.workload)
}

/// The scheduler of this name; without a base of its own it is over the newest.
///
/// # Errors
/// Unknown names, with the nearest valid ones.
pub fn scheduler(name: &str) -> Result<Scheduler, Failure> {
    scheduler_over(None, Some(name))
}

/// The scheduler of this name over what `--base` states, if it does; without a name that alone.
///
/// # Errors
/// As [`scheduler`], and another base than the one that is stated.
pub fn scheduler_over(base: Option<&str>, name: Option<&str>) -> Result<Scheduler, Failure> {
    let base = base.map(scheduler).transpose()?;
    let onto = base.as_ref().map_or(Onto::Newest, Onto::Stated);
    Scheduler::choose(name, onto).map_err(Failure::bad_input)
}
