// SPDX-License-Identifier: GPL-2.0-only
//! The answer to one wakeup as a row of numbers: the columns, and the words that they stand for.

use std::collections::BTreeMap;

use alight_html::timeline::{Column, Mark, NONE};
use alight_machine::Machine;
use alight_policy::STEPS;
use alight_policy::scheduler::FEATURES;
use alight_trace::BaseAnswer;

/// Places of the columns.
const WAKER: usize = 0;
const PREV: usize = 1;
const STEP: usize = 2;
const SCANNED: usize = 3;
const LATENCY: usize = 4;
const BASE: usize = 5;
const BASE_CPU: usize = 6;
const BASE_STEP: usize = 7;
const BECAUSE: usize = 8;
const COLUMNS: usize = 9;

/// Which number stands for which word.
#[derive(Debug, Clone)]
pub struct Words {
    /// Place of the run.
    run: u32,
    steps: BTreeMap<&'static str, u32>,
    /// Names of the idle states of all core types, each once.
    idle_states: Vec<String>,
    /// Of each core type the place of the name of each state.
    idle_of: Vec<Vec<u32>>,
}

impl Words {
    /// The words of the run of this place on `machine`.
    pub fn of(machine: &Machine, run: u32) -> Self {
        let idle_states = idle_states(machine);
        let place = |name: &String| {
            let known = idle_states.iter().position(|known| known == name);
            known.map_or(NONE, |at| at as u32)
        };
        let idle_of = (machine.core_types.iter())
            .map(|of| {
                of.idle_states
                    .iter()
                    .map(|state| place(&state.name))
                    .collect()
            })
            .collect();
        Words {
            run,
            steps: STEPS
                .iter()
                .zip(0..)
                .map(|((name, _), at)| (*name, at))
                .collect(),
            idle_states,
            idle_of,
        }
    }

    /// Names of the idle states.
    pub fn idle_states(&self) -> &[String] {
        &self.idle_states
    }

    /// Place of the name of an idle state of CPUs of this core type.
    pub fn idle_state(&self, core_type: usize, state: u32) -> u32 {
        let known = self.idle_of[core_type].get(state as usize);
        known.copied().unwrap_or(NONE)
    }

    fn step(&self, name: &str) -> u32 {
        self.steps.get(name).copied().unwrap_or(NONE)
    }

    /// The values of a decision.
    pub fn decision(&self, waker: u32, prev_cpu: u32, step: &str, scanned: u32) -> Vec<u32> {
        let mut values = vec![NONE; COLUMNS];
        values[WAKER] = waker;
        values[PREV] = prev_cpu;
        values[STEP] = self.step(step);
        values[SCANNED] = scanned;
        values[BASE] = self.run;
        values
    }

    /// What the base would have answered.
    pub fn set_base(&self, mark: &mut Mark, answer: &BaseAnswer<'_>) {
        mark.values[BASE_CPU] = answer.cpu;
        mark.values[BASE_STEP] = self.step(answer.step);
        mark.values[BECAUSE] = match answer.cpu == mark.cpu {
            true => SAME_CPU,
            false => (FEATURES.iter().enumerate())
                .filter(|(_, feature)| answer.because.contains(&feature.name))
                .fold(0, |all, (at, _)| all | 1 << at),
        };
    }
}

/// The word for an answer that the base shares: behind all sets of features.
const SAME_CPU: u32 = 1 << FEATURES.len();

/// The CPU that the base would have chosen.
#[cfg(test)]
pub fn base_cpu(mark: &Mark) -> Option<u32> {
    (mark.values[BASE_CPU] != NONE).then_some(mark.values[BASE_CPU])
}

/// Names of the idle states of all core types, each once, from shallow to deep: by the target
/// residency that is least.
fn idle_states(machine: &Machine) -> Vec<String> {
    let mut depths: Vec<(u64, &str)> = vec![];
    for state in machine.core_types.iter().flat_map(|of| &of.idle_states) {
        match depths.iter_mut().find(|(_, name)| *name == state.name) {
            Some((depth, _)) => *depth = state.residency_ns.min(*depth),
            None => depths.push((state.residency_ns, &state.name)),
        }
    }
    depths.sort();
    depths
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// The task of a mark ran so long after its waking.
pub fn set_latency(mark: &mut Mark, latency_ns: u64) {
    mark.values[LATENCY] = u32::try_from(latency_ns).unwrap_or(NONE - 1).min(NONE - 1);
}

/// What the values of marks are. `bases` are what was asked beside each run, by its place.
pub fn columns(bases: &[String]) -> Vec<Column> {
    let number = |label: &str| Column::Number {
        label: label.to_owned(),
        unit: String::new(),
    };
    let cpu = |label: &str| Column::Cpu {
        label: label.to_owned(),
    };
    let word = |label: &str, words: Vec<String>| Column::Word {
        label: label.to_owned(),
        words,
    };
    let steps: Vec<String> = (STEPS.iter())
        .map(|(name, meaning)| format!("{name}: {meaning}"))
        .collect();
    let becauses = (0..SAME_CPU as usize)
        .map(because)
        .chain(["the same CPU".to_owned()]);
    vec![
        cpu("waking CPU"),
        cpu("previous CPU"),
        word("chosen by", steps.clone()),
        number("CPUs looked at"),
        Column::Nanoseconds {
            label: "until it ran".to_owned(),
        },
        word("asked beside it", bases.to_vec()),
        cpu("it would have chosen"),
        word("it would have chosen by", steps),
        word("another CPU because of", becauses.collect()),
    ]
}

/// The features of a set of them, of which each is a bit.
fn because(set: usize) -> String {
    let names = (FEATURES.iter().enumerate())
        .filter(|(at, _)| set & 1 << at != 0)
        .map(|(_, feature)| feature.name);
    match names.collect::<Vec<_>>().as_slice() {
        [] => "no single feature: each could have been spared".to_owned(),
        names => names.join(" and "),
    }
}
