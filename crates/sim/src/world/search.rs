// SPDX-License-Identifier: GPL-2.0-only
//! A CPU whose task sleeps searches for others before it switches (`newidle_balance`). Meanwhile it is
//! not idle for wakers, the task is still on it (`p->on_cpu`), and interrupts wait.

use crate::base::timeline::NONE;
use crate::world::World;
use crate::world::state::Phase;
use alight_policy::MAX_LEVELS;
use alight_trace::PrevState;

/// The last search for tasks of a CPU on its way to idle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// The task from which the CPU switches at its end (`p->on_cpu`), [`NONE`] if it does not
    /// search.
    pub prev: u32,
    /// The state in which that task leaves.
    pub prev_state: PrevState,
    /// When it began, ns.
    pub from: u64,
    /// When the search in each domain ends, ns; of [`Search::nr_ends`] domains.
    ends: [u64; MAX_LEVELS],
    nr_ends: u8,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            prev: NONE,
            prev_state: PrevState::Sleeping,
            nr_ends: 0,
            from: 0,
            ends: [0; MAX_LEVELS],
        }
    }
}

impl Search {
    /// A search begins at `at`.
    #[inline]
    pub fn begins(&mut self, at: u64) {
        self.from = at;
        self.nr_ends = 0;
    }

    /// The search in one more domain ends at `at`.
    #[inline]
    pub fn ends_domain(&mut self, at: u64) {
        self.ends[self.nr_ends as usize] = at;
        self.nr_ends += 1;
    }

    /// The end of the domain in which the search is at `at`, if there is one.
    fn end_of_domain(&self, at: u64) -> Option<u64> {
        let ends = &self.ends[..self.nr_ends as usize];
        ends.iter().copied().find(|&end| end >= at)
    }
}

impl World<'_> {
    /// `cpu` gets a task at `reached`. If it searches for tasks, it goes on no further than the
    /// domain in which it is then (`newidle_balance`).
    #[inline]
    pub fn search_stops(&mut self, cpu: usize, reached: u64) {
        if self.cpus[cpu].phase == Phase::Searching {
            self.search_stops_early(cpu, reached);
        }
    }

    #[cold]
    fn search_stops_early(&mut self, cpu: usize, reached: u64) {
        let c = &mut self.cpus[cpu];
        let end = c.search.end_of_domain(reached).unwrap_or(c.end);
        // It does not see the task before.
        c.end = c.end.min(end).max(reached);
        self.queue.set(cpu, self.cpus[cpu].end);
    }
}
