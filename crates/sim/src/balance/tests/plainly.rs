// SPDX-License-Identifier: GPL-2.0-only
//! Test against the kernel's plain way: sum up everything at each attempt, then judge. The
//! simulation skips sums that cannot matter; the outcome must be the same.

use super::super::contest::Contest;
use super::super::groups::{Rivals, Totals};
use super::super::imbalance::{self, Imbalance};
use super::*;
use crate::dispatch::Sim;
use crate::kernel::MisfitCounts;
use crate::power::uclamp::actual_capacity;
use crate::world::util::cpu_util;
use alight_policy::abi::{Cpu, NONE};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Runnable fair tasks; in some kernels sleepers that are still queued count too.
fn wanting(sim: &Sim, view: &Cpu) -> u32 {
    let delayed = match sim.kernel.balance.sleepers_count {
        true => 0,
        false => view.h_nr_delayed,
    };
    view.h_nr_running - u32::from(delayed)
}

fn stats(sim: &Sim, scope: &Scope, group: usize, local: bool) -> GroupStats {
    let domain = sim.domain(scope.dst, scope.level);
    let g = &sim.core.groups[group];
    let mut s = GroupStats {
        capacity: u64::from(g.capacity),
        min_capacity: g.min_capacity,
        max_capacity: g.max_capacity,
        weight: g.weight,
        idle_cpus: 0,
        ..GroupStats::LEAST
    };
    let mut cores = BTreeSet::new();
    for cpu in sim.members(group, None) {
        let view = &sim.core.cpus[cpu];
        s.load += u64::from(view.cfs.load_avg);
        s.util += u64::from(cpu_util(view));
        s.nr_running += view.nr_running;
        s.h_nr_running += wanting(sim, view);
        s.runnable += u64::from(view.cfs.runnable_avg);
        if view.nr_running == 0 && view.curr_is_idle != 0 && view.ttwu_pending == 0 {
            s.idle_cpus += 1;
        } else if !local && domain.flags & domain_flag::ASYM != 0 {
            s.misfit_load = s.misfit_load.max(sim.balance[cpu].misfit_load);
        }
        cores.insert(first_of_core(sim, cpu));
        if !local && sim.cache_aware.used && domain.flags & domain_flag::SHARE_LLC == 0 {
            let elsewhere = sim.core.places[cpu].llc != sim.core.places[scope.dst].llc;
            s.drawn_here += u32::from(elsewhere) * sim.wanted(cpu, scope.dst);
        }
    }
    let dst = u64::from(sim.core.cpus[scope.dst].capacity);
    let helps = dst * 1024 > u64::from(s.max_capacity) * 1078;
    if sim.kernel.balance.misfit_counts == MisfitCounts::IfHelped && !helps {
        s.misfit_load = 0;
    }
    s.draws = sim.draws(scope, group, &s);
    s.cores = cores.len() as u32;
    s.smt = g.child != NONE && sim.core.domains[g.child as usize].flags & domain_flag::SMT != 0;
    s.smt_balance = !local
        && sim.kernel.balance.smt_balance
        && scope.idle != Idle::No
        && s.smt
        && s.h_nr_running > 1;
    s.kind = s.classify(domain.imbalance_pct, g.imbalance != 0, &sim.kernel.balance);
    if s.kind == Kind::Overloaded {
        s.avg_load = s.load * 1024 / s.capacity;
    }
    s
}

fn busiest_queue(sim: &Sim, scope: &Scope, group: usize, i: Imbalance) -> Option<usize> {
    let domain = sim.domain(scope.dst, scope.level);
    let asym = domain.flags & domain_flag::ASYM != 0;
    let capacity = |cpu: usize| u64::from(sim.core.cpus[cpu].capacity);
    let (mut most, mut of, mut busiest) = (0, 1, None);
    for cpu in sim.members(group, None) {
        let view = &sim.core.cpus[cpu];
        let nr = wanting(sim, view);
        let load = u64::from(view.cfs.load_avg);
        let reduced = sim.capacity_reduced(cpu, domain.imbalance_pct);
        let too_much = i.what == Migrate::Load && load > i.amount as u64 && !reduced;
        let rules = &sim.kernel.balance.source;
        let (here, there) = (capacity(scope.dst), capacity(cpu));
        let stays = match rules.greater_capacity {
            true => here * 1024 <= there * 1078,
            false => here < there,
        };
        let topology = &sim.core.topology;
        let limited = |cpu: usize| actual_capacity(&sim.core.params, &sim.core.cpus[cpu]);
        let gains = rules.lone_beside_busy
            && (topology.smt != 0 && !sim.core_is_idle(cpu)
                || topology.cluster != 0 && limited(scope.dst) == limited(cpu));
        if nr == 1 && (asym && stays && !gains || too_much)
            || nr == 0 && rules.skips_empty
            || nr <= 1 && rules.util_of_several && i.what == Migrate::Util
        {
            continue;
        }
        let util = match rules.util_boosted {
            true => cpu_util(view).max(view.cfs.runnable_avg.min(view.capacity_orig)),
            false => cpu_util(view),
        };
        let (key, per) = match i.what {
            Migrate::Load => (load, capacity(cpu)),
            Migrate::Util => (u64::from(util), 1),
            Migrate::Task => (u64::from(nr), 1),
            Migrate::Misfit => (u64::from(sim.balance[cpu].misfit_load), 1),
            Migrate::ToCache => (u64::from(sim.wanted(cpu, scope.dst)), 1),
        };
        if key * of > most * per {
            (most, of, busiest) = (key, per, Some(cpu));
        }
    }
    busiest
}

pub fn find_source(sim: &mut Sim, scope: &Scope) -> Option<(usize, Imbalance)> {
    let domain = sim.domain(scope.dst, scope.level);
    let groups = domain.first_group as usize..(domain.first_group + domain.nr_groups) as usize;
    let own = sim.core.places[scope.dst].group[scope.level] as usize;
    let asym = domain.flags & domain_flag::ASYM != 0;
    let records = sim.records_caches(scope);
    let local = stats(sim, scope, own, true);
    if records {
        sim.record_cache(own, &local);
    }
    let mut totals = Totals {
        load: local.load,
        capacity: local.capacity,
    };
    let (mut busiest, mut group) = (GroupStats::LEAST, None);
    let contest = Contest {
        local,
        asym,
        capacity: sim.core.cpus[scope.dst].capacity,
        core_idle: sim.core_is_idle(scope.dst),
        rules: &sim.kernel.balance,
    };
    for other in (own + 1..groups.end).chain(groups.start..own) {
        let s = stats(sim, scope, other, false);
        if records {
            sim.record_cache(other, &s);
        }
        totals.load += s.load;
        totals.capacity += s.capacity;
        if s.busier_than(&busiest, &contest) {
            (busiest, group) = (s, Some(other));
        }
    }
    let group = group?;
    let rivals = Rivals {
        local,
        busiest,
        group,
        totals,
    };
    let imbalance = imbalance::find(&rivals, sim.rules(scope, group))?;
    Some((busiest_queue(sim, scope, group, imbalance)?, imbalance))
}

/// First CPU of the core of `cpu`.
fn first_of_core(sim: &Sim, cpu: usize) -> usize {
    match sim.core.places[cpu].smt_domain {
        NONE => cpu,
        core => {
            let span = &sim.core.domains[core as usize].span;
            span.iter().next().expect("not empty") as usize
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Skipping sums changes no outcome.
    #[test]
    fn counting_finds_what_summing_finds(
        base in prop::sample::select(vec!["linux-5.5", "linux-6.1", "linux-6.5", "linux-6.12", "linux-6.18", "linux-7.2", "linux-7.3"]),
        machine in prop::sample::select(vec!["juno-r0", "hikey620", "gs101", "epyc-9654-2s"]),
        most in 1u32..5,
        queues in prop::collection::vec((0u32..5, 0u32..1100, 0u32..4000, any::<bool>()), 384),
        waiting in prop::collection::vec((0u32..3000, 0u16..3), 384),
        drawn in prop::collection::vec(0u32..12, 384),
        used in prop::collection::vec(0u64..100, 64),
        imbalanced in prop::collection::vec(any::<prop::sample::Index>(), 0..2),
        dst in any::<prop::sample::Index>(),
    ) {
        under(base, machine, |sim| {
            let nr = sim.cpus.len();
            for (cpu, &(tasks, util, load, misfit)) in queues.iter().enumerate().take(nr) {
                let (runnable, delayed) = waiting[cpu];
                sim.core.cpus[cpu].cfs.runnable_avg = runnable;
                if ["linux-6.12", "linux-6.18", "linux-7.2", "linux-7.3"].contains(&base) {
                    sim.core.cpus[cpu].h_nr_delayed = delayed.min(tasks.min(most) as u16);
                }
                pretend(sim, cpu, (tasks.min(most), util, load, misfit && tasks == 1));
            }
            for group in imbalanced {
                let group = group.index(sim.core.groups.len());
                sim.core.set_group_imbalance(group, 1);
            }
            // A third of the CPUs have tasks that prefer some cache.
            let caches = sim.core.llcs.len();
            for (cpu, &drawn) in drawn.iter().enumerate().take(nr) {
                if sim.cache_aware.used && drawn < 4 {
                    sim.cache_aware.pretend_wanted(cpu, cpu * 7 % caches, drawn);
                }
            }
            sim.pretend_used(&used);
            let dst = dst.index(nr);
            for level in 0..sim.core.places[dst].nr_domains as usize {
                for idle in [Idle::No, Idle::Yes, Idle::Newly] {
                    let mut scope = Scope::new(dst, level, idle, sim.jiffies());
                    // Skips the refresh of blocked load, which would change the sums.
                    sim.nohz.has_blocked = false;
                    let uses = sim.cache_uses.clone();
                    let expected = plainly::find_source(sim, &scope);
                    let recorded = std::mem::replace(&mut sim.cache_uses, uses);
                    let found = sim.find_source(&mut scope);
                    let case = format!("{base} {machine} CPU {dst} level {level} {idle:?}");
                    assert_eq!(found, expected, "{case}");
                    assert_eq!(sim.cache_uses, recorded, "{case}");
                }
            }
        });
    }
}
