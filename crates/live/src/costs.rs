// SPDX-License-Identifier: GPL-2.0-only
//! What kernel paths cost on this machine, by micro-benchmarks from user space.
//!
//! Each cost is defined as the simulator charges it, so that what is measured
//! together is charged once: a hop of a pipe between two tasks of one CPU is a
//! write and a wakeup, which the writer sees together, a switch, a read and what
//! its reader does to sleep; write, switch and read are measured alone. Interrupts
//! that fall into a batch are kept out by taking the median of many.

mod descriptors;

use alight_machine::Measured;
use descriptors::{Descriptors, held, joined, pipe, with_own_descriptors};
use rustix::thread::{CpuSet, futex, sched_setaffinity};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Batches that a median is taken of.
const BATCHES: usize = 21;
/// Calls in a batch of something short.
const CALLS: u32 = 200;
/// What is handed through pipes and sockets, bytes: hackbench's default.
const MESSAGE: usize = 100;
/// Writes that end with the reader in the writer's place, in batches.
const PREEMPTIONS: u32 = 20 * CALLS;
/// They take less, unless there is somebody else.
const PATIENCE: Duration = Duration::from_secs(1);
/// Period of the timers that are looked at, long beside their handling.
const PERIOD: Duration = Duration::from_micros(500);
/// Timers that are looked at.
const TIMERS: u32 = 100;
/// Ticks are looked for so long: 25 at the slowest usual rate.
const TICKS: Duration = Duration::from_millis(250);
/// Before, what ended wakes nobody any more on other CPUs, which may share a processor with this one.
const SETTLES: Duration = Duration::from_millis(50);
/// A step of the clock is a gap if it is so much longer than the usual one, ns: less than any
/// interrupt takes.
const GAP: u64 = 250;
/// Memory that no cache holds, in links of a chain; one to a line.
const CHAIN: usize = 1 << 20;
/// A chain that every cache holds.
const SHORT_CHAIN: usize = 64;

/// Measures on the CPUs of this machine's first core type; takes about three seconds.
///
/// `root`: of the file system, for the tick rate.
///
/// # Errors
/// The system refuses what a benchmark needs, such as a pipe or a thread.
pub fn measure(root: &Path) -> io::Result<Measured> {
    let usable = rustix::thread::sched_getaffinity(None)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&cpu| usable.is_set(cpu))
        .collect();
    // In a thread of its own: whoever asked keeps its affinity and timer slack.
    let root = root.to_owned();
    let measured = thread::spawn(move || {
        let measured = on(&cpus)?;
        let config = config(&root).unwrap_or_default();
        Ok(Measured {
            hz: running_hz().or_else(|| hz(&config)),
            irq_time_accounting: irq_time_accounting(&config),
            hrtick: hrtick(&root),
            ..measured
        })
    });
    (measured.join()).unwrap_or_else(|_| Err(io::Error::other("a benchmark ended early")))
}

fn on(cpus: &[usize]) -> io::Result<Measured> {
    let here = only(&cpus[..1]);
    sched_setaffinity(None, &here)?;
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;

    let shared = pipe()?; // as of the two threads of a hop
    let calls = with_own_descriptors(Descriptors::measure)?;
    let Descriptors { pipe, socket, .. } = &calls;
    let held = held(pipe)?;
    let yields = yield_to_nobody();
    let switch = switch(yields, here)?;
    let hop = hop(here, here)?;
    let wakeup = hop.write.saturating_sub(shared.write);
    let block = hop.whole.saturating_sub(hop.write + shared.read + switch);
    let preempted = preempted()?;
    let timer = gaps(timer_gaps()?);
    let idle_exit = overshoot()?.saturating_sub(timer + wakeup + switch + block);
    let fork = fork()?;
    let mut costs = vec![
        ("switch_ns", switch),
        ("yield_ns", yields),
        ("futex_ns", futex_call()),
        ("mutex_ns", mutex()),
        ("pipe_ns", pipe.write),
        ("pipe_read_ns", pipe.read),
        ("socket_ns", socket.write),
        ("socket_read_ns", socket.read),
        ("wakeup_ns", wakeup),
        ("block_ns", block),
        // Of an uncontended lock they are in the wakeup.
        ("lock_ns", 0),
        ("lock_hold_ns", 0),
        ("tick_ns", gaps(tick_gaps())),
        ("timer_ns", timer),
        ("idle_exit_ns", idle_exit),
        ("fork_ns", fork),
    ];
    if let Some(waker) = preempted {
        let clock = waker.saturating_sub(shared.write + switch).min(wakeup);
        costs.push(("wakeup_clock_ns", clock));
    }
    if let Some(held) = held {
        costs.push(("pipe_held_ns", held.write));
        costs.push(("pipe_read_held_ns", held.read));
    }
    if let Some(memory) = &calls.memory {
        costs.push(("socket_new_ns", memory.new));
    }
    if let Some(process) = fork_process() {
        costs.push(("fork_mm_ns", process.saturating_sub(fork)));
    }
    let mut one_processor = false;
    if let [_, second, ..] = *cpus {
        one_processor = takes_turns(second);
        let remote = self::hop(here, only(&[second]))?;
        let ipi_send = remote.write.saturating_sub(shared.write + wakeup);
        let received = remote.write + idle_exit + switch + block + shared.read;
        costs.push(("ipi_send_ns", ipi_send));
        costs.push(("ipi_receive_ns", remote.whole.saturating_sub(received)));
        costs.push(("wakelist_ns", 0)); // in ipi_send_ns
        let select = match *cpus {
            // To a sleeper that may use two CPUs beside this one, less one that may use one.
            [_, second, third, ..] => {
                let free = self::hop(here, only(&[second, third]))?;
                free.write.saturating_sub(remote.write)
            }
            _ => 0,
        };
        costs.push(("select_ns", select));
    }
    let costs = costs
        .into_iter()
        .map(|(name, ns)| (name, u32::try_from(ns).unwrap_or(u32::MAX)));
    Ok(Measured {
        costs: costs.collect(),
        line_ns: Some(u32::try_from(line()).unwrap_or(u32::MAX)),
        messages_kept: calls.memory.map(|memory| memory.kept),
        one_processor,
        ..Measured::default()
    })
}

/// The kernel's config, where it can be read.
fn config(root: &Path) -> Option<String> {
    let release = std::fs::read_to_string(root.join("proc/sys/kernel/osrelease")).ok()?;
    let config = root.join("boot").join(format!("config-{}", release.trim()));
    std::fs::read_to_string(config).ok()
}

/// Ticks a second of the running kernel: its coarse clocks advance at each tick, and it says how far
/// (`CLOCK_MONOTONIC_COARSE`, kernel/time/posix-timers.c: `KTIME_LOW_RES`).
pub fn running_hz() -> Option<u32> {
    let tick = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    let ns = u64::try_from(tick.tv_nsec).ok().filter(|ns| *ns > 0)?;
    // 300 a second are 3333333 ns.
    (tick.tv_sec == 0).then_some(((1_000_000_000 + ns / 2) / ns) as u32)
}

/// Ticks a second, by the kernel's config.
fn hz(config: &str) -> Option<u32> {
    let line = config
        .lines()
        .find_map(|line| line.strip_prefix("CONFIG_HZ="));
    line?.parse().ok()
}

/// Is time in interrupts accounted by itself?
fn irq_time_accounting(config: &str) -> bool {
    config
        .lines()
        .any(|line| line == "CONFIG_IRQ_TIME_ACCOUNTING=y")
}

/// Does the kernel end slices by timers?
fn hrtick(root: &Path) -> bool {
    let features = std::fs::read_to_string(root.join("sys/kernel/debug/sched/features"));
    features.is_ok_and(|features| features.split_whitespace().any(|name| name == "HRTICK"))
}

fn only(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    set
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Of one call of `what`, ns, in each batch.
fn batches(mut what: impl FnMut()) -> Vec<u64> {
    let batch = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            what();
        }
        ns(start.elapsed()) / u64::from(CALLS)
    };
    (0..BATCHES).map(batch).collect()
}

/// Of one call of `what`, ns.
fn each(what: impl FnMut()) -> u64 {
    median(batches(what))
}

/// Of `sched_yield()` to nobody, ns: the least, since on a busy machine there is somebody in most
/// batches, and what is taken for the call is missing in the cost of a switch.
fn yield_to_nobody() -> u64 {
    batches(thread::yield_now).into_iter().min().unwrap_or(0)
}

fn futex_call() -> u64 {
    let word = AtomicU32::new(0);
    each(|| {
        // Nobody waits: 0 are woken.
        let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
    })
}

/// Lock or unlock, uncontended.
fn mutex() -> u64 {
    let mutex = Mutex::new(0u64);
    each(|| *black_box(&mutex).lock().expect("nobody panics with it") += 1) / 2
}

/// Do this CPU and `other` take turns at one processor, as those of a guest whose emulator has one
/// thread? A loop here is half as fast then while the other one is busy.
fn takes_turns(other: usize) -> bool {
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
        while start.elapsed() < TICKS / 10 {
            loops += 1;
        }
        loops
    });
    tries.max().unwrap_or(0)
}

/// Between two tasks that yield to each other on one CPU, beyond the call itself.
fn switch(yields: u64, here: CpuSet) -> io::Result<u64> {
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
fn preempted() -> io::Result<Option<u64>> {
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
struct Hop {
    /// From before the write to after the read, half a round.
    whole: u64,
    /// The write alone, as its writer sees it.
    write: u64,
}

/// Each of the two sleeps before the other writes: as SCHED_BATCH neither preempts who wakes
/// it. One that does finds the other awake when it answers, and a round with one
/// wakeup is taken for one with two.
fn hop(here: CpuSet, there: CpuSet) -> io::Result<Hop> {
    set_policy(libc::SCHED_BATCH, 0)?;
    let hop = hop_by_sleepers(here, there);
    set_policy(libc::SCHED_OTHER, 0)?;
    hop
}

/// Of this thread and of those that it starts from now on.
fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
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

/// From when a sleep should end on an idle CPU to when it has.
fn overshoot() -> io::Result<u64> {
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

fn gaps_of(mut clock: impl FnMut() -> u64, until: u64) -> Vec<u64> {
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
fn timer_gaps() -> io::Result<Vec<u64>> {
    let _expire = timers()?;
    Ok(gaps_within(PERIOD * TIMERS))
}

/// Timers that expire one after the other, once each: one with an interval is not set again before
/// somebody has read it (`timerfd_read`).
fn timers() -> io::Result<Vec<OwnedFd>> {
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

fn tick_gaps() -> Vec<u64> {
    gaps_within(TICKS)
}

fn gaps(gaps: Vec<u64>) -> u64 {
    median(gaps)
}

/// A thread's creation, in its parent.
fn fork() -> io::Result<u64> {
    let mut times = Vec::new();
    for _ in 0..BATCHES {
        let start = Instant::now();
        let child = thread::Builder::new().spawn(|| ())?;
        times.push(ns(start.elapsed()));
        let _ = child.join();
    }
    Ok(median(times))
}

/// Forks a process many times and prints what that took in itself, ns. What the kernel has counted
/// is as of the shell's last sleep, at the end of each child.
const FORKS: &str = "
	f() { read -r now rest </proc/self/schedstat; }
	(:); f; before=$now
	i=0; while [ $i -lt 200 ]; do (:); i=$((i + 1)); done
	f; forked=$now
	i=0; while [ $i -lt 200 ]; do :; i=$((i + 1)); done
	(:); f
	echo $(((2 * forked - before - now) / 199))";

/// The fork of a process with the wait for its end, in the parent: a shell, for this process is
/// larger than the tools whose forks are simulated, and a fork takes time by the page. `None`: there
/// is no shell, or the kernel does not count (no `CONFIG_SCHED_INFO`).
fn fork_process() -> Option<u64> {
    let shell = Command::new("sh").args(["-c", FORKS]).output().ok()?;
    String::from_utf8_lossy(&shell.stdout).trim().parse().ok()
}

/// A line of memory beyond what it takes from the nearest cache.
fn line() -> u64 {
    let far = chase(CHAIN);
    far.saturating_sub(chase(SHORT_CHAIN))
}

/// A step along a chain of lines, ns.
fn chase(links: usize) -> u64 {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Line(usize);

    // A step that shares no factor with the length visits all; far enough to fool prefetchers.
    let stride = (links * 5 / 8) | 1;
    let chain: Vec<Line> = (0..links).map(|at| Line((at + stride) % links)).collect();
    let steps = CHAIN / 4;
    let mut at = 0;
    let start = Instant::now();
    for _ in 0..steps {
        at = black_box(&chain)[at].0;
    }
    black_box(at);
    ns(start.elapsed()) / steps as u64
}

#[cfg(test)]
mod tests;
