// SPDX-License-Identifier: GPL-2.0-only
//! A seed draws the same programs each time, and another seed others.

use super::*;
use crate::testbed::machine;
use alight_policy::Scheduler;
use alight_workload::blocks::{Blocks, Cut, Pieces};
use alight_workload::program::{Op, Program, TaskSpec};

/// One task that runs for k us in block k of eight.
fn in_blocks() -> Workload {
    let cut = |op| Cut {
        op,
        ..Cut::default()
    };
    let mut workload = Workload::empty("blocks");
    workload.tasks.push(TaskSpec {
        comm: "one".into(),
        program: 0,
        attributes: alight_workload::program::Attributes::default(),
        start_ns: Some(0),
        process: 0,
        working_set_bytes: None,
        begins: None,
    });
    workload.programs.push(Program::default());
    workload.blocks = Some(Blocks {
        tasks: vec![Pieces {
            ops: (1..=8).map(|k| Op::Run { ns: k * 1000 }).collect(),
            cuts: (0..=8).map(cut).collect(),
        }],
        times: (0..=8).map(|k| k * 100_000).collect(),
        first: 0,
        last: 8,
        drawn: 8,
    });
    workload.check().unwrap();
    workload
}

#[test]
fn a_seed_draws_its_programs() {
    let (machine, workload) = (machine(1, 1), in_blocks());
    let scheduler = Scheduler::parse("linux-6.1").unwrap();
    let drawn = |seed| {
        let scenario = Scenario {
            seed,
            check: true,
            ..Scenario::new(&machine, std::slice::from_ref(&workload), &scheduler)
        };
        let end = crate::run(&scenario, None, &false.into()).unwrap().end_ns;
        (workloads(&scenario).unwrap().remove(0).programs, end)
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1).0, drawn(2).0);
    assert_eq!(drawn(3).0[0].ops.len(), 8);
}
