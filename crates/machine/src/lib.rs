// SPDX-License-Identifier: GPL-2.0-only
//! alight-machine: where things run. Topology, capacities, operating points,
//! idle states, power and kernel path costs of a machine, each figure with its
//! source.
//!
//! A machine file ([`SCHEMA`]) is parsed to a tree with places and provenance
//! (`document`), laid over what it inherits (`library`), read by type
//! (`reader`, `schema`) to a [`Draft`], checked ([`check()`]) and resolved
//! (`resolve`) to a [`Machine`] within a [`DataSheet`]. The placement core sees it by its
//! [`views`].

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
pub mod views;

pub use assumed::Assumed;
pub use calibration::{Calibration, StatedCost};
pub use capture::{Captured, Measured, ROOT_PREFIX, capture, capture_measured, host};
pub use check::{Finding, Severity, check, contradictions};
pub use cpuset::{CpuListError, CpuSet, Iter as CpuIter};
pub use draft::Draft;
pub use error::{Error, Place, nearest};
pub use figure::{Confidence, Figure, Provenance};
pub use library::{HOST, calibrated, is_edited, load, names, open, open_bare, parse};
pub use model::*;
pub use resolve::DataSheet;
pub use schema::SCHEMA;
pub use show::{Row, findings, findings_json, findings_of, list, list_json, rows, show, to_json};
pub use speed::{SpeedKind, Speeds};
pub use trust::{CostStanding, CostTrust, Trust};
