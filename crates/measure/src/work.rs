// SPDX-License-Identifier: GPL-2.0-only
//! How fast a CPU works: loops of a mix of multiplications, loads that the first-level cache holds,
//! and branches that depend on the data.

use crate::on_cpu;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Length of a slice, ns of the thread's own time: what others take of the CPU does not count.
const SLICE: u64 = 10_000_000;
/// The best of so many slices counts.
const SLICES: u32 = 5;
/// Entries of the table, 16 KiB in all.
const TABLE: usize = 2048;
/// Turns between two looks at the clock.
const TURNS: u32 = 2000;

/// Loops of `cpu` in a slice.
///
/// # Errors
/// The CPU may not be used.
pub(crate) fn alone(cpu: usize) -> io::Result<u64> {
    on_cpu(cpu, || Ok(best(SLICES)))
}

/// Loops of `cpu` in a slice, while `sibling` works too.
///
/// # Errors
/// A CPU may not be used.
pub(crate) fn beside(cpu: usize, sibling: usize) -> io::Result<u64> {
    let (works, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            on_cpu(sibling, || {
                while !stop.load(Ordering::Relaxed) {
                    best(1);
                    works.store(true, Ordering::Relaxed);
                }
                Ok(())
            })
        });
        while !works.load(Ordering::Relaxed) && !other.is_finished() {
            thread::yield_now();
        }
        let loops = on_cpu(cpu, || Ok(best(SLICES)));
        stop.store(true, Ordering::Relaxed);
        let other = other.join();
        other.unwrap_or_else(|_| Err(io::Error::other("a benchmark ended early")))?;
        loops
    })
}

/// Loops of this thread in the best of `slices`.
fn best(slices: u32) -> u64 {
    let mut table: Vec<u64> = (0..TABLE as u64).map(|n| n.wrapping_mul(SEED)).collect();
    (0..slices).map(|_| loops(&mut table)).max().unwrap_or(0)
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

fn loops(table: &mut [u64]) -> u64 {
    let end = own_time() + SLICE;
    let (mut state, mut loops) = (SEED, 0);
    while own_time() < end {
        for _ in 0..TURNS {
            state = state.wrapping_mul(SEED).rotate_left(23);
            let entry = &mut table[state as usize % TABLE];
            if *entry & 3 == 0 {
                *entry = entry.wrapping_add(state);
            } else {
                state ^= *entry;
            }
        }
        loops += u64::from(TURNS);
    }
    black_box(state);
    loops
}

/// Time that this thread has had a CPU, ns.
pub(crate) fn own_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests;
