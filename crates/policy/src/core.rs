// SPDX-License-Identifier: GPL-2.0-only
//! One machine as the policy sees it, and the decision on which CPU a task runs.

use crate::abi::{
    Answer, Cpu, Ctx, Group, Llc, Mask, Note, Notes, Params, PerfDomain, Root, Scratch, Task,
    domain_flag, table, table_of,
};
use crate::shape::Shape;
use crate::sound::{Unsound, check_perf};
use crate::store::{Checked, Store};
use std::mem::MaybeUninit;
use std::ops::Deref;

/// The views of one machine. The simulator, or a replay, keeps them up to date in place.
///
/// The fields that change while a machine runs are public and may have any values: a wrong value
/// in a view gives a wrong answer, but no fault. The [`Shape`] has the indices by which views refer
/// to each other. It is checked once, when the core is made, and is read-only afterwards
/// (`core.places`, `core.domains`).
#[derive(Debug)]
#[repr(C)]
pub struct Core<S: Store = Checked> {
    /// The view of each CPU, by CPU number.
    pub cpus: S::Of<Cpu>,
    /// The state of each last-level cache.
    pub llcs: S::Of<Llc>,
    shape: Shape<S>,
    /// Rules, features and tunables of the scheduler ([`crate::Scheduler::params`]).
    pub params: Params,
    /// The state of the root domain.
    pub root: Root,
}

impl<S: Store> Clone for Core<S> {
    fn clone(&self) -> Self {
        Core {
            cpus: self.cpus.clone(),
            llcs: self.llcs.clone(),
            shape: self.shape.again(),
            params: self.params,
            root: self.root,
        }
    }
}

impl<S: Store> Deref for Core<S> {
    type Target = Shape<S>;

    #[inline(always)]
    fn deref(&self) -> &Shape<S> {
        &self.shape
    }
}

/// How many CPUs of a cache a wakeup may look at (`update_idle_cpu_scan`), for
/// [`Llc::nr_idle_scan`]. `util`: sum of the utilization of the cache's CPUs (1024 is one CPU fully
/// used). `weight`: number of its CPUs. `imbalance_pct`: of its domain, percent.
pub fn nr_idle_scan(util: u64, weight: u32, imbalance_pct: u32) -> u32 {
    // SAFETY: it takes numbers only.
    unsafe { (table().nr_idle_scan)(util, weight, imbalance_pct) }
}

/// The reason of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A sleeping task wakes.
    Wake,
    /// A new task starts.
    Fork,
    /// A task starts a new program.
    Exec,
}

/// The waker.
#[derive(Debug)]
pub struct Waker<'a> {
    /// The CPU on which the wakeup happens; below the number of CPUs of the machine.
    pub cpu: u32,
    /// The current task of this CPU; it may be the idle task.
    pub task: &'a mut Task,
    /// The waker announces that it will sleep soon (`WF_SYNC`).
    pub sync: bool,
}

/// The input of one decision: on which CPU does this task run?
#[derive(Debug)]
pub struct Wakeup<'a> {
    /// The wakee. Its `prev_cpu` is the CPU on which it ran last.
    pub task: &'a mut Task,
    /// The CPUs that it may use (affinity); not empty.
    pub allowed: &'a Mask,
    /// The waker.
    pub waker: Waker<'a>,
    /// The reason: a wakeup, a fork or an exec.
    pub kind: Kind,
    /// Bits of [`crate::abi::wake_flag`]; 0: none.
    pub flags: u32,
    /// Time of the wakeup, ns.
    pub now: u64,
}

impl Core {
    /// A core with these CPUs and caches. `shape` is sound.
    pub(crate) fn new(shape: Shape, cpus: Box<[Cpu]>, llcs: Box<[Llc]>, params: Params) -> Self {
        debug_assert_eq!(cpus.len(), shape.places.len());
        Core {
            cpus,
            llcs,
            shape,
            params,
            root: Root::default(),
        }
    }

    /// This core in arrays of another kind.
    ///
    /// # Safety
    /// As [`Store::of`].
    pub unsafe fn stored<S: Store>(self) -> Core<S> {
        // SAFETY: promised by the caller.
        unsafe {
            Core {
                cpus: S::of(self.cpus),
                llcs: S::of(self.llcs),
                shape: self.shape.stored(),
                params: self.params,
                root: self.root,
            }
        }
    }
}

impl<S: Store> Core<S> {
    /// Replaces domains and caches by those of `new`, which were rebuilt for the same CPUs. The
    /// energy model stays.
    ///
    /// # Panics
    /// If `new` has another number of CPUs.
    pub fn rebuilt(&mut self, new: Core<S>) {
        assert_eq!(new.shape.places.len(), self.shape.places.len(), "CPUs");
        let perf = std::mem::take(&mut self.shape.perf);
        self.shape = Shape { perf, ..new.shape };
        self.llcs = new.llcs;
    }

    /// Sets the energy model (empty: none), and returns the one before.
    ///
    /// # Errors
    /// The first number that is out of bounds. Then the energy model stays.
    pub fn set_perf(&mut self, perf: Vec<PerfDomain>) -> Result<Vec<PerfDomain>, Unsound> {
        check_perf(&perf, self.shape.places.len())?;
        Ok(std::mem::replace(&mut self.shape.perf, perf))
    }

    /// Sets the capacity of a group: the sum over its CPUs, the smallest and the biggest of them.
    pub fn set_group_capacity(&mut self, group: usize, sum: u32, least: u32, most: u32) {
        let group = &mut self.shape.groups[group];
        (group.capacity, group.min_capacity, group.max_capacity) = (sum, least, most);
    }

    /// Sets whether balancing at a lower level failed because of affinity (0 or 1).
    pub fn set_group_imbalance(&mut self, group: usize, imbalance: u32) {
        self.shape.groups[group].imbalance = imbalance;
    }

    /// Copies the changing fields of all groups from `other`, which has the same groups.
    ///
    /// # Panics
    /// If `other` has another number of groups.
    pub fn copy_group_states(&mut self, other: &Core<impl Store>) {
        assert_eq!(self.groups.len(), other.groups.len(), "groups");
        for (own, other) in self.shape.groups.iter_mut().zip(other.groups.iter()) {
            *own = Group {
                child: own.child,
                cpu: own.cpu,
                weight: own.weight,
                ..*other
            };
        }
    }

    /// Sets flags (see [`domain_flag`]), `imbalance_pct` and `imb_numa_nr` of a domain.
    pub fn set_domain(&mut self, domain: usize, flags: u32, imbalance_pct: u32, imb_numa_nr: u32) {
        let domain = &mut self.shape.domains[domain];
        (domain.flags, domain.imbalance_pct, domain.imb_numa_nr) =
            (flags, imbalance_pct, imb_numa_nr);
    }

    /// Sets the facts that the kernel keeps as static keys (each 0 or 1): some core has threads,
    /// CPUs differ in capacity, some cache consists of clusters.
    pub fn set_keys(&mut self, smt: u32, asym: u32, cluster: u32) {
        let topology = &mut self.shape.topology;
        (topology.smt, topology.asym, topology.cluster) = (smt, asym, cluster);
    }

    /// Chooses a CPU of the machine. Takes O(CPUs looked at), and allocates nothing.
    ///
    /// # Panics
    /// The waking or the previous CPU is not a CPU of the machine, or the number of CPU or cache
    /// views is not that of the machine.
    #[inline]
    pub fn select(&mut self, wakeup: Wakeup<'_>) -> Answer {
        self.ask(wakeup, std::ptr::null_mut())
    }

    /// Chooses a CPU and writes a note of each candidate into `notes`, which is cleared first. The
    /// number of notes is limited by the capacity of `notes`: reserve it before.
    ///
    /// # Panics
    /// As [`Core::select`].
    pub fn explain(&mut self, wakeup: Wakeup<'_>, notes: &mut Vec<Note>) -> Answer {
        notes.clear();
        let mut list = Notes {
            note: notes.as_mut_ptr(),
            nr: 0,
            max: u32::try_from(notes.capacity()).unwrap_or(u32::MAX),
        };
        let answer = self.ask(wakeup, &mut list);
        // SAFETY: the core wrote the first `nr` notes, within the capacity.
        unsafe { notes.set_len(list.nr as usize) };
        answer
    }

    #[inline(always)]
    fn ask(&mut self, wakeup: Wakeup<'_>, notes: *mut Notes) -> Answer {
        let shape = &mut self.shape;
        let nr = shape.topology.nr_cpus;
        assert!(wakeup.waker.cpu < nr && wakeup.task.prev_cpu < nr, "CPU");
        let (cpus, llcs): (&mut [Cpu], &mut [Llc]) = (&mut self.cpus, &mut self.llcs);
        assert!(
            cpus.len() == nr as usize && llcs.len() == shape.nr_llcs,
            "views"
        );
        let mut answer = MaybeUninit::<Answer>::uninit();
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        let mut ctx = Ctx {
            k: &self.params,
            topo: &shape.topology,
            domain: shape.domains.as_ptr(),
            place: shape.places.as_ptr(),
            group: shape.groups.as_mut_ptr(),
            llc: llcs.as_mut_ptr(),
            cpu: cpus.as_mut_ptr(),
            prev_cpu: wakeup.task.prev_cpu,
            p: wakeup.task,
            cur: wakeup.waker.task,
            allowed: wakeup.allowed,
            all_allowed: wakeup.allowed,
            scratch: scratch.as_mut_ptr(),
            answer: answer.as_mut_ptr(),
            notes,
            now: wakeup.now,
            this_cpu: wakeup.waker.cpu,
            kind: match wakeup.kind {
                Kind::Wake => domain_flag::BALANCE_WAKE,
                Kind::Fork => domain_flag::BALANCE_FORK,
                Kind::Exec => domain_flag::BALANCE_EXEC,
            },
            sync: wakeup.waker.sync.into(),
            perf: shape.perf.as_ptr(),
            flags: wakeup.flags,
            nr_perf: shape.perf.len() as u32,
            root: self.root,
        };
        // SAFETY: every pointer is valid and, where written through, exclusively borrowed for the
        // call. The core's indices are those of the shape, which are within bounds (`Shape`), the
        // two CPUs asserted above, and others that it compares to the number of CPUs itself (recent
        // CPU, buddy). It writes the whole answer, and it reads no working memory that it has not
        // written.
        unsafe {
            (table_of(&self.params).select)(&mut ctx);
            answer.assume_init()
        }
    }
}
