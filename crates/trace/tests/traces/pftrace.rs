// SPDX-License-Identifier: GPL-2.0-only
//! A .pftrace read back by another protobuf library: nothing is lost, and Perfetto's sorting gives the run's order.

use std::path::Path;

use alight_trace::{
    CpuInfo, Event, Format, PrevState, Sink, TaskInfo, TaskRef, TraceFile, TraceHeader,
};
use prost::Message;

use crate::run;

/// The part of perfetto_trace.proto that is compared, written from it and not from the encoder.
mod schema {
    #[derive(prost::Message)]
    pub struct Trace {
        #[prost(message, repeated, tag = "1")]
        pub packet: Vec<Packet>,
    }
    #[derive(prost::Message)]
    pub struct Packet {
        #[prost(message, optional, tag = "1")]
        pub ftrace_events: Option<Bundle>,
        #[prost(uint64, optional, tag = "8")]
        pub timestamp: Option<u64>,
        #[prost(message, optional, tag = "11")]
        pub track_event: Option<TrackEvent>,
        #[prost(message, optional, tag = "60")]
        pub track_descriptor: Option<TrackDescriptor>,
    }
    #[derive(prost::Message)]
    pub struct Bundle {
        #[prost(uint32, optional, tag = "1")]
        pub cpu: Option<u32>,
        #[prost(message, repeated, tag = "2")]
        pub event: Vec<FtraceEvent>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct FtraceEvent {
        #[prost(uint64, optional, tag = "1")]
        pub timestamp: Option<u64>,
        #[prost(uint32, optional, tag = "2")]
        pub pid: Option<u32>,
        #[prost(message, optional, tag = "3")]
        pub print: Option<Print>,
        #[prost(message, optional, tag = "4")]
        pub sched_switch: Option<Switch>,
        #[prost(message, optional, tag = "20")]
        pub sched_waking: Option<Wakeup>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Print {
        #[prost(string, optional, tag = "2")]
        pub buf: Option<String>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Switch {
        #[prost(string, optional, tag = "1")]
        pub prev_comm: Option<String>,
        #[prost(int32, optional, tag = "2")]
        pub prev_pid: Option<i32>,
        #[prost(int32, optional, tag = "3")]
        pub prev_prio: Option<i32>,
        #[prost(int64, optional, tag = "4")]
        pub prev_state: Option<i64>,
        #[prost(string, optional, tag = "5")]
        pub next_comm: Option<String>,
        #[prost(int32, optional, tag = "6")]
        pub next_pid: Option<i32>,
        #[prost(int32, optional, tag = "7")]
        pub next_prio: Option<i32>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Wakeup {
        #[prost(string, optional, tag = "1")]
        pub comm: Option<String>,
        #[prost(int32, optional, tag = "2")]
        pub pid: Option<i32>,
        #[prost(int32, optional, tag = "3")]
        pub prio: Option<i32>,
        #[prost(int32, optional, tag = "5")]
        pub target_cpu: Option<i32>,
    }
    #[derive(prost::Message)]
    pub struct TrackEvent {
        #[prost(uint64, optional, tag = "11")]
        pub track_uuid: Option<u64>,
        #[prost(string, optional, tag = "23")]
        pub name: Option<String>,
        #[prost(int64, optional, tag = "30")]
        pub counter_value: Option<i64>,
    }
    #[derive(prost::Message)]
    pub struct TrackDescriptor {
        #[prost(uint64, optional, tag = "1")]
        pub uuid: Option<u64>,
        #[prost(string, optional, tag = "2")]
        pub name: Option<String>,
        #[prost(uint64, optional, tag = "5")]
        pub parent_uuid: Option<u64>,
    }
}

use schema::{FtraceEvent, Packet, Print, Switch, Trace, Wakeup};

const CPUS: u32 = 5;

fn read(path: &Path) -> Vec<Packet> {
    Trace::decode(&*std::fs::read(path).unwrap())
        .expect("valid protobuf")
        .packet
}

/// ftrace events and their CPUs as Perfetto sorts them: by time, then CPU, then place in the file.
fn sorted_ftrace(packets: Vec<Packet>) -> Vec<(u32, FtraceEvent)> {
    let bundles = packets
        .into_iter()
        .filter_map(|packet| packet.ftrace_events);
    let mut events: Vec<_> = bundles
        .flat_map(|bundle| {
            bundle
                .event
                .into_iter()
                .map(move |event| (bundle.cpu.unwrap(), event))
        })
        .collect();
    events.sort_by_key(|(cpu, event)| (event.timestamp, *cpu));
    events
}

fn many_tasks() -> TraceHeader {
    let task = |pid| TaskInfo {
        pid,
        tgid: 1,
        comm: format!("task {pid}"),
        process: "many".into(),
    };
    TraceHeader {
        cpus: vec![CpuInfo::default(); CPUS as usize],
        tasks: (1..=40).map(task).collect(),
        ..TraceHeader::default()
    }
}

/// Numbers that look random and are the same every time (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % bound
    }
}

#[test]
fn sorting_by_time_and_cpu_gives_every_event_back_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("many.pftrace");
    let mut trace = TraceFile::create_as(&path, Format::Perfetto, &many_tasks()).unwrap();
    let mut dice = Dice(1);
    let mut current = [TaskRef { pid: 0, prio: 120 }; CPUS as usize];
    let mut expected = Vec::new();
    let mut time_ns = 0;
    let comm = |task: TaskRef, cpu: u32| match task.pid {
        0 => format!("swapper/{cpu}"),
        pid => format!("task {pid}"),
    };
    for number in 0..20_000 {
        // Half of the events share their instant with the one before.
        time_ns += u64::from(dice.below(2) * dice.below(1_000));
        let cpu = dice.below(CPUS);
        let prev = current[cpu as usize];
        let task = TaskRef {
            pid: 1 + dice.below(40),
            prio: 100 + dice.below(40) as i32,
        };
        let text = format!("{number} {}", "x".repeat(dice.below(300) as usize));
        let mut fields = FtraceEvent {
            pid: Some(prev.pid),
            ..FtraceEvent::default()
        };
        let event = match dice.below(3) {
            0 => {
                fields.sched_switch = Some(Switch {
                    prev_comm: Some(comm(prev, cpu)),
                    prev_pid: Some(prev.pid as i32),
                    prev_prio: Some(prev.prio),
                    prev_state: Some(0x100),
                    next_comm: Some(comm(task, cpu)),
                    next_pid: Some(task.pid as i32),
                    next_prio: Some(task.prio),
                });
                current[cpu as usize] = task;
                Event::Switch {
                    prev,
                    prev_state: PrevState::Preempted,
                    next: task,
                }
            }
            1 => {
                fields.sched_waking = Some(Wakeup {
                    comm: Some(comm(task, cpu)),
                    pid: Some(task.pid as i32),
                    prio: Some(task.prio),
                    target_cpu: Some(number % 5),
                });
                Event::Waking {
                    task,
                    target_cpu: (number % 5) as u32,
                }
            }
            _ => {
                fields.print = Some(Print {
                    buf: Some(text.clone()),
                });
                Event::Print {
                    task: prev,
                    text: &text,
                }
            }
        };
        trace.event(time_ns, cpu, event).unwrap();
        expected.push((time_ns, cpu, fields));
    }
    trace.finish().unwrap();

    let found = sorted_ftrace(read(&path));
    assert_eq!(found.len(), expected.len());
    let mut latest = 0;
    for ((cpu, mut event), (time_ns, on_cpu, fields)) in found.into_iter().zip(expected) {
        let stamp = event.timestamp.take().unwrap();
        assert_eq!((cpu, event), (on_cpu, fields));
        // A nanosecond is added only where an instant's events go back to a lower CPU.
        assert!(
            stamp >= time_ns && stamp < time_ns + 100,
            "{stamp} for {time_ns}"
        );
        latest = latest.max(stamp - time_ns);
    }
    assert!(latest > 0, "the test has no instant that needs it");
}

#[test]
fn every_track_event_is_on_a_track_described_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pair.pftrace");
    run::write(&path, Format::Perfetto);
    let mut names = std::collections::BTreeMap::new();
    let mut shown = Vec::new();
    for packet in read(&path) {
        if let Some(track) = packet.track_descriptor {
            let parent = track
                .parent_uuid
                .map_or(String::new(), |uuid| format!("{}/", names[&uuid]));
            names.insert(track.uuid.unwrap(), parent + &track.name.unwrap());
        }
        if let Some(event) = packet.track_event {
            let value = event
                .name
                .unwrap_or_else(|| event.counter_value.unwrap().to_string());
            let track: &String = &names[&event.track_uuid.unwrap()];
            shown.push(format!("{} {track}: {value}", packet.timestamp.unwrap()));
        }
    }
    let expected = [
        "1000 Alight run: start",
        "2500 Placement decisions/CPU 0 decides: slow path",
        "2700 util_avg/CPU 1 util_avg: 512",
        "2700 nr_running/CPU 1 nr_running: 1",
        "2700 capacity/CPU 1 capacity: 1000",
    ];
    assert_eq!(shown, expected);
}
