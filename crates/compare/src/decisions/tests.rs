// SPDX-License-Identifier: GPL-2.0-only
//! How decisions read, and what their documents hold.

use super::*;
use crate::fake;
use alight_policy::Answer;

fn index(names: &[&str], name: &str) -> u32 {
    names.iter().position(|n| *n == name).expect("a known name") as u32
}

fn step_index(name: &str) -> u32 {
    index(&STEPS.map(|(name, _)| name), name)
}

fn note(cpu: u32, step: &str, verdict: &str, value: u32) -> Note {
    Note {
        cpu,
        step: step_index(step),
        verdict: index(&VERDICTS, verdict),
        value,
    }
}

fn choice(cpu: u32, step: &str, running: Option<&str>) -> Choice {
    let idle = running.is_none();
    Choice {
        answer: Answer {
            cpu,
            target: 3,
            step: step_index(step),
            affine: index(&AFFINE.map(|(name, _)| name), "weight_prev"),
            found_idle: idle.into(),
            looked_near: 1,
            looked_far: 2,
            ..Answer::default()
        },
        cost_ns: 430,
        cpu: CpuState {
            online: true,
            running: running.map(str::to_owned),
            nr_running: if idle { 0 } else { 2 },
            sched_idle: false,
            idle_state: idle.then(|| ("cpu-sleep".to_owned(), 300_000)),
            capacity: if idle { 1024 } else { 400 },
            capacity_orig: if idle { 1024 } else { 446 },
            util: Some(17),
            from_prev: if idle { Distance::Node } else { Distance::Same },
            from_waker: Distance::Cache,
        },
    }
}

fn scheduler() -> Scheduler {
    Scheduler::parse("linux-5.5+asym-capacity").expect("a name")
}

fn decision(cpu: u32, step: &str) -> Decision {
    Decision {
        time_ns: 1_250_000_001,
        comm: "sysbench".to_owned(),
        this_cpu: 0,
        prev_cpu: 3,
        task_util_est: 600,
        uclamp: (0, 1024),
        chosen: choice(cpu, step, None),
        base: choice(3, "target_busy", Some("hackbench")),
        because: vec!["asym-capacity"],
        latency_ns: Some(12_500),
        notes: vec![
            note(3, "asym_fits", "too small", 446),
            note(4, "asym_fits", "busy", 1024),
            note(1, "asym_fits", "taken", 1024),
        ],
    }
}

#[test]
fn a_decision_reads_from_the_question_to_the_answer() {
    let table = table(
        &fake::conditions(),
        &scheduler(),
        "sysbench",
        &[decision(1, "asym_fits")],
    );
    let expected = "\
1.250000001 s: sysbench is woken by CPU 0
  task    util_est 600, uclamp 0 to 1024, ran last on CPU 3
  search  begins at CPU 3: weight_prev, the previous CPU is less loaded
  candidate  looked at by  found      compared
  CPU 3      asym_fits     too small  capacity 446
  CPU 4      asym_fits     busy       capacity 1024
  CPU 1      asym_fits     taken      capacity 1024
  answer     CPU 1, idle: asym_fits, asym-capacity: an idle CPU that is big enough
  cost       430 ns: CPUs looked at: 1 in the waking CPU's cache, 2 elsewhere
  linux-5.5  CPU 3, busy: target_busy, no idle CPU was found: the target
  cost       430 ns: CPUs looked at: 1 in the waking CPU's cache, 2 elsewhere
  ran        12.50 us after the wakeup
  CPU 1      idle in cpu-sleep, exit latency 300 us; capacity 1024, util 17; outside of the previous CPU's cache, in the waking CPU's cache
  CPU 3      runs hackbench and has 1 more; capacity 400 left of 446, util 17; the previous CPU, in the waking CPU's cache
";
    assert!(table.ends_with(expected), "{table}");
}

#[test]
fn what_a_cpu_was_reads_at_a_glance() {
    let plain = choice(3, "target_busy", Some("hog")).cpu;
    let idle = choice(1, "llc_scan", None).cpu;
    let table = [
        (
            CpuState {
                nr_running: 1,
                ..plain.clone()
            },
            "runs hog; ",
        ),
        (
            CpuState {
                nr_running: 3,
                ..plain.clone()
            },
            "runs hog and has 2 more; ",
        ),
        (
            CpuState {
                sched_idle: true,
                ..plain.clone()
            },
            "1 more, SCHED_IDLE only; ",
        ),
        (
            CpuState {
                util: None,
                ..plain.clone()
            },
            "400 left of 446; the previous CPU",
        ),
        (
            CpuState {
                idle_state: None,
                ..idle.clone()
            },
            "idle, in no idle state; capacity 1024",
        ),
        (
            CpuState {
                nr_running: 1,
                ..idle.clone()
            },
            "about to run a task queued before; ",
        ),
        (
            CpuState {
                online: false,
                ..idle.clone()
            },
            "offline; ",
        ),
        (
            CpuState {
                from_waker: Distance::Same,
                ..plain
            },
            "; the previous and waking CPU",
        ),
    ];
    for (cpu, says) in table {
        let text = state(&cpu);
        assert!(text.contains(says), "no '{says}' in '{text}'");
    }
}

#[test]
fn of_several_features_those_that_made_the_difference_are_named() {
    let both = Scheduler::parse("linux-5.5+asym-capacity+bias-prev").expect("a name");
    let mut one = decision(1, "asym_fits");
    let text = |one: &Decision| result(&both, one);
    assert!(text(&one).contains("  because of  asym-capacity\n"));
    one.because.clear();
    assert!(text(&one).contains("  because of  no single feature"));
    one.base = one.chosen.clone();
    assert!(!text(&one).contains("because of"));
}

#[test]
fn many_decisions_end_in_a_histogram_of_steps() {
    let decisions = [
        decision(1, "asym_fits"),
        decision(2, "asym_biggest"),
        decision(1, "asym_fits"),
    ];
    let table = table(&fake::conditions(), &scheduler(), "sysbench", &decisions);
    let expected = format!(
        "the steps that answered\n  asym_fits     2  66.7%  {}\n  asym_biggest  1  33.3%  {}\n",
        "#".repeat(40),
        "#".repeat(20)
    );
    assert!(table.ends_with(&expected), "{table}");
}

#[test]
fn what_was_compared_is_named() {
    for (note, expected) in [
        (note(0, "target_idle", "busy", 2), Some(("nr_running", 2))),
        (
            note(0, "slow_least_loaded", "busy", 9),
            Some(("load_avg", 9)),
        ),
        (
            note(0, "slow_idle", "kept in reserve", 40_000),
            Some(("exit_latency_ns", 40_000)),
        ),
        (note(0, "slow_idle", "kept in reserve", NONE), None),
        (note(0, "llc_scan", "not allowed", 0), None),
    ] {
        assert_eq!(compared(&note), expected);
    }
}

#[test]
fn the_json_holds_every_candidate() {
    let json = json(
        &fake::conditions(),
        &scheduler(),
        "sysbench",
        &[decision(1, "asym_fits")],
    );
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], "alight.explain/1");
    let decision = &value["decisions"][0];
    assert_eq!(decision["cpu"], 1);
    assert_eq!(decision["affine"], "weight_prev");
    assert_eq!(decision["candidates"][0]["verdict"], "too small");
    assert_eq!(decision["candidates"][0]["compared"], "capacity");
    assert_eq!(value["steps"]["asym_fits"], 1);
    assert_eq!(decision["of"], "asym-capacity");
    assert_eq!(decision["base"]["of"], "linux-5.5");
    assert_eq!(decision["state"]["exit_latency_ns"], 300_000);
    assert_eq!(decision["base"]["state"]["running"], "hackbench");
}
