// SPDX-License-Identifier: GPL-2.0-only
//! Explanations: records or counts placement decisions, each with the answer of the base without
//! features in the same state.
//!
//! A decision changes the core (flips, recent CPUs, scan costs, idle-core flags). The base is
//! therefore asked first and on a copy: it has views of its own, built by its own rules, into
//! which the state of the run is copied before each question. The run itself is unaffected. If
//! there are several features, the scheduler without each one is asked likewise. A feature is a
//! reason for a decision if the base and the scheduler without that feature choose another CPU.
//!
//! The state is that of the run, and the features have shaped it: the CPUs of tasks, their
//! utilization, the frequencies, whether some CPU is overutilized. State that only the base would
//! keep is made up. With uclamp-sum, queues keep no clamps: the base sees the largest clamps of
//! the queued tasks, and not those that an emptied bucket or queue would still hold. With
//! asym-capacity:smt the base uses the search state of the asymmetric domain as that of the
//! cache.

use crate::base::timeline::NONE;
use crate::face::answers::{Answers, Choice, Counted, CpuState, Decision, Distance, Tally, Watch};
use crate::face::api::Error;
use crate::kernel::views::views;
use crate::place::Place;
use crate::power::uclamp_sum;
use crate::world;
use crate::world::util::cpu_util;
use alight_policy::abi::task_flag;
use alight_policy::scheduler::Feature;
use alight_policy::{Answer, Core, Kind, Mask, Note, Params, Scheduler, Waker, Wakeup};

/// Candidates that one explanation holds.
const MAX_NOTES: usize = 4096;

/// All of a run's decisions.
const ALL: Watch = Watch {
    comm: None,
    at_ns: None,
};

/// The schedulers that are asked beside the run, and the explanations so far.
pub(crate) struct Explainer {
    watch: Watch,
    wants: Wants,
    features: Vec<&'static Feature>,
    /// The machine by the rules of the base, and, of several features, of the scheduler without
    /// each of them.
    others: Vec<Core>,
    /// The online CPUs that they were built with.
    online: Mask,
    notes: Vec<Note>,
    decisions: Vec<Decision>,
    tally: Tally,
    /// For each task, the explanation that waits for the task's wakeup latency.
    waiting: Vec<Waiting>,
}

/// Which explanation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// The first decisions, at most so many.
    Decisions(usize),
    /// The counts of all.
    Answers,
    /// The answers of the base, told to the run's sink.
    Told,
}

/// The explanation of a decision whose task has not run yet.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    Nowhere,
    Decision(usize),
    Counted(Counted),
}

impl Explainer {
    pub fn new(
        scheduler: &Scheduler,
        place: &Place<'_>,
        watch: &Watch,
        wants: Wants,
    ) -> Result<Self, Error> {
        let (_, features) = scheduler.parts();
        let mut schedulers = vec![scheduler.base_alone()];
        if features.len() > 1 {
            schedulers.extend(features.iter().map(|feature| scheduler.without(feature)));
        }
        let core = |other: Scheduler| {
            let params = Params {
                scan_cpu_ns: place.core.params.scan_cpu_ns,
                ..other.params
            };
            views(place.machine, place.kernel, &params, place.hotplug.online)
        };
        Ok(Explainer {
            watch: watch.clone(),
            wants,
            features,
            others: schedulers.into_iter().map(core).collect::<Result<_, _>>()?,
            online: place.hotplug.online,
            notes: Vec::with_capacity(MAX_NOTES),
            decisions: vec![],
            tally: Tally::default(),
            waiting: vec![Waiting::Nowhere; place.tasks.len()],
        })
    }

    /// Tells the run's sink what the base would have answered to each question.
    pub fn telling(scheduler: &Scheduler, place: &Place<'_>) -> Result<Self, Error> {
        Explainer::new(scheduler, place, &ALL, Wants::Told)
    }

    /// Counts start anew, and decisions with them.
    pub fn count_anew(&mut self) {
        self.decisions.clear();
        self.tally = Tally::default();
        self.waiting.fill(Waiting::Nowhere);
    }

    /// The recorded decisions and the counts.
    pub fn found(self) -> (Vec<Decision>, Answers) {
        (self.decisions, self.tally.answers())
    }

    /// Is a wakeup of `comm` at `now` explained?
    fn watches(&self, comm: &str, now: u64) -> bool {
        self.watch.at_ns.is_none_or(|at| now >= at)
            && self.watch.comm.as_ref().is_none_or(|named| named == comm)
    }

    /// Asks the other schedulers, on copies of the tasks' views.
    pub fn ask_others(&mut self, wakeup: &Wakeup<'_>) -> Vec<Answer> {
        let ask = |core: &mut Core| {
            let (mut task, mut waker) = (*wakeup.task, *wakeup.waker.task);
            core.select(Wakeup {
                task: &mut task,
                waker: Waker {
                    task: &mut waker,
                    ..wakeup.waker
                },
                ..*wakeup
            })
        };
        self.others.iter_mut().map(ask).collect()
    }

    /// The features that are a reason for `cpu`: the base chooses another CPU, and so does the
    /// scheduler without the feature.
    fn because(&self, cpu: u32, others: &[Answer]) -> Vec<&'static str> {
        let changed = |answer: &Answer| answer.cpu != cpu;
        let without = &others[others.len() - self.features.len()..];
        (self.features.iter().zip(without))
            .filter(|(_, answer)| changed(&others[0]) && changed(answer))
            .map(|(feature, _)| feature.name)
            .collect()
    }

    /// Asks the run's own core, and records each candidate if it will be shown.
    pub fn ask(&mut self, core: &mut world::Core, wakeup: Wakeup<'_>) -> Answer {
        match self.wants {
            Wants::Decisions(_) => core.explain(wakeup, &mut self.notes),
            Wants::Answers | Wants::Told => core.select(wakeup),
        }
    }
}

impl Place<'_> {
    /// `task` runs, `latency_ns` after it was woken.
    #[inline]
    pub fn explain_ran(&mut self, task: u32, latency_ns: u64) {
        let Some(explainer) = &mut self.explainer else {
            return;
        };
        let waiting = &mut explainer.waiting[task as usize];
        match std::mem::replace(waiting, Waiting::Nowhere) {
            Waiting::Nowhere => {}
            Waiting::Decision(at) => explainer.decisions[at].latency_ns = Some(latency_ns),
            Waiting::Counted(counted) => explainer.tally.ran(counted, latency_ns),
        }
    }

    fn choice(&self, by: usize, prev_cpu: u32, answer: Answer) -> Choice {
        Choice {
            answer,
            cost_ns: self.ns(by, self.costs(by).selection(&answer)),
            cpu: self.cpu_state(answer.cpu as usize, prev_cpu as usize, by),
        }
    }

    fn cpu_state(&self, cpu: usize, prev_cpu: usize, waker: usize) -> CpuState {
        let (view, machine) = (&self.core.cpus[cpu], &self.machine.cpus[cpu]);
        let running = match self.cpus[cpu].curr {
            NONE => None,
            task => Some(self.comms[task as usize].clone()),
        };
        let idle_state = (running.is_none() && view.exit_latency != NONE).then(|| {
            let states = &self.machine.core_types[machine.core_type].idle_states;
            let state = states.get(self.idle_state_asked(cpu));
            let name = state.map_or("idle loop", |state| state.name.as_str());
            (name.to_owned(), view.exit_latency)
        });
        CpuState {
            online: self.hotplug.online.contains(cpu as u32),
            running,
            nr_running: view.nr_running + u32::from(view.ttwu_pending),
            sched_idle: view.nr_running != 0 && view.nr_running == view.h_nr_idle,
            idle_state,
            capacity: view.capacity,
            capacity_orig: view.capacity_orig,
            util: (self.core.params.est_none == 0).then(|| cpu_util(view)),
            from_prev: self.distance(cpu, prev_cpu),
            from_waker: self.distance(cpu, waker),
        }
    }

    fn distance(&self, a: usize, b: usize) -> Distance {
        let (from, to) = (&self.core.places[a], &self.core.places[b]);
        if a == b {
            Distance::Same
        } else if from.smt_domain != NONE && from.smt_domain == to.smt_domain {
            Distance::Core
        } else if from.llc == to.llc {
            Distance::Cache
        } else if from.node == to.node {
            Distance::Node
        } else {
            Distance::Machine
        }
    }

    /// Records a decision: `cpu` wakes, or forks, `task`.
    pub fn explained(
        &mut self,
        cpu: usize,
        task: u32,
        kind: Kind,
        answer: Answer,
        others: &[Answer],
    ) {
        let Some(mut explainer) = self.explainer.take() else {
            return;
        };
        if explainer.wants == Wants::Told {
            // Like the decision itself, answers are told with the CPU that the task is sent to.
            let sent = |answer: &Answer| Answer {
                cpu: self.sent_to(answer.cpu, task),
                ..*answer
            };
            let others: Vec<Answer> = others.iter().map(sent).collect();
            let because = explainer.because(sent(&answer).cpu, &others);
            self.explainer = Some(explainer);
            return self.trace_base(cpu, task, &others[0], &because);
        }
        let because = explainer.because(answer.cpu, others);
        let prev_cpu = self.views[task as usize].prev_cpu;
        let chosen = self.choice(cpu, prev_cpu, answer);
        let base = self.choice(cpu, prev_cpu, others[0]);
        explainer.waiting[task as usize] = match explainer.wants {
            Wants::Told => Waiting::Nowhere,
            Wants::Answers => {
                let tally = &mut explainer.tally;
                let new = kind == Kind::Fork;
                Waiting::Counted(tally.count(&chosen, &base, &because, prev_cpu, new))
            }
            Wants::Decisions(_) => {
                let view = &self.views[task as usize];
                explainer.decisions.push(Decision {
                    time_ns: self.now,
                    comm: self.comms[task as usize].clone(),
                    this_cpu: cpu as u32,
                    prev_cpu,
                    task_util_est: self.task_util_est(view),
                    uclamp: (view.uclamp_min, view.uclamp_max),
                    chosen,
                    base,
                    because,
                    latency_ns: None,
                    notes: explainer.notes.clone(),
                });
                Waiting::Decision(explainer.decisions.len() - 1)
            }
        };
        self.explainer = Some(explainer);
    }

    /// `task` was woken, or is new, and the policy was not asked: the task is of another class, or
    /// still queued.
    #[inline]
    pub fn explain_unasked(&mut self, task: u32) {
        let other_class = self.is_rt(task);
        let world = &self.queues.power.world;
        let Some(explainer) = &mut self.explainer else {
            return;
        };
        explainer.waiting[task as usize] = Waiting::Nowhere;
        if explainer.watches(&world.comms[task as usize], world.now) {
            match other_class {
                true => explainer.tally.other_class += 1,
                false => explainer.tally.still_queued += 1,
            }
        }
    }
}

impl Place<'_> {
    /// Is this decision explained? If so, copies the state of the run to the others' views.
    #[inline]
    pub fn explains(&mut self, task: u32, kind: Kind) -> bool {
        self.explainer.is_some() && self.looks_at(task, kind)
    }

    fn looks_at(&mut self, task: u32, kind: Kind) -> bool {
        let Some(mut explainer) = self.explainer.take() else {
            return false;
        };
        let wanted = match explainer.wants {
            Wants::Decisions(most) => kind == Kind::Wake && explainer.decisions.len() < most,
            Wants::Answers | Wants::Told => true,
        };
        let looked_at = wanted && explainer.watches(&self.comms[task as usize], self.now);
        explainer.waiting[task as usize] = Waiting::Nowhere;
        if looked_at {
            self.others_follow(&mut explainer);
        }
        self.explainer = Some(explainer);
        looked_at
    }

    /// Gives the others' views the state of the run's.
    fn others_follow(&self, explainer: &mut Explainer) {
        let online = self.hotplug.online;
        let changed = std::mem::replace(&mut explainer.online, online) != online;
        for other in &mut explainer.others {
            if changed {
                let built = views(self.machine, self.kernel, &other.params, online);
                *other = built.expect("a part of a machine that could be built");
            }
            self.follow(other);
        }
    }

    fn follow(&self, other: &mut Core) {
        let core = &self.core;
        other.cpus.copy_from_slice(&core.cpus);
        other.copy_group_states(core);
        other.root = core.root;
        let set = other.set_perf(core.perf.clone());
        set.expect("a model of the same CPUs");
        for (cpu, own) in core.places.iter().enumerate() {
            // An offline CPU shares nothing.
            let (kept, own) = (other.places[cpu].shared as usize, own.shared as usize);
            if let (Some(kept), Some(own)) = (other.llcs.get_mut(kept), core.llcs.get(own)) {
                *kept = *own;
            }
        }
        let add_up = uclamp_sum::add_up;
        if self.uclamp_used() && add_up(&core.params) && !add_up(&other.params) {
            self.largest_clamps(other);
        }
    }

    /// Sets the clamps of each queue to the largest of its tasks', as a scheduler without
    /// uclamp-sum keeps them.
    fn largest_clamps(&self, other: &mut Core) {
        for queue in &mut other.cpus {
            (queue.uclamp_min, queue.uclamp_max, queue.uclamp_idle) = (0, 1024, 1);
        }
        for (id, (task, view)) in self.tasks.iter().zip(self.views.iter()).enumerate() {
            let queued = view.flags & task_flag::ON_RQ != 0 && !self.is_delayed(id as u32);
            if !queued || id >= self.comms.len() {
                continue;
            }
            let queue = &mut other.cpus[task.cpu as usize];
            if std::mem::take(&mut queue.uclamp_idle) != 0 {
                queue.uclamp_max = 0;
            }
            queue.uclamp_min = queue.uclamp_min.max(view.uclamp_min as u16);
            queue.uclamp_max = queue.uclamp_max.max(view.uclamp_max as u16);
        }
    }
}

#[cfg(test)]
mod tests;
