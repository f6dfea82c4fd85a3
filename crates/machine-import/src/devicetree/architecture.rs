// SPDX-License-Identifier: GPL-2.0-only
//! The architecture of a machine, from the nodes of its CPUs. Others than Arm and RISC-V are refused:
//! their device trees say other things.

use std::fmt;

use super::tree::{Id, Tree};
use crate::error::Error;

/// An architecture whose device trees are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    Arm,
    RiscV,
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arm => "Arm",
            Self::RiscV => "RISC-V",
        })
    }
}

/// What the `compatible` of a core of Arm begins with (Linux
/// `Documentation/devicetree/bindings/arm/cpus.yaml`). Broadcom and Cavium make cores of MIPS, too, and
/// Intel cores of x86.
const ARM: [&str; 15] = [
    "arm,",
    "apple,",
    "qcom,",
    "nvidia,",
    "brcm,brahma-",
    "brcm,vulcan",
    "cavium,thunder",
    "intel,sa11",
    "intel,xscale",
    "marvell,",
    "samsung,",
    "ampere,",
    "hisilicon,",
    "fujitsu,",
    "faraday,",
];

/// The architecture that all CPUs are of.
pub(super) fn of(tree: &Tree, cpus: &[Id]) -> Result<Architecture, Error> {
    let mut known = None;
    for &cpu in cpus {
        let own = of_cpu(tree, cpu)?;
        let first = *known.get_or_insert(own);
        if own != first {
            let message = format!(
                "is a core of {own}, expected one of {first}, as the CPUs before it are: leave the cores \
                 of one of the two out of the file"
            );
            return Err(tree.error(cpu, message));
        }
    }
    Ok(known.unwrap_or(Architecture::Arm))
}

fn of_cpu(tree: &Tree, cpu: Id) -> Result<Architecture, Error> {
    let compatible = tree.texts(cpu, "compatible")?;
    let begins = |name: &String| ARM.iter().any(|vendor| name.starts_with(vendor));
    // No other architecture has PSCI. PowerPC has spin tables as Arm has.
    let method = tree.text(cpu, "enable-method")?;
    if compatible.iter().any(begins) || method.is_some_and(|method| method == "psci") {
        return Ok(Architecture::Arm);
    }
    // Linux takes no other node for a hart (riscv_early_of_processor_hartid()).
    let isa = ["riscv,isa", "riscv,isa-base"];
    if compatible.iter().any(|name| name == "riscv") || isa.iter().any(|name| tree.has(cpu, name)) {
        return Ok(Architecture::RiscV);
    }
    let found = match compatible.is_empty() {
        true => "no `compatible`".to_owned(),
        false => format!("the `compatible` {}", compatible.join(", ")),
    };
    let message =
        format!("has {found}, expected a core of Arm or RISC-V, such as `arm,cortex-a53`");
    Err(tree.error(cpu, message))
}
