// SPDX-License-Identifier: GPL-2.0-only
//! A recording under way: begins it, reads the rings while it goes on, ends it.

use super::Wanted;
use super::clocks::{CPUS, clocks};
use super::output::Output;
use super::rings::Rings;
use crate::record_session::{During, NotRecorded, Recorded, Running, Session};
use crate::workload_skeleton::RecordWorkloadSkel;
use crate::workload_skeleton::types::workload_fact;
use alight_recording::End;
use alight_recording::workload::{Capability, Event, What};
use libbpf_rs::{Iter, MapCore, MapFlags, RingBuffer, RingBufferBuilder};
use rustix::time::{ClockId, clock_gettime};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

// `enum workload_state` (`record_workload.h`).
/// Nothing is written.
const OFF: u32 = 0;
/// Births, ends and changes of tasks only.
const WATCHING: u32 = 1;
/// All is written.
pub const RECORDING: u32 = 2;
/// A ring was full.
const HALTED: u32 = 3;

/// How often the rings and the command are looked at: seldom, because each look is a wakeup.
const LOOK: Duration = Duration::from_millis(200);
/// The same if the rings fill quickly.
const QUICK_LOOK: Duration = Duration::from_millis(5);
/// Rings are emptied when one of them is filled to this part, in 1/1024.
const FULL_ENOUGH: usize = 512;
/// An event that was begun is in its ring within this time.
const UNDER_WAY: Duration = Duration::from_millis(10);

/// Facts of tasks from the kernel side, in the order of their arrival.
type Facts = Rc<RefCell<Vec<workload_fact>>>;

fn facts_ring(
    skel: &RecordWorkloadSkel<'_>,
    facts: &Facts,
) -> Result<RingBuffer<'static>, NotRecorded> {
    let reading = "reading the ring buffer";
    let mut ring = RingBufferBuilder::new();
    let facts = facts.clone();
    ring.add(&skel.maps.facts, move |bytes| {
        facts.borrow_mut().extend(fact(bytes));
        0
    })
    .during(reading)?;
    ring.build().during(reading)
}

/// A fact from the kernel side; `None`: there are too few bytes.
fn fact(bytes: &[u8]) -> Option<workload_fact> {
    let fits = bytes.len() >= size_of::<workload_fact>();
    // SAFETY: so many bytes are there; the structure is of integers, of which all bits are valid.
    fits.then(|| unsafe { bytes.as_ptr().cast::<workload_fact>().read_unaligned() })
}

/// Sets the state of the kernel side.
pub fn set_state(skel: &mut RecordWorkloadSkel<'_>, state: u32) {
    if let Some(variables) = skel.maps.bss_data.as_mut() {
        // SAFETY: it is one word, which the kernel side writes too.
        unsafe { std::ptr::write_volatile(&raw mut variables.state, state) };
    }
}

/// The time, ns.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How the command ended.
pub struct Ended {
    status: Option<i32>,
    pid: Option<u32>,
}

/// A recording under way.
pub struct Recorder<'a> {
    session: &'a Session,
    skel: RecordWorkloadSkel<'a>,
    rings: Rings,
    ring: RingBuffer<'a>,
    facts: Facts,
    output: Output,
    /// Events that were lost before the recording began.
    lost: u64,
    /// Lost events that the recording has reported already.
    told: u64,
    /// Calls are recorded.
    calls: bool,
}

impl<'a> Recorder<'a> {
    /// The kernel side `skel` is attached, and fills `rings`.
    ///
    /// # Errors
    /// libbpf cannot read the ring of facts.
    pub fn new(
        session: &'a Session,
        skel: RecordWorkloadSkel<'a>,
        rings: Rings,
        output: Output,
    ) -> Result<Self, NotRecorded> {
        let facts = Facts::default();
        Ok(Recorder {
            session,
            ring: facts_ring(&skel, &facts)?,
            skel,
            rings,
            facts,
            output,
            lost: 0,
            told: 0,
            calls: false,
        })
    }

    fn state(&self) -> u32 {
        let variables = self.skel.maps.bss_data.as_ref();
        // SAFETY: it is one word, which the kernel side writes too.
        variables.map_or(OFF, |all| unsafe {
            std::ptr::read_volatile(&raw const all.state)
        })
    }

    /// Events that were not written, so far.
    fn lost(&self) -> u64 {
        let variables = self.skel.maps.bss_data.as_ref();
        let facts = variables.map_or(0, |all| all.facts_lost);
        self.rings.lost() + facts - self.lost
    }

    /// Empties the rings into the output, and returns the time up to which all events are there.
    fn read(&mut self) -> Result<u64, NotRecorded> {
        let now = now().saturating_sub(UNDER_WAY.as_nanos() as u64);
        let output = &mut self.output;
        let until = self.rings.take(now, |words| output.event(words));
        self.ring.consume().during("reading the ring buffer")?;
        for fact in self.facts.borrow_mut().drain(..) {
            self.output.fact(fact);
        }
        Ok(until)
    }

    /// Records from now on: first births and changes of tasks, then lists all tasks, then records
    /// everything.
    fn begin(&mut self) -> Result<(), NotRecorded> {
        set_state(&mut self.skel, WATCHING);
        let link = (self.skel.links.all_tasks.as_ref())
            .ok_or_else(|| NotRecorded::Kernel("its tasks cannot be listed".to_owned()))?;
        let mut bytes = Vec::new();
        let mut tasks = Iter::new(link).during("listing the tasks")?;
        (tasks.read_to_end(&mut bytes))
            .map_err(|error| NotRecorded::Kernel(format!("listing its tasks: {error}")))?;
        for one in bytes.chunks_exact(size_of::<workload_fact>()) {
            fact(one)
                .into_iter()
                .for_each(|fact| self.output.fact(fact));
        }
        for (cpu, khz) in clocks(Path::new(CPUS)) {
            let what = What::Frequency { of_cpu: cpu, khz };
            self.output.own(&Event {
                time: now(),
                cpu,
                what,
            });
        }
        self.mark()?;
        set_state(&mut self.skel, RECORDING);
        Ok(())
    }

    /// Tells the kernel side which of the existing tasks are chosen: it records their calls.
    fn mark(&mut self) -> Result<(), NotRecorded> {
        if !self.calls {
            return Ok(());
        }
        for pid in self.output.chosen() {
            (self
                .skel
                .maps
                .chosen
                .update(&pid.to_ne_bytes(), &[1], MapFlags::ANY))
            .during("choosing the tasks")?;
        }
        Ok(())
    }

    /// Empties the rings after one was full, and goes on.
    fn resume(&mut self) -> Result<(), NotRecorded> {
        // CPUs that had seen room in their rings have written by then.
        std::thread::sleep(UNDER_WAY * 2);
        self.read()?;
        self.tell_lost();
        self.output
            .write(now())
            .map_err(|error| self.session.failed(error))?;
        self.begin()
    }

    fn tell_lost(&mut self) {
        let count = self.lost() - self.told;
        if count > 0 {
            self.told += count;
            self.output.own(&Event {
                time: now(),
                cpu: 0,
                what: What::Lost {
                    count,
                    of_cpu_only: false,
                },
            });
        }
    }

    /// Runs the command, and writes what happens, until it ends, the time is up or `stop` is set.
    ///
    /// # Errors
    /// The command cannot be started, the disk is full, libbpf fails.
    pub fn record(&mut self, wanted: &Wanted, stop: &AtomicBool) -> Result<Ended, NotRecorded> {
        set_state(&mut self.skel, OFF);
        std::thread::sleep(UNDER_WAY * 2);
        // The events of the benchmarks are dropped.
        self.read()?;
        self.output.begin(now());
        self.lost += self.lost();
        self.calls = wanted.calls;
        self.begin()?;
        let command = wanted.pid.is_none() && wanted.cgroup.is_none();
        if command && let Some(variables) = self.skel.maps.bss_data.as_mut() {
            variables.adopter = std::process::id();
        }
        let mut child = self.session.start()?;
        let pid = child.as_ref().map(|child| child.0.id());
        if command {
            pid.into_iter()
                .for_each(|pid| self.output.tasks.choose(pid));
        }
        let deadline = self.session.duration.map(|length| Instant::now() + length);
        let mut look = LOOK;
        let status = loop {
            std::thread::sleep(look);
            if let Some(status) = self.ended(&mut child)? {
                break Some(status);
            }
            let due = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if due || stop.load(Ordering::Relaxed) {
                break None;
            }
            let fill = self.rings.fill();
            if self.state() == HALTED {
                self.resume()?;
            } else if fill >= FULL_ENOUGH {
                let until = self.read()?;
                (self.output.write(until)).map_err(|error| self.session.failed(error))?;
            }
            // At least four looks while a ring fills from empty to half full.
            look = match fill {
                0..128 => (look * 2).min(LOOK),
                128..512 => look,
                _ => (look / 2).max(QUICK_LOOK),
            };
        };
        set_state(&mut self.skel, OFF);
        drop(child);
        Ok(Ended { status, pid })
    }

    /// The exit status of the command, if it has ended.
    fn ended(&self, child: &mut Option<Running>) -> Result<Option<i32>, NotRecorded> {
        let Some(child) = child else { return Ok(None) };
        let status = (child.0.try_wait()).map_err(|error| self.session.command_failed(error))?;
        // A command that a signal ended has no exit status; shells say 128 and its number.
        Ok(status.map(|ended| {
            (ended.code()).unwrap_or_else(|| 128 + ended.signal().unwrap_or_default())
        }))
    }

    /// Writes the rest, and the end.
    ///
    /// # Errors
    /// As [`Recorder::record`].
    pub fn finish(
        mut self,
        ended: Ended,
        mut capabilities: BTreeSet<Capability>,
    ) -> Result<Recorded, NotRecorded> {
        std::thread::sleep(UNDER_WAY * 2);
        self.read()?;
        self.tell_lost();
        let learned = self
            .skel
            .maps
            .bss_data
            .as_ref()
            .map_or(0, |all| all.hardirq_bits);
        if learned == 0 {
            capabilities.remove(&Capability::Context);
        }
        let mut facts = BTreeMap::new();
        if let Some(pid) = ended.pid {
            facts.insert("pid".to_owned(), pid.to_string());
        }
        let session = self.session;
        let lost = self.lost();
        (self.output.write(u64::MAX)).map_err(|error| session.failed(error))?;
        let names = names(&self.output.functions);
        if !names.is_empty() {
            facts.insert("functions".to_owned(), names);
        }
        let writer = self.output.close().map_err(|error| session.failed(error))?;
        let recorded = Recorded {
            records: writer.events(),
            lost,
        };
        let end = End {
            lost: [("ring_full".to_owned(), lost)].into(),
            status: ended.status,
            facts,
            ..End::default()
        };
        (writer.finish(end, &capabilities)).map_err(|error| session.failed(error))?;
        Ok(recorded)
    }
}

/// The names of the kernel's functions at these addresses, a line each: address and name.
fn names(addresses: &BTreeSet<u64>) -> String {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let mut lines = BTreeMap::new();
    for line in symbols.lines() {
        let mut words = line.split_whitespace();
        let address = words
            .next()
            .and_then(|hex| u64::from_str_radix(hex, 16).ok());
        if let (Some(address), Some(name)) = (address, words.nth(1))
            && addresses.contains(&address)
        {
            lines
                .entry(address)
                .or_insert_with(|| format!("{address:#x} {name}"));
        }
    }
    lines.into_values().collect::<Vec<_>>().join("\n")
}
