// SPDX-License-Identifier: GPL-2.0-only
//! The Python module `alight._alight`: the crates of the project as classes and functions of Python.
//!
//! The package `alight` (`python/alight`) stands before it: it takes the words of the user, shapes
//! data frames and draws. Whatever is computed is computed here, by the crates that the command
//! calls; so both give the same bytes.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | `input` | a machine, workloads and options, loaded ([`alight_ask::Input`]) |
//! | `comparison`, `simulation`, `explanation` | what is asked of an input, and the answers |
//! | `sweep` | sweeps: here, and in batches elsewhere; their stores |
//! | `trace`, `table`, `arrow` | events of a run or a recording as tables, and how these reach data frames |
//! | `catalog` | the machines and schedulers that there are |
//! | `failure`, `wait` | errors as exceptions; runs that leave the interpreter free and end at ctrl-C |
//!
//! # Who may use it
//!
//! The package `alight` alone. It uses `alight-ask`, `alight-frames` and what these use.
//!
//! # Example
//!
//! The examples are Python: `python/tests`, and the blocks of `docs/howto/python.md`, which they run.

mod arrow;
mod catalog;
mod comparison;
mod explanation;
mod failure;
mod input;
mod simulation;
mod sweep;
mod table;
mod trace;
mod wait;

use pyo3::prelude::*;

/// The crates of Alight, for the package `alight`.
#[pymodule]
mod _alight {
    #[pymodule_export]
    use crate::catalog::{check_rtapp, machine, machines, schedulers, version};
    #[pymodule_export]
    use crate::comparison::Comparison;
    #[pymodule_export]
    use crate::explanation::Explanation;
    #[pymodule_export]
    use crate::failure::{AlightWarning, BadInput, HostError};
    #[pymodule_export]
    use crate::input::Input;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::sweep::{Sweep, SweepStore, toml_of_json};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::trace::Trace;
}
