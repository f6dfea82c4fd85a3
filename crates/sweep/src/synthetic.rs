// SPDX-License-Identifier: GPL-2.0-only
//! Sweeps for tests that run without a simulator.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_compare::Spread;
use alight_compare::fake::{metric, outcome};
use alight_sim::{Outcome, Scenario};
use alight_workload::program::Better;

use crate::store::Store;
use crate::sweep::Sweep;
use crate::work::{Unfinished, Work};

/// A number by scenario.
pub type Truth<'a> = dyn Fn(&Scenario<'_>) -> f64 + Sync + 'a;

/// The file of a sweep with `more` behind its machine and workload.
pub fn file(more: &str) -> String {
    let head = "schema = \"alight.sweep/1\"\nmachines = [\"juno-r0\"]\n\
                workloads = [\"hackbench -g 1 -l 1\"]\n";
    format!("{head}{more}\n")
}

/// A sweep with `more` in its file.
pub fn sweep(more: &str) -> Sweep {
    Sweep::parse("x.toml", &file(more), &|_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// An outcome whose result `y` is this, and `events` and `energy_j` by the seed.
pub fn of(seed: u64, y: f64) -> Outcome {
    let mut outcome = outcome(seed);
    outcome
        .results
        .push(metric("y", "", Some(Better::Lower), y));
    outcome.hash = y.to_bits() ^ seed;
    outcome
}

/// Runs what the store lacks, where `truth` says what comes out.
pub fn run(sweep: &Sweep, path: &Path, truth: &Truth<'_>) -> Result<Store, Unfinished> {
    run_until(sweep, path, truth, &AtomicBool::new(false))
}

/// The same; the runs end when `cancel` is true.
pub fn run_until(
    sweep: &Sweep,
    path: &Path,
    truth: &Truth<'_>,
    cancel: &AtomicBool,
) -> Result<Store, Unfinished> {
    let store = Store::open(path, sweep, "alight sweep x.toml")?;
    let simulate = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        Ok(of(scenario.seed, truth(scenario)))
    };
    Work::new(sweep, store)?.run(&simulate, Spread::QUIET, cancel, &|_| ())
}

/// The value of `bias-prev:spare`; the base has none.
pub fn spare(scenario: &Scenario<'_>) -> Option<u32> {
    let params = &scenario.scheduler.params;
    (params.bias_prev != 0).then_some(params.bias_spare)
}

/// Noise of a run, -0.5 to 0.5, by its seed and `key`.
pub fn noise(scenario: &Scenario<'_>, key: u64) -> f64 {
    let mut state = scenario.seed.wrapping_mul(0x9E37_79B9) ^ key;
    crate::design::random(&mut state);
    crate::design::random(&mut state) as f64 / u64::MAX as f64 - 0.5
}
