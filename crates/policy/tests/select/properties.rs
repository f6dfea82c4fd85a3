// SPDX-License-Identifier: GPL-2.0-only
//! What holds on every machine and in every state; and the two fast searches
//! against a second, plain implementation.

use crate::common::world::World;
use alight_policy::abi::rule;
use alight_policy::topology::{CpuDescription, Description, Level, LevelKind};
use alight_policy::{Answer, Kind, NONE, STEPS, Scheduler};
use proptest::prelude::*;

/// A machine of 1 to 80 CPUs: cores of 1, 2 or 4 threads, caches, nodes.
#[derive(Debug, Clone)]
struct Shape {
    nr: u32,
    threads: u32,
    cores_per_cache: u32,
    nodes: u32,
    distance: u32,
    capacities: Vec<u32>,
}

fn shape(equal: bool) -> impl Strategy<Value = Shape> {
    let capacity = prop_oneof![Just(200u32), Just(446), Just(897), Just(1024)];
    let capacities = if equal {
        prop::collection::vec(Just(1024u32), 1).boxed()
    } else {
        prop::collection::vec(capacity, 1..5).boxed()
    };
    (
        1..=80u32,
        prop_oneof![Just(1u32), Just(2), Just(4)],
        1..=20u32,
        1..=2u32,
        prop_oneof![Just(20u32), Just(40)],
        capacities,
    )
        .prop_map(
            |(nr, threads, cores_per_cache, nodes, distance, capacities)| Shape {
                nr,
                threads,
                cores_per_cache,
                nodes,
                distance,
                capacities,
            },
        )
}

impl Shape {
    fn describe(&self) -> Description {
        let cores = self.nr.div_ceil(self.threads);
        let cache = |cpu| cpu % cores / self.cores_per_cache;
        let caches = cache(cores - 1) + 1;
        let node = |cpu| cache(cpu) * self.nodes / caches;
        let level = |kind, key: &dyn Fn(u32) -> u32| {
            Level::by_key(kind, &(0..self.nr).map(key).collect::<Vec<_>>())
        };
        let capacity = |cpu: u32| self.capacities[cache(cpu) as usize % self.capacities.len()];
        Description {
            cpus: (0..self.nr)
                .map(|cpu| CpuDescription {
                    capacity: capacity(cpu),
                    node: node(cpu),
                })
                .collect(),
            levels: vec![
                level(LevelKind::Smt, &|cpu| cpu % cores),
                level(LevelKind::Cache, &cache),
                level(LevelKind::Package, &node),
                level(
                    LevelKind::Numa {
                        distance: self.distance,
                    },
                    &|_| 0,
                ),
            ],
        }
    }
}

/// What one CPU is doing; reduced to the machine's size by cycling.
type CpuState = (u8, u32, u32, u32, u64);
/// Task and waker.
type TaskState = (u32, u32, (u32, u32), (u32, u32), bool, u8);

#[derive(Debug, Clone)]
struct State {
    cpus: Vec<CpuState>,
    task: TaskState,
    this: u32,
    prev: u32,
    recent: u32,
    allowed: Vec<u8>,
    rules: u8,
    avg_idle: u64,
}

fn state() -> impl Strategy<Value = State> {
    let cpu = (0..8u8, 0..3000u32, 0..1100u32, 1..=1024u32, 0..4u64);
    let task = (
        0..1100u32,
        0..2000u32,
        (0..600u32, 0..60u32),
        (0..=1024u32, 0..=1024u32),
        any::<bool>(),
        0..6u8,
    );
    (
        prop::collection::vec(cpu, 1..30),
        task,
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        prop::collection::vec(0..4u8, 1..20),
        any::<u8>(),
        0..1_000_000u64,
    )
        .prop_map(
            |(cpus, task, this, prev, recent, allowed, rules, avg_idle)| State {
                cpus,
                task,
                this,
                prev,
                recent,
                allowed,
                rules,
                avg_idle,
            },
        )
}

fn world(shape: &Shape, state: &State, scheduler: &str) -> World {
    let mut w = World::new(&shape.describe(), scheduler);
    let nr = shape.nr;
    let bit = |n: u8| u32::from(state.rules >> n & 1);
    w.core.params.sis_prop = bit(0);
    w.core.params.sched_idle = bit(1);
    w.core.params.idlest_load_inverted = bit(2);
    w.core.params.idlest_weight_unset = bit(3);
    w.core.params.scan_cpu_ns = 100;
    for cpu in 0..nr {
        let (kind, load, util, capacity, stamp) = state.cpus[cpu as usize % state.cpus.len()];
        match kind {
            0..=2 => w.idles(cpu, if kind == 0 { NONE } else { u32::from(kind) }, stamp),
            3 => w.sched_idle([cpu]),
            4 => w.realtime([cpu]),
            _ => w.runs(cpu, u32::from(kind) - 4),
        };
        w.load(cpu, load).used([cpu], util);
        let orig = w.core.cpus[cpu as usize].capacity_orig;
        w.capacity(cpu, (orig * capacity / 1024).max(1));
        w.core.cpus[cpu as usize].avg_idle = state.avg_idle;
    }
    let (util, load, flips, clamps, sync, kind) = state.task;
    w.util(util)
        .flips(flips.0, flips.1)
        .wakes(state.this % nr, state.prev % nr);
    w.wakee.pelt.load_avg = load;
    w.wakee.recent_cpu = state.recent % (nr + 1);
    (w.wakee.uclamp_min, w.wakee.uclamp_max) = (clamps.0.min(clamps.1), clamps.0.max(clamps.1));
    w.sync = sync;
    w.kind = match kind {
        0 => Kind::Fork,
        1 => Kind::Exec,
        _ => Kind::Wake,
    };
    let cycle = |cpu: u32| state.allowed[cpu as usize % state.allowed.len()] != 0;
    let allowed: Vec<u32> = (0..nr).filter(|cpu| cycle(*cpu)).collect();
    if allowed.is_empty() {
        w.allow([state.prev % nr]);
    } else {
        w.allow(allowed);
    }
    w
}

fn step(answer: &Answer) -> &'static str {
    STEPS[answer.step as usize].0
}

// ---- a plain second implementation of the fast searches ----

/// What the searches ask of a machine, in lists of CPUs.
struct Plain<'a> {
    w: &'a World,
    nr: u32,
}

impl Plain<'_> {
    fn idle(&self, cpu: u32) -> bool {
        let rq = &self.w.core.cpus[cpu as usize];
        rq.nr_running == 0 && rq.curr_is_idle == 1 && rq.wakeup_pending == 0
    }
    fn sched_idle(&self, cpu: u32) -> bool {
        let rq = &self.w.core.cpus[cpu as usize];
        rq.nr_running > 0 && rq.nr_running == rq.h_nr_idle
    }
    fn good(&self, cpu: u32) -> bool {
        self.idle(cpu) || self.sched_idle(cpu)
    }
    fn allowed(&self, cpu: u32) -> bool {
        self.w.allowed.contains(cpu)
    }
    fn llc(&self, cpu: u32) -> u32 {
        self.w.core.places[cpu as usize].llc
    }
    fn ring(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.nr).map(move |n| (from + n) % self.nr)
    }
    fn siblings(&self, cpu: u32) -> Vec<u32> {
        match self.w.core.places[cpu as usize].smt_domain {
            NONE => vec![cpu],
            d => self.w.core.domains[d as usize].span.iter().collect(),
        }
    }

    fn fits(&self, cpu: u32) -> bool {
        let t = &self.w.wakee;
        let estimate = t.pelt.util_avg.max(t.est_ewma.max(t.est_enqueued) | 1);
        let need = u64::from(estimate.clamp(t.uclamp_min, t.uclamp_max));
        need * 1280 < u64::from(self.w.core.cpus[cpu as usize].capacity) * 1024
    }

    fn asym(&self, target: u32) -> Option<u32> {
        let domain = self.w.core.places[target as usize].asym_domain;
        let span = &self.w.core.domains.get(domain as usize)?.span;
        let met: Vec<u32> = (self.ring(target))
            .filter(|&cpu| span.contains(cpu) && self.allowed(cpu) && self.good(cpu))
            .collect();
        if let Some(&cpu) = met.iter().find(|&&cpu| self.fits(cpu)) {
            return Some(cpu);
        }
        let capacity = |cpu: u32| self.w.core.cpus[cpu as usize].capacity;
        let most = met.iter().map(|&cpu| capacity(cpu)).max();
        Some(
            met.iter()
                .copied()
                .find(|&cpu| Some(capacity(cpu)) == most)
                .unwrap_or(target),
        )
    }

    fn budget(&self, weight: usize) -> u64 {
        let here = &self.w.core.cpus[self.w.this as usize];
        if self.w.core.params.sis_prop == 0 {
            return u64::MAX;
        }
        let (idle, cost) = (weight as u64 * (here.avg_idle / 512), here.scan_cost + 1);
        if idle > 4 * cost { idle / cost } else { 4 }
    }

    fn idle_sibling(&self, target: u32) -> u32 {
        let (prev, recent) = (self.w.wakee.prev_cpu, self.w.wakee.recent_cpu);
        let shares = |cpu| self.llc(cpu) == self.llc(target);
        if self.good(target) {
            return target;
        }
        if shares(prev) && self.good(prev) {
            return prev;
        }
        if recent < self.nr && shares(recent) && self.allowed(recent) && self.good(recent) {
            return recent;
        }
        if self.w.core.places[target as usize].llc_domain == NONE {
            return target;
        }
        let llc: Vec<u32> = self.ring(target).filter(|&cpu| shares(cpu)).collect();
        let smt = self.w.core.topology.smt == 1;
        if smt && self.w.core.llcs[self.llc(target) as usize].has_idle_cores == 1 {
            let whole = |cpu: &u32| self.siblings(*cpu).into_iter().all(|c| self.idle(c));
            if let Some(&cpu) = llc.iter().find(|cpu| self.allowed(**cpu) && whole(cpu)) {
                return cpu;
            }
        }
        self.scan(&llc)
            .or_else(|| self.sibling(target))
            .unwrap_or(target)
    }

    fn scan(&self, llc: &[u32]) -> Option<u32> {
        if self.w.core.places[self.w.this as usize].llc_domain == NONE {
            return None;
        }
        let looked = self
            .budget(llc.len())
            .saturating_sub(1)
            .min(llc.len() as u64) as usize;
        let last = self.w.core.params.sched_idle == 1;
        let seen = || {
            llc[..looked]
                .iter()
                .copied()
                .filter(|&cpu| self.allowed(cpu))
        };
        let at_once = seen().find(|&cpu| self.idle(cpu) || !last && self.sched_idle(cpu));
        let kept = || seen().find(|&cpu| self.sched_idle(cpu));
        at_once.or_else(|| if looked < llc.len() { kept() } else { None })
    }

    fn sibling(&self, target: u32) -> Option<u32> {
        let allowed: Vec<u32> = self
            .siblings(target)
            .into_iter()
            .filter(|&cpu| self.allowed(cpu))
            .collect();
        let idle = allowed.iter().copied().find(|&cpu| self.idle(cpu));
        let sched_idle = allowed.iter().copied().find(|&cpu| self.sched_idle(cpu));
        if self.w.core.params.sched_idle == 1 {
            idle.or(sched_idle)
        } else {
            allowed.into_iter().find(|&cpu| self.good(cpu))
        }
    }
}

// ---- properties ----

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_answer_is_allowed_repeatable_and_bounded(
        shape in shape(false), state in state(), feature: bool,
    ) {
        let scheduler = if feature { "linux-5.5+asym-capacity" } else { "linux-5.5" };
        let mut w = world(&shape, &state, scheduler);
        let mut again = world(&shape, &state, scheduler);
        let explained = w.explain();
        let answer = w.ask();
        prop_assert!(answer.cpu < shape.nr && w.allowed.contains(answer.cpu), "{explained}");
        prop_assert!(answer.target < shape.nr);

        prop_assert_eq!(answer, again.ask());
        prop_assert_eq!((w.wakee, w.waker), (again.wakee, again.waker));
        prop_assert!(w.core.cpus == again.core.cpus && w.core.llcs == again.core.llcs);

        let nr = shape.nr;
        // Target, previous, recent; cores; the cache; siblings.
        prop_assert!(answer.looked_near + answer.looked_far <= 3 + 2 * nr + 8, "{explained}");
        prop_assert!(answer.summed <= 8 * nr, "{explained}");

        let rq = &w.core.cpus[answer.cpu as usize];
        let good = rq.nr_running == 0 && rq.curr_is_idle == 1 || rq.nr_running > 0 && rq.nr_running == rq.h_nr_idle;
        prop_assert_eq!(answer.found_idle == 1, good);
        let idle_step = ["target_idle", "prev_idle", "recent_idle", "idle_core", "llc_scan", "smt_scan",
            "asym_fits", "asym_biggest", "slow_idle", "slow_sched_idle"];
        prop_assert!(good || !idle_step.contains(&step(&answer)), "{explained}");
        prop_assert!(answer.slow == 0 || !step(&answer).starts_with("asym"));
    }

    #[test]
    fn an_explanation_is_the_decision(shape in shape(false), state in state()) {
        let mut w = world(&shape, &state, "linux-5.5+asym-capacity");
        let lines = w.explain().lines().count() - 1;
        let answer = w.ask();
        prop_assert_eq!(answer.verdicts.iter().sum::<u32>() as usize, lines);
    }

    #[test]
    fn off_means_off(shape in shape(true), state in state()) {
        let mut base = world(&shape, &state, "linux-5.5");
        let mut with = world(&shape, &state, "linux-5.5+asym-capacity");
        prop_assert_eq!(base.core.topology.asym, 0);
        prop_assert_eq!(base.ask(), with.ask());
        prop_assert_eq!((base.wakee, base.waker), (with.wakee, with.waker));
        prop_assert!(base.core.cpus == with.core.cpus && base.core.llcs == with.core.llcs);
    }

    #[test]
    fn the_fast_path_is_the_plain_search(shape in shape(false), state in state(), feature: bool) {
        let scheduler = if feature { "linux-5.5+asym-capacity" } else { "linux-5.5" };
        let mut w = world(&shape, &state, scheduler);
        w.kind = Kind::Wake;
        let before = world(&shape, &state, scheduler);
        let explained = w.explain();
        let answer = w.ask();
        if answer.slow == 0 && step(&answer) != "pinned" {
            let plain = Plain { w: &before, nr: shape.nr };
            let asym = feature.then(|| plain.asym(answer.target)).flatten();
            let expected = asym.unwrap_or_else(|| plain.idle_sibling(answer.target));
            if plain.allowed(expected) {
                prop_assert_eq!(answer.cpu, expected, "{}", explained);
            } else {
                prop_assert_eq!(step(&answer), "fallback", "{}", explained);
            }
        }
    }
}

#[test]
fn the_base_and_the_feature_differ_in_the_named_rules_only() {
    let base = Scheduler::parse("linux-5.5").unwrap().params;
    let mut with = Scheduler::parse("linux-5.5+asym-capacity").unwrap().params;
    assert_eq!((base.features, base.wake_cap), (0, 1));
    assert_eq!((with.features, with.wake_cap), (1, 0));
    assert_eq!((with.asym, with.asym_at_once), (rule::ASYM_FIRST, 1));
    (with.features, with.wake_cap) = (0, 1);
    (with.asym, with.asym_at_once) = (base.asym, base.asym_at_once);
    assert_eq!(base, with);
}
