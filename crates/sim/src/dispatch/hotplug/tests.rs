// SPDX-License-Identifier: GPL-2.0-only
//! Tests of CPUs that go offline and come back: their tasks, timers, domains and clocks.
//! Ticks come every 4 ms, and all costs are 0. The invariants, which are checked in
//! every test here, forbid anything on an offline CPU.

use crate::dispatch::Sim;
use crate::dispatch::exec::TIMER_SLACK;
use crate::face::changes::{Action, Change, hotplug_torture};
use crate::testbed::{Given, MS, Record, begin_changed, big_little, machine, task, workload};
use crate::world::state::Phase;
use alight_machine::{Governor, Machine};
use alight_workload::program::{Op, Policy};

/// Bases with different classes, orders and ways to balance.
const BASES: [&str; 6] = [
    "linux-3.9",
    "linux-5.4",
    "linux-5.5",
    "linux-6.1",
    "linux-6.5",
    "linux-7.2",
];

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn sleep(ms: u64) -> Op {
    Op::Sleep { ns: ms * MS }
}

/// A task that executes `ops` 2000 times.
fn again(ops: &[Op]) -> Vec<Op> {
    let (slot, end) = (0, ops.len() as u32 + 2);
    let mut all = vec![Op::LoopBegin {
        slot,
        count: 2000,
        end,
    }];
    all.extend(ops);
    all.push(Op::LoopEnd { slot, begin: 1 });
    all
}

fn fifo(start_ns: u64, ops: &[Op]) -> Given {
    let mut given = task(start_ns, ops).policy(Policy::Fifo);
    given.attributes.rt_priority = Some(10);
    given
}

fn off(ms: u64, cpus: &str) -> Change {
    Change {
        at_ns: ms * MS,
        action: Action::Offline(cpus.parse().expect("CPUs")),
    }
}

fn on(ms: u64, cpus: &str) -> Change {
    Change {
        at_ns: ms * MS,
        action: Action::Online(cpus.parse().expect("CPUs")),
    }
}

/// Runs `test` under `base` on a machine with these `changes`.
fn of_kernel<R>(
    base: &str,
    machine: &Machine,
    changes: &[Change],
    tasks: &[Given],
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let rules = (base, Governor::Performance);
    let (workload, mut record) = (workload(tasks), Record::default());
    begin_changed(changes, rules, machine, &workload, &mut record, test)
}

/// The same under linux-5.5 on CPUs of one cache.
fn on_cpus<R>(
    cpus: usize,
    changes: &[Change],
    tasks: &[Given],
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    of_kernel("linux-5.5", &machine(cpus, cpus), changes, tasks, test)
}

/// CPU of each task.
fn places(sim: &Sim) -> Vec<u32> {
    sim.views
        .iter()
        .take(sim.tasks.len())
        .map(|v| v.prev_cpu)
        .collect()
}

/// The running task and the one that waits go to the first CPU that they may use
/// (`select_fallback_rq`), running first; they lose no time on the way.
#[test]
fn tasks_leave_a_cpu_that_goes() {
    for base in BASES {
        let tasks = [
            task(2 * MS, &[run(50)]).on(&[2, 3]),
            task(2 * MS, &[run(50)]).on(&[1, 3]),
            fifo(3 * MS, &[run(50)]).on(&[0, 3]),
        ];
        // Before, all of them are brought to CPU 3.
        let changes = [off(1, "0-2"), on(20, "0-2"), off(20, "3")];
        of_kernel(base, &machine(4, 4), &changes, &tasks, |sim| {
            sim.until(19 * MS);
            assert_eq!(places(sim), [3, 3, 3], "{base}");
            sim.until(20 * MS);
            assert_eq!(places(sim), [2, 1, 0], "{base}");
            assert_eq!(sim.hotplug.moved, 3, "{base}");
            assert_eq!(sim.cpus[3].phase, Phase::Idle);
            sim.until(21 * MS);
            let ran: u64 = (0..3).map(|task| sim.ran(task)).sum();
            assert_eq!(ran, 18 * MS + 3 * MS, "{base}");
        });
    }
}

/// `select_fallback_rq`: of the CPUs that are allowed, those of its own node come first.
#[test]
fn the_next_cpu_is_one_of_the_same_node() {
    let mut machine = machine(4, 2);
    for (cpu, place) in machine.cpus.iter_mut().enumerate() {
        place.node = cpu / 2;
    }
    let tasks = [task(0, &[run(50)]).on(&[0, 2, 3])];
    let changes = [off(0, "0,2"), on(10, "0,2"), off(10, "3")];
    of_kernel("linux-5.5", &machine, &changes, &tasks, |sim| {
        sim.until(9 * MS);
        assert_eq!(places(sim), [3]);
        sim.until(10 * MS);
        assert_eq!(places(sim), [2], "not CPU 0, which has the lower number");
    });
}

/// A task that may use no online CPU may use all CPUs from then on, for ever
/// (`do_set_cpus_allowed(p, cpu_possible_mask)`).
#[test]
fn affinity_breaks_where_nothing_is_left_of_it() {
    let pinned = [
        task(0, &[run(100)]).on(&[1]),
        task(0, &[run(1), sleep(10), run(100)]).on(&[1]),
        fifo(0, &[run(2), sleep(20), run(100)]).on(&[1]),
    ];
    for base in BASES {
        let machine = machine(2, 2);
        of_kernel(
            base,
            &machine,
            &[off(5, "1"), on(50, "1")],
            &pinned,
            |sim| {
                sim.until(6 * MS);
                assert_eq!(
                    sim.views[0].nr_cpus_allowed, 2,
                    "{base}: it ran, so it is moved"
                );
                assert_eq!(sim.views[2].nr_cpus_allowed, 1, "{base}: it sleeps");
                assert_eq!(sim.views[2].prev_cpu, 1);
                sim.until(40 * MS);
                assert_eq!(places(sim), [0, 0, 0], "{base}");
                assert_eq!(sim.hotplug.broken, 3, "{base}");
                assert!((0..3).all(|task| sim.views[task].nr_cpus_allowed == 2));
            },
        );
    }
}

/// `__set_cpus_allowed_ptr` refuses a mask without an online CPU, and the task goes
/// on as before; a task that begins with such a mask may run anywhere.
#[test]
fn an_affinity_without_cpus() {
    use alight_workload::program::Attributes;
    let to = |cpus: &[u32]| Attributes {
        affinity: Some(cpus.to_vec()),
        ..Attributes::default()
    };
    let change = |attributes| Op::SetAttributes { attributes };
    let mut given = workload(&[
        task(10 * MS, &[run(1), change(0), run(1), change(1), run(50)]),
        task(10 * MS, &[run(50)]).on(&[2]),
    ]);
    given.attributes = vec![to(&[2]), to(&[1, 2])];
    let rules = ("linux-6.1", Governor::Performance);
    let mut record = Record::default();
    let machine = machine(3, 3);
    begin_changed(
        &[off(1, "2")],
        rules,
        &machine,
        &given,
        &mut record,
        |sim| {
            sim.until(11 * MS + MS / 2);
            assert_eq!(sim.views[0].nr_cpus_allowed, 3);
            assert_eq!(sim.views[1].nr_cpus_allowed, 3);
            sim.until(30 * MS);
            assert_eq!((sim.views[0].nr_cpus_allowed, places(sim)[0]), (2, 1));
        },
    );
}

/// A timer of a CPU that went offline expires on another one, in time.
#[test]
fn timers_go_on() {
    for base in BASES {
        let sleeper = task(0, &[run(1), sleep(30), Op::Mark { mark: 0 }, run(1)]).on(&[1]);
        let late = task(40 * MS, &[Op::Mark { mark: 1 }, run(1)]).on(&[1]);
        let machine = machine(2, 2);
        of_kernel(base, &machine, &[off(10, "1")], &[sleeper, late], |sim| {
            sim.until(50 * MS);
            let at = 31 * MS + TIMER_SLACK;
            assert_eq!(sim.passed(0), (at, at), "{base}");
            assert_eq!(sim.passed(1), (40 * MS, 40 * MS), "{base}");
        });
    }
}

/// The domains span the online CPUs; a level with nothing to balance is removed.
#[test]
fn domains_are_built_over_what_is_there() {
    let spans = |sim: &Sim, cpu: usize| -> Vec<Vec<u32>> {
        let place = &sim.core.places[cpu];
        let domains = &place.domain[..place.nr_domains as usize];
        let span = |&domain: &u32| sim.core.domains[domain as usize].span;
        domains.iter().map(|d| span(d).iter().collect()).collect()
    };
    let changes = [off(1, "3"), off(2, "2"), on(3, "2-3")];
    of_kernel(
        "linux-5.5",
        &machine(4, 2),
        &changes,
        &[task(0, &[run(50)])],
        |sim| {
            assert_eq!(spans(sim, 0), [vec![0, 1], vec![0, 1, 2, 3]]);
            sim.until(MS);
            assert_eq!(spans(sim, 2), [vec![0, 1, 2]], "its cache is its own");
            assert_eq!(spans(sim, 3), Vec::<Vec<u32>>::new());
            sim.until(2 * MS);
            assert_eq!(spans(sim, 0), [vec![0, 1]]);
            sim.until(3 * MS);
            assert_eq!(spans(sim, 3), [vec![2, 3], vec![0, 1, 2, 3]]);
        },
    );
}

/// Tunables scale by the number of CPUs at the last update of the queues. A CPU that goes offline
/// is still counted then (`rq_offline_fair` runs in `sched_cpu_deactivate`, before
/// `set_cpu_online(false)`); one that comes online is counted already. Values that are computed
/// later use the right number (`update_max_interval`).
#[test]
fn tunables_follow_a_cpu_behind() {
    let changes = [
        off(1, "3"),
        off(2, "2"),
        off(3, "1"),
        on(4, "1"),
        on(5, "2-3"),
    ];
    on_cpus(4, &changes, &[task(0, &[run(50)])], |sim| {
        let mut latency = vec![sim.tunables.latency / 6_000_000];
        let mut interval = vec![sim.max_interval_jiffies()];
        for ms in 1..=5 {
            sim.until(ms * MS);
            latency.push(sim.tunables.latency / 6_000_000);
            interval.push(sim.max_interval_jiffies());
        }
        // 1 + log2 of 4, then of 4, 3, 2, 2, 4.
        assert_eq!(latency, [3, 3, 2, 2, 2, 3]);
        assert_eq!(interval, [100, 75, 50, 25, 50, 100]);
    });
}

/// A CPU that comes back is empty until the balancer brings it tasks.
#[test]
fn a_cpu_that_comes_back_gets_work() {
    for base in BASES {
        let hogs: Vec<Given> = (0..4).map(|_| task(0, &[run(2000)])).collect();
        let machine = machine(2, 2);
        of_kernel(
            base,
            &machine,
            &[off(10, "1"), on(100, "1")],
            &hogs,
            |sim| {
                sim.until(99 * MS);
                assert_eq!(sim.core.cpus[0].nr_running, 4, "{base}");
                sim.until(100 * MS);
                assert_eq!(sim.core.cpus[1].nr_running, 0, "{base}");
                sim.until(300 * MS);
                assert_eq!(sim.core.cpus[1].nr_running, 2, "{base}");
            },
        );
    }
}

/// Without its big CPUs a machine is not asymmetric, and placement does not use
/// the energy model; it does again when they come back (`build_perf_domains`).
#[test]
fn energy_aware_placement_needs_both_kinds() {
    let machine = big_little(4);
    let rules = ("linux-6.1", Governor::Schedutil);
    let given = workload(&[task(0, &[run(50)])]);
    let changes = [off(1, "3"), off(2, "2"), on(3, "2")];
    let mut record = Record::default();
    begin_changed(&changes, rules, &machine, &given, &mut record, |sim| {
        let domains = |sim: &Sim| -> Vec<Vec<u32>> {
            let perf = sim.core.perf.iter();
            perf.map(|domain| domain.span.iter().collect()).collect()
        };
        assert_eq!(domains(sim), [vec![2, 3], vec![0, 1]]);
        sim.until(MS);
        assert_eq!(domains(sim), [vec![2], vec![0, 1]]);
        sim.until(2 * MS);
        assert_eq!(domains(sim), Vec::<Vec<u32>>::new());
        assert_eq!(sim.core.topology.max_capacity, 512);
        sim.until(3 * MS);
        assert_eq!(domains(sim), [vec![2], vec![0, 1]]);
    });
}

/// schedutil uses online CPUs only.
#[test]
fn a_policy_has_the_cpus_that_are_there() {
    let mut machine = machine(2, 2);
    machine.freq_domains[0].opps = vec![
        alight_machine::Opp {
            khz: 500_000,
            capacity: 512,
            ..machine.freq_domains[0].opps[0]
        },
        alight_machine::Opp {
            khz: 1_000_000,
            capacity: 1024,
            ..machine.freq_domains[0].opps[0]
        },
    ];
    let rules = ("linux-5.5", Governor::Schedutil);
    let given = workload(&[
        task(0, &[run(199)]).on(&[0]),
        task(0, &again(&[run(1), sleep(9)])).on(&[1]),
    ]);
    let mut record = Record::default();
    let changes = [off(200, "0")];
    begin_changed(&changes, rules, &machine, &given, &mut record, |sim| {
        sim.until(198 * MS);
        assert_eq!(sim.core.cpus[1].freq_scale, 1024, "the hog asks for all");
        // The last utilization of CPU 0 does not count, although it never decays.
        sim.until(220 * MS);
        assert_eq!(sim.core.cpus[1].freq_scale, 512);
    });
}

/// An offline CPU rests in its deepest state, whatever the governor would choose,
/// and votes for that of the cluster.
#[test]
fn an_offline_cpu_takes_the_least_power() {
    let machine = Machine::load("juno-r0").expect("built in");
    let tasks = [task(0, &[run(1), sleep(1000), run(1)])];
    let energy = |changes: &[Change]| {
        of_kernel("linux-5.5", &machine, changes, &tasks, |sim| {
            sim.until(900 * MS);
            let results = sim.energy_results();
            let of = |name: &str| results.iter().find(|m| m.name == name).map(|m| m.value);
            of("energy_j").expect("powers are given")
        })
    };
    let all: String = format!("1-{}", machine.cpus.len() - 1);
    assert!(energy(&[off(10, &all)]) <= energy(&[]));
}

/// 100 operations among tasks of all kinds: the invariants are checked after each
/// event, and at the end every CPU is online and every task has run.
#[test]
fn torture() {
    for (seed, base) in (0..).zip(BASES) {
        let mut tasks: Vec<Given> = (0..6)
            .map(|i| task(i * MS, &again(&[run(3), sleep(2 + i)])))
            .collect();
        tasks.push(task(0, &[run(9000)]).on(&[3]));
        tasks.push(task(0, &[run(9000)]).nice(5));
        tasks.push(fifo(0, &again(&[run(1), sleep(7)])));
        let changes = hotplug_torture(4, 100, seed);
        let last = changes.last().expect("there are some").at_ns;
        let mut machine = big_little(4);
        machine.hrtick = true; // of which only 7.2 takes notice
        of_kernel(base, &machine, &changes, &tasks, |sim| {
            sim.until(last);
            assert_eq!(sim.hotplug.online.len(), 4, "{base}");
            let before: Vec<u64> = (0..tasks.len()).map(|t| sim.ran(t)).collect();
            sim.until(last + 200 * MS);
            for (t, before) in before.iter().enumerate() {
                assert!(sim.ran(t) > *before, "{base}: task {t} runs no more");
            }
            assert!(sim.hotplug.moved > 20, "{base}: {}", sim.hotplug.moved);
        });
    }
}
