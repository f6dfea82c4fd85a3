// SPDX-License-Identifier: GPL-2.0-only
//! A run of the model written down as a recording of a workload, as if a kernel had run it.

mod kept;

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_machine::{CpuSet, Machine};
use alight_recording::workload::{
    Capability, DMA_LATENCY, MACHINE, Policy, SOURCE, TaskFact, WorkloadWriter,
};
use alight_recording::{CpuFact, End, Header};
use alight_sim::{AtFault, Fault, Outcome, Scenario};
use alight_workload::program;

use kept::Kept;

/// zstd's level.
const LEVEL: i32 = 9;
/// What a run of the model tells.
const TOLD: [Capability; 12] = [
    Capability::Wakings,
    Capability::Context,
    Capability::Interrupts,
    Capability::Sync,
    Capability::Wakeups,
    Capability::Migrations,
    Capability::Forks,
    Capability::Yields,
    Capability::Frequency,
    Capability::Calls,
    Capability::Attributes,
    Capability::Losses,
];

/// Why no recording was made.
#[derive(Debug, thiserror::Error)]
pub enum NotRecorded {
    /// The run did not begin, or broke off.
    #[error(transparent)]
    Run(#[from] alight_sim::Error),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] io::Error),
}

impl AtFault for NotRecorded {
    fn fault(&self) -> Fault {
        match self {
            NotRecorded::Run(error) => error.fault(),
            NotRecorded::File(_) => Fault::Host,
        }
    }
}

/// What a recording of the model says of its source, before the scheduler's name.
const BY: &str = "alight simulate";

/// Simulates a scenario and writes what happened to a recording. The recorded kernel is the release
/// of the base. `machine`: the text of the machine file of the scenario's machine
/// ([`alight_machine::DataSheet::text`]), which the recording then holds. `tell` hears of the run's
/// progress as that of [`alight_sim::run_telling`].
///
/// # Errors
/// The scenario cannot be simulated; the file cannot be written.
pub fn record(
    scenario: &Scenario<'_>,
    machine: Option<&str>,
    path: &Path,
    cancel: &AtomicBool,
    tell: &dyn Fn(u32),
) -> Result<Outcome, NotRecorded> {
    let mut kept = Kept::new(scenario.machine.cpus.len());
    let outcome = alight_sim::run_telling(scenario, Some(&mut kept), cancel, tell)?;
    let mut writer = WorkloadWriter::create(path, header(scenario, machine), LEVEL)?;
    let listed: Vec<&program::Attributes> = (scenario.workloads.iter())
        .flat_map(|workload| &workload.attributes)
        .collect();
    let (events, changes) = kept.finish();
    let begin = events.first().map_or(0, |event| event.time);
    for fact in facts(scenario)? {
        writer.task(&TaskFact {
            time: begin,
            ..fact
        })?;
    }
    let mut changes = changes.into_iter().peekable();
    for event in &events {
        while let Some(change) = changes.next_if(|change| change.time <= event.time) {
            let fact = changed(change.pid, listed[change.attributes as usize], scenario);
            let time = change.time;
            writer.task(&TaskFact { time, ..fact })?;
        }
        writer.event(event)?;
    }
    writer.finish(End::default(), &TOLD.into())?;
    Ok(outcome)
}

/// Whether a recording is one of the model.
pub(super) fn is_of_model(header: &Header) -> bool {
    let source = header.facts.get(SOURCE);
    source.is_some_and(|source| source.starts_with(BY))
}

fn header(scenario: &Scenario<'_>, machine: Option<&str>) -> Header {
    let names = scenario
        .workloads
        .iter()
        .map(|workload| workload.name.as_str());
    let base = scenario
        .scheduler
        .name
        .split('+')
        .next()
        .unwrap_or_default();
    let release = base.strip_prefix("linux-").unwrap_or(base);
    let latencies = scenario
        .workloads
        .iter()
        .filter_map(|workload| workload.dma_latency_us);
    let latency = latencies
        .min()
        .map(|us| (DMA_LATENCY.to_owned(), us.to_string()));
    let by = format!("{BY}, {}", scenario.scheduler.name);
    let machine = machine.map(|text| (MACHINE.to_owned(), text.to_owned()));
    Header {
        kinds: vec![],
        kernel: format!("{release}.0-model"),
        build: by.clone(),
        arch: "x86_64".to_owned(),
        hz: Some(scenario.machine.hz),
        clock: "simulated time, ns".to_owned(),
        command: names.collect::<Vec<_>>().join("; "),
        cpus: cpus(scenario.machine),
        facts: [(SOURCE.to_owned(), by)]
            .into_iter()
            .chain(machine)
            .chain(latency)
            .collect(),
    }
}

fn cpus(machine: &Machine) -> Vec<CpuFact> {
    let same = |of: fn(&alight_machine::Cpu) -> usize, as_of: usize| {
        let all = machine.cpus.iter().enumerate();
        let these = all
            .filter(|(_, cpu)| of(cpu) == as_of)
            .map(|(number, _)| number);
        these.collect::<CpuSet>().to_string()
    };
    (0..)
        .zip(&machine.cpus)
        .map(|(number, cpu)| CpuFact {
            cpu: number,
            capacity: cpu.capacity_orig,
            core: same(|cpu| cpu.core, cpu.core),
            cluster: same(|cpu| cpu.cluster, cpu.cluster),
            package: same(|cpu| cpu.node, cpu.node),
            llc: Some(same(|cpu| cpu.llc, cpu.llc)),
        })
        .collect()
}

/// What is known of each task before its first event.
fn facts(scenario: &Scenario<'_>) -> Result<Vec<TaskFact>, NotRecorded> {
    let specs = scenario
        .workloads
        .iter()
        .flat_map(|workload| &workload.tasks);
    let table = alight_sim::task_table(scenario)?;
    Ok(table
        .into_iter()
        .zip(specs)
        .map(|((pid, comm, tgid), spec)| {
            let all = scenario.machine.cpus.len();
            TaskFact {
                comm: Some(comm),
                tgid: Some(tgid),
                policy: Some(policy(spec.attributes.policy)),
                nice: Some(spec.attributes.nice.unwrap_or(0)),
                ..stated(pid, &spec.attributes, all)
            }
        })
        .collect())
}

/// What a task takes on while it runs.
fn changed(pid: u32, attributes: &program::Attributes, scenario: &Scenario<'_>) -> TaskFact {
    TaskFact {
        policy: attributes.policy.map(|kept| policy(Some(kept))),
        nice: attributes.nice,
        ..stated(pid, attributes, scenario.machine.cpus.len())
    }
}

/// Attributes as a fact, but for policy and nice value.
fn stated(pid: u32, attributes: &program::Attributes, nr_cpus: usize) -> TaskFact {
    let deadline = attributes.dl_period_deadline_ns;
    let list = |cpus: &Vec<u32>| {
        let cpus = cpus.iter().map(|&cpu| cpu as usize);
        cpus.collect::<CpuSet>().to_string()
    };
    let all = || CpuSet::first_n(nr_cpus).to_string();
    TaskFact {
        pid,
        rt_priority: attributes.rt_priority,
        affinity: match (&attributes.affinity, attributes.lift_affinity) {
            (Some(cpus), _) => Some(list(cpus)),
            (None, lifted) => lifted.then(all),
        },
        uclamp_min: attributes.uclamp_min,
        uclamp_max: attributes.uclamp_max,
        slice_ns: attributes.slice_ns,
        dl_period_ns: deadline.map(|(period, _)| period),
        dl_deadline_ns: deadline.map(|(_, deadline)| deadline),
        cgroup: attributes.group.clone(),
        ..TaskFact::default()
    }
}

fn policy(policy: Option<program::Policy>) -> Policy {
    match policy {
        None | Some(program::Policy::Normal) => Policy::Normal,
        Some(program::Policy::Batch) => Policy::Batch,
        Some(program::Policy::Idle) => Policy::Idle,
        Some(program::Policy::Fifo) => Policy::Fifo,
        Some(program::Policy::RoundRobin) => Policy::Rr,
        Some(program::Policy::Deadline) => Policy::Deadline,
    }
}
