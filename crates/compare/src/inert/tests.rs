// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use alight_workload::{Mode, Workload};

/// What is said of runs that are the base's, by scheduler, machine and load.
#[test]
fn it_is_said_why_a_policy_has_nothing_to_do() {
    const PLAIN: &str = "hackbench -g 1 -l 1";
    for (base, variant, machine, load, said) in [
        (
            "linux-6.5",
            "linux-6.5+pack",
            "juno-r0",
            PLAIN,
            Some(
                "pack needs CPUs that can be power gated separately (`power_gated` in \
                     the machine's file), which juno-r0 lacks",
            ),
        ),
        (
            "linux-5.5",
            "linux-5.5+asym-capacity",
            "hikey620",
            PLAIN,
            Some("asym-capacity needs CPUs that differ in capacity, which hikey620 lacks"),
        ),
        (
            "linux-6.5",
            "linux-6.5+asym-capacity",
            "juno-r0",
            PLAIN,
            Some(
                "linux-6.5+asym-capacity is linux-6.5: asym-capacity is part of it since 5.7, \
                     and only other values of its tunables change something; bases that lack it: \
                     linux-5.4, linux-5.5",
            ),
        ),
        (
            "linux-6.5",
            "linux-6.5+pack:mode=none",
            "tc2",
            PLAIN,
            Some("the tunables of linux-6.5+pack:mode=none make it equal to linux-6.5"),
        ),
        (
            "linux-6.5",
            "linux-6.5+uclamp-sum",
            "juno-r0",
            PLAIN,
            Some("uclamp-sum needs tasks with utilization clamps, and this run has none"),
        ),
        (
            "linux-5.4",
            "linux-5.4+sched-idle",
            "juno-r0",
            PLAIN,
            Some("sched-idle needs tasks under SCHED_IDLE, and this run has none"),
        ),
        (
            "linux-5.4",
            "linux-5.4+sched-idle",
            "juno-r0",
            "sched_idle",
            Some("it could act, but every choice was the base's"),
        ),
        (
            "linux-6.5",
            "linux-6.5+uclamp-sum",
            "juno-r0",
            "clamps",
            Some("it could act, but every choice was the base's"),
        ),
        (
            "linux-6.5",
            "linux-6.5+bias-prev",
            "juno-r0",
            PLAIN,
            Some("it could act, but every choice was the base's"),
        ),
        (
            // Of two features one could have acted.
            "linux-6.5",
            "linux-6.5+pack+bias-prev",
            "juno-r0",
            PLAIN,
            Some("it could act, but every choice was the base's"),
        ),
        ("linux-5.5", "linux-6.5", "juno-r0", PLAIN, None),
    ] {
        let [base, variant] = [base, variant].map(|name| Scheduler::parse(name).unwrap());
        let machine = alight_machine::load(machine).unwrap().machine;
        let mut workload = Workload::load(PLAIN, Mode::Workgen).unwrap().workload;
        let first = &mut workload.tasks[0].attributes;
        match load {
            "sched_idle" => first.policy = Some(Policy::Idle),
            "clamps" => first.uclamp_max = Some(100),
            _ => {}
        }
        let workloads = [workload];
        let scenario = Scenario::new(&machine, &workloads, &base);
        let found = why(&base, &variant, &scenario);
        assert_eq!(found.as_deref(), said, "{}", variant.name);
    }
}

#[test]
fn groups_and_limits_of_the_system_are_clamps_too() {
    let machine = alight_machine::load("juno-r0").unwrap().machine;
    let base = Scheduler::parse("linux-6.5").unwrap();
    let mut capped = Cgroup::new("/background");
    capped.uclamp_max = 512;
    let mut idle = Cgroup::new("/idle");
    idle.idle = true;
    let free: &[&str] = &[];
    for (groups, sysctls, sched_idle, clamped) in [
        (vec![], free, false, false),
        (vec![Cgroup::new("/other")], free, false, false),
        (vec![capped], free, false, true),
        (vec![idle], free, true, false),
        (vec![], &["sched_util_clamp_max=512"], false, true),
        (vec![], &["sched_util_clamp_max=1024"], false, false),
        (vec![], &["sched_rt_runtime_us=-1"], false, false),
    ] {
        let sysctls: Vec<Sysctl> = sysctls.iter().map(|text| text.parse().unwrap()).collect();
        let scenario = Scenario {
            groups: &groups,
            sysctls: &sysctls,
            ..Scenario::new(&machine, &[], &base)
        };
        let has = |needs| load_has(needs, &scenario);
        assert_eq!(has(Needs::SchedIdle), sched_idle, "{groups:?}");
        assert_eq!(has(Needs::Clamps), clamped, "{groups:?}");
    }
}
