// SPDX-License-Identifier: GPL-2.0-only
//! Tests of changes in the balancing of 7.3: tasks are evened out among different CPUs too, and
//! the CPU that balances for the tickless ones has an idle core.

use super::super::imbalance::Imbalance;
use super::*;

/// find_new_ilb().
#[test]
fn an_idle_core_balances_for_the_tickless_before_an_idle_thread() {
    for (base, busy, expected, because) in [
        ("linux-7.2", &[192][..], 0, "the first idle CPU"),
        ("linux-7.3", &[192], 1, "the first whose sibling idles too"),
        ("linux-7.3", &[], 0, "the first of all"),
    ] {
        under(base, "epyc-9654-2s", |sim| {
            // Threads of a core are n and n + 192.
            for cpu in 0..384 {
                sim.nohz_enter_idle(cpu);
            }
            for &cpu in busy {
                pretend(sim, cpu, (1, 1024, 1024, false));
            }
            assert_eq!(sim.idle_balancer(), Some(expected), "{base}: {because}");
        });
    }
    under("linux-7.3", "epyc-9654-2s", |sim| {
        for cpu in 0..384 {
            sim.nohz_enter_idle(cpu);
        }
        (192..384).for_each(|cpu| pretend(sim, cpu, (1, 1024, 1024, false)));
        assert_eq!(
            sim.idle_balancer(),
            Some(0),
            "no core idles: the first CPU that does"
        );
    });
}

/// update_sg_lb_stats(): a misfit that the balancing CPU cannot help does not make its group a
/// misfit group, but makes the root domain overloaded.
#[test]
fn a_misfit_counts_where_it_can_be_helped() {
    // Littles 0 and 3 to 5, bigs 1 and 2.
    for (base, by, of, kind, because) in [
        ("linux-7.2", 0, 1, Kind::Misfit, "whoever balances"),
        (
            "linux-7.3",
            0,
            1,
            Kind::FullyBusy,
            "a little one is no help",
        ),
        ("linux-7.2", 1, 3, Kind::Misfit, "a big one is"),
        ("linux-7.3", 1, 3, Kind::Misfit, "a big one is"),
    ] {
        under(base, "juno-r0", |sim| {
            let others = if of == 1 { &[1, 2][..] } else { &[0, 3, 4, 5] };
            for &cpu in others {
                pretend(
                    sim,
                    cpu,
                    (1, sim.core.cpus[cpu].capacity_orig, 1024, cpu == of),
                );
            }
            sim.sums_refresh();
            let top = sim.core.places[by].nr_domains as usize - 1;
            let scope = Scope::new(by, top, Idle::Yes, sim.jiffies());
            let group = sim.core.places[of].group[top] as usize;
            let stats = sim.group_stats(&scope, group, false);
            assert_eq!(
                (stats.kind, stats.misfit),
                (kind, true),
                "{base}: {because}"
            );
            sim.occupancy.overload = false;
            sim.rivals(&scope);
            assert!(sim.occupancy.overload, "{base}");
            for &cpu in others {
                pretend(sim, cpu, (0, 0, 0, false));
            }
        });
    }
}

/// sched_balance_find_src_rq(): a lone task on a CPU that is no smaller is taken if it shares a
/// busy core there.
#[test]
fn a_lone_task_is_taken_from_a_busy_core() {
    for (base, siblings, taken) in [
        ("linux-7.2", true, false),
        ("linux-7.3", true, true),
        ("linux-7.3", false, false),
    ] {
        under(base, "epyc-9654-2s", |sim| {
            pretend(sim, 0, (1, 1024, 1024, false));
            if siblings {
                pretend(sim, 192, (1, 1024, 1024, false));
            }
            let level = sim.core.places[96].nr_domains as usize - 1;
            let domain = sim.core.places[96].domain[level] as usize;
            // Pretend that its CPUs differ.
            let alike = sim.core.domains[domain];
            let flags = alike.flags | domain_flag::ASYM;
            let (pct, numa) = (alike.imbalance_pct, alike.imb_numa_nr);
            sim.core.set_domain(domain, flags, pct, numa);
            let scope = Scope::new(96, level, Idle::Yes, sim.jiffies());
            let imbalance = Imbalance {
                what: Migrate::Task,
                amount: 1,
            };
            let group = sim.core.places[0].group[level] as usize;
            let found = sim.busiest_queue(&scope, group, imbalance);
            assert_eq!(found.is_some(), taken, "{base}, sibling busy: {siblings}");
        });
    }
}

/// sched_balance_find_src_rq(): such a task is also taken if clusters are a level and both CPUs
/// have the same capacity under the limits.
#[test]
fn a_lone_task_is_taken_to_another_cluster_of_equal_cpus() {
    for (base, clusters, by, taken) in [
        ("linux-7.2", 1, 0, false),
        ("linux-7.3", 1, 0, true),
        ("linux-7.3", 0, 0, false),
        ("linux-7.3", 0, 1, true),
    ] {
        under(base, "juno-r0", |sim| {
            pretend(sim, 3, (1, 446, 1024, false));
            sim.core.set_keys(0, 1, clusters);
            let top = sim.core.places[by].nr_domains as usize - 1;
            let scope = Scope::new(by, top, Idle::Yes, sim.jiffies());
            let imbalance = Imbalance {
                what: Migrate::Task,
                amount: 1,
            };
            let group = sim.core.places[3].group[top] as usize;
            let found = sim.busiest_queue(&scope, group, imbalance);
            assert_eq!(
                found.is_some(),
                taken,
                "{base}, clusters: {clusters}, by {by}"
            );
            pretend(sim, 3, (0, 0, 0, false));
        });
    }
}
