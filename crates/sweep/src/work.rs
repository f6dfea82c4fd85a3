// SPDX-License-Identifier: GPL-2.0-only
//! What of a sweep is still to be done, and doing it on this machine.
//!
//! Batches can run anywhere, in any order. Their results come back to one [`Work`], which writes
//! them to the store and decides which cells are complete. A decision looks at a cell only when all
//! runs of a look are there, so it is the same in every order.

mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use alight_compare::Runner;
use alight_compare::spread::{NoResults, Spread, spread};
use alight_compare::until::{Look, look_at_pairs, look_at_values, next_look};
use alight_sim::{AtFault, Fault};

use crate::samples::{pairs, values};
use crate::spec::Runs;
use crate::store::{End, Store, StoreError};
use crate::sweep::{Batch, BatchResult, Done, NotRun, Refusal, Sweep};

pub use trial::Trial;

/// Batches that are handed out at once.
const ROUND: usize = 10_000;
/// With so many batches of one run, batches of several runs leave no core without work.
const MANY: usize = 512;
/// Runs of a large batch.
const LARGE: u32 = 5;

/// Why a sweep came to no end.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] NotRun),
    /// The threads could not be started.
    #[error("{0}")]
    Threads(String),
}

impl AtFault for Unfinished {
    fn fault(&self) -> Fault {
        match self {
            Unfinished::Store(error) => error.fault(),
            Unfinished::Run(error) => error.fault(),
            Unfinished::Threads(_) => Fault::Host,
        }
    }
}

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Its cells.
    pub cells: u64,
    /// Those that are complete.
    pub complete: u64,
    /// Those that cannot run.
    pub refused: u64,
    /// Simulations that are stored.
    pub runs: u64,
    /// Simulations that it takes at most, without those of cells that cannot run.
    pub most_runs: u64,
    /// Simulations that `until` spared.
    pub spared: u64,
}

/// What of a sweep is still to be done.
pub struct Work<'s> {
    sweep: &'s Sweep,
    store: Store,
    /// The runs that are there, of cells that have some and are not complete.
    begun: BTreeMap<u64, BTreeSet<u32>>,
    /// The cells that are complete.
    complete: BTreeSet<u64>,
    /// The cells that cannot run, by the first run of the batch that said so.
    refused: BTreeMap<u64, u32>,
    /// All cells before it are complete or refused.
    first_open: u64,
    standing: Standing,
}

impl<'s> Work<'s> {
    /// What the store lacks.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn new(sweep: &'s Sweep, store: Store) -> Result<Self, StoreError> {
        let mut work = Work {
            standing: Standing {
                cells: sweep.cells(),
                most_runs: u64::try_from(sweep.most_runs()).unwrap_or(u64::MAX),
                ..Standing::default()
            },
            sweep,
            begun: BTreeMap::new(),
            complete: BTreeSet::new(),
            refused: BTreeMap::new(),
            first_open: 0,
            store,
        };
        work.count()?;
        for (cell, end) in work.store.ends()? {
            let there = work.begun.get(&cell).map_or(0, in_a_row);
            if there < end.runs {
                work.store.reopen(cell)?;
            } else if cell < sweep.cells() {
                work.note_end(cell, &end);
                work.begun.remove(&cell);
            }
        }
        for row in work.store.refused()? {
            if row.cell < sweep.cells() {
                work.note_refusal(row.cell, 0);
            }
        }
        let begun: Vec<u64> = work.begun.keys().copied().collect();
        for cell in begun {
            work.settle(cell)?;
        }
        Ok(work)
    }

    /// Counts the runs that are there. A run counts if all settings of its cell have it.
    fn count(&mut self) -> Result<(), StoreError> {
        let mut settings: Option<(u64, u64)> = None;
        for (cell, seed, there) in self.store.seeds()? {
            let run = seed.checked_sub(self.sweep.spec.seed);
            let run = run.and_then(|run| u32::try_from(run).ok());
            let Some(run) = run.filter(|_| cell < self.sweep.cells()) else {
                continue;
            };
            let all = match settings {
                Some((known, settings)) if known == cell => settings,
                _ => self.sweep.cell(cell).settings.len() as u64,
            };
            settings = Some((cell, all));
            if there == all {
                self.begun.entry(cell).or_default().insert(run);
                self.standing.runs += all;
            }
        }
        Ok(())
    }

    /// Whether nothing is left to be done.
    fn is_over(&self) -> bool {
        self.standing.complete + self.standing.refused == self.standing.cells
    }

    fn is_closed(&self, cell: u64) -> bool {
        self.complete.contains(&cell) || self.refused.contains_key(&cell)
    }

    /// How far it is.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Gives the store back, with all that was added written.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn into_store(mut self) -> Result<Store, StoreError> {
        self.store.flush()?;
        Ok(self.store)
    }

    /// Batches that can run now, in any order; none: the sweep is complete. Those that are not
    /// added come again.
    pub fn next(&self) -> Vec<Batch> {
        let cells = self.first_open..self.sweep.cells();
        let cells = cells.filter(|cell| !self.is_closed(*cell));
        let none = BTreeSet::new();
        let mut batches = vec![];
        for cell in cells {
            let have = self.begun.get(&cell).unwrap_or(&none);
            let lacking = (0..self.goal(have)).filter(|run| !have.contains(run));
            batches.extend(lacking.map(|first_run| Batch {
                cell,
                first_run,
                runs: 1,
            }));
            if batches.len() >= ROUND {
                break;
            }
        }
        // A workload that lacks a number that the file names is found before hours have passed.
        batches.sort_by_key(|batch| !self.sweep.is_first_of_place(batch.cell));
        match batches.len() > MANY {
            true => joined(batches),
            false => batches,
        }
    }

    /// Runs that the cell needs before it is looked at again.
    fn goal(&self, have: &BTreeSet<u32>) -> u32 {
        let (most, have) = (self.sweep.spec.runs.most(), in_a_row(have));
        match self.sweep.spec.runs {
            Runs::Fixed(_) => most,
            Runs::Until { .. } => next_look(have, most).unwrap_or(most),
        }
    }

    /// Runs one stored run again, if something is still to be done: a program that was rebuilt, or
    /// that reads other things than before, may bear the same version, and give other runs.
    /// [`Work::run`] begins with it; who spreads batches otherwise has to.
    ///
    /// # Errors
    /// The run is another one than that of the store; one that failed.
    pub fn check(&self, run: &Runner<'_>, cancel: &AtomicBool) -> Result<(), Unfinished> {
        if self.is_over() {
            return Ok(());
        }
        let first = self.store.first_run()?;
        let Some((cell, seed)) = first.filter(|(cell, _)| *cell < self.sweep.cells()) else {
            return Ok(());
        };
        match self.sweep.run_first(cell, seed, run, cancel) {
            Ok((setting, hash)) => Ok(self.store.check_run((cell, setting, seed), hash)?),
            Err(NotRun::Interrupted) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds what became of a batch.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn add(&mut self, done: &Done) -> Result<(), StoreError> {
        match done {
            Done::Ran(result) => self.add_result(result),
            Done::Refused(refusal) => self.refuse(refusal),
        }
    }

    /// The cell ends without runs. Of several reasons that of the first run is kept: batches begin in
    /// that order.
    fn refuse(&mut self, refusal: &Refusal) -> Result<(), StoreError> {
        let batch = refusal.batch;
        if self.complete.contains(&batch.cell) || self.is_refused_by(batch) {
            return Ok(());
        }
        self.store.refuse(self.sweep, batch.cell, &refusal.why)?;
        self.note_refusal(batch.cell, batch.first_run);
        Ok(())
    }

    /// Whether this batch or one before it said that its cell cannot run.
    fn is_refused_by(&self, batch: Batch) -> bool {
        let first = self.refused.get(&batch.cell);
        first.is_some_and(|first| *first <= batch.first_run)
    }

    fn add_result(&mut self, result: &BatchResult) -> Result<(), StoreError> {
        let batch = result.batch;
        if self.refused.contains_key(&batch.cell) {
            return Ok(());
        }
        self.store.add(self.sweep, result)?;
        if self.complete.contains(&batch.cell) {
            return Ok(());
        }
        let have = self.begun.entry(batch.cell).or_default();
        for run in batch.first_run..batch.first_run.saturating_add(batch.runs) {
            if have.insert(run) {
                self.standing.runs += result.settings.len() as u64;
            }
        }
        self.settle(batch.cell)
    }

    /// Notes that the cell is complete, if it is.
    fn settle(&mut self, cell: u64) -> Result<(), StoreError> {
        let have = self.begun.get(&cell).map_or(0, in_a_row);
        if let Some(end) = self.end(cell, have)? {
            self.store.end(cell, &end)?;
            self.note_end(cell, &end);
            self.begun.remove(&cell);
        }
        Ok(())
    }

    fn note_end(&mut self, cell: u64, end: &End) {
        if self.complete.insert(cell) {
            self.standing.complete += 1;
            self.go_on();
            let settings = self.sweep.cell(cell).settings.len() as u64;
            self.standing.spared += u64::from(end.most.saturating_sub(end.runs)) * settings;
        }
    }

    fn note_refusal(&mut self, cell: u64, first_run: u32) {
        let begun = self.begun.remove(&cell).unwrap_or_default();
        if self.refused.insert(cell, first_run).is_none() {
            self.standing.refused += 1;
            self.go_on();
            let settings = self.sweep.cell(cell).settings.len() as u64;
            let most = settings * u64::from(self.sweep.spec.runs.most());
            self.standing.most_runs = self.standing.most_runs.saturating_sub(most);
            self.standing.runs -= settings * begun.len() as u64;
        }
    }

    /// To the first cell that is open.
    fn go_on(&mut self) {
        while self.is_closed(self.first_open) {
            self.first_open += 1;
        }
    }

    /// The end of a cell with so many runs; `None`: it needs more.
    fn end(&self, cell: u64, runs: u32) -> Result<Option<End>, StoreError> {
        let most = self.sweep.spec.runs.most();
        let Runs::Until {
            metric,
            half_width_percent,
            ..
        } = &self.sweep.spec.runs
        else {
            return Ok((runs >= most).then_some(End {
                runs,
                most,
                half_width_percent: None,
                known: None,
            }));
        };
        // Between two looks nothing is looked at.
        if runs == 0 || next_look(runs - 1, most) != Some(runs) && runs < most {
            return Ok(None);
        }
        let look = self.look(cell, runs, metric, *half_width_percent)?;
        Ok((look.known || runs >= most).then_some(End {
            runs,
            most,
            half_width_percent: look.half_width_percent,
            known: Some(look.known),
        }))
    }

    /// The widest interval of the cell's settings: of their differences from the base, or of their
    /// means if there is none.
    fn look(&self, cell: u64, runs: u32, metric: &str, percent: f64) -> Result<Look, StoreError> {
        let most = self.sweep.spec.runs.most();
        let mut samples = self.store.samples_of_cell(cell, metric)?;
        // Runs that some settings lack, or that follow a gap, are not looked at.
        let seeds = self.sweep.spec.seed..self.sweep.spec.seed + u64::from(runs);
        for samples in samples.values_mut() {
            samples.retain(|(seed, _)| seeds.contains(seed));
        }
        let none = vec![];
        let of = |setting: u64| samples.get(&setting).unwrap_or(&none);
        let base = self.sweep.spec.base.as_ref().map(|_| of(0));
        let settings = self.sweep.cell(cell).settings;
        let looks = settings.iter().filter(|setting| setting.number != 0);
        let looks = looks.map(|setting| match base {
            None => look_at_values(&values(of(setting.number)), percent, most),
            Some(base) => look_at_pairs(&pairs(base, of(setting.number)), percent, most),
        });
        let widest = looks.reduce(|one, other| Look {
            half_width_percent: (one.half_width_percent.zip(other.half_width_percent))
                .map(|(one, other)| one.max(other)),
            known: one.known && other.known,
        });
        Ok(widest.unwrap_or(Look {
            half_width_percent: None,
            known: true,
        }))
    }

    /// Runs all that is to be done, over the cores of this machine. `told` hears how far it is,
    /// from any thread. If `cancel` becomes true no further batch begins.
    ///
    /// # Errors
    /// A run or the store that failed. What was stored is kept.
    pub fn run(
        self,
        run: &Runner<'_>,
        how: Spread<'_>,
        cancel: &AtomicBool,
        told: &(dyn Fn(Standing) + Sync),
    ) -> Result<Store, Unfinished> {
        self.check(run, cancel)?;
        let sweep = self.sweep;
        let work = Mutex::new(self);
        let hold = || work.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut failed = None;
        while failed.is_none() && !cancel.load(Ordering::Relaxed) {
            let batches = hold().next();
            if batches.is_empty() {
                break;
            }
            let done = spread(batches.len(), how, |index, tell| {
                let batch = batches[index];
                if hold().is_refused_by(batch) || cancel.load(Ordering::Relaxed) {
                    return Ok(());
                }
                match sweep.run(batch, run, cancel, tell) {
                    Ok(done) => {
                        let mut work = hold();
                        work.add(&done).map_err(Unfinished::from)?;
                        told(work.standing());
                        Ok(())
                    }
                    Err(NotRun::Interrupted) => Ok(()),
                    Err(error) => Err(Unfinished::from(error)),
                }
            });
            failed = done.err();
        }
        let work = work
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        // Also after a failure: what came before it is kept.
        let flushed = work.into_store();
        match failed {
            Some(NoResults::Job(error)) => Err(error),
            Some(NoResults::Threads(error)) => Err(Unfinished::Threads(error.to_string())),
            None => Ok(flushed?),
        }
    }
}

/// How many runs are there from the first, with no gap.
fn in_a_row(runs: &BTreeSet<u32>) -> u32 {
    (0..)
        .zip(runs)
        .take_while(|(place, run)| place == *run)
        .count() as u32
}

/// Neighbouring runs of a cell as one batch, some at a time.
fn joined(batches: Vec<Batch>) -> Vec<Batch> {
    let mut large: Vec<Batch> = vec![];
    for batch in batches {
        match large.last_mut() {
            Some(last)
                if last.cell == batch.cell
                    && last.first_run + last.runs == batch.first_run
                    && last.runs < LARGE =>
            {
                last.runs += 1;
            }
            _ => large.push(batch),
        }
    }
    large
}

#[cfg(test)]
mod tests;
