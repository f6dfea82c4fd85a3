// SPDX-License-Identifier: GPL-2.0-only
//! Sorts what came out of the rings by time, and writes it.

use super::rings::WORDS;
use super::tasks::Tasks;
use crate::workload_skeleton::types::workload_fact;
use alight_recording::workload::{Event, Interrupt, What, WorkloadWriter};
use std::collections::BTreeSet;
use std::io;

/// Something that waits to be written.
enum Pending {
    Fact(Box<workload_fact>),
    Event([u64; WORDS]),
}

impl Pending {
    fn time(&self) -> u64 {
        match self {
            Pending::Fact(fact) => fact.time,
            Pending::Event(words) => words[0],
        }
    }

    /// Facts come before the events of the same time.
    fn key(&self) -> (u64, bool) {
        (self.time(), matches!(self, Pending::Event(_)))
    }
}

/// Sorts events and facts, and writes them into the file.
pub struct Output {
    writer: WorkloadWriter,
    /// The tasks.
    pub tasks: Tasks,
    pending: Vec<Pending>,
    /// For each CPU the interrupts that have begun, the innermost last.
    interrupts: Vec<Vec<Interrupt>>,
    /// Functions of timers that were seen, by their addresses.
    pub functions: BTreeSet<u64>,
    /// Begin of the recording, ns; earlier events are dropped.
    begin: u64,
}

impl Output {
    /// Writes to `writer`.
    pub fn new(writer: WorkloadWriter, tasks: Tasks, nr_cpus: usize) -> Self {
        Output {
            writer,
            tasks,
            pending: Vec::new(),
            interrupts: vec![Vec::new(); nr_cpus],
            functions: BTreeSet::new(),
            begin: 0,
        }
    }

    /// Drops what waits, and all that is from before `time`.
    pub fn begin(&mut self, time: u64) {
        self.pending.clear();
        self.begin = time;
    }

    /// Takes an event as the rings have it.
    pub fn event(&mut self, words: [u64; WORDS]) {
        self.pending.push(Pending::Event(words));
    }

    /// Takes an event of the loader's own.
    pub fn own(&mut self, event: &Event) {
        self.pending.push(Pending::Event(event.encode()));
    }

    /// Takes what the kernel says of a task.
    pub fn fact(&mut self, fact: workload_fact) {
        self.pending.push(Pending::Fact(Box::new(fact)));
    }

    /// The tasks of the workload, as far as they are known or wait to be written.
    pub fn chosen(&mut self) -> Vec<u32> {
        let waiting = self.pending.iter().filter_map(|one| match one {
            Pending::Fact(fact) => Some(&**fact),
            Pending::Event(_) => None,
        });
        self.tasks.chosen(waiting)
    }

    /// Writes what is older than `until`.
    ///
    /// # Errors
    /// The disk is full, or an event is malformed.
    pub fn write(&mut self, until: u64) -> io::Result<()> {
        self.pending.sort_by_key(Pending::key);
        let ready = self.pending.partition_point(|one| one.time() < until);
        let later = self.pending.split_off(ready);
        for one in std::mem::replace(&mut self.pending, later) {
            if one.time() < self.begin {
                continue;
            }
            match one {
                Pending::Fact(fact) => self.write_fact(&fact)?,
                Pending::Event(words) => self.write_event(&words)?,
            }
        }
        Ok(())
    }

    fn write_fact(&mut self, fact: &workload_fact) -> io::Result<()> {
        for new in self.tasks.learn(fact) {
            self.writer.task(&new)?;
        }
        Ok(())
    }

    fn write_event(&mut self, words: &[u64; WORDS]) -> io::Result<()> {
        let mut event = Event::decode(words).map_err(io::Error::other)?;
        match &mut event.what {
            What::InterruptBegin { interrupt, .. } => {
                if let Interrupt::Hrtimer(at) | Interrupt::Timer(at) = interrupt {
                    self.functions.insert(*at);
                }
                self.begun(event.cpu).push(*interrupt);
            }
            What::InterruptEnd { interrupt } => match self.begun(event.cpu).pop() {
                // The kernel side does not know which function has ended.
                Some(begun) => *interrupt = begun,
                // It began before the recording.
                None => return Ok(()),
            },
            What::Lost { .. } => self.interrupts.iter_mut().for_each(Vec::clear),
            What::Exit { pid } => self.tasks.forget(*pid),
            _ => {}
        }
        self.writer.event(&event)
    }

    fn begun(&mut self, cpu: u16) -> &mut Vec<Interrupt> {
        let cpu = usize::from(cpu);
        if cpu >= self.interrupts.len() {
            self.interrupts.resize(cpu + 1, Vec::new());
        }
        &mut self.interrupts[cpu]
    }

    /// Writes the rest, and returns the writer.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn close(mut self) -> io::Result<WorkloadWriter> {
        self.write(u64::MAX)?;
        Ok(self.writer)
    }
}
