// SPDX-License-Identifier: GPL-2.0-only
//! Many writers on full pipes: one of them is woken at a time, and passes it on
//! (`wake_next_writer`), or some would sleep for ever once nobody fills the pipe.

use alight_policy::Scheduler;
use alight_sim::Scenario;
use alight_workload::{Mode, program::Workload};
use std::sync::atomic::AtomicBool;

#[test]
fn every_message_arrives() {
    let machine = alight_machine::load("juno-r0").expect("built in").machine;
    let scheduler = Scheduler::parse("linux-5.5").expect("valid");
    for command in ["hackbench -g 2 -l 300 -p", "hackbench -g 2 -l 300"] {
        let workload = Workload::load(command, Mode::Workgen)
            .expect("valid")
            .workload;
        let scenario = Scenario::new(&machine, std::slice::from_ref(&workload), &scheduler);
        let outcome = alight_sim::run(&scenario, None, &AtomicBool::new(false));
        assert!(outcome.is_ok(), "{command}: {outcome:?}");
    }
}
