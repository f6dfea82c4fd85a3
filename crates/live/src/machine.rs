// SPDX-License-Identifier: GPL-2.0-only
//! The machine that the scheduler uses: as this kernel describes it
//! ([`alight_machine::kernel`]), or as a machine file does, if the kernel does not
//! contradict the file. Simulations of a machine file and the live scheduler get
//! their views the same way ([`alight_machine::views`]).

use alight_arguments::Gated;
use alight_machine::views::energy::{self, Clock, clocks_of_kernel, clocks_of_machine};
use alight_machine::views::{mask, of_kernel, of_machine};
use alight_machine::{CpuSet, Draft, Finding, Machine, contradictions, kernel};
use alight_policy::topology::{BadTopology, CpuDescription, Description, build_online};
use alight_policy::{Core, MAX_CPUS, Mask, Params};
use std::fmt;
use std::path::Path;

/// Why there is no machine to schedule.
#[derive(Debug, thiserror::Error)]
pub enum NoHost {
    /// The kernel states something unusable.
    #[error("this machine: {0}")]
    Kernel(alight_machine::Error),
    /// The machine file cannot be used.
    #[error("{0}")]
    File(alight_machine::Error),
    /// The machine file is not one of this host.
    #[error(
        "machine '{name}' is not this host; give the file of this machine, or none:\n{}",
        lines(findings)
    )]
    Foreign {
        /// The name as given.
        name: String,
        /// The contradictions of the kernel.
        findings: Vec<Finding>,
    },
    /// More CPUs than the core holds.
    #[error("this machine may have {0} CPUs; at most {MAX_CPUS} are supported")]
    TooManyCpus(usize),
    /// No views can be built.
    #[error("this machine's topology: {0}")]
    Topology(#[from] BadTopology),
}

impl NoHost {
    /// Is the input wrong, not this machine?
    pub fn is_input(&self) -> bool {
        matches!(self, NoHost::File(_) | NoHost::Foreign { .. })
    }
}

fn lines(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    lines.join("\n")
}

/// This machine.
#[derive(Debug)]
pub struct Host {
    /// The description from which its views are built; CPUs have the kernel's numbers.
    pub description: Description,
    /// CPUs that are online.
    pub online: Mask,
    /// No CPU comes or goes just now: the kernel states the capacity of all online CPUs, or of
    /// none. It stops stating the capacity of a CPU before it takes the CPU offline.
    pub settled: bool,
    /// The clocks from which an energy model is made; empty if none is known.
    clocks: Vec<Clock>,
    /// Capacities are from the file: later changes in the kernel do not count.
    pub told: bool,
    switches: kernel::EnergySwitches,
}

/// Whether energy decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Energy {
    /// It does, with so many performance domains.
    On(usize),
    /// It does not, and why.
    Off(energy::Off),
    /// Base and machine support it, but it is switched off, and why.
    Switched(String),
}

impl fmt::Display for Energy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Energy::On(nr) => write!(f, "energy-aware placement: {nr} performance domains"),
            Energy::Off(why) => write!(f, "no energy-aware placement: {why}"),
            Energy::Switched(why) => write!(f, "no energy-aware placement: {why}"),
        }
    }
}

impl Host {
    /// The host whose `sys` and `proc` are in `root`. `told`: a machine file, or the name of a
    /// built-in machine, that replaces the kernel's description.
    ///
    /// # Errors
    /// The kernel or the file states something unusable.
    pub fn read(root: &Path, told: Option<&str>, gated: &[Gated]) -> Result<Self, NoHost> {
        let topology = kernel::Topology::read(root).map_err(NoHost::Kernel)?;
        let possible = topology.cpus.len();
        if possible > MAX_CPUS {
            return Err(NoHost::TooManyCpus(possible));
        }
        let switches = kernel::energy_switches(root, &topology.online).map_err(NoHost::Kernel)?;
        let settled = settled(&topology);
        let mut host = match told {
            None => {
                let model = kernel::energy_model(root).map_err(NoHost::Kernel)?;
                Host {
                    description: of_kernel(&topology),
                    online: mask(&topology.online),
                    settled,
                    clocks: clocks_of_kernel(&model),
                    told: false,
                    switches,
                }
            }
            Some(name) => {
                let machine = fitting(name, &topology)?;
                Host {
                    description: widened(of_machine(&machine), &topology),
                    online: mask(&topology.online),
                    settled,
                    clocks: clocks_of_machine(&machine),
                    told: true,
                    switches,
                }
            }
        };
        for level in &mut host.description.levels {
            level.gated |= gated.iter().any(|gated| gated.is(level.kind));
        }
        Ok(host)
    }

    /// Its views under these rules, with an energy model if energy decides.
    ///
    /// # Errors
    /// If no views can be built.
    pub fn core(&self, params: &Params) -> Result<(Core, Energy), NoHost> {
        let mut core = build_online(&self.description, params, self.online)?;
        let energy = match energy::model(&core, &self.online, &self.clocks) {
            Err(why) => Energy::Off(why),
            Ok(model) => match self.switched_off() {
                Some(why) => Energy::Switched(why),
                None => {
                    let set = core.set_perf(model);
                    set.expect("a model of this machine's CPUs");
                    Energy::On(core.perf.len())
                }
            },
        };
        Ok((core, energy))
    }

    /// Do all CPUs use schedutil, to which the scheduler reports utilization?
    pub fn schedutil(&self) -> bool {
        self.switches.other_governor.is_none() && !self.switches.no_cpufreq
    }

    /// Why the kernel would not use the energy model, if so (`sched_is_eas_possible()`).
    fn switched_off(&self) -> Option<String> {
        if self.switches.wanted == Some(false) {
            return Some("/proc/sys/kernel/sched_energy_aware is 0".into());
        }
        if let Some((cpu, governor)) = &self.switches.other_governor {
            return Some(format!(
                "the governor of CPU {cpu} is {governor}, not schedutil"
            ));
        }
        // A board whose energy model is from a file may have a fixed clock.
        (self.switches.no_cpufreq && !self.told).then(|| "there is no cpufreq".into())
    }
}

/// Does the kernel state the capacity of all CPUs that are online, or of none?
fn settled(topology: &kernel::Topology) -> bool {
    let stated = |cpu: usize| topology.cpus[cpu].capacity.is_some();
    topology.online.iter().all(stated) || !topology.online.iter().any(stated)
}

/// The machine called `name`, if it is this one.
fn fitting(name: &str, topology: &kernel::Topology) -> Result<Machine, NoHost> {
    let draft: Draft = alight_machine::open(name).map_err(NoHost::File)?;
    let findings = contradictions(&draft, topology);
    let sheet = draft.resolve().map_err(NoHost::File)?;
    if !findings.is_empty() {
        return Err(NoHost::Foreign {
            name: name.to_owned(),
            findings,
        });
    }
    Ok(sheet.machine)
}

/// Adds the CPUs that the kernel may get and the machine file, which has the present CPUs, lacks.
/// Each of them is alone in its spans, as offline CPUs are.
fn widened(mut machine: Description, topology: &kernel::Topology) -> Description {
    let stated = machine.cpus.len();
    for (cpu, facts) in topology.cpus.iter().enumerate().skip(stated) {
        let capacity = facts
            .capacity
            .and_then(|capacity| u32::try_from(capacity).ok());
        machine.cpus.push(CpuDescription {
            capacity: capacity.unwrap_or(1024),
            node: 0,
        });
        let alone = mask(&CpuSet::single(cpu));
        machine
            .levels
            .iter_mut()
            .for_each(|level| level.spans.push(alone));
    }
    machine
}
