// SPDX-License-Identifier: GPL-2.0-only

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
