// SPDX-License-Identifier: GPL-2.0-only
//! Spreads independent jobs over the cores and gives their results in the
//! order of the jobs, however many threads there were.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{ParallelBridge, ParallelIterator};

/// How to spread.
#[derive(Clone, Copy)]
pub struct Spread<'a> {
    /// Threads; `None`: one a core.
    pub threads: Option<NonZeroUsize>,
    /// Called after each finished job with the number finished so far.
    pub progress: &'a (dyn Fn(usize) + Sync),
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum Error<E> {
    /// The threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A job failed: of those that failed the first in order, so that the same fault gives the same message.
    #[error(transparent)]
    Job(E),
}

/// Runs `job(0)` to `job(jobs - 1)`, started in this order.
///
/// # Errors
/// The first failed job in order; jobs behind a failed one are not started.
pub fn spread<T: Send, E: Send>(
    jobs: usize,
    how: Spread<'_>,
    job: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, Error<E>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(how.threads.map_or(0, NonZeroUsize::get))
        .build()?;
    let failed = AtomicUsize::new(usize::MAX);
    let finished = AtomicUsize::new(0);
    let one = |index: usize| {
        if index > failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = job(index);
        if result.is_err() {
            failed.fetch_min(index, Ordering::Relaxed);
        }
        (how.progress)(finished.fetch_add(1, Ordering::Relaxed) + 1);
        Some((index, result))
    };
    // A bridge hands the jobs out one by one; a split range would begin in its middle.
    let mut results: Vec<_> = pool.install(|| (0..jobs).par_bridge().filter_map(one).collect());
    results.sort_by_key(|(index, _)| *index);
    results
        .into_iter()
        .map(|(_, result)| result.map_err(Error::Job))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn with(threads: usize) -> Spread<'static> {
        Spread {
            threads: NonZeroUsize::new(threads),
            progress: &|_| (),
        }
    }

    /// Later jobs finish first.
    fn uneven(index: usize) -> Result<usize, std::io::Error> {
        std::thread::sleep(Duration::from_micros(
            300u64.saturating_sub(index as u64 * 10),
        ));
        Ok(index * index)
    }

    #[test]
    fn results_come_in_the_order_of_jobs_for_any_number_of_threads() {
        let expected: Vec<usize> = (0..40).map(|i| i * i).collect();
        for threads in [1, 2, 3, 8] {
            assert_eq!(spread(40, with(threads), uneven).unwrap(), expected);
        }
    }

    #[test]
    fn the_first_failure_in_order_is_told() {
        for threads in [1, 4] {
            let error = spread(20, with(threads), |index| match index {
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
        let most = AtomicUsize::new(0);
        let how = Spread {
            threads: NonZeroUsize::new(3),
            progress: &|done| {
                most.fetch_max(done, Ordering::Relaxed);
            },
        };
        spread(17, how, uneven).unwrap();
        assert_eq!(most.into_inner(), 17);
    }
}
