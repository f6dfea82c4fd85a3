// SPDX-License-Identifier: GPL-2.0-only
//! The idle loop: entry, exit, residency, and the tick.

use super::*;
use crate::dispatch::Sim;
use crate::face::api::Scenario;
use crate::world::Output;
use crate::world::timers::Timers;
use alight_machine::{Governor, Machine};
use alight_workload::Workload;

const US: u64 = 1000;
const MS: u64 = 1000 * US;

/// A machine of the library as its file states it, without what was fitted (a fit moves the times of
/// idle states).
pub(crate) fn stated(name: &str) -> Machine {
    let sheet = alight_machine::open_bare(name).and_then(|draft| draft.resolve());
    sheet
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .machine
}

/// Runs `test` on a machine of the library as its file states it ([`stated`]). Its CPUs are all idle
/// since time 0. There are no tasks.
pub(crate) fn at_boot(name: &str, governor: Governor, test: impl FnOnce(&mut Sim)) {
    at_boot_of("linux-5.5", name, governor, test);
}

/// As [`at_boot`], under another kernel.
pub(crate) fn at_boot_of(base: &str, name: &str, governor: Governor, test: impl FnOnce(&mut Sim)) {
    let machine = stated(name);
    let scheduler = alight_policy::Scheduler::parse(base).expect("a base");
    let loaded = Workload::from_command_line("hackbench -g 1").expect("a workload");
    let workloads = [loaded.workload];
    let scenario = Scenario {
        governor: Some(governor),
        ..Scenario::new(&machine, &workloads, &scheduler)
    };
    let out = Output {
        sink: None,
        error: None,
        waker: alight_trace::Waker::Task,
    };
    match crate::setup::build::build(&scenario, out) {
        Ok((mut sim, _)) => {
            for cpu in &mut sim.cpus {
                cpu.timers = Timers::default();
            }
            test(&mut sim);
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Ends whatever state `cpu` is in.
pub(crate) fn execute(sim: &mut Sim, cpu: usize, at: u64) {
    wake(sim, cpu, at);
    sim.now = sim.idle[cpu].resumes_at;
}

/// `cpu`, which executes, enters a state at `at`.
pub(crate) fn sleep(sim: &mut Sim, cpu: usize, state: usize, at: u64) {
    sim.now = at;
    sim.enter(
        cpu,
        Choice {
            state,
            stop_tick: true,
            forced: false,
        },
        0,
    );
}

/// An interrupt reaches `cpu` at `at`; the time when it executes again.
pub(crate) fn wake(sim: &mut Sim, cpu: usize, at: u64) -> u64 {
    sim.now = at;
    let resumes_at = sim.idle_leave(cpu, at);
    sim.idle_left(cpu, false);
    resumes_at
}

/// Idle states of Juno, with entry and exit.
const WFI: usize = 0; // at once, 1 us
const CPU_SLEEP: usize = 1; // 300 us, 1200 us
const CLUSTER_SLEEP: usize = 2; // 400 us, 1200 us
/// Juno's big cluster.
const BIG: [usize; 2] = [1, 2];

/// Juno with the big CPUs executing from 1 ms on.
fn big_cluster_awake(test: impl FnOnce(&mut Sim)) {
    at_boot("juno-r0", Governor::Performance, |sim| {
        for cpu in BIG {
            execute(sim, cpu, 500 * US);
        }
        test(sim);
    });
}

#[test]
fn an_entry_goes_on_to_its_end_and_the_exit_follows() {
    for (state, slept, expected, what) in [
        (WFI, 0, US, "at once"),
        (WFI, MS, MS + US, "WFI"),
        (CPU_SLEEP, 0, 1500 * US, "the whole entry, then the exit"),
        (CPU_SLEEP, 200 * US, 1500 * US, "the rest of the entry"),
        (CPU_SLEEP, 300 * US, 1500 * US, "just in"),
        (CPU_SLEEP, MS, 2200 * US, "in for long"),
    ] {
        big_cluster_awake(|sim| {
            sleep(sim, BIG[0], state, MS);
            assert_eq!(wake(sim, BIG[0], MS + slept), MS + expected, "{what}");
        });
    }
}

#[test]
fn a_cluster_state_takes_all_cpus() {
    big_cluster_awake(|sim| {
        sleep(sim, BIG[0], CLUSTER_SLEEP, MS);
        let out = wake(sim, BIG[0], 5 * MS);
        assert_eq!(out, 6200 * US, "alone it is in CPU sleep");

        sleep(sim, BIG[0], CLUSTER_SLEEP, 10 * MS);
        sleep(sim, BIG[1], CLUSTER_SLEEP, 11 * MS);
        let out = wake(sim, BIG[1], 11 * MS + 100 * US);
        assert_eq!(
            out,
            12_600 * US,
            "the last in takes the cluster down: 400 us, and up again"
        );
        let out = wake(sim, BIG[0], 11 * MS + 150 * US);
        assert_eq!(out, 12_600 * US, "the other must wait for the cluster");

        sleep(sim, BIG[0], CLUSTER_SLEEP, 20 * MS);
        sleep(sim, BIG[1], CPU_SLEEP, 20 * MS);
        assert_eq!(
            sim.meters[sim.cpus[BIG[0]].cluster as usize].up_at,
            12_600 * US,
            "no quorum"
        );
    });
}

#[test]
fn residency_is_what_the_hardware_was_in() {
    big_cluster_awake(|sim| {
        sleep(sim, BIG[0], CLUSTER_SLEEP, 10 * MS); // CPU sleep from 10.3 ms on
        sleep(sim, BIG[1], CLUSTER_SLEEP, 20 * MS); // cluster sleep from 20.4 ms on
        wake(sim, BIG[1], 30 * MS); // CPU sleep again
        wake(sim, BIG[0], 40 * MS);
        let spent = |cpu: usize| -> Vec<u64> {
            sim.idle[cpu]
                .residency
                .iter()
                .skip(1)
                .map(|r| r.ns)
                .collect()
        };
        assert_eq!(spent(BIG[0]), [10_100 * US + 10 * MS, 9600 * US]);
        assert_eq!(spent(BIG[1]), [0, 9600 * US]);
    });
}

/// Requests are counted when the governor makes them, and stays by the hardware's state: each stay
/// has a time, and each time a stay.
#[test]
fn requests_and_stays_are_counted_each_for_itself() {
    // (state, time of entry, time of exit) of the two CPUs. Of the first CPU, requests and stays by
    // state: in total, and from 25 ms on.
    type Case = (
        [(usize, u64, u64); 2],
        [[u64; 3]; 2],
        [[u64; 3]; 2],
        &'static str,
    );
    let cases: [Case; 5] = [
        (
            [(CLUSTER_SLEEP, 10, 40), (CLUSTER_SLEEP, 20, 30)],
            [[0, 0, 1], [0, 2, 1]],
            [[0, 0, 0], [0, 1, 1]],
            "CPU sleep, cluster sleep, CPU sleep again",
        ),
        (
            [(CLUSTER_SLEEP, 10, 40), (CPU_SLEEP, 20, 30)],
            [[0, 0, 1], [0, 1, 0]],
            [[0, 0, 0], [0, 1, 0]],
            "without a quorum the cluster state is never reached",
        ),
        (
            [(CPU_SLEEP, 10, 40), (WFI, 20, 30)],
            [[0, 1, 0], [0, 1, 0]],
            [[0, 0, 0], [0, 1, 0]],
            "a stay that goes on is reached in the time that counts, too",
        ),
        (
            [(WFI, 10, 20), (WFI, 10, 30)],
            [[1, 0, 0], [1, 0, 0]],
            [[0, 0, 0], [0, 0, 0]],
            "over before",
        ),
        (
            [(WFI, 30, 40), (CPU_SLEEP, 10, 20)],
            [[1, 0, 0], [1, 0, 0]],
            [[1, 0, 0], [1, 0, 0]],
            "begun behind",
        ),
    ];
    for (stays, whole, late, because) in cases {
        for (counted_from, expected) in [(None, whole), (Some(25), late)] {
            big_cluster_awake(|sim| {
                for cpu in BIG {
                    sim.idle[cpu].forget_residency();
                }
                for ms in 1..50 {
                    for (cpu, (state, from, to)) in BIG.into_iter().zip(stays) {
                        match ms {
                            ms if ms == from => sleep(sim, cpu, state, ms * MS),
                            ms if ms == to => drop(wake(sim, cpu, ms * MS)),
                            _ => {}
                        }
                    }
                    if Some(ms) == counted_from {
                        sim.now = ms * MS;
                        sim.count_anew();
                    }
                }
                let found = &sim.idle[BIG[0]].residency;
                let counts = |of: fn(&Residency) -> u64| [0, 1, 2].map(|state| of(&found[state]));
                let found = [
                    counts(|found| found.requested),
                    counts(|found| found.reached),
                ];
                assert_eq!(found, expected, "{because}, from {counted_from:?} on");
            });
        }
    }
}

/// An entry that an interrupt cuts short, or that has just ended, is not a stay: it has no time.
#[test]
fn a_state_without_time_is_not_reached() {
    for (slept_us, reached) in [(0, 0), (200, 0), (300, 0), (301, 1)] {
        big_cluster_awake(|sim| {
            sleep(sim, BIG[0], CPU_SLEEP, MS);
            wake(sim, BIG[0], MS + slept_us * US);
            let found = &sim.idle[BIG[0]].residency[CPU_SLEEP];
            let expected = (1, reached, reached * US);
            assert_eq!(
                (found.requested, found.reached, found.ns),
                expected,
                "{slept_us} us"
            );
        });
    }
}

#[test]
fn results_name_each_state_and_share_the_time_out() {
    at_boot("juno-r0", Governor::Performance, |sim| {
        sim.now = 100 * MS;
        let results: Vec<(String, f64)> = sim
            .idle_results()
            .into_iter()
            .map(|m| (m.name, m.value))
            .collect();
        let expected = [
            ("idle_requested_wfi", 6.0),
            ("idle_reached_wfi", 6.0),
            ("idle_residency_wfi_percent", 100.0),
            ("idle_requested_cpu_sleep", 0.0),
            ("idle_reached_cpu_sleep", 0.0),
            ("idle_residency_cpu_sleep_percent", 0.0),
            ("idle_requested_cluster_sleep", 0.0),
            ("idle_reached_cluster_sleep", 0.0),
            ("idle_residency_cluster_sleep_percent", 0.0),
        ];
        assert_eq!(
            results,
            expected.map(|(name, value)| (name.to_string(), value))
        );
    });
}

#[test]
fn the_tick_stops_and_stays_stopped_until_a_task_runs() {
    at_boot("juno-r0", Governor::Performance, |sim| {
        let cpu = BIG[0];
        assert_ne!(
            sim.cpus[cpu].tick_at, NEVER,
            "a governor without a past keeps the tick"
        );
        // The tick wakes it until the governor has seen eight periods. It takes all of them for
        // long.
        for _ in 0..8 {
            assert_ne!(sim.cpus[cpu].tick_at, NEVER);
            let at = sim.cpus[cpu].tick_at;
            sim.now = at;
            sim.now = sim.idle_leave(cpu, at);
            sim.idle_left(cpu, true);
            sim.cpus[cpu].tick_at = sim.next_tick();
            sim.idle_call(cpu, 0);
        }
        assert_eq!(sim.cpus[cpu].tick_at, NEVER);
        let calls = sim.idle[cpu].idle_calls;

        // An interrupt that wakes no task: it idles on without a tick.
        execute(sim, cpu, sim.now + 10 * MS);
        sim.idle_call(cpu, 0);
        assert_eq!(sim.cpus[cpu].tick_at, NEVER);
        assert_eq!(sim.idle[cpu].idle_calls, calls + 1);
    });
}

/// 3.9 stops the tick whenever a CPU goes idle. At first its menu knows only periods of 0, takes
/// the shallowest state and sets a timer for twice 60 us. At each expiry the periods are longer,
/// until the deepest state pays off.
#[test]
fn idle_cpus_of_3_9_have_no_tick_but_a_timer() {
    at_boot_of("linux-3.9", "juno-r0", Governor::Performance, |sim| {
        for (cpu, idle) in sim.cpus.iter().zip(sim.idle.iter()) {
            assert_eq!(cpu.tick_at, NEVER);
            assert_eq!((idle.state, cpu.ask_again_at), (0, 120 * US));
        }
        sim.until(100 * MS);
        assert_eq!(sim.stats.ticks.seen(), 0);
        for cpu in 0..sim.cpus.len() {
            let idle = &sim.idle[cpu];
            assert_eq!(idle.state as usize, CLUSTER_SLEEP, "CPU {cpu}");
            assert_eq!(sim.cpus[cpu].ask_again_at, NEVER, "nothing is deeper");
            let asked: u64 = idle.residency.iter().map(|spent| spent.requested).sum();
            assert!((8..60).contains(&asked), "asked {asked} times");
            // An interrupt that wakes no task: still no tick.
            let now = sim.now;
            execute(sim, cpu, now);
            sim.idle_call(cpu, 0);
            assert_eq!(sim.cpus[cpu].tick_at, NEVER);
            sim.now = now;
        }
    });
}

#[test]
fn the_view_tells_the_latency_that_cpuidle_plans_with() {
    big_cluster_awake(|sim| {
        let view = |sim: &Sim| sim.core.cpus[BIG[0]].exit_latency;
        assert_eq!(view(sim), NONE, "unknown while it executes");
        sleep(sim, BIG[0], CLUSTER_SLEEP, MS);
        let planned = sim.idle_states(BIG[0])[CLUSTER_SLEEP].wakeup_ns;
        assert_eq!(u64::from(view(sim)), planned);
    });
}

#[test]
fn polling_ends_when_the_next_state_would_have_paid_off() {
    at_boot("epyc-9654-2s", Governor::Performance, |sim| {
        execute(sim, 0, MS);
        let now = sim.now;
        sleep(sim, 0, 0, now);
        assert_eq!(sim.cpus[0].ask_again_at, now + 2 * US);
        assert!(sim.idle_polling(0));
        assert_eq!(wake(sim, 0, now + US), now + US, "no latency");
        assert_eq!(sim.cpus[0].ask_again_at, NEVER);
        sleep(sim, 0, 1, now + 2 * US);
        assert!(sim.idle_polling(0), "mwait watches need_resched");
        assert_eq!(sim.cpus[0].ask_again_at, NEVER);
    });
}

#[test]
fn a_cpu_costs_a_few_cache_lines() {
    assert!(size_of::<CpuIdle>() < 256, "{}", size_of::<CpuIdle>());
}

/// A machine with one idle state: in the kernels with this rule, the tick goes on until it has
/// found nothing to do once.
#[test]
fn a_lone_state_keeps_the_tick_at_first() {
    use crate::testbed::{begin_on, machine, task, workload};
    use alight_workload::program::Op;
    for (base, ticks) in [
        ("linux-5.5", 0),
        ("linux-5.10", 1),
        ("linux-5.15", 1),
        ("linux-6.1", 1),
        ("linux-6.5", 0),
        ("linux-6.6", 0),
        ("linux-6.8", 1),
        ("linux-6.12", 1),
        ("linux-6.18", 0),
        ("linux-7.0", 1),
        ("linux-7.2", 1),
        ("linux-7.3", 1),
    ] {
        let tasks = workload(&[task(100 * MS, &[Op::Run { ns: 10 * US }]).on(&[0])]);
        begin_on(base, &machine(1, 1), &tasks, |sim| {
            sim.until(99 * MS);
            let before = sim.stats.ticks.seen();
            sim.until(300 * MS);
            assert_eq!(sim.stats.ticks.seen() - before, ticks, "{base}");
        });
    }
}
