// SPDX-License-Identifier: GPL-2.0-only
//! What is observed of a run is what the run's own numbers say.

use super::*;
use crate::progress::Progress;
use alight_policy::Scheduler;
use alight_workload::Workload;

/// A run, and what is observed of it.
fn run_load(
    workloads: &[Workload],
    scheduler: &str,
    changes: &[alight_sim::Change],
) -> (alight_sim::Outcome, Observed) {
    let machine = Machine::load("juno-r0").expect("a built-in machine");
    let scheduler = Scheduler::parse(scheduler).expect("a scheduler");
    let scenario = Scenario {
        changes,
        ..Scenario::new(&machine, workloads, &scheduler)
    };
    let never = AtomicBool::new(false);
    let outcome = alight_sim::run(&scenario, None, &never).expect("a run");
    let part = Part {
        end_ns: outcome.end_ns,
        shown: 0..outcome.end_ns,
        most_slices: MOST_SLICES,
    };
    let run = observe(0, &scenario, part, &|_| (), &never);
    (outcome, run.expect("a run").expect("not cancelled"))
}

fn run_of(scheduler: &str, changes: &[alight_sim::Change]) -> (alight_sim::Outcome, Observed) {
    let loaded = Workload::from_command_line("hackbench -g 1 -l 20").expect("a tool");
    run_load(&[loaded.workload], scheduler, changes)
}

fn observed(schedulers: &[&str], time: Option<Range<u64>>, most: usize) -> Vec<Observed> {
    let machine = Machine::load("juno-r0").expect("a built-in machine");
    let loaded = Workload::from_command_line("hackbench -g 1 -l 20").expect("a tool");
    let workloads = [loaded.workload];
    let mut all = vec![];
    for name in schedulers {
        let scheduler = Scheduler::parse(name).expect("a scheduler");
        let scenario = Scenario::new(&machine, &workloads, &scheduler);
        let never = AtomicBool::new(false);
        let outcome = alight_sim::run(&scenario, None, &never).expect("a run");
        let part = Part {
            end_ns: outcome.end_ns,
            shown: time.clone().unwrap_or(0..outcome.end_ns),
            most_slices: most,
        };
        let run = observe(0, &scenario, part, &|_| (), &never);
        all.push(run.expect("a run").expect("not cancelled"));
    }
    cut::to_one_end(&mut all);
    all
}

#[test]
fn lanes_rise_and_no_cpu_does_two_things_at_once() {
    for run in observed(&["linux-5.5", "linux-5.5+asym-capacity"], None, MOST_SLICES) {
        assert_eq!(run.shown, 0..run.end_ns.min(run.shown.end));
        for lane in &run.lanes {
            let mut parts: Vec<Range<u64>> = (lane.slices.iter())
                .map(|slice| slice.start_ns..slice.end_ns)
                .chain(lane.idle.iter().map(|idle| idle.start_ns..idle.end_ns))
                .collect();
            parts.sort_by_key(|part| part.start);
            assert!(parts.iter().all(|part| part.start < part.end));
            assert!(parts.windows(2).all(|two| two[0].end <= two[1].start));
            assert!(!lane.clocks.is_empty());
        }
    }
}

/// Of the whole run: mean and 99th percentile of `run_delay_*`, the counts of wakeups and decisions.
#[test]
fn waits_and_placements_are_those_of_the_run() {
    let (outcome, run) = run_of("linux-5.5+asym-capacity", &[]);
    let number = |name: &str| {
        let found = outcome.mechanism.iter().find(|metric| metric.name == name);
        found.expect("a number of every run").value
    };
    let placed: u64 = run.placements.iter().map(|&count| u64::from(count)).sum();
    assert_eq!(placed, outcome.steps.iter().sum::<u64>());
    assert_eq!(placed, run.marks.len() as u64);
    assert_eq!(run.unasked as f64, number("wakeups_still_queued"));
    let us: Vec<f64> = (run.wakeup_latency_ns.iter())
        .map(|&ns| ns as f64 / 1e3)
        .collect();
    let mean = us.iter().sum::<f64>() / us.len() as f64;
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    assert!(near(mean, number("run_delay_mean_us")), "{mean}");
    let p99 = us[us.len() * 99 / 100];
    assert!(near(p99, number("run_delay_p99_us")), "{p99}");
    // Those of preempted tasks come to them.
    assert!(run.waits_ns.len() > run.wakeup_latency_ns.len());
    for mark in &run.marks {
        assert_eq!(mark.values.len(), columns(&["base".to_owned()]).len());
    }
}

/// What comes before `--count-from` is in the timelines alone.
#[test]
fn what_the_run_does_not_count_is_not_counted() {
    let later = [alight_sim::Change::count_from(10_000_000)];
    let (outcome, run) = run_of("linux-6.5", &later);
    let placed: u64 = run.placements.iter().map(|&count| u64::from(count)).sum();
    assert_eq!(placed, outcome.steps.iter().sum::<u64>());
    assert!(placed > 0 && run.marks.len() as u64 > placed);
}

/// Real-time tasks are placed without a question to the policy.
#[test]
fn wakeups_of_other_classes_are_told() {
    let loaded = Workload::from_command_line("cyclictest -p 80 -t 2 -q -D 1").expect("a tool");
    let (outcome, run) = run_load(&[loaded.workload], "linux-6.5", &[]);
    assert_eq!(outcome.steps.iter().sum::<u64>(), run.marks.len() as u64);
    assert!(run.unasked > 1000, "{}", run.unasked);
}

#[test]
fn times_that_are_not_there_are_refused_or_cut() {
    let machine = Machine::load("juno-r0").expect("a built-in machine");
    let scheduler = Scheduler::parse("linux-6.5").expect("a scheduler");
    let loaded = Workload::from_command_line("hackbench -g 1 -l 2").expect("a tool");
    let workloads = [loaded.workload];
    let scenario = Scenario::new(&machine, &workloads, &scheduler);
    let never = AtomicBool::new(false);
    let end_ns = alight_sim::run(&scenario, None, &never)
        .expect("a run")
        .end_ns;
    let of = |time| of_run(&scenario, end_ns, Some(time), &|_| (), &never);
    let late = of(end_ns..end_ns + 1).expect_err("it is behind the end");
    assert!(late.to_string().contains("begin earlier"), "{late}");
    let cut = of(0..10 * end_ns).expect("a run").expect("not cancelled");
    assert_eq!(cut.runs[0].shown, 0..end_ns);
}

/// The base itself answers as the base; a feature answers otherwise, and is held responsible.
#[test]
fn a_mark_tells_of_the_base_where_it_differs() {
    let differ = |run: &Observed| {
        let other = |mark: &&Mark| words::base_cpu(mark).is_some_and(|cpu| cpu != mark.cpu);
        run.marks.iter().filter(other).count()
    };
    let runs = observed(&["linux-5.5", "linux-5.5+asym-capacity"], None, MOST_SLICES);
    assert_eq!(differ(&runs[0]), 0);
    assert!(differ(&runs[1]) > 0);
}

#[test]
fn long_runs_are_cut_at_one_time() {
    let most = 200;
    let runs = observed(&["linux-5.5", "linux-5.5+asym-capacity"], None, most);
    assert_eq!(runs[0].shown, runs[1].shown);
    for run in &runs {
        let slices: usize = run.lanes.iter().map(|lane| lane.slices.len()).sum();
        assert!(slices <= most + run.lanes.len(), "{slices}");
        assert!(run.marks.iter().all(|mark| run.shown.contains(&mark.at_ns)));
        // Distributions are of the whole run.
        assert!(run.end_ns > run.shown.end);
        let counts = (run.wakeup_latency_ns.len(), run.marks.len(), slices);
        assert!(counts.0 > counts.1, "{counts:?}");
    }
}

#[test]
fn a_part_of_the_time_is_that_part() {
    let time = 10_000_000..12_000_000;
    let run = &observed(&["linux-5.5"], Some(time.clone()), MOST_SLICES)[0];
    assert_eq!(run.shown, time);
    let slices = || run.lanes.iter().flat_map(|lane| &lane.slices);
    assert!(slices().count() > 0);
    assert!(slices().all(|slice| slice.start_ns >= time.start && slice.end_ns <= time.end));
}

#[test]
fn a_cancelled_run_is_not_observed() {
    let machine = Machine::load("juno-r0").expect("a built-in machine");
    let loaded = Workload::from_command_line("hackbench -g 4 -l 100").expect("a tool");
    let workloads = [loaded.workload];
    let scheduler = Scheduler::parse("linux-6.5").expect("a scheduler");
    let scenario = Scenario::new(&machine, &workloads, &scheduler);
    let cancelled = AtomicBool::new(true);
    let observed = of_run(&scenario, 1_000_000, None, &|_| (), &cancelled);
    assert!(observed.expect("no failure").is_none());
}

#[test]
fn a_cpu_that_is_offline_is_in_no_idle_state() {
    let off = alight_sim::Action::Offline([2].into_iter().collect());
    let on = alight_sim::Action::Online([2].into_iter().collect());
    let changes = [(5_000_000, off), (15_000_000, on)]
        .map(|(at_ns, action)| alight_sim::Change { at_ns, action });
    let (_, mut run) = run_of("linux-6.5", &changes);
    cut::while_offline(&mut run, &changes);
    let within = |idle: &&Idle| idle.start_ns < 15_000_000 && idle.end_ns > 5_000_000;
    assert_eq!(run.lanes[2].idle.iter().find(within), None);
    assert!(run.lanes[1].idle.iter().any(|idle| within(&idle)));
}

/// Each run that is made for the page is told as those before it were.
#[test]
fn who_waits_for_a_page_hears_of_its_runs() {
    let machine = Machine::load("juno-r0").expect("a built-in machine");
    let loaded = Workload::from_command_line("hackbench -g 1 -l 500").expect("a tool");
    let workloads = [loaded.workload];
    let scheduler = Scheduler::parse("linux-6.5").expect("a scheduler");
    let runs = [(Scenario::new(&machine, &workloads, &scheduler), u64::MAX); 2];
    let heard = std::sync::Mutex::new(vec![]);
    let listener = |progress| heard.lock().unwrap().push(progress);
    let never = AtomicBool::new(false);
    observe_all(&machine, &runs, None, &listener, &never).expect("runs");
    let heard = heard.into_inner().unwrap();
    let ends = heard.iter().filter(|told| **told == Progress::Run);
    assert_eq!(ends.count(), runs.len());
    assert!(heard.len() > 3 * runs.len(), "also on the way: {heard:?}");
}
