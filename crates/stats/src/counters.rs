// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel side counts on each CPU, and what it all adds up to.

use crate::histogram;

/// Steps that the kernel side has room for, more than there are.
pub const STEP_SLOTS: usize = 64;
/// Buckets of scan lengths.
pub const SCAN_BUCKETS: usize = 11;
/// Buckets of run delays, ns.
pub const DELAY_BUCKETS: usize = 40;
/// Where a task runs next to where it ran last, nearest first; what each means.
pub const DISTANCES: [(&str, &str); 4] = [
    ("core", "another thread of the same core"),
    ("cache", "another core at the same last-level cache"),
    ("node", "another cache of the same memory node"),
    ("far", "another memory node"),
];

/// Declares [`Counters`]: the plain ones have name, description and order from one list.
macro_rules! counters {
    ($($name:ident $what:literal,)*) => {
        /// Counts since the scheduler was loaded, of one CPU or of all: `struct cpu_stats` of the
        /// kernel side.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Counters {
            $(#[doc = $what] pub $name: u64,)*
            /// Longest run delay, ns.
            pub delay_max_ns: u64,
            /// Decisions by the step that answered, in the order of [`alight_policy::STEPS`].
            pub steps: [u64; STEP_SLOTS],
            /// Decisions by log2 of the number of CPUs that they looked at.
            pub scans: [u64; SCAN_BUCKETS],
            /// Starts by log2 of the run delay, ns.
            pub delays: [u64; DELAY_BUCKETS],
            /// Starts elsewhere than last time by distance, in the order of [`DISTANCES`].
            pub moved: [u64; DISTANCES.len()],
        }

        /// Names and descriptions of the plain counters.
        pub const PLAIN: &[(&str, &str)] = &[$((stringify!($name), $what),)*];

        impl Counters {
            /// Nothing counted yet.
            pub const ZERO: Counters = Counters {
                $($name: 0,)*
                delay_max_ns: 0,
                steps: [0; STEP_SLOTS],
                scans: [0; SCAN_BUCKETS],
                delays: [0; DELAY_BUCKETS],
                moved: [0; DISTANCES.len()],
            };

            /// The plain counters, in the order of [`PLAIN`].
            pub fn plain(&self) -> [u64; PLAIN.len()] {
                [$(self.$name,)*]
            }

            /// The plain counters, to be changed, in the order of [`PLAIN`].
            pub(crate) fn plain_mut(&mut self) -> [&mut u64; PLAIN.len()] {
                [$(&mut self.$name,)*]
            }
        }
    };
}

counters! {
    decisions "choices of a CPU for a waking or new task",
    lost "decisions that were not recorded because the buffer was full",
    found_idle "decisions for a CPU that was idle or ran only SCHED_IDLE tasks",
    scanned "CPUs that decisions looked at",
    runs "tasks that started to run",
    delay_ns "sum of the times from runnable to running, ns",
    direct "tasks that started without a queue, because the CPU was idle",
    queued "tasks put into a CPU's queue, ordered by deadline",
    patient "tasks put into a queue by age: too light to be served by deadline in time",
    preempted_idle "SCHED_IDLE tasks preempted by other tasks",
    preempted "other tasks preempted by a task with an earlier deadline",
    pulled_idle "tasks that a CPU with nothing to run took from another CPU's queue",
    pulled_balance "tasks taken from a busier CPU's queue at a tick",
    misfit "running tasks sent to a bigger CPU",
    spread "idle CPUs that got a task from a CPU where tasks waited",
    packed "tasks moved to a CPU that takes part in packing",
    yields "calls of sched_yield()",
    timed "turns that a timer ended between ticks because a task waited",
    reminded "idle CPUs told once more that a task waits for them",
}

impl Counters {
    /// Adds what another CPU, or another time, counted.
    pub fn add(&mut self, other: &Counters) {
        self.combine(other, u64::wrapping_add);
        self.delay_max_ns = self.delay_max_ns.max(other.delay_max_ns);
    }

    /// What was counted since `before`. The longest run delay is known only if it came since
    /// then: else it is the end of the highest bucket that grew.
    pub fn since(&self, before: &Counters) -> Counters {
        let mut these = self.clone();
        these.combine(before, u64::saturating_sub);
        if self.delay_max_ns == before.delay_max_ns {
            let highest = these.delays.iter().rposition(|&count| count > 0);
            let end = highest.map_or(0, |bucket| *histogram::values(bucket, DELAY_BUCKETS).end());
            these.delay_max_ns = end.min(self.delay_max_ns);
        }
        these
    }

    /// The run delay below or at which `per_mille` of all starts lie, ns; 0 without any.
    pub fn delay(&self, per_mille: u64) -> u64 {
        histogram::quantile(&self.delays, per_mille, self.delay_max_ns).unwrap_or(0)
    }

    fn combine(&mut self, other: &Counters, with: impl Fn(u64, u64) -> u64) {
        let each = |these: &mut [u64], others: &[u64]| {
            for (this, other) in these.iter_mut().zip(others) {
                *this = with(*this, *other);
            }
        };
        for (this, other) in self.plain_mut().into_iter().zip(other.plain()) {
            *this = with(*this, other);
        }
        each(&mut self.steps, &other.steps);
        each(&mut self.scans, &other.scans);
        each(&mut self.delays, &other.delays);
        each(&mut self.moved, &other.moved);
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<'a> std::iter::Sum<&'a Counters> for Counters {
    fn sum<I: Iterator<Item = &'a Counters>>(cpus: I) -> Self {
        let mut sum = Counters::ZERO;
        cpus.for_each(|cpu| sum.add(cpu));
        sum
    }
}

#[cfg(test)]
mod tests;
