// SPDX-License-Identifier: GPL-2.0-only
//! Traces made here, message by message.

use std::path::Path;

use alight_recording::Reader;
use alight_recording::workload::{
    Capability, Context, Event, Item, Left, TaskFact, What, WorkloadReader,
};

use crate::{Options, Report, import_bytes};

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = vec![];
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn number(field: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(field) << 3), varint(value)].concat()
}

fn bytes(field: u32, content: &[u8]) -> Vec<u8> {
    let head = [
        varint(u64::from(field) << 3 | 2),
        varint(content.len() as u64),
    ];
    [head.concat(), content.to_vec()].concat()
}

fn message(field: u32, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, &parts.concat())
}

fn packed(field: u32, values: &[u64]) -> Vec<u8> {
    bytes(
        field,
        &values
            .iter()
            .flat_map(|value| varint(*value))
            .collect::<Vec<u8>>(),
    )
}

/// A packet with a bundle of a CPU.
fn bundle(cpu: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    message(1, &[message(1, &[number(1, cpu), parts.concat()])])
}

/// An event of a bundle.
fn event(time: u64, pid: u64, field: u32, parts: &[Vec<u8>]) -> Vec<u8> {
    message(2, &[number(1, time), number(2, pid), message(field, parts)])
}

fn plain_switch(time: u64, prev: u64, next: u64) -> Vec<u8> {
    let parts = [
        bytes(1, b"prev"),
        number(2, prev),
        number(3, 120),
        number(4, 2),
        bytes(5, b"next"),
        number(6, next),
        // -1: a deadline task.
        number(7, u64::MAX),
    ];
    event(time, prev, 4, &parts)
}

fn read(path: &Path) -> (Vec<Event>, Vec<TaskFact>) {
    let mut reader = WorkloadReader::new(Reader::open(path).unwrap()).unwrap();
    let (mut events, mut tasks) = (vec![], vec![]);
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            Item::Event(event) => events.push(event),
            Item::Task(fact) => tasks.push(*fact),
        }
    }
    (events, tasks)
}

fn import(trace: Vec<u8>) -> (Report, Vec<Event>, Vec<TaskFact>) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.alight");
    let report = import_bytes(trace, Some(&out), &Options::default()).unwrap();
    let (events, tasks) = read(&out);
    (report, events, tasks)
}

/// Two switches and two wakings: at 110 by task 7, at 130 by an interrupt on the idle CPU.
fn compact() -> Vec<u8> {
    let compact = [
        packed(1, &[100, 20]),
        packed(2, &[0, 1]),
        packed(3, &[7, 0]),
        packed(4, &[98, 120]),
        bytes(5, b"app"),
        bytes(5, b"swapper/1"),
        bytes(5, b"other"),
        packed(6, &[0, 1]),
        packed(7, &[110, 20]),
        packed(8, &[8, 8]),
        packed(9, &[3, 3]),
        packed(10, &[120, 120]),
        packed(11, &[2, 2]),
        packed(12, &[1, 0x08]),
    ];
    bundle(1, &[message(4, &compact)])
}

#[test]
fn compact_events_are_put_together() {
    let (report, events, tasks) = import(compact());
    let waking = |current, context| What::Waking {
        pid: 8,
        prio: 120,
        current,
        prev_cpu: 3,
        context: Some(context),
        sync: None,
    };
    let switch = |prev, prev_prio, left, next, next_prio| What::Switch {
        prev,
        prev_prio,
        left,
        next,
        next_prio,
    };
    let expected = [
        (100, switch(0, 120, Left::Runnable, 7, 98)),
        (110, waking(7, Context::Task)),
        (120, switch(7, 98, Left::Asleep, 0, 120)),
        (130, waking(0, Context::Hardirq)),
    ];
    let expected = expected.map(|(time, what)| Event { time, cpu: 1, what });
    assert_eq!(events, expected);
    assert!(report.told().contains(&Capability::Context));
    let names: Vec<_> = tasks
        .iter()
        .map(|task| (task.pid, task.comm.as_deref()))
        .collect();
    assert_eq!(names, [(7, Some("app")), (8, Some("other"))]);
}

#[test]
fn columns_of_other_lengths_are_refused() {
    let compact = [packed(1, &[100, 20]), packed(2, &[0]), packed(3, &[7, 0])];
    let trace = bundle(1, &[message(4, &compact)]);
    let error = import_bytes(trace, None, &Options::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "at byte 0: a column of compact events has 0 values, and row 0 is needed"
    );
}

#[test]
fn plain_events_of_all_cpus_are_put_in_order() {
    let woken = [bytes(1, b"b"), number(2, 8), number(3, 120), number(5, 2)];
    let newtask = event(210, 7, 235, &[number(1, 9), bytes(2, b"kid")]);
    let fork = [bytes(1, b"a"), number(2, 7), bytes(3, b"kid"), number(4, 9)];
    let trace = [
        bundle(
            0,
            &[
                plain_switch(300, 7, 0),
                event(310, 0, 13, &[number(1, 1), number(2, 0)]),
            ],
        ),
        bundle(
            1,
            &[
                plain_switch(200, 0, 7),
                newtask,
                // The same birth again.
                event(211, 7, 239, &fork),
                event(220, 7, 20, &woken),
                event(230, 7, 553, &[number(1, 5), number(3, 0xffff)]),
                event(240, 7, 554, &[number(1, 5)]),
            ],
        ),
    ];
    let (report, events, _) = import(trace.concat());
    let times: Vec<u64> = events.iter().map(|event| event.time).collect();
    assert_eq!(times, [200, 210, 220, 230, 240, 300, 310]);
    assert!(matches!(
        events[0].what,
        What::Switch {
            next: 7,
            next_prio: u16::MAX,
            ..
        }
    ));
    assert_eq!(
        events[1].what,
        What::Fork {
            parent: 7,
            child: 9
        }
    );
    assert!(matches!(
        events[2].what,
        What::Waking {
            current: 7,
            context: None,
            ..
        }
    ));
    // The end does not say which timer; it is that which began.
    let timer = alight_recording::workload::Interrupt::Hrtimer(0xffff);
    assert_eq!(
        events[3].what,
        What::InterruptBegin {
            interrupt: timer,
            late_ns: 0
        }
    );
    assert_eq!(events[4].what, What::InterruptEnd { interrupt: timer });
    assert!(!report.told().contains(&Capability::Context));
    assert!(report.told().contains(&Capability::Forks));
}

#[test]
fn the_machine_the_tasks_and_losses_are_told() {
    let utsname = [
        bytes(2, b"#1 SMP"),
        bytes(3, b"5.15.1-android"),
        bytes(4, b"aarch64"),
    ];
    let process = message(1, &[number(1, 7), number(2, 1), bytes(3, b"com.app")]);
    let thread = message(2, &[number(1, 8), bytes(2, b"RenderThread"), number(3, 7)]);
    let kernel = message(1, &[number(1, 30), number(2, 2), bytes(3, b"kworker")]);
    let stats = |phase, overrun| {
        message(
            34,
            &[
                number(1, phase),
                message(2, &[number(1, 0), number(3, overrun)]),
            ],
        )
    };
    let trace = [
        message(1, &[message(45, &[message(1, &utsname), number(8, 2)])]),
        message(
            1,
            &[message(
                67,
                &[
                    message(1, &[number(3, 512)]),
                    message(1, &[number(3, 1024)]),
                ],
            )],
        ),
        message(1, &[stats(1, 10)]),
        bundle(0, &[plain_switch(100, 0, 8)]),
        bundle(0, &[number(3, 1), plain_switch(200, 8, 30)]),
        message(1, &[stats(2, 15)]),
        message(1, &[message(2, &[process, thread, kernel])]),
    ];
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.alight");
    let report = import_bytes(trace.concat(), Some(&out), &Options::default()).unwrap();
    let reader = Reader::open(&out).unwrap();
    let header = reader.header();
    assert_eq!(
        (header.kernel.as_str(), header.arch.as_str()),
        ("5.15.1-android", "aarch64")
    );
    let capacities: Vec<u32> = header.cpus.iter().map(|cpu| cpu.capacity).collect();
    assert_eq!(capacities, [512, 1024]);
    let (events, tasks) = read(&out);
    let lost = What::Lost {
        count: 0,
        of_cpu_only: true,
    };
    assert_eq!((events[1].time, events[1].what), (200, lost));
    assert_eq!(report.lost()["ring_full"], 5);
    let of = |pid| tasks.iter().find(|task| task.pid == pid).unwrap();
    assert_eq!((of(8).tgid, of(8).kernel_thread), (Some(7), Some(false)));
    assert_eq!(of(30).kernel_thread, Some(true));
}

#[test]
fn compressed_packets_are_unpacked() {
    let plain = compact();
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6);
    let packed = message(1, &[bytes(50, &zlib)]);
    assert_eq!(import(packed.clone()).1, import(plain).1);
    let mut broken = packed;
    let end = broken.len();
    broken[end - 1] ^= 1;
    let error = import_bytes(broken, None, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("at byte 0: a packet is not a message"),
        "{error}"
    );
}

#[test]
fn what_was_asked_for_is_in_the_configuration() {
    let config = |events: &[&str]| {
        let events: Vec<Vec<u8>> = events
            .iter()
            .map(|name| bytes(1, name.as_bytes()))
            .collect();
        let ftrace = message(100, &events);
        message(1, &[message(33, &[message(2, &[message(1, &[ftrace])])])])
    };
    let told = |events: &[&str]| {
        let trace = [config(events), bundle(0, &[plain_switch(100, 0, 8)])].concat();
        import(trace).0.told().contains(&Capability::Yields)
    };
    assert!(told(&["sched/sched_switch", "raw_syscalls/sys_enter"]));
    assert!(!told(&["sched/sched_switch"]));
}
