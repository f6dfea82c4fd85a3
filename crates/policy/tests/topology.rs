// SPDX-License-Identifier: GPL-2.0-only
//! Machines and the scheduling domains that Linux 5.5 builds of them.

use alight_policy::abi::{MAX_CPUS, NONE, domain_flag as flag};
use alight_policy::topology::{BadTopology, CpuDescription, Description, Level, LevelKind, build};
use alight_policy::{Core, Domain, Group, Mask, Scheduler};

const SPREAD: u32 = flag::WAKE_AFFINE | flag::BALANCE_FORK | flag::BALANCE_EXEC | flag::NEWIDLE;

fn cpus(capacities: impl IntoIterator<Item = u32>) -> Vec<CpuDescription> {
    (capacities.into_iter())
        .map(|capacity| CpuDescription { capacity, node: 0 })
        .collect()
}

fn level(kind: LevelKind, nr: u32, key: impl Fn(u32) -> u32) -> Level {
    Level::by_key(kind, &(0..nr).map(key).collect::<Vec<_>>())
}

fn views(machine: &Description, scheduler: &str) -> Core {
    let params = Scheduler::parse(scheduler).unwrap().params;
    build(machine, &params).unwrap()
}

fn span(cpus: std::ops::Range<u32>) -> Mask {
    cpus.collect()
}

fn domains_of(core: &Core, cpu: usize) -> Vec<&Domain> {
    let place = &core.places[cpu];
    (place.domain[..place.nr_domains as usize].iter())
        .map(|&d| &core.domains[d as usize])
        .collect()
}

fn groups_of<'a>(core: &'a Core, domain: &Domain) -> &'a [Group] {
    &(*core.groups)[domain.first_group as usize..][..domain.nr_groups as usize]
}

/// Four little CPUs, then two big ones, each cluster with its L2.
fn juno() -> Description {
    Description {
        cpus: cpus([446, 446, 446, 446, 1024, 1024]),
        levels: vec![
            level(LevelKind::Smt, 6, |cpu| cpu),
            level(LevelKind::Cache, 6, |cpu| cpu / 4),
            level(LevelKind::Package, 6, |_| 0),
        ],
    }
}

/// Four little CPUs and four big ones behind one L3.
fn dynamiq() -> Description {
    Description {
        cpus: cpus([381, 381, 381, 381, 1024, 1024, 1024, 1024]),
        levels: vec![
            level(LevelKind::Cache, 8, |_| 0),
            level(LevelKind::Package, 8, |_| 0),
        ],
    }
}

/// Two sockets of 12 dies of 8 cores; thread siblings are CPU n and n + 192.
fn epyc(distance: u32) -> Description {
    let core = |cpu| cpu % 192;
    let mut machine = Description {
        cpus: cpus(std::iter::repeat_n(1024, 384)),
        levels: vec![
            level(LevelKind::Smt, 384, core),
            level(LevelKind::Cache, 384, |cpu| core(cpu) / 8),
            level(LevelKind::Package, 384, |cpu| core(cpu) / 96),
            level(LevelKind::Numa { distance }, 384, |_| 0),
        ],
    };
    for (cpu, of) in machine.cpus.iter_mut().enumerate() {
        of.node = core(cpu as u32) / 96;
    }
    machine
}

#[test]
fn two_clusters_show_all_capacities_at_the_package() {
    let core = views(&juno(), "linux-5.5");
    assert_eq!(core.topology.asym, 1);
    assert_eq!(core.topology.smt, 0);
    assert_eq!(core.topology.max_capacity, 1024);
    assert_eq!(core.topology.nr_domains, 3);

    for (cpu, cluster) in [(0, span(0..4)), (3, span(0..4)), (5, span(4..6))] {
        let [mc, pkg] = domains_of(&core, cpu)[..] else {
            panic!("CPU {cpu} has {} domains", core.places[cpu].nr_domains);
        };
        assert_eq!(mc.span, cluster);
        assert_eq!(mc.flags, SPREAD | flag::SHARE_LLC | flag::BALANCE_WAKE);
        assert_eq!(mc.imbalance_pct, 117);
        assert_eq!(pkg.span, span(0..6));
        let top = SPREAD | flag::PREFER_SIBLING | flag::ASYM | flag::ASYM_FULL | flag::BALANCE_WAKE;
        assert_eq!(pkg.flags, top);
        assert_eq!(pkg.imbalance_pct, 125);
        assert_eq!(core.places[cpu].llc_domain, core.places[cpu].domain[0]);
        assert_eq!(core.places[cpu].asym_domain, core.places[cpu].domain[1]);
        assert_eq!(core.places[cpu].smt_domain, NONE);
    }
    assert_eq!(
        core.places.iter().map(|p| p.llc).collect::<Vec<_>>(),
        [0, 0, 0, 0, 1, 1]
    );
    assert_eq!(
        core.llcs.iter().map(|l| l.nr_busy).collect::<Vec<_>>(),
        [4, 2]
    );
}

#[test]
fn groups_are_the_clusters_in_cpu_order_with_their_capacity() {
    let core = views(&juno(), "linux-5.5");
    let top = core.places[0].domain[1] as usize;
    let groups = groups_of(&core, &core.domains[top]);
    let facts: Vec<_> = (groups.iter())
        .map(|g| (g.cpu, g.weight, g.capacity, g.min_capacity, g.max_capacity))
        .collect();
    assert_eq!(facts, [(0, 4, 1784, 446, 446), (4, 2, 2048, 1024, 1024)]);
    assert_eq!(groups[1].child, core.places[4].domain[0]);
    assert_eq!(core.places[5].group[1], core.domains[top].first_group + 1);

    let big = &core.domains[core.places[4].domain[0] as usize];
    let facts: Vec<_> = groups_of(&core, big)
        .iter()
        .map(|g| (g.child, g.cpu))
        .collect();
    assert_eq!(facts, [(NONE, 4), (NONE, 5)]);
}

#[test]
fn without_wake_cap_no_domain_balances_at_wakeup() {
    let core = views(&juno(), "linux-5.5+asym-capacity");
    assert!(
        core.domains
            .iter()
            .all(|d| d.flags & flag::BALANCE_WAKE == 0)
    );
    assert!(core.domains.iter().any(|d| d.flags & flag::ASYM != 0));
}

/// sd_init(): a domain below an asymmetric one spreads no tasks over its siblings up to 7.2; 7.3
/// no longer clears SD_PREFER_SIBLING there.
#[test]
fn from_7_3_on_clusters_of_unlike_cpus_spread_tasks() {
    for (base, spreads) in [
        ("linux-6.1", 0),
        ("linux-7.2", 0),
        ("linux-7.3", flag::PREFER_SIBLING),
    ] {
        let core = views(&juno(), base);
        for cpu in [0, 4] {
            let [cluster, package] = domains_of(&core, cpu)[..] else {
                panic!("CPU {cpu} has {} domains", core.places[cpu].nr_domains);
            };
            assert_ne!(package.flags & flag::ASYM, 0, "{base}");
            assert_eq!(cluster.flags & flag::PREFER_SIBLING, spreads, "{base}");
        }
    }
}

#[test]
fn one_cache_for_all_makes_one_domain() {
    let core = views(&dynamiq(), "linux-5.5");
    let [mc] = domains_of(&core, 0)[..] else {
        panic!("CPU 0 has {} domains", core.places[0].nr_domains);
    };
    assert_eq!(mc.span, span(0..8));
    assert_eq!(mc.nr_groups, 8);
    let all = SPREAD
        | flag::PREFER_SIBLING
        | flag::SHARE_LLC
        | flag::ASYM
        | flag::ASYM_FULL
        | flag::BALANCE_WAKE;
    assert_eq!(mc.flags, all);
    assert_eq!(core.places[7].asym_domain, core.places[7].llc_domain);
    assert_eq!(core.llcs.len(), 1);
}

#[test]
fn a_server_has_core_cache_package_and_node() {
    let core = views(&epyc(32), "linux-5.5");
    assert_eq!((core.topology.asym, core.topology.smt), (0, 1));
    let weights = |cpu: usize| {
        domains_of(&core, cpu)
            .iter()
            .map(|d| d.weight)
            .collect::<Vec<_>>()
    };
    assert_eq!(weights(0), [2, 16, 192, 384]);
    assert_eq!(weights(383), [2, 16, 192, 384]);

    let [smt, mc, pkg, numa] = domains_of(&core, 200)[..] else {
        panic!()
    };
    assert_eq!(smt.span, Mask::from_iter([8, 200]));
    assert_eq!(
        smt.flags,
        SPREAD | flag::PREFER_SIBLING | flag::SMT | flag::SHARE_LLC
    );
    assert_eq!(smt.imbalance_pct, 110);
    assert_eq!(mc.flags, SPREAD | flag::PREFER_SIBLING | flag::SHARE_LLC);
    assert_eq!(pkg.flags, SPREAD | flag::PREFER_SIBLING);
    assert_eq!(numa.flags, flag::NUMA | flag::NEWIDLE);
    assert_eq!(
        (numa.nr_groups, pkg.nr_groups, mc.nr_groups, smt.nr_groups),
        (2, 12, 8, 2)
    );

    let place = &core.places[200];
    assert_eq!((place.llc, place.node), (1, 0));
    assert_eq!(place.smt_domain, place.domain[0]);
    assert_eq!(place.llc_domain, place.domain[1]);
    assert_eq!(place.asym_domain, NONE);
    assert_eq!(core.llcs.len(), 24);
    assert!(
        core.llcs
            .iter()
            .all(|l| l.has_idle_cores == 1 && l.nr_busy == 16)
    );
    assert_eq!(core.domains.len(), 192 + 24 + 2 + 1);
}

#[test]
fn near_nodes_are_pulled_from_and_spread_to() {
    let core = views(&epyc(21), "linux-5.5");
    let numa = domains_of(&core, 0)[3];
    assert_eq!(numa.flags, flag::NUMA | SPREAD);
}

/// A ring of four nodes, two CPUs each: at distance 20 each node reaches its neighbours.
#[test]
fn overlapping_nodes_have_a_span_each() {
    let near = |cpu: u32| -> Mask {
        let node = cpu / 2;
        [(node + 3) % 4, node, (node + 1) % 4]
            .iter()
            .flat_map(|n| [n * 2, n * 2 + 1])
            .collect()
    };
    let machine = Description {
        cpus: cpus(std::iter::repeat_n(1024, 8)),
        levels: vec![
            level(LevelKind::Cache, 8, |cpu| cpu / 2),
            Level {
                kind: LevelKind::Numa { distance: 20 },
                spans: (0..8).map(near).collect(),
                gated: false,
                ranked: false,
            },
            level(LevelKind::Numa { distance: 30 }, 8, |_| 0),
        ],
    };
    let core = views(&machine, "linux-5.5");
    let [_, ring, all] = domains_of(&core, 0)[..] else {
        panic!()
    };
    assert_eq!(ring.span, [0, 1, 2, 3, 6, 7].into_iter().collect());
    assert_eq!(ring.nr_groups, 3);
    assert_eq!(all.weight, 8);
    for place in &core.places {
        assert!(
            place.group[..3]
                .iter()
                .all(|&g| g < core.topology.nr_groups)
        );
    }
}

#[test]
fn a_lone_cpu_has_no_domain() {
    let machine = Description {
        cpus: cpus([1024]),
        levels: vec![level(LevelKind::Cache, 1, |_| 0)],
    };
    let core = views(&machine, "linux-5.5");
    assert_eq!(core.places[0].nr_domains, 0);
    assert_eq!((core.places[0].llc, core.places[0].llc_domain), (0, NONE));
}

#[test]
fn views_of_a_new_machine_are_idle() {
    let core = views(&juno(), "linux-5.5");
    let capacities: Vec<_> = core
        .cpus
        .iter()
        .map(|c| (c.capacity_orig, c.capacity))
        .collect();
    assert_eq!(capacities[0], (446, 446));
    assert_eq!(capacities[4], (1024, 1024));
    assert!(
        core.cpus
            .iter()
            .all(|c| c.curr_is_idle == 1 && c.nr_running == 0)
    );
}

#[test]
fn contradictions_are_refused() {
    let build =
        |machine: &Description| build(machine, &Default::default()).map(|_| ()).unwrap_err();
    let mut none = juno();
    none.cpus.clear();
    assert_eq!(build(&none), BadTopology::Cpus(0));

    let many = Description {
        cpus: cpus(std::iter::repeat_n(1024, MAX_CPUS + 1)),
        levels: Vec::new(),
    };
    assert_eq!(build(&many), BadTopology::Cpus(1025));

    let mut weak = juno();
    weak.cpus[3].capacity = 0;
    assert_eq!(
        build(&weak),
        BadTopology::Capacity {
            cpu: 3,
            capacity: 0
        }
    );

    let mut short = juno();
    short.levels[1].spans.pop();
    assert!(matches!(
        build(&short),
        BadTopology::Spans {
            level: 1,
            found: 5,
            expected: 6,
            ..
        }
    ));

    let mut crossed = juno();
    crossed.levels.swap(1, 2);
    assert!(matches!(
        build(&crossed),
        BadTopology::Nesting {
            level: 2,
            cpu: 0,
            ..
        }
    ));

    let mut beyond = juno();
    beyond.levels[2].spans[0].insert(6);
    assert!(matches!(
        build(&beyond),
        BadTopology::Nesting {
            level: 2,
            cpu: 0,
            ..
        }
    ));

    let deep = Description {
        cpus: cpus(std::iter::repeat_n(1024, 512)),
        levels: (1..=9)
            .map(|bits| level(LevelKind::Package, 512, |cpu| cpu >> bits))
            .collect(),
    };
    assert!(matches!(
        build(&deep),
        BadTopology::TooMany {
            what: "domain levels",
            found: 9,
            most: 8
        }
    ));
}
