// SPDX-License-Identifier: GPL-2.0-only
//! Notices that the machine is no longer what the scheduler was loaded with: the kernel changed
//! capacities, or the energy model or its switches changed. The scheduler is then loaded again.

use crate::machine::Host;
use crate::skeleton::AlightSkel;
use alight_arguments::Options;
use alight_policy::abi::rule;
use alight_policy::{Core, Mask, PerfDomain};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the energy model and its switches are read, on machines that may have one.
const EVERY: Duration = Duration::from_secs(5);

/// What the scheduler was loaded with, and what has changed.
pub(super) struct Changes<'a> {
    options: &'a Options,
    root: PathBuf,
    online: Mask,
    capacities: Vec<u32>,
    perf: Vec<PerfDomain>,
    /// When to look again; `None`: never, because energy never decides here.
    next: Option<Instant>,
    /// What the kernel side noticed has been looked into; that is done only once.
    looked_into: bool,
    found: Option<&'static str>,
}

impl<'a> Changes<'a> {
    /// Looks for changes since the scheduler was loaded with `core`.
    pub fn new(options: &'a Options, host: &Host, core: &Core) -> Self {
        Self::below(Path::new("/"), options, host, core)
    }

    fn below(root: &Path, options: &'a Options, host: &Host, core: &Core) -> Self {
        let may = core.params.eas != rule::EAS_NONE && core.topology.asym != 0;
        Changes {
            options,
            root: root.to_owned(),
            online: host.online,
            capacities: capacities(core),
            perf: core.perf.clone(),
            next: may.then(|| Instant::now() + EVERY),
            looked_into: false,
            found: None,
        }
    }

    /// What changed.
    pub fn found(&self) -> Option<&'static str> {
        self.found
    }

    /// Has something changed?
    pub fn look(&mut self, skel: &AlightSkel<'_>) -> bool {
        let bss = skel.maps.bss_data.as_deref();
        let noticed = bss.is_some_and(|bss| bss.capacities_changed != 0);
        self.look_at(noticed, Instant::now());
        self.found.is_some()
    }

    /// `noticed`: the kernel side found another capacity than it was loaded with.
    fn look_at(&mut self, noticed: bool, now: Instant) {
        let due = self.next.is_some_and(|next| now >= next);
        if !due && (!noticed || self.looked_into) {
            return;
        }
        self.next = self.next.map(|_| now + EVERY);
        // If the machine cannot be read now, nothing has changed.
        if let Some((host, core)) = self.read() {
            self.looked_into |= noticed;
            let both = |&cpu: &u32| self.online.contains(cpu) && host.online.contains(cpu);
            let now = capacities(&core);
            let differs = |cpu: u32| now.get(cpu as usize) != self.capacities.get(cpu as usize);
            self.found = if (0..core.topology.nr_cpus).filter(both).any(differs) {
                Some("the capacities of CPUs changed")
            } else if core.perf != self.perf && host.online == self.online {
                // If CPUs came or went, placement leaves out the offline ones without a reload.
                Some("the energy model, or whether it is used, changed")
            } else {
                None
            };
        }
    }

    fn read(&self) -> Option<(Host, Core)> {
        let told = self.options.machine.as_deref();
        let host = Host::read(&self.root, told, &self.options.power_gated).ok()?;
        let (core, _) = host.core(&self.options.scheduler.params).ok()?;
        host.settled.then_some((host, core))
    }
}

fn capacities(core: &Core) -> Vec<u32> {
    core.cpus.iter().map(|cpu| cpu.capacity_orig).collect()
}

#[cfg(test)]
mod tests;
