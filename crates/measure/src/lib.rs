// SPDX-License-Identifier: GPL-2.0-only
//! Micro-benchmarks of the machine that the program runs on, from user space.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`costs`] | what kernel paths take: one quick measurement |
//! | [`machine()`] | a whole machine in several rounds: kernel paths of each core type, cache lines by distance, speeds, SMT, idle states, frequencies; as a machine file with the spread of each figure |
//!
//! A figure is the median of its rounds. Its spread is the least and the largest round. What is
//! changed in sysfs for a measurement is brought back, also after a signal or a panic.
//!
//! # Who may use it
//!
//! The command `alight` and the recorder of `live`. It uses `alight-machine` and knows nothing of
//! BPF.
//!
//! # Example
//!
//! ```
//! use std::path::Path;
//!
//! let measured = alight_measure::costs::measure(Path::new("/"))?;
//! assert!(measured.costs.iter().any(|(name, _)| *name == "switch_ns"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod changes;
mod clocks;
pub mod costs;
mod host;
mod idle;
mod lines;
mod outcome;
mod report;
mod rounds;
mod session;
mod work;

pub use outcome::{Extra, Measurement, Row, Unmeasured};
pub use session::{NotMeasured, Options, Progress, machine};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use std::io;
use std::num::NonZeroU64;
use std::thread;

/// What `what` says in a thread of its own on `cpu`, whose sleeps end when they should.
fn on_cpu<T: Send>(cpu: usize, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let there = || {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only)?;
        set_current_timer_slack(NonZeroU64::new(1))?;
        what()
    };
    let ended = thread::scope(|scope| scope.spawn(there).join());
    ended.unwrap_or_else(|_| Err(io::Error::other("a benchmark ended early")))
}

/// The CPUs that this thread may use, in order.
fn usable() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}
