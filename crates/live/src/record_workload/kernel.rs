// SPDX-License-Identifier: GPL-2.0-only
//! What of the kernel side this kernel can run, and what the recording can tell with it.

use crate::workload_skeleton::OpenRecordWorkloadSkel;
use alight_recording::workload::Capability;
use libbpf_rs::OpenProgramMut;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, Typedef};
use libbpf_rs::skel::OpenSkel;
use std::collections::BTreeSet;

/// Functions of which any does for a program, the first that there is being taken. Their first
/// argument is the task.
const AFFINITY: [&str; 2] = ["__set_cpus_allowed_ptr_locked", "__set_cpus_allowed_ptr"];

/// What a program that this kernel cannot run would have told.
fn told_by(program: &str) -> Option<Capability> {
    Some(match program {
        "called_wake_up" => Capability::Sync,
        "called_yield" => Capability::Yields,
        "traced_frequency" => Capability::Frequency,
        "traced_idle" => Capability::Idle,
        "traced_hrtimer" | "traced_hrtimer_end" | "traced_timer" | "traced_timer_end"
        | "traced_irq" | "traced_irq_end" | "traced_softirq" | "traced_softirq_end" => {
            Capability::Interrupts
        }
        "called_setscheduler" | "called_nice" | "called_affinity" => Capability::Attributes,
        "traced_attach" => Capability::Cgroups,
        _ => return None,
    })
}

/// Leaves out the programs whose functions and tracepoints this kernel's type information lacks.
/// Returns what the recording will tell.
///
/// # Errors
/// In words: what a recording cannot do without.
pub fn choose(
    open: &mut OpenRecordWorkloadSkel<'_>,
    btf: &Btf<'_>,
) -> Result<BTreeSet<Capability>, String> {
    let mut capabilities: BTreeSet<Capability> = Capability::ALL.into_iter().collect();
    capabilities.remove(&Capability::Calls);
    let mut missing = Vec::new();
    for mut program in open.open_object_mut().progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let section = program.section().to_string_lossy().into_owned();
        if has(btf, &section) || (name == "called_affinity" && other(btf, &mut program)) {
            continue;
        }
        program.set_autoload(false);
        match told_by(&name) {
            Some(capability) => {
                capabilities.remove(&capability);
            }
            // Changes of names and groups are told by some.
            None if name == "traced_rename" || name == "called_autogroup" => {}
            None => missing.push(section),
        }
    }
    match missing.is_empty() {
        true => Ok(capabilities),
        false => Err(format!("its type information lacks {}", missing.join(", "))),
    }
}

/// Is there what a program of this section is attached to?
fn has(btf: &Btf<'_>, section: &str) -> bool {
    match section.split_once('/') {
        Some(("tp_btf", name)) => {
            let name = format!("btf_trace_{name}");
            btf.type_by_name::<Typedef<'_>>(&name).is_some()
        }
        Some(("fentry" | "fexit", name)) => function(btf, name),
        _ => true,
    }
}

fn function(btf: &Btf<'_>, name: &str) -> bool {
    btf.type_by_name::<Func<'_>>(name).is_some()
}

/// Attaches the program that tells changes of the affinity to the function that there is.
fn other(btf: &Btf<'_>, program: &mut OpenProgramMut<'_>) -> bool {
    let found = AFFINITY.into_iter().find(|name| function(btf, name));
    found.is_some_and(|name| program.set_attach_target(0, Some(name.to_owned())).is_ok())
}
