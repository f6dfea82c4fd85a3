// SPDX-License-Identifier: GPL-2.0-only
//! Updates what the kernel side knows of the machine while it runs: domains and groups when CPUs
//! come or go, and in full packing the buddies, which follow the activity of CPUs.

use super::changes::Changes;
use super::load;
use crate::machine::Host;
use crate::skeleton::{AlightSkel, types};
use alight_arguments::Options;
use alight_policy::abi::rule;
use alight_policy::pack::{self, Search};
use alight_policy::{Core, Cpu};
use libbpf_rs::ProgramInput;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often buddies are updated: the signals of 2013 halve in 32 ms.
const PACKING: Duration = Duration::from_millis(32);

/// The variables of the kernel side, which both sides write at any time.
struct Shared(*mut types::bss);

impl Shared {
    fn of(skel: &mut AlightSkel<'_>) -> Self {
        let bss = skel.maps.bss_data.as_deref_mut();
        Shared(bss.expect("the program has variables"))
    }

    /// How often CPUs came or went.
    fn hotplugs(&self) -> u32 {
        // SAFETY: mapped as long as the program is loaded; aligned; any value is one.
        unsafe { (&raw const (*self.0).hotplugs).read_volatile() }
    }

    /// Copies `from` over the first of the kernel side's structures of the same kind.
    ///
    /// # Safety
    /// `to` is mapped, and aligned; `T` and `Twin` are the same structure of policy/abi.h, of
    /// integers only.
    unsafe fn put<T: Copy, const N: usize, Twin>(from: &[T], to: *mut [Twin; N]) {
        const { assert!(size_of::<T>() == size_of::<Twin>()) };
        assert!(from.len() <= N);
        for (at, value) in from.iter().enumerate() {
            // SAFETY: within the array. A reader in the kernel may see some of them old and some
            // new: it checks every index that it takes from them.
            unsafe { to.cast::<T>().add(at).write_volatile(*value) };
        }
    }

    /// Writes the domains to which CPUs belong now.
    fn put_domains(&self, core: &Core) {
        // SAFETY: only addresses are taken.
        let (domains, groups, places, llcs) = unsafe {
            let bss = self.0;
            (
                &raw mut (*bss).domains,
                &raw mut (*bss).groups,
                &raw mut (*bss).places,
                &raw mut (*bss).llcs,
            )
        };
        // SAFETY: mapped as long as the program is loaded; the same structures on both sides.
        unsafe {
            Self::put(&core.domains, domains);
            Self::put(&core.groups, groups);
            Self::put(&core.places, places);
            Self::put(&core.llcs, llcs);
        }
    }

    fn put_base_slice(&self, slice: u64) {
        // SAFETY: mapped as long as the program is loaded; aligned; only the loader writes it.
        unsafe { (&raw mut (*self.0).base_slice).write_volatile(slice) };
    }

    /// Reads the views of the CPUs into `cpus`.
    fn get_cpus(&self, cpus: &mut [Cpu]) {
        assert!(cpus.len() <= alight_policy::MAX_CPUS);
        for (at, cpu) in cpus.iter_mut().enumerate() {
            // SAFETY: as in put(), the other way round; there are MAX_CPUS of them.
            *cpu = unsafe {
                (&raw const (*self.0).cpus)
                    .cast::<Cpu>()
                    .add(at)
                    .read_volatile()
            };
        }
    }

    fn put_buddy(&self, cpu: usize, buddy: u32) {
        // SAFETY: `cpu` is one of this machine, of which there are no more than the array holds.
        unsafe { (&raw mut (*self.0).cpus[cpu].buddy).write_volatile(buddy) };
    }
}

/// Keeps the kernel side up to date.
pub(super) struct Follow<'a> {
    options: &'a Options,
    shared: Shared,
    /// What the program was loaded with.
    loaded: Core,
    /// The present core, after CPUs came and went.
    core: Core,
    changes: Changes<'a>,
    hotplugs: u32,
    packing: Option<Packing>,
    /// Why the program must be loaded again.
    found: Option<&'static str>,
}

/// Full packing.
struct Packing {
    searches: Vec<Search>,
    next: Instant,
}

impl<'a> Follow<'a> {
    /// For a program that was loaded with `core`, while it stays loaded.
    pub fn new(
        options: &'a Options,
        skel: &mut AlightSkel<'_>,
        (host, core): (&Host, &Core),
    ) -> Self {
        let full = options.scheduler.params.pack == rule::PACK_FULL;
        Follow {
            options,
            shared: Shared::of(skel),
            loaded: core.clone(),
            core: core.clone(),
            changes: Changes::new(options, host, core),
            found: None,
            hotplugs: 0,
            packing: full.then(|| Packing {
                searches: pack::searches(core),
                next: Instant::now(),
            }),
        }
    }

    /// The time until there is something to do.
    pub fn rest(&self) -> Duration {
        match &self.packing {
            Some(packing) => packing.next.saturating_duration_since(Instant::now()),
            None => Duration::MAX,
        }
    }

    /// Brings the kernel side up to date. True: the machine has changed so that the program must
    /// be loaded again.
    pub fn look(&mut self, skel: &AlightSkel<'_>) -> bool {
        let hotplugs = self.shared.hotplugs();
        if hotplugs != self.hotplugs && self.rebuild().is_some() {
            self.hotplugs = hotplugs;
        }
        self.pack(skel);
        self.changes.look(skel) || self.found.is_some()
    }

    /// Why the program must be loaded again.
    pub fn found(&self) -> Option<&'static str> {
        self.found.or(self.changes.found())
    }

    /// CPUs came or went: rebuilds the domains. `None`: the machine cannot be read now, and nothing
    /// changes; offline CPUs are not chosen anyway.
    fn rebuild(&mut self) -> Option<()> {
        let told = self.options.machine.as_deref();
        let host = Host::read(Path::new("/"), told, &self.options.power_gated).ok()?;
        let (core, _) = host.core(&self.core.params).ok()?;
        if !host.settled {
            return None;
        }
        if !load::still_holds(&self.loaded, &core) {
            self.found =
                Some("CPUs came or went, and the loaded scheduler does not fit the machine");
            return Some(());
        }
        self.shared.put_domains(&core);
        self.shared.put_base_slice(load::base_slice(&host));
        for (cpu, view) in core.cpus.iter().enumerate() {
            self.shared.put_buddy(cpu, view.buddy);
        }
        if let Some(packing) = &mut self.packing {
            packing.searches = pack::searches(&core);
        }
        self.core = core;
        Some(())
    }

    fn pack(&mut self, skel: &AlightSkel<'_>) {
        let now = Instant::now();
        let Some(packing) = self.packing.as_mut().filter(|packing| now >= packing.next) else {
            return;
        };
        packing.next = now + PACKING;
        // If it fails, the signals of idle CPUs are those of the last tick that updated them.
        let _ = (skel.progs.refresh_signals).test_run(ProgramInput::default());
        self.shared.get_cpus(&mut self.core.cpus);
        for cpu in 0..self.core.cpus.len() {
            let follow = pack::Follow {
                core: &self.core,
                searches: &packing.searches,
                available: |cpu| u64::from(self.core.cpus[cpu].capacity.max(1)),
            };
            let buddy = follow.buddy(cpu);
            if packing.searches[cpu].level != alight_policy::abi::NONE {
                self.core.cpus[cpu].buddy = buddy;
                self.shared.put_buddy(cpu, buddy);
            }
        }
    }
}
