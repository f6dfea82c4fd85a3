// SPDX-License-Identifier: GPL-2.0-only
//! A recording of a workload made into a workload that can be simulated.
//!
//! A recording shows when tasks ran and what woke them. A replay does the same work in the same
//! order, on a machine and under a scheduler that may be others: what took time because a CPU was
//! slow or busy is not part of it.
//!
//! # What it owns
//!
//! - [`load`] reads a recording and makes a [`Replay`] of it: the workload, and [`Health`], which
//!   counts how much of the recording the replay explains.
//! - [`Options`] say which tasks are replayed.
//! - [`NotReplayable`] says why a recording cannot be replayed.
//!
//! # Who may use it
//!
//! The crates that compare, and the command. It uses `alight-recording`, `alight-workload` and
//! `alight-machine`; it knows no simulator.
//!
//! # Example
//!
//! A task that another one wakes. On the machine `juno-r0` CPU 0 is a little core: 1 ms there is
//! less work than 1 ms on the biggest core.
//!
//! ```
//! use alight_recording::workload::{Capability, Event, Left, What, WorkloadReader, WorkloadWriter};
//! use alight_recording::workload::Context;
//! use alight_recording::{End, Header, Reader};
//! use alight_replay::{Options, load};
//! use alight_workload::program::Op;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("run.alight");
//! # let header = Header {
//! #     kinds: vec![], kernel: "6.1.0".into(), build: String::new(), arch: "aarch64".into(),
//! #     hz: None, clock: "monotonic, ns".into(), command: "app".into(), cpus: vec![],
//! #     facts: Default::default(),
//! # };
//! let mut writer = WorkloadWriter::create(&path, header, 1)?;
//! let switch = |prev, left, next| What::Switch { prev, prev_prio: 120, left, next, next_prio: 120 };
//! let wakes = What::Waking {
//!     pid: 8, prio: 120, current: 7, prev_cpu: 0, context: Some(Context::Task), sync: None,
//! };
//! for (time, cpu, what) in [
//!     (0, 0, switch(8, Left::Asleep, 7)),
//!     (1_000_000, 0, wakes),
//!     (1_500_000, 0, switch(7, Left::Asleep, 8)),
//! ] {
//!     writer.event(&Event { time, cpu, what })?;
//! }
//! writer.finish(End::default(), &[Capability::Wakings, Capability::Context].into())?;
//!
//! let machine = alight_machine::load("juno-r0")?.machine;
//! let mut reader = WorkloadReader::new(Reader::open(&path)?)?;
//! let replay = load(&mut reader, &machine, &Options::default())?;
//! let waker = &replay.workload.programs[1].ops;
//! let work = waker.iter().find_map(|op| match op { Op::Run { ns } => Some(*ns), _ => None });
//! // In ns of a CPU of capacity 1: those of CPU 0 have 446 for that.
//! assert!((430_000_000..446_000_001).contains(&work.unwrap()), "{work:?}");
//! assert!(waker.iter().any(|op| matches!(op, Op::Wake { task: 0, nth: 1, .. })));
//! assert_eq!(replay.health.explained_percent(), 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assemble;
mod attributes;
mod channels;
mod charges;
mod error;
mod health;
mod interrupts;
mod line;
mod roles;
mod task;
mod ticks;
mod timers;
mod window;
mod work;

use std::io::BufRead;

use alight_machine::Machine;
use alight_recording::End;
use alight_recording::workload::{Capability, DMA_LATENCY, Item, What, WorkloadReader};
use alight_workload::Workload;

pub use channels::Channels;
pub use error::NotReplayable;
pub use health::Health;
pub use line::{BadLine, ENDING, Line};

use roles::Roles;
use window::Window;

/// What is replayed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Tasks that are not of the workload are replayed beside it.
    pub background: bool,
    /// The seed of a run draws stretches of the recording; `None`: it is replayed as it was.
    pub resample: Option<Resample>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            background: true,
            resample: None,
        }
    }
}

/// How a recording is cut and put together by seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resample {
    /// Length of a block, ns. What follows from each other within a block stays together.
    pub block_ns: u64,
    /// Length of what is drawn, ns; `None`: as long as the blocks that are drawn from.
    pub length_ns: Option<u64>,
}

impl Default for Resample {
    fn default() -> Self {
        Resample {
            block_ns: 100_000_000,
            length_ns: None,
        }
    }
}

/// A recording as a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// What runs.
    pub workload: Workload,
    /// The recorded task behind each task of the workload, in the same order.
    pub tasks: Vec<Recorded>,
    /// The stretch of the recording that is replayed, ns on its clock.
    pub window: (u64, u64),
    /// How much of the recording it explains.
    pub health: Health,
    /// What the end of the recording says.
    pub end: End,
}

/// A recorded task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its number in the recording.
    pub pid: u32,
    /// It is of the workload, and not of what ran beside it.
    pub member: bool,
}

/// Reads a recording to its end and makes a workload of it. `machine` is the one that was recorded:
/// by its capacities, clocks and costs the time that tasks ran is turned into work.
///
/// # Errors
/// The file is not whole; it is of another machine; it does not tell what a replay needs.
pub fn load<R: BufRead>(
    reader: &mut WorkloadReader<R>,
    machine: &Machine,
    options: &Options,
) -> Result<Replay, NotReplayable> {
    load_with(reader, machine, options, &Channels::default())
}

/// The same with pipes and sockets that were found in the recording before. Blocks to draw from
/// have none: what is drawn would not write what it reads.
///
/// # Errors
/// As [`load`].
pub fn load_with<R: BufRead>(
    reader: &mut WorkloadReader<R>,
    machine: &Machine,
    options: &Options,
    channels: &Channels,
) -> Result<Replay, NotReplayable> {
    let none = Channels::default();
    let channels = match options.resample {
        Some(_) => &none,
        None => channels,
    };
    error::same_machine(reader.header(), machine)?;
    let dma_latency_us = error::number(reader.header(), DMA_LATENCY)?;
    let block_ns = options.resample.map(|resample| resample.block_ns);
    let mut windows = Windows::new(
        (machine, channels),
        Roles::new(options.background),
        block_ns,
    );
    while let Some(item) = reader.next_item()? {
        if let Item::Event(event) = item {
            error::is_there(event.cpu, machine)?;
        }
        windows.item(&item);
    }
    let end = reader.end().cloned().unwrap_or_default();
    let told = Capability::listed(&end)?;
    error::enough(&told)?;
    let command = &reader.header().command;
    let (window, windows, lost) = windows.finish().ok_or(NotReplayable::Empty)?;
    let lost = lost.max(end.lost_events());
    let mut replay = assemble::replay(window, command, options.resample.as_ref())?;
    replay.workload.dma_latency_us = dma_latency_us;
    replay.end = end;
    replay.health.windows = windows;
    replay.health.lost = told.contains(&Capability::Losses).then_some(lost);
    replay.health.lacks = (Capability::ALL.into_iter())
        .filter(|one| !told.contains(one))
        .collect();
    match replay.health.members {
        0 => Err(NotReplayable::NoTask),
        _ => Ok(replay),
    }
}

/// The window that has the most events so far, and the one that goes on.
struct Windows<'a> {
    best: Option<(u64, Window<'a>)>,
    current: Option<(u64, Window<'a>)>,
    begin: Option<((&'a Machine, &'a Channels), Roles)>,
    block_ns: Option<u64>,
    number: u64,
    lost: u64,
}

impl<'a> Windows<'a> {
    fn new(of: (&'a Machine, &'a Channels), roles: Roles, block_ns: Option<u64>) -> Self {
        Windows {
            best: None,
            current: None,
            begin: Some((of, roles)),
            block_ns,
            number: 0,
            lost: 0,
        }
    }

    fn item(&mut self, item: &Item) {
        let time = match item {
            Item::Event(event) => event.time,
            Item::Task(fact) => fact.time,
        };
        if let Some((of, roles)) = self.begin.take() {
            let window = Window::new(of, roles, time, self.block_ns);
            self.current = Some((0, window));
            self.number = 1;
        }
        let (events, window) = self.current.as_mut().expect("one is open");
        match item {
            Item::Event(event) if matches!(event.what, What::Lost { .. }) => {
                if let What::Lost { count, .. } = event.what {
                    self.lost += count;
                }
                self.cut(time, true);
            }
            Item::Event(event) => {
                *events += 1;
                window.event(event);
            }
            Item::Task(fact) => {
                if !window.fact(fact) {
                    self.cut(time, false);
                }
            }
        }
    }

    /// A new window begins; the old one is kept if it is the longest so far, and may be.
    fn cut(&mut self, time: u64, keep: bool) {
        let (events, window) = self.current.take().expect("one is open");
        let (old, new) = window.next(time);
        self.current = Some((0, new));
        self.number += u64::from(keep);
        if keep && self.best.as_ref().is_none_or(|(best, _)| *best < events) {
            self.best = Some((events, old));
        }
    }

    /// The window with the most events, how many there are, and how many events were lost.
    fn finish(self) -> Option<(Window<'a>, u64, u64)> {
        let last = self.current.into_iter();
        let (_, mut window) = (self.best.into_iter().chain(last)).max_by_key(|(n, _)| *n)?;
        window.finish();
        Some((window, self.number, self.lost))
    }
}
