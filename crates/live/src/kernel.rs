// SPDX-License-Identifier: GPL-2.0-only
//! What this kernel must offer, looked at before anything is loaded: each
//! reason against loading is one sentence instead of a verifier's log.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Func;
use std::fs;
use std::path::Path;

/// Kernel functions that the scheduler cannot do without.
const REQUIRED: [&str; 7] = [
    "scx_bpf_task_cpu",
    "scx_bpf_now",
    "scx_bpf_get_online_cpumask",
    "scx_bpf_put_cpumask",
    "scx_bpf_dsq_move_to_local",
    "scx_bpf_dsq_insert",
    "scx_bpf_dsq_insert_vtime",
];

/// `CAP_SYS_ADMIN`, which loading a scheduler needs.
const CAP_SYS_ADMIN: u32 = 21;

/// Why no scheduler can be loaded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No rights.
    #[error("no permission: loading a scheduler needs root (CAP_SYS_ADMIN)")]
    Permission,
    /// Kernel without sched_ext.
    #[error(
        "this kernel has no sched_ext: there is no /sys/kernel/sched_ext (CONFIG_SCHED_CLASS_EXT; \
         Debian enables it from 6.18 on)"
    )]
    NoSchedExt,
    /// Someone else is there.
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
    /// Functions are not there, or the kernel's type information of them is broken.
    #[error("this kernel lacks functions that the scheduler needs: {0}")]
    MissingFunctions(String),
}

/// Can a scheduler be loaded now?
///
/// # Errors
/// The first reason why not.
pub fn check() -> Result<(), Refusal> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    check_permission(&status)?;
    check_state(Path::new("/sys/kernel/sched_ext"))?;
    let btf = Btf::from_vmlinux().map_err(|error| Refusal::NoBtf(error.to_string()))?;
    let missing: Vec<_> = (REQUIRED.iter().copied())
        .filter(|name| btf.type_by_name::<Func<'_>>(name).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(Refusal::MissingFunctions(missing.join(", ")));
    }
    Ok(())
}

/// `status`: text of `/proc/self/status`.
fn check_permission(status: &str) -> Result<(), Refusal> {
    let effective = (status.lines())
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    match effective {
        Some(bits) if bits >> CAP_SYS_ADMIN & 1 == 0 => Err(Refusal::Permission),
        _ => Ok(()),
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
mod tests {
    use super::*;

    #[test]
    fn permission_is_read_from_the_effective_capabilities() {
        assert_eq!(
            check_permission("Name:\tx\nCapEff:\t000001ffffffffff\n"),
            Ok(())
        );
        assert_eq!(
            check_permission("CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n"),
            Err(Refusal::Permission)
        );
    }

    #[test]
    fn another_scheduler_is_named() {
        let sysfs = tempfile::tempdir().unwrap();
        assert_eq!(check_state(sysfs.path()), Err(Refusal::NoSchedExt));

        fs::write(sysfs.path().join("state"), "disabled\n").unwrap();
        assert_eq!(check_state(sysfs.path()), Ok(()));

        fs::write(sysfs.path().join("state"), "enabled\n").unwrap();
        fs::create_dir(sysfs.path().join("root")).unwrap();
        fs::write(sysfs.path().join("root/ops"), "lavd\n").unwrap();
        let text = check_state(sysfs.path()).unwrap_err().to_string();
        assert_eq!(
            text,
            "another sched_ext scheduler is loaded: 'lavd' is enabled; stop it first"
        );
    }
}
