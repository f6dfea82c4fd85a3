// SPDX-License-Identifier: GPL-2.0-only
//! Interrupts: how long those of timers and of the tick take, and how late a sleep ends.

use super::{median, ns};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

/// Period of the timers that are looked at, long beside their handling.
pub(super) const PERIOD: Duration = Duration::from_micros(500);
/// Timers that are looked at.
pub(super) const TIMERS: u32 = 100;
/// Ticks are looked for so long: 25 at the slowest usual rate.
const TICKS: Duration = Duration::from_millis(250);
/// Before, what ended wakes nobody any more on other CPUs, which may share a processor with this one.
pub(super) const SETTLES: Duration = Duration::from_millis(50);
/// A step of the clock is a gap if it is so much longer than the usual one, ns: less than any
/// interrupt takes.
const GAP: u64 = 250;

/// From when a sleep should end on an idle CPU to when it has.
pub(super) fn overshoot() -> io::Result<u64> {
    let request = Timespec {
        tv_sec: 0,
        tv_nsec: PERIOD.as_nanos() as i64,
    };
    let mut late = Vec::new();
    for _ in 0..TIMERS {
        let start = Instant::now();
        // Nobody sends a signal; a sleep cut short would only look less late.
        let _ = rustix::thread::nanosleep(&request);
        late.push(ns(start.elapsed().saturating_sub(PERIOD)));
    }
    Ok(median(late))
}

/// What is not the caller's time while it looks at the clock for `length`, ns each.
fn gaps_within(length: Duration) -> Vec<u64> {
    thread::sleep(SETTLES);
    let start = Instant::now();
    gaps_of(|| ns(start.elapsed()), ns(length))
}

pub(super) fn gaps_of(mut clock: impl FnMut() -> u64, until: u64) -> Vec<u64> {
    let mut usual = u64::MAX;
    let mut gaps = Vec::new();
    let mut before = clock();
    while before < until {
        let now = clock();
        let step = now - before;
        before = now;
        usual = usual.min(step);
        // A slow clock, such as HPET's, has uneven steps itself.
        if step > usual + GAP.max(usual / 2) {
            gaps.push(step - usual);
        }
    }
    gaps
}

/// Interrupts of timers while this CPU computes; nobody waits for them.
pub(super) fn timer_gaps() -> io::Result<Vec<u64>> {
    let _expire = timers()?;
    Ok(gaps_within(PERIOD * TIMERS))
}

/// Timers that expire one after the other, once each: one with an interval is not set again before
/// somebody has read it (`timerfd_read`).
pub(super) fn timers() -> io::Result<Vec<OwnedFd>> {
    let timer = |number: u32| {
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        let after = SETTLES + PERIOD * number;
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: 0,
                tv_nsec: after.subsec_nanos().into(),
            },
        };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(timer)
    };
    (1..=TIMERS).map(timer).collect()
}

pub(super) fn tick_gaps() -> Vec<u64> {
    gaps_within(TICKS)
}

pub(super) fn gaps(gaps: Vec<u64>) -> u64 {
    median(gaps)
}
