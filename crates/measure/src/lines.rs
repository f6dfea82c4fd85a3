// SPDX-License-Identifier: GPL-2.0-only
//! What fetching a cache line takes: one that another CPU wrote last, one of the last-level cache, one
//! of memory. A line is found by the one before it, so that fetches come one after the other.

use crate::on_cpu;
use crate::rounds::median;
use crate::work::own_time;
use rustix::mm::{Advice, madvise};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Lines that another CPU writes and this one then fetches: first-level caches hold them.
const LINES: usize = 128;
/// So often; the median counts.
const TIMES: u64 = 200;
/// Two CPUs that take turns at one processor get no further than this.
const PATIENCE: Duration = Duration::from_millis(300);
/// Loads of a chain.
const LOADS: usize = 1 << 18;

/// A pair of lines, which caches may fetch together, of which one is used.
#[repr(align(128))]
#[derive(Default)]
struct Line {
    next: AtomicUsize,
    used: AtomicU64,
}

/// What fetching lines of another CPU takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// One after the other, ns of a line.
    pub line: u64,
    /// Several at a time, ns of 1024 lines.
    pub refill: u64,
}

/// Fetches, on `reader`, lines that `writer` wrote last.
///
/// # Errors
/// A CPU may not be used, or the two do not get to run at the same time.
pub(crate) fn fetch(writer: usize, reader: usize) -> io::Result<Fetch> {
    let lines = chain(LINES);
    let order: Vec<usize> = walk(&lines);
    // Even: the writer's turn; odd: the reader's. The end is the largest.
    let turn = AtomicU64::new(0);
    let end = u64::MAX;
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            on_cpu(writer, || {
                while let Some(now) = wait(&turn, |now| now % 2 == 0 || now == end) {
                    if now == end {
                        break;
                    }
                    for line in &lines {
                        let next = line.next.load(Ordering::Relaxed);
                        line.next.store(next, Ordering::Relaxed);
                        line.used.store(now, Ordering::Relaxed);
                    }
                    turn.store(now + 1, Ordering::Release);
                }
                Ok(())
            })
        });
        let fetched = on_cpu(reader, || {
            Ok(read(&lines, &order, &turn, || other.is_finished()))
        });
        turn.store(end, Ordering::Release);
        let other = other.join();
        other.unwrap_or_else(|_| Err(io::Error::other("a benchmark ended early")))?;
        fetched?.ok_or_else(|| {
            io::Error::other("two CPUs do not get to run at the same time, others want them")
        })
    })
}

/// The reader's side; `None`: too few times.
fn read(
    lines: &[Line],
    order: &[usize],
    turn: &AtomicU64,
    over: impl Fn() -> bool,
) -> Option<Fetch> {
    let start = Instant::now();
    let (mut chained, mut together) = (Vec::new(), Vec::new());
    for time in 0..2 * TIMES {
        if start.elapsed() > PATIENCE || over() {
            break;
        }
        let Some(now) = wait(turn, |now| now % 2 == 1) else {
            break;
        };
        let begin = Instant::now();
        if time % 2 == 0 {
            let mut at = 0;
            for _ in 0..LINES {
                at = lines[at].next.load(Ordering::Relaxed);
            }
            black_box(at);
            chained.push(ns(begin.elapsed()) / LINES as u64);
        } else {
            let used = order
                .iter()
                .map(|&at| lines[at].used.load(Ordering::Relaxed));
            black_box(used.fold(0, u64::wrapping_add));
            together.push(ns(begin.elapsed()) * 1024 / LINES as u64);
        }
        turn.store(now + 1, Ordering::Release);
    }
    let enough = together.len() as u64 >= TIMES / 10;
    enough.then(|| Fetch {
        line: median(chained),
        refill: median(together),
    })
}

/// Waits until `turn` is as it should be; `None`: it takes too long.
fn wait(turn: &AtomicU64, is: impl Fn(u64) -> bool) -> Option<u64> {
    let start = Instant::now();
    loop {
        for _ in 0..1000 {
            let now = turn.load(Ordering::Acquire);
            if is(now) {
                return Some(now);
            }
            std::hint::spin_loop();
        }
        if start.elapsed() > 2 * PATIENCE {
            return None;
        }
    }
}

/// Lines that each name the next, in a circle through all that no prefetcher guesses.
fn chain(length: usize) -> Vec<Line> {
    let lines: Vec<Line> = (0..length).map(|_| Line::default()).collect();
    for (at, next) in circle(length).into_iter().enumerate() {
        lines[at].next.store(next as usize, Ordering::Relaxed);
    }
    lines
}

/// The lines in the order of the chain.
fn walk(lines: &[Line]) -> Vec<usize> {
    let next = |at: &usize| Some(lines[*at].next.load(Ordering::Relaxed));
    std::iter::successors(Some(0), next)
        .take(lines.len())
        .collect()
}

/// Of each place the next one, in one circle through all (Sattolo's algorithm).
fn circle(length: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..length as u32).collect();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for last in (1..length).rev() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        order.swap(last, random as usize % last);
    }
    order
}

/// A load from `bytes` of memory, ns, on `cpu`: of the cache that holds them, or of memory.
///
/// # Errors
/// The CPU may not be used.
pub(crate) fn load(cpu: usize, bytes: usize) -> io::Result<u64> {
    on_cpu(cpu, || {
        let next = circle(bytes / 64);
        let mut chain = vec![Own::default(); next.len()];
        // SAFETY: it advises on memory of this vector alone and changes nothing that can be read.
        // Without large pages a load also finds its page; that is told nowhere.
        let _ = unsafe {
            madvise(
                chain.as_mut_ptr().cast(),
                std::mem::size_of_val(chain.as_slice()),
                Advice::LinuxHugepage,
            )
        };
        for (own, next) in chain.iter_mut().zip(next) {
            own.0 = next;
        }
        let mut at = 0;
        // Once around small ones, so that the cache has them.
        let mut go = |loads: usize| {
            // Of the thread's own time: what others take of the CPU does not count.
            let start = own_time();
            for _ in 0..loads {
                at = black_box(&chain)[at as usize].0;
            }
            own_time() - start
        };
        go(chain_warmth(bytes));
        let parts = (0..8).map(|_| go(LOADS / 8) / (LOADS as u64 / 8));
        Ok(median(parts.collect()))
    })
}

/// Loads before the clock starts.
fn chain_warmth(bytes: usize) -> usize {
    (bytes / 64).min(LOADS)
}

/// A line of one's own.
#[repr(align(64))]
#[derive(Clone, Default)]
struct Own(u32);

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
