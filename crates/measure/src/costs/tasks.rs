// SPDX-License-Identifier: GPL-2.0-only
//! Tasks that yield to each other, wake each other and preempt each other.

use super::descriptors::joined;
use super::{BATCHES, CALLS, MESSAGE, median, ns};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Writes that end with the reader in the writer's place, in batches.
const PREEMPTIONS: u32 = 20 * CALLS;
/// They take less, unless there is somebody else.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two tasks that yield to each other on one CPU, beyond the call itself.
pub(super) fn switch(yields: u64, here: CpuSet) -> io::Result<u64> {
    let (ready, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let other = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = sched_setaffinity(None, &here);
            ready.store(true, Ordering::Relaxed);
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
                other.fetch_add(1, Ordering::Relaxed);
            }
        });
        while !ready.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let mut batches = Vec::new();
        let result = (|| {
            for _ in 0..BATCHES {
                let before = (Instant::now(), switches()?, other.load(Ordering::Relaxed));
                for _ in 0..CALLS {
                    thread::yield_now();
                }
                let whole = ns(before.0.elapsed());
                // Each time that this one is left, it is come back to.
                let switches = 2 * (switches()? - before.1);
                let calls = u64::from(CALLS) + other.load(Ordering::Relaxed) - before.2;
                if switches >= u64::from(CALLS) / 4 {
                    batches.push(whole.saturating_sub(calls * yields) / switches);
                }
            }
            Ok(())
        })();
        stop.store(true, Ordering::Relaxed);
        result.and_then(|()| match batches.len() {
            0..3 => Err(io::Error::other(
                "two tasks that yield on one CPU do not switch: the cost of a switch cannot be measured",
            )),
            _ => Ok(median(batches)),
        })
    })
}

/// Times that this thread has left the CPU.
fn switches() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let count = |line: &str| {
        line.split_once("ctxt_switches:")?
            .1
            .trim()
            .parse::<u64>()
            .ok()
    };
    Ok(status.lines().filter_map(count).sum())
}

/// What a waker is charged for a write and a wakeup whose task preempts it, with the switch back, ns.
/// As SCHED_IDLE it is always preempted. `None`: others want the CPU, who leave it next to nothing, or
/// the kernel does not count (no `CONFIG_SCHED_INFO`).
pub(super) fn preempted() -> io::Result<Option<u64>> {
    let (mut from, mut to) = io::pipe()?;
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut message = [0; MESSAGE];
            while from.read_exact(&mut message).is_ok() {}
            Ok(())
        });
        let waker = scope.spawn(move || {
            set_policy(libc::SCHED_IDLE, 0)?;
            let mut write = || (0..CALLS).try_for_each(|_| to.write_all(&[0; MESSAGE]));
            write()?; // the reader has come to wait
            let (start, before) = (Instant::now(), charged_so_far());
            for _ in 0..PREEMPTIONS / CALLS {
                write()?;
                if start.elapsed() > PATIENCE {
                    return Ok(None);
                }
            }
            let charged = charged_so_far().zip(before);
            Ok(charged.map(|(after, before)| (after - before) / u64::from(PREEMPTIONS)))
        });
        let charged = joined(waker);
        joined(reader)?;
        charged
    })
}

/// Time that this thread was charged, up to its last switch.
fn charged_so_far() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// A message from one task to another that waits for it.
pub(super) struct Hop {
    /// From before the write to after the read, half a round.
    pub whole: u64,
    /// The write alone, as its writer sees it.
    pub write: u64,
}

/// Each of the two sleeps before the other writes: as SCHED_BATCH neither preempts who wakes
/// it. One that does finds the other awake when it answers, and a round with one
/// wakeup is taken for one with two.
pub(super) fn hop(here: CpuSet, there: CpuSet) -> io::Result<Hop> {
    set_policy(libc::SCHED_BATCH, 0)?;
    let hop = hop_by_sleepers(here, there);
    set_policy(libc::SCHED_OTHER, 0)?;
    hop
}

/// Of this thread and of those that it starts from now on.
pub(super) fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    let priority = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: it reads `priority`, which outlives the call.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn hop_by_sleepers(here: CpuSet, there: CpuSet) -> io::Result<Hop> {
    let (mut from, mut to_other) = io::pipe()?;
    let (mut back, mut from_other) = io::pipe()?;
    let echo = thread::spawn(move || -> io::Result<()> {
        sched_setaffinity(None, &there)?;
        let mut message = [0; MESSAGE];
        while from.read_exact(&mut message).is_ok() {
            from_other.write_all(&message)?;
        }
        Ok(())
    });
    sched_setaffinity(None, &here)?;
    let mut message = [0; MESSAGE];
    let (mut wholes, mut writes) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        for _ in 0..CALLS / 4 {
            let start = Instant::now();
            to_other.write_all(&message)?;
            let written = start.elapsed();
            back.read_exact(&mut message)?;
            wholes.push(ns(start.elapsed()) / 2);
            writes.push(ns(written));
        }
    }
    drop(to_other);
    echo.join()
        .map_err(|_| io::Error::other("the echo ended early"))??;
    Ok(Hop {
        whole: median(wholes),
        write: median(writes),
    })
}
