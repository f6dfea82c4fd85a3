// SPDX-License-Identifier: GPL-2.0-only
//! A run tells how far it is while it runs: by its messages, its time or the numbers that it deals.
//! Who listens changes nothing.

use alight_policy::Scheduler;
use alight_sim::{Scenario, WHOLE};
use alight_workload::{Mode, Workload};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

#[test]
fn a_run_tells_how_far_it_is() {
    let machine = alight_machine::load("ca9x4").expect("built in").machine;
    let scheduler = Scheduler::parse("linux-6.5").expect("a valid scheduler");
    for (line, duration_ns) in [
        ("hackbench -g 1 -p -l 500", None),
        (
            "sysbench --test=threads --num-threads=8 --max-requests=100 run",
            None,
        ),
        ("hackbench -g 1 -p -l 1000000", Some(400_000_000)),
    ] {
        let workload = Workload::load(line, Mode::Workgen).expect("valid").workload;
        let scenario = Scenario {
            duration_ns,
            ..Scenario::new(&machine, std::slice::from_ref(&workload), &scheduler)
        };
        let told = RefCell::new(vec![]);
        let tell = |parts| told.borrow_mut().push(parts);
        let cancel = AtomicBool::new(false);
        let outcome = alight_sim::run_telling(&scenario, None, &cancel, &tell).expect(line);
        assert_eq!(
            outcome,
            alight_sim::run(&scenario, None, &cancel).expect(line)
        );
        let told = told.into_inner();
        assert!(told.len() >= 2, "{line}: {} events", outcome.events);
        assert!(told.is_sorted() && told[0] > 0, "{line}: {told:?}");
        // One look before the end it is nearly done.
        let last = told[told.len() - 1];
        let least = WHOLE - WHOLE / told.len() as u32 * 2;
        assert!((least..=WHOLE).contains(&last), "{line}: {told:?}");
    }
}
