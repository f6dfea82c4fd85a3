// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel may have seen of a machine that changed while it searched.
//!
//! A record has two copies of what changed: one from just before the kernel's
//! function and one from just after it. The kernel looked at each CPU once or
//! more in between. So the state at the exit is as much what it may have seen
//! as that at the entry, and so is one CPU from here and another from there.

use super::layout::{Wakeup, flag};

/// Changed CPUs of which every mixture is tried; of more, only both ends.
const MIXED: u32 = 8;

/// The wakeup as it was at the exit.
pub fn exit(wakeup: &Wakeup) -> Wakeup {
    mixture(wakeup, wakeup.changed, true)
}

/// Every other state between the two: each set of changed CPUs taken from the
/// exit, before and after the tick and what else has no CPU.
pub fn between(wakeup: &Wakeup) -> impl Iterator<Item = Wakeup> {
    let nr = wakeup.changed.count_ones();
    let sets = if nr <= MIXED { 1u64 << nr } else { 0 };
    (0..sets).flat_map(move |set| {
        [false, true].map(|later| mixture(wakeup, spread(set, wakeup.changed), later))
    })
}

/// The CPUs of `exits` as at the exit, the others as at the entry; `later`: what has no CPU too.
fn mixture(wakeup: &Wakeup, exits: u64, later: bool) -> Wakeup {
    let mut mixed = wakeup.clone();
    if later {
        mixed.jiffies += u64::from(wakeup.exit_ticks);
        mixed.flags = wakeup.flags & !flag::OVERUTILIZED | wakeup.exit_flags & flag::OVERUTILIZED;
    }
    for (cpu, state) in wakeup.at_exit() {
        if exits >> cpu & 1 != 0 {
            mixed.cpus[cpu as usize] = *state;
        }
    }
    // A task's queue was copied with the task, before its CPU.
    for (task, cpu) in [
        (&mut mixed.wakee, wakeup.task_cpu),
        (&mut mixed.waker, wakeup.this_cpu),
    ] {
        if let Some(cpu) = mixed.cpus.get(cpu as usize).filter(|_| task.depth == 0) {
            task.queue_load_avg = cpu.load_avg.into();
            task.queue_last_update = cpu.last_update_time;
        }
    }
    mixed
}

/// The low bits of `set`, one after the other, at the places of the bits of `mask`.
fn spread(mut set: u64, mask: u64) -> u64 {
    let mut spread = 0;
    for at in (0..u64::BITS).filter(|at| mask >> at & 1 != 0) {
        spread |= (set & 1) << at;
        set >>= 1;
    }
    spread
}

#[cfg(test)]
mod tests;
