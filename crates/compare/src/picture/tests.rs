// SPDX-License-Identifier: GPL-2.0-only

use alight_policy::Scheduler;
use alight_workload::{Mode, Workload};

use super::*;
use crate::course::KINDS;

/// A hog on a big CPU, and a small task on a little one.
const LOAD: &str = r#"{ "tasks": {
    "hog": { "cpus": [4], "run": 5000 },
    "small": { "cpus": [0], "run": 100, "timer": { "ref": "tick", "period": 10000 } }
}, "global": { "duration": 1 } }"#;

#[test]
fn a_course_tells_which_tasks_ran_and_how_fast() {
    let machine = alight_machine::load("juno-r2").expect("built in").machine;
    let loaded = Workload::from_rtapp("load", LOAD, Mode::default()).expect("valid");
    let scheduler = Scheduler::parse("linux-6.5").expect("known");
    let workloads = [loaded.workload];
    let scenario = Scenario {
        governor: Some(alight_machine::Governor::Schedutil),
        ..Scenario::new(&machine, &workloads, &scheduler)
    };
    let time = 100_000_000..600_000_000;
    let course = recorded(&scenario, &time, &AtomicBool::new(false));
    let course = course.expect("runs").expect("to its end");
    assert_eq!(course.kinds, ["hog", "small"]);
    assert!(course.shares(4).all(|shares| shares[0] >= 990), "a hog");
    let deepest = KINDS + 1 + machine.core_types[1].idle_states.len() - 1;
    assert!(
        course.shares(5).all(|shares| shares[deepest] >= 990),
        "nothing to do: asleep as deeply as it can"
    );
    let small: u64 = course.shares(0).map(|shares| shares[1]).sum();
    assert!(
        small > 0 && small < 250 * 100,
        "1 % at full speed of a big CPU"
    );
    let last = course.cpus[4].khz.last().expect("one at the start");
    assert_eq!(last.1, 1_200_000, "a hog without clamps");
    assert!(course.util(4).last().expect("pieces") > 950);
}
