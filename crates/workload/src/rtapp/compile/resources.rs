// SPDX-License-Identifier: GPL-2.0-only
//! Numbers for what threads share by name: mutexes, conditions, semaphores, barriers.

use super::super::model::{Action, Config};
use crate::diagnostic::Refusal;
use crate::program::{BarrierId, ConditionId, MutexId, Names, SemaphoreId};
use std::collections::BTreeMap;

/// The barrier at which threads meet before anything else.
pub(super) const START_BARRIER: BarrierId = 0;

/// Names of each kind, numbered in the order in which they are first used.
#[derive(Default)]
struct Numbering(BTreeMap<String, u32>);

impl Numbering {
    fn id(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name.to_owned()).or_insert(next)
    }

    fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// In the order of their numbers.
    fn names(self) -> Vec<String> {
        let mut by_id: Vec<(u32, String)> =
            self.0.into_iter().map(|(name, id)| (id, name)).collect();
        by_id.sort_unstable();
        by_id.into_iter().map(|(_, name)| name).collect()
    }
}

pub(super) struct Resources {
    mutexes: Numbering,
    conditions: Numbering,
    semaphores: Numbering,
    barriers: Numbering,
    parties: Vec<u32>,
}

impl Resources {
    /// Counts the parties of each barrier: every event counts with the instances of its task.
    pub fn new(config: &Config) -> Result<Self, Refusal> {
        let mut resources = Resources {
            mutexes: Numbering::default(),
            conditions: Numbering::default(),
            semaphores: Numbering::default(),
            barriers: Numbering::default(),
            parties: Vec::new(),
        };
        let mut first_use = Vec::new();
        for task in &config.tasks {
            for event in task.phases.iter().flat_map(|phase| &phase.events) {
                let Action::Barrier { name } = &event.action else {
                    continue;
                };
                let id = resources.barriers.id(name) as usize;
                if id == resources.parties.len() {
                    resources.parties.push(0);
                    first_use.push(event.place);
                }
                let parties = &mut resources.parties[id];
                *parties = parties.saturating_add(task.instances);
            }
        }
        match resources.parties.iter().position(|parties| *parties == 0) {
            None => Ok(resources),
            Some(at) => Err(Refusal::new(
                first_use[at],
                "only tasks with `instance` 0 use this barrier, and rt-app then never opens it; raise `instance`",
            )),
        }
    }

    pub fn mutex(&mut self, name: &str) -> MutexId {
        self.mutexes.id(name)
    }

    pub fn condition(&mut self, name: &str) -> ConditionId {
        self.conditions.id(name)
    }

    pub fn semaphore(&mut self, name: &str) -> SemaphoreId {
        self.semaphores.id(name)
    }

    pub fn barrier(&mut self, name: &str) -> BarrierId {
        START_BARRIER + 1 + self.barriers.id(name)
    }

    pub fn mutexes(&self) -> u32 {
        self.mutexes.count()
    }

    pub fn conditions(&self) -> u32 {
        self.conditions.count()
    }

    pub fn semaphores(&self) -> u32 {
        self.semaphores.count()
    }

    /// Parties of all barriers; `threads` meet at the first.
    pub fn barriers(&self, threads: u32) -> Vec<u32> {
        if threads == 0 {
            return Vec::new();
        }
        let mut parties = vec![threads];
        parties.extend_from_slice(&self.parties);
        parties
    }

    /// What the file calls all of these; the barrier at the start has no name.
    pub fn names(self) -> Names {
        let mut barriers = vec![String::new()];
        barriers.extend(self.barriers.names());
        Names {
            mutexes: self.mutexes.names(),
            conditions: self.conditions.names(),
            semaphores: self.semaphores.names(),
            barriers,
        }
    }
}
