// SPDX-License-Identifier: GPL-2.0-only
//! The servers' threads request statistics here, and the loader answers between two looks at the
//! scheduler. No request can block the loader.

use alight_policy::Scheduler;
use alight_stats::{Counters, Source, Statistics, text};
use std::io::{Write, stdout};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::say::say;

/// How long a thread waits for its answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Statistics that are younger than this are given again instead of new ones.
const FRESH: Duration = Duration::from_millis(20);

type Answer = SyncSender<Arc<Statistics>>;

/// The statistics of all loads of the scheduler.
pub(super) struct Desk {
    scheduler: Scheduler,
    started: Instant,
    loads: u64,
    /// What earlier loads counted.
    earlier: Vec<Counters>,
    latest: Option<(Instant, Arc<Statistics>)>,
    asks: Receiver<Answer>,
    ask: mpsc::Sender<Answer>,
    printer: Option<Printer>,
}

impl Desk {
    /// Prints to standard output every `interval`, if there is one.
    pub fn new(scheduler: &Scheduler, interval: Option<Duration>) -> Self {
        let (ask, asks) = mpsc::channel();
        Desk {
            scheduler: scheduler.clone(),
            started: Instant::now(),
            loads: 0,
            earlier: Vec::new(),
            latest: None,
            asks,
            ask,
            printer: interval.map(Printer::start),
        }
    }

    /// The source from which the servers get statistics.
    pub fn source(&self) -> Source {
        let desk = self.ask.clone();
        Arc::new(move || {
            let (answer, statistics) = sync_channel(1);
            desk.send(answer).ok()?;
            statistics.recv_timeout(PATIENCE).ok()
        })
    }

    /// The scheduler has been loaded, maybe again. The uptime counts from the first load.
    pub fn loaded(&mut self) {
        if self.loads == 0 {
            self.started = Instant::now();
            if let Some(printer) = &mut self.printer {
                printer.next = self.started + printer.interval;
            }
        }
        self.loads += 1;
    }

    /// The scheduler has been unloaded; `counters` are its last.
    pub fn unloaded(&mut self, counters: Vec<Counters>) {
        self.earlier = self.sum(counters);
        self.latest = None;
    }

    /// Answers all requests within `wait`, and prints if it is time. `count` reads the counters.
    pub fn attend(&mut self, wait: Duration, count: impl Fn() -> Vec<Counters>) {
        let end = Instant::now() + wait;
        loop {
            if self.printer.as_ref().is_some_and(Printer::due) {
                let now = self.statistics(&count);
                if let Some(printer) = &mut self.printer {
                    printer.print(now);
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            let until_print = self.printer.as_ref().map_or(left, Printer::left);
            match self.asks.recv_timeout(left.min(until_print)) {
                Ok(answer) => {
                    // A thread that no longer waits needs no answer.
                    let _ = answer.try_send(self.statistics(&count));
                }
                Err(_) if Instant::now() >= end => return,
                Err(_) => {}
            }
        }
    }

    fn statistics(&mut self, count: &impl Fn() -> Vec<Counters>) -> Arc<Statistics> {
        if let Some((when, latest)) = &self.latest
            && when.elapsed() < FRESH
        {
            return latest.clone();
        }
        let uptime = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let cpus = self.sum(count());
        let now = Statistics::new(&self.scheduler, uptime, self.loads, cpus);
        let now = Arc::new(now);
        self.latest = Some((Instant::now(), now.clone()));
        now
    }

    fn sum(&self, mut counters: Vec<Counters>) -> Vec<Counters> {
        counters.resize(counters.len().max(self.earlier.len()), Counters::ZERO);
        for (cpu, earlier) in counters.iter_mut().zip(&self.earlier) {
            cpu.add(earlier);
        }
        counters
    }
}

/// Prints blocks in a thread of its own, because standard output may be a pipe that is full.
struct Printer {
    interval: Duration,
    next: Instant,
    before: Option<Arc<Statistics>>,
    blocks: SyncSender<String>,
}

impl Printer {
    fn start(interval: Duration) -> Self {
        let (blocks, received) = sync_channel::<String>(1);
        thread::spawn(move || {
            for block in received {
                let mut out = stdout().lock();
                if let Err(error) = out.write_all(block.as_bytes()).and_then(|()| out.flush()) {
                    say(&format!("no more statistics: standard output: {error}"));
                    return;
                }
            }
        });
        Printer {
            interval,
            next: Instant::now() + interval,
            before: None,
            blocks,
        }
    }

    fn due(&self) -> bool {
        Instant::now() >= self.next
    }

    fn left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    fn print(&mut self, now: Arc<Statistics>) {
        let nothing = Statistics::default();
        let before = self.before.as_deref().unwrap_or(&nothing);
        let interval = match self.before {
            Some(_) => now.since(before),
            None => (*now).clone(),
        };
        // A block for which there is no room is left out.
        let _ = self.blocks.try_send(text::block(&interval, now.uptime_ns));
        self.before = Some(now);
        self.next = (self.next + self.interval).max(Instant::now());
    }
}

#[cfg(test)]
mod tests;
