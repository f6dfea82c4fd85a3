// SPDX-License-Identifier: GPL-2.0-only
//! Machines: topology, capacities, operating points, idle states, power and kernel path costs. Every
//! figure of a machine names its source.
//!
//! # What it owns
//!
//! A machine file ([`SCHEMA`]) goes through these steps:
//!
//! 1. `document` parses it to a tree. Each value keeps its place in the file and its source.
//! 2. `library` lays the tree over the file that it inherits from. Built-in machines live there.
//! 3. `reader` and `schema` read it by type. The result is a [`Draft`].
//! 4. [`check()`] finds what cannot be.
//! 5. `resolve` fills in defaults. The result is a [`DataSheet`], which holds a [`Machine`].
//!
//! [`capture()`] reads the machine of this host, [`capture_tree`] that of a copied tree. [`guess`] is
//! what is assumed where a description says nothing. [`views`] describes a machine to the placement core.
//! [`Trust`] says how far the figures of a machine can be trusted. [`vary()`] sets some figures to
//! other values, for sweeps.
//!
//! # Who may use it
//!
//! The simulator and the crates above it, and the live scheduler. It uses `alight-policy` and
//! `alight-text`.
//!
//! # Example
//!
//! ```
//! let sheet = alight_machine::load("juno-r0")?;
//! let machine = &sheet.machine;
//! assert_eq!(machine.cpus.len(), 6);
//!
//! // CPU 0 is a little core, CPU 1 a big one. The biggest CPU of a machine has capacity 1024.
//! let little = &machine.cpus[0];
//! assert_eq!(machine.core_types[little.core_type].name, "Cortex-A53");
//! assert!(little.capacity_orig < 512);
//! assert_eq!(machine.cpus[1].capacity_orig, 1024);
//! # Ok::<(), alight_machine::Error>(())
//! ```

mod assumed;
mod calibration;
mod capacity;
mod capture;
mod check;
mod costs;
mod cpuset;
mod document;
mod draft;
mod error;
mod figure;
pub mod guess;
mod identity;
pub mod kernel;
mod levels;
mod library;
mod model;
mod problems;
mod reader;
mod resolve;
mod schema;
mod show;
mod speed;
mod trust;
mod vary;
pub mod views;
mod written;

pub use assumed::Assumed;
pub use calibration::{Calibration, Factors, StatedCost};
pub use capture::{
    Captured, Measured, MeasuredCore, ROOT_PREFIX, Reading, capture, capture_bytes,
    capture_measured, capture_tree, host, is_tree,
};
pub use check::{Finding, Severity, check, contradictions};
pub use cpuset::{CpuListError, CpuSet, Iter as CpuIter};
pub use draft::Draft;
pub use error::{Error, Place, nearest};
pub use figure::{Confidence, Figure, Provenance};
pub use kernel::{is_archive, ungzipped};
pub use library::{HOST, calibrated, is_edited, load, names, open, open_bare, parse, parse_under};
pub use model::*;
pub use resolve::DataSheet;
pub use schema::SCHEMA;
pub use show::{Row, findings, findings_json, findings_of, list, list_json, rows, show, to_json};
pub use speed::{SpeedKind, Speeds};
pub use trust::{CostStanding, CostTrust, Trust};
pub use vary::{Setting, figures_at, vary};
