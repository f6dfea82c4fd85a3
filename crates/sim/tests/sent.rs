// SPDX-License-Identifier: GPL-2.0-only
//! Where hotplug sends a task elsewhere, traces tell of a decision with the CPU that it is sent to, and
//! likewise of what the base would have answered.

mod common;

use alight_policy::Scheduler;
use alight_sim::{Action, Change, Scenario};
use alight_trace::{BaseAnswer, Event, Sink};
use common::{MS, load, machine};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// When [`OFF`] go, ns.
const OFF_AT: u64 = 10 * MS;
const OFF: std::ops::RangeInclusive<u32> = 2..=5;

/// What a sink was told of decisions.
#[derive(Default)]
struct Told {
    /// Of each task that was placed and is not yet queued: the CPU that was told.
    sent: BTreeMap<u32, u32>,
    decided: u64,
    /// Tasks that were queued on another CPU than was told: when, ns, what was told, where.
    wrong: Vec<(u64, u32, u32)>,
    /// Decisions about tasks whose previous CPU was off.
    came_from_off: u64,
    /// Answers of the base that name a CPU that is off.
    base_off: u64,
}

impl Told {
    fn queued(&mut self, at_ns: u64, pid: u32, cpu: u32) {
        if let Some(sent) = self.sent.remove(&pid).filter(|sent| *sent != cpu) {
            self.wrong.push((at_ns, sent, cpu));
        }
    }
}

impl Sink for Told {
    fn wants_base_answers(&self) -> bool {
        true
    }

    fn event(&mut self, at_ns: u64, _: u32, event: Event<'_>) -> std::io::Result<()> {
        match event {
            Event::Decision {
                task,
                prev_cpu,
                cpu,
                ..
            } => {
                self.decided += 1;
                self.came_from_off += u64::from(at_ns > OFF_AT && OFF.contains(&prev_cpu));
                self.sent.insert(task.pid, cpu);
            }
            Event::Wakeup { task, target_cpu } | Event::WakeupNew { task, target_cpu } => {
                self.queued(at_ns, task.pid, target_cpu);
            }
            _ => {}
        }
        Ok(())
    }

    fn base_answer(&mut self, at_ns: u64, _: u32, base: &BaseAnswer<'_>) -> std::io::Result<()> {
        self.base_off += u64::from(at_ns > OFF_AT && OFF.contains(&base.cpu));
        Ok(())
    }
}

#[test]
fn a_decision_is_told_with_the_cpu_that_its_task_goes_to() {
    let machine = machine("juno-r0");
    let changes = [Change {
        at_ns: OFF_AT,
        action: Action::Offline(OFF.map(|cpu| cpu as usize).collect()),
    }];
    for (line, scheduler) in [
        ("hackbench -g 1 -l 50", "linux-5.5"),
        ("hackbench -g 1 -l 50", "linux-6.5+bias-prev"),
        ("cyclictest -t 6 -a -q -D 1", "linux-5.5"),
    ] {
        let workloads = [load(line)];
        let scheduler = Scheduler::parse(scheduler).expect("a scheduler");
        let scenario = Scenario {
            changes: &changes,
            duration_ns: Some(100 * MS),
            check: true,
            ..Scenario::new(&machine, &workloads, &scheduler)
        };
        let mut told = Told::default();
        let never = AtomicBool::new(false);
        alight_sim::run(&scenario, Some(&mut told), &never).expect("a run");
        let Told {
            decided,
            wrong,
            came_from_off,
            base_off,
            ..
        } = told;
        assert!(decided > 100 && came_from_off > 0, "{line}");
        assert_eq!((wrong, base_off), (vec![], 0), "{line}");
    }
}
