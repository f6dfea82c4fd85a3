// SPDX-License-Identifier: GPL-2.0-only
//! What CPUs do at their events, and what is done to them from outside.

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

/// A run: CPUs and tasks that do what programs say, and what is done to them from outside.
#[repr(C)]
pub(crate) struct Sim<'a> {
    pub programs: Programs<'a>,
    /// What is done to the machine, and the CPUs that there are.
    agenda: Agenda,
    replay: Replay,
}

stands_on!(Sim on Programs: programs);

impl<'a> Sim<'a> {
    /// Tasks that do what `programs` say, on a machine to which is done what is on the agenda.
    pub fn new(programs: Programs<'a>, agenda: Agenda, replay: Replay) -> Self {
        Sim {
            programs,
            agenda,
            replay,
        }
    }

    /// What of recordings is repeated.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }
}
