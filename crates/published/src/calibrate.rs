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
//! - **Search**: from the best points of a grid ([`GRID`], [`STARTS`]), each factor in turn times and
//!   by a ratio as long as that is better, and where no factor is, one times and another by it; with
//!   the ratios of [`RATIOS`] from the coarse to the fine, of which the fine ones begin where the
//!   coarse ones led best. The same seeds every time, more of them for
//!   a row that spreads ([`SPREAD_RUNS`]). Of a case that would take too long a part counts ([`Part`]).
//! - **Determinacy**: from the best point each factor is moved either way, the others making up for
//!   it, as long as the objective is within [`OPEN`] of the best. The last points are kept: between
//!   them the rows do not decide, and a prediction is made at each.
//!
//! Only additions, multiplications, divisions and comparisons: the result is the same everywhere.

pub mod report;
mod search;

pub use search::{Misfit, Start};

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use alight_compare::compare::{NoComparison, Runner, Variant, measure};
use alight_compare::progress::Progress;
use alight_compare::report::number::{short, time};
use alight_compare::spread::{NoResults, Spread, spread};
use alight_compare::stats::Summary;
use alight_machine::{Draft, StatedCost};
use alight_sim::{AtFault, Change, Fault, Scenario};

use crate::{Case, Length, Part, Published, Row, Study, StudyQuestion};

/// A factor on some costs.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its meaning, in words.
    pub meaning: &'static str,
    /// Keys of the costs.
    pub keys: &'static [&'static str],
}

/// What is fitted.
pub const PARAMETERS: [Parameter; 5] = [
    Parameter {
        name: "calls",
        meaning: "what a system call of a task does itself",
        keys: &[
            "yield_ns",
            "futex_ns",
            "mutex_ns",
            "pipe_ns",
            "pipe_read_ns",
            "pipe_held_ns",
            "pipe_read_held_ns",
            "socket_ns",
            "socket_read_ns",
            "socket_new_ns",
            "fork_ns",
            "fork_mm_ns",
        ],
    },
    Parameter {
        // By itself: what a switch costs depends on the tasks' memory more than on the kernel's path.
        name: "switches",
        meaning: "switching from a task to another",
        keys: &["switch_ns"],
    },
    Parameter {
        name: "wakeups",
        meaning: "waking, blocking, choosing a CPU, queueing, interrupts, leaving idle",
        keys: &[
            "wakeup_ns",
            "wakeup_clock_ns",
            "block_ns",
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
    Parameter {
        // What is stated of them is the longest that they may take.
        name: "idle times",
        meaning: "what the hardware takes to enter and leave idle states, of what the machine states",
        keys: &["idle_times_permille"],
    },
];

/// Times that a row's mean counts, its other statistics counting once each.
pub const MEAN_WEIGHT: f64 = 4.0;
/// Weight of the factors' distance from one.
pub const PRIOR: f64 = 0.01;
/// How far a factor may go from one.
pub const BOUND: u64 = 8;
/// Runs of a row, of the seeds from 1: the mean of one that spreads by a tenth is then 3 % off by chance,
/// where [`OPEN`] is a tenth.
pub const RUNS: u32 = 12;
/// Runs of a row whose published spread is more than a fifth of its mean: of as few as [`RUNS`]
/// the mean would be chance.
pub const SPREAD_RUNS: u32 = 48;
/// Where the search begins: the best of all combinations of these factors, in thousandths.
pub const GRID: [u64; 3] = [500, 1000, 2000];
/// Of how many of the first factors. The others, for which no other can make up, are 1 there.
pub const IN_GRID: usize = 4;
/// Points of the grid at which the search begins.
pub const STARTS: usize = 3;
/// How much more the objective may be, in millionths, for a point to be left open: each row is a tenth
/// further from what was published, in the root mean square. How well a model of few costs can be
/// believed is a judgement; the means of the three rows that juno-r0 was fitted to are 4 to 9 % off.
pub const OPEN: u64 = 10_000;
/// Steps of the search for what is left open.
pub const OPEN_RATIO: (u64, u64) = (5, 4);
/// Steps of the search from there, as numerator and denominator.
pub const RATIOS: [(u64, u64); 4] = [(3, 2), (5, 4), (9, 8), (17, 16)];
/// How many of them are coarse: taken from each beginning, and the others from the best end alone.
pub const COARSE: usize = 2;

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
    /// Times that it was evaluated.
    pub evaluations: usize,
    /// Where the search began, and ended.
    pub starts: Vec<Start>,
    /// For each factor the furthest that the rows leave it, with the others there.
    pub open: Vec<Factors>,
    /// Other machines, which have their costs from this one, with rows among those.
    pub also: Vec<String>,
    /// The rows, with what was published and what the fitted model gives.
    pub rows: Vec<String>,
    /// The costs.
    pub costs: Vec<StatedCost>,
}

impl Fit {
    /// The factors, and how well the rows determine them, as a machine file has them.
    pub fn factors(&self) -> alight_machine::Factors {
        alight_machine::Factors {
            names: PARAMETERS
                .map(|parameter| parameter.name.to_owned())
                .to_vec(),
            fitted: self.factors.to_vec(),
            open: self.open.iter().map(|point| point.to_vec()).collect(),
        }
    }
}

/// Points that an earlier calibration of the same program evaluated, and who keeps new ones.
pub struct Points<'a> {
    /// In the order in which they were evaluated.
    pub answered: Vec<(Factors, Misfit)>,
    /// Keeps one.
    pub keep: &'a Keep<'a>,
}

/// Keeps a point.
pub type Keep<'a> = dyn Fn(&Factors, Misfit) -> std::io::Result<()> + Sync + 'a;

impl Points<'static> {
    /// None, and nobody keeps any.
    pub const NONE: Self = Points {
        answered: vec![],
        keep: &|_, _| Ok(()),
    };
}

/// Why nothing was fitted.
#[derive(Debug, thiserror::Error)]
pub enum NoFit {
    /// A point could not be kept.
    #[error("a point that was evaluated cannot be kept: {0}")]
    NotKept(#[from] std::io::Error),
    /// No study of this machine says what it measured before.
    #[error(
        "no row of a study calibrates {0}: its costs stay as assumed; a row is used if it has \
         `calibrates = true` and the published number in `before`"
    )]
    NoRows(String),
    /// The machine has no costs of its own.
    #[error(
        "{machine} has its costs from {from}: run `alight calibrate {from}`, which fits them to \
         the rows of both"
    )]
    CostsOf {
        /// The machine.
        machine: String,
        /// The one that has them.
        from: String,
    },
    /// The model has no such number.
    #[error(
        "study {study}: the model has no `{metric}` in this load, so no cost can be fitted to it"
    )]
    NoNumber {
        /// The study.
        study: String,
        /// The row's metric.
        metric: String,
    },
    /// A run failed or was interrupted.
    #[error(transparent)]
    Run(#[from] NoComparison),
    /// The machine, or the machine with other costs.
    #[error(transparent)]
    Machine(#[from] alight_machine::Error),
}

impl AtFault for NoFit {
    fn fault(&self) -> Fault {
        match self {
            NoFit::NoRows(_) | NoFit::CostsOf { .. } | NoFit::NoNumber { .. } => Fault::Input,
            NoFit::NotKept(_) => Fault::Host,
            NoFit::Run(error) => error.fault(),
            NoFit::Machine(error) => error.fault(),
        }
    }
}

/// Fits the costs of `machine` to the rows of `studies` that are of it, or of machines that have
/// their costs from it.
///
/// `how` bounds the points and runs that are simulated at once, and is told of each point. `points` has
/// what need not be evaluated again, and does not change the fit.
///
/// # Errors
/// No row to fit to, a run that fails, an interruption: a fit is whole or not there.
pub fn calibrate(
    machine: &str,
    studies: &[Study],
    run: &Runner<'_>,
    how: Spread<'_>,
    points: &Points<'_>,
    cancel: &AtomicBool,
) -> Result<Fit, NoFit> {
    let cases = cases(machine, studies)?;
    let fitting = Fitting {
        cases: &cases,
        run,
        how,
        keep: points.keep,
        points: AtomicUsize::new(0),
        least: AtomicU64::new(u64::MAX),
        cancel,
    };
    let misfits = |points: &[Factors], least| fitting.misfits(points, least);
    let found = search::search(misfits, &points.answered)?;
    let rows = fitting.tell(&found.best)?;
    let mut also: Vec<_> = cases
        .iter()
        .map(|case| case.study.machine.clone())
        .collect();
    also.retain(|other| other != machine);
    also.sort_unstable();
    also.dedup();
    Ok(Fit {
        also,
        factors: found.best,
        misfit: found.misfit,
        unfitted: found.unfitted,
        evaluations: found.evaluations,
        starts: found.starts,
        open: found.open,
        rows,
        costs: draft(machine, &found.best)?.stated_costs(),
    })
}

/// What the costs of `machine` are fitted to, the quick cases first: they often tell that a point
/// is worse than the best.
fn cases<'a>(machine: &str, studies: &'a [Study]) -> Result<Vec<Fitted<'a>>, NoFit> {
    let owner = |machine: &str| {
        let draft = alight_machine::open_bare(machine)?;
        Ok::<_, NoFit>(draft.costs_from().unwrap_or(machine).to_owned())
    };
    let from = owner(machine)?;
    if from != machine {
        return Err(NoFit::CostsOf {
            machine: machine.to_owned(),
            from,
        });
    }
    let mut cases = vec![];
    for study in studies {
        let of_it: Vec<_> = study
            .cases
            .iter()
            .filter_map(|case| fitted(study, case))
            .collect();
        if !of_it.is_empty() && owner(&study.machine)? == machine {
            cases.extend(of_it);
        }
    }
    if cases.is_empty() {
        return Err(NoFit::NoRows(machine.to_owned()));
    }
    cases.sort_by_key(Fitted::runs);
    Ok(cases)
}

struct Fitting<'a> {
    cases: &'a [Fitted<'a>],
    run: &'a Runner<'a>,
    how: Spread<'a>,
    keep: &'a Keep<'a>,
    points: AtomicUsize,
    /// The least objective so far, for who watches.
    least: AtomicU64,
    cancel: &'a AtomicBool,
}

/// A case, and its rows that costs are fitted to.
struct Fitted<'a> {
    study: &'a Study,
    case: &'a Case,
    rows: Vec<(&'a Row, &'a Published)>,
}

/// The case, if costs are fitted to a row of it.
fn fitted<'a>(study: &'a Study, case: &'a Case) -> Option<Fitted<'a>> {
    // A row of each case is fitted in the first.
    let of_it = |row: &&Row| {
        study
            .case(&row.case)
            .is_some_and(|of| std::ptr::eq(of, case))
    };
    let rows = study.rows.iter().filter(of_it);
    let rows: Vec<_> = rows
        .filter_map(|row| Some((row, row.before.as_ref().filter(|_| row.calibrates)?)))
        .collect();
    (!rows.is_empty()).then_some(Fitted { study, case, rows })
}

impl Fitted<'_> {
    fn runs(&self) -> u32 {
        if let Some(part) = &self.case.part {
            return part.runs.get();
        }
        let spreads = |(_, before): &(&Row, &Published)| {
            let spread = before.std.zip(before.mean);
            spread.is_some_and(|(std, mean)| std > mean / 5.0)
        };
        match self.rows.iter().any(spreads) {
            true => SPREAD_RUNS,
            false => RUNS,
        }
    }
}

impl Fitting<'_> {
    /// The objective at each point, or of what is not below `least` a part that is not either.
    /// Several points share the threads, a single one's runs.
    fn misfits(&self, points: &[Factors], least: u64) -> Result<Vec<Misfit>, NoFit> {
        let evaluate = |point: &Factors, threads| {
            let misfit = self.misfit(point, least, threads)?;
            (self.keep)(point, misfit)?;
            let evaluated = self.points.fetch_add(1, Ordering::Relaxed) + 1;
            // A part is as bad as the least already.
            let least = self.least.fetch_min(misfit.value, Ordering::Relaxed);
            let least = least.min(misfit.value);
            (self.how.progress)(Progress::Points { evaluated, least });
            Ok(misfit)
        };
        if let [point] = points {
            return Ok(vec![evaluate(point, self.how.threads)?]);
        }
        let how = Spread {
            threads: self.how.threads,
            ..Spread::QUIET
        };
        let one = Some(NonZeroUsize::MIN);
        let found = spread(points.len(), how, |index, _| evaluate(&points[index], one));
        found.map_err(|error| match error {
            NoResults::Threads(error) => NoComparison::from(NoResults::from(error)).into(),
            NoResults::Job(error) => error,
        })
    }

    /// The objective, or a part of it that is `least` or more already.
    fn misfit(
        &self,
        factors: &Factors,
        least: u64,
        threads: Option<NonZeroUsize>,
    ) -> Result<Misfit, NoFit> {
        let prior = factors.iter().map(|factor| apart(*factor as f64, 1000.0));
        let mut misfit = PRIOR * prior.sum::<f64>() / factors.len() as f64;
        let rows: usize = self.cases.iter().map(|case| case.rows.len()).sum();
        for fitted in self.cases {
            if in_millionths(misfit) >= least {
                return Ok(Misfit {
                    value: in_millionths(misfit),
                    is_whole: false,
                });
            }
            for ((_, before), model) in fitted
                .rows
                .iter()
                .zip(self.model(fitted, factors, threads)?)
            {
                misfit += distance(&model, before) / rows as f64;
            }
        }
        Ok(Misfit {
            value: in_millionths(misfit),
            is_whole: true,
        })
    }

    /// Each row with what the model gives.
    fn tell(&self, factors: &Factors) -> Result<Vec<String>, NoFit> {
        let mut all = vec![];
        for fitted in self.cases {
            let rows = fitted
                .rows
                .iter()
                .zip(self.model(fitted, factors, self.how.threads)?);
            all.extend(rows.map(|(row, model)| told(fitted, *row, &model)));
        }
        Ok(all)
    }

    /// What the model gives of the rows of a case.
    fn model(
        &self,
        fitted: &Fitted<'_>,
        factors: &Factors,
        threads: Option<NonZeroUsize>,
    ) -> Result<Vec<Summary>, NoFit> {
        let Fitted { study, case, rows } = fitted;
        let sheet = draft(&study.machine, factors)?.resolve()?;
        // The base alone: what comes after it must not be seen.
        let base = &study.schedulers[..1];
        let ask = StudyQuestion {
            scenario: Scenario::new(&sheet.machine, &[], &base[0]),
            trust: &sheet.trust(),
            length: Length::Full,
            runs: std::num::NonZeroU32::new(fitted.runs()),
            command: String::new(),
        };
        let how = Spread {
            threads,
            ..Spread::QUIET
        };
        let mut question = case.question(study, base, &ask);
        let from;
        if let Some(Part { window, .. }) = case.part {
            from = [Change::count_from(window.0)];
            question.scenario.changes = &from;
            question.scenario.duration_ns = Some(window.1);
        }
        let measured = measure(&question, self.run, how, self.cancel)?;
        let summary = |(row, _): &(&Row, _)| {
            let found = match case.part {
                Some(part) => part.whole(measured.base(), &row.metric),
                None => (measured.base().series(&row.metric)).map(|series| series.summary),
            };
            found.ok_or_else(|| NoFit::NoNumber {
                study: study.name.clone(),
                metric: row.metric.clone(),
            })
        };
        rows.iter().map(summary).collect()
    }
}

impl Part {
    /// What the whole case has by this part; nothing if it ended within it.
    fn whole(&self, measured: &Variant, metric: &str) -> Option<Summary> {
        const ELAPSED: &str = "elapsed_s";
        if measured.series(ELAPSED).is_some() {
            return None;
        }
        let written = measured.series("messages")?.summary.mean;
        let (summary, grows) = match metric {
            ELAPSED => (
                Summary::of(&[(self.window.1 - self.window.0) as f64 / 1e9])?,
                true,
            ),
            other => {
                let series = measured.series(other)?;
                (series.summary, series.key.is_sum())
            }
        };
        let times = if grows {
            self.messages as f64 / written
        } else {
            1.0
        };
        (written > 0.0).then(|| summary.times(times))
    }
}

fn in_millionths(misfit: f64) -> u64 {
    (misfit * 1e6) as u64
}

/// A misfit in words, of as many millionths.
pub fn millionths(misfit: u64) -> String {
    format!("{}.{:06}", misfit / 1_000_000, misfit % 1_000_000)
}

/// A machine with these factors.
fn draft(machine: &str, factors: &Factors) -> Result<Draft, NoFit> {
    let mut draft = alight_machine::open_bare(machine)?;
    draft.scale_costs(|key| {
        let of = PARAMETERS
            .iter()
            .position(|parameter| parameter.keys.contains(&key));
        of.map_or(1000, |parameter| factors[parameter])
    });
    Ok(draft)
}

/// How far two positive numbers are apart, whichever is the larger.
fn apart(a: f64, b: f64) -> f64 {
    let difference = a - b;
    difference * difference / (a * b).max(f64::MIN_POSITIVE)
}

/// How far a row is from what was published.
fn distance(model: &Summary, published: &Published) -> f64 {
    let weighed = [MEAN_WEIGHT, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let pairs = model.statistics().into_iter().zip(published.statistics());
    let (mut sum, mut weights) = (0.0, 0.0);
    for (weight, pair) in weighed.into_iter().zip(pairs) {
        if let (Some(model), Some(published)) = pair {
            sum += weight * apart(model, published);
            weights += weight;
        }
    }
    sum / weights
}

fn told(fitted: &Fitted<'_>, (row, before): (&Row, &Published), model: &Summary) -> String {
    let stated = row.stated(&fitted.study.name);
    if before.mean.is_none() {
        return stated;
    }
    let by = match fitted.case.part {
        Some(Part {
            window: (from, to), ..
        }) => format!(", by the time from {} to {}", time(from), time(to)),
        None => String::new(),
    };
    let model = short(model.mean);
    format!("{stated} {model} fitted{by}")
}
