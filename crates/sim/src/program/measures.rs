// SPDX-License-Identifier: GPL-2.0-only
//! Counters, deals, time marks and histograms of programs, for the reports of their workloads.

use crate::base::histogram::Histogram;
use crate::face::tally::Tally;
use crate::program::Programs;
use crate::program::effect::Effect;
use crate::world::asked::Attributes;
use crate::world::state::MarkState;
use alight_workload::program::Deal;

impl Programs<'_> {
    /// The task takes the next number of a deal, or goes on at `done` if the deal has no more.
    pub fn take(&mut self, task: usize, deal: u32, done: u32) -> Effect {
        let Deal {
            counter,
            modulo,
            limit,
            until_ns,
        } = self.deals[deal as usize];
        let start = self.workloads[self.tasks[task].workload as usize].start;
        let passed = self.now - start;
        let count = &mut self.counters[counter as usize];
        if *count >= limit || passed >= until_ns {
            return Effect::Jump(done);
        }
        let register = if modulo == 0 {
            *count as u32
        } else {
            (*count % u64::from(modulo)) as u32
        };
        *count += 1;
        self.tasks[task].register = register;
        Effect::Done
    }

    /// Adds one to a counter.
    pub fn count_one(&mut self, counter: u32) {
        self.counters[counter as usize] += 1;
    }

    /// A task passes a time mark.
    pub fn pass_mark(&mut self, mark: u32) {
        let now = self.now;
        let mark = &mut self.marks[mark as usize];
        mark.first.get_or_insert(now);
        mark.last = Some(now);
    }

    /// Records a duration, ns.
    pub fn record(&mut self, histogram: u32, ns: u64) {
        self.histograms[histogram as usize].record(ns);
    }

    /// The value of a counter.
    pub fn counted(&self, counter: u32) -> u64 {
        self.counters[counter as usize]
    }

    /// All counters.
    pub fn counters(&self) -> &[u64] {
        &self.counters
    }

    /// All time marks.
    pub fn marks(&self) -> &[MarkState] {
        &self.marks
    }

    pub fn histogram(&self, histogram: u32) -> &Histogram {
        &self.histograms[histogram as usize]
    }

    /// All tallies.
    pub fn tallies(&self) -> &[Tally] {
        &self.instruments.tallies
    }

    /// Moves the tallies to the caller.
    pub fn take_tallies(&mut self) -> Vec<Tally> {
        std::mem::take(&mut self.instruments.tallies)
    }

    /// Attributes that a program names.
    pub fn attributes(&self, nr: u32) -> &Attributes {
        &self.attributes[nr as usize]
    }

    /// Adds attributes that a program may name by the number that is returned.
    #[cfg(test)]
    pub fn pretend_attributes(&mut self, attributes: Attributes) -> u32 {
        self.attributes.push(attributes);
        self.attributes.len() as u32 - 1
    }

    /// Is the time of a stamp still to come?
    pub fn before_stamp(&self, stamp: u32) -> bool {
        self.now < self.instruments.stamps[stamp as usize]
    }
}
