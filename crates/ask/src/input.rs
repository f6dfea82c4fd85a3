// SPDX-License-Identifier: GPL-2.0-only
//! From what the user named to what a simulation takes.

use std::collections::BTreeMap;

use alight_behaviour::replayed;
use alight_compare::late::too_late;
use alight_machine::Error::Unknown;
use alight_machine::{DataSheet, Draft, Governor, Machine, Trust};
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;
use alight_replay::{ENDING, Line};
use alight_sim::{Cgroup, Change, Scenario, Sysctl};
use alight_workload::{Mode, Site, Workload};

use crate::{BadInput, Options, Tell};

/// Machine files and rt-app files that are not on disk: their text, by the name under which options
/// and reports know them.
pub type Texts = BTreeMap<String, String>;

/// What all verbs that simulate load.
pub struct Input {
    /// As the user asked.
    pub options: Options,
    /// Where.
    pub machine: Machine,
    /// The machine's file, as one text.
    pub machine_text: String,
    /// The rt-app files of the workloads, by their names.
    pub texts: Texts,
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
    /// Loads the machine and the workloads. `tell` hears what is odd about them.
    ///
    /// # Errors
    /// Whatever is wrong with either.
    pub fn load(options: Options, tell: &Tell<'_>) -> Result<Self, BadInput> {
        Self::load_with(options, &Texts::new(), tell)
    }

    /// As [`Input::load`], where the options may name texts in place of files.
    ///
    /// # Errors
    /// As [`Input::load`].
    pub fn load_with(options: Options, texts: &Texts, tell: &Tell<'_>) -> Result<Self, BadInput> {
        let sheet = load_sheet(&machine_name(&options)?, texts, tell)?;
        let (trust, machine) = (sheet.trust(), sheet.machine);
        let texts = &rtapp_files(&options.workloads, texts);
        let workloads = load_workloads(&options.workloads, &machine, texts, tell)?;
        if let Some(governor) = options.governor {
            check_governor(governor, &machine, tell)?;
        }
        Ok(Input {
            workloads,
            changes: changes(&options, &machine, tell)?,
            machine,
            machine_text: sheet.text,
            texts: texts.clone(),
            trust,
            groups: (options.groups.iter())
                .map(|option| option.group.clone())
                .collect(),
            sysctls: (options.sysctls.iter())
                .map(|option| option.sysctl)
                .collect(),
            options,
        })
    }

    /// Tells of changes that came too late for a run that ended at `end_ns`.
    pub fn tell_late(&self, end_ns: u64, tell: &Tell<'_>) {
        for sentence in too_late(&self.changes, end_ns) {
            tell(&sentence);
        }
    }

    /// One run of `scheduler`.
    pub fn scenario<'a>(&'a self, scheduler: &'a Scheduler) -> Scenario<'a> {
        self.options.apply(Scenario {
            groups: &self.groups,
            sysctls: &self.sysctls,
            changes: &self.changes,
            ..Scenario::new(&self.machine, &self.workloads, scheduler)
        })
    }

    /// The command line of `verb` over `schedulers` that gives the same result again; `options` are
    /// those of the verb alone.
    pub fn command(&self, verb: &str, schedulers: &[&str], options: &[&str]) -> String {
        self.options.command(verb, schedulers, options)
    }
}

/// What is done to the machine; tells of what does nothing.
///
/// # Errors
/// What cannot be done, with the option that asks for it.
fn changes(options: &Options, machine: &Machine, tell: &Tell<'_>) -> Result<Vec<Change>, BadInput> {
    let mut all = vec![];
    for (name, option) in options.changes() {
        alight_sim::check_changes(&option.changes, machine, options.duration)
            .map_err(|error| BadInput(format!("{name} '{}': {error}", option.text)))?;
        for sentence in alight_sim::without_effect(&option.changes, machine) {
            tell(&format!("{name} '{}': {sentence}", option.text));
        }
        all.extend_from_slice(&option.changes);
    }
    Ok(all)
}

/// Refuses a governor that cannot be, and tells which CPUs cannot follow it.
fn check_governor(governor: Governor, machine: &Machine, tell: &Tell<'_>) -> Result<(), BadInput> {
    alight_sim::check_governor(governor, machine)
        .map_err(|error| BadInput(format!("--governor '{governor}': {error}")))?;
    for (cpus, khz) in alight_sim::clamped_by_range(governor, machine) {
        tell(&format!(
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
fn machine_name(options: &Options) -> Result<String, BadInput> {
    let recorded = || {
        let mut lines = options
            .workloads
            .iter()
            .filter_map(|text| Line::parse(text));
        let line = lines.find_map(Result::ok)?;
        let holds = line.file.to_str().map(str::to_owned);
        line.recorded_on.or(holds)
    };
    let name = options.machine.clone().or_else(recorded);
    name.ok_or_else(|| {
        BadInput::of(
            "no machine: add -m with a name of `alight machine list`, a file ending in .toml or \
             .alight, or `host`; only a recording (-w FILE.alight) holds its machine itself",
        )
    })
}

/// The machine of this name, and how far its figures can be trusted. `tell` hears what is odd.
///
/// # Errors
/// Whatever is wrong with it.
pub fn load_machine(name: &str, tell: &Tell<'_>) -> Result<(Machine, Trust), BadInput> {
    let sheet = load_sheet(name, &Texts::new(), tell)?;
    let trust = sheet.trust();
    Ok((sheet.machine, trust))
}

/// The machine of this name with the sources of its figures; `texts` hold what is not on disk. `tell`
/// hears what is odd.
///
/// # Errors
/// Whatever is wrong with it.
pub fn load_sheet(name: &str, texts: &Texts, tell: &Tell<'_>) -> Result<DataSheet, BadInput> {
    let sheet = match (texts.get(name), name.ends_with(ENDING)) {
        (Some(text), _) => alight_machine::parse(name, text)
            .and_then(Draft::resolve)
            .map_err(BadInput::of)?,
        (None, true) => replayed::machine_in(name.as_ref())
            .map_err(|error| BadInput(format!("{name}: {error}")))?,
        (None, false) => alight_machine::load(name).map_err(|error| match error {
            // Of recordings that crate knows nothing.
            error @ Unknown { .. } => {
                BadInput(format!("{error}; a recording's ends in `{ENDING}`"))
            }
            error => BadInput::of(error),
        })?,
    };
    for warning in &sheet.warnings {
        tell(&warning.to_string());
    }
    for note in &sheet.notes {
        tell(&format!("machine {name}: {note}"));
    }
    Ok(sheet)
}

/// The texts of those workloads that are rt-app files. A file that cannot be read, or is in another
/// encoding, is none here: its reader refuses it.
fn rtapp_files(named: &[String], texts: &Texts) -> Texts {
    let held = |name: &String| match texts.get(name) {
        Some(text) => Some((name.clone(), text.clone())),
        None if Workload::is_file(name) => {
            let text = std::fs::read_to_string(name.trim()).ok()?;
            let plain = alight_text::mark(text.as_bytes()).is_none();
            plain.then(|| (name.clone(), text))
        }
        None => None,
    };
    named.iter().filter_map(held).collect()
}

/// The workloads of all `-w`; where there are several, an error says of which it is.
fn load_workloads(
    named: &[String],
    machine: &Machine,
    texts: &Texts,
    tell: &Tell<'_>,
) -> Result<Vec<Workload>, BadInput> {
    let site = alight_sim::site(machine);
    let one = |(index, text): (usize, &String)| {
        load_workload(text, &site, machine, texts, tell).map_err(|error| match named.len() {
            2.. => BadInput(format!(
                "-w {} of {}, '{}': {error}",
                index + 1,
                named.len(),
                alight_text::cell(text)
            )),
            _ => error,
        })
    };
    named.iter().enumerate().map(one).collect()
}

fn load_workload(
    text: &str,
    site: &Site,
    machine: &Machine,
    texts: &Texts,
    tell: &Tell<'_>,
) -> Result<Workload, BadInput> {
    if let Some(line) = Line::parse(text) {
        let line = line.map_err(BadInput::of)?;
        return replayed::load(&line, machine)
            .map_err(|error| BadInput(format!("{}: {error}", line.file.display())));
    }
    let loaded = match texts.get(text) {
        Some(held) => Workload::from_rtapp(text.trim(), held, Mode::default()),
        None => Workload::load_on(text, Mode::default(), site),
    };
    let loaded = loaded.map_err(BadInput::of)?;
    for diagnostic in &loaded.diagnostics {
        tell(&format!(
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
pub fn scheduler(name: &str) -> Result<Scheduler, BadInput> {
    scheduler_over(None, Some(name))
}

/// The scheduler of this name over what `--base` states, if it does; without a name that alone.
///
/// # Errors
/// As [`scheduler`], and another base than the one that is stated.
pub fn scheduler_over(base: Option<&str>, name: Option<&str>) -> Result<Scheduler, BadInput> {
    let base = base.map(scheduler).transpose()?;
    let onto = base.as_ref().map_or(Onto::Newest, Onto::Stated);
    Scheduler::choose(name, onto).map_err(BadInput::of)
}

/// The schedulers of a comparison: the first is the base, and names without a base are over the first.
///
/// # Errors
/// As [`scheduler`], and fewer than two.
pub fn schedulers_to_compare<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Scheduler>, BadInput> {
    let schedulers = Scheduler::choose_all(names).map_err(BadInput::of)?;
    const NEEDS: &str = "a comparison needs two schedulers or more";
    match schedulers.as_slice() {
        [] => Err(BadInput(format!("{NEEDS}, found none"))),
        [one] => {
            let base = match one.parts() {
                (_, features) if features.is_empty() => String::new(),
                (base, _) => format!(", or its base by --base {}", base.name),
            };
            Err(BadInput(format!(
                "{NEEDS}, found {one}; name another{base}"
            )))
        }
        _ => Ok(schedulers),
    }
}

#[cfg(test)]
mod tests;
