// SPDX-License-Identifier: GPL-2.0-only
//! Facts become attributes.

use super::*;

#[test]
fn priorities_are_nice_values_or_real_time() {
    for (prio, policy, nice, rt) in [
        (120, None, None, None),
        (110, None, Some(-10), None),
        (139, None, Some(19), None),
        (98, Some(Policy::Fifo), None, Some(1)),
        (0, Some(Policy::Fifo), None, Some(99)),
    ] {
        let made = of_prio(prio);
        assert_eq!(
            (made.policy, made.nice, made.rt_priority),
            (policy, nice, rt),
            "{prio}"
        );
    }
}

#[test]
fn only_what_differs_from_the_default_is_stated() {
    let all = CpuSet::first_n(4);
    let fact = TaskFact {
        policy: Some(Recorded::Ext),
        nice: Some(5),
        rt_priority: Some(0),
        affinity: Some("0-3".into()),
        uclamp_min: Some(0),
        uclamp_max: Some(1024),
        cgroup: Some("/".into()),
        ..TaskFact::default()
    };
    let expected = Attributes {
        policy: Some(Policy::Normal),
        nice: Some(5),
        ..Attributes::default()
    };
    assert_eq!(stated(&fact, &all), expected);
}

#[test]
fn cpus_that_the_machine_has_not_are_left_out() {
    let affinity = |list: &str| {
        let fact = TaskFact {
            affinity: Some(list.into()),
            ..TaskFact::default()
        };
        stated(&fact, &CpuSet::first_n(4)).affinity
    };
    assert_eq!(affinity("1,3-9"), Some(vec![1, 3]));
    assert_eq!(affinity("8-9"), None);
    assert_eq!(affinity("nonsense"), None);
}

#[test]
fn a_change_is_what_a_call_states_or_what_differs() {
    let normal = Attributes {
        policy: Some(Policy::Normal),
        nice: Some(0),
        ..Attributes::default()
    };
    let bound = Attributes {
        affinity: Some(vec![1]),
        uclamp_max: Some(120),
        group: Some("/app".into()),
        ..normal.clone()
    };
    let table = [
        (&normal, &normal, false, None),
        (&normal, &normal, true, Some(normal.clone())),
        (
            &normal,
            &bound,
            false,
            Some(Attributes {
                policy: None,
                nice: None,
                ..bound.clone()
            }),
        ),
        (
            &bound,
            &normal,
            false,
            Some(Attributes {
                lift_affinity: true,
                uclamp_max: Some(1024),
                group: Some("/".into()),
                ..Attributes::default()
            }),
        ),
    ];
    for (before, after, states, taken) in table {
        assert_eq!(
            taken_on(before, after, states),
            taken,
            "{before:?} to {after:?}"
        );
    }
}
