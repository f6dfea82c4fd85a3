// SPDX-License-Identifier: GPL-2.0-only
//! Puts programs together: keeps track of loop slots and fills in labels.

use crate::program::{Calibration, Instruments, LOOP_SLOTS, Label, Names, Op, Program, Workload};

/// A program under construction.
#[derive(Debug, Default)]
pub struct Assembler {
    ops: Vec<Op>,
    open_loops: Vec<usize>,
}

/// An operation whose label is still to be filled in.
pub(crate) struct Leaving(usize);

impl Assembler {
    /// Adds an instruction.
    pub fn op(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Instructions so far.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// Runs what `body` emits `count` times (`u64::MAX`: for ever).
    ///
    /// # Panics
    /// In debug builds, with more than [`LOOP_SLOTS`] loops in each other.
    pub fn repeat(&mut self, count: u64, body: impl FnOnce(&mut Self)) {
        debug_assert!(self.open_loops.len() < LOOP_SLOTS, "loops nest too deeply");
        let slot = self.open_loops.len() as u8;
        let begin = self.ops.len();
        self.ops.push(Op::LoopBegin {
            slot,
            count,
            end: 0,
        });
        self.open_loops.push(begin);
        body(self);
        self.open_loops.pop();
        self.ops.push(Op::LoopEnd {
            slot,
            begin: begin as Label + 1,
        });
        let behind = self.here();
        self.ops[begin] = Op::LoopBegin {
            slot,
            count,
            end: behind,
        };
    }

    /// Runs what `body` emits again and again, until the operation before it goes elsewhere: `take`
    /// builds that operation, [`Op::Take`] or [`Op::Serve`], from the label behind the loop.
    pub(crate) fn while_given(&mut self, take: impl Fn(Label) -> Op, body: impl FnOnce(&mut Self)) {
        let mut take_at = 0;
        self.repeat(u64::MAX, |inner| {
            take_at = inner.ops.len();
            inner.ops.push(take(0));
            body(inner);
        });
        self.ops[take_at] = take(self.here());
    }

    /// Adds an operation that leaves loops; where it goes, [`Assembler::land`] says.
    pub(crate) fn leaving(&mut self, op: Op) -> Leaving {
        self.ops.push(op);
        Leaving(self.ops.len() - 1)
    }

    /// What leaves goes here.
    pub(crate) fn land(&mut self, leaving: impl IntoIterator<Item = Leaving>) {
        let here = self.here();
        for Leaving(at) in leaving {
            match &mut self.ops[at] {
                Op::Take { done, .. } | Op::Serve { done, .. } => *done = here,
                Op::Answer { last, .. } => *last = here,
                Op::Gather { none, .. } | Op::Unqueue { none, .. } => *none = here,
                other => unreachable!("{other:?} has no label"),
            }
        }
    }

    /// The program, which ends with [`Op::Exit`].
    pub fn finish(mut self) -> Program {
        self.ops.push(Op::Exit);
        Program { ops: self.ops }
    }

    fn here(&self) -> Label {
        self.ops.len() as Label
    }
}

impl Workload {
    /// A workload without tasks.
    pub fn empty(name: &str) -> Self {
        Workload {
            name: name.to_owned(),
            tasks: Vec::new(),
            programs: Vec::new(),
            blocks: None,
            repeats: None,
            attributes: Vec::new(),
            deals: Vec::new(),
            lateness: Vec::new(),
            channels: Vec::new(),
            barriers: Vec::new(),
            mutexes: 0,
            conditions: 0,
            semaphores: 0,
            counters: 0,
            marks: 0,
            logs: 0,
            names: Names::default(),
            histograms: Vec::new(),
            instruments: Instruments::default(),
            measures: Vec::new(),
            report: None,
            duration_ns: None,
            background: false,
            calibration: Calibration::Biggest,
            dma_latency_us: None,
            missing_limit: None,
            left_out: vec![],
        }
    }

    /// The same with these programs, one for each task, in the place of its blocks.
    pub fn with_programs(&self, programs: Vec<Program>) -> Self {
        Workload {
            programs,
            blocks: None,
            name: self.name.clone(),
            tasks: self.tasks.clone(),
            attributes: self.attributes.clone(),
            deals: self.deals.clone(),
            lateness: self.lateness.clone(),
            names: self.names.clone(),
            histograms: self.histograms.clone(),
            measures: self.measures.clone(),
            channels: self.channels.clone(),
            barriers: self.barriers.clone(),
            report: self.report.clone(),
            left_out: self.left_out.clone(),
            ..*self
        }
    }

    /// Adds a program, answers its number.
    pub(crate) fn add_program(&mut self, program: Program) -> u32 {
        self.programs.push(program);
        (self.programs.len() - 1) as u32
    }
}
