// SPDX-License-Identifier: GPL-2.0-only
//! Spreads independent jobs over the cores and gives their results in the
//! order of the jobs, however many threads there were.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::progress::{Listener, one_run};

/// How to spread.
#[derive(Clone, Copy)]
pub struct Spread<'a> {
    /// Threads at most, and no more than there are jobs and cores; `None`: one a core.
    pub threads: Option<NonZeroUsize>,
    /// Told of each job what it tells, and that it is at its end.
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
mod tests {
    use super::*;
    use crate::progress::Progress;
    use std::time::Duration;

    /// Later jobs finish first.
    fn uneven(index: usize, _: &dyn Fn(u32)) -> Result<usize, std::io::Error> {
        std::thread::sleep(Duration::from_micros(
            300u64.saturating_sub(index as u64 * 10),
        ));
        Ok(index * index)
    }

    #[test]
    fn results_come_in_the_order_of_jobs_for_any_number_of_threads() {
        let expected: Vec<usize> = (0..40).map(|i| i * i).collect();
        for threads in [1, 2, 3, 8] {
            assert_eq!(spread_over(threads, 40, &|_| (), uneven).unwrap(), expected);
        }
    }

    #[test]
    fn the_first_failure_in_order_is_told() {
        for threads in [1, 4] {
            let error = spread_over(threads, 20, &|_| (), |index, _| match index {
                5 => {
                    std::thread::sleep(Duration::from_millis(5));
                    Err(std::io::Error::other("five"))
                }
                6.. => Err(std::io::Error::other("later")),
                _ => Ok(()),
            });
            assert_eq!(error.unwrap_err().to_string(), "five");
        }
    }

    #[test]
    fn progress_counts_every_job() {
        let finished = AtomicUsize::new(0);
        let progress = |told| {
            if told == Progress::Run {
                finished.fetch_add(1, Ordering::Relaxed);
            }
        };
        spread_over(3, 17, &progress, uneven).unwrap();
        assert_eq!(finished.into_inner(), 17);
    }

    #[test]
    fn no_more_threads_are_started_than_there_are_jobs_and_cores() {
        let cores = std::thread::available_parallelism().unwrap().get();
        for (asked, jobs, expected) in [
            (Some(1), 40, 1),
            (Some(cores), 40, cores.min(40)),
            (Some(8000), 1, 1),
            (Some(usize::MAX), 2, cores.min(2)),
            (Some(usize::MAX), 40, cores.min(40)),
            (None, 1, 1),
            (None, 40, cores.min(40)),
            (Some(3), 0, 1),
        ] {
            let how = Spread {
                threads: asked.and_then(NonZeroUsize::new),
                ..Spread::QUIET
            };
            assert_eq!(how.workers(jobs), expected, "{asked:?} for {jobs} jobs");
            // As many jobs are done, and nobody waits for threads that have none.
            assert_eq!(spread(jobs, how, uneven).unwrap().len(), jobs);
        }
    }
}
