// SPDX-License-Identifier: GPL-2.0-only
//! From the words of a user to what is simulated: a machine, workloads, a scheduler, settings of a
//! run. The command, sweeps and the Python package read these words here, and so agree.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`Options`] | the settings of a run, by the names and in the words of the command's options |
//! | [`Input`] | the machine and the workloads, loaded; makes a `Scenario` of each scheduler |
//! | [`Compared`] | a comparison: schedulers, runs, how well the difference is to be known |
//! | [`Explained`] | an explanation: a scheduler, which decisions; and the explanation |
//! | [`scheduler()`], [`scheduler_over()`] | schedulers by name |
//! | [`duration`], [`changes`], [`cgroups`], [`sysctl`] | the grammar of single options |
//!
//! # Who may use it
//!
//! `alight` and what else takes words of users. It uses `alight-compare`, `alight-behaviour` and what
//! these use. Remarks, such as warnings of a machine file, go to a function of the caller.
//!
//! # Example
//!
//! ```
//! use alight_ask::{Input, Options, scheduler};
//!
//! let mut options = Options::default();
//! options.set("machine", "juno-r0")?;
//! options.set("workload", "hackbench -g 1 -l 10")?;
//! options.set("duration", "5s")?;
//! let input = Input::load(options, &|remark| eprintln!("{remark}"))?;
//!
//! let scheduler = scheduler("linux-6.5")?;
//! assert_eq!(input.scenario(&scheduler).duration_ns, Some(5_000_000_000));
//! assert_eq!(
//!     input.command("simulate", &["linux-6.5"], &[]),
//!     "alight simulate -m juno-r0 -w 'hackbench -g 1 -l 10' --seed 1 --duration 5s linux-6.5"
//! );
//! # Ok::<(), alight_ask::BadInput>(())
//! ```

use alight_sim::{AtFault, Fault};

pub mod cgroups;
pub mod changes;
mod compared;
pub mod duration;
mod explained;
mod input;
mod options;
pub mod sysctl;

pub use compared::{Compared, Found};
pub use explained::{Explained, Explanation, NoExplanation};
pub use input::{
    Input, Texts, load_machine, load_sheet, scheduler, scheduler_over, schedulers_to_compare,
};
pub use options::{NAMES, Options, whole};

/// What the user asked for cannot be: the place, what was found, what is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

impl AtFault for BadInput {
    fn fault(&self) -> Fault {
        Fault::Input
    }
}

impl BadInput {
    /// From any error that says so.
    fn of(error: impl ToString) -> Self {
        BadInput(error.to_string())
    }
}

/// Hears what is odd about an input, and no reason to refuse it: one sentence at a time.
pub type Tell<'a> = dyn Fn(&str) + 'a;
