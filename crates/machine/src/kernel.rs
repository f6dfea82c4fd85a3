// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says of its machine, by the kernel's own numbers of
//! CPUs: the one reader of sysfs, procfs and debugfs. [`capture`](crate::capture)
//! makes a machine file of it; a scheduler in this kernel reads it as it is.

mod archive;
mod energy;
mod files;
mod topology;
mod tree;

pub use archive::{is_archive, ungzipped};
pub use energy::{EnergySwitches, PerfDomain, PerfState, energy_model, energy_switches};
pub use topology::{Cpu, KernelLevel, Node, Topology};

pub(crate) use archive::unpacked;
pub(crate) use energy::{ENERGY_MODEL, read as energy_model_of};
pub(crate) use topology::data_caches;
pub(crate) use tree::Tree;

/// Folder of the CPUs.
pub(crate) const CPU: &str = "sys/devices/system/cpu";
/// Folder of the nodes.
pub(crate) const NODE: &str = "sys/devices/system/node";
