// SPDX-License-Identifier: GPL-2.0-only
//! What is written is read again, and nothing else is.

use std::collections::BTreeSet;
use std::io::BufReader;

use super::*;
use crate::{End, Header, Reader};

fn header() -> Header {
    Header {
        kinds: vec![],
        kernel: "6.1.0".into(),
        build: String::new(),
        arch: "x86_64".into(),
        hz: None,
        clock: "monotonic, ns".into(),
        command: "true".into(),
        cpus: vec![],
        facts: [(SOURCE.to_owned(), "test".to_owned())].into(),
    }
}

/// One event of each shape.
fn samples() -> Vec<What> {
    let mut all = vec![
        What::Wakeup {
            pid: 3,
            prio: 120,
            target_cpu: 383,
        },
        What::WakeupNew {
            pid: u32::MAX,
            prio: 139,
            target_cpu: 0,
        },
        What::Migrate {
            pid: 3,
            prio: 0,
            from_cpu: 1,
            to_cpu: u16::MAX,
        },
        What::Fork {
            parent: 1,
            child: 2,
        },
        What::Exit { pid: 9 },
        What::Yield { pid: 9 },
        What::Frequency {
            of_cpu: 4,
            khz: u32::MAX,
        },
        What::Idle { state: None },
        What::Idle { state: Some(0) },
        What::Hotplug { online: true },
        What::Hotplug { online: false },
        What::WakingEnd { pid: 9 },
        What::Schedule { pid: 9 },
        What::Lost {
            count: u64::MAX,
            of_cpu_only: true,
        },
    ];
    for left in [
        Left::Runnable,
        Left::Preempted,
        Left::Asleep,
        Left::Blocked,
        Left::Dead,
    ] {
        all.push(What::Switch {
            prev: 0,
            prev_prio: 120,
            left,
            next: 7,
            next_prio: 98,
        });
    }
    let contexts = [
        Context::Task,
        Context::Hardirq,
        Context::Softirq,
        Context::Nmi,
    ];
    for context in contexts.map(Some).into_iter().chain([None]) {
        for sync in [None, Some(false), Some(true)] {
            all.push(What::Waking {
                pid: 5,
                prio: 120,
                current: 6,
                prev_cpu: 2,
                context,
                sync,
            });
        }
    }
    for interrupt in [
        Interrupt::Hrtimer(u64::MAX),
        Interrupt::Timer(1),
        Interrupt::Device(33),
        Interrupt::Softirq(1),
        Interrupt::Tick,
        Interrupt::Ipi(253),
    ] {
        all.push(What::InterruptBegin {
            interrupt,
            late_ns: u32::MAX,
        });
        all.push(What::InterruptEnd { interrupt });
    }
    for call in [Call::PipeRead, Call::FutexWake, Call::SleepUntil] {
        all.push(What::CallBegin {
            pid: 8,
            call,
            object: 1 << 63,
            count: 100,
        });
        all.push(What::CallEnd {
            pid: 8,
            call,
            result: -4,
        });
    }
    all
}

#[test]
fn what_is_written_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.alight");
    let mut writer = WorkloadWriter::create(&path, header(), 1).unwrap();
    let fact = TaskFact {
        time: 5,
        pid: 3,
        comm: Some("läuft".into()),
        policy: Some(Policy::Batch),
        vruntime: Some(-3),
        ..TaskFact::default()
    };
    writer.task(&fact).unwrap();
    let events: Vec<Event> = (10..)
        .zip(samples())
        .map(|(time, what)| Event { time, cpu: 1, what })
        .collect();
    for event in &events {
        writer.event(event).unwrap();
    }
    assert_eq!(writer.events(), events.len() as u64);
    let told: BTreeSet<Capability> = [Capability::Wakings, Capability::Calls].into();
    writer.finish(End::default(), &told).unwrap();

    let mut reader = WorkloadReader::new(Reader::open(&path).unwrap()).unwrap();
    let mut read = vec![];
    while let Some(item) = reader.next_item().unwrap() {
        read.push(item);
    }
    assert_eq!(read[0], Item::Task(Box::new(fact)));
    let read: Vec<Item> = read.split_off(1);
    assert_eq!(
        read,
        events.into_iter().map(Item::Event).collect::<Vec<_>>()
    );
    assert_eq!(Capability::listed(reader.end().unwrap()).unwrap(), told);
}

#[test]
fn the_architecture_may_be_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.alight");
    for arch in ["", "riscv64"] {
        let of_arch = Header {
            arch: arch.into(),
            ..header()
        };
        let writer = WorkloadWriter::create(&path, of_arch, 1).unwrap();
        writer.finish(End::default(), &BTreeSet::new()).unwrap();
        let reader = WorkloadReader::new(Reader::open(&path).unwrap()).unwrap();
        assert_eq!(reader.header().arch, arch);
    }
}

#[test]
fn time_does_not_go_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.alight");
    let mut writer = WorkloadWriter::create(&path, header(), 1).unwrap();
    let at = |time| Event {
        time,
        cpu: 0,
        what: What::Exit { pid: 1 },
    };
    writer.event(&at(7)).unwrap();
    writer.event(&at(7)).unwrap();
    let error = writer.event(&at(6)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an event at 6 ns came behind one at 7 ns"
    );
}

#[test]
fn a_recording_of_something_else_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.alight");
    let other = Header {
        kinds: vec!["pelt.update/1".into()],
        ..header()
    };
    let writer = crate::Writer::create(&path, &other, 1).unwrap();
    writer.finish(End::default()).unwrap();
    let file = BufReader::new(std::fs::File::open(&path).unwrap());
    let refused = WorkloadReader::new(Reader::new(file).unwrap())
        .err()
        .unwrap();
    assert_eq!(
        refused.to_string(),
        "holds pelt.update/1, not a workload: make one with `alight record workload` or `alight \
         import`"
    );
}

#[test]
fn words_that_are_no_event_are_refused() {
    for (words, why) in [
        (vec![1, 2, 3], "it has 3 words of 8 bytes, expected 4"),
        (vec![0, 0, 18 << 16, 0], "its kind is 18, expected 0 to 17"),
        (
            vec![0, 0, 5 << 24, 0],
            "an event of kind 0 has the flags 0x5, which mean nothing",
        ),
        (
            vec![0, 0, 10 << 16, 1 << 32],
            "an event of kind 10 has the value 4294967296, which is too large",
        ),
    ] {
        assert_eq!(Event::decode(&words).unwrap_err().to_string(), why);
    }
}

#[test]
fn each_capability_has_a_name() {
    for one in Capability::ALL {
        assert_eq!(one.name().parse(), Ok(one));
    }
    let unknown = "warp".parse::<Capability>().unwrap_err();
    assert!(unknown.to_string().contains("'warp'"), "{unknown}");
    assert_eq!(
        Capability::ALL.iter().collect::<BTreeSet<_>>().len(),
        Capability::ALL.len()
    );
}
