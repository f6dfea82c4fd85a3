// SPDX-License-Identifier: GPL-2.0-only
//! An explanation as a user asks for it: decisions of one task, or how often each step answered.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use alight_compare::header::Conditions;
use alight_compare::progress::Listener;
use alight_compare::{answers, decisions};
use alight_policy::Scheduler;
use alight_sim::{Answers, AtFault, Decision, Error, Fault, Outcome, Watch, about, time};

use crate::{Input, duration};

/// What is to be explained.
#[derive(Debug, Clone)]
pub struct Explained {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Name of the task whose decisions are looked at; `None`: all tasks, whose steps are counted.
    pub task: Option<String>,
    /// From when on, ns; `None`: from the start.
    pub at_ns: Option<u64>,
    /// Decisions at most; `None`: as [`decisions::limit`] says.
    pub limit: Option<NonZeroUsize>,
    /// Steps are counted, also of one task.
    pub histogram: bool,
}

/// Why there is nothing to explain.
#[derive(Debug, thiserror::Error)]
pub enum NoExplanation {
    /// No task has this name: the nearest ones.
    #[error("{0}")]
    NoTask(String),
    /// Nothing is decided so late.
    #[error("--at {} is after the end of the run, {}", time(*.at_ns), about(*.end_ns))]
    Late {
        /// From when on decisions were asked for.
        at_ns: u64,
        /// When the run ended.
        end_ns: u64,
    },
    /// The run failed.
    #[error(transparent)]
    Run(#[from] Error),
}

impl AtFault for NoExplanation {
    fn fault(&self) -> Fault {
        match self {
            NoExplanation::NoTask(_) | NoExplanation::Late { .. } => Fault::Input,
            NoExplanation::Run(error) => error.fault(),
        }
    }
}

/// What was found.
pub struct Explanation {
    /// The run came to an early end: later decisions are missing.
    pub interrupted: bool,
    /// The end of the run, ns: for [`Input::tell_late`].
    pub end_ns: u64,
    asked: Explained,
    conditions: Conditions,
    found: Found,
}

enum Found {
    /// Decisions of a task.
    Decisions {
        task: String,
        decisions: Vec<Decision>,
    },
    /// The steps that answered, and the command that measures them.
    Steps {
        answers: Box<Answers>,
        compare: String,
    },
}

impl Explained {
    /// Makes the run.
    ///
    /// # Errors
    /// No task has the name, or the time is after the end; a run that failed.
    pub fn run(&self, input: &Input, cancel: &AtomicBool) -> Result<Explanation, NoExplanation> {
        self.check(input)?;
        let (outcome, found, last) = match &self.task {
            Some(task) if !self.histogram => self.decisions(input, task, cancel)?,
            _ => self.steps(input, cancel)?,
        };
        if !outcome.interrupted {
            self.check_end(outcome.end_ns)?;
        }
        let scenario = input.scenario(&self.scheduler);
        let command = self.command(input, &last);
        Ok(Explanation {
            interrupted: outcome.interrupted,
            end_ns: outcome.end_ns,
            asked: self.clone(),
            conditions: Conditions::of(&scenario, &input.trust, command),
            found,
        })
    }

    /// Refuses what can be refused before a run.
    fn check(&self, input: &Input) -> Result<(), NoExplanation> {
        if let Some(task) = &self.task {
            let tasks = alight_sim::task_table(&input.scenario(&self.scheduler))?;
            decisions::find_task(&tasks, task).map_err(NoExplanation::NoTask)?;
        }
        input
            .options
            .duration
            .map_or(Ok(()), |end_ns| self.check_end(end_ns))
    }

    fn check_end(&self, end_ns: u64) -> Result<(), NoExplanation> {
        match self.at_ns {
            Some(at_ns) if at_ns >= end_ns => Err(NoExplanation::Late { at_ns, end_ns }),
            _ => Ok(()),
        }
    }

    fn watch(&self) -> Watch {
        Watch {
            comm: self.task.clone(),
            at_ns: self.at_ns,
        }
    }

    /// Single decisions of `task`, and the options that ask for them again.
    fn decisions(
        &self,
        input: &Input,
        task: &str,
        cancel: &AtomicBool,
    ) -> Result<(Outcome, Found, Vec<String>), Error> {
        let limit = decisions::limit(self.limit, self.at_ns);
        let scenario = input.scenario(&self.scheduler);
        let (outcome, decisions) = alight_sim::explain(&scenario, &self.watch(), limit, cancel)?;
        let found = Found::Decisions {
            task: task.to_owned(),
            decisions,
        };
        Ok((
            outcome,
            found,
            vec!["--limit".to_owned(), limit.to_string()],
        ))
    }

    /// Which steps answered, and the option that asks for them again.
    fn steps(
        &self,
        input: &Input,
        cancel: &AtomicBool,
    ) -> Result<(Outcome, Found, Vec<String>), Error> {
        let scenario = input.scenario(&self.scheduler);
        let (outcome, answers) = alight_sim::answers(&scenario, &self.watch(), cancel)?;
        let base = self.scheduler.base_alone().name;
        let compare = input.command("compare", &[&base, &self.scheduler.name], &[]);
        let found = Found::Steps {
            answers: Box::new(answers),
            compare,
        };
        Ok((outcome, found, vec!["--histogram".to_owned()]))
    }

    /// The command that gives this again; `last` are its last options.
    fn command(&self, input: &Input, last: &[String]) -> String {
        let at = self.at_ns.map(duration::typed);
        let mut options = vec![];
        if let Some(task) = &self.task {
            options.extend(["--task", task]);
        }
        if let Some(at) = &at {
            options.extend(["--at", at]);
        }
        options.extend(last.iter().map(String::as_str));
        input.command("explain", &[&self.scheduler.name], &options)
    }
}

impl Explanation {
    /// For programs: `alight.explain/1` or `alight.explain-histogram/1`.
    pub fn json(&self) -> String {
        let scheduler = &self.asked.scheduler;
        match &self.found {
            Found::Decisions { task, decisions } => {
                decisions::json(&self.conditions, scheduler, task, decisions)
            }
            Found::Steps { answers, compare } => answers::json(&self.counted(compare), answers),
        }
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let scheduler = &self.asked.scheduler;
        match &self.found {
            Found::Decisions { task, decisions } => {
                decisions::table(&self.conditions, scheduler, task, decisions)
            }
            Found::Steps { answers, compare } => answers::table(&self.counted(compare), answers),
        }
    }

    /// As a page. Of decisions the run is made once more, for the timeline, unless it was
    /// interrupted; `progress` hears how far that is. `input`: that of the run.
    ///
    /// # Errors
    /// As [`alight_sim::run()`].
    pub fn page(
        &self,
        input: &Input,
        progress: &Listener<'_>,
        cancel: &AtomicBool,
    ) -> Result<String, Error> {
        let scheduler = &self.asked.scheduler;
        match &self.found {
            Found::Decisions { task, decisions } => {
                let scenario = input.scenario(scheduler);
                let observed = match self.interrupted {
                    true => None,
                    false => {
                        decisions::observe(&scenario, decisions, self.end_ns, progress, cancel)?
                    }
                };
                let observed = observed.as_ref();
                Ok(decisions::page(
                    &self.conditions,
                    scheduler,
                    task,
                    decisions,
                    observed,
                ))
            }
            Found::Steps { answers, compare } => Ok(answers::page(&self.counted(compare), answers)),
        }
    }

    fn counted<'a>(&'a self, compare: &'a str) -> answers::Asked<'a> {
        answers::Asked {
            conditions: &self.conditions,
            scheduler: &self.asked.scheduler,
            task: self.asked.task.as_deref(),
            at_ns: self.asked.at_ns,
            interrupted: self.interrupted,
            compare,
        }
    }
}

#[cfg(test)]
mod tests;
