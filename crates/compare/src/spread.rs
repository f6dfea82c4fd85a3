// SPDX-License-Identifier: GPL-2.0-only
//! Runs independent jobs on all cores. The results come in the order of the jobs, for every number of
//! threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use alight_sim::{AtFault, Fault};
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::progress::{Listener, one_run};

/// How to spread.
#[derive(Clone, Copy)]
pub struct Spread<'a> {
    /// Threads at most, and no more than there are jobs and cores; `None`: one a core.
    pub threads: Option<NonZeroUsize>,
    /// Is told the progress of each job, and its end.
    pub progress: &'a Listener<'a>,
}

impl Spread<'static> {
    /// Over all cores; nobody listens.
    pub const QUIET: Self = Spread {
        threads: None,
        progress: &|_| (),
    };
}

impl Spread<'_> {
    /// Threads that are started for so many jobs: never more than jobs, nor more than cores, for a job
    /// computes all the time and waits for nothing.
    fn workers(&self, jobs: usize) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let asked = self.threads.map_or(cores, NonZeroUsize::get);
        asked.min(cores).min(jobs).max(1)
    }
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum NoResults<E> {
    /// The threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A job failed: of those that failed the first in order, so that the same fault gives the same message.
    #[error(transparent)]
    Job(E),
}

impl<E: AtFault + 'static> AtFault for NoResults<E> {
    fn fault(&self) -> Fault {
        match self {
            NoResults::Threads(_) => Fault::Host,
            NoResults::Job(error) => error.fault(),
        }
    }
}

/// Runs `job(0)` to `job(jobs - 1)`, started in this order. Each may tell how much of it is done.
///
/// # Errors
/// The first failed job in order; jobs behind a failed one are not started.
pub fn spread<T: Send, E: Send>(
    jobs: usize,
    how: Spread<'_>,
    job: impl Fn(usize, &dyn Fn(u32)) -> Result<T, E> + Sync,
) -> Result<Vec<T>, NoResults<E>> {
    spread_over(how.workers(jobs), jobs, how.progress, job)
}

/// The same over exactly `workers` threads.
fn spread_over<T: Send, E: Send>(
    workers: usize,
    jobs: usize,
    progress: &Listener<'_>,
    job: impl Fn(usize, &dyn Fn(u32)) -> Result<T, E> + Sync,
) -> Result<Vec<T>, NoResults<E>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()?;
    let failed = AtomicUsize::new(usize::MAX);
    let one = |index: usize| {
        if index > failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = one_run(progress, |tell| job(index, tell));
        if result.is_err() {
            failed.fetch_min(index, Ordering::Relaxed);
        }
        Some((index, result))
    };
    // A bridge hands the jobs out one by one; a split range would begin in its middle.
    let mut results: Vec<_> = pool.install(|| (0..jobs).par_bridge().filter_map(one).collect());
    results.sort_by_key(|(index, _)| *index);
    results
        .into_iter()
        .map(|(_, result)| result.map_err(NoResults::Job))
        .collect()
}

#[cfg(test)]
mod tests;
