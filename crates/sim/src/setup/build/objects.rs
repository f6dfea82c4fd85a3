// SPDX-License-Identifier: GPL-2.0-only
//! The objects of programs: those of each workload follow those of the workload before.

use super::Parts;
use crate::base::histogram::Histogram;
use crate::program::channel::Channel;
use crate::program::sync::BarrierState;
use crate::setup::link::Base;
use crate::world::state::MarkState;
use crate::world::waits::{Mutex, WaitQueue};
use alight_workload::program::{Deal, Workload};

impl Parts {
    /// The first ids of the objects of workload `index`, which is added next.
    pub(super) fn base(&self, index: usize) -> Base {
        Base {
            task: self.tasks.len() as u32,
            attributes: self.objects.attributes.len() as u32,
            channel: self.objects.channels.len() as u32,
            barrier: self.objects.barriers.len() as u32,
            mutex: self.mutexes.len() as u32,
            condition: self.objects.conditions.len() as u32,
            semaphore: self.objects.semaphores.len() as u32,
            counter: self.objects.counters.len() as u32,
            mark: self.objects.marks.len() as u32,
            histogram: self.objects.histograms.len() as u32,
            stamp: self.objects.instruments.stamps.len() as u32,
            tally: self.objects.instruments.tallies.len() as u32,
            desk: self.objects.instruments.desks.len() as u32,
            deal: self.objects.deals.len() as u32,
            lateness: self.objects.instruments.lateness.len() as u16,
            log: self.objects.logs as u32,
            workload: index as u32,
        }
    }

    /// Adds the objects of a workload.
    pub(super) fn add_objects(&mut self, workload: &Workload, base: Base, nr_cpus: usize) {
        let objects = &mut self.objects;
        objects.instruments.add(workload, nr_cpus);
        self.mutexes.resize(
            self.mutexes.len() + workload.mutexes as usize,
            Mutex::default(),
        );
        objects.conditions.resize(
            objects.conditions.len() + workload.conditions as usize,
            WaitQueue::default(),
        );
        objects.semaphores.resize(
            objects.semaphores.len() + workload.semaphores as usize,
            (0, WaitQueue::default()),
        );
        objects
            .barriers
            .extend(workload.barriers.iter().map(|&parties| BarrierState {
                parties,
                ..Default::default()
            }));
        objects
            .channels
            .extend(workload.channels.iter().map(|&kind| Channel::new(kind)));
        objects
            .counters
            .resize(objects.counters.len() + workload.counters as usize, 0);
        let deals = workload.deals.iter();
        objects.deals.extend(deals.map(|&deal| Deal {
            counter: deal.counter + base.counter,
            ..deal
        }));
        objects.marks.resize(
            objects.marks.len() + workload.marks as usize,
            MarkState::default(),
        );
        objects
            .histograms
            .extend(workload.histograms.iter().map(|_| Histogram::default()));
        objects.logs += workload.logs as usize;
    }
}
