// SPDX-License-Identifier: GPL-2.0-only
//! Options of `cyclictest`: rt-tests 2.4, and older spellings that published command lines use.

use super::super::cpus::{Numbered, Text, libnuma};
use super::super::getopt::{self, Found, Spec, Value, Word, number};
use super::super::surroundings::Surroundings;
use super::super::{MAX_TASKS, refuse_operands};
use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::program::{Attributes, Policy};
use crate::site::Site;

/// A command line, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub threads: u32,
    interval_us: u64,
    distance_us: u64,
    /// Cycles of each thread; `None`: until the time is over.
    pub loops: Option<u64>,
    pub duration_ns: Option<u64>,
    policy: Policy,
    priority: u32,
    spread_priorities: bool,
    pinning: Pinning,
    /// CPUs of the main thread, if it does not keep those that it begins with.
    main_cpus: Option<Vec<u32>>,
    /// What is written to `/dev/cpu_dma_latency`; `None`: it is not opened.
    pub dma_latency_us: Option<u64>,
    /// Main prints nothing while the threads run.
    pub quiet: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pinning {
    None,
    /// Thread k on CPU k: which CPUs there are is not known.
    OwnCpu,
    /// Thread k on the k-th of these, round robin.
    Among(Vec<u32>),
}

impl Settings {
    /// Period of thread `k`, us.
    pub fn period_us(&self, k: u32) -> u64 {
        self.interval_us + u64::from(k) * self.distance_us
    }

    /// How thread `k` is scheduled as it begins; one that is pinned begins on main's CPUs.
    pub fn attributes(&self, k: u32) -> Attributes {
        let spread = if self.spread_priorities { k } else { 0 };
        let priority = self.priority.saturating_sub(spread).max(1);
        Attributes {
            policy: Some(self.policy),
            rt_priority: is_realtime(self.policy).then_some(priority),
            affinity: self.cpu_of(k).and(self.main_cpus.clone()),
            ..Attributes::default()
        }
    }

    /// The CPU to which thread `k` pins itself.
    pub fn cpu_of(&self, k: u32) -> Option<u32> {
        match &self.pinning {
            Pinning::None => None,
            Pinning::OwnCpu => Some(k),
            Pinning::Among(cpus) => Some(cpus[k as usize % cpus.len()]),
        }
    }

    /// How the main thread is scheduled: as it begins, on the CPUs of `-a LIST` or `--mainaffinity`.
    pub fn main_attributes(&self) -> Attributes {
        Attributes {
            affinity: self.main_cpus.clone(),
            ..Attributes::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opt {
    Affinity,
    DefaultSystem,
    Distance,
    Duration,
    Histogram,
    Interval,
    Latency,
    Loops,
    MainAffinity,
    Policy,
    Priority,
    Priospread,
    Quiet,
    Smp,
    Threads,
    /// Changes what is printed, or what a machine does in ways that a simulation does not have.
    NoEffect,
    /// Changes what runs, and is not modelled.
    NotModelled,
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
    both('a', "affinity", Value::Optional, Opt::Affinity),
    both('A', "aligned", Value::Optional, Opt::NotModelled),
    both('b', "breaktrace", Value::Required, Opt::NotModelled),
    both('c', "clock", Value::Required, Opt::NoEffect),
    both('d', "distance", Value::Required, Opt::Distance),
    both('D', "duration", Value::Required, Opt::Duration),
    both('e', "latency", Value::Required, Opt::Latency),
    both('F', "fifo", Value::Required, Opt::NoEffect),
    both('h', "histogram", Value::Required, Opt::Histogram),
    both('H', "histofall", Value::Required, Opt::Histogram),
    both('i', "interval", Value::Required, Opt::Interval),
    both('l', "loops", Value::Required, Opt::Loops),
    both('m', "mlockall", Value::No, Opt::NoEffect),
    both('M', "refresh_on_max", Value::No, Opt::NoEffect),
    both('n', "nanosleep", Value::No, Opt::NoEffect),
    both('N', "nsecs", Value::No, Opt::NoEffect),
    both('o', "oscope", Value::Required, Opt::NoEffect),
    both('p', "priority", Value::Required, Opt::Priority),
    both('q', "quiet", Value::No, Opt::Quiet),
    both('r', "relative", Value::No, Opt::NotModelled),
    both('R', "resolution", Value::No, Opt::NoEffect),
    both('s', "system", Value::No, Opt::NotModelled),
    both('S', "smp", Value::No, Opt::Smp),
    both('t', "threads", Value::Optional, Opt::Threads),
    both('u', "unbuffered", Value::No, Opt::NoEffect),
    both('v', "verbose", Value::No, Opt::NoEffect),
    both('x', "posix_timers", Value::No, Opt::NotModelled),
    both('y', "policy", Value::Required, Opt::Policy),
    long("dbg_cyclictest", Value::No, Opt::NoEffect),
    long("default-system", Value::No, Opt::DefaultSystem),
    long("help", Value::No, Opt::Help),
    long("histfile", Value::Required, Opt::NoEffect),
    long("json", Value::Required, Opt::NoEffect),
    long("laptop", Value::No, Opt::DefaultSystem),
    long("mainaffinity", Value::Required, Opt::MainAffinity),
    long("notrace", Value::No, Opt::NoEffect),
    long("priospread", Value::No, Opt::Priospread),
    long("secaligned", Value::Optional, Opt::NotModelled),
    long("smi", Value::No, Opt::NoEffect),
    long("spike", Value::Required, Opt::NoEffect),
    long("spike-nodes", Value::Required, Opt::NoEffect),
    long("tracemark", Value::No, Opt::NoEffect),
];

const POLICIES: &[(&str, Policy)] = &[
    ("batch", Policy::Batch),
    ("fifo", Policy::Fifo),
    ("idle", Policy::Idle),
    ("normal", Policy::Normal),
    ("other", Policy::Normal),
    ("rr", Policy::RoundRobin),
];

const MAX_INT: i64 = i32::MAX as i64;
/// Longest run, s: 100 days.
const MAX_DURATION_S: i64 = 8_640_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Reads the words behind `cyclictest`.
pub(super) fn read(
    words: &[Word],
    around: &Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("cyclictest", SPECS, words)?;
    let mut draft = Draft::new(around);
    // Words that an option with an optional value looked at: `-t 8`, `-a 0-3`.
    let mut consumed = Vec::new();
    for found in &parsed.options {
        let detached = draft.read_option(found, remarks)?;
        consumed.extend(detached.map(|word| word.place));
    }
    let mut operands = parsed.operands;
    operands.retain(|word| !consumed.contains(&word.place));
    refuse_operands("cyclictest", &operands)?;
    let end = words
        .last()
        .map_or(Place { line: 1, column: 1 }, |w| w.place);
    draft.settle(end, remarks)
}

/// Where `-t` without a number, or `-S`, asks for a thread for each CPU.
#[derive(Debug, Clone)]
struct EachCpu {
    place: Place,
    spelling: String,
}

struct Draft<'a> {
    around: &'a Surroundings<'a>,
    settings: Settings,
    /// Set: [`Settings::threads`] is still to be found.
    each_cpu: Option<EachCpu>,
    smp: bool,
    /// CPUs of `-a LIST`.
    listed: Option<Vec<u32>>,
    /// Where `-a` stands, if it does.
    affinity_at: Option<Place>,
    histogram: bool,
    distance_at: Option<Place>,
}

impl<'a> Draft<'a> {
    fn new(around: &'a Surroundings<'a>) -> Self {
        Draft {
            around,
            settings: Settings {
                threads: 1,
                interval_us: 1000,
                distance_us: 500,
                loops: None,
                duration_ns: None,
                policy: Policy::Normal,
                priority: 0,
                spread_priorities: false,
                pinning: Pinning::None,
                main_cpus: None,
                dma_latency_us: Some(0),
                quiet: false,
            },
            each_cpu: None,
            smp: false,
            listed: None,
            affinity_at: None,
            histogram: false,
            distance_at: None,
        }
    }

    /// Answers the detached word that it used as the option's value.
    fn read_option(
        &mut self,
        found: &Found<Opt>,
        remarks: &mut Remarks,
    ) -> Result<Option<Word>, Refusal> {
        let value = found.value.as_deref().unwrap_or_default();
        let number = |least, most| number(found.place, &found.spelling, value, least, most);
        let settings = &mut self.settings;
        match found.id {
            Opt::Affinity => return self.read_affinity(found, remarks),
            Opt::Threads => return self.read_threads(found, remarks),
            Opt::MainAffinity => settings.main_cpus = Some(cpus(found, value, self.around)?),
            Opt::DefaultSystem => settings.dma_latency_us = None,
            Opt::Distance => {
                settings.distance_us = number(0, MAX_INT)? as u64;
                self.distance_at = Some(found.place);
            }
            Opt::Duration => settings.duration_ns = duration_ns(found, value)?,
            Opt::Histogram => self.histogram = number(0, MAX_INT)? > 0,
            Opt::Interval => settings.interval_us = number(1, MAX_INT)? as u64,
            Opt::Latency => settings.dma_latency_us = Some(number(0, MAX_INT)? as u64),
            Opt::Loops => {
                settings.loops = Some(number(0, MAX_INT)? as u64).filter(|loops| *loops > 0);
            }
            Opt::Policy => settings.policy = policy(found, value)?,
            Opt::Priority => {
                settings.priority = number(0, 99)? as u32;
                if !is_realtime(settings.policy) {
                    settings.policy = Policy::Fifo;
                }
            }
            Opt::Priospread => settings.spread_priorities = true,
            Opt::Quiet => settings.quiet = true,
            Opt::Smp => return self.read_smp(found).map(|()| None),
            Opt::NotModelled => {
                return Err(Refusal::new(
                    found.place,
                    format!("{} is not modelled; remove it", found.spelling),
                ));
            }
            Opt::Help => {
                return Err(Refusal::new(
                    found.place,
                    "--help prints a text and runs nothing; remove it",
                ));
            }
            Opt::NoEffect => remarks.note(
                found.place,
                format!("{} has no effect in a simulation", found.spelling),
            ),
        }
        Ok(None)
    }

    /// `-S`: a thread for each CPU, each on its own; all have one priority, as without it.
    fn read_smp(&mut self, found: &Found<Opt>) -> Result<(), Refusal> {
        if self.affinity_at.is_some() {
            return Err(Refusal::new(
                found.place,
                format!(
                    "{} after -a ends cyclictest (\"numa and smp options are mutually \
                     exclusive\"); remove one of the two: {} alone pins each thread",
                    found.spelling, found.spelling
                ),
            ));
        }
        self.smp = true;
        self.each_cpu = Some(EachCpu {
            place: found.place,
            spelling: found.spelling.clone(),
        });
        Ok(())
    }

    fn read_threads(
        &mut self,
        found: &Found<Opt>,
        remarks: &mut Remarks,
    ) -> Result<Option<Word>, Refusal> {
        let is_number = |word: &Word| word.text.starts_with(|c: char| c.is_ascii_digit());
        let following = found.following.clone().filter(is_number);
        let detached = following.filter(|_| found.value.is_none());
        let attached = found.value.as_deref();
        let value = attached.or(detached.as_ref().map(|word| word.text.as_str()));
        let most = MAX_TASKS as i64;
        let threads = value.map(|text| number(found.place, &found.spelling, text, 1, most));
        let threads = threads.transpose()?;
        if self.smp {
            let ignored = format!("cyclictest ignores {} after -S", found.spelling);
            remarks.warn(found.place, ignored);
            return Ok(detached);
        }
        self.each_cpu = threads.is_none().then(|| EachCpu {
            place: found.place,
            spelling: found.spelling.clone(),
        });
        self.settings.threads = threads.unwrap_or(1) as u32;
        Ok(detached)
    }

    fn read_affinity(
        &mut self,
        found: &Found<Opt>,
        remarks: &mut Remarks,
    ) -> Result<Option<Word>, Refusal> {
        // What `atoi()` takes for a number, or a `!` (process_options()).
        let is_list = |word: &Word| {
            let text = word.text.strip_prefix('+').unwrap_or(&word.text);
            text.starts_with(|c: char| c.is_ascii_digit()) || word.text.starts_with('!')
        };
        let following = found.following.clone().filter(is_list);
        let detached = following.filter(|_| found.value.is_none());
        if self.smp {
            let ignored = format!("cyclictest ignores {} after -S", found.spelling);
            remarks.warn(found.place, ignored);
            return Ok(detached);
        }
        let attached = found.value.as_deref();
        let list = attached.or(detached.as_ref().map(|word| word.text.as_str()));
        self.affinity_at = Some(found.place);
        if let Some(list) = list {
            self.listed = Some(cpus(found, list, self.around)?);
        }
        Ok(detached)
    }

    fn settle(mut self, end: Place, remarks: &mut Remarks) -> Result<Settings, Refusal> {
        let allowed = self.listed.clone().or_else(|| self.around.allowed());
        if let Some(each) = &self.each_cpu {
            let Some(allowed) = &allowed else {
                return Err(needs_cpu_count(each));
            };
            self.settings.threads = allowed.len() as u32;
        }
        let settings = &mut self.settings;
        settings.pinning = match (self.smp || self.affinity_at.is_some(), allowed) {
            (false, _) => Pinning::None,
            (true, None) => Pinning::OwnCpu,
            (true, Some(cpus)) => Pinning::Among(cpus),
        };
        if settings.main_cpus.is_none() {
            settings.main_cpus = self.listed;
        }
        if settings.pinning == Pinning::None {
            remarks.note(
                end,
                "without -a or -S cyclictest's threads are not pinned here, as in rt-tests up to \
                 1.3; later releases pin thread k to the k-th CPU: add -a for that",
            );
        }
        if self.histogram {
            settings.distance_us = 0;
            if let Some(place) = self.distance_at {
                remarks.warn(
                    place,
                    "the distance is ignored: with a histogram all threads have the same interval",
                );
            }
        }
        if settings.spread_priorities && !is_realtime(settings.policy) {
            settings.policy = Policy::Fifo;
        }
        if is_realtime(settings.policy) && settings.priority == 0 {
            settings.priority = (settings.threads + 1).min(99);
        }
        if settings.duration_ns.is_none() && settings.loops.is_none() {
            remarks.warn(
                end,
                "neither -D nor -l limits the run, so it never ends; add one, or limit the \
                 simulation",
            );
        }
        Ok(self.settings)
    }
}

/// CPUs of `-a` and `--mainaffinity` (`parse_cpumask()`): any of the machine.
fn cpus(found: &Found<Opt>, list: &str, around: &Surroundings<'_>) -> Result<Vec<u32>, Refusal> {
    let there = around.site.map(Site::cpus);
    let given = Text {
        text: list,
        place: found.place,
        of: &found.spelling,
    };
    let numbered = Numbered {
        what: "CPU",
        allowed: there.as_deref(),
        all: there.as_deref(),
    };
    libnuma(given, numbered)
}

fn is_realtime(policy: Policy) -> bool {
    matches!(policy, Policy::Fifo | Policy::RoundRobin)
}

fn needs_cpu_count(each: &EachCpu) -> Refusal {
    let instead = match each.spelling.starts_with("-t") || each.spelling == "--threads" {
        true => "-t 8",
        false => "-a -t 8",
    };
    Refusal::new(
        each.place,
        format!(
            "{} means one thread for each CPU, and the machine is not known here; write the number, as in \
             {instead}",
            each.spelling
        ),
    )
}

fn policy(found: &Found<Opt>, value: &str) -> Result<Policy, Refusal> {
    let lower = value.to_ascii_lowercase();
    match POLICIES.iter().find(|(name, _)| *name == lower) {
        Some((_, policy)) => Ok(*policy),
        None => Err(Refusal::new(
            found.place,
            format!(
                "{} `{value}` is unknown (cyclictest would silently take `other`); the nearest: {}",
                found.spelling,
                nearest(&lower, POLICIES.iter().map(|(name, _)| *name))
            ),
        )),
    }
}

/// `-D`: seconds, or a number with the suffix `s`, `m`, `h` or `d`. 0 is no limit.
fn duration_ns(found: &Found<Opt>, value: &str) -> Result<Option<u64>, Refusal> {
    let (digits, unit_s) = match value.char_indices().next_back() {
        Some((at, 's')) => (&value[..at], 1),
        Some((at, 'm')) => (&value[..at], 60),
        Some((at, 'h')) => (&value[..at], 3600),
        Some((at, 'd')) => (&value[..at], 86_400),
        _ => (value, 1),
    };
    let most = MAX_DURATION_S / unit_s;
    let count = number(found.place, &found.spelling, digits, 0, most)?;
    let seconds = (count * unit_s) as u64;
    Ok((seconds > 0).then_some(seconds * NS_PER_S))
}

#[cfg(test)]
mod tests;
