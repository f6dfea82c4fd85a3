// SPDX-License-Identifier: GPL-2.0-only
//! alight-machine: where things run. Topology, capacities, operating points,
//! idle states, power and kernel path costs of a machine.

mod cpuset;
mod model;

pub use cpuset::{CpuListError, CpuSet, Iter as CpuIter};
pub use model::*;
