// SPDX-License-Identifier: GPL-2.0-only
//! How long a sweep would take, by one run of its first cell.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use alight_compare::Runner;

use crate::sweep::{Batch, NotRun, Sweep};

/// The time of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    simulation: Duration,
    threads: usize,
}

impl Trial {
    /// Runs the first cell that can run once. `threads`: those that the sweep would have; `None`: one a core.
    ///
    /// # Errors
    /// A run that failed, and ctrl-C.
    pub fn run(
        sweep: &Sweep,
        run: &Runner<'_>,
        threads: Option<NonZeroUsize>,
        cancel: &AtomicBool,
    ) -> Result<Self, NotRun> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Trial {
            simulation: first_that_runs(sweep, run, cancel)?,
            threads: threads.map_or(cores, NonZeroUsize::get).min(cores),
        })
    }

    /// The size of the sweep, and the option with which it runs.
    pub fn in_words(self, sweep: &Sweep, option: &str) -> String {
        let runs = sweep.most_runs();
        let micros = self.simulation.as_micros().max(1);
        let seconds = runs.saturating_mul(micros) / 1_000_000 / self.threads as u128;
        let cells = match sweep.cells() {
            1 => "1 cell".to_owned(),
            cells => format!("{cells} cells"),
        };
        format!(
            "the sweep has {cells}: up to {runs} simulations, about {} on {} threads (one took {} \
             ms); to run it, add {option} {runs}",
            length(seconds),
            self.threads,
            self.simulation.as_millis()
        )
    }
}

/// The time of one simulation of the first cell that is not refused.
fn first_that_runs(
    sweep: &Sweep,
    run: &Runner<'_>,
    cancel: &AtomicBool,
) -> Result<Duration, NotRun> {
    /// Cells that are tried at most.
    const MOST_TRIED: u64 = 64;
    let mut refused = None;
    for cell in 0..sweep.cells().min(MOST_TRIED) {
        let batch = Batch {
            cell,
            first_run: 0,
            runs: 1,
        };
        let begun = Instant::now();
        match sweep.attempt(batch, run, cancel, &|_| ()) {
            Ok(result) => return Ok(begun.elapsed() / result.settings.len().max(1) as u32),
            Err(error) if error.refusal().is_none() => return Err(error),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.expect("a sweep has cells"))
}

/// A time in the unit that suits it.
fn length(seconds: u128) -> String {
    const STEPS: [(u128, &str); 4] = [
        (365 * 86_400, "years"),
        (86_400, "days"),
        (3_600, "hours"),
        (60, "minutes"),
    ];
    let suits = STEPS.iter().find(|(step, _)| seconds >= 2 * step);
    match suits {
        Some((step, unit)) => format!("{} {unit}", (seconds + step / 2) / step),
        None => format!("{seconds} seconds"),
    }
}

#[cfg(test)]
mod tests;
