// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a run: what each says, and how it is typed again.

use std::fmt::Display;
use std::str::FromStr;

use alight_machine::{Governor, IdleGovernor};
use alight_sim::Scenario;

use crate::cgroups::{self, GroupOption};
use crate::changes::{self, Changes};
use crate::sysctl::{self, SysctlOption};
use crate::{BadInput, duration};

/// What is simulated, but for the scheduler. Texts are as the user typed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The machine; `None`: the one that a recorded workload holds.
    pub machine: Option<String>,
    /// The workloads. All run at once.
    pub workloads: Vec<String>,
    /// Seed of the random streams.
    pub seed: u64,
    /// Simulated time after which a run ends, ns; `None`: with the workloads.
    pub duration: Option<u64>,
    /// cpufreq governor; `None`: the machine's.
    pub governor: Option<Governor>,
    /// cpuidle governor; `None`: the machine's, else the kernel's.
    pub idle_governor: Option<IdleGovernor>,
    /// CPUs that go offline and online.
    pub hotplug: Option<Changes>,
    /// Limits of frequencies.
    pub cap: Option<Changes>,
    /// Limits of frequencies, set by a cooling device.
    pub thermal: Option<Changes>,
    /// From when on mechanism and energy count.
    pub count_from: Option<Changes>,
    /// Task groups.
    pub groups: Vec<GroupOption>,
    /// Sysctls, in the order in which they are written.
    pub sysctls: Vec<SysctlOption>,
    /// `wakee_flips` of the shell that starts the workloads.
    pub wakee_flips: Option<u32>,
    /// Check the simulator's invariants after every event.
    pub check: bool,
}

impl Default for Options {
    /// Seed 1, and nothing else.
    fn default() -> Self {
        Options {
            machine: None,
            workloads: vec![],
            seed: 1,
            duration: None,
            governor: None,
            idle_governor: None,
            hotplug: None,
            cap: None,
            thermal: None,
            count_from: None,
            groups: vec![],
            sysctls: vec![],
            wakee_flips: None,
            check: false,
        }
    }
}

/// The names that [`Options::set`] knows.
pub const NAMES: [&str; 13] = [
    "machine",
    "workload",
    "seed",
    "duration",
    "governor",
    "idle-governor",
    "hotplug",
    "cap",
    "thermal",
    "count-from",
    "group",
    "sysctl",
    "wakee-flips",
];

impl Options {
    /// Sets the option of this long name of the command, such as `duration`, to what `text` says.
    /// `workload`, `group` and `sysctl` add to what was set before.
    ///
    /// # Errors
    /// Another name, and a text that the option refuses.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), BadInput> {
        let refused = |why: String| BadInput(format!("{name} '{text}': {why}"));
        match name {
            "machine" => self.machine = Some(text.to_owned()),
            "workload" => self.workloads.push(text.to_owned()),
            "seed" => self.seed = whole(text, u64::MAX).map_err(refused)?,
            "duration" => self.duration = Some(duration::parse_length(text).map_err(refused)?),
            "governor" => self.governor = Some(parsed(text).map_err(refused)?),
            "idle-governor" => self.idle_governor = Some(parsed(text).map_err(refused)?),
            "hotplug" => self.hotplug = Some(changes::hotplug(text).map_err(refused)?),
            "cap" => self.cap = Some(changes::cap(text).map_err(refused)?),
            "thermal" => self.thermal = Some(changes::thermal(text).map_err(refused)?),
            "count-from" => self.count_from = Some(changes::count_from(text).map_err(refused)?),
            "group" => self.groups.push(cgroups::group(text).map_err(refused)?),
            "sysctl" => self.sysctls.push(sysctl::parse(text).map_err(refused)?),
            "wakee-flips" => self.wakee_flips = Some(whole(text, u32::MAX).map_err(refused)?),
            _ => {
                let known = NAMES.join(", ");
                return Err(BadInput(format!("no option `{name}`; expected {known}")));
            }
        }
        Ok(())
    }

    /// The scenario as these options have it. What each says stands here, how it is typed again in
    /// [`Options::words`].
    pub(crate) fn apply<'a>(&self, scenario: Scenario<'a>) -> Scenario<'a> {
        Scenario {
            governor: self.governor,
            idle_governor: self.idle_governor,
            seed: self.seed,
            duration_ns: self.duration,
            wakee_flips: self.wakee_flips,
            check: self.check,
            ..scenario
        }
    }

    /// The options that give the same run again: all that decides it, nothing else.
    fn words(&self) -> Vec<String> {
        let mut words = vec![];
        let mut option = |name: &str, value: &str| {
            words.extend([name.to_owned(), value.to_owned()]);
        };
        if let Some(machine) = &self.machine {
            option("-m", machine);
        }
        for workload in &self.workloads {
            option("-w", workload);
        }
        option("--seed", &self.seed.to_string());
        if let Some(ns) = self.duration {
            option("--duration", &duration::typed(ns));
        }
        if let Some(governor) = self.governor {
            option("--governor", &governor.to_string());
        }
        if let Some(governor) = self.idle_governor {
            option("--idle-governor", governor.name());
        }
        for (name, changes) in self.changes() {
            option(name, &changes.text);
        }
        for group in &self.groups {
            option("--group", &group.text);
        }
        for sysctl in &self.sysctls {
            option("--sysctl", &sysctl.text);
        }
        if let Some(flips) = self.wakee_flips {
            option("--wakee-flips", &flips.to_string());
        }
        words
    }

    /// The command line of `verb` over `schedulers` that gives the same result again; `options` are
    /// those of the verb alone.
    pub fn command(&self, verb: &str, schedulers: &[&str], options: &[&str]) -> String {
        let set = self.words();
        let words = ["alight", verb].into_iter();
        let words = words.chain(set.iter().map(String::as_str));
        shell_words::join(words.chain(options.iter().chain(schedulers).copied()))
    }

    /// What is done to the machine, by option as it is typed.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&'static str, &Changes)> {
        let options = [
            ("--hotplug", &self.hotplug),
            ("--cap", &self.cap),
            ("--thermal", &self.thermal),
            ("--count-from", &self.count_from),
        ];
        options
            .into_iter()
            .filter_map(|(name, changes)| Some((name, changes.as_ref()?)))
    }
}

/// A whole number of 0 to `most`.
///
/// # Errors
/// Anything else, with what was expected.
pub fn whole<T: FromStr + Display>(text: &str, most: T) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number, 0 to {most}"))
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

#[cfg(test)]
mod tests;
