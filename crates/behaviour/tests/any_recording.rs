// SPDX-License-Identifier: GPL-2.0-only
//! Events in any order make a replay that comes to its end, or a reason why there is none.
//!
//! Files can be damaged, and sources can leave out or twist what they like.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_behaviour::replayed;
use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_recording::workload::{
    Call, Capability, Context, Event, Interrupt, Left, Policy, TaskFact, What, WorkloadWriter,
};
use alight_recording::{End, Header};
use alight_sim::Scenario;
use proptest::prelude::*;
use proptest::sample::select;

/// The idle task and a few others.
fn pid() -> impl Strategy<Value = u32> {
    0..6_u32
}

fn prio() -> impl Strategy<Value = u16> {
    select(vec![120, 120, 110, 98])
}

fn left() -> impl Strategy<Value = Left> {
    let all = [Left::Runnable, Left::Preempted, Left::Asleep, Left::Blocked];
    select([all.to_vec(), all.to_vec(), vec![Left::Dead]].concat())
}

fn interrupt() -> impl Strategy<Value = Interrupt> {
    select(vec![
        Interrupt::Hrtimer(0),
        Interrupt::Timer(0),
        Interrupt::Device(7),
        Interrupt::Softirq(7),
        Interrupt::Tick,
        Interrupt::Ipi(0),
    ])
}

fn call() -> impl Strategy<Value = Call> {
    select(Call::ALL.to_vec())
}

fn switch() -> impl Strategy<Value = What> {
    (pid(), prio(), left(), pid(), prio()).prop_map(|(prev, prev_prio, left, next, next_prio)| {
        What::Switch {
            prev,
            prev_prio,
            left,
            next,
            next_prio,
        }
    })
}

fn waking() -> impl Strategy<Value = What> {
    let context = select(vec![
        None,
        Some(Context::Task),
        Some(Context::Hardirq),
        Some(Context::Softirq),
        Some(Context::Nmi),
    ]);
    (pid(), prio(), pid(), context, any::<Option<bool>>()).prop_map(
        |(pid, prio, current, context, sync)| What::Waking {
            pid,
            prio,
            current,
            prev_cpu: 0,
            context,
            sync,
        },
    )
}

fn queued() -> impl Strategy<Value = What> {
    (pid(), prio(), 0..5_u16, any::<bool>()).prop_map(|(pid, prio, target_cpu, new)| match new {
        true => What::WakeupNew {
            pid,
            prio,
            target_cpu,
        },
        false => What::Wakeup {
            pid,
            prio,
            target_cpu,
        },
    })
}

fn calls() -> impl Strategy<Value = What> {
    let begins = (pid(), call(), 1..4_u64, 0..300_u32).prop_map(|(pid, call, object, count)| {
        What::CallBegin {
            pid,
            call,
            object,
            count,
        }
    });
    let ends = (pid(), call(), -5..300_i32).prop_map(|(pid, call, result)| What::CallEnd {
        pid,
        call,
        result,
    });
    prop_oneof![begins, ends]
}

fn of_a_cpu() -> impl Strategy<Value = What> {
    prop_oneof![
        (interrupt(), 0..2_000_000_u32)
            .prop_map(|(interrupt, late_ns)| What::InterruptBegin { interrupt, late_ns }),
        interrupt().prop_map(|interrupt| What::InterruptEnd { interrupt }),
        (0..5_u16, 0..2_000_000_u32).prop_map(|(of_cpu, khz)| What::Frequency { of_cpu, khz }),
        any::<Option<u32>>().prop_map(|state| What::Idle { state }),
        any::<bool>().prop_map(|online| What::Hotplug { online }),
        any::<bool>().prop_map(|of_cpu_only| What::Lost {
            count: 1,
            of_cpu_only
        }),
    ]
}

fn of_a_task() -> impl Strategy<Value = What> {
    prop_oneof![
        (pid(), pid()).prop_map(|(parent, child)| What::Fork { parent, child }),
        pid().prop_map(|pid| What::Exit { pid }),
        pid().prop_map(|pid| What::Yield { pid }),
        pid().prop_map(|pid| What::WakingEnd { pid }),
        pid().prop_map(|pid| What::Schedule { pid }),
        (pid(), 0..4_u16, 0..4_u16).prop_map(|(pid, from_cpu, to_cpu)| What::Migrate {
            pid,
            prio: 120,
            from_cpu,
            to_cpu,
        }),
    ]
}

/// An event, and how long after the one before it comes, ns.
fn event() -> impl Strategy<Value = (u64, u16, What)> {
    let what = prop_oneof![
        4 => switch(),
        3 => waking(),
        1 => queued(),
        2 => calls(),
        2 => of_a_cpu(),
        2 => of_a_task(),
    ];
    let behind = prop_oneof![Just(0), 1..200_000_u64];
    (behind, 0..4_u16, what)
}

fn fact() -> impl Strategy<Value = TaskFact> {
    let policy = select(vec![
        None,
        Some(Policy::Normal),
        Some(Policy::Idle),
        Some(Policy::Fifo),
    ]);
    let affinity = select(vec![None, Some("0"), Some("1-2"), Some("0-3"), Some("9")]);
    (0..2_000_000_u64, pid(), policy, affinity, 0..2000_u32).prop_map(
        |(time, pid, policy, affinity, clamp)| TaskFact {
            time,
            pid,
            policy,
            rt_priority: (policy == Some(Policy::Fifo)).then_some(5),
            affinity: affinity.map(str::to_owned),
            uclamp_max: (clamp <= 1024).then_some(clamp),
            ..TaskFact::default()
        },
    )
}

fn write(path: &Path, events: &[(u64, u16, What)], facts: &[TaskFact]) {
    let header = Header {
        kernel: "6.1.0".into(),
        arch: "x86_64".into(),
        clock: "monotonic, ns".into(),
        command: "app".into(),
        ..Header::default()
    };
    let mut writer = WorkloadWriter::create(path, header, 1).unwrap();
    let mut facts = facts.to_vec();
    facts.sort_by_key(|fact| fact.time);
    let mut facts = facts.into_iter().peekable();
    let mut time = 0;
    for &(behind, cpu, what) in events {
        time += behind;
        while let Some(fact) = facts.next_if(|fact| fact.time <= time) {
            writer.task(&fact).unwrap();
        }
        writer.event(&Event { time, cpu, what }).unwrap();
    }
    let told = Capability::ALL.into_iter().collect();
    writer.finish(End::default(), &told).unwrap();
}

/// How the replay of these events ends, if there is one. With `check` its invariants are proven.
fn ends(
    events: &[(u64, u16, What)],
    facts: &[TaskFact],
    machine: &str,
    base: &str,
    check: bool,
) -> Result<(), alight_sim::Error> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("any.alight");
    write(&path, events, facts);
    let machine = Machine::load(machine).unwrap();
    let line = alight_replay::Line::parse(path.to_str().unwrap());
    let Ok(workload) = replayed::load(&line.unwrap().unwrap(), &machine) else {
        return Ok(());
    };
    let scheduler = Scheduler::parse(base).unwrap();
    let scenario = Scenario {
        check,
        ..Scenario::new(&machine, std::slice::from_ref(&workload), &scheduler)
    };
    alight_sim::run(&scenario, None, &AtomicBool::new(false)).map(|_| ())
}

fn leaves(prev: u32, next: u32) -> What {
    What::Switch {
        prev,
        prev_prio: 120,
        left: Left::Asleep,
        next,
        next_prio: 120,
    }
}

fn woken(pid: u32, current: u32) -> What {
    What::Waking {
        pid,
        prio: 120,
        current,
        prev_cpu: 0,
        context: None,
        sync: None,
    }
}

fn begins(call: Call) -> What {
    What::CallBegin {
        pid: 2,
        call,
        object: 1,
        count: 0,
    }
}

/// What cannot have been so: a task sleeps again that did not come, and one that sleeps forks, wakes
/// and calls.
#[test]
fn contradictions_come_to_an_end() {
    let fork = What::Fork {
        parent: 2,
        child: 3,
    };
    let table: [&[What]; 4] = [
        &[woken(2, 0), leaves(2, 2)],
        &[leaves(2, 0), fork],
        &[leaves(3, 0), leaves(2, 0), woken(3, 2)],
        &[
            leaves(2, 0),
            begins(Call::PipeRead),
            begins(Call::FutexWait),
            woken(2, 0),
        ],
    ];
    for events in table {
        let timed: Vec<_> = events.iter().map(|&what| (1, 0, what)).collect();
        let ended = ends(&timed, &[], "ca9x4", "linux-5.5", true);
        assert!(ended.is_ok(), "{events:?}: {ended:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(400)
    })]

    #[test]
    fn any_events_come_to_an_end(
        events in prop::collection::vec(event(), 1..120),
        facts in prop::collection::vec(fact(), 0..6),
        machine in select(vec!["ca9x4", "juno-r0"]),
        base in select(vec!["linux-5.5", "linux-6.1", "linux-7.2"]),
        // Which takes many times as long.
        check in prop::bool::weighted(0.05),
    ) {
        let ended = ends(&events, &facts, machine, base, check);
        prop_assert!(ended.is_ok(), "{:?}", ended);
    }
}
