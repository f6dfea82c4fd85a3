// SPDX-License-Identifier: GPL-2.0-only
//! The means by which tasks interact: channels and locks; and the measurements of programs.

pub(crate) mod activations;
pub(crate) mod calls;
pub(crate) mod channel;
pub(crate) mod effect;
pub(crate) mod instruments;
pub(crate) mod measures;
pub(crate) mod sync;

use crate::balance::Balancer;
use crate::base::histogram::Histogram;
use crate::base::layer::stands_on;
use crate::base::table::Table;
#[cfg(doc)]
use crate::base::timeline::NONE;
use crate::program::activations::Activations;
use crate::program::channel::{Channel, MessageMemory};
use crate::program::instruments::Instruments;
use crate::program::sync::BarrierState;
use crate::world::asked::Attributes;
use crate::world::state::MarkState;
use crate::world::waits::WaitQueue;
use alight_workload::program::Deal;

/// The objects of programs: channels, locks, measurements.
#[repr(C)]
pub(crate) struct Programs<'a> {
    pub balancer: Balancer<'a>,
    channels: Table<Channel>,
    message_memory: MessageMemory,
    counters: Table<u64>,
    deals: Table<Deal>,
    attributes: Vec<Attributes>,
    conditions: Vec<WaitQueue>,
    semaphores: Vec<(u32, WaitQueue)>,
    barriers: Vec<BarrierState>,
    marks: Vec<MarkState>,
    histograms: Vec<Histogram>,
    instruments: Instruments,
    activations: Activations,
}

stands_on!(Programs on Balancer: balancer);

/// The objects that programs act on, as the workloads define them.
#[derive(Default)]
pub(crate) struct Objects {
    pub attributes: Vec<Attributes>,
    pub conditions: Vec<WaitQueue>,
    pub semaphores: Vec<(u32, WaitQueue)>,
    pub barriers: Vec<BarrierState>,
    pub channels: Vec<Channel>,
    pub counters: Vec<u64>,
    pub deals: Vec<Deal>,
    pub marks: Vec<MarkState>,
    pub histograms: Vec<Histogram>,
    pub instruments: Instruments,
    /// Number of logs of passes, and for each task the log that it writes, [`NONE`] without
    /// one.
    pub logs: usize,
    pub log_of_task: Vec<u32>,
}

impl<'a> Programs<'a> {
    /// Programs that act on `objects`.
    ///
    /// # Safety
    /// Every deal, channel and counter that operations of the world name must exist.
    pub unsafe fn new(balancer: Balancer<'a>, objects: Objects) -> Self {
        let (nr_cpus, kept) = (balancer.cpus.len(), balancer.machine.memory.messages_kept);
        // SAFETY: looked up by what operations name, and deals name counters that are there.
        let (channels, counters, deals) = unsafe {
            (
                Table::new(objects.channels),
                Table::new(objects.counters),
                Table::new(objects.deals),
            )
        };
        Programs {
            balancer,
            channels,
            message_memory: MessageMemory::new(nr_cpus, kept),
            counters,
            deals,
            attributes: objects.attributes,
            conditions: objects.conditions,
            semaphores: objects.semaphores,
            barriers: objects.barriers,
            marks: objects.marks,
            histograms: objects.histograms,
            instruments: objects.instruments,
            activations: Activations::new(objects.logs, &objects.log_of_task),
        }
    }
}
