// SPDX-License-Identifier: GPL-2.0-only
//! A small run with every event in it, for the tests of all formats.

use std::path::Path;

use alight_trace::{
    CpuCounter as Counter, CpuInfo, Event, Format, PrevState, Sink, TaskInfo, TaskRef, TraceFile,
    TraceHeader,
};

pub const IDLE: TaskRef = TaskRef { pid: 0, prio: 120 };
pub const MAIN: TaskRef = TaskRef {
    pid: 101,
    prio: 120,
};
pub const CHILD: TaskRef = TaskRef {
    pid: 102,
    prio: 110,
};
pub const IRQ: TaskRef = TaskRef {
    pid: 2_000_001,
    prio: -1,
};

/// Two CPUs, one process of two threads whose second is born in the run, one deadline task with a space in its name.
pub fn header() -> TraceHeader {
    let cpu = |model: &str, capacity, frequencies_khz: &[u32]| CpuInfo {
        model: model.into(),
        capacity,
        frequencies_khz: frequencies_khz.into(),
    };
    let task = |pid, tgid, comm: &str, process: &str| TaskInfo {
        pid,
        tgid,
        comm: comm.into(),
        process: process.into(),
    };
    TraceHeader {
        machine: "pair".into(),
        scheduler: "linux-5.5+asym-capacity".into(),
        seed: 42,
        command: "alight simulate -m pair -w 'two words'".into(),
        start_ns: 1_000,
        cpus: vec![
            cpu("arm,cortex-a53", 446, &[450_000, 850_000]),
            cpu("arm,cortex-a57", 1024, &[1_100_000]),
        ],
        tasks: vec![
            task(101, 101, "main", "rt-app"),
            task(102, 101, "worker-with-a-long-name", "rt-app"),
            task(2_000_001, 2_000_001, "irq 7", "irq 7"),
        ],
    }
}

/// Time, CPU, event, from idle CPUs to idle CPUs: each kind of event at least once, several at one instant on different CPUs.
pub fn events() -> Vec<(u64, u32, Event<'static>)> {
    use Event::*;
    vec![
        (1_000, 0, Frequency { khz: 850_000 }),
        (1_000, 1, IdleEnter { state: 2 }),
        (
            1_500,
            0,
            Switch {
                prev: IDLE,
                prev_state: PrevState::Running,
                next: MAIN,
            },
        ),
        (
            2_000,
            0,
            Print {
                task: MAIN,
                text: "rtapp_main: event=start\n",
            },
        ),
        (
            2_500,
            0,
            Fork {
                parent: MAIN,
                child: CHILD,
            },
        ),
        (
            2_500,
            0,
            Decision {
                task: CHILD,
                prev_cpu: 0,
                cpu: 1,
                step: "slow path",
                scanned: 2,
            },
        ),
        (
            2_500,
            0,
            WakeupNew {
                task: CHILD,
                target_cpu: 1,
            },
        ),
        (2_600, 1, IdleExit),
        (
            2_700,
            1,
            Switch {
                prev: IDLE,
                prev_state: PrevState::Running,
                next: CHILD,
            },
        ),
        (
            2_700,
            1,
            CpuCounter {
                counter: Counter::UtilAvg,
                value: 512,
            },
        ),
        (
            2_700,
            1,
            CpuCounter {
                counter: Counter::NrRunning,
                value: 1,
            },
        ),
        (
            2_700,
            1,
            CpuCounter {
                counter: Counter::Capacity,
                value: 1000,
            },
        ),
        (
            2_999_999_999,
            1,
            Switch {
                prev: CHILD,
                prev_state: PrevState::Sleeping,
                next: IDLE,
            },
        ),
        (
            2_999_999_999,
            0,
            Waking {
                task: CHILD,
                target_cpu: 1,
            },
        ),
        (
            3_000_000_000,
            0,
            Migrate {
                task: CHILD,
                orig_cpu: 1,
                dest_cpu: 0,
            },
        ),
        (
            3_000_000_000,
            0,
            Wakeup {
                task: CHILD,
                target_cpu: 0,
            },
        ),
        (
            3_000_000_001,
            0,
            Switch {
                prev: MAIN,
                prev_state: PrevState::Preempted,
                next: IRQ,
            },
        ),
        (
            3_000_000_002,
            0,
            Switch {
                prev: IRQ,
                prev_state: PrevState::Uninterruptible,
                next: CHILD,
            },
        ),
        (3_000_000_003, 0, Exit { task: CHILD }),
        (
            3_000_000_003,
            0,
            Switch {
                prev: CHILD,
                prev_state: PrevState::Dead,
                next: MAIN,
            },
        ),
        (
            3_000_000_004,
            0,
            Switch {
                prev: MAIN,
                prev_state: PrevState::Sleeping,
                next: IDLE,
            },
        ),
    ]
}

/// Writes the run.
pub fn write(path: &Path, format: Format) {
    let mut trace = TraceFile::create_as(path, format, &header()).expect("create");
    for (time_ns, cpu, event) in events() {
        trace.event(time_ns, cpu, event).expect("event");
    }
    trace.finish().expect("finish");
}
