// SPDX-License-Identifier: GPL-2.0-only
//! Interrupts on a CPU: which one a waking came from, and how long they took.

use alight_recording::workload::Interrupt;

/// Soft interrupts that carry out timers (`TIMER_SOFTIRQ`, `HRTIMER_SOFTIRQ`,
/// include/linux/interrupt.h).
const TIMER_VECTORS: [u64; 2] = [1, 8];
/// Soft interrupts that say nothing of the device: `SCHED_SOFTIRQ` and `RCU_SOFTIRQ`.
const INTERNAL_VECTORS: [u64; 2] = [7, 9];

/// What an interrupt that wakes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Timer,
    Device,
    Unknown,
}

/// The interrupts that a CPU is in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nesting {
    within: Vec<Interrupt>,
    /// When the outermost began, ns.
    since: u64,
    /// When the one that began last was due, ns.
    due: Option<u64>,
    /// How many timers that were due at the same time came before it.
    behind: u32,
    /// Time in interrupts since it was last taken, ns.
    spent: u64,
}

impl Nesting {
    pub fn begin(&mut self, interrupt: Interrupt, now: u64, late_ns: u32) {
        let due = now - u64::from(late_ns).min(now);
        let of_timer = |one: Interrupt| {
            matches!(
                one,
                Interrupt::Hrtimer(_) | Interrupt::Timer(_) | Interrupt::Tick
            )
        };
        self.behind = match of_timer(interrupt) && Some(due) == self.due {
            true => self.behind + 1,
            false => 0,
        };
        self.due = Some(due);
        if self.within.is_empty() {
            self.since = now;
        }
        self.within.push(interrupt);
    }

    /// The end of one that did not begin here is nothing; with one that did end those within it.
    pub fn end(&mut self, interrupt: Interrupt, now: u64) {
        let same =
            |one: &Interrupt| std::mem::discriminant(one) == std::mem::discriminant(&interrupt);
        let Some(at) = self.within.iter().rposition(same) else {
            return;
        };
        self.within.truncate(at);
        if self.within.is_empty() {
            self.spent += now - self.since;
        }
    }

    /// Time in interrupts since this was last asked, ns.
    pub fn take_spent(&mut self, now: u64) -> u64 {
        if !self.within.is_empty() {
            self.spent += now - self.since;
            self.since = now;
        }
        std::mem::take(&mut self.spent)
    }

    /// Whether the CPU is in an interrupt whose begin was seen.
    pub fn is_inside(&self) -> bool {
        !self.within.is_empty()
    }

    /// When the interrupt that wakes at `now` was due; `now` if none began.
    pub fn due(&self, now: u64) -> u64 {
        match self.source() {
            Source::Unknown => now,
            Source::Timer | Source::Device => self.due.unwrap_or(now),
        }
    }

    /// How many timers of the CPU expired before the one that wakes, in the interrupt of the first.
    /// It had slack: its own interrupt was not due yet.
    pub fn behind(&self) -> u32 {
        match self.source() {
            Source::Timer => self.behind,
            Source::Device | Source::Unknown => 0,
        }
    }

    /// Which one wakes: the innermost that says it.
    pub fn source(&self) -> Source {
        for interrupt in self.within.iter().rev() {
            match interrupt {
                Interrupt::Hrtimer(_) | Interrupt::Timer(_) | Interrupt::Tick => {
                    return Source::Timer;
                }
                Interrupt::Softirq(vector) if TIMER_VECTORS.contains(vector) => {
                    return Source::Timer;
                }
                Interrupt::Softirq(vector) if INTERNAL_VECTORS.contains(vector) => {}
                Interrupt::Device(_) | Interrupt::Ipi(_) | Interrupt::Softirq(_) => {
                    return Source::Device;
                }
            }
        }
        Source::Unknown
    }
}

#[cfg(test)]
mod tests;
