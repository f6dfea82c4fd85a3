// SPDX-License-Identifier: GPL-2.0-only
//! Sysctls of the scheduler that a run may set, by name and value.

/// A sysctl with the value that is written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sysctl {
    /// The name.
    pub name: SysctlName,
    /// The value.
    pub value: i64,
}

impl std::str::FromStr for Sysctl {
    type Err = String;

    /// Parses `NAME=VALUE`, with or without the prefix `kernel.`. Whether the kernel accepts the
    /// value is checked when a run is built.
    fn from_str(text: &str) -> Result<Self, String> {
        let known = || {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!(
                "expected one of {}, like {}=512",
                names.join(", "),
                names[0]
            )
        };
        let Some((name, value)) = text.split_once('=') else {
            return Err(format!("it has no value; {}", known()));
        };
        let name = name.strip_prefix("kernel.").unwrap_or(name);
        let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == name) else {
            return Err(format!("'{name}' is not modelled; {}", known()));
        };
        match value.parse() {
            Ok(value) => Ok(Sysctl { name: *name, value }),
            Err(_) => Err(format!("'{value}' is no whole number; {}", known())),
        }
    }
}

/// The sysctls that are modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SysctlName {
    /// `sched_util_clamp_min`: no lower clamp is above it, 0 to 1024 (from Linux 5.3 on).
    UtilClampMin,
    /// `sched_util_clamp_max`: no upper clamp is above it, 0 to 1024 (from Linux 5.3 on).
    UtilClampMax,
    /// `sched_util_clamp_min_rt_default`: lower clamp of real-time tasks that ask for none, 0 to 1024
    /// (from Linux 5.8 on).
    UtilClampMinRtDefault,
    /// `sched_rt_period_us`: the period of [`SysctlName::RtRuntimeUs`], us.
    RtPeriodUs,
    /// `sched_rt_runtime_us`: time that real-time tasks may run per period and CPU, us; -1: no
    /// limit. From Linux 6.12 on it only limits what SCHED_DEADLINE admits.
    RtRuntimeUs,
    /// `sched_base_slice_ns`: slice of a fair task without a custom slice, ns (from Linux 6.6 on;
    /// in debugfs, `sched/base_slice_ns`).
    BaseSliceNs,
}

impl SysctlName {
    /// The name as users type it.
    pub fn as_str(self) -> &'static str {
        let named = NAMES.iter().find(|(_, name)| *name == self);
        named.map_or("", |(text, _)| text)
    }
}

pub(crate) const NAMES: [(&str, SysctlName); 6] = [
    ("sched_util_clamp_min", SysctlName::UtilClampMin),
    ("sched_util_clamp_max", SysctlName::UtilClampMax),
    (
        "sched_util_clamp_min_rt_default",
        SysctlName::UtilClampMinRtDefault,
    ),
    ("sched_rt_period_us", SysctlName::RtPeriodUs),
    ("sched_rt_runtime_us", SysctlName::RtRuntimeUs),
    ("sched_base_slice_ns", SysctlName::BaseSliceNs),
];
