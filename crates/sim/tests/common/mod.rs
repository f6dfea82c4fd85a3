// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios for the tests, from the names that users type.
#![allow(dead_code, reason = "each test binary uses its part")]

use alight_machine::{Machine, MachineLevel};
use alight_policy::Scheduler;
use alight_sim::{Cgroup, Change, Error, Outcome, Scenario};
use alight_workload::Mode;
use alight_workload::program::{
    Attributes, Calibration, ChannelKind, Instruments, Names, Op, Program, TaskSpec, Workload,
};
use std::sync::atomic::AtomicBool;

pub const MS: u64 = 1_000_000;

/// Schedulers that every test of a whole run is made with.
pub const SCHEDULERS: [&str; 2] = ["linux-5.5", "linux-5.5+asym-capacity"];

/// The machines that broad tests run on, each of a shape of its own. What else the library has
/// differs in figures.
pub const MACHINES: [&str; 10] = [
    "juno-r0",
    "juno-r2",
    "tc2",
    "ca9x4",
    "hikey620",
    "sdm845",
    "sdm845-phantom",
    "rk3588",
    "gs101",
    "epyc-9654-2s",
];
/// More of them, of which less is asked: without deep idle states; with many clusters and several
/// states of a domain; with large caches; with a lone big CPU; with priorities.
pub const MORE_MACHINES: [&str; 5] = ["t8103", "x1e80100", "xeon-8480-2s", "zumapro", "i7-1370p"];

/// A built-in machine, or `threads`: two cores of two threads each, which slow each other.
pub fn machine(name: &str) -> Machine {
    if name == "threads" {
        return threads();
    }
    Machine::load(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn threads() -> Machine {
    let mut machine = machine("ca9x4");
    for (number, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.core = number / 2;
    }
    machine.core_types[0].smt_percent = 60;
    let cores = MachineLevel {
        name: "SMT".into(),
        spans: vec![(0..2).collect(), (2..4).collect()],
        power_gated: false,
    };
    machine.levels.insert(0, cores);
    machine
}

/// A command line, or a file of the project's `workloads/`.
pub fn load(name: &str) -> Workload {
    let path = match name.ends_with(".json") {
        true => format!("{}/../../workloads/{name}", env!("CARGO_MANIFEST_DIR")),
        false => name.to_owned(),
    };
    Workload::load(&path, Mode::Workgen)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .workload
}

/// What to run; the rest as the command line has it.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub machine: &'a Machine,
    pub workloads: &'a [Workload],
    pub scheduler: &'a str,
    pub seed: u64,
    pub duration_ns: Option<u64>,
    pub groups: &'a [Cgroup],
    pub changes: &'a [Change],
    pub check: bool,
}

impl<'a> Run<'a> {
    /// By linux-5.5, from seed 1, to its end, with the invariants proved.
    pub fn new(machine: &'a Machine, workloads: &'a [Workload]) -> Self {
        Run {
            machine,
            workloads,
            scheduler: "linux-5.5",
            seed: 1,
            duration_ns: None,
            groups: &[],
            changes: &[],
            check: true,
        }
    }

    pub fn for_ms(self, ms: u64) -> Self {
        Run {
            duration_ns: Some(ms * MS),
            ..self
        }
    }

    pub fn go(self) -> Result<Outcome, Error> {
        self.traced(None)
    }

    pub fn traced(self, sink: Option<&mut dyn alight_trace::Sink>) -> Result<Outcome, Error> {
        let scheduler = Scheduler::parse(self.scheduler).expect("a scheduler");
        let scenario = Scenario {
            seed: self.seed,
            duration_ns: self.duration_ns,
            groups: self.groups,
            changes: self.changes,
            check: self.check,
            ..Scenario::new(self.machine, self.workloads, &scheduler)
        };
        alight_sim::run(
            &scenario,
            sink.map(|sink| sink as _),
            &AtomicBool::new(false),
        )
    }
}

/// A metric of any kind by name.
pub fn metric(outcome: &Outcome, name: &str) -> f64 {
    let all = || {
        outcome
            .results
            .iter()
            .chain(&outcome.energy)
            .chain(&outcome.mechanism)
    };
    match all().find(|m| m.name == name) {
        Some(metric) => metric.value,
        None => panic!("no metric '{name}'"),
    }
}

/// A workload of tasks that start at once, each with a program of its own.
pub fn given(programs: Vec<Vec<Op>>) -> Workload {
    let task = |program: u32| TaskSpec {
        comm: format!("t{program}"),
        program,
        attributes: Attributes::default(),
        start_ns: Some(0),
        process: 0,
        working_set_bytes: None,
        begins: None,
    };
    Workload {
        name: "given".into(),
        tasks: (0..programs.len() as u32).map(task).collect(),
        programs: programs.into_iter().map(|ops| Program { ops }).collect(),
        attributes: vec![],
        deals: vec![],
        lateness: vec![],
        blocks: None,
        repeats: None,
        channels: vec![ChannelKind::Pipe; 4],
        barriers: vec![],
        mutexes: 4,
        conditions: 4,
        semaphores: 4,
        counters: 4,
        marks: 4,
        logs: 0,
        names: Names::default(),
        histograms: vec![],
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
