// SPDX-License-Identifier: GPL-2.0-only
//! What cannot be simulated is refused before anything runs, with what was found
//! and what could be done; what comes to a stop says who waits for what.

mod common;

use alight_sim::{Cgroup, Error, Sysctl};
use alight_workload::program::{Attributes, Calibration, Op, Policy, Workload};
use common::{MS, Run, given, load, machine};

const RUN: Op = Op::Run { ns: MS };

/// Runs on Juno, which has CPUs 0 to 5; the message of the refusal.
fn refusal(workloads: &[Workload], duration_ns: Option<u64>) -> String {
    let juno = machine("juno-r0");
    let run = Run {
        duration_ns,
        ..Run::new(&juno, workloads)
    };
    match run.go() {
        Err(Error::Refused(what)) => what,
        other => panic!("not refused: {other:?}"),
    }
}

fn with_attributes(attributes: Attributes) -> Workload {
    let mut workload = given(vec![vec![RUN]]);
    workload.tasks[0].attributes = attributes;
    workload
}

#[test]
fn deadline_tasks() {
    let attributes = Attributes {
        policy: Some(Policy::Deadline),
        slice_ns: Some(MS),
        dl_period_deadline_ns: Some((10 * MS, 10 * MS)),
        ..Attributes::default()
    };
    let mut never = attributes.clone();
    never.dl_period_deadline_ns = Some((5000 * MS, 5000 * MS));
    let what = refusal(&[with_attributes(never.clone())], None);
    assert_eq!(
        what,
        "workload 'given' has a task of SCHED_DEADLINE with runtime 1000000 ns and period \
         5000000000 ns; Linux takes runtimes from 1024 ns on and periods from 100000 to \
         4194304000 ns (task 't0')"
    );
    let mut switches = given(vec![vec![RUN, Op::SetAttributes { attributes: 0 }]]);
    switches.attributes = vec![never];
    assert_eq!(refusal(&[switches], None), what, "in a later phase");
    // More than the six CPUs have.
    let mut many = given(vec![vec![RUN, RUN]; 7]);
    for task in &mut many.tasks {
        task.attributes = attributes.clone();
        task.attributes.slice_ns = Some(9 * MS);
    }
    let what = refusal(&[many], None);
    assert!(
        what.contains("'t6' is not admitted to SCHED_DEADLINE: it asks for 9 ms each 10 ms; all such tasks would have 629 %"),
        "{what}"
    );
}

#[test]
fn cpus_that_the_machine_does_not_have() {
    let attributes = |cpus: &[u32]| Attributes {
        affinity: Some(cpus.to_vec()),
        ..Attributes::default()
    };
    assert_eq!(
        refusal(&[with_attributes(attributes(&[1, 6]))], None),
        "workload 'given' binds a task to CPU 6; machine 'juno-r0' has CPUs 0 to 5 (task 't0')"
    );
    assert_eq!(
        refusal(&[with_attributes(attributes(&[]))], None),
        "workload 'given': task 0 (t0): affinity []"
    );
    let mut calibrated = given(vec![vec![RUN]]);
    calibrated.calibration = Calibration::Cpu(6);
    assert_eq!(
        refusal(&[calibrated], None),
        "workload 'given' is calibrated on CPU 6; machine 'juno-r0' has CPUs 0 to 5"
    );
}

#[test]
fn runs_without_content_or_without_end() {
    assert_eq!(refusal(&[], None), "no workload is given");
    assert_eq!(
        refusal(&[given(vec![vec![RUN]])], Some(0)),
        "a duration of 0 simulates nothing"
    );
    let what = refusal(&[given(vec![vec![RUN]])], Some(u64::MAX));
    assert!(
        what.starts_with("a duration of 18446744073709551615 ns is too long"),
        "{what}"
    );
    let mut long = given(vec![vec![RUN]]);
    long.duration_ns = Some(1 << 53);
    let what = refusal(&[long], None);
    assert!(
        what.starts_with("workload 'given' takes 9007199254740992 ns, which is too long"),
        "{what}"
    );
    let endless = given(vec![vec![
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 3,
        },
        RUN,
        Op::LoopEnd { slot: 0, begin: 1 },
    ]]);
    let never_ends = "workload 'given' never ends; give the run a --duration";
    assert_eq!(refusal(std::slice::from_ref(&endless), None), never_ends);
    let ends = || load("hackbench -g 1 -f 2 -l 2");
    assert_eq!(
        refusal(&[ends(), endless.clone()], None),
        never_ends,
        "beside one that ends"
    );
    assert_eq!(
        refusal(&[endless.clone(), ends()], None),
        never_ends,
        "in any order"
    );
    let juno = machine("juno-r0");
    let outcome = Run::new(&juno, &[endless])
        .for_ms(50)
        .go()
        .expect("a duration ends it");
    assert_eq!(outcome.end_ns, 50 * MS);
}

/// A workload with a duration counts as over when that has passed; the run goes
/// on for those without one, and no longer.
#[test]
fn workloads_with_and_without_a_duration() {
    let juno = machine("juno-r0");
    let mut endless = load("idle-hogs.json");
    endless.duration_ns = Some(60 * MS);
    for (work_ms, expected) in [(1, 60..70), (200, 200..1000)] {
        let ends = given(vec![vec![Op::Run { ns: work_ms * MS }]]);
        for workloads in [[endless.clone(), ends.clone()], [ends, endless.clone()]] {
            let outcome = Run {
                check: false,
                ..Run::new(&juno, &workloads)
            }
            .go()
            .expect("it ends");
            let end = outcome.end_ns / MS;
            assert!(expected.contains(&end), "{work_ms} ms of work: {end} ms");
        }
    }
}

/// Programs come from compilers that check them; what is made by hand is checked, too.
#[test]
fn programs_that_point_nowhere() {
    for (op, word) in [
        (Op::Lock { mutex: 4 }, "mutex"),
        (Op::LockIndexed { base: 9 }, "mutex"),
        (
            Op::Read {
                channel: 4,
                bytes: 1,
            },
            "channel",
        ),
        (Op::Fork { task: 7 }, "task"),
        (Op::Mark { mark: 4 }, "mark"),
        (
            Op::Timer {
                slot: 9,
                period_ns: 1,
                mode: alight_workload::program::TimerMode::Relative,
                origin: alight_workload::program::TimerOrigin::FirstUse,
                histogram: alight_workload::program::OptionalId::NONE,
            },
            "slot",
        ),
    ] {
        let what = refusal(&[given(vec![vec![op]])], None);
        assert!(
            what.contains("given") && what.contains(word),
            "{op:?}: {what}"
        );
    }
    // A number drawn at random picks among four mutexes.
    let take = Op::Take { deal: 0, done: 2 };
    for modulo in [0, 5] {
        let mut picks = given(vec![vec![take, Op::LockIndexed { base: 0 }]]);
        picks.deals = vec![alight_workload::program::Deal {
            counter: 0,
            modulo,
            limit: 9,
            until_ns: u64::MAX,
        }];
        let what = refusal(&[picks], None);
        assert!(what.contains("mutex"), "modulo {modulo}: {what}");
    }
}

#[test]
fn tasks_that_wait_for_each_other_for_ever() {
    let lock = |mutex| Op::Lock { mutex };
    let deadlock = given(vec![
        vec![lock(0), Op::Sleep { ns: MS }, lock(1)],
        vec![lock(1), Op::Sleep { ns: MS }, lock(0)],
    ]);
    for (workload, who) in [
        (
            deadlock,
            "'t0' waits for mutex 1, which 't1' holds; 't1' waits for mutex 0, which 't0' holds",
        ),
        (
            given(vec![vec![RUN, Op::SemWait { semaphore: 2 }]]),
            "'t0' waits for semaphore 2, which no task posts any more",
        ),
        (
            given(vec![vec![Op::Read {
                channel: 3,
                bytes: 1,
            }]]),
            "'t0' waits to read from channel 3",
        ),
        (
            given(vec![vec![Op::Wait {
                condition: 1,
                mutex: None,
            }]]),
            "'t0' waits for condition 1, which no task signals any more",
        ),
    ] {
        for name in common::MACHINES {
            let machine = machine(name);
            let workloads = [workload.clone()];
            let outcome = Run {
                check: false,
                ..Run::new(&machine, &workloads)
            }
            .go();
            let Err(Error::Refused(what)) = outcome else {
                panic!("{name}: not stuck: {outcome:?}");
            };
            assert!(
                what.starts_with("the workload is stuck at "),
                "{name}: {what}"
            );
            assert!(what.contains(who), "{name}: {what}");
            assert!(what.contains("--duration"), "{name}: {what}");
        }
    }
}

/// With a duration it is an idle machine.
#[test]
fn a_stuck_workload_may_last() {
    let stuck = [given(vec![vec![Op::SemWait { semaphore: 0 }]])];
    let outcome = Run::new(&machine("juno-r0"), &stuck)
        .for_ms(100)
        .go()
        .expect("it lasts");
    assert_eq!(outcome.end_ns, 100 * MS);
}

/// Lines that never end are refused, whatever else they take, and say what would end them.
#[test]
fn a_line_without_a_limit_is_refused_with_the_option_that_gives_one() {
    for (line, add) in [
        (
            "sysbench cpu --time=0 run",
            Some("--time=SECONDS or --events=N"),
        ),
        (
            "sysbench threads --time=0 --events=0 run",
            Some("--time=SECONDS or --events=N"),
        ),
        (
            "sysbench --test=cpu --max-requests=0 run",
            Some("--max-time=SECONDS or --max-requests=N"),
        ),
        ("cyclictest -t 2 -q", Some("-D SECONDS or -l LOOPS")),
        ("cyclictest -l 0 -D 0 -q", Some("-D SECONDS or -l LOOPS")),
        ("schbench -t 2 -r 0", Some("-r SECONDS")),
        ("schbench -t 2 -r 0 -R 10", Some("-r SECONDS")),
        ("schbench -t 2 -r 0 -p 10", Some("-r SECONDS")),
        (
            "taskset 1 nice sysbench cpu --time=0 run",
            Some("--time=SECONDS or --events=N"),
        ),
        ("housekeeping", None),
    ] {
        let add = add.map_or(String::new(), |option| format!(", or add {option} to it"));
        let expected = format!("workload '{line}' never ends; give the run a --duration{add}");
        assert_eq!(refusal(&[load(line)], None), expected);
    }
    let juno = machine("juno-r0");
    let endless = [load("sysbench cpu --time=0 run")];
    let outcome = Run::new(&juno, &endless)
        .for_ms(50)
        .go()
        .expect("a duration ends it");
    assert_eq!(outcome.end_ns, 50_000_000);
}

/// Of a task in `/g`, with these groups and limits described.
fn refusal_of_groups(base: &str, groups: &[Cgroup], sysctls: &str) -> String {
    let sysctls: Vec<Sysctl> = sysctls
        .split_whitespace()
        .map(|text| text.parse().expect(text))
        .collect();
    let juno = machine("juno-r0");
    let workloads = [with_attributes(Attributes {
        group: Some("/g".into()),
        ..Attributes::default()
    })];
    let scheduler = alight_policy::Scheduler::parse(base).expect("a base");
    let scenario = alight_sim::Scenario {
        groups,
        sysctls: &sysctls,
        check: true,
        ..alight_sim::Scenario::new(&juno, &workloads, &scheduler)
    };
    match alight_sim::run(&scenario, None, &false.into()) {
        Ok(_) => String::new(),
        Err(Error::Refused(what)) => what,
        Err(other) => panic!("not refused: {other}"),
    }
}

#[test]
fn groups_that_a_kernel_or_the_workload_does_not_have() {
    let g = || Cgroup::new("/g");
    let idle = Cgroup { idle: true, ..g() };
    let clamped = Cgroup {
        uclamp_max: 300,
        ..g()
    };
    let none = "";
    for (base, groups, sysctls, words) in [
        ("linux-5.5", vec![], none, ""),
        (
            "linux-7.2",
            vec![clamped],
            "sched_util_clamp_min=100 sched_util_clamp_max=900 sched_util_clamp_min_rt_default=0",
            "",
        ),
        ("linux-6.1", vec![idle.clone()], none, ""),
        (
            "linux-6.5+uclamp-sum",
            vec![],
            none,
            "group '/g': uclamp-sum is not simulated with task groups",
        ),
        (
            "linux-5.4",
            vec![],
            none,
            "groups are simulated for linux-5.5, linux-5.10, linux-5.15, linux-6.1, linux-6.5, \
             linux-6.6, linux-6.8, linux-6.12, linux-6.18, linux-7.0, linux-7.1, \
             linux-7.2, linux-7.3",
        ),
        ("linux-3.9", vec![g()], none, "not for linux-3.9"),
        (
            "linux-5.5",
            vec![idle],
            none,
            "cpu.idle came with Linux 5.15",
        ),
        ("linux-6.5", vec![g(), g()], none, "described twice"),
        (
            "linux-6.5",
            vec![Cgroup::new("/other")],
            none,
            "it never has a task",
        ),
        (
            "linux-5.5",
            vec![g()],
            "sched_util_clamp_min_rt_default=5",
            "came with Linux 5.8",
        ),
        (
            "linux-6.5",
            vec![g()],
            "sched_util_clamp_min=600 sched_util_clamp_max=500",
            "sched_util_clamp_min, then 600, must not be above",
        ),
    ] {
        let found = refusal_of_groups(base, &groups, sysctls);
        assert_eq!(found.is_empty(), words.is_empty(), "{base}: {found}");
        assert!(found.contains(words), "{base}: {found}");
    }
}

#[test]
fn an_explanation_of_nobody() {
    let juno = machine("juno-r0");
    let workloads = [given(vec![vec![RUN], vec![RUN]])];
    let scheduler = alight_policy::Scheduler::parse("linux-5.5").expect("a base");
    let scenario = alight_sim::Scenario::new(&juno, &workloads, &scheduler);
    let watch = alight_sim::Watch {
        comm: Some("T0".into()),
        at_ns: None,
    };
    let error = alight_sim::explain(&scenario, &watch, 1, &false.into()).expect_err("no such task");
    assert_eq!(
        error.to_string(),
        "no task is named 'T0'; the workload has: t0, t1"
    );
}

/// A trace that cannot be written ends the run with what the output said.
#[test]
fn a_full_disk() {
    struct Full(u32);
    impl alight_trace::Sink for Full {
        fn event(&mut self, _: u64, _: u32, _: alight_trace::Event<'_>) -> std::io::Result<()> {
            self.0 += 1;
            match self.0 {
                0..100 => Ok(()),
                100 => Err(std::io::ErrorKind::StorageFull.into()),
                _ => panic!("asked again after it failed"),
            }
        }
    }
    let workloads = [load("hackbench -g 1 -f 4 -l 100")];
    let error = Run::new(&machine("juno-r0"), &workloads).traced(Some(&mut Full(0)));
    let error = error.expect_err("the disk is full");
    assert!(matches!(&error, Error::Trace(e) if e.kind() == std::io::ErrorKind::StorageFull));
    assert!(
        error.to_string().starts_with("writing the trace: "),
        "{error}"
    );
}

#[test]
fn a_loop_in_which_nothing_takes_time() {
    let endless = |op: Op| {
        let begin = Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 3,
        };
        given(vec![vec![begin, op, Op::LoopEnd { slot: 0, begin: 1 }]])
    };
    let yields = "sysbench threads --threads=2 --thread-yields=0 --time=1 run";
    let nothing = [
        Op::Run { ns: 0 },
        Op::RunWall { ns: 0 },
        Op::Memory { bytes: 10 },
    ];
    for workload in nothing.map(endless).into_iter().chain([load(yields)]) {
        let what = refusal(&[workload], Some(100 * MS));
        assert!(
            what.contains("a loop in which no operation takes time"),
            "{what}"
        );
    }
}

/// Such as no file can say, but a program may.
#[test]
fn machines_that_do_not_hold_together() {
    type Change = fn(&mut alight_machine::Machine);
    let cases: [(Change, &str); 5] = [
        (|m| m.cpus[2].core_type = 9, "CPU 2 is in no core type 9"),
        (
            |m| m.cpus[3].freq_domain = 9,
            "CPU 3 is in no frequency domain 9",
        ),
        (|m| m.cpus[4].cluster = 9, "CPU 4 is in no cluster 9"),
        (
            |m| m.cpus[0].cluster = m.cpus[1].cluster,
            "CPU 0 is in no cluster 1",
        ),
        (
            |m| m.cpus.truncate(5),
            "it has 5 CPUs, none of them is CPU 5",
        ),
    ];
    for (change, expected) in cases {
        let mut juno = machine("juno-r0");
        change(&mut juno);
        let what = match Run::new(&juno, &[given(vec![vec![RUN]])]).go() {
            Err(Error::Refused(what)) => what,
            other => panic!("{expected}: not refused: {other:?}"),
        };
        assert!(what.contains(expected), "{expected:?} is not in {what:?}");
    }
}
