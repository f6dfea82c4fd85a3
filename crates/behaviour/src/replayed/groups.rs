// SPDX-License-Identifier: GPL-2.0-only
//! Tasks of one name, and their figures: how much of the CPU time they get, where, and how late.

use std::collections::{BTreeMap, BTreeSet};

use alight_machine::Machine;
use alight_replay::{Recorded, Replay};

use crate::measures::{Gathered, Measurements, Window, key};
use crate::quantity::{Measurement, Quantity, Rule, Tolerance, rule_of};

/// Groups that are judged: those with the most tasks.
const MOST: usize = 8;

/// Share of the workload's CPU time that a group gets.
pub(crate) const SHARE: Rule = Rule {
    name: "cpu_share_percent",
    unit: "percent",
    tolerance: Tolerance {
        percent: 0.0,
        absolute: 2.0,
    },
    least_samples: 100,
    reason: "work is recorded, and weights are exact; slices at the two ends make the rest",
};
const CLASS: Rule = Rule {
    name: "residency_percent_of_capacity",
    unit: "percent",
    tolerance: Tolerance {
        percent: 0.0,
        absolute: 5.0,
    },
    least_samples: 100,
    reason: "a slice more or less on CPUs of one capacity is a few points",
};
const CLOCK: Rule = Rule {
    name: "residency_percent_of_mhz",
    unit: "percent",
    tolerance: Tolerance {
        percent: 0.0,
        absolute: 5.0,
    },
    least_samples: 100,
    reason: "a governor that decides a tick later moves a few points from one clock to the next",
};
/// The rules of figures that only replays are judged by.
pub(crate) const RULES: [&Rule; 3] = [&SHARE, &CLASS, &CLOCK];
/// Figures of a group that are those of the workload's tasks as well.
const SHARED: [&str; 3] = [
    "wakeup_latency_p50_us",
    "wakeup_latency_p95_us",
    "wakeup_latency_p99_us",
];

/// Tasks of one name.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub name: String,
    /// Their numbers in the replay.
    pub tasks: Vec<u32>,
    /// Their numbers in the recording.
    pub pids: BTreeSet<u32>,
}

/// The recorded tasks of the workload.
pub(super) fn members(replay: &Replay) -> impl Iterator<Item = &Recorded> {
    replay.tasks.iter().filter(|task| task.member)
}

impl Group {
    /// The groups of a replay: its tasks by their names without a number at the end.
    pub fn of(replay: &Replay) -> Vec<Self> {
        let mut by_name: BTreeMap<&str, Group> = BTreeMap::new();
        let specs = (0..).zip(&replay.workload.tasks);
        for ((number, spec), recorded) in specs.zip(&replay.tasks) {
            if !recorded.member {
                continue;
            }
            let name = spec
                .comm
                .trim_end_matches(|c: char| c.is_ascii_digit() || "-_/:.".contains(c));
            let group = by_name.entry(name).or_insert_with(|| Group {
                name: name.to_owned(),
                tasks: vec![],
                pids: BTreeSet::new(),
            });
            group.tasks.push(number);
            group.pids.insert(recorded.pid);
        }
        let mut groups: Vec<Group> = by_name.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.tasks.len()));
        groups.truncate(MOST);
        groups
    }
}

/// What one side did: a kernel, or a run of the model.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub figures: Measurements,
    groups: Vec<Measured>,
    /// Share of the workload's CPU time by MHz; empty where no clock is known.
    clocks: BTreeMap<u32, Measurement>,
}

/// The figures of a group.
#[derive(Debug, Clone)]
struct Measured {
    figures: Measurements,
    share: Option<Measurement>,
    /// By capacity.
    classes: BTreeMap<u32, Measurement>,
}

impl Side {
    /// Measures the workload's tasks, and each group's: `of` says which these are among the events.
    pub fn measure(
        gathered: &Gathered,
        window: Window,
        machine: &Machine,
        members: &BTreeSet<u32>,
        groups: &[Group],
        of: impl Fn(&Group) -> BTreeSet<u32>,
    ) -> Self {
        let nr_cpus = machine.cpus.len();
        let (figures, busy) = gathered.measure_of(members, window, nr_cpus);
        let whole: u64 = busy.iter().sum();
        let groups = groups
            .iter()
            .map(|group| {
                let (figures, busy) = gathered.measure_of(&of(group), window, nr_cpus);
                Measured::of(figures, &busy, whole, machine)
            })
            .collect();
        Side {
            figures,
            groups,
            clocks: clocks(gathered, window, machine, members),
        }
    }
}

/// The shares of the clocks that tasks ran at, on a machine whose clocks change.
fn clocks(
    gathered: &Gathered,
    window: Window,
    machine: &Machine,
    members: &BTreeSet<u32>,
) -> BTreeMap<u32, Measurement> {
    if machine
        .freq_domains
        .iter()
        .all(|domain| domain.opps.len() == 1)
    {
        return BTreeMap::new();
    }
    let (by_mhz, samples) = gathered.clocks_of(members, window, machine);
    let whole: u64 = by_mhz.values().sum();
    let share = |ns: u64| Measurement {
        value: 100.0 * ns as f64 / whole as f64,
        samples,
    };
    let shares = by_mhz.into_iter().map(|(mhz, ns)| (mhz, share(ns)));
    shares.collect()
}

/// Judges the clocks that tasks ran at; those of neither side are no quantities.
pub(super) fn judge_clocks(kernel: &Side, model: &[Side]) -> Vec<Quantity> {
    let sides = || std::iter::once(kernel).chain(model);
    if sides().any(|side| side.clocks.is_empty()) {
        return vec![];
    }
    let all: BTreeSet<u32> = sides()
        .flat_map(|side| side.clocks.keys().copied())
        .collect();
    let share = |side: &Side, mhz: u32| {
        let samples = side.clocks.values().next()?.samples;
        let never = Measurement {
            value: 0.0,
            samples,
        };
        Some(side.clocks.get(&mhz).copied().unwrap_or(never))
    };
    let judge = |mhz: u32| {
        let model: Vec<_> = model.iter().map(|side| share(side, mhz)).collect();
        let of = i32::try_from(mhz).ok();
        Quantity::judge(&CLOCK, of, &[share(kernel, mhz)], &model)
    };
    all.into_iter().map(judge).collect()
}

impl Measured {
    fn of(figures: Measurements, busy: &[u64], whole: u64, machine: &Machine) -> Self {
        let samples = figures
            .get(&key(rule_of(crate::quantity::RESIDENCY), Some(1)))
            .map_or(0, |figure| figure.samples);
        let share = |part: u64, of: u64| {
            (of > 0).then(|| Measurement {
                value: 100.0 * part as f64 / of as f64,
                samples,
            })
        };
        let own: u64 = busy.iter().sum();
        let mut by_capacity: BTreeMap<u32, u64> = BTreeMap::new();
        for (cpu, ns) in machine.cpus.iter().zip(busy) {
            *by_capacity.entry(cpu.capacity_orig).or_default() += ns;
        }
        let classes = by_capacity
            .iter()
            .filter(|_| by_capacity.len() > 1)
            .filter_map(|(capacity, ns)| Some((*capacity, share(*ns, own)?)))
            .collect();
        Measured {
            share: share(own, whole),
            classes,
            figures,
        }
    }
}

/// How a group of tasks compares.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupCheck {
    /// The name of its tasks.
    pub name: String,
    /// How many there are.
    pub tasks: usize,
    /// Its figures.
    pub quantities: Vec<Quantity>,
}

/// Judges the groups that both recordings have: `kernel` is of the groups `to`, `model` of `from`.
pub(super) fn judge(
    from: &[Group],
    to: &[Group],
    kernel: &Side,
    model: &[Side],
) -> Vec<GroupCheck> {
    let mut checks = Vec::new();
    for (at, group) in from.iter().enumerate() {
        let Some(there) = to.iter().position(|other| other.name == group.name) else {
            continue;
        };
        let kernel = &kernel.groups[there];
        let model: Vec<&Measured> = model.iter().map(|side| &side.groups[at]).collect();
        let judge = |rule, of, figure: &dyn Fn(&Measured) -> Option<Measurement>| {
            let model: Vec<_> = model.iter().map(|side| figure(side)).collect();
            Quantity::judge(rule, of, &[figure(kernel)], &model)
        };
        let mut quantities = vec![judge(&SHARE, None, &|side| side.share)];
        for name in SHARED {
            let rule = rule_of(name);
            let figure = |side: &Measured| side.figures.get(&key(rule, None)).copied();
            quantities.push(judge(rule, None, &figure));
        }
        for capacity in kernel.classes.keys() {
            let figure = |side: &Measured| side.classes.get(capacity).copied();
            let of = i32::try_from(*capacity).ok();
            quantities.push(judge(&CLASS, of, &figure));
        }
        checks.push(GroupCheck {
            name: group.name.clone(),
            tasks: group.tasks.len(),
            quantities,
        });
    }
    checks
}
