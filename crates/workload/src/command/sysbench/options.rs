// SPDX-License-Identifier: GPL-2.0-only
//! Options of `sysbench`: those of 0.4.12 and of 1.0.20, each as `--name=value`.

use super::super::MAX_TASKS;
use super::super::getopt::{Word, number};
use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::report::{SysbenchTest as Test, SysbenchVersion as Version};

/// A command line, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub version: Version,
    pub test: Test,
    pub threads: u32,
    /// Events in all; `None`: no limit.
    pub events: Option<u64>,
    /// Time after which no event is begun, ns; `None`: no limit.
    pub time_ns: Option<u64>,
}

/// Highest `--cpu-max-prime`: what one event then computes takes minutes.
const MAX_PRIME: i64 = 10_000_000;
/// Highest `--time`, s: 100 days.
const MAX_TIME_S: i64 = 8_640_000;
/// Highest `--thread-locks`.
const MAX_LOCKS: i64 = 1 << 20;
const MAX_INT: i64 = i32::MAX as i64;
const NS_PER_S: u64 = 1_000_000_000;

const TESTS: &[&str] = &["cpu", "threads"];
/// Tests that the tool has and that are not modelled.
const OTHER_TESTS: &[&str] = &["fileio", "memory", "mutex", "oltp"];

/// How an option matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Threads,
    Events,
    Time,
    TestName,
    Yields,
    Locks,
    MaxPrime,
    /// Would change what runs in a way that is not modelled, unless 0.
    MustBeZero,
    /// Ends the tool at once.
    Informs,
    /// Changes what is printed, or how random numbers are drawn that these tests do not use.
    NoEffect,
}

const OPTIONS: &[(&str, Role)] = &[
    ("threads", Role::Threads),
    ("num-threads", Role::Threads),
    ("events", Role::Events),
    ("max-requests", Role::Events),
    ("time", Role::Time),
    ("max-time", Role::Time),
    ("test", Role::TestName),
    ("thread-yields", Role::Yields),
    ("thread-locks", Role::Locks),
    ("cpu-max-prime", Role::MaxPrime),
    ("rate", Role::MustBeZero),
    ("tx-rate", Role::MustBeZero),
    ("warmup-time", Role::MustBeZero),
    ("help", Role::Informs),
    ("version", Role::Informs),
    ("config-file", Role::Informs),
    ("debug", Role::NoEffect),
    ("forced-shutdown", Role::NoEffect),
    ("histogram", Role::NoEffect),
    ("init-rng", Role::NoEffect),
    ("percentile", Role::NoEffect),
    ("rand-init", Role::NoEffect),
    ("rand-pareto-h", Role::NoEffect),
    ("rand-seed", Role::NoEffect),
    ("rand-spec-iter", Role::NoEffect),
    ("rand-spec-pct", Role::NoEffect),
    ("rand-spec-res", Role::NoEffect),
    ("rand-type", Role::NoEffect),
    ("report-checkpoints", Role::NoEffect),
    ("report-interval", Role::NoEffect),
    ("thread-init-timeout", Role::NoEffect),
    ("thread-stack-size", Role::NoEffect),
    ("validate", Role::NoEffect),
    ("verbosity", Role::NoEffect),
];

#[derive(Default)]
struct Draft {
    test: Option<Word>,
    command: Option<Word>,
    version_0_4: bool,
    threads: Option<u32>,
    events: Option<i64>,
    time_s: Option<i64>,
    yields: Option<(u32, Place)>,
    locks: Option<(u32, Place)>,
    max_prime: Option<(u32, Place)>,
}

/// Reads the words behind `sysbench`.
pub(super) fn read(words: &[Word], remarks: &mut Remarks) -> Result<Settings, Refusal> {
    let mut draft = Draft::default();
    for word in words {
        match word.text.strip_prefix("--") {
            Some(text) => draft.read_option(word, text, remarks)?,
            None => draft.read_operand(word)?,
        }
    }
    let end = Place {
        line: 1,
        column: words
            .last()
            .map_or(1, |w| w.place.column + w.text.chars().count() as u32),
    };
    draft.settle(end, remarks)
}

impl Draft {
    fn read_operand(&mut self, word: &Word) -> Result<(), Refusal> {
        let text = word.text.as_str();
        if self.test.is_none() && !is_command(text) {
            self.test = Some(word.clone());
        } else if self.command.is_none() && is_command(text) {
            self.command = Some(word.clone());
        } else {
            return Err(Refusal::new(
                word.place,
                format!(
                    "`{text}` is neither an option nor a command; sysbench takes options with \
                     attached values, as in --threads=6, one test and the command `run`"
                ),
            ));
        }
        Ok(())
    }

    fn read_option(
        &mut self,
        word: &Word,
        text: &str,
        remarks: &mut Remarks,
    ) -> Result<(), Refusal> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let Some((_, role)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            let names = OPTIONS.iter().map(|(known, _)| *known);
            return Err(Refusal::new(
                word.place,
                format!(
                    "sysbench has no option `--{name}`; the nearest: {}",
                    nearest(name, names)
                ),
            ));
        };
        let spelling = format!("--{name}");
        let number = |least: i64, most: i64| match value {
            Some(value) => number(word.place, &spelling, value, least, most),
            None => Err(Refusal::new(
                word.place,
                format!("{spelling} needs a value, attached: {spelling}=N"),
            )),
        };
        match role {
            Role::Threads => self.threads = Some(number(1, MAX_TASKS as i64)? as u32),
            // Both versions take 0, and 0.4 users write -1, for "no limit".
            Role::Events => self.events = Some(number(-1, MAX_INT)?),
            Role::Time => self.time_s = Some(number(0, MAX_TIME_S)?),
            Role::Yields => self.yields = Some((number(0, MAX_INT)? as u32, word.place)),
            Role::Locks => self.locks = Some((number(1, MAX_LOCKS)? as u32, word.place)),
            Role::MaxPrime => self.max_prime = Some((number(1, MAX_PRIME)? as u32, word.place)),
            Role::TestName => {
                self.version_0_4 = true;
                self.test = Some(Word {
                    text: value.unwrap_or_default().to_owned(),
                    place: word.place,
                });
            }
            Role::MustBeZero => {
                if number(0, MAX_INT)? != 0 {
                    return Err(Refusal::new(
                        word.place,
                        format!("{spelling} is not modelled; remove it"),
                    ));
                }
            }
            Role::Informs => {
                return Err(Refusal::new(
                    word.place,
                    format!("{spelling} runs no test; remove it and write the options out"),
                ));
            }
            Role::NoEffect => remarks.note(
                word.place,
                format!("{spelling} has no effect in a simulation"),
            ),
        }
        Ok(())
    }

    fn settle(self, end: Place, remarks: &mut Remarks) -> Result<Settings, Refusal> {
        self.require_run(end)?;
        let test = self.settle_test(end)?;
        // Defaults: 0.4 does 10000 requests without a limit of time, 1.0 runs 10 s.
        let (default_events, default_time_s) = if self.version_0_4 {
            (10_000, 0)
        } else {
            (0, 10)
        };
        let events = self.events.unwrap_or(default_events);
        let time_s = self.time_s.unwrap_or(default_time_s);
        let settings = Settings {
            version: if self.version_0_4 {
                Version::V0_4
            } else {
                Version::V1_0
            },
            test,
            threads: self.threads.unwrap_or(1),
            events: u64::try_from(events).ok().filter(|n| *n > 0),
            time_ns: u64::try_from(time_s)
                .ok()
                .filter(|s| *s > 0)
                .map(|s| s * NS_PER_S),
        };
        if settings.events.is_none() && settings.time_ns.is_none() {
            remarks.warn(
                end,
                "neither events nor time are limited, so the run never ends; limit the \
                 simulation, or add a limit",
            );
        }
        Ok(settings)
    }

    fn require_run(&self, end: Place) -> Result<(), Refusal> {
        match &self.command {
            Some(word) if word.text == "run" => Ok(()),
            Some(word) => Err(Refusal::new(
                word.place,
                format!("the command `{}` runs no test; expected `run`", word.text),
            )),
            None => Err(Refusal::new(
                end,
                "the command is missing; end the line with `run`",
            )),
        }
    }

    fn settle_test(&self, end: Place) -> Result<Test, Refusal> {
        let Some(word) = &self.test else {
            return Err(Refusal::new(
                end,
                "no test is named; write `sysbench threads … run` or `sysbench cpu … run`",
            ));
        };
        match word.text.as_str() {
            "threads" => {
                refuse_option_of_other_test("--cpu-max-prime", self.max_prime, "cpu")?;
                Ok(Test::Threads {
                    yields: self.yields.map_or(1000, |(n, _)| n),
                    locks: self.locks.map_or(8, |(n, _)| n),
                })
            }
            "cpu" => {
                refuse_option_of_other_test("--thread-yields", self.yields, "threads")?;
                refuse_option_of_other_test("--thread-locks", self.locks, "threads")?;
                Ok(Test::Cpu {
                    max_prime: self.max_prime.map_or(10_000, |(n, _)| n),
                })
            }
            other if OTHER_TESTS.contains(&other) => Err(Refusal::new(
                word.place,
                format!("the test `{other}` is not modelled; expected `threads` or `cpu`"),
            )),
            other => Err(Refusal::new(
                word.place,
                format!(
                    "sysbench has no test `{other}`; the nearest: {}",
                    nearest(other, TESTS.iter().copied())
                ),
            )),
        }
    }
}

fn is_command(text: &str) -> bool {
    matches!(text, "run" | "prepare" | "cleanup" | "help" | "version")
}

fn refuse_option_of_other_test(
    spelling: &str,
    given: Option<(u32, Place)>,
    test: &str,
) -> Result<(), Refusal> {
    match given {
        None => Ok(()),
        Some((_, place)) => Err(Refusal::new(
            place,
            format!("{spelling} belongs to the test `{test}`; remove it"),
        )),
    }
}

#[cfg(test)]
mod tests;
