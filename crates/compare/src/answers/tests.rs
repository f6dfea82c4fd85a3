// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::fake;
use alight_policy::STEPS;

const COMPARE: &str = "alight compare -m board linux-6.5 linux-6.5+bias-prev";

fn index(name: &str) -> u32 {
    STEPS.iter().position(|(n, _)| *n == name).expect(name) as u32
}

/// `count` decisions, each of whose searches looked at one CPU; chosen busy or by the base idle.
fn sums(count: u64, idle: u64) -> Sums {
    let side = |looked_at, idle, moved| SideSums {
        looked_at,
        cost_ns: 150 * looked_at,
        idle,
        exit_latency_ns: 80_000 * idle,
        capacity: 512 * count,
        moved,
        ..SideSums::default()
    };
    Sums {
        count,
        new_tasks: 0,
        chosen: side(count, 0, 0),
        base: side(5 * count, idle, idle),
        latency: Latency {
            samples: count,
            mean_us: 12.34,
            p50_us: 7.0,
            p99_us: 1234.5,
        },
    }
}

/// bias-prev answered three times of four, twice with another CPU than the base would have.
fn answers() -> Answers {
    let row = |step: &str, all, other| Row {
        step: index(step),
        all: sums(all, other),
        other: sums(other, other),
        instead_of: vec![],
        because: vec![],
    };
    let mut bias = row("bias_prev", 3, 2);
    bias.instead_of = vec![(index("target_idle"), 1), (index("llc_scan"), 1)];
    bias.because = vec![("bias-prev", 2)];
    let total = Row {
        instead_of: bias.instead_of.clone(),
        because: bias.because.clone(),
        ..row("none", 4, 2)
    };
    Answers {
        rows: vec![row("llc_scan", 1, 0), bias],
        total,
        still_queued: 7,
        other_class: 0,
    }
}

fn report(scheduler: &str, answers: &Answers) -> (String, serde_json::Value) {
    let asked = Asked {
        conditions: &fake::conditions(),
        scheduler: &Scheduler::parse(scheduler).expect("a name"),
        task: None,
        at_ns: Some(20_000_000),
        interrupted: true,
        compare: COMPARE,
    };
    let json = serde_json::from_str(&json(&asked, answers)).expect("JSON");
    (table(&asked, answers), json)
}

#[test]
fn rows_stand_under_whose_they_are_and_beside_the_base() {
    let (text, json) = report("linux-6.5+bias-prev", &answers());
    let expected = "
the steps that answered
  of         step       count   share  base differs         CPUs seen  search ns  ran us  p50   p99
  bias-prev  bias_prev      3   75.0%             2  66.7%  1.0 | 5.0  150 | 750    12.3  7.0  1234
  linux-6.5  llc_scan       1   25.0%             0   0.0%  1.0 | 5.0  150 | 750    12.3  7.0  1234
             all            4  100.0%             2  50.0%  1.0 | 5.0  150 | 750    12.3  7.0  1234
pairs: chosen | linux-6.5 in the same state; all searches took 600 ns | 3 us; ran: time from the wakeup until the task ran

decisions for which the base would have chosen another CPU: the chosen CPU | the CPU of linux-6.5, at that instant
  step       count     idle %   exit us   capacity    moved %  ran us   p99  the base's steps
  bias_prev      2  0.0 | 100  - | 80.0  512 | 512  0.0 | 100    12.3  1234  target_idle 50.0%, llc_scan 50.0%
  all            2  0.0 | 100  - | 80.0  512 | 512  0.0 | 100    12.3  1234  target_idle 50.0%, llc_scan 50.0%
";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("4 of all tasks from 20 ms on, INTERRUPTED: 4 wakeups, 0 new tasks; 7 more")
    );
    assert!(text.ends_with(&format!("\n  {COMPARE}\n")), "{text}");
    assert_eq!(json["schema"], SCHEMA);
    let row = &json["rows"][0];
    assert_eq!(
        (&row["of"], &row["step"]),
        (&"bias-prev".into(), &"bias_prev".into())
    );
    assert_eq!(row["other_cpu"]["base"]["exit_latency_ns"], 80_000.0);
    assert_eq!(row["instead_of"]["target_idle"], 1);
    assert_eq!(json["total"]["all"]["count"], 4);
}

#[test]
fn of_several_features_those_that_made_the_difference_are_named() {
    let (text, json) = report("linux-6.5+pack+bias-prev", &answers());
    for says in [
        "because of  the base's steps",
        "bias-prev 100.0%  target_idle 50.0%",
    ] {
        assert!(text.contains(says), "no '{says}' in\n{text}");
    }
    assert_eq!(json["rows"][0]["because"]["bias-prev"], 2);
}

#[test]
fn a_base_is_not_held_against_itself() {
    let mut answers = answers();
    answers.rows.pop();
    let (text, json) = report("linux-6.5", &answers);
    assert!(!text.contains("base") && !text.contains('|'), "{text}");
    assert!(json["compare"].is_null());
}

#[test]
fn what_has_no_row_of_its_own_is_told() {
    for (scheduler, says) in [
        ("linux-5.4+sched-idle", "sched-idle has no steps of its own"),
        (
            "linux-6.5+sched-idle",
            "sched-idle is part of linux-6.5 (since 5.6)",
        ),
    ] {
        let (text, _) = report(scheduler, &answers());
        assert!(text.contains(says), "{text}");
    }
}
