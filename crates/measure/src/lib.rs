// SPDX-License-Identifier: GPL-2.0-only
//! Micro-benchmarks of the machine that the program runs on, from user space.
//!
//! # What it owns
//!
//! - [`costs`]: what kernel paths take, one quick measurement.
//!
//! # Who may use it
//!
//! The command `alight` and the recorder of `live`. It uses `alight-machine` and knows nothing of
//! BPF.
//!
//! # Example
//!
//! ```no_run
//! use std::path::Path;
//!
//! let measured = alight_measure::costs::measure(Path::new("/"))?;
//! assert!(measured.costs.iter().any(|(name, ns)| *name == "switch_ns" && *ns > 0));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod costs;
