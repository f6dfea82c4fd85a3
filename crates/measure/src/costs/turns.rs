// SPDX-License-Identifier: GPL-2.0-only
//! Do two CPUs take turns at one processor?

use super::only;
use rustix::thread::sched_setaffinity;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Loops are counted for so long.
const LOOPS: Duration = Duration::from_millis(25);

/// Do this CPU and `other` take turns at one processor, as those of a guest whose emulator has one
/// thread? A loop here is half as fast then while the other one is busy.
pub(super) fn takes_turns(other: usize) -> bool {
    let alone = loops();
    let (ready, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let beside = thread::scope(|scope| {
        scope.spawn(|| {
            let _ = sched_setaffinity(None, &only(&[other]));
            ready.store(true, Ordering::Relaxed);
            // Without a hint that it only waits, for which an emulator would end its turn.
            let mut turns = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                turns = black_box(turns + 1);
            }
        });
        while !ready.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let beside = loops();
        stop.store(true, Ordering::Relaxed);
        beside
    });
    // Siblings of an SMT core, which slow each other too, keep more.
    beside < alone * 55 / 100
}

/// How often a loop goes round in so long, the longest of a few tries.
fn loops() -> u64 {
    let tries = (0..5).map(|_| {
        let start = Instant::now();
        let mut loops = 0;
        while start.elapsed() < LOOPS {
            loops += 1;
        }
        loops
    });
    tries.max().unwrap_or(0)
}
