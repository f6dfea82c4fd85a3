// SPDX-License-Identifier: GPL-2.0-only
//! How far a long job is: the one channel through which runs, comparisons, studies and fits tell it.
//! No result depends on it.

use std::cell::Cell;

use alight_sim::WHOLE;

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many more parts of a run are done; each run has [`WHOLE`] of them.
    Parts(u32),
    /// A run is at its end.
    Run,
    /// A fit has evaluated so many points.
    Points {
        /// How many so far.
        evaluated: usize,
        /// The least misfit of them, in millionths.
        least: u64,
    },
}

/// Who is told, from whichever thread has something to tell.
pub type Listener<'a> = dyn Fn(Progress) + Sync + 'a;

/// Makes a run, which says how much of it is done as it goes on. What it has not said by its end is
/// told then.
pub fn one_run<T>(listener: &Listener<'_>, run: impl FnOnce(&dyn Fn(u32)) -> T) -> T {
    let told = Cell::new(0);
    let tell = |parts: u32| {
        let parts = parts.clamp(told.get(), WHOLE);
        let more = parts - told.replace(parts);
        if more != 0 {
            listener(Progress::Parts(more));
        }
    };
    let outcome = run(&tell);
    tell(WHOLE);
    listener(Progress::Run);
    outcome
}

#[cfg(test)]
mod tests;
