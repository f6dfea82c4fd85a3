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
