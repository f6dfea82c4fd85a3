// SPDX-License-Identifier: GPL-2.0-only
//! Options of `schbench` (24e32b8), with its defaults and what it makes of odd ones.

use super::super::getopt::{self, Found, Spec, Value, Word, cpu_list, number};
use super::super::surroundings::Surroundings;
use super::super::{MAX_TASKS, refuse_operands};
use crate::diagnostic::{Place, Refusal, Remarks};
use crate::program::Attributes;

/// A command line, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub message_threads: u32,
    /// Of each message thread.
    pub workers: u32,
    /// 0: for ever.
    pub runtime_s: u32,
    /// The second at whose end what was measured is forgotten.
    pub warmup_s: Option<u32>,
    /// Seconds after which it is forgotten again and again.
    pub zero_s: Option<u32>,
    footprint_kb: u32,
    operations: u32,
    pub sleep_us: u32,
    pub locking: bool,
    pub calibrate: bool,
    /// `-R`: requests a second of each message thread, which hands them out; 0: workers ask.
    pub requests_per_s: u32,
    /// `-p`: bytes that worker and message thread each write in a round; 0: requests.
    pub pipe_bytes: u32,
    /// Percent of the footprint that is each worker's own.
    split_percent: Option<u32>,
    message_cpus: Option<Cpus>,
    worker_cpus: Option<Cpus>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cpus {
    Listed(Vec<u32>),
    /// `auto`: message thread k on CPU k. Workers may use all CPUs: the tool takes those of the
    /// message threads out and then puts all in.
    Auto,
}

/// Matrices that one product touches.
const MATRICES: u64 = 3;
/// Bytes of an element (`unsigned long`).
const ELEMENT_BYTES: u64 = 8;
/// A run shorter than this, s, has no warmup.
const SHORTEST_WITH_WARMUP_S: u32 = 30;
const MAX_INT: i64 = i32::MAX as i64;
/// Highest `-r`, `-w`, `-z`, s: 100 days.
const MAX_TIME_S: i64 = 8_640_000;
/// Longest run whose seconds are told apart, s.
const MAX_COUNTED_S: u32 = 86_400;
/// Largest `-F`, KB: 64 GB.
const MAX_FOOTPRINT_KB: i64 = 1 << 26;
/// Steps of the longest request: about a day of work.
const MAX_STEPS: u64 = 28_000_000_000_000;

impl Settings {
    /// Rows of matrices that take up `kb` together.
    fn rows(kb: u64) -> u64 {
        (kb * 1024 / MATRICES / ELEMENT_BYTES).isqrt()
    }

    fn shared_and_own_kb(&self) -> (u64, u64) {
        let kb = u64::from(self.footprint_kb);
        match self.split_percent.map(u64::from) {
            Some(percent) => (kb * (100 - percent) / 100, kb * percent / 100),
            None => (0, kb),
        }
    }

    /// Innermost steps of a request: multiplications and additions.
    pub fn steps(&self) -> u64 {
        let (shared, own) = self.shared_and_own_kb();
        let operations = u64::from(self.operations);
        let own_operations = match self.split_percent {
            Some(percent) => operations * u64::from(percent) / 100,
            None => operations,
        };
        let steps = |kb, n: u64| Self::rows(kb).pow(3).saturating_mul(n);
        steps(own, own_operations).saturating_add(steps(shared, operations - own_operations))
    }

    /// What a worker's cache has to hold.
    pub fn working_set_bytes(&self) -> u64 {
        let (_, own) = self.shared_and_own_kb();
        own * 1024
    }

    /// How workers are scheduled.
    pub fn worker_attributes(&self) -> Attributes {
        Attributes {
            lift_affinity: self.worker_cpus == Some(Cpus::Auto),
            affinity: match &self.worker_cpus {
                Some(Cpus::Listed(cpus)) => Some(cpus.clone()),
                Some(Cpus::Auto) | None => None,
            },
            ..Attributes::default()
        }
    }

    /// What message thread `k` changes to once it has made its workers.
    pub fn message_attributes(&self, k: u32) -> Option<Attributes> {
        let cpu = match self.message_cpus.as_ref()? {
            Cpus::Listed(cpus) => cpus[k as usize % cpus.len()],
            Cpus::Auto => k,
        };
        Some(Attributes {
            affinity: Some(vec![cpu]),
            ..Attributes::default()
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opt {
    Calibrate,
    NoLocking,
    MessageThreads,
    MessageCpus,
    WorkerCpus,
    Threads,
    Runtime,
    Footprint,
    /// Its long spelling, which the tool reads and forgets.
    LongFootprint,
    Operations,
    Sleep,
    Warmup,
    Zero,
    Split,
    Rps,
    Pipe,
    /// Changes what is printed.
    NoEffect,
    /// Changes what runs, and is not modelled.
    NotModelled,
    /// Went with a release.
    Gone(&'static str),
    Help,
}

const fn both(short: char, long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

const fn long(long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: None,
        long: Some(long),
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    both('C', "calibrate", Value::No, Opt::Calibrate),
    both('L', "no-locking", Value::No, Opt::NoLocking),
    both('m', "message-threads", Value::Required, Opt::MessageThreads),
    both('M', "message-cpus", Value::Required, Opt::MessageCpus),
    both('W', "worker-cpus", Value::Required, Opt::WorkerCpus),
    both('t', "threads", Value::Required, Opt::Threads),
    both('r', "runtime", Value::Required, Opt::Runtime),
    Spec {
        short: Some('F'),
        long: None,
        value: Value::Required,
        id: Opt::Footprint,
    },
    long("cache_footprint", Value::Required, Opt::LongFootprint),
    both('n', "operations", Value::Required, Opt::Operations),
    both('s', "sleep_usec", Value::Required, Opt::Sleep),
    both('w', "warmuptime", Value::Required, Opt::Warmup),
    both('z', "zerotime", Value::Required, Opt::Zero),
    long("split", Value::Required, Opt::Split),
    both('i', "intervaltime", Value::Required, Opt::NoEffect),
    both('j', "json", Value::Required, Opt::NoEffect),
    both('J', "jobname", Value::Required, Opt::NoEffect),
    both('A', "auto-rps", Value::Required, Opt::NotModelled),
    both('p', "pipe", Value::Required, Opt::Pipe),
    both('R', "rps", Value::Required, Opt::Rps),
    both('a', "auto", Value::No, Opt::Gone("April 2023")),
    long("help", Value::No, Opt::Help),
];

/// Most bytes of `-p` (`PIPE_TRANSFER_BUFFER`).
pub(super) const MAX_PIPE_BYTES: i64 = 1 << 20;

/// Reads the words behind `schbench`.
pub(super) fn read(
    words: &[Word],
    around: &Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("schbench", SPECS, words)?;
    let mut settings = Settings {
        message_threads: 1,
        workers: 0,
        runtime_s: 30,
        warmup_s: None,
        zero_s: None,
        footprint_kb: 256,
        operations: 5,
        sleep_us: 100,
        locking: true,
        calibrate: false,
        requests_per_s: 0,
        pipe_bytes: 0,
        split_percent: None,
        message_cpus: None,
        worker_cpus: None,
    };
    for found in &parsed.options {
        settings.take(found, remarks)?;
    }
    refuse_operands("schbench", &parsed.operands)?;
    settings.settle(words, around, remarks)?;
    let sleeps = parsed.options.iter().find(|found| found.id == Opt::Sleep);
    if let Some(found) = sleeps {
        remarks.note(
            found.place,
            "-s is the sleep in each request, as since May 2025; up to April 2023 it was the \
             delay of a message thread: for that tool add its -c",
        );
    }
    Ok(settings)
}

impl Settings {
    fn take(&mut self, found: &Found<Opt>, remarks: &mut Remarks) -> Result<(), Refusal> {
        let text = found.value.as_deref().unwrap_or_default();
        let read = |least: i64, most: i64| {
            number(found.place, &found.spelling, text, least, most).map(|n| n as u32)
        };
        let some = |n: u32| (n != 0).then_some(n);
        match found.id {
            Opt::Calibrate => (self.calibrate, self.locking) = (true, false),
            Opt::NoLocking => self.locking = false,
            Opt::MessageThreads => self.message_threads = read(1, MAX_TASKS as i64)?,
            Opt::Threads => self.workers = read(1, MAX_TASKS as i64)?,
            Opt::MessageCpus => self.message_cpus = Some(cpus(found, text)?),
            Opt::WorkerCpus => self.worker_cpus = Some(cpus(found, text)?),
            Opt::Runtime => self.runtime_s = read(0, MAX_TIME_S)?,
            Opt::Footprint => self.footprint_kb = read(0, MAX_FOOTPRINT_KB)?,
            Opt::Operations => self.operations = read(0, MAX_INT)?,
            Opt::Sleep => self.sleep_us = read(0, MAX_INT)?,
            Opt::Warmup => self.warmup_s = some(read(0, MAX_TIME_S)?),
            Opt::Zero => self.zero_s = some(read(0, MAX_TIME_S)?),
            Opt::Split => self.split_percent = Some(read(0, 100)?),
            Opt::Rps => self.requests_per_s = read(0, MAX_INT)?,
            Opt::Pipe => self.pipe_bytes = read(0, MAX_PIPE_BYTES)?,
            Opt::LongFootprint => {
                remarks.warn(found.place, "schbench ignores --cache_footprint; use -F")
            }
            Opt::NoEffect => remarks.note(
                found.place,
                format!("{} has no effect in a simulation", found.spelling),
            ),
            Opt::NotModelled => {
                return Err(Refusal::new(
                    found.place,
                    format!("{} is not modelled; remove it", found.spelling),
                ));
            }
            Opt::Gone(when) => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{} is an option of older releases of schbench and was removed in {when}; \
                         remove it",
                        found.spelling
                    ),
                ));
            }
            Opt::Help => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{} prints a help text and runs nothing; remove it",
                        found.spelling
                    ),
                ));
            }
        }
        Ok(())
    }

    /// What the tool does with all options together.
    fn settle(
        &mut self,
        words: &[Word],
        around: &Surroundings<'_>,
        remarks: &mut Remarks,
    ) -> Result<(), Refusal> {
        let place = words
            .first()
            .map_or(Place { line: 1, column: 1 }, |w| w.place);
        if self.workers == 0 {
            let Some(site) = around.site else {
                return Err(Refusal::new(
                    place,
                    "without -t schbench starts as many workers as there are CPUs, and the machine is not known here; add -t N",
                ));
            };
            self.workers = (site.cpus().len() as u32).div_ceil(self.message_threads);
        }
        self.settle_requests(place, remarks)?;
        let tasks = u64::from(self.message_threads) * u64::from(self.workers);
        if tasks > MAX_TASKS {
            return Err(Refusal::new(
                place,
                format!(
                    "{tasks} workers are too many, expected at most {MAX_TASKS}; lower -m or -t"
                ),
            ));
        }
        if self.steps() > MAX_STEPS {
            return Err(Refusal::new(
                place,
                "a request would take more than a day; lower -F or -n",
            ));
        }
        if self.message_cpus == Some(Cpus::Auto) || self.worker_cpus == Some(Cpus::Auto) {
            (self.message_cpus, self.worker_cpus) = (Some(Cpus::Auto), Some(Cpus::Auto));
        }
        if self.warmup_s.is_some() && self.runtime_s < SHORTEST_WITH_WARMUP_S {
            remarks.note(
                place,
                format!("schbench warms up only in runs of {SHORTEST_WITH_WARMUP_S} s or more"),
            );
            self.warmup_s = None;
        }
        let counted = self.warmup_s.is_some() || self.zero_s.is_some();
        if counted && self.runtime_s > MAX_COUNTED_S {
            return Err(Refusal::new(
                place,
                format!(
                    "-r is more than {MAX_COUNTED_S} s, the longest run with -w or -z; lower it"
                ),
            ));
        }
        Ok(())
    }
}

impl Settings {
    /// Requests that are handed out are divided among the message threads; neither they nor a pipe have
    /// a warmup.
    fn settle_requests(&mut self, place: Place, remarks: &mut Remarks) -> Result<(), Refusal> {
        if self.requests_per_s != 0 && self.pipe_bytes != 0 {
            return Err(Refusal::new(
                place,
                "-R and -p together are not modelled; leave one out",
            ));
        }
        if self.requests_per_s != 0 && self.requests_per_s < self.message_threads {
            remarks.warn(
                place,
                "-R is less than -m: divided among the message threads it is 0, and schbench runs \
                 as without -R",
            );
        }
        self.requests_per_s /= self.message_threads;
        if (self.requests_per_s != 0 || self.pipe_bytes != 0) && self.warmup_s.take().is_some() {
            remarks.note(place, "schbench does not warm up with -R or -p");
        }
        Ok(())
    }
}

fn cpus(found: &Found<Opt>, text: &str) -> Result<Cpus, Refusal> {
    match text {
        "auto" => Ok(Cpus::Auto),
        list => cpu_list(found, list).map(Cpus::Listed),
    }
}
