// SPDX-License-Identifier: GPL-2.0-only
//! What leads from one view of a machine to another.

use crate::abi::{Domain, Group, PerfDomain, Place, Topology};
use crate::store::{Checked, Store};

/// Domains, groups, caches and performance domains, and where each CPU sits in them.
///
/// The core follows the numbers in it without a look at how many there are. So a [`crate::Core`]
/// has only a shape that [`crate::topology::build`] made or [`crate::Core::of_views`] checked, and
/// hands it out for reading only. Nobody else can make one, or has one of his own to change.
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
    /// Only this crate makes one.
    pub(crate) sound: Sound,
}

/// The numbers of a shape lead to what is there: who writes this word has checked it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sound;

impl Shape {
    /// The same in arrays of another kind.
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
    /// The same once more; not `Clone`, which would give it away.
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
