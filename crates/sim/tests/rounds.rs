// SPDX-License-Identifier: GPL-2.0-only
//! Rounds that nobody sees are done at once, and nothing tells: a run with them is the run that
//! makes an event of every operation, to the last number. `check` runs have none.

mod common;

use alight_machine::Machine;
use alight_sim::{Outcome, hotplug_torture};
use alight_workload::program::Op;
use common::{Run, given, load, machine};
use proptest::prelude::*;

const SCHEDULERS: [&str; 5] = [
    "linux-3.9",
    "linux-5.5",
    "linux-5.5+asym-capacity",
    "linux-6.5",
    "linux-7.2",
];

fn both(run: Run<'_>) -> [Outcome; 2] {
    [false, true].map(|check| Run { check, ..run }.go().expect("a run"))
}

#[test]
fn sysbench_is_the_same() {
    for (name, threads, options) in [
        ("juno-r0", 1, "--thread-locks=1"),
        ("juno-r0", 6, ""),
        ("juno-r0", 6, "--thread-yields=3"),
        ("juno-r0", 7, "--thread-locks=3"),
        ("rk3588", 8, "--thread-locks=64"),
        ("ca9x4", 4, "--thread-yields=1"),
        ("threads", 3, ""),
    ] {
        let machine = machine(name);
        let command = format!(
            "sysbench --test=threads --num-threads={threads} --max-time=1 {options} \
             --max-requests=-1 run"
        );
        for scheduler in SCHEDULERS {
            for background in [None, Some("housekeeping")] {
                let mut workloads = vec![load(&command)];
                workloads.extend(background.map(load));
                let run = Run {
                    scheduler,
                    ..Run::new(&machine, &workloads).for_ms(24)
                };
                let [with, without] = both(run);
                let switches = (with.mechanism.iter()).find(|m| m.name == "context_switches");
                assert!(switches.expect("counted").value > 0.0, "{name}, {command}");
                assert_eq!(with, without, "{name}, {command}, {scheduler}");
            }
        }
    }
}

/// Who comes near: by the mutex, by the queue, by the class, by the timer.
#[derive(Debug, Clone)]
enum Step {
    /// Rounds, under a mutex or none: how often, and how many yields.
    Round(Option<u32>, u64, usize),
    Locked(u32, u64),
    Run(u64),
    Sleep(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (prop::option::of(0..2u32), 1..2000u64, 0..7usize)
            .prop_map(|(mutex, count, yields)| Step::Round(mutex, count, yields)),
        1 => (0..2u32, 0..300u64).prop_map(|(mutex, us)| Step::Locked(mutex, us)),
        1 => (0..1500u64).prop_map(Step::Run),
        2 => (0..3000u64).prop_map(Step::Sleep),
    ]
}

fn program(steps: &[Step]) -> Vec<Op> {
    let mut ops = vec![];
    for step in steps {
        match *step {
            Step::Round(mutex, count, yields) => {
                let begin = ops.len() as u32 + 1;
                let mut body = vec![Op::Yield; yields];
                if let Some(mutex) = mutex {
                    body.insert(0, Op::Lock { mutex });
                    body.push(Op::Unlock { mutex });
                }
                let end = begin + body.len() as u32 + 1;
                ops.push(Op::LoopBegin {
                    slot: 0,
                    count,
                    end,
                });
                ops.extend(body);
                ops.push(Op::LoopEnd { slot: 0, begin });
            }
            Step::Locked(mutex, us) => ops.extend([
                Op::Lock { mutex },
                Op::Run { ns: us * 1000 },
                Op::Unlock { mutex },
            ]),
            Step::Run(us) => ops.push(Op::Run { ns: us * 1000 }),
            Step::Sleep(us) => ops.push(Op::Sleep { ns: us * 1000 }),
        }
    }
    ops.push(Op::Exit);
    ops
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_program_is_the_same(
        programs in prop::collection::vec(prop::collection::vec(step(), 1..6), 1..7),
        on in prop::sample::select(vec!["ca9x4", "juno-r0", "juno-r2", "tc2", "threads"]),
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        hotplug in any::<bool>(),
        irq_time_accounting in any::<bool>(),
        seed in 1..1000u64,
    ) {
        let machine = Machine { irq_time_accounting, ..machine(on) };
        let workloads = [given(programs.iter().map(|steps| program(steps)).collect())];
        let mut changes = match hotplug {
            true => hotplug_torture(machine.cpus.len(), 40, seed),
            false => vec![],
        };
        for change in &mut changes {
            change.at_ns /= 200;
        }
        let run = Run { scheduler, seed, changes: &changes, ..Run::new(&machine, &workloads) };
        let [with, without] = both(run.for_ms(30));
        prop_assert_eq!(with, without);
    }
}
