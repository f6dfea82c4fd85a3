// SPDX-License-Identifier: GPL-2.0-only
//! Which findings lead to which verdict.

use super::*;
use crate::quantity::{Measurement, Quantity, rule_of};

fn health() -> Health {
    Health {
        sleeps: 1000,
        by_tasks: 600,
        by_timers: 400,
        cpu_ns: 1_000_000,
        ..Health::default()
    }
}

/// A check of one quantity: wakeups a second of the kernel, 1000, and of the model.
fn check(model: f64) -> Check {
    let figure = |value| {
        Some(Measurement {
            value,
            samples: 1000,
        })
    };
    let rule = rule_of("wakeups_per_s");
    Check {
        scheduler: "linux-6.1".to_owned(),
        other_rules: true,
        quantities: vec![Quantity::judge(
            rule,
            None,
            &[figure(1000.0)],
            &[figure(model)],
        )],
        groups: vec![],
    }
}

/// What the recording is like, its health, its checks, the verdict, and a part of the reason.
type Case = (
    &'static str,
    Health,
    Check,
    Vec<Check>,
    Standing,
    &'static str,
);

#[test]
fn verdicts() {
    let good = || check(1001.0);
    let cases: Vec<Case> = vec![
        (
            "agrees with itself",
            health(),
            good(),
            vec![],
            Standing::SelfChecked,
            "no recording under another kernel",
        ),
        (
            "predicts another",
            health(),
            good(),
            vec![good()],
            Standing::Trusted,
            "",
        ),
        (
            "predicts a run under the same rules alone",
            health(),
            good(),
            vec![Check {
                other_rules: false,
                ..good()
            }],
            Standing::SelfChecked,
            "no recording under another kernel",
        ),
        (
            "does not predict another",
            health(),
            good(),
            vec![check(500.0)],
            Standing::SelfChecked,
            "under linux-6.1 the kernel did something else: 1 of 1 quantities disagree \
             (wakeups_per_s)",
        ),
        (
            "is not what was recorded",
            health(),
            check(500.0),
            vec![good()],
            Standing::NotUsable,
            "the replay is not what was recorded",
        ),
        (
            "lacks wakings",
            Health {
                unexplained: 110,
                ..health()
            },
            good(),
            vec![good()],
            Standing::NotUsable,
            "11 % of sleeps end without a waking",
        ),
        (
            "took timers for tasks",
            Health {
                suspect: 300,
                ..health()
            },
            good(),
            vec![good()],
            Standing::NotUsable,
            "30 % of sleeps are ended at regular times",
        ),
        (
            "has costs above its time",
            Health {
                clipped_ns: 200_000,
                ..health()
            },
            good(),
            vec![],
            Standing::NotUsable,
            "measure the machine",
        ),
        (
            "does not know contexts",
            Health {
                lacks: [Capability::Context].into(),
                ..health()
            },
            good(),
            vec![good()],
            Standing::SelfChecked,
            "",
        ),
    ];
    for (name, health, own, crosses, standing, reason) in cases {
        let verdict = Verdict::of(&health, &own, &crosses);
        assert_eq!(verdict.standing, standing, "{name}: {}", verdict.line());
        assert!(
            verdict.line().contains(reason),
            "{name}: {}",
            verdict.line()
        );
    }
}

#[test]
fn what_the_source_does_not_tell_is_a_caution() {
    let health = Health {
        lacks: [Capability::Yields].into(),
        raced: 200,
        windows: 3,
        ..health()
    };
    let verdict = Verdict::of(&health, &check(1000.0), &[]);
    let all = verdict.cautions.join("\n");
    for part in ["sched_yield()", "34 % of wakings", "3 windows"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}
