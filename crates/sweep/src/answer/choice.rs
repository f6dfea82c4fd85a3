// SPDX-License-Identifier: GPL-2.0-only
//! The best settings: by each objective, and the front of those that no other beats in all
//! (Pareto's).
//!
//! Cells may end after different numbers of runs, so the means of two settings may be of different
//! seeds. Settings are therefore ranked by their mean difference from one reference at the seeds
//! that both have: the base, or the mean of the settings with most runs. A paired interval says
//! whether a difference is certain, and its sign which of the two is better. The best was chosen
//! among all, so its error is divided by the number of comparisons (Bonferroni).

use std::collections::BTreeMap;

use alight_compare::stats::{Delta, NoInterval, mean};

use super::{Best, Candidate, Measured, Place};
use crate::samples::{Samples, pairs};
use crate::spec::Objective;

pub(super) fn choose(
    place: &Place<'_>,
    mut candidates: Vec<Candidate>,
) -> (Vec<Candidate>, Vec<Best>) {
    let objectives = &place.asked.objectives;
    let error = place.asked.error / candidates.len().saturating_sub(1).max(1) as f64;
    let costs: Vec<Vec<Option<f64>>> = (objectives.iter().enumerate())
        .map(|(at, objective)| costs(&candidates, at, objective))
        .collect();
    let choice = Choice {
        candidates: &candidates,
        objectives,
        costs,
        error,
    };
    let best = (0..objectives.len()).map(|at| choice.best(at)).collect();
    let front = choice.front();
    for (candidate, place) in candidates.iter_mut().zip(front) {
        candidate.on_front = matches!(place, Front::On { .. });
        candidate.front_certain = matches!(place, Front::On { is_certain: true });
        candidate.near_front = matches!(place, Front::Off { is_certain: false });
    }
    (candidates, best)
}

/// The mean difference of each candidate from the reference, turned so that less is better. `None`:
/// a constraint is broken, or there is no number, or no seed that the reference has.
fn costs(candidates: &[Candidate], at: usize, objective: &Objective) -> Vec<Option<f64>> {
    let reference = reference(candidates, at);
    let cost = |candidate: &Candidate| {
        let own = measured(candidate, at)?;
        let differences = pairs(&reference, &own.samples);
        let differences = differences
            .into_iter()
            .map(|(reference, own)| own - reference);
        let difference = mean(&differences.collect::<Vec<f64>>())?;
        Some(objective.direction.cost(difference))
    };
    candidates.iter().map(cost).collect()
}

/// What a candidate has of an objective; `None`: a constraint is broken, or it has no such number.
fn measured(candidate: &Candidate, at: usize) -> Option<&Measured> {
    candidate.objectives[at]
        .as_ref()
        .filter(|_| candidate.feasible)
}

fn reference(candidates: &[Candidate], at: usize) -> Samples {
    let all = (candidates.iter()).filter_map(|candidate| {
        let samples = &candidate.objectives[at].as_ref()?.samples;
        Some((candidate.setting == 0, samples))
    });
    let all: Vec<(bool, &Samples)> = all.collect();
    if let Some((_, base)) = all.iter().find(|(is_base, _)| *is_base) {
        return (*base).clone();
    }
    let most = all.iter().map(|(_, samples)| samples.len()).max();
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (_, samples) in (all.iter()).filter(|(_, samples)| Some(samples.len()) == most) {
        for (seed, value) in samples.iter() {
            let sum = sums.entry(*seed).or_default();
            *sum = (sum.0 + value, sum.1 + 1.0);
        }
    }
    let means = sums
        .into_iter()
        .map(|(seed, (sum, count))| (seed, sum / count));
    means.collect()
}

/// Where a candidate stands.
#[derive(Clone, Copy)]
enum Front {
    /// It is no candidate: a constraint is broken, or a number is missing.
    Nowhere,
    /// No other beats it. Certain: it is certainly better than each other member of the front in
    /// some objective.
    On { is_certain: bool },
    /// Another one beats it. Certain: one of these certainly in some objective.
    Off { is_certain: bool },
}

struct Choice<'c> {
    candidates: &'c [Candidate],
    objectives: &'c [Objective],
    /// By objective and candidate.
    costs: Vec<Vec<Option<f64>>>,
    error: f64,
}

impl Choice<'_> {
    fn best(&self, at: usize) -> Best {
        let costs = self.costs[at].iter().enumerate();
        let costs = costs.filter_map(|(index, cost)| Some((index, (*cost)?)));
        // The first of several that are equal: the base before others.
        let least = costs.reduce(|least, other| if other.1 < least.1 { other } else { least });
        let mut least = least.map(|(index, _)| index);
        let others = || {
            let all = self.candidates.iter().enumerate();
            all.filter_map(|(index, other)| measured(other, at).map(|_| index))
        };
        // The reference may rank two settings otherwise than the seeds that they share.
        for _ in 0..self.candidates.len() {
            let better = others().find(|other| {
                least.is_some_and(|least| self.is_certainly_better(*other, least, at))
            });
            match better {
                Some(better) => least = Some(better),
                None => break,
            }
        }
        let tied = others().filter(|other| {
            least.is_some_and(|least| {
                *other != least && !self.is_certainly_better(least, *other, at)
            })
        });
        Best {
            objective: at,
            tied: tied.collect(),
            candidate: least,
        }
    }

    /// Whether one of two settings is certainly the better one by an objective.
    fn is_certainly_better(&self, one: usize, other: usize, at: usize) -> bool {
        let both = measured(&self.candidates[one], at).zip(measured(&self.candidates[other], at));
        let delta = both
            .and_then(|(one, other)| Delta::at(self.error, &pairs(&one.samples, &other.samples)));
        delta.is_some_and(|delta| {
            let is_certain = match delta.no_interval {
                None => delta.significant,
                Some(NoInterval::OneRun) => false,
                // The same difference in every run has no interval, and is certain.
                Some(_) => true,
            };
            is_certain && self.objectives[at].direction.cost(delta.difference) > 0.0
        })
    }

    fn front(&self) -> Vec<Front> {
        let mut order: Vec<(Vec<f64>, usize)> = (0..self.candidates.len())
            .filter_map(|index| {
                let costs = self.costs.iter().map(|costs| costs[index]);
                Some((costs.collect::<Option<Vec<f64>>>()?, index))
            })
            .collect();
        // All that beat a setting stand before it, and one of them is on the front.
        order.sort_by(|one, other| {
            let pairs = one.0.iter().zip(&other.0);
            let mut orders = pairs.map(|(one, other)| one.total_cmp(other));
            let differ = orders.find(|order| order.is_ne());
            differ.unwrap_or_else(|| one.1.cmp(&other.1))
        });
        let mut front: Vec<(&Vec<f64>, usize)> = vec![];
        let mut found = vec![Front::Nowhere; self.candidates.len()];
        for (own, index) in &order {
            let mut is_beaten = false;
            let is_certain = front.iter().any(|(costs, other)| {
                let pairs = || costs.iter().zip(own);
                let beats = pairs().all(|(other, own)| other <= own)
                    && pairs().any(|(other, own)| other < own);
                is_beaten |= beats;
                let mut all = 0..self.objectives.len();
                beats && all.any(|at| self.is_certainly_better(*other, *index, at))
            });
            match is_beaten {
                true => found[*index] = Front::Off { is_certain },
                false => front.push((own, *index)),
            }
        }
        for (own, index) in &front {
            // What is equal in all objectives takes no place from another.
            let mut others = front.iter().filter(|(costs, _)| costs != own);
            let is_certain = others.all(|(_, other)| {
                let mut all = 0..self.objectives.len();
                all.any(|at| self.is_certainly_better(*index, *other, at))
            });
            found[*index] = Front::On { is_certain };
        }
        found
    }
}
