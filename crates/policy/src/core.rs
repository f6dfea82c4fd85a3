// SPDX-License-Identifier: GPL-2.0-only
//! One machine as the policy sees it, and the question which CPU.

use crate::abi::{
    Answer, Cpu, Ctx, Domain, Group, Llc, MAX_PERF_DOMAINS, Mask, Note, Notes, Params, PerfDomain,
    Place, Root, Scratch, Task, Topology, domain_flag, table, table_of,
};
use crate::table::Table;
use std::mem::MaybeUninit;

/// The views of one machine. A world keeps them up to date in place.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Core {
    /// View of each CPU.
    pub cpus: Table<Cpu>,
    /// Where each CPU sits.
    pub places: Table<Place>,
    /// All domains.
    pub domains: Table<Domain>,
    /// All groups.
    pub groups: Table<Group>,
    /// State of each LLC.
    pub llcs: Table<Llc>,
    /// Facts of the whole machine.
    pub topology: Topology,
    /// The scheduler's rules, features and tunables.
    pub params: Params,
    /// What changes of the root domain.
    pub root: Root,
    /// Energy model: sets of CPUs that share a frequency, at most [`MAX_PERF_DOMAINS`], in the
    /// order of the kernel's list. Empty where EAS is off.
    pub perf: Vec<PerfDomain>,
}

/// How many of the `weight` CPUs of a cache are worth a look at a wakeup, by the sum of their
/// utilization (`update_idle_cpu_scan`); a world tells [`Llc::nr_idle_scan`] so.
pub fn idle_scan_worth(util: u64, weight: u32, imbalance_pct: u32) -> u32 {
    // SAFETY: it takes numbers only.
    unsafe { (table().idle_scan_worth)(util, weight, imbalance_pct) }
}

/// Why a CPU is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A sleeping task wakes.
    Wake,
    /// A new task starts.
    Fork,
    /// A task starts a new program.
    Exec,
}

/// Who wakes.
#[derive(Debug)]
pub struct Waker<'a> {
    /// CPU on which the wakeup happens.
    pub cpu: u32,
    /// Its current task, the idle task included.
    pub task: &'a mut Task,
    /// It says that it will sleep soon (`WF_SYNC`).
    pub sync: bool,
}

/// One question.
#[derive(Debug)]
pub struct Wakeup<'a> {
    /// The wakee; its `prev_cpu` says where it ran last.
    pub task: &'a mut Task,
    /// CPUs it may use; not empty.
    pub allowed: &'a Mask,
    /// Who wakes.
    pub waker: Waker<'a>,
    /// Why.
    pub kind: Kind,
    /// See [`crate::abi::wake_flag`].
    pub flags: u32,
    /// Time, ns.
    pub now: u64,
}

impl Core {
    /// Chooses a CPU. O(CPUs looked at).
    #[inline]
    pub fn select(&mut self, wakeup: Wakeup<'_>) -> Answer {
        self.ask(wakeup, std::ptr::null_mut())
    }

    /// Chooses a CPU and writes down each candidate; at most as many notes as
    /// `notes` has capacity for, which must be reserved before.
    pub fn explain(&mut self, wakeup: Wakeup<'_>, notes: &mut Vec<Note>) -> Answer {
        notes.clear();
        let mut list = Notes {
            note: notes.as_mut_ptr(),
            nr: 0,
            max: notes.capacity() as u32,
        };
        let answer = self.ask(wakeup, &mut list);
        // SAFETY: the core wrote the first `nr` notes, within the capacity.
        unsafe { notes.set_len(list.nr as usize) };
        answer
    }

    #[inline]
    fn ask(&mut self, wakeup: Wakeup<'_>, notes: *mut Notes) -> Answer {
        let nr = self.topology.nr_cpus;
        debug_assert!(wakeup.waker.cpu < nr && wakeup.task.prev_cpu < nr);
        debug_assert!(self.cpus.len() == nr as usize && self.places.len() == nr as usize);
        assert!(self.perf.len() <= MAX_PERF_DOMAINS, "performance domains");
        let mut answer = MaybeUninit::<Answer>::uninit();
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        let mut ctx = Ctx {
            k: &self.params,
            topo: &self.topology,
            domain: self.domains.as_ptr(),
            place: self.places.as_ptr(),
            group: self.groups.as_mut_ptr(),
            llc: self.llcs.as_mut_ptr(),
            cpu: self.cpus.as_mut_ptr(),
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
            perf: self.perf.as_ptr(),
            flags: wakeup.flags,
            nr_perf: self.perf.len() as u32,
            root: self.root,
        };
        // SAFETY: every pointer is valid and, where written through, exclusively
        // borrowed for the call; indices come from the topology, which the
        // builder of `Core` keeps within the vectors.
        // The core sets its working memory before it reads it, and all of the answer.
        unsafe {
            (table_of(&self.params).select)(&mut ctx);
            answer.assume_init()
        }
    }
}
