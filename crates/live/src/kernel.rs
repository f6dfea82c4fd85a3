// SPDX-License-Identifier: GPL-2.0-only
//! Checks what this kernel offers before anything is loaded. Each reason not to load is one
//! sentence instead of a verifier's log.

use libbpf_rs::ReferencesType;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, FuncProto};
use std::fmt;
use std::fs;
use std::path::Path;

/// Kernel functions that the scheduler cannot do without.
const REQUIRED: [&str; 8] = [
    "scx_bpf_task_cpu",
    "scx_bpf_now",
    "scx_bpf_get_online_cpumask",
    "scx_bpf_put_cpumask",
    "bpf_cpumask_test_cpu",
    "scx_bpf_dsq_move_to_local",
    "scx_bpf_dsq_insert",
    "scx_bpf_dsq_insert_vtime",
];

/// Kernel functions that the scheduler uses if the kernel has them, and what gets worse
/// without them. `None`: nothing, there is another way that is as good.
const OPTIONAL: [(&str, Option<&str>); 11] = [
    (
        "scx_bpf_create_dsq",
        Some(
            "tasks get a CPU in the order in which they arrive: nice values and cgroup weights \
             have no effect",
        ),
    ),
    (
        "scx_bpf_kick_cpu",
        Some(
            "a task that waits for a busy CPU gets an idle one only at the end of a turn, and \
             turns end only at ticks",
        ),
    ),
    // The field of the task is written instead.
    ("scx_bpf_task_set_slice", None),
    // Two ways to see what is queued.
    ("scx_bpf_dsq_peek", None),
    ("bpf_iter_scx_dsq_new", None),
    ("bpf_iter_scx_dsq_next", None),
    ("bpf_iter_scx_dsq_destroy", None),
    ("scx_bpf_dsq_move", None),
    // For the kernel's dump, which says less without them.
    ("scx_bpf_dump_bstr", None),
    ("scx_bpf_dsq_nr_queued", None),
    // The loader says what happens to frequencies without it.
    ("scx_bpf_cpuperf_set", None),
];

/// What the kernel's type information says of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Described {
    /// It can be called.
    Whole,
    /// Linux 7.0 and later give some functions a hidden last parameter, `aux`, and describe each
    /// twice: without it, and with it as `NAME_impl`. Some pahole releases leave the pair out; no
    /// program can call the function then.
    Broken,
    /// There is none.
    Absent,
}

/// A function that cannot be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub function: &'static str,
    /// The kernel has it, but its type information is broken.
    pub broken: bool,
    /// What the scheduler does worse without it.
    pub consequence: Option<&'static str>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.broken {
            " (its type information is broken)"
        } else {
            ""
        };
        write!(f, "{}{why}", self.function)
    }
}

/// What a kernel that can run the scheduler offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Functions that the scheduler would use and the kernel lacks.
    pub missing: Vec<Missing>,
    /// All functions of sched_ext that no program can call, because their type information is
    /// broken.
    pub broken: Vec<String>,
}

impl Offer {
    /// Remarks for the operator, a line each: what is worse than on other kernels and why, in one
    /// sentence; if `verbose`, also functions whose lack makes nothing worse.
    pub fn remarks(&self, verbose: bool) -> Vec<String> {
        let mut remarks = Vec::new();
        let clauses: Vec<_> = (self.missing.iter())
            .filter_map(|missing| Some((missing, missing.consequence?)))
            .map(|(missing, consequence)| format!("this kernel lacks {missing}: {consequence}"))
            .collect();
        if !clauses.is_empty() {
            remarks.push(clauses.join("; "));
        }
        if verbose {
            for missing in &self.missing {
                remarks.push(format!("does without {missing}"));
            }
            if !self.broken.is_empty() {
                remarks.push(format!(
                    "this kernel's type information of {} sched_ext functions is broken: {}",
                    self.broken.len(),
                    self.broken.join(", ")
                ));
            }
        }
        remarks
    }
}

/// Includes the two capabilities below, which were split from it.
const CAP_SYS_ADMIN: u32 = 21;
/// What loading a scheduler needs.
const NEEDED: [(&str, u32); 2] = [("CAP_BPF", 39), ("CAP_PERFMON", 38)];

/// Why no scheduler can be loaded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The process lacks capabilities.
    #[error(
        "no permission: loading a scheduler needs root, or CAP_BPF and CAP_PERFMON; {0} is missing"
    )]
    Permission(String),
    /// Kernel without sched_ext.
    #[error(
        "this kernel has no sched_ext: there is no /sys/kernel/sched_ext (CONFIG_SCHED_CLASS_EXT; \
         Debian enables it from 6.18 on)"
    )]
    NoSchedExt,
    /// Another scheduler is loaded.
    #[error("another sched_ext scheduler is loaded: '{name}' is {state}; stop it first")]
    Occupied {
        /// Its name.
        name: String,
        /// State of sched_ext.
        state: String,
    },
    /// Kernel without type information.
    #[error("this kernel has no type information (CONFIG_DEBUG_INFO_BTF): {0}")]
    NoBtf(String),
    /// Functions are missing, or their type information is broken.
    #[error("this kernel lacks functions that the scheduler needs: {0}")]
    MissingFunctions(String),
}

/// Can a scheduler be loaded now?
///
/// # Errors
/// The first reason why not.
pub fn check() -> Result<Offer, Refusal> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    check_permission(&status)?;
    check_state(Path::new("/sys/kernel/sched_ext"))?;
    let btf = Btf::from_vmlinux().map_err(|error| Refusal::NoBtf(error.to_string()))?;
    let missing = missing_functions(|name| described(&btf, name))?;
    let mut broken: Vec<_> = (btf.type_by_kind::<Func<'_>>())
        .filter_map(|function| Some(function.name()?.to_str()?.to_string()))
        .filter(|name| name.starts_with("scx_bpf_") || name.starts_with("bpf_iter_scx_"))
        .filter(|name| !name.ends_with("_impl") && described(&btf, name) == Described::Broken)
        .collect();
    broken.sort_unstable();
    broken.dedup();
    Ok(Offer { missing, broken })
}

/// Can programs call `function` of the kernel?
pub(crate) fn can_call(btf: &Btf<'_>, function: &str) -> bool {
    described(btf, function) == Described::Whole
}

fn described(btf: &Btf<'_>, name: &str) -> Described {
    let Some(function) = btf.type_by_name::<Func<'_>>(name) else {
        return Described::Absent;
    };
    let prototype = FuncProto::try_from(function.referenced_type());
    let hidden = prototype.is_ok_and(|prototype| {
        (prototype.iter()).any(|parameter| parameter.name.is_some_and(|name| name == "aux"))
    });
    let counterpart = format!("{name}_impl");
    if hidden && btf.type_by_name::<Func<'_>>(&counterpart).is_none() {
        Described::Broken
    } else {
        Described::Whole
    }
}

/// `described`: what the kernel's type information says of a function.
fn missing_functions(described: impl Fn(&str) -> Described) -> Result<Vec<Missing>, Refusal> {
    let missing = |function, consequence| match described(function) {
        Described::Whole => None,
        absent_or_broken => Some(Missing {
            function,
            broken: absent_or_broken == Described::Broken,
            consequence,
        }),
    };
    let required: Vec<_> = (REQUIRED.iter())
        .filter_map(|function| missing(function, None))
        .map(|missing| missing.to_string())
        .collect();
    if !required.is_empty() {
        return Err(Refusal::MissingFunctions(required.join(", ")));
    }
    Ok((OPTIONAL.iter())
        .filter_map(|(function, consequence)| missing(function, *consequence))
        .collect())
}

/// `status`: text of `/proc/self/status`.
fn check_permission(status: &str) -> Result<(), Refusal> {
    let effective = (status.lines())
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    let Some(effective) = effective else {
        return Ok(());
    };
    let has = |capability: u32| effective >> capability & 1 != 0;
    let missing: Vec<_> = (NEEDED.into_iter())
        .filter(|(_, capability)| !has(*capability) && !has(CAP_SYS_ADMIN))
        .map(|(name, _)| name)
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Refusal::Permission(missing.join(" and no "))),
    }
}

/// `directory`: sched_ext's in sysfs.
fn check_state(directory: &Path) -> Result<(), Refusal> {
    let state = fs::read_to_string(directory.join("state")).map_err(|_| Refusal::NoSchedExt)?;
    if state.trim() == "disabled" {
        return Ok(());
    }
    let name = fs::read_to_string(directory.join("root/ops")).unwrap_or_default();
    Err(Refusal::Occupied {
        name: name.trim().to_string(),
        state: state.trim().to_string(),
    })
}

/// Number of CPU hotplug events so far; the kernel refuses a scheduler that was
/// prepared before the last one.
pub fn hotplug_seq() -> u64 {
    fs::read_to_string("/sys/kernel/sched_ext/hotplug_seq")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
