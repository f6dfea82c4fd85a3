// SPDX-License-Identifier: GPL-2.0-only
//! How much an answer hangs on what was fitted, on what the machine file states and nothing fits, and on who
//! started the workloads: the difference that a study predicts when each of the first two is a fifth
//! larger or smaller, and with less and more for the shell's `wakee_flips` than was measured.

use alight_compare::stats::Delta;
use alight_machine::{Draft, Machine};

use super::again::{Again, Prediction, Unanswered};
use crate::calibrate::{PARAMETERS, Parameter};

/// What is moved, in thousandths of what it is.
pub const MOVES: [u64; 2] = [800, 1200];

/// What the shell has for `wakee_flips`, instead of what was measured of one that runs a script: one that
/// wakes nobody, and one that has just logged in (the median of 24).
const SHELLS: [u32; MOVES.len()] = [0, 22];

/// What a machine file states, and that is taken as it is stated.
struct Stated {
    name: &'static str,
    meaning: &'static str,
    /// Does the machine have it?
    of: fn(&Machine) -> bool,
    scale: fn(&mut Machine, u64),
}

const STATED: [Stated; 3] = [
    Stated {
        name: "cpuidle latency",
        meaning: "the latency of idle states that cpuidle plans with",
        of: |_| true,
        scale: |machine, permille| {
            let types = machine.core_types.iter_mut();
            for state in types.flat_map(|core| &mut core.idle_states) {
                state.wakeup_ns = state.wakeup_ns * permille / 1000;
            }
        },
    },
    Stated {
        name: "memory",
        meaning: "the time for a line of another cache or of DRAM",
        of: |_| true,
        scale: |machine, permille| {
            let memory = &mut machine.memory;
            for time in [
                &mut memory.llc_line_ns,
                &mut memory.cross_llc_line_ns,
                &mut memory.cross_node_line_ns,
                &mut memory.dram_line_ns,
            ] {
                *time = (u64::from(*time) * permille / 1000) as u32;
            }
        },
    },
    Stated {
        name: "SMT",
        meaning: "the speed of a thread while another thread of its core executes, at most its speed alone",
        of: |machine| machine.core_types.iter().any(|core| core.smt_percent < 100),
        scale: |machine, permille| {
            for core in &mut machine.core_types {
                let moved = u64::from(core.smt_percent) * permille / 1000;
                core.smt_percent = moved.min(100) as u32;
            }
        },
    },
];

/// What is moved.
enum Lever {
    Fitted(&'static Parameter),
    Stated(&'static Stated),
    Shell,
}

impl Lever {
    fn all(machine: &Machine) -> impl Iterator<Item = Lever> {
        let fitted = PARAMETERS.iter().map(Lever::Fitted);
        let stated = STATED.iter().filter(|stated| (stated.of)(machine));
        fitted
            .chain(stated.map(Lever::Stated))
            .chain([Lever::Shell])
    }

    fn name(&self) -> &'static str {
        match self {
            Lever::Fitted(parameter) => parameter.name,
            Lever::Stated(stated) => stated.name,
            Lever::Shell => "wakee_flips",
        }
    }

    fn meaning(&self) -> &'static str {
        match self {
            Lever::Fitted(parameter) => parameter.meaning,
            Lever::Stated(stated) => stated.meaning,
            Lever::Shell => {
                "the value that the tasks inherit from the shell that starts the workloads"
            }
        }
    }

    /// What it is set to, if that is not a part of what it is.
    fn values(&self) -> Option<[u32; MOVES.len()]> {
        matches!(self, Lever::Shell).then_some(SHELLS)
    }

    /// The machine with it at `permille` of what it is.
    fn moved(&self, mut draft: Draft, permille: u64) -> Result<Machine, alight_machine::Error> {
        match self {
            Lever::Shell => Ok(draft.resolve()?.machine),
            Lever::Fitted(parameter) => {
                draft.scale_costs(|key| match parameter.keys.contains(&key) {
                    true => permille,
                    false => 1000,
                });
                Ok(draft.resolve()?.machine)
            }
            Lever::Stated(stated) => {
                let mut machine = draft.resolve()?.machine;
                (stated.scale)(&mut machine, permille);
                Ok(machine)
            }
        }
    }
}

/// One parameter, moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Its name.
    pub name: &'static str,
    /// It is one that calibration fits.
    pub fitted: bool,
    /// What it is, in words.
    pub meaning: &'static str,
    /// What it is set to; `None`: [`MOVES`] of what it is.
    pub values: Option<[u32; MOVES.len()]>,
    /// The predictions at each of [`MOVES`], or of `values`.
    pub deltas: Vec<(String, [Option<Delta>; MOVES.len()])>,
}

/// All parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Runs of each scheduler.
    pub runs: u32,
    /// What ran, case by case, where that was less than is published.
    pub shortened: Vec<String>,
    /// The predictions of as much with nothing moved.
    pub unmoved: Vec<(String, Option<Delta>)>,
    /// The parameters.
    pub parameters: Vec<Moved>,
}

/// How many machines are tried.
pub(super) fn moves(machine: &Machine) -> usize {
    Lever::all(machine).count() * MOVES.len()
}

impl Again<'_> {
    /// Runs the study with each parameter moved.
    ///
    /// # Errors
    /// Those of the study; machines that cannot be.
    pub fn sensitivity(&self) -> Result<Sensitivity, Unanswered> {
        let scenario = &self.ask().scenario;
        let mut parameters = vec![];
        for lever in Lever::all(scenario.machine) {
            let mut moves = vec![];
            for (index, permille) in MOVES.into_iter().enumerate() {
                let set = lever.values().map(|values| values[index]);
                let machine = lever.moved(self.draft()?, permille)?;
                moves.push(self.predicted(&machine, set.or(scenario.wakee_flips))?);
            }
            let deltas = (self.unmoved.iter())
                .map(|prediction| (prediction.0.label(), of(prediction, &moves)));
            parameters.push(Moved {
                name: lever.name(),
                fitted: matches!(lever, Lever::Fitted(_)),
                meaning: lever.meaning(),
                values: lever.values(),
                deltas: deltas.collect(),
            });
        }
        let unmoved = self.unmoved.iter();
        Ok(Sensitivity {
            runs: self.runs(),
            shortened: self.shortened(),
            unmoved: unmoved
                .map(|(which, delta)| (which.label(), *delta))
                .collect(),
            parameters,
        })
    }
}

/// The same prediction at each of the moves.
fn of((which, _): &Prediction, moves: &[Vec<Prediction>]) -> [Option<Delta>; MOVES.len()] {
    std::array::from_fn(|index| {
        let found = moves[index].iter().find(|(known, _)| known == which);
        found.and_then(|(_, delta)| *delta)
    })
}
