// SPDX-License-Identifier: GPL-2.0-only
//! Options of `cyclictest`: rt-tests 2.4, and older spellings that published command lines use.

use super::super::getopt::{self, Found, Spec, Value, Word, cpu_list, number};
use super::super::{MAX_TASKS, refuse_operands};
use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::program::{Attributes, Policy};

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
    /// What is written to `/dev/cpu_dma_latency`; `None`: it is not opened.
    pub dma_latency_us: Option<u64>,
    /// Main prints nothing while the threads run.
    pub quiet: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pinning {
    None,
    /// Thread k on CPU k.
    OwnCpu,
    /// Thread k on the k-th of these, round robin.
    Listed(Vec<u32>),
}

impl Settings {
    /// Period of thread `k`, us.
    pub fn period_us(&self, k: u32) -> u64 {
        self.interval_us + u64::from(k) * self.distance_us
    }

    /// How thread `k` is scheduled.
    pub fn attributes(&self, k: u32) -> Attributes {
        let spread = if self.spread_priorities { k } else { 0 };
        let priority = self.priority.saturating_sub(spread).max(1);
        Attributes {
            policy: Some(self.policy),
            rt_priority: is_realtime(self.policy).then_some(priority),
            affinity: match &self.pinning {
                Pinning::None => None,
                Pinning::OwnCpu => Some(vec![k]),
                Pinning::Listed(cpus) => Some(vec![cpus[k as usize % cpus.len()]]),
            },
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
    long("mainaffinity", Value::Required, Opt::NoEffect),
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
pub(super) fn read(words: &[Word], remarks: &mut Remarks) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("cyclictest", SPECS, words)?;
    let mut draft = Draft::new();
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
    Ok(draft.settle(end, remarks))
}

struct Draft {
    settings: Settings,
    histogram: bool,
    distance_at: Option<Place>,
}

impl Draft {
    fn new() -> Self {
        Draft {
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
                dma_latency_us: Some(0),
                quiet: false,
            },
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
            Opt::Affinity => return self.read_affinity(found),
            Opt::Threads => return self.read_threads(found),
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
            Opt::Smp => return Err(needs_cpu_count(found, "-a -t 8")),
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
                format!("{} does not change what a simulation does", found.spelling),
            ),
        }
        Ok(None)
    }

    fn read_threads(&mut self, found: &Found<Opt>) -> Result<Option<Word>, Refusal> {
        let detached = found.following.clone().filter(|_| found.value.is_none());
        let attached = found.value.as_deref();
        let Some(value) = attached.or(detached.as_ref().map(|word| word.text.as_str())) else {
            return Err(needs_cpu_count(found, "-t 8"));
        };
        let most = MAX_TASKS as i64;
        self.settings.threads = number(found.place, &found.spelling, value, 1, most)? as u32;
        Ok(detached)
    }

    fn read_affinity(&mut self, found: &Found<Opt>) -> Result<Option<Word>, Refusal> {
        let is_list = |word: &Word| word.text.starts_with(|c: char| c.is_ascii_digit());
        let following = found.following.clone().filter(is_list);
        let detached = following.filter(|_| found.value.is_none());
        let attached = found.value.as_deref();
        let list = attached.or(detached.as_ref().map(|word| word.text.as_str()));
        self.settings.pinning = match list {
            Some(list) => Pinning::Listed(cpu_list(found, list)?),
            None => Pinning::OwnCpu,
        };
        Ok(detached)
    }

    fn settle(mut self, end: Place, remarks: &mut Remarks) -> Settings {
        let settings = &mut self.settings;
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
                "neither -D nor -l limits the run: this never ends by itself; add one, or limit the simulation",
            );
        }
        self.settings
    }
}

fn is_realtime(policy: Policy) -> bool {
    matches!(policy, Policy::Fifo | Policy::RoundRobin)
}

fn needs_cpu_count(found: &Found<Opt>, instead: &str) -> Refusal {
    Refusal::new(
        found.place,
        format!(
            "{} means one thread for each CPU, and a workload is read before its machine is known; write the number, as in {instead}",
            found.spelling
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
mod tests {
    use super::*;
    use crate::command::split;

    fn outcome(line: &str) -> Result<Settings, String> {
        let words = split(line).expect("splits");
        read(&words, &mut Remarks::default()).map_err(|r| r.message)
    }

    #[test]
    fn periods_grow_by_the_distance() {
        // As rt-tests 2.4 prints them (column I).
        let table: [(&str, &[u64]); 5] = [
            ("-D1 -q", &[1000]),
            ("-t 2 -i 1000 -q", &[1000, 1500]),
            ("-t3 -p 80 -q -D1 -i 200", &[200, 700, 1200]),
            ("-t2 -q -D1 -d0", &[1000, 1000]),
            ("-t 2 -q -D 1 -h 100 -d 700", &[1000, 1000]),
        ];
        for (line, expected) in table {
            let settings = outcome(line).expect(line);
            let periods = (0..settings.threads).map(|k| settings.period_us(k));
            assert_eq!(periods.collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn threads_get_policy_priority_and_cpu() {
        // Each thread: policy, priority (column P of rt-tests 2.4), CPU.
        let table = [
            ("-q", "Normal - -"),
            ("-p 80 -t2", "Fifo 80 -, Fifo 80 -"),
            ("--policy=idle -p 0 -D2", "Fifo 2 -"),
            ("--policy=rr -t 2", "RoundRobin 3 -, RoundRobin 3 -"),
            ("-t 2 --priospread", "Fifo 3 -, Fifo 2 -"),
            ("-t2 --priospread -p 50", "Fifo 50 -, Fifo 49 -"),
            ("-a -t 2", "Normal - 0, Normal - 1"),
            ("-a 0 -t2", "Normal - 0, Normal - 0"),
            ("-a3-4,0 -t3", "Normal - 0, Normal - 3, Normal - 4"),
        ];
        for (line, expected) in table {
            let settings = outcome(line).expect(line);
            let thread = |k| {
                let a = settings.attributes(k);
                let or_dash = |n: Option<u32>| n.map_or("-".to_owned(), |n| n.to_string());
                let cpu = a.affinity.map(|cpus| cpus[0]);
                let policy = a.policy.expect("has a policy");
                format!("{policy:?} {} {}", or_dash(a.rt_priority), or_dash(cpu))
            };
            let found: Vec<String> = (0..settings.threads).map(thread).collect();
            assert_eq!(found.join(", "), expected, "{line}");
        }
    }

    #[test]
    fn limits_and_power_management() {
        let table = [
            ("-q", None, None, Some(0)),
            ("-D 20 -e 1000000", Some(20), None, Some(1_000_000)),
            ("-D2m --latency=5", Some(120), None, Some(5)),
            ("-l100 --default-system", None, Some(100), None),
            ("-l 0 -D 0 --laptop", None, None, None),
        ];
        for (line, duration_s, loops, dma) in table {
            let s = outcome(line).expect(line);
            let duration_ns = duration_s.map(|d: u64| d * NS_PER_S);
            let found = (s.duration_ns, s.loops, s.dma_latency_us);
            assert_eq!(found, (duration_ns, loops, dma), "{line}");
        }
    }

    #[test]
    fn what_is_refused_and_how() {
        let table = [
            ("-t", "write the number, as in -t 8"),
            ("-t -q", "write the number, as in -t 8"),
            ("-t 0", "-t is `0`, which is too small"),
            ("-i 0", "-i is `0`, which is too small"),
            ("-d -1", "-d is `-1`, which is too small"),
            ("-p 100", "-p is `100`, which is too large"),
            ("-D 1x", "-D is `1x`, which is not a whole number"),
            ("-S", "write the number, as in -a -t 8"),
            ("-r", "-r is not modelled"),
            ("--policy=ilde", "the nearest: `idle`"),
            (
                "--intervall=3",
                "no option `--intervall`; the nearest it has: `--interval`",
            ),
            ("-a 3-1", "runs backwards"),
            ("-q later", "would not look at `later`"),
        ];
        for (line, expected) in table {
            let message = outcome(line).expect_err(line);
            assert!(message.contains(expected), "{line}: {message}");
        }
    }
}
