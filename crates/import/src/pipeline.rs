// SPDX-License-Identifier: GPL-2.0-only
//! What all readers fill: items are put in order, cut to the wanted time, and written down with
//! what is known of their tasks.

use alight_recording::workload::{Event, Interrupt, What, WorkloadWriter};

use crate::Error;
use crate::item::{Body, Item};
use crate::names::Names;
use crate::options::Options;
use crate::origin::Origin;
use crate::sorter::Sorter;
use crate::tally::Tally;
use crate::tasks::Tasks;

/// From a reader to the recording.
pub(crate) struct Pipeline {
    pub names: Names,
    pub tally: Tally,
    sorter: Sorter,
    stage: Stage,
}

/// What is left at the end.
pub(crate) struct Ended {
    pub tally: Tally,
    pub tasks: Tasks,
    pub names: Names,
    pub writer: Option<WorkloadWriter>,
}

/// What comes behind the sorter.
struct Stage {
    options: Options,
    origin: Origin,
    tasks: Tasks,
    writer: Option<WorkloadWriter>,
    /// The time of the newest item so far, and of the first one.
    latest: u64,
    first: Option<u64>,
    /// From when to when, once the first event is known.
    window: (u64, u64),
    /// Events that came late and are to be told as lost.
    missing: u64,
    /// Interrupts that began and did not end, by CPU.
    begun: Vec<Vec<Interrupt>>,
    /// By CPU: it is off.
    off: Vec<bool>,
    /// The child of the latest birth on each CPU.
    child: Vec<u32>,
}

impl Pipeline {
    /// Into a recording, or only into the counts.
    pub fn new(origin: &Origin, options: &Options, writer: Option<WorkloadWriter>) -> Self {
        Pipeline {
            names: Names::new(),
            tally: Tally::default(),
            sorter: Sorter::default(),
            stage: Stage {
                options: options.clone(),
                origin: origin.clone(),
                tasks: Tasks::new(options),
                writer,
                latest: 0,
                first: None,
                window: (0, u64::MAX),
                missing: 0,
                begun: Vec::new(),
                off: Vec::new(),
                child: Vec::new(),
            },
        }
    }

    /// Items of one time shall come in the order of their CPUs, not of the file.
    pub fn order_by_cpu(&mut self) {
        self.sorter.by_cpu = true;
    }

    /// Adds an item of a file that is not in order.
    pub fn add(&mut self, item: Item) -> Result<(), Error> {
        self.sorter.add(item);
        if self.sorter.is_full() {
            let items = self.sorter.relieve();
            self.pass_all(&items)?;
        }
        Ok(())
    }

    /// No later item is older than those of the rounds before.
    pub fn end_round(&mut self) -> Result<(), Error> {
        let items = self.sorter.end_round();
        self.pass_all(&items)
    }

    /// Adds an item that is in order.
    pub fn pass(&mut self, item: Item) -> Result<(), Error> {
        self.stage.pass(item, &self.names, &mut self.tally)
    }

    /// Learns something that was so before the first event.
    pub fn know(&mut self, item: &Item) {
        self.stage.tasks.learn(item);
    }

    /// The index of a group.
    pub fn group(&mut self, path: &str) -> u32 {
        self.stage.tasks.group(path)
    }

    /// Whether all that is wanted was there.
    pub fn is_done(&self) -> bool {
        self.stage.first.is_some() && self.stage.latest > self.stage.window.1
    }

    /// No item comes any more.
    pub fn end(mut self) -> Result<Ended, Error> {
        let items = self.sorter.end();
        self.pass_all(&items)?;
        let Stage { tasks, writer, .. } = self.stage;
        Ok(Ended {
            tally: self.tally,
            tasks,
            names: self.names,
            writer,
        })
    }

    fn pass_all(&mut self, items: &[Item]) -> Result<(), Error> {
        items.iter().try_for_each(|item| self.pass(*item))
    }
}

impl Stage {
    fn pass(&mut self, mut item: Item, names: &Names, tally: &mut Tally) -> Result<(), Error> {
        let Body::What(what) = item.body else {
            self.tasks.learn(&item);
            return Ok(());
        };
        if matches!(what, What::Lost { .. }) {
            // A loss may be told late.
            item.time = item.time.max(self.latest);
        }
        if item.time < self.latest {
            tally.late += 1;
            tally.latest_step = tally.latest_step.max(self.latest - item.time);
            self.missing += 1;
            return Ok(());
        }
        self.latest = item.time;
        tally.seen = Some((tally.seen.map_or(item.time, |seen| seen.0), item.time));
        if self.first.is_none() {
            self.first = Some(item.time);
            let Options { from, to, .. } = &self.options;
            let on_clock = |moment: Option<crate::Moment>, none| {
                moment.map_or(none, |moment| moment.on_clock(item.time))
            };
            self.window = (on_clock(*from, 0), on_clock(*to, u64::MAX));
        }
        let Some(what) = self.of_cpu(item.cpu, what) else {
            return Ok(());
        };
        self.tasks.learn(&item);
        if item.time < self.window.0 || item.time > self.window.1 {
            return Ok(());
        }
        if self.missing > 0 {
            let lost = What::Lost {
                count: std::mem::take(&mut self.missing),
                of_cpu_only: false,
            };
            self.write(
                &Item {
                    body: Body::What(lost),
                    ..item
                },
                &lost,
                names,
                tally,
            )?;
        }
        self.write(&item, &what, names, tally)
    }

    fn write(
        &mut self,
        item: &Item,
        what: &What,
        names: &Names,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        tally.count(item.time, item.cpu, what);
        for pid in item.tasks().into_iter().flatten().filter(|pid| *pid != 0) {
            let fact = self.tasks.fact(pid, item.time, names, &self.origin);
            if let (Some(fact), Some(writer)) = (fact, &mut self.writer) {
                writer.task(&fact)?;
            }
        }
        if let Some(writer) = &mut self.writer {
            writer.event(&Event {
                time: item.time,
                cpu: item.cpu,
                what: *what,
            })?;
        }
        Ok(())
    }

    /// An end of an interrupt is that of the one which began last; a CPU that is off does not go
    /// off.
    fn of_cpu(&mut self, cpu: u16, what: What) -> Option<What> {
        let at = usize::from(cpu);
        match what {
            What::InterruptBegin { interrupt, .. } => {
                if self.begun.len() <= at {
                    self.begun.resize(at + 1, Vec::new());
                }
                // More than nest on any CPU: the ends were not recorded.
                if self.begun[at].len() == 16 {
                    self.begun[at].clear();
                }
                self.begun[at].push(interrupt);
                Some(what)
            }
            What::InterruptEnd { interrupt } => {
                let begun = self.begun.get_mut(at);
                let same = |begun: &Interrupt| kind(*begun) == kind(interrupt);
                let found = begun.and_then(|begun| {
                    let place = begun.iter().rposition(same)?;
                    let interrupt = begun[place];
                    begun.truncate(place);
                    Some(interrupt)
                });
                Some(What::InterruptEnd {
                    interrupt: found.unwrap_or(interrupt),
                })
            }
            // task_newtask and sched_process_fork tell the same.
            What::Fork { child, .. } => {
                if self.child.len() <= at {
                    self.child.resize(at + 1, 0);
                }
                let before = std::mem::replace(&mut self.child[at], child);
                (before != child).then_some(what)
            }
            What::Exit { pid } => {
                // Its number may come again.
                for child in self.child.iter_mut().filter(|child| **child == pid) {
                    *child = 0;
                }
                Some(what)
            }
            What::Hotplug { online } => {
                if self.off.len() <= at {
                    self.off.resize(at + 1, false);
                }
                let before = std::mem::replace(&mut self.off[at], !online);
                (before == online).then_some(what)
            }
            _ => Some(what),
        }
    }
}

/// The tick is a high-resolution timer, whose end does not say which.
fn kind(interrupt: Interrupt) -> u8 {
    match interrupt {
        Interrupt::Hrtimer(_) | Interrupt::Tick => 0,
        Interrupt::Timer(_) => 1,
        Interrupt::Device(_) => 2,
        Interrupt::Softirq(_) => 3,
        Interrupt::Ipi(_) => 4,
    }
}

#[cfg(test)]
mod tests;
