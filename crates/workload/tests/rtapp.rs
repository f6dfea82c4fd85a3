// SPDX-License-Identifier: GPL-2.0-only
//! The grammar of rt-app, rule by rule: what a text becomes.
//! Each rule is that of rt-app-55cb0c0, rt-app_parse_config.c and rt-app.c.

use alight_workload::program::{
    Attributes, Calibration, Op, OptionalId, Policy, TimerMode, TimerOrigin,
};
use alight_workload::{Mode, Workload};

fn compile(text: &str, mode: Mode) -> Workload {
    let loaded = Workload::from_rtapp("file.json", text, mode);
    let workload = loaded.unwrap_or_else(|e| panic!("{text}: {e}")).workload;
    assert_eq!(workload.check(), Ok(()), "{text}");
    workload
}

/// A file with one task `t` of these members.
fn task(members: &str) -> String {
    format!("{{'tasks':{{'t':{{{members}}}}}}}")
}

/// The program of a thread, behind the barrier and the first attributes.
fn ops(workload: &Workload, thread: usize) -> &[Op] {
    let ops = &workload.programs[workload.tasks[thread].program as usize].ops;
    assert_eq!(ops[0], Op::Barrier { barrier: 0 });
    assert_eq!(ops[1], Op::SetAttributes { attributes: 0 });
    &ops[2..]
}

/// What the events of one pass become.
fn events(members: &str, mode: Mode) -> Vec<Op> {
    let workload = compile(&task(&format!("'loop':1,{members}")), mode);
    let ops = ops(&workload, 0);
    // Loops of thread and phase around, the count of passes, the ends of both loops, the exit.
    ops[2..ops.len() - 4].to_vec()
}

fn refusal(text: &str, mode: Mode) -> String {
    match Workload::from_rtapp("file.json", text, mode) {
        Ok(_) => panic!("{text} loads"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn events_become_instructions() {
    let (mutex, condition) = (0, 0);
    let wait = Op::Wait {
        condition,
        mutex: Some(mutex),
    };
    let table: &[(&str, &[Op])] = &[
        ("'run':5", &[Op::Run { ns: 5000 }]),
        (
            "'run0':5,'run_b':6",
            &[Op::Run { ns: 5000 }, Op::Run { ns: 6000 }],
        ),
        ("'runtime1':5", &[Op::RunWall { ns: 5000 }]),
        ("'sleep':7", &[Op::Sleep { ns: 7000 }]),
        ("'run':1,'yield':''", &[Op::Run { ns: 1000 }, Op::Yield]),
        ("'mem':1000", &[Op::Memory { bytes: 1000 }]),
        ("'iorun':1000", &[Op::Io { bytes: 1000 }]),
        (
            "'memrun':{'type':'read','size':64,'count':640}",
            &[Op::Memory { bytes: 640 }],
        ),
        (
            "'memrun':{'type':'chase','size':4096,'count':10}",
            &[Op::Chase { bytes: 640 }],
        ),
        (
            "'run':1,'lock':'m','unlock':'m'",
            &[
                Op::Run { ns: 1000 },
                Op::Lock { mutex },
                Op::Unlock { mutex },
            ],
        ),
        (
            "'lock':'m','wait':{'ref':'c','mutex':'m'},'unlock':'m'",
            &[Op::Lock { mutex }, wait, Op::Unlock { mutex }],
        ),
        (
            "'lock':'m','sync':{'ref':'c','mutex':'m'},'unlock':'m'",
            &[
                Op::Lock { mutex },
                Op::Signal { condition },
                wait,
                Op::Unlock { mutex },
            ],
        ),
        (
            "'run':1,'signal':'c','broad':'c'",
            &[
                Op::Run { ns: 1000 },
                Op::Signal { condition },
                Op::Broadcast { condition },
            ],
        ),
        (
            "'sem_post':'s','sem_wait':'s'",
            &[Op::SemPost { semaphore: 0 }, Op::SemWait { semaphore: 0 }],
        ),
        (
            "'suspend':'t'",
            &[Op::Lock { mutex }, wait, Op::Unlock { mutex }],
        ),
        (
            "'run':1,'resume':'u'",
            &[
                Op::Run { ns: 1000 },
                Op::Lock { mutex },
                Op::Broadcast { condition },
                Op::Unlock { mutex },
            ],
        ),
        (
            "'run':1,'barrier':'b'",
            &[Op::Run { ns: 1000 }, Op::Barrier { barrier: 1 }],
        ),
    ];
    for (members, expected) in table {
        for mode in [Mode::Workgen, Mode::Rtapp] {
            assert_eq!(&events(members, mode), expected, "{members}");
        }
    }
}

#[test]
fn timers_have_slots_by_name_and_begin_at_the_start() {
    let timer = |slot, period_ns, mode| Op::Timer {
        slot,
        period_ns,
        mode,
        origin: TimerOrigin::TaskStart,
        histogram: OptionalId::some(0),
    };
    let members = "'timer0':{'ref':'unique','period':5},'timer1':{'ref':'b','period':6,'mode':'absolute'},'timer2':{'ref':'unique','period':7}";
    let expected = [
        timer(0, 5000, TimerMode::Relative),
        timer(1, 6000, TimerMode::Absolute),
        timer(0, 7000, TimerMode::Relative),
    ];
    assert_eq!(events(members, Mode::Workgen), expected);
    let workload = compile(&task(members), Mode::Workgen);
    let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
    let expected = [
        "t_wakeup_latency_us",
        "t_wakeup_latency_std_us",
        "t_wakeup_latency_min_us",
        "t_wakeup_latency_p99_us",
        "t_wakeup_latency_max_us",
        "t_loops",
        "t_period_us",
        "t_wu_lat_us",
        "t_slack_us",
        "t_slack_min_us",
        "t_missed",
        "t_cpu_s",
        "t_cpu_percent",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_delay_ends_at_a_fixed_time_and_moves_the_origin_of_timers() {
    let text = task("'delay':9,'timer0':{'ref':'a','period':5},'timer1':{'ref':'b','period':6}");
    let workload = compile(&text, Mode::Workgen);
    let program = &workload.programs[0].ops;
    for slot in [0, 1] {
        let until_start = Op::Timer {
            slot,
            period_ns: 9000,
            mode: TimerMode::Absolute,
            origin: TimerOrigin::TaskStart,
            histogram: OptionalId::NONE,
        };
        assert_eq!(program[1 + slot as usize], until_start);
    }
}

#[test]
fn loops_of_tasks_and_phases() {
    const EVER: u64 = u64::MAX;
    // Members, passes of the thread's loop, passes of the first phase's.
    let table = [
        ("'run':1", EVER, 1),
        ("'loop':4,'run':1", 1, 4),
        ("'loop':-1,'run':1", 1, EVER),
        ("'loop':0,'run':1", 1, EVER),
        ("'phases':{'p':{'run':1}}", EVER, 1),
        ("'loop':3,'phases':{'p':{'loop':5,'run':1}}", 3, 5),
        ("'loop':0,'phases':{'p':{'run':1}}", 0, 1),
        ("'loop':-7,'phases':{'p':{'loop':-2,'run':1}}", EVER, EVER),
    ];
    for (members, thread, phase) in table {
        let workload = compile(&task(members), Mode::Rtapp);
        let count = |op: &Op| match op {
            Op::LoopBegin { count, .. } => Some(*count),
            _ => None,
        };
        let counts: Vec<u64> = ops(&workload, 0).iter().filter_map(count).collect();
        assert_eq!(counts, [thread, phase], "{members}");
    }
}

#[test]
fn threads_are_numbered_through_and_their_names_shortened() {
    let text = "{'tasks':{'a':{'instance':2,'run':1},'template':{'instance':0,'run':1},'quite_a_long_name':{'run':1}}}";
    let workload = compile(text, Mode::Workgen);
    let comms: Vec<&str> = workload.tasks.iter().map(|t| t.comm.as_str()).collect();
    assert_eq!(comms, ["a-0", "a-1", "quite_a_long_-2"]);
    assert_eq!(workload.barriers, [3]);
    assert_eq!(workload.programs.len(), 2, "instances share a program");
}

#[test]
fn attributes_of_tasks() {
    let table = [
        (
            "",
            Attributes {
                policy: Some(Policy::Normal),
                nice: Some(0),
                ..Attributes::default()
            },
        ),
        (
            "'priority':-19,",
            Attributes {
                policy: Some(Policy::Normal),
                nice: Some(-19),
                ..Attributes::default()
            },
        ),
        (
            "'policy':'SCHED_FIFO',",
            Attributes {
                policy: Some(Policy::Fifo),
                rt_priority: Some(10),
                ..Attributes::default()
            },
        ),
        (
            "'policy':'SCHED_IDLE','cpus':[3,1,3],",
            Attributes {
                policy: Some(Policy::Idle),
                affinity: Some(vec![1, 3]),
                ..Attributes::default()
            },
        ),
        (
            "'util_min':200,'util_max':-1,",
            Attributes {
                policy: Some(Policy::Normal),
                nice: Some(0),
                uclamp_min: Some(200),
                ..Attributes::default()
            },
        ),
        (
            "'dl-runtime':100,",
            Attributes {
                policy: Some(Policy::Normal),
                nice: Some(0),
                slice_ns: Some(100_000),
                ..Attributes::default()
            },
        ),
        (
            "'policy':'SCHED_DEADLINE','dl-runtime':100,'dl-period':300,",
            Attributes {
                policy: Some(Policy::Deadline),
                slice_ns: Some(100_000),
                dl_period_deadline_ns: Some((300_000, 300_000)),
                ..Attributes::default()
            },
        ),
        (
            "'policy':'SCHED_DEADLINE','runtime':100,'deadline':200,'period':300,",
            Attributes {
                policy: Some(Policy::Deadline),
                slice_ns: Some(100_000),
                dl_period_deadline_ns: Some((300_000, 200_000)),
                ..Attributes::default()
            },
        ),
    ];
    for (members, expected) in table {
        let workload = compile(&task(&format!("{members}'run':1")), Mode::Workgen);
        assert_eq!(workload.attributes, [expected], "{members}");
    }
}

#[test]
fn phases_change_attributes_and_keep_what_they_do_not_name() {
    let text = task(
        "'policy':'SCHED_BATCH','phases':{'a':{'run':1},'b':{'priority':5,'run':1},'c':{'policy':'SCHED_RR','run':1},'d':{'priority':7,'run':1},'e':{'util_max':512,'run':1}}",
    );
    let workload = compile(&text, Mode::Workgen);
    let set = |op: &Op| match op {
        Op::SetAttributes { attributes } => Some(workload.attributes[*attributes as usize].clone()),
        _ => None,
    };
    let program = &workload.programs[0].ops;
    let changes: Vec<Attributes> = program.iter().filter_map(set).collect();
    let none = Attributes::default;
    let expected = [
        Attributes {
            policy: Some(Policy::Batch),
            nice: Some(0),
            ..none()
        },
        Attributes {
            policy: Some(Policy::Batch),
            nice: Some(5),
            ..none()
        },
        Attributes {
            policy: Some(Policy::RoundRobin),
            rt_priority: Some(10),
            ..none()
        },
        Attributes {
            policy: Some(Policy::RoundRobin),
            rt_priority: Some(7),
            ..none()
        },
        Attributes {
            uclamp_max: Some(512),
            ..none()
        },
    ];
    assert_eq!(changes, expected);
}

#[test]
fn cpus_of_a_phase_go_before_those_of_the_task() {
    // CPUs of the task, of the phases; what is set at the start and at each phase.
    let table = [
        ("'cpus':[2],", "", "", "[2]"),
        ("", "", "", "-"),
        ("'cpus':[2],", "'cpus':[0],", "", "- [0] [2]"),
        ("", "'cpus':[0],", "", "- [0] any"),
        ("", "'cpus':[0],", "'cpus':[0],", "[0]"),
    ];
    for (of_task, of_first, of_second, expected) in table {
        let phases = format!("'p':{{{of_first}'run':1}},'q':{{{of_second}'run':1}}");
        let workload = compile(
            &task(&format!("{of_task}'phases':{{{phases}}}")),
            Mode::Workgen,
        );
        let set = |op: &Op| match op {
            Op::SetAttributes { attributes } => {
                let a = &workload.attributes[*attributes as usize];
                Some(match &a.affinity {
                    Some(cpus) => format!("{cpus:?}"),
                    None if a.lift_affinity => "any".to_owned(),
                    None => "-".to_owned(),
                })
            }
            _ => None,
        };
        let found: Vec<String> = workload.programs[0].ops.iter().filter_map(set).collect();
        assert_eq!(found.join(" "), expected, "{of_task}{of_first}{of_second}");
    }
}

#[test]
fn each_fork_creates_another_thread() {
    let text = "{'tasks':{'child':{'instance':0,'loop':1,'run':1},'parent':{'loop':2,'cpus':[1],'phases':{'p':{'loop':3,'fork':'child','run':2}}}}}";
    let workload = compile(text, Mode::Workgen);
    let comms: Vec<&str> = workload.tasks.iter().map(|t| t.comm.as_str()).collect();
    assert_eq!(comms[..3], ["parent-0", "child-1-0000", "child-2-0001"]);
    assert_eq!(comms.len(), 1 + 6);
    let forked = &workload.tasks[1];
    assert_eq!(forked.start_ns, None);
    assert_eq!(forked.attributes.affinity, Some(vec![1]), "inherited");
    let fork = |op: &&Op| matches!(op, Op::Fork { .. });
    assert_eq!(workload.programs[0].ops.iter().filter(fork).count(), 6);
    assert_eq!(
        workload.barriers,
        [1],
        "forked threads do not meet the others"
    );
}

#[test]
fn forking_ends_where_rt_app_gives_up() {
    let text = "{'tasks':{'t':{'fork':'t','run':2}}}";
    let loaded = Workload::from_rtapp("f", text, Mode::Workgen).expect("loads");
    assert_eq!(loaded.workload.tasks.len(), 1 + 1024);
    assert_eq!(loaded.workload.check(), Ok(()));
    let warned = |d: &&alight_workload::Diagnostic| d.message.contains("more than 1024 times");
    assert!(loaded.diagnostics.iter().any(|d| warned(&d)));
}

#[test]
fn barriers_count_every_instance() {
    let text = "{'tasks':{'a':{'instance':3,'run':1,'barrier':'x'},'b':{'run':1,'barrier':'x','barrier1':'y'}}}";
    assert_eq!(compile(text, Mode::Workgen).barriers, [4, 4, 1]);
}

#[test]
fn global_settings() {
    let table = [
        ("", None, Calibration::Cpu(0)),
        ("'global':{},", None, Calibration::Cpu(0)),
        (
            "'global':{'duration':6,'calibration':'CPU3'},",
            Some(6_000_000_000),
            Calibration::Cpu(3),
        ),
        (
            "'global':{'duration':-1,'calibration':128},",
            None,
            Calibration::Biggest,
        ),
        (
            "'global':{'duration':0,'calibration':'CPU'},",
            None,
            Calibration::Cpu(0),
        ),
        (
            "'global':{'duration':-7,'calibration':0},",
            None,
            Calibration::Cpu(0),
        ),
        (
            "'global':{'duration':99999999999},",
            Some(2_147_483_647_000_000_000),
            Calibration::Cpu(0),
        ),
    ];
    for (global, duration_ns, calibration) in table {
        let workload = compile(&format!("{{{global}'tasks':{{}}}}"), Mode::Workgen);
        assert_eq!(workload.duration_ns, duration_ns, "{global}");
        assert_eq!(workload.calibration, calibration, "{global}");
    }
    let fifo = "{'global':{'default_policy':'SCHED_FIFO'},'tasks':{'t':{'run':1}}}";
    assert_eq!(
        compile(fifo, Mode::Workgen).attributes[0].policy,
        Some(Policy::Fifo)
    );
}

#[test]
fn the_modes_differ_where_rt_app_is_rough() {
    let run = |ns| Op::Run { ns };
    // Members, workgen, rtapp.
    let duplicate = "'run':1,'sleep':2,'run':3";
    let sleep = Op::Sleep { ns: 2000 };
    assert_eq!(
        events(duplicate, Mode::Workgen),
        [run(1000), sleep, run(3000)]
    );
    assert_eq!(events(duplicate, Mode::Rtapp), [run(3000), sleep]);

    let negative = task("'run':1,'sleep':-5");
    assert!(refusal(&negative, Mode::Workgen).contains("`sleep` is -5 us, expected 0 or more"));
    // The binary makes an `unsigned long` of it, and sleeps for ever (seen with 55cb0c0 on x86_64).
    let for_ever = Op::Sleep { ns: u64::MAX };
    assert_eq!(
        events("'run':1,'sleep':-5", Mode::Rtapp),
        [run(1000), for_ever]
    );
    assert_eq!(
        events("'runtime1':-5", Mode::Rtapp),
        [Op::RunWall { ns: 0 }]
    );

    let bare = task("'suspend','run':1");
    assert!(refusal(&bare, Mode::Rtapp).contains("expected `:`"));
    assert_eq!(compile(&bare, Mode::Workgen).conditions, 1);

    // Who waits for whom: on the value, or on the own name whatever the value is.
    let text = "{'tasks':{'a':{'suspend':'b','run':1},'b':{'run':1,'resume':'b'}}}";
    assert_eq!(compile(text, Mode::Workgen).conditions, 1);
    assert_eq!(compile(text, Mode::Rtapp).conditions, 2);

    let converted = task("'cpus':['2',true],'run':1");
    assert!(refusal(&converted, Mode::Workgen).contains("`cpus` is a string"));
    let cpus = compile(&converted, Mode::Rtapp).attributes[0]
        .affinity
        .clone();
    assert_eq!(cpus, Some(vec![1, 2]));
}

#[test]
fn a_loop_in_which_nothing_takes_time_is_given_some() {
    assert_eq!(
        events("'yield':''", Mode::Workgen),
        [Op::Yield, Op::Run { ns: 1000 }]
    );
    let only_late = events("'timer':{'ref':'a','period':0}", Mode::Workgen);
    assert_eq!(only_late, [Op::Run { ns: 1000 }]);
}
