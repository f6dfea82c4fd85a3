// SPDX-License-Identifier: GPL-2.0-only
//! Looks for what rt-app takes and what cannot work: waits that nobody ends, locks out of balance,
//! phases that are never reached.

use super::model::{Action, Config, Event, Task};
use crate::diagnostic::{Place, Remarks};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn review(config: &Config, remarks: &mut Remarks) {
    let uses = Uses::of(config);
    uses.review(remarks);
    review_passes(config, remarks);
    for task in &config.tasks {
        review_locks(task, remarks);
        review_reach(task, remarks);
        review_barriers(task, remarks);
    }
}

/// First place where each name is waited for, and where it is woken.
#[derive(Default)]
struct Uses<'a> {
    /// Conditions, `suspend` and `resume` among them: they are the same.
    waits: BTreeMap<&'a str, Place>,
    wakes: BTreeMap<&'a str, Place>,
    sem_waits: BTreeMap<&'a str, Place>,
    sem_posts: BTreeSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn of(config: &'a Config) -> Self {
        let mut uses = Uses::default();
        for task in &config.tasks {
            for event in task.phases.iter().flat_map(|phase| &phase.events) {
                uses.add(event);
            }
        }
        uses
    }

    fn add(&mut self, event: &'a Event) {
        let place = event.place;
        let mut wait = |name| {
            self.waits.entry(name).or_insert(place);
        };
        match &event.action {
            Action::Suspend { name } => wait(name.as_str()),
            Action::Wait { condition, .. } => wait(condition.as_str()),
            Action::Sync { condition, .. } => {
                wait(condition.as_str());
                self.wakes.entry(condition).or_insert(place);
            }
            Action::Signal { condition } | Action::Broadcast { condition } => {
                self.wakes.entry(condition).or_insert(place);
            }
            Action::Resume { name } => {
                self.wakes.entry(name).or_insert(place);
            }
            Action::SemWait { semaphore } => {
                self.sem_waits.entry(semaphore).or_insert(place);
            }
            Action::SemPost { semaphore } => {
                self.sem_posts.insert(semaphore);
            }
            _ => {}
        }
    }

    fn review(&self, remarks: &mut Remarks) {
        for (name, place) in &self.waits {
            if !self.wakes.contains_key(name) {
                remarks.warn(
                    *place,
                    format!("no task resumes or signals `{name}`: this wait never ends"),
                );
            }
        }
        for (name, place) in &self.wakes {
            if !self.waits.contains_key(name) {
                remarks.warn(
                    *place,
                    format!("no task suspends or waits on `{name}`: this wakes no task"),
                );
            }
        }
        for (name, place) in &self.sem_waits {
            if !self.sem_posts.contains(name) {
                remarks.warn(
                    *place,
                    format!("no task posts the semaphore `{name}`: this wait never ends"),
                );
            }
        }
    }
}

/// Follows the phases once, and says where a lock is not held that should be, or held at the end.
fn review_locks(task: &Task, remarks: &mut Remarks) {
    let mut held: BTreeMap<&str, Place> = BTreeMap::new();
    for event in task.phases.iter().flat_map(|phase| &phase.events) {
        match &event.action {
            Action::Lock { mutex } => {
                let before = held.insert(mutex, event.place);
                if before.is_some() {
                    remarks.warn(
                        event.place,
                        format!("`{mutex}` is locked already: the thread waits for itself"),
                    );
                }
            }
            Action::Unlock { mutex } => {
                let locked = held.remove(mutex.as_str());
                if locked.is_none() {
                    remarks.warn(
                        event.place,
                        format!("`{mutex}` is not locked here; lock it first"),
                    );
                }
            }
            Action::Wait { mutex, .. } | Action::Sync { mutex, .. }
                if !held.contains_key(mutex.as_str()) =>
            {
                remarks.warn(
                    event.place,
                    format!("`{mutex}` must be locked before waiting with it; lock it first"),
                );
            }
            _ => {}
        }
    }
    for (mutex, place) in held {
        remarks.warn(
            place,
            format!("`{mutex}` is never unlocked by this task; unlock it before the loop ends"),
        );
    }
}

/// Warns of events and phases behind one that goes on for ever.
fn review_reach(task: &Task, remarks: &mut Remarks) {
    let mut endless = false;
    for phase in &task.phases {
        if endless {
            remarks.warn(
                phase.place,
                "this phase is never reached: the phase before it never ends",
            );
            return;
        }
        let ends = |event: &Event| event.action.never_ends();
        if let Some(at) = phase.events.iter().position(ends) {
            endless = true;
            if let Some(event) = phase.events.get(at + 1) {
                remarks.warn(
                    event.place,
                    "this event is never reached: the event before it never ends",
                );
                return;
            }
        }
        endless |= phase.loops == u64::MAX;
    }
}

/// A barrier waits for every event that names it, also for two of one thread.
fn review_barriers(task: &Task, remarks: &mut Remarks) {
    let mut seen = BTreeSet::new();
    for event in task.phases.iter().flat_map(|phase| &phase.events) {
        if let Action::Barrier { name } = &event.action
            && !seen.insert(name.as_str())
        {
            remarks.warn(
                event.place,
                format!(
                    "the task names the barrier `{name}` again; rt-app counts it twice and waits \
                     for more threads than exist; use another name"
                ),
            );
        }
    }
}

/// Tasks that share a barrier must come to it equally often: a task that comes once more waits for ever.
fn review_passes(config: &Config, remarks: &mut Remarks) {
    let mut first: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for task in config.tasks.iter().filter(|task| task.instances != 0) {
        for (name, (times, place)) in times_at_barriers(task) {
            let (other, expected) = *first.entry(name).or_insert((&task.name, times));
            if times != expected {
                remarks.warn(
                    place,
                    format!(
                        "`{}` reaches the barrier `{name}` {}, `{other}` {}: the task that \
                         reaches it more often waits there for ever; make their loops equal",
                        task.name,
                        often(times),
                        often(expected)
                    ),
                );
            }
        }
    }
}

/// How often each thread of a task comes to each barrier, and where it first does.
fn times_at_barriers(task: &Task) -> BTreeMap<&str, (u64, Place)> {
    let mut times: BTreeMap<&str, (u64, Place)> = BTreeMap::new();
    for phase in &task.phases {
        let passes = task.loops.saturating_mul(phase.loops);
        for event in &phase.events {
            if let Action::Barrier { name } = &event.action {
                let of = times.entry(name).or_insert((0, event.place));
                of.0 = of.0.saturating_add(passes);
            }
        }
    }
    times
}

fn often(times: u64) -> String {
    match times {
        u64::MAX => "for ever".to_owned(),
        1 => "once".to_owned(),
        times => format!("{times} times"),
    }
}
