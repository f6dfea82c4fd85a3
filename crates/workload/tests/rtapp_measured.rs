// SPDX-License-Identifier: GPL-2.0-only
//! rt-app files: work without an end, timers of forked threads, and what is measured.
//! Each rule is that of rt-app-55cb0c0, rt-app_parse_config.c and rt-app.c.

use alight_workload::program::{Op, TimerOrigin};
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

/// Work without an end is a loop of pieces, in which the loops of thread and phase stand still.
#[test]
fn a_negative_amount_never_comes_to_its_end() {
    let endless = |piece| {
        let (count, slot) = (u64::MAX, 2);
        [
            Op::LoopBegin {
                slot,
                count,
                end: 7,
            },
            piece,
            Op::LoopEnd { slot, begin: 5 },
        ]
    };
    let table = [
        ("'run':-1", Op::Run { ns: 1_000_000 }),
        ("'run':-77", Op::Run { ns: 1_000_000 }),
        ("'mem':-1", Op::Memory { bytes: 1 << 20 }),
        ("'iorun':-1", Op::Io { bytes: 1 << 20 }),
        (
            "'memrun':{'type':'write','size':64,'count':-1}",
            Op::Memory { bytes: 1 << 20 },
        ),
        (
            "'memrun':{'type':'chase','size':4096,'count':-1}",
            Op::Chase { bytes: 1 << 20 },
        ),
    ];
    for (members, piece) in table {
        for mode in [Mode::Workgen, Mode::Rtapp] {
            let workload = compile(&task(&format!("'loop':1,{members}")), mode);
            let ops = &workload.programs[0].ops;
            // Behind the barrier, the first attributes, and the begins of two loops.
            assert_eq!(ops[4..7], endless(piece), "{members}");
        }
    }
}

/// A file that comes to its end says when; of each task, what its events let rt-app log.
#[test]
fn measures_are_those_that_a_file_can_have() {
    let table = [
        (
            "'loop':3,'run':1",
            "elapsed_s t_loops t_run_us t_period_us t_cpu_s t_cpu_percent",
        ),
        (
            "'run':1",
            "t_loops t_run_us t_period_us t_cpu_s t_cpu_percent",
        ),
        (
            "'loop':3,'sleep':1",
            "elapsed_s t_loops t_period_us t_cpu_s t_cpu_percent",
        ),
        (
            "'loop':3,'run':-1",
            "t_loops t_run_us t_period_us t_cpu_s t_cpu_percent",
        ),
    ];
    for (members, expected) in table {
        let workload = compile(&task(members), Mode::Workgen);
        let names: Vec<&str> = workload.measures.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{members}");
    }
}

/// Delays and timers of forked threads begin where all others do: with the workload.
#[test]
fn timers_of_forked_threads_begin_with_the_workload() {
    let text = "{'tasks':{'child':{'instance':0,'delay':9,'loop':1,'timer':{'ref':'unique','period':5}},'parent':{'loop':1,'timer':{'ref':'unique','period':5},'fork':'child'}}}";
    let workload = compile(text, Mode::Workgen);
    let origins = |program: u32| {
        let ops = workload.programs[program as usize].ops.iter();
        let origin = |op: &Op| match op {
            Op::Timer { origin, .. } => Some(*origin),
            _ => None,
        };
        ops.filter_map(origin).collect::<Vec<_>>()
    };
    assert_eq!(workload.tasks[0].comm, "parent-0");
    assert_eq!(origins(workload.tasks[0].program), [TimerOrigin::TaskStart]);
    let of_child = [TimerOrigin::WorkloadStart; 2];
    assert_eq!(origins(workload.tasks[1].program), of_child);
}
