// SPDX-License-Identifier: GPL-2.0-only
//! Chooses the programs that this kernel can run, and says what a recording can tell with them.

use crate::workload_skeleton::{OpenRecordWorkloadSkel, types};
use alight_recording::KernelVersion;
use alight_recording::workload::Capability;
use libbpf_rs::OpenProgramMut;
use libbpf_rs::ReferencesType;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, FuncProto, Typedef};
use libbpf_rs::skel::OpenSkel;
use std::collections::BTreeSet;

/// Functions with another name in some kernels; the arguments that are read are the same.
const OTHERWISE: [(&str, &str); 4] = [
    ("wakeup_preempt", "check_preempt_curr"),
    ("__set_cpus_allowed_ptr_locked", "__set_cpus_allowed_ptr"),
    ("anon_pipe_read", "pipe_read"),
    ("anon_pipe_write", "pipe_write"),
];
/// Begins the names of programs that record calls.
const CALLS: &str = "call_";
/// Begins the names of programs that are attached with breakpoints.
const PROBES: &str = "probed_";
/// A function of kernels whose functions' entries and exits can be hooked (fentry, fexit): amd64,
/// and arm64 since 6.4.
const DIRECT: &str = "register_ftrace_direct";

/// The first kernel whose BPF has an atomic addition that returns the old value (`BPF_FETCH`). By
/// it an event takes a slot of a ring, although an interrupt with other events may come any time.
const FETCHES: KernelVersion = KernelVersion {
    major: 5,
    minor: 12,
};

/// Whether this kernel can write events into the rings.
///
/// # Errors
/// It is too old, in words.
pub fn may_fetch(release: &str) -> Result<(), String> {
    match KernelVersion::parse(release) {
        Some(version) if version < FETCHES => Err(format!(
            "it is {}, and the recorder needs an atomic addition of BPF that {FETCHES} has",
            release.trim()
        )),
        _ => Ok(()),
    }
}

/// What a recording cannot tell without this program.
fn told_by(program: &str) -> Option<Capability> {
    Some(match program {
        "called_select" | "called_preempt" | "probed_select" | "probed_preempt" => Capability::Sync,
        "called_yield" | "probed_yield" => Capability::Yields,
        "traced_frequency" => Capability::Frequency,
        "traced_idle" => Capability::Idle,
        "traced_hrtimer" | "traced_hrtimer_end" | "traced_timer" | "traced_timer_end"
        | "traced_irq" | "traced_irq_end" | "traced_softirq" | "traced_softirq_end" => {
            Capability::Interrupts
        }
        "called_setscheduler" | "called_nice" | "called_affinity" => Capability::Attributes,
        "probed_setscheduler" | "probed_nice" | "probed_affinity" => Capability::Attributes,
        "probed_setscheduler_end" | "probed_nice_end" | "probed_affinity_end" => {
            Capability::Attributes
        }
        "traced_attach" => Capability::Cgroups,
        call if call.starts_with(CALLS) => Capability::Calls,
        _ => return None,
    })
}

/// Leaves out the programs whose functions and tracepoints this kernel's type information lacks,
/// and, unless `calls` is set, those that record calls. Returns what the recording will tell.
///
/// # Errors
/// The missing hooks that a recording needs, in words.
pub fn choose(
    open: &mut OpenRecordWorkloadSkel<'_>,
    btf: &Btf<'_>,
    calls: bool,
) -> Result<BTreeSet<Capability>, String> {
    let mut capabilities: BTreeSet<Capability> = Capability::ALL.into_iter().collect();
    if !calls {
        capabilities.remove(&Capability::Calls);
    }
    let direct = function(btf, DIRECT);
    let mut missing = Vec::new();
    for mut program in open.open_object_mut().progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let section = program.section().to_string_lossy().into_owned();
        // Functions are hooked in one of two ways; calls only in the first.
        let other_way = match direct {
            true => name.starts_with(PROBES),
            false => entry_or_exit(&section) && !name.starts_with(CALLS),
        };
        if other_way {
            program.set_autoload(false);
            continue;
        }
        let wanted = (calls && direct) || !name.starts_with(CALLS);
        if wanted && (has(btf, &section) || otherwise(btf, &section, &mut program)) {
            continue;
        }
        program.set_autoload(false);
        match told_by(&name) {
            Some(capability) => {
                capabilities.remove(&capability);
            }
            // Only some kernels report changes of names and groups.
            None if name == "traced_rename" || name.contains("_autogroup") => {}
            // A replay then guesses what kind of sleep it was.
            None if name.starts_with("called_sleep") => {}
            // This class exists since 6.12, if it is configured.
            None if name == "called_select_ext" => {}
            None => missing.push(section),
        }
    }
    match missing.is_empty() {
        true => Ok(capabilities),
        false => Err(format!("its type information lacks {}", missing.join(", "))),
    }
}

/// Sets what the programs that record calls must know of this kernel.
pub fn describe(constants: &mut types::rodata, btf: &Btf<'_>, version: &str) {
    constants.calls = 1;
    let parameters = btf
        .type_by_name::<Func<'_>>("futex_wake")
        .and_then(|function| {
            let prototype = FuncProto::try_from(function.referenced_type()).ok()?;
            Some(prototype.iter().count())
        });
    constants.futex_pops = u32::from(parameters == Some(5));
    // kernel/futex/futex.h: FLAGS_SHARED was 1 up to 6.6.
    let mut numbers = version
        .split(['.', '-'])
        .map_while(|one| one.parse::<u32>().ok());
    let before = (numbers.next(), numbers.next()) < (Some(6), Some(7));
    constants.futex_shared = if before { 0x01 } else { 0x10 };
}

/// Does the kernel have what a program of this section is attached to?
fn has(btf: &Btf<'_>, section: &str) -> bool {
    match section.split_once('/') {
        Some(("tp_btf", name)) => {
            let name = format!("btf_trace_{name}");
            btf.type_by_name::<Typedef<'_>>(&name).is_some()
        }
        Some(("fentry" | "fexit" | "kprobe" | "kretprobe", name)) => function(btf, name),
        _ => true,
    }
}

fn entry_or_exit(section: &str) -> bool {
    section.starts_with("fentry/") || section.starts_with("fexit/")
}

fn function(btf: &Btf<'_>, name: &str) -> bool {
    btf.type_by_name::<Func<'_>>(name).is_some()
}

/// Attaches the program to its function's other name, if the kernel has that.
fn otherwise(btf: &Btf<'_>, section: &str, program: &mut OpenProgramMut<'_>) -> bool {
    let usual = section.split_once('/').map_or("", |(_, name)| name);
    let other = OTHERWISE.iter().find(|(name, _)| *name == usual);
    other.is_some_and(|(_, other)| {
        function(btf, other)
            && program
                .set_attach_target(0, Some((*other).to_owned()))
                .is_ok()
    })
}
