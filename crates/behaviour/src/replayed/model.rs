// SPDX-License-Identifier: GPL-2.0-only
//! A run of the model written down as a recording of a workload, as if a kernel had run it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_machine::Machine;
use alight_recording::workload::{
    Capability, Context, Event, Interrupt, Left, Policy, SOURCE, TaskFact, What, WorkloadWriter,
};
use alight_recording::{CpuFact, End, Header};
use alight_sim::{Outcome, Scenario};
use alight_trace::{Detail, Event as Traced, PrevState, Sink, TaskRef, Waker};
use alight_workload::program;

/// zstd's level.
const LEVEL: i32 = 9;
/// What a run of the model tells.
const TOLD: [Capability; 11] = [
    Capability::Wakings,
    Capability::Context,
    Capability::Interrupts,
    Capability::Sync,
    Capability::Wakeups,
    Capability::Migrations,
    Capability::Forks,
    Capability::Yields,
    Capability::Frequency,
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

/// Simulates a scenario and writes what happened to a recording. The recorded kernel is the release
/// of the base. `tell` hears of the run's progress as that of [`alight_sim::run_telling`].
///
/// # Errors
/// The scenario cannot be simulated; the file cannot be written.
pub fn record(
    scenario: &Scenario<'_>,
    path: &Path,
    cancel: &AtomicBool,
    tell: &dyn Fn(u32),
) -> Result<Outcome, NotRecorded> {
    let mut kept = Kept {
        machine: scenario.machine,
        events: vec![],
        current: vec![0; scenario.machine.cpus.len()],
        latest: BTreeMap::new(),
    };
    let outcome = alight_sim::run_telling(scenario, Some(&mut kept), cancel, tell)?;
    kept.events.sort_by_key(|event| event.time);
    let mut writer = WorkloadWriter::create(path, header(scenario), LEVEL)?;
    for fact in facts(scenario)? {
        writer.task(&fact)?;
    }
    for event in &kept.events {
        writer.event(event)?;
    }
    writer.finish(End::default(), &TOLD.into())?;
    Ok(outcome)
}

fn header(scenario: &Scenario<'_>) -> Header {
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
    let by = format!("alight simulate, {}", scenario.scheduler.name);
    Header {
        kinds: vec![],
        kernel: format!("{release}.0-model"),
        build: by.clone(),
        arch: "x86_64".to_owned(),
        hz: Some(scenario.machine.hz),
        clock: "simulated time, ns".to_owned(),
        command: names.collect::<Vec<_>>().join("; "),
        cpus: cpus(scenario.machine),
        facts: [(SOURCE.to_owned(), by)].into(),
    }
}

fn cpus(machine: &Machine) -> Vec<CpuFact> {
    let same = |of: fn(&alight_machine::Cpu) -> usize, as_of: usize| {
        let all = machine.cpus.iter().enumerate();
        let these = all
            .filter(|(_, cpu)| of(cpu) == as_of)
            .map(|(number, _)| number);
        these.collect::<alight_machine::CpuSet>().to_string()
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
            let attributes = &spec.attributes;
            let deadline = attributes.dl_period_deadline_ns;
            TaskFact {
                pid,
                comm: Some(comm),
                tgid: Some(tgid),
                policy: Some(policy(attributes.policy)),
                nice: Some(attributes.nice.unwrap_or(0)),
                rt_priority: attributes.rt_priority,
                affinity: attributes.affinity.as_ref().map(|cpus| {
                    let cpus = cpus.iter().map(|&cpu| cpu as usize);
                    cpus.collect::<alight_machine::CpuSet>().to_string()
                }),
                uclamp_min: attributes.uclamp_min,
                uclamp_max: attributes.uclamp_max,
                slice_ns: attributes.slice_ns,
                dl_period_ns: deadline.map(|(period, _)| period),
                dl_deadline_ns: deadline.map(|(_, deadline)| deadline),
                cgroup: attributes.group.clone(),
                ..TaskFact::default()
            }
        })
        .collect())
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

/// The events of a run.
struct Kept<'a> {
    machine: &'a Machine,
    events: Vec<Event>,
    /// Who runs on each CPU.
    current: Vec<u32>,
    /// When the last event of each task was.
    latest: BTreeMap<u32, u64>,
}

impl Sink for Kept<'_> {
    fn event(&mut self, time_ns: u64, cpu: u32, event: Traced<'_>) -> io::Result<()> {
        self.event_reached(time_ns, time_ns, cpu, event)
    }

    /// A kernel tells when a CPU gets to something. Events of one task stay in their order.
    fn event_reached(
        &mut self,
        _time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Traced<'_>,
    ) -> io::Result<()> {
        let current = &mut self.current[cpu as usize];
        let Some(what) = what(cpu, &event, *current) else {
            return Ok(());
        };
        if let What::Switch { next, .. } = what {
            *current = next;
        }
        let mut time = reached_ns;
        let about: [u32; 2] = match what {
            What::Switch { prev, next, .. } => [prev, next],
            What::Fork { parent, child } => [parent, child],
            What::Waking { pid, .. }
            | What::Wakeup { pid, .. }
            | What::WakeupNew { pid, .. }
            | What::Migrate { pid, .. }
            | What::Exit { pid } => [pid, 0],
            _ => [0, 0],
        };
        for pid in about.into_iter().filter(|&pid| pid != 0) {
            time = time.max(self.latest.get(&pid).copied().unwrap_or(0));
        }
        for pid in about.into_iter().filter(|&pid| pid != 0) {
            self.latest.insert(pid, time);
        }
        let cpu = cpu as u16;
        self.events.push(Event { time, cpu, what });
        Ok(())
    }

    fn wants_details(&self) -> bool {
        true
    }

    fn detail(&mut self, time: u64, cpu: u32, detail: Detail) -> io::Result<()> {
        match detail {
            Detail::Waking { by, sync, .. } => self.waking_comes_from(by, sync),
            Detail::Yield { task } => {
                let pid = task.pid;
                let time = time.max(self.latest.get(&pid).copied().unwrap_or(0));
                let (cpu, what) = (cpu as u16, What::Yield { pid });
                self.events.push(Event { time, cpu, what });
            }
            Detail::Attributes { .. } => {}
        }
        Ok(())
    }
}

impl Kept<'_> {
    /// The last event is a waking: an interrupt's stands between its begin and its end.
    fn waking_comes_from(&mut self, by: Waker, is_sync: bool) {
        let Some(mut event) = self.events.pop() else {
            return;
        };
        let What::Waking { context, sync, .. } = &mut event.what else {
            return self.events.push(event);
        };
        *sync = Some(is_sync);
        let interrupt = match by {
            // These are of the replay, and not of what is replayed.
            Waker::HandOff | Waker::Begin => return,
            Waker::Task => {
                *context = Some(Context::Task);
                return self.events.push(event);
            }
            Waker::Timer => Interrupt::Hrtimer(0),
            Waker::Device => Interrupt::Device(1),
        };
        *context = Some(Context::Hardirq);
        let core = self.machine.cpus[usize::from(event.cpu)].core_type;
        let costs = &self.machine.core_types[core].costs;
        // Nobody pays for what comes to an idle CPU.
        let takes = match self.current[usize::from(event.cpu)] {
            0 => 0,
            _ => u64::from(costs.timer_ns) + u64::from(costs.wakeup_ns),
        };
        let at = |ns, what| Event {
            time: event.time + ns,
            cpu: event.cpu,
            what,
        };
        self.events.push(at(0, What::InterruptBegin { interrupt }));
        self.events.push(event);
        self.events
            .push(at(takes, What::InterruptEnd { interrupt }));
    }
}

/// `current` runs on the CPU.
fn what(cpu: u32, event: &Traced<'_>, current: u32) -> Option<What> {
    let prio = |task: &TaskRef| task.prio as u16;
    Some(match event {
        Traced::Switch {
            prev,
            prev_state,
            next,
        } => What::Switch {
            prev: prev.pid,
            prev_prio: prio(prev),
            left: match prev_state {
                PrevState::Running => Left::Runnable,
                PrevState::Preempted => Left::Preempted,
                PrevState::Sleeping => Left::Asleep,
                PrevState::Uninterruptible => Left::Blocked,
                PrevState::Dead => Left::Dead,
            },
            next: next.pid,
            next_prio: prio(next),
        },
        Traced::Waking { task, target_cpu } => What::Waking {
            pid: task.pid,
            prio: prio(task),
            current,
            prev_cpu: *target_cpu as u16,
            // A detail follows that tells both.
            context: None,
            sync: None,
        },
        Traced::Wakeup { task, target_cpu } => What::Wakeup {
            pid: task.pid,
            prio: prio(task),
            target_cpu: *target_cpu as u16,
        },
        Traced::WakeupNew { task, target_cpu } => What::WakeupNew {
            pid: task.pid,
            prio: prio(task),
            target_cpu: *target_cpu as u16,
        },
        Traced::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => What::Migrate {
            pid: task.pid,
            prio: prio(task),
            from_cpu: *orig_cpu as u16,
            to_cpu: *dest_cpu as u16,
        },
        Traced::Fork { parent, child } => What::Fork {
            parent: parent.pid,
            child: child.pid,
        },
        Traced::Exit { task } => What::Exit { pid: task.pid },
        Traced::Frequency { khz } => What::Frequency {
            of_cpu: cpu as u16,
            khz: *khz,
        },
        _ => return None,
    })
}
