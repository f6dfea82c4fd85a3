// SPDX-License-Identifier: GPL-2.0-only
//! The events of CPUs: interrupts, switches, and the execution of programs; and changes from
//! outside: hotplug, frequencies, recordings that are repeated.

pub(crate) mod attributes;
pub(crate) mod changes;
pub(crate) mod count_anew;
pub(crate) mod cpu;
pub(crate) mod exec;
pub(crate) mod frequency;
pub(crate) mod hotplug;
pub(crate) mod idle_loop;
pub(crate) mod invariants;
pub(crate) mod lifetime;
pub(crate) mod replay;

use crate::base::layer::stands_on;
use crate::dispatch::changes::Agenda;
use crate::dispatch::replay::Replay;
use crate::program::Programs;

/// A run: CPUs, tasks that execute programs, and changes from outside.
#[repr(C)]
pub(crate) struct Sim<'a> {
    pub programs: Programs<'a>,
    /// The changes of the machine during the run.
    agenda: Agenda,
    replay: Replay,
}

stands_on!(Sim on Programs: programs);

impl<'a> Sim<'a> {
    /// A run of `programs` on a machine that changes by `agenda`.
    pub fn new(programs: Programs<'a>, agenda: Agenda, replay: Replay) -> Self {
        Sim {
            programs,
            agenda,
            replay,
        }
    }

    /// The state of repeated recordings.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }
}
