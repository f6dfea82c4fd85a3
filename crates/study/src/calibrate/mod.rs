// SPDX-License-Identifier: GPL-2.0-only
//! Fits the costs of a machine's kernel paths to what was published of it *before* a policy: the
//! rows of the studies that say `calibrates`. What a policy then does to the machine is a
//! prediction, since nothing here has seen it.
//!
//! - **Parameters**: [`PARAMETERS`], factors on groups of costs of all the machine's classes of
//!   cores. Each group is read by every load and by every scheduler.
//! - **Objective**: of each row the mean over its statistics of (m - p)^2 / (m p), m the model's
//!   and p the published value, the row's mean counting [`MEAN_WEIGHT`] times; the mean over
//!   the rows; and [`PRIOR`] times the mean of the same distance of each factor from one, so that
//!   what the rows do not tell stays what it was.
//! - **Bounds**: each factor from an [`BOUND`]th to [`BOUND`] times.
//! - **Search**: from all factors one, each in turn times and by a ratio as long as that is
//!   better, with the ratios of [`RATIOS`] from the coarse to the fine. The same seeds every time.
//!
//! Only additions, multiplications, divisions and comparisons: the result is the same everywhere.

mod search;

#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use alight_machine::{Draft, StatedCost};

use crate::compare::{self, Runner, measure};
use crate::published::{Ask, Length, Published, Study};
use crate::spread::Spread;
use crate::stats::Summary;

/// A factor on some costs.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is, in words.
    pub meaning: &'static str,
    /// Keys of the costs.
    pub keys: &'static [&'static str],
}

/// What is fitted.
pub const PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "calls",
        meaning: "what a system call of a task does itself",
        keys: &[
            "yield_ns",
            "futex_ns",
            "mutex_ns",
            "pipe_ns",
            "pipe_read_ns",
            "pipe_empty_ns",
            "socket_ns",
            "socket_read_ns",
            "fork_ns",
        ],
    },
    Parameter {
        name: "switches",
        meaning: "waking, choosing a CPU, queueing, switching, interrupts",
        keys: &[
            "switch_ns",
            "wakeup_ns",
            "select_ns",
            "ipi_send_ns",
            "ipi_receive_ns",
            "wakelist_ns",
            "lock_ns",
            "lock_hold_ns",
            "newidle_ns",
            "tick_ns",
            "timer_ns",
            "idle_exit_ns",
        ],
    },
    Parameter {
        name: "scans",
        meaning: "looking at another CPU",
        keys: &[
            "scan_local_ns",
            "scan_remote_ns",
            "slow_scan_ns",
            "newidle_cpu_ns",
        ],
    },
];

/// Times that a row's mean counts, its other statistics counting once each.
pub const MEAN_WEIGHT: f64 = 4.0;
/// Weight of the factors' distance from one.
pub const PRIOR: f64 = 0.01;
/// How far a factor may go from one.
pub const BOUND: u64 = 8;
/// Runs of each row, of the seeds from 1.
pub const RUNS: u32 = 12;
/// Steps of the search, as numerator and denominator.
pub const RATIOS: [(u64, u64); 5] = [(2, 1), (3, 2), (5, 4), (9, 8), (17, 16)];

/// Factors in thousandths, in the order of [`PARAMETERS`].
pub type Factors = [u64; PARAMETERS.len()];

/// What was fitted.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The factors.
    pub factors: Factors,
    /// The objective there, in millionths.
    pub misfit: u64,
    /// The objective with all factors one, in millionths.
    pub unfitted: u64,
    /// Points at which it was evaluated.
    pub evaluations: usize,
    /// The rows, with what was published and what the fitted model gives.
    pub rows: Vec<String>,
    /// The costs.
    pub costs: Vec<StatedCost>,
}

/// Why nothing was fitted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No study of this machine says what it measured before.
    #[error(
        "no row of a study calibrates {0}: its costs stay as assumed; a study's row is used with \
         `calibrates = true` and what was published in `before`"
    )]
    NoRows(String),
    /// The model has no such number.
    #[error("study {study}: the model has no `{metric}` in this load, so that nothing fits it")]
    NoNumber {
        /// The study.
        study: String,
        /// The row's metric.
        metric: String,
    },
    /// A run failed or was interrupted.
    #[error(transparent)]
    Run(#[from] compare::Error),
    /// The machine, or the machine with other costs.
    #[error(transparent)]
    Machine(#[from] alight_machine::Error),
}

/// Fits the costs of `machine` to the rows of `studies` that are of it.
///
/// `evaluated` is called after each evaluation with their number and the best objective.
///
/// # Errors
/// No row to fit to, a run that fails, an interruption: a fit is whole or not there.
pub fn calibrate(
    machine: &str,
    studies: &[Study],
    run: &Runner<'_>,
    threads: Option<std::num::NonZeroUsize>,
    evaluated: &dyn Fn(usize, u64),
    cancel: &AtomicBool,
) -> Result<Fit, Error> {
    let of_it: Vec<&Study> = studies
        .iter()
        .filter(|study| study.machine == machine)
        .filter(|study| {
            study
                .rows
                .iter()
                .any(|row| row.calibrates && row.before.is_some())
        })
        .collect();
    if of_it.is_empty() {
        return Err(Error::NoRows(machine.to_owned()));
    }
    let fitting = Fitting {
        machine,
        studies: &of_it,
        run,
        threads,
        cancel,
    };
    let found = search::search(|factors| fitting.misfit(factors), evaluated)?;
    let (_, rows) = fitting.evaluate(&found.best)?;
    Ok(Fit {
        factors: found.best,
        misfit: found.misfit,
        unfitted: found.unfitted,
        evaluations: found.evaluations,
        rows,
        costs: fitting.draft(&found.best)?.stated_costs(),
    })
}

struct Fitting<'a> {
    machine: &'a str,
    studies: &'a [&'a Study],
    run: &'a Runner<'a>,
    threads: Option<std::num::NonZeroUsize>,
    cancel: &'a AtomicBool,
}

impl Fitting<'_> {
    /// The machine with these factors.
    fn draft(&self, factors: &Factors) -> Result<Draft, Error> {
        let mut draft = alight_machine::open_bare(self.machine)?;
        draft.scale_costs(|key| {
            let of = PARAMETERS
                .iter()
                .position(|parameter| parameter.keys.contains(&key));
            of.map_or(1000, |parameter| factors[parameter])
        });
        Ok(draft)
    }

    /// The objective in millionths.
    fn misfit(&self, factors: &Factors) -> Result<u64, Error> {
        Ok((self.evaluate(factors)?.0 * 1e6) as u64)
    }

    fn evaluate(&self, factors: &Factors) -> Result<(f64, Vec<String>), Error> {
        let machine = self.draft(factors)?.resolve()?.machine;
        let (mut sum, mut rows) = (0.0, vec![]);
        for study in self.studies {
            let ask = Ask {
                machine: &machine,
                length: Length::Full,
                runs: std::num::NonZeroU32::new(RUNS),
                seed: 1,
                command: String::new(),
            };
            let how = Spread {
                threads: self.threads,
                progress: &|_| (),
            };
            for row in study.rows.iter().filter(|row| row.calibrates) {
                let (Some(before), Some(case)) = (&row.before, study.case(&row.case)) else {
                    continue;
                };
                // The base alone: what comes after it must not be seen.
                let question = case.question(study, &study.schedulers[..1], &ask);
                let measured = measure(&question, self.run, how, self.cancel)?;
                let Some(series) = measured.base().series(&row.metric) else {
                    return Err(Error::NoNumber {
                        study: study.name.clone(),
                        metric: row.metric.clone(),
                    });
                };
                sum += distance(&series.summary, before);
                rows.push(told(
                    &study.name,
                    &row.case,
                    &row.metric,
                    &series.summary,
                    before,
                ));
            }
        }
        let prior = factors.iter().map(|factor| apart(*factor as f64, 1000.0));
        let prior = PRIOR * prior.sum::<f64>() / factors.len() as f64;
        Ok((sum / rows.len() as f64 + prior, rows))
    }
}

/// How far two positive numbers are apart, whichever is the larger.
fn apart(a: f64, b: f64) -> f64 {
    let difference = a - b;
    difference * difference / (a * b).max(f64::MIN_POSITIVE)
}

/// How far a row is from what was published.
fn distance(model: &Summary, published: &Published) -> f64 {
    let pairs = [
        (MEAN_WEIGHT, Some(model.mean), published.mean),
        (1.0, model.std, published.std),
        (1.0, Some(model.min), published.min),
        (1.0, Some(model.p50), published.p50),
        (1.0, Some(model.p75), published.p75),
        (1.0, Some(model.p99), published.p99),
        (1.0, Some(model.max), published.max),
    ];
    let (mut sum, mut weights) = (0.0, 0.0);
    for (weight, model, published) in pairs {
        if let (Some(model), Some(published)) = (model, published) {
            sum += weight * apart(model, published);
            weights += weight;
        }
    }
    sum / weights
}

fn told(study: &str, case: &str, metric: &str, model: &Summary, before: &Published) -> String {
    let case = match case {
        "" => String::new(),
        case => format!(" ({case})"),
    };
    let number = crate::report::number::short;
    match before.mean {
        Some(mean) => format!(
            "{study}{case} {metric}: mean {mean} published, {} fitted",
            number(model.mean)
        ),
        None => format!("{study}{case} {metric}"),
    }
}
