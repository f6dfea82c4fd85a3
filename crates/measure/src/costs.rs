// SPDX-License-Identifier: GPL-2.0-only
//! What kernel paths cost on this machine, by micro-benchmarks from user space.
//!
//! Each cost is defined as the simulator charges it, so that what is measured
//! together is charged once: a hop of a pipe between two tasks of one CPU is a
//! write and a wakeup, which the writer sees together, a switch, a read and what
//! its reader does to sleep; write, switch and read are measured alone. Interrupts
//! that fall into a batch are kept out by taking the median of many.

mod config;
mod descriptors;
mod interrupts;
mod line;
mod tasks;
mod turns;

use alight_machine::Measured;
pub(crate) use config::hrtick_tells;
pub use config::running_hz;
use config::{config, hrtick, hz, irq_time_accounting, release};
use descriptors::{Calls, Descriptors, held, pipe, with_own_descriptors};
use interrupts::{gaps, overshoot, tick_gaps, timer_gaps};
use rustix::thread::{CpuSet, futex, sched_setaffinity};
use std::hint::black_box;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::{Duration, Instant};
use tasks::{Hop, hop, preempted, switch};

/// Batches that a median is taken of.
const BATCHES: usize = 21;
/// Calls in a batch of something short.
const CALLS: u32 = 200;
/// What is handed through pipes and sockets, bytes: hackbench's default.
const MESSAGE: usize = 100;

/// Costs that others contain, with those that contain them.
pub(crate) const WITHIN: [(&str, &str); 3] = [
    ("lock_ns", "wakeup_ns"),
    ("lock_hold_ns", "wakeup_ns"),
    ("wakelist_ns", "ipi_send_ns"),
];

/// One measurement of the kernel paths of a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Costs by their keys in machine files, ns.
    pub costs: Vec<(&'static str, u64)>,
    /// From the end of an idle state to a woken sleeper, without leaving the state: the timer,
    /// the wakeup, the switch and the way out of the sleep, ns.
    pub after_idle: u64,
    /// From sending an interrupt to another CPU to the woken sleeper there, without what is measured
    /// alone, but with the way out of the idle state, ns; `None`: there is one CPU.
    pub interrupted: Option<u64>,
    /// Messages on sockets that a CPU keeps the memory of; `None`: more messages cost no more.
    pub messages_kept: Option<u32>,
    /// The CPUs take turns at one processor.
    pub one_processor: bool,
}

/// Measures the kernel paths of the first CPU that this thread may use; takes about three seconds.
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
    let paths = of(&cpus)?;
    let narrow = |(name, ns): (&'static str, u64)| (name, u32::try_from(ns).unwrap_or(u32::MAX));
    Ok(Measured {
        costs: paths.costs.into_iter().map(narrow).collect(),
        line_ns: Some(u32::try_from(line::line()).unwrap_or(u32::MAX)),
        messages_kept: paths.messages_kept,
        one_processor: paths.one_processor,
        ..configured(root)
    })
}

/// What the running kernel says of its ticks and clocks, nothing else.
pub(crate) fn configured(root: &Path) -> Measured {
    let config = config(root).unwrap_or_default();
    Measured {
        hz: running_hz().or_else(|| hz(&config)),
        irq_time_accounting: irq_time_accounting(&config),
        kernel: release(root),
        hrtick: hrtick(root),
        ..Measured::default()
    }
}

/// The kernel paths of the first of `cpus`; the others are woken from there.
///
/// # Errors
/// The system refuses what a benchmark needs, such as a pipe or a thread.
pub(crate) fn of(cpus: &[usize]) -> io::Result<Paths> {
    let cpus = cpus.to_vec();
    // In a thread of its own: whoever asked keeps its affinity and timer slack.
    let measured = thread::spawn(move || on(&cpus));
    (measured.join()).unwrap_or_else(|_| Err(io::Error::other("a benchmark ended early")))
}

fn on(cpus: &[usize]) -> io::Result<Paths> {
    let here = only(&cpus[..1]);
    sched_setaffinity(None, &here)?;
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;

    let shared = pipe()?; // as of the two threads of a hop
    let calls = with_own_descriptors(Descriptors::measure)?;
    let held = held(&calls.pipe)?;
    let yields = yield_to_nobody();
    let switch = switch(yields, here)?;
    let near = Near::new(&shared, switch, hop(here, here)?);
    let preempted = preempted()?;
    let timer = gaps(timer_gaps()?);
    let after_idle = timer + near.wakeup + switch + near.block;
    let idle_exit = overshoot()?.saturating_sub(after_idle);
    let fork = fork()?;
    let mut costs = vec![
        ("switch_ns", switch),
        ("yield_ns", yields),
        ("futex_ns", futex_call()),
        ("mutex_ns", mutex()),
        ("wakeup_ns", near.wakeup),
        ("block_ns", near.block),
        // Of an uncontended lock they are in the wakeup.
        ("lock_ns", 0),
        ("lock_hold_ns", 0),
        ("tick_ns", gaps(tick_gaps())),
        ("timer_ns", timer),
        ("idle_exit_ns", idle_exit),
        ("fork_ns", fork),
    ];
    costs.extend(of_descriptors(&calls, held));
    if let Some(waker) = preempted {
        let clock = waker.saturating_sub(shared.write + switch).min(near.wakeup);
        costs.push(("wakeup_clock_ns", clock));
    }
    if let Some(process) = fork_process() {
        costs.push(("fork_mm_ns", process.saturating_sub(fork)));
    }
    let remote = Remote::measure(cpus, &shared, &near)?;
    let to_others = remote.as_ref().map(|remote| remote.costs(idle_exit));
    costs.extend(to_others.into_iter().flatten());
    Ok(Paths {
        costs,
        after_idle,
        interrupted: remote.map(|remote| remote.interrupted),
        messages_kept: calls.memory.map(|memory| memory.kept),
        one_processor: (cpus.get(1)).is_some_and(|&second| turns::takes_turns(second)),
    })
}

/// Parts of a hop between two tasks of one CPU, ns.
struct Near {
    switch: u64,
    wakeup: u64,
    block: u64,
}

impl Near {
    fn new(shared: &Calls, switch: u64, hop: Hop) -> Self {
        Near {
            switch,
            wakeup: hop.write.saturating_sub(shared.write),
            block: (hop.whole).saturating_sub(hop.write + shared.read + switch),
        }
    }
}

/// Calls on pipes and sockets.
fn of_descriptors(calls: &Descriptors, held: Option<Calls>) -> Vec<(&'static str, u64)> {
    let mut costs = vec![
        ("pipe_ns", calls.pipe.write),
        ("pipe_read_ns", calls.pipe.read),
        ("socket_ns", calls.socket.write),
        ("socket_read_ns", calls.socket.read),
    ];
    if let Some(held) = held {
        costs.push(("pipe_held_ns", held.write));
        costs.push(("pipe_read_held_ns", held.read));
    }
    if let Some(memory) = &calls.memory {
        costs.push(("socket_new_ns", memory.new));
    }
    costs
}

/// Wakeups from the first CPU to others.
struct Remote {
    /// As [`Paths::interrupted`].
    interrupted: u64,
    ipi_send: u64,
    select: u64,
}

impl Remote {
    /// From the first of `cpus` to the others; `None`: there are none.
    fn measure(cpus: &[usize], shared: &Calls, near: &Near) -> io::Result<Option<Self>> {
        let [first, second, ref more @ ..] = *cpus else {
            return Ok(None);
        };
        let here = only(&[first]);
        let remote = hop(here, only(&[second]))?;
        let alone = remote.write + near.switch + near.block + shared.read;
        let select = match more {
            // To a sleeper that may use two CPUs beside this one, less one that may use one.
            [third, ..] => {
                let free = hop(here, only(&[second, *third]))?;
                free.write.saturating_sub(remote.write)
            }
            [] => 0,
        };
        Ok(Some(Remote {
            interrupted: remote.whole.saturating_sub(alone),
            ipi_send: (remote.write).saturating_sub(shared.write + near.wakeup),
            select,
        }))
    }

    fn costs(&self, idle_exit: u64) -> [(&'static str, u64); 4] {
        [
            ("ipi_send_ns", self.ipi_send),
            ("ipi_receive_ns", self.interrupted.saturating_sub(idle_exit)),
            ("wakelist_ns", 0), // in ipi_send_ns
            ("select_ns", self.select),
        ]
    }
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

#[cfg(test)]
mod tests;
