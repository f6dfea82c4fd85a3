// SPDX-License-Identifier: GPL-2.0-only
//! Tests of balancing on small machines: given the queues, which tasks move.

use crate::balance::{LoadBalance, NewidleBalance};
mod by_version;
mod from_7_3;
mod judged;
mod plainly;

use super::contest::{GroupStats, Kind};
use super::groups::Scope;
use super::imbalance::Migrate;
use super::*;
use crate::dispatch::Sim;
use crate::face::api::Scenario;
use crate::kernel::BALANCE;
use crate::world::Output;
use crate::world::state::Life;
use alight_machine::Machine;
use alight_workload::program::{
    Attributes, Calibration, Instruments, Op, Program, TaskSpec, Workload,
};

pub(super) const MS: u64 = 1_000_000;
/// Tasks of a test, all of which want to run for ever; none has started.
const TASKS: usize = 40;

fn hogs() -> Workload {
    let task = |i: usize| TaskSpec {
        comm: format!("hog{i}"),
        program: 0,
        attributes: Attributes::default(),
        start_ns: Some(1000 * MS),
        process: 0,
        working_set_bytes: Some(0),
        begins: None,
    };
    Workload {
        name: "hogs".into(),
        tasks: (0..TASKS).map(task).collect(),
        programs: vec![Program {
            ops: vec![Op::Run { ns: 10_000 * MS }],
        }],
        attributes: vec![],
        deals: vec![],
        lateness: vec![],
        blocks: None,
        repeats: None,
        channels: vec![],
        barriers: vec![],
        mutexes: 0,
        conditions: 0,
        semaphores: 0,
        counters: 0,
        marks: 0,
        logs: 0,
        names: Default::default(),
        histograms: vec![],
        instruments: Instruments::default(),
        measures: vec![],
        report: None,
        duration_ns: None,
        background: false,
        calibration: Calibration::Biggest,
        dma_latency_us: None,
        missing_limit: None,
        left_out: vec![],
    }
}

/// Runs `test` on a machine whose CPUs are all idle, under Linux 5.5.
fn on(machine: &str, test: impl FnOnce(&mut Sim)) {
    under("linux-5.5", machine, test);
}

/// The same under another base.
pub(super) fn under(base: &str, machine: &str, test: impl FnOnce(&mut Sim)) {
    let machine = Machine::load(machine).unwrap_or_else(|error| panic!("{error}"));
    let scheduler = alight_policy::Scheduler::parse(base).expect("a base");
    let workloads = [hogs()];
    let scenario = Scenario {
        governor: Some(alight_machine::Governor::Performance),
        duration_ns: Some(900 * MS),
        check: true,
        ..Scenario::new(&machine, &workloads, &scheduler)
    };
    let out = Output {
        sink: None,
        error: None,
        waker: alight_trace::Waker::Task,
    };
    match crate::setup::build::build(&scenario, out) {
        Ok((mut sim, _)) => {
            // Past the first tick's events, so that no task counts as hot.
            advance(&mut sim, 5 * MS);
            test(&mut sim);
        }
        Err(error) => panic!("{error}"),
    }
}

/// Lets time pass.
pub(super) fn advance(sim: &mut Sim, ns: u64) {
    let until = sim.now + ns;
    loop {
        let (time, slot) = sim.queue.first();
        if time > until {
            break;
        }
        sim.now = time;
        match slot.checked_sub(sim.cpus.len()) {
            None => sim.cpu_event(slot),
            Some(domain) => sim.cpufreq_event(domain),
        }
        sim.check_invariants()
            .unwrap_or_else(|error| panic!("{error}"));
    }
    sim.now = until;
}

/// Puts tasks on the queue of `cpu` and kicks it; it has not begun to run them.
pub(super) fn put(sim: &mut Sim, cpu: usize, tasks: std::ops::Range<u32>) {
    let from = (cpu + 1) % sim.cpus.len();
    for task in tasks {
        let home = sim.tasks[task as usize].cpu as usize;
        let world = sim.world();
        world.cpus[home].timers.remove(&mut world.nodes, task);
        sim.views[task as usize].prev_cpu = cpu as u32;
        sim.tasks[task as usize].life = Life::Runnable;
        sim.enqueue_new(cpu, task, None);
    }
    sim.kick(from, cpu);
}

pub(super) fn running(sim: &Sim) -> Vec<u32> {
    sim.core.cpus.iter().map(|view| view.nr_running).collect()
}

/// Tasks pulled at each domain level of `cpu`.
pub(super) fn attempt(sim: &mut Sim, cpu: usize, level: usize, idle: Idle) -> u32 {
    let scope = Scope::new(cpu, level, idle, sim.jiffies());
    sim.load_balance(cpu, scope, &mut true)
}

pub(super) fn bind(sim: &mut Sim, tasks: std::ops::Range<u32>, cpus: &[u32]) {
    let mask = cpus.iter().copied().collect();
    let masks: Vec<_> = sim.masks.iter().copied().chain([mask]).collect();
    // SAFETY: one more than before.
    sim.masks = unsafe { crate::base::table::Table::new(masks) };
    for task in tasks {
        sim.tasks[task as usize].affinity = sim.masks.len() as u32 - 1;
    }
}

#[test]
fn groups_are_classified_by_tasks_then_room() {
    let group = |nr_running, util, misfit_load| GroupStats {
        capacity: 4096,
        weight: 4,
        nr_running,
        h_nr_running: nr_running,
        util,
        misfit_load,
        ..GroupStats::LEAST
    };
    for (stats, imbalance, kind, because) in [
        (
            group(3, 4096, 0),
            false,
            Kind::HasSpare,
            "a CPU has no task",
        ),
        (
            group(4, 3000, 0),
            false,
            Kind::HasSpare,
            "each has one, and time left",
        ),
        (
            group(4, 3501, 0),
            false,
            Kind::FullyBusy,
            "117 % of the use does not fit",
        ),
        (
            group(5, 3000, 0),
            false,
            Kind::HasSpare,
            "more tasks, but light ones",
        ),
        (
            group(5, 3501, 0),
            false,
            Kind::Overloaded,
            "more tasks than there is time for",
        ),
        (group(5, 3501, 9), true, Kind::Overloaded, "before all else"),
        (
            group(4, 3501, 9),
            true,
            Kind::Imbalanced,
            "affinity kept a level below uneven",
        ),
        (
            group(1, 900, 9),
            false,
            Kind::Misfit,
            "a task too big for its CPU",
        ),
    ] {
        assert_eq!(stats.classify(117, imbalance, &BALANCE), kind, "{because}");
    }
}

#[test]
fn a_newly_idle_cpu_takes_one_waiting_task_of_its_cache() {
    on("hikey620", |sim| {
        put(sim, 0, 0..4);
        let coldest = sim.cpus[0].lru.tail;
        assert!(sim.balance_newidle(2));
        assert_eq!(running(sim), [3, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(
            sim.tasks[coldest as usize].cpu, 2,
            "the one that waits longest"
        );
        assert_eq!(sim.core.cpus[2].idle_stamp, 0, "it does not go idle");
        assert!(sim.cpus[2].steal > 0, "the search took time");
        assert!(sim.balance[2].levels[0].max_newidle_lb_cost > 0);
    });
}

/// An attempt is counted for each searched domain, and the time of everything behind the gate.
#[test]
fn newidle_attempts_and_failures_and_their_time_are_counted() {
    type Prepare = fn(&mut Sim);
    // Why; tasks on CPU 0; before; attempts, failures and tasks pulled; whether it takes time.
    type Case = (
        &'static str,
        std::ops::Range<u32>,
        Prepare,
        (u64, u64, u64),
        bool,
    );
    let cases: [Case; 4] = [
        ("one is found in the cache", 0..4, |_| (), (1, 0, 1), true),
        (
            "neither in the cache nor beyond is anything to be found",
            0..1,
            |sim| sim.occupancy.overload = true,
            (2, 2, 0),
            true,
        ),
        (
            "the gate is shut: idle phases are short",
            0..4,
            |sim| {
                sim.core.cpus[2].avg_idle = 0;
                sim.balance[2].levels[0].max_newidle_lb_cost = 1;
            },
            (0, 0, 0),
            false,
        ),
        (
            "behind the gate, the first domain costs too much",
            0..4,
            |sim| sim.balance[2].levels[0].max_newidle_lb_cost = MS * 1000,
            (0, 0, 0),
            true,
        ),
    ];
    for base in ["linux-5.5", "linux-6.5"] {
        for (because, tasks, prepare, expected, takes_time) in cases.clone() {
            under(base, "hikey620", |sim| {
                put(sim, 0, tasks);
                prepare(sim);
                sim.balance_newidle(2);
                let found = &sim.counts;
                let [attempts, failures, pulled] = [
                    found.newidle_attempts,
                    found.newidle_failures,
                    found.newidle_pulled,
                ]
                .map(|count| count.seen());
                let counts = (attempts, failures, pulled);
                assert_eq!(counts, expected, "{base}: {because}");
                let ns = sim.cpus[2].steal;
                sim.now += ns;
                sim.search_ends(2);
                assert_eq!(sim.counts.newidle_ns.seen(), ns, "{base}: {because}");
                // The gate of 6.5 looks at that cost, too.
                let takes_time = takes_time && (base == "linux-5.5" || expected.0 != 0);
                assert_eq!(ns != 0, takes_time, "{base}: {because}");
            });
        }
    }
}

#[test]
fn newidle_is_not_worth_it() {
    // Idle phases are short.
    on("hikey620", |sim| {
        put(sim, 0, 0..4);
        sim.core.cpus[2].avg_idle = MIGRATION_COST - 1;
        assert!(!sim.balance_newidle(2));
        assert_eq!(sim.core.cpus[2].idle_stamp, sim.core.cpus[2].clock);
    });
    // No CPU ever had two tasks.
    on("hikey620", |sim| {
        put(sim, 0, 0..1);
        let before = sim.counts.attempts.seen();
        assert!(!sim.balance_newidle(2));
        assert_eq!(sim.counts.attempts.seen(), before);
    });
    // The search took longer than this CPU idles.
    on("hikey620", |sim| {
        put(sim, 0, 0..4);
        sim.balance[2].levels[0].max_newidle_lb_cost = sim.core.cpus[2].avg_idle + 1;
        let before = sim.counts.attempts.seen();
        assert!(!sim.balance_newidle(2));
        assert_eq!(sim.counts.attempts.seen(), before);
    });
}

#[test]
fn a_hot_task_stays_until_two_attempts_failed() {
    on("hikey620", |sim| {
        put(sim, 0, 0..2);
        let world = sim.world();
        for task in world.tasks.iter_mut().take(2) {
            task.last_run = world.now - MIGRATION_COST + 1;
        }
        for failed in 1..=2 {
            assert_eq!(attempt(sim, 1, 0, Idle::Yes), 0);
            assert_eq!(sim.balance[1].levels[0].nr_balance_failed, failed);
        }
        assert_eq!(
            attempt(sim, 1, 0, Idle::Yes),
            1,
            "cache_nice_tries of a cache domain is 1"
        );
        assert_eq!(sim.balance[1].levels[0].nr_balance_failed, 0);
    });
}

#[test]
fn pinned_tasks_make_the_level_above_uneven() {
    on("hikey620", |sim| {
        bind(sim, 0..3, &[0]);
        put(sim, 0, 0..3);
        let parent = sim.core.places[1].group[1] as usize;
        assert_eq!(attempt(sim, 1, 0, Idle::Yes), 0);
        assert_eq!(sim.core.groups[parent].imbalance, 1);
        assert_eq!(running(sim)[0], 3);

        // When they are free again they spread, and the next attempt that finds nothing to do
        // clears the mark. CPU 2 does: of two CPUs without idle time left it meets
        // the one with a single task first (5.6 compares tasks then).
        let all: Vec<u32> = (0..8).collect();
        bind(sim, 0..3, &all);
        let pulled = attempt(sim, 1, 0, Idle::Yes);
        assert_eq!(pulled, 2, "new tasks, half a CPU each");
        assert_eq!(sim.core.groups[parent].imbalance, 1);
        assert_eq!(attempt(sim, 2, 0, Idle::Yes), 0);
        assert_eq!(sim.core.groups[parent].imbalance, 0);
    });
}

#[test]
fn a_pinned_task_goes_to_another_cpu_of_the_group() {
    on("hikey620", |sim| {
        bind(sim, 0..1, &[0]);
        bind(sim, 1..6, &[0, 6]);
        put(sim, 0, 0..6);
        sim.core.cpus[0].cfs.util_avg = 1024;
        sim.core.cpus[0].util_est_enqueued = 1024;
        sim.signals_changed(0);
        assert!(attempt(sim, 4, 1, Idle::Yes) > 0);
        let now = running(sim);
        assert_eq!((now[4], now[0] + now[6]), (0, 6), "{now:?}");
        assert!(now[6] > 0, "{now:?}");
    });
}

#[test]
fn intervals_grow_while_balanced_and_shrink_when_not() {
    on("hikey620", |sim| {
        let interval = |sim: &Sim| sim.balance[1].levels[0].balance_interval;
        sim.levels(1, 0).balance_interval = 4; // ms: the weight of the domain
        attempt(sim, 1, 0, Idle::Yes);
        assert_eq!(interval(sim), 8);
        attempt(sim, 1, 0, Idle::Yes);
        assert_eq!(interval(sim), 8, "at most twice the weight");
        attempt(sim, 1, 0, Idle::Newly);
        assert_eq!(interval(sim), 8, "newidle leaves it alone");
        put(sim, 0, 0..4);
        attempt(sim, 1, 0, Idle::Yes);
        assert_eq!(interval(sim), 4);
        let jiffies = |busy| sim.balance_interval(1, 0, busy);
        let tick_ms = sim.tunables.tick / MS;
        assert_eq!(jiffies(false), 4u64.div_ceil(tick_ms));
        assert_eq!(jiffies(true), 128u64.div_ceil(tick_ms), "busy: 32 times");
    });
}

#[test]
fn only_the_first_idle_cpu_of_a_group_balances_for_it() {
    on("hikey620", |sim| {
        put(sim, 4, 0..1);
        for (cpu, balances) in [(0, true), (1, false), (4, false), (5, true), (6, false)] {
            let mut go_on = true;
            let idle = if cpu == 4 { Idle::No } else { Idle::Yes };
            let scope = Scope::new(cpu, 1, idle, sim.jiffies());
            sim.load_balance(cpu, scope, &mut go_on);
            assert_eq!(go_on, balances, "CPU {cpu}");
        }
    });
}

#[test]
fn idle_cpus_without_tick_are_served() {
    on("hikey620", |sim| {
        put(sim, 0, 0..8);
        // Up to a busy CPU's interval: a CPU that got work in a round makes the
        // next one late (until 5.8).
        advance(sim, 300 * MS);
        assert_eq!(running(sim), [1; 8], "one CPU each");
    });
}

#[test]
fn utilization_leads_past_the_queue_that_is_too_long() {
    // Since 5.11 a queue of one task is passed over.
    on("hikey620", |sim| {
        for (cpu, nr, util) in [(0, 1, 1024), (1, 2, 1000), (2, 1, 1000), (3, 1, 1000)] {
            pretend(sim, cpu, (nr, util, 1024, false));
        }
        let mut scope = Scope::new(4, 1, Idle::Yes, sim.jiffies());
        let source = sim
            .find_source(&mut scope)
            .map(|(cpu, imbalance)| (cpu, imbalance.what));
        assert_eq!(source, Some((0, Migrate::Util)));
        assert_eq!(attempt(sim, 4, 1, Idle::Yes), 0);
        assert_eq!(sim.balance[4].levels[1].nr_balance_failed, 1);
    });
}

#[test]
fn a_misfit_is_pushed_to_a_big_cpu() {
    on("juno-r0", |sim| {
        let (little, big) = (3, 1);
        put(sim, little, 0..1);
        assert!(sim.core.cpus[little].capacity < sim.core.cpus[big].capacity);
        advance(sim, 200 * MS);
        let cpu = sim.tasks[0].cpu as usize;
        assert_eq!(sim.core.cpus[cpu].capacity_orig, 1024, "runs on CPU {cpu}");
        assert_eq!(sim.counts.active.seen(), 1);
    });
}

#[test]
fn a_small_task_stays_on_a_small_cpu() {
    on("juno-r0", |sim| {
        put(sim, 3, 0..1);
        advance(sim, 3 * MS);
        assert_eq!(sim.cpus[3].curr, 0);
        sim.views[0].pelt.util_avg = 100;
        sim.views[0].util_est_enqueued = 100;
        sim.misfit_update(3);
        assert_eq!(sim.nohz.nr_misfit, 0, "100 * 1280 < 446 * 1024");
        sim.views[0].util_est_enqueued = 357;
        sim.misfit_update(3);
        assert_eq!(
            (sim.nohz.nr_misfit, sim.balance[3].misfit_load > 0),
            (1, true)
        );
    });
}

/// Tasks, utilization and load of a CPU, made up.
pub(super) fn pretend(sim: &mut Sim, cpu: usize, (nr, util, load, misfit): (u32, u32, u32, bool)) {
    let view = &mut sim.core.cpus[cpu];
    view.nr_running = nr;
    view.h_nr_running = nr;
    view.curr_is_idle = u8::from(nr == 0);
    view.cfs.util_avg = util.min(view.capacity_orig);
    view.cfs.load_avg = load;
    if nr >= 2 {
        sim.overloaded.insert(cpu as u32);
    }
    if misfit && nr != 0 {
        sim.set_misfit(cpu, load);
    }
    sim.rq_changed(cpu);
    sim.signals_changed(cpu);
}
