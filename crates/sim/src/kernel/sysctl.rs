// SPDX-License-Identifier: GPL-2.0-only
//! The sysctls of a run. They are written before the run, one after the other; as in the kernel,
//! each is checked against the present values of the others.

use crate::face::api::{Error, SystemClamps};
use crate::face::sysctl::{Sysctl, SysctlName};
use crate::kernel::{Clamps, Fair, Kernel, Throttle};

/// The limit of real-time tasks: `runtime` in each `period`, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RtLimit {
    pub period: u64,
    /// `None`: no limit (`RUNTIME_INF`).
    pub runtime: Option<u64>,
}

/// The values of the sysctls of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sysctls {
    pub clamps: SystemClamps,
    pub rt: RtLimit,
    /// Base slice, ns; `None`: the kernel's, which grows with the number of CPUs.
    pub base_slice: Option<u64>,
}

const NS_PER_US: u64 = 1000;
/// Greatest clamp.
const SCALE: i64 = 1024;

impl Sysctls {
    /// Writes `given` one after the other.
    ///
    /// # Errors
    /// If a sysctl is written twice, if this kernel does not have it, or if the kernel refuses the
    /// value.
    pub fn of(kernel: &Kernel, given: &[Sysctl]) -> Result<Self, Error> {
        let runtime_us = kernel.deadline.map_or(950_000, |rules| rules.limit_us);
        let mut sysctls = Sysctls {
            clamps: SystemClamps::default(),
            rt: RtLimit {
                period: 1_000_000_000,
                runtime: Some(runtime_us * NS_PER_US),
            },
            base_slice: None,
        };
        for (nr, sysctl) in given.iter().enumerate() {
            let written = match given[..nr].iter().any(|other| other.name == sysctl.name) {
                true => Err("it is given twice; leave one out".to_owned()),
                false => sysctls.write(kernel, *sysctl),
            };
            written.map_err(|why| {
                let (name, value) = (sysctl.name.as_str(), sysctl.value);
                Error::Refused(format!("sysctl {name}={value}, {}: {why}", kernel.name))
            })?;
        }
        Ok(sysctls)
    }

    fn write(&mut self, kernel: &Kernel, sysctl: Sysctl) -> Result<(), String> {
        match sysctl.name {
            SysctlName::UtilClampMin
            | SysctlName::UtilClampMax
            | SysctlName::UtilClampMinRtDefault => self.write_clamp(kernel, sysctl),
            SysctlName::RtPeriodUs | SysctlName::RtRuntimeUs => self.write_rt(sysctl),
            SysctlName::BaseSliceNs => self.write_slice(kernel, sysctl.value),
        }
    }

    /// `sysctl_sched_uclamp_handler()`.
    fn write_clamp(&mut self, kernel: &Kernel, sysctl: Sysctl) -> Result<(), String> {
        if kernel.clamps == Clamps::Unknown {
            return Err("utilization clamps of the system came with Linux 5.3".into());
        }
        let is_rt_default = sysctl.name == SysctlName::UtilClampMinRtDefault;
        if is_rt_default && kernel.clamps == Clamps::Always {
            return Err("it came with Linux 5.8".into());
        }
        if !(0..=SCALE).contains(&sysctl.value) {
            return Err("clamps of the system are 0 to 1024 (EINVAL)".into());
        }
        let value = sysctl.value as u32;
        let mut clamps = self.clamps;
        match sysctl.name {
            SysctlName::UtilClampMin => clamps.min = value,
            SysctlName::UtilClampMax => clamps.max = value,
            _ => clamps.min_rt_default = value,
        }
        if clamps.min > clamps.max {
            return Err(format!(
                "sched_util_clamp_min, then {}, must not be above sched_util_clamp_max, then {} \
                 (EINVAL); both begin as 1024: write the lower one first",
                clamps.min, clamps.max
            ));
        }
        self.clamps = clamps;
        Ok(())
    }

    /// `sched_rt_handler()`, `sched_rt_global_validate()`.
    fn write_rt(&mut self, sysctl: Sysctl) -> Result<(), String> {
        let most = i64::from(i32::MAX);
        let mut rt = self.rt;
        match (sysctl.name, sysctl.value) {
            (SysctlName::RtPeriodUs, value @ 1..) if value <= most => {
                rt.period = value as u64 * NS_PER_US;
            }
            (SysctlName::RtPeriodUs, _) => {
                return Err(format!("a period is 1 to {most} us (EINVAL)"));
            }
            (_, -1) => rt.runtime = None,
            (_, value @ 0..) if value <= most => rt.runtime = Some(value as u64 * NS_PER_US),
            _ => {
                return Err(
                    "a runtime is 0 us to that of sched_rt_period_us, or -1 for no limit (EINVAL)"
                        .into(),
                );
            }
        }
        if rt.runtime.is_some_and(|runtime| runtime > rt.period) {
            return Err(format!(
                "sched_rt_runtime_us, then {}, must not be above sched_rt_period_us, then {} \
                 (EINVAL); write them in an order that keeps this true",
                rt.runtime.unwrap_or(0) / NS_PER_US,
                rt.period / NS_PER_US
            ));
        }
        self.rt = rt;
        Ok(())
    }

    /// A `u32` file of debugfs without further checks. The kernel also accepts 0.
    fn write_slice(&mut self, kernel: &Kernel, ns: i64) -> Result<(), String> {
        if let Fair::Cfs(_) = kernel.fair {
            return Err(
                "it came with Linux 6.6, where EEVDF replaced CFS; linux-7.2 has it".into(),
            );
        }
        match u32::try_from(ns) {
            Ok(0) => Err("a slice of 0 ns is not simulated; expected 1 or more".into()),
            Ok(ns) => {
                self.base_slice = Some(ns.into());
                Ok(())
            }
            Err(_) => Err(format!("a slice is 1 to {} ns (EINVAL)", u32::MAX)),
        }
    }
}

impl RtLimit {
    /// No limit: the value before one is set.
    pub const NONE: RtLimit = RtLimit {
        period: 1_000_000_000,
        runtime: None,
    };

    /// Does the limit throttle real-time tasks? A limit of 0 does not
    /// (`sched_rt_runtime_exceeded()`).
    pub fn throttles(&self, rule: Throttle) -> bool {
        rule != Throttle::None && self.runtime.is_some_and(|runtime| runtime != 0)
    }
}

#[cfg(test)]
mod tests;
