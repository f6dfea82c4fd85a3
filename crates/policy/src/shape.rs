// SPDX-License-Identifier: GPL-2.0-only
//! The shape of a machine: the numbers by which one of its views refers to another.

use crate::abi::{Domain, Group, PerfDomain, Place, Topology};
use crate::store::{Checked, Store};

/// Domains, groups, caches and performance domains, and where each CPU sits in them.
///
/// The core uses the numbers in it as indices without bounds checks. So a [`crate::Core`] has only
/// a shape that [`crate::topology::build`] made or [`crate::Core::of_views`] checked, and gives
/// read access only. No other code can make a shape, or own one that it could change.
#[derive(Debug)]
pub struct Shape<S: Store = Checked> {
    /// Where each CPU sits.
    pub places: S::Of<Place>,
    /// All domains.
    pub domains: S::Of<Domain>,
    /// All groups.
    pub groups: S::Of<Group>,
    /// Number of caches and other states that searches share ([`crate::Core::llcs`]).
    pub nr_llcs: usize,
    /// Facts of the whole machine.
    pub topology: Topology,
    /// Energy model: sets of CPUs that share a frequency, at most
    /// [`crate::abi::MAX_PERF_DOMAINS`], in the order of the kernel's list. Empty where EAS is off.
    pub perf: Vec<PerfDomain>,
    /// Keeps other crates from making a shape.
    pub(crate) sound: Sound,
}

/// States that all indices of a shape are within bounds. Code that writes this word has checked it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sound;

impl Shape {
    /// This shape in arrays of another kind.
    ///
    /// # Safety
    /// As [`Store::of`].
    pub(crate) unsafe fn stored<S: Store>(self) -> Shape<S> {
        // SAFETY: promised by the caller.
        unsafe {
            Shape {
                places: S::of(self.places),
                domains: S::of(self.domains),
                groups: S::of(self.groups),
                nr_llcs: self.nr_llcs,
                topology: self.topology,
                perf: self.perf,
                sound: self.sound,
            }
        }
    }
}

impl<S: Store> Shape<S> {
    /// A copy. Shapes are not `Clone`, because that would hand out shapes to other crates.
    pub(crate) fn again(&self) -> Self {
        Shape {
            places: self.places.clone(),
            domains: self.domains.clone(),
            groups: self.groups.clone(),
            nr_llcs: self.nr_llcs,
            topology: self.topology,
            perf: self.perf.clone(),
            sound: self.sound,
        }
    }
}
