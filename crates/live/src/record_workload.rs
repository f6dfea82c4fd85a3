// SPDX-License-Identifier: GPL-2.0-only
//! Records what a workload does, to be replayed (`src/bpf/record_workload.bpf.c`): which task ran
//! on which CPU and when, which task woke which and in which context, and what is known of each
//! task; with the machine and its costs.
//!
//! The rings are read while the recording goes on, once one of them is half full. If one gets full
//! nevertheless, nothing is recorded until all are empty. The recording says how much was lost
//! there, and all tasks are read again.

mod clocks;
mod groups;
mod instead;
mod kernel;
mod output;
mod recorder;
mod rings;
mod tasks;

use crate::record_behaviour::{add_files, machine};
use crate::record_session::{During, NotRecorded, Recorded, Session};
use crate::refusal;
use crate::workload_skeleton::{RecordWorkloadSkel, RecordWorkloadSkelBuilder};
use alight_arguments::record::Workload;
use alight_recording::Header;
use alight_recording::workload::{Capability, KINDS, MACHINE, SCHED_EXT, SOURCE, WorkloadWriter};
use groups::Groups;
use libbpf_rs::btf::Btf;
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{ErrorKind, num_possible_cpus};
use output::Output;
use recorder::{RECORDING, Recorder, set_state};
use rings::Rings;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tasks::{Chosen, Tasks};

/// Time for the kernel to end its own work after hooking, and after what was run before.
const SETTLE: Duration = Duration::from_secs(5);
/// The memory for facts is that of the events divided by this.
const FACTS_PART: u32 = 8;

/// What is recorded.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// How, and during which command.
    pub session: Session,
    /// The workload is this process; else the command, unless a group is named.
    pub pid: Option<u32>,
    /// The workload is this group of the cpu controller, a path that begins with `/`.
    pub cgroup: Option<String>,
    /// Record system calls by which the workload waits.
    pub calls: bool,
    /// What to run where this cannot be recorded: command lines of other tools.
    pub instead: String,
}

impl From<Workload> for Wanted {
    fn from(asked: Workload) -> Self {
        let instead = instead::instead(&asked);
        Wanted {
            instead,
            session: asked.recording.into(),
            pid: asked.pid,
            cgroup: asked.cgroup.map(|path| tidy(&path)),
            calls: asked.calls,
        }
    }
}

/// The path of a group within its hierarchy, even if it is given as a directory.
fn tidy(path: &str) -> String {
    let within = path.strip_prefix("/sys/fs/cgroup").unwrap_or(path);
    format!("/{}", within.trim_matches('/'))
}

/// Records as `wanted` says.
///
/// # Errors
/// The kernel lacks what is hooked, refuses the recorder, nothing can be measured, or the file
/// cannot be written.
pub fn run(wanted: &Wanted, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    let elsewhere = |why| NotRecorded::Elsewhere {
        why,
        instead: wanted.instead.clone(),
    };
    if instead::locked_down() {
        // Nor do perf and ftrace work there.
        return Err(NotRecorded::Chosen(
            "no permission: the kernel is locked down (confidentiality) and lets nobody trace it; \
             boot it without lockdown=confidentiality"
                .to_owned(),
        ));
    }
    may().map_err(elsewhere)?;
    match record(wanted, stop) {
        Err(NotRecorded::Kernel(why)) => {
            Err(elsewhere(format!("this kernel cannot be recorded: {why}")))
        }
        Err(NotRecorded::Bpf { what, error, .. })
            if error.kind() == ErrorKind::PermissionDenied =>
        {
            Err(elsewhere(format!(
                "no permission: {what}: {error}; leave the container or sandbox, if this is one"
            )))
        }
        ended => ended,
    }
}

/// Whether this process may trace the kernel.
fn may() -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(lacking) = instead::lacking(&status) {
        return Err(format!(
            "no permission: recording needs root, or CAP_BPF and CAP_PERFMON; there is no {lacking}"
        ));
    }
    Ok(())
}

fn record(wanted: &Wanted, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    let session = &wanted.session;
    let chosen = chosen(wanted)?;
    alight_recording::try_place(&session.file).map_err(|error| session.failed(error))?;
    let nr_cpus = num_possible_cpus().during("counting the CPUs")?;
    let mut object = MaybeUninit::uninit();
    let builder = RecordWorkloadSkelBuilder::default();
    refusal::listen(session.verbose);
    let Loaded {
        mut skel,
        rings,
        capabilities,
    } = load(wanted, builder, &mut object, nr_cpus)?;

    set_state(&mut skel, RECORDING);
    std::thread::sleep(SETTLE);
    // Measured with the recorder running, because its cost is part of each path.
    let header = header(session)?;
    let writer = WorkloadWriter::create(&session.file, header, session.level)
        .map_err(|error| session.failed(error))?;
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let tasks = Tasks::new(chosen, std::process::id(), nr_cpus, Groups::new(&mounts));
    let output = Output::new(writer, tasks, nr_cpus);
    let mut recorder = Recorder::new(session, skel, rings, output)?;
    let ended = recorder.record(wanted, stop)?;
    recorder.finish(ended, capabilities)
}

/// The kernel side, loaded and attached.
struct Loaded<'a> {
    skel: RecordWorkloadSkel<'a>,
    rings: Rings,
    capabilities: BTreeSet<Capability>,
}

fn load<'a>(
    wanted: &Wanted,
    builder: RecordWorkloadSkelBuilder,
    object: &'a mut MaybeUninit<libbpf_rs::OpenObject>,
    nr_cpus: usize,
) -> Result<Loaded<'a>, NotRecorded> {
    let btf = Btf::from_vmlinux().map_err(|error| {
        NotRecorded::Kernel(format!(
            "it has no type information (CONFIG_DEBUG_INFO_BTF): {error}"
        ))
    })?;
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    kernel::may_fetch(&release).map_err(NotRecorded::Kernel)?;
    let mut open = builder.open(object).during("opening the recorder")?;
    let capabilities =
        kernel::choose(&mut open, &btf, wanted.calls).map_err(NotRecorded::Kernel)?;
    let ring_bytes = wanted.session.ring_bytes;
    let slots = rings::slots(ring_bytes, nr_cpus);
    let constants = (open.maps.rodata_data.as_mut()).expect("the recorder has constants");
    constants.slots = slots;
    if wanted.calls {
        kernel::describe(constants, &btf, &release);
    }
    let sizing = "sizing the rings";
    (open.maps.cpus.set_max_entries(nr_cpus as u32)).during(sizing)?;
    (open.maps.events.set_max_entries(nr_cpus as u32 * slots)).during(sizing)?;
    let facts_bytes = (ring_bytes / FACTS_PART).next_power_of_two();
    (open.maps.facts.set_max_entries(facts_bytes)).during(sizing)?;
    let mut skel = open.load().during("loading the recorder into the kernel")?;
    skel.attach().during("hooking the kernel")?;
    let rings = Rings::new(&skel.maps.events, &skel.maps.cpus, nr_cpus, slots)
        .map_err(|error| NotRecorded::Kernel(format!("it does not map the rings: {error}")))?;
    Ok(Loaded {
        skel,
        rings,
        capabilities,
    })
}

fn header(session: &Session) -> Result<Header, NotRecorded> {
    let machine = machine().map_err(NotRecorded::Costs)?;
    let mut header = session.header(&KINDS, "CLOCK_MONOTONIC, ns")?;
    let source = format!("alight record workload {}", env!("CARGO_PKG_VERSION"));
    header.facts.insert(SOURCE.into(), source);
    header.facts.insert(MACHINE.into(), machine);
    if let Ok(name) = fs::read_to_string("/sys/kernel/sched_ext/root/ops") {
        (header.facts).insert(SCHED_EXT.into(), name.trim().to_owned());
    }
    add_files(&mut header, &session.command);
    Ok(header)
}

/// The process or group of the running system that is the workload; a command is added once it
/// runs.
fn chosen(wanted: &Wanted) -> Result<Chosen, NotRecorded> {
    if let Some(path) = &wanted.cgroup {
        return chosen_group(path);
    }
    let mut processes = HashSet::new();
    if let Some(pid) = wanted.pid {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let process = (status.lines())
            .find_map(|line| line.strip_prefix("Tgid:"))
            .and_then(|number| number.trim().parse().ok());
        processes.insert(
            process.ok_or_else(|| NotRecorded::Chosen(format!("there is no process {pid}")))?,
        );
    } else if wanted.session.command.is_empty() {
        return Err(NotRecorded::Chosen(
            "no workload is named: give a command, as in `alight record workload -- ./my-app`, or \
             --pid or --cgroup"
                .to_owned(),
        ));
    }
    Ok(Chosen::Processes(processes))
}

/// The group, which must have the cpu controller: the group of a task is that of this controller.
fn chosen_group(path: &str) -> Result<Chosen, NotRecorded> {
    let mounted = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu"];
    let directories = mounted.map(|at| format!("{at}{path}"));
    let mut there = directories.iter().map(Path::new).filter(|at| at.is_dir());
    let Some(first) = there.clone().next() else {
        return Err(NotRecorded::Chosen(format!(
            "there is no task group {path}; those that there are lie in /sys/fs/cgroup"
        )));
    };
    // The files of version 2 and 1; the root has neither.
    let controlled = |at: &Path| at.join("cpu.weight").exists() || at.join("cpu.shares").exists();
    match path == "/" || there.any(controlled) {
        true => Ok(Chosen::Group(path.to_owned())),
        false => Err(NotRecorded::Chosen(format!(
            "the task group {path} has no cpu controller; enable it: echo +cpu >{}",
            first.with_file_name("cgroup.subtree_control").display()
        ))),
    }
}

#[cfg(test)]
mod tests;
