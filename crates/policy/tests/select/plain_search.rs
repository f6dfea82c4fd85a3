// SPDX-License-Identifier: GPL-2.0-only
//! The fast searches of linux-5.5, with asym-capacity and without, against a second,
//! plain implementation, on random machines and states.

use crate::common::states::{Scene, Wanted};
use alight_policy::abi::rule;
use alight_policy::{Answer, Kind, NONE, STEPS, Scheduler};

fn step(answer: &Answer) -> &'static str {
    STEPS[answer.step as usize].0
}

/// What the searches ask of a machine, in lists of CPUs.
struct Plain<'a> {
    w: &'a Scene,
    nr: u32,
}

impl Plain<'_> {
    fn idle(&self, cpu: u32) -> bool {
        let rq = &self.w.core.cpus[cpu as usize];
        rq.nr_running == 0 && rq.curr_is_idle == 1 && rq.ttwu_pending == 0
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
        let estimate = t
            .pelt
            .util_avg
            .max(t.util_est_ewma.max(t.util_est_enqueued) | 1);
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
        let (idle, cost) = (
            weight as u64 * (here.avg_idle / 512),
            here.avg_scan_cost + 1,
        );
        if idle > 4 * cost { idle / cost } else { 4 }
    }

    fn idle_sibling(&self, target: u32) -> u32 {
        let (prev, recent) = (self.w.wakee.prev_cpu, self.w.wakee.recent_used_cpu);
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

/// The base or the feature, of whose rules some are as in kernels before and after.
fn scheduler(name: &str, machine: u64) -> Scheduler {
    let mut scheduler = Scheduler::parse(name).unwrap();
    let bit = |n: u32| (machine >> n & 1) as u32;
    scheduler.params.sis_prop = bit(0);
    scheduler.params.sched_idle = bit(1);
    scheduler.params.scan_cpu_ns = 100;
    scheduler
}

#[test]
fn the_fast_path_is_the_plain_search() {
    for name in ["linux-5.5", "linux-5.5+asym-capacity"] {
        let feature = name.contains('+');
        for machine in 0..800 {
            let wanted = Wanted {
                energy: false,
                ..Wanted::anything(80)
            };
            let mut scene = Scene::new(&scheduler(name, machine), 5, machine, wanted);
            for _ in 0..16 {
                scene.next();
                scene.kind = Kind::Wake;
                let mut before = scene.clone();
                let answer = scene.ask();
                if answer.slow == 1 || step(&answer) == "pinned" {
                    continue;
                }
                // The search brings the wakee's signals up to date before it asks where they fit.
                before.wakee.pelt = scene.wakee.pelt;
                let nr = before.core.topology.nr_cpus;
                let plain = Plain { w: &before, nr };
                let asym = feature.then(|| plain.asym(answer.target)).flatten();
                let expected = asym.unwrap_or_else(|| plain.idle_sibling(answer.target));
                let place = format!("{name}, machine {machine}: {answer:?}");
                if plain.allowed(expected) {
                    assert_eq!(answer.cpu, expected, "{place}");
                } else {
                    assert_eq!(step(&answer), "fallback", "{place}");
                }
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
