// SPDX-License-Identifier: GPL-2.0-only
//! Workloads made of lists of operations.

use alight_workload::program::{
    Attributes, Calibration, ChannelKind, Deal, Instruments, Names, Op, Program, TaskSpec, Workload,
};

/// A task of the workload under test.
#[derive(Clone)]
pub(crate) struct Given {
    pub ops: Vec<Op>,
    pub attributes: Attributes,
    pub start_ns: Option<u64>,
}

/// A task with the program `ops` that starts `start_ns` after the start of the workload.
pub(crate) fn task(start_ns: u64, ops: &[Op]) -> Given {
    Given {
        ops: ops.to_vec(),
        attributes: Attributes::default(),
        start_ns: Some(start_ns),
    }
}

/// A task that another one forks.
pub(crate) fn child(ops: &[Op]) -> Given {
    Given {
        start_ns: None,
        ..task(0, ops)
    }
}

impl Given {
    pub fn on(mut self, cpus: &[u32]) -> Self {
        self.attributes.affinity = Some(cpus.to_vec());
        self
    }

    pub fn nice(mut self, nice: i32) -> Self {
        self.attributes.nice = Some(nice);
        self
    }

    /// Sets a custom slice, ns.
    pub fn slice(mut self, ns: u64) -> Self {
        self.attributes.slice_ns = Some(ns);
        self
    }

    pub fn policy(mut self, policy: alight_workload::program::Policy) -> Self {
        self.attributes.policy = Some(policy);
        self
    }
}

/// An endless deal of numbers, alternately even and odd.
const EVEN_AND_ODD: Deal = Deal {
    counter: 0,
    modulo: 2,
    limit: u64::MAX,
    until_ns: u64::MAX,
};

/// A workload of these tasks, which are named `t0`, `t1` …, with four of each resource that needs
/// no description.
pub(crate) fn workload(tasks: &[Given]) -> Workload {
    Workload {
        name: "given".into(),
        tasks: tasks
            .iter()
            .zip(0..)
            .map(|(given, program)| TaskSpec {
                comm: format!("t{program}"),
                program,
                attributes: given.attributes.clone(),
                start_ns: given.start_ns,
                process: 0,
                working_set_bytes: None,
                begins: None,
            })
            .collect(),
        programs: tasks
            .iter()
            .map(|given| Program {
                ops: given.ops.clone(),
            })
            .collect(),
        attributes: vec![],
        deals: vec![EVEN_AND_ODD],
        lateness: vec![],
        blocks: None,
        repeats: None,
        channels: vec![],
        barriers: vec![],
        mutexes: 4,
        conditions: 4,
        semaphores: 4,
        counters: 4,
        marks: 4,
        logs: 0,
        names: Names::default(),
        histograms: vec!["a".into(), "b".into()],
        instruments: Instruments::default(),
        measures: vec![],
        report: None,
        duration_ns: None,
        background: false,
        calibration: Calibration::Biggest,
        dma_latency_us: None,
        missing_limit: None,
        left_out: vec![],
    }
}

/// The same with channels.
pub(crate) fn with_channels(kinds: &[ChannelKind], tasks: &[Given]) -> Workload {
    Workload {
        channels: kinds.to_vec(),
        ..workload(tasks)
    }
}
