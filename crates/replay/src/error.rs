// SPDX-License-Identifier: GPL-2.0-only
//! Why a recording cannot be replayed.

use std::collections::BTreeSet;
use std::str::FromStr;

use alight_machine::Machine;
use alight_recording::Header;
use alight_recording::workload::{CPUS, Capability, NotAWorkload, UnknownCapability};

/// Fewer blocks are no sample.
pub(crate) const LEAST_BLOCKS: usize = 5;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum NotReplayable {
    /// The file is not whole, or not of a workload.
    #[error(transparent)]
    Recording(#[from] NotAWorkload),
    /// It was made by a newer program.
    #[error(transparent)]
    Capability(#[from] UnknownCapability),
    /// Its header has a fact that is no number.
    #[error(
        "says in its header that {fact} is '{found}', not a number: it is damaged; record again"
    )]
    Fact {
        /// Name of the fact.
        fact: &'static str,
        /// What it is.
        found: String,
    },
    /// It holds no events.
    #[error(
        "holds no events: nothing happened while it was recorded, or events were not asked for"
    )]
    Empty,
    /// It holds no task that is of the workload.
    #[error(
        "holds no task of the workload: it ended before the recording began, or was not chosen"
    )]
    NoTask,
    /// It does not tell something without which a replay is false.
    #[error("does not tell {}: {}; record again with this event", .0, .0.lacking())]
    Lacks(Capability),
    /// There is too little to draw from.
    #[error(
        "has {blocks} blocks of {block_ms} ms in which no task is born or ends; at least {LEAST_BLOCKS} are \
         needed to draw from: record for longer, or give a shorter --block"
    )]
    TooShort {
        /// What it has.
        blocks: usize,
        /// Length of a block, ms.
        block_ms: u64,
    },
    /// It is of another machine.
    #[error("was recorded on {recorded}; the machine '{machine}' has {has}: name the recorded one")]
    Machine {
        /// What the recording says.
        recorded: String,
        /// Name of the machine.
        machine: String,
        /// What that has instead.
        has: String,
    },
}

/// A fact of the header that is a number, if it is there.
pub(crate) fn number<N: FromStr>(
    header: &Header,
    fact: &'static str,
) -> Result<Option<N>, NotReplayable> {
    let Some(found) = header.facts.get(fact) else {
        return Ok(None);
    };
    found.parse().map(Some).map_err(|_| NotReplayable::Fact {
        fact,
        found: found.clone(),
    })
}

/// Is the recording of this machine, by what both say?
pub(crate) fn same_machine(header: &Header, machine: &Machine) -> Result<(), NotReplayable> {
    let differ = |recorded: String, has: String| {
        Err(NotReplayable::Machine {
            recorded,
            machine: machine.name.clone(),
            has,
        })
    };
    let (listed, has) = (header.cpus.len(), machine.cpus.len());
    let counted = number(header, CPUS)?;
    let recorded = match listed {
        0 => counted.unwrap_or(has),
        listed => listed,
    };
    if recorded != has {
        return differ(format!("{recorded} CPUs"), format!("{has}"));
    }
    for (fact, cpu) in header.cpus.iter().zip(&machine.cpus) {
        if fact.capacity != cpu.capacity_orig {
            return differ(
                format!(
                    "a machine whose CPU {} has capacity {}",
                    fact.cpu, fact.capacity
                ),
                format!("one of capacity {}", cpu.capacity_orig),
            );
        }
    }
    Ok(())
}

/// Is the CPU of an event one of the machine's?
pub(crate) fn is_there(cpu: u16, machine: &Machine) -> Result<(), NotReplayable> {
    match usize::from(cpu) < machine.cpus.len() {
        true => Ok(()),
        false => Err(NotReplayable::Machine {
            recorded: format!("a machine that has a CPU {cpu}"),
            machine: machine.name.clone(),
            has: format!("{} CPUs, from 0", machine.cpus.len()),
        }),
    }
}

/// Does the source tell what no replay can do without?
pub(crate) fn enough(told: &BTreeSet<Capability>) -> Result<(), NotReplayable> {
    match told.contains(&Capability::Wakings) {
        true => Ok(()),
        false => Err(NotReplayable::Lacks(Capability::Wakings)),
    }
}

#[cfg(test)]
mod tests;
