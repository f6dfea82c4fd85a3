// SPDX-License-Identifier: GPL-2.0-only
//! Track events: what ftrace has no event for. Why a CPU was chosen, the counters of each CPU, what the run was.
//!
//! A group of tracks a kind, in it one track a CPU, described when its first event comes: unused ones do not show.

use super::field::TRACE_PACKET;
use super::wire::{bytes_field, message, short_message, signed_field, uint_field};
use crate::event::{CpuCounter, Event};
use crate::header::TraceHeader;

/// The one sequence of track events; any number but 0.
const SEQUENCE: u64 = 1;
const SEQ_INCREMENTAL_STATE_CLEARED: u64 = 1;
const SEQ_NEEDS_INCREMENTAL_STATE: u64 = 2;

const PACKET_TIMESTAMP: u32 = 8;
const PACKET_SEQUENCE_ID: u32 = 10;
const PACKET_TRACK_EVENT: u32 = 11;
const PACKET_INTERNED_DATA: u32 = 12;
const PACKET_SEQUENCE_FLAGS: u32 = 13;
const PACKET_TRACK_DESCRIPTOR: u32 = 60;

const EVENT_ANNOTATION: u32 = 4;
const EVENT_TYPE: u32 = 9;
const EVENT_TRACK: u32 = 11;
const EVENT_NAME: u32 = 23;
const EVENT_COUNTER_VALUE: u32 = 30;
const TYPE_INSTANT: u64 = 3;
const TYPE_COUNTER: u64 = 4;

/// Annotations of a decision; the interned id of each is its place, from 1.
const ANNOTATIONS: [&str; 5] = ["comm", "pid", "prev_cpu", "cpu", "scanned"];

/// The track of the run itself; groups and CPUs have higher numbers.
const RUN_TRACK: u64 = 1;

/// Kinds of per-CPU tracks: decisions, then the counters.
const KINDS: usize = 1 + CpuCounter::ALL.len();
const DECISIONS: usize = 0;

/// Which tracks have been described.
pub(super) struct Tracks {
    groups: [bool; KINDS],
    cpus: Vec<[bool; KINDS]>,
}

impl Tracks {
    pub(super) fn new(cpus: usize) -> Self {
        Self {
            groups: [false; KINDS],
            cpus: vec![[false; KINDS]; cpus],
        }
    }

    /// An instant named by the step that answered, on the track of the CPU that decided.
    pub(super) fn decision(
        &mut self,
        time_ns: u64,
        cpu: u32,
        comm: &[u8],
        event: &Event<'_>,
        out: &mut Vec<u8>,
    ) {
        let Event::Decision {
            task,
            prev_cpu,
            cpu: chosen,
            step,
            scanned,
        } = *event
        else {
            unreachable!("called for decisions only");
        };
        let track = self.describe(DECISIONS, cpu, out);
        track_event(time_ns, out, |out| {
            uint_field(out, EVENT_TYPE, TYPE_INSTANT);
            uint_field(out, EVENT_TRACK, track);
            bytes_field(out, EVENT_NAME, step.as_bytes());
            annotation(out, 1, |out| bytes_field(out, 6, comm));
            for (name, value) in [(2, task.pid), (3, prev_cpu), (4, chosen), (5, scanned)] {
                annotation(out, name, |out| uint_field(out, 3, u64::from(value)));
            }
        });
    }

    /// A value of a CPU's counter.
    pub(super) fn counter(
        &mut self,
        time_ns: u64,
        cpu: u32,
        counter: CpuCounter,
        value: u64,
        out: &mut Vec<u8>,
    ) {
        let track = self.describe(1 + counter as usize, cpu, out);
        track_event(time_ns, out, |out| {
            uint_field(out, EVENT_TYPE, TYPE_COUNTER);
            uint_field(out, EVENT_TRACK, track);
            signed_field(
                out,
                EVENT_COUNTER_VALUE,
                i64::try_from(value).unwrap_or(i64::MAX),
            );
        });
    }

    /// The id of a CPU's track, described and its group before it if they are new.
    fn describe(&mut self, kind: usize, cpu: u32, out: &mut Vec<u8>) -> u64 {
        let group = (kind as u64 + 1) << 32;
        let track = group + 1 + u64::from(cpu);
        let described = &mut self.cpus[cpu as usize][kind];
        if !*described {
            *described = true;
            let (group_name, track_name) = names(kind, cpu);
            if !std::mem::replace(&mut self.groups[kind], true) {
                describe_group(group, group_name, out);
            }
            describe_cpu(group, track, &track_name, kind != DECISIONS, cpu, out);
        }
        track
    }
}

/// Clears the sequence's state, interns the annotations' names and tells what the run was.
pub(super) fn write_prologue(header: &TraceHeader, out: &mut Vec<u8>) {
    message(out, TRACE_PACKET, |out| {
        uint_field(out, PACKET_SEQUENCE_ID, SEQUENCE);
        uint_field(out, PACKET_SEQUENCE_FLAGS, SEQ_INCREMENTAL_STATE_CLEARED);
        message(out, PACKET_INTERNED_DATA, |out| {
            for (id, name) in (1..).zip(ANNOTATIONS) {
                // InternedData.debug_annotation_names = 3 { iid 1, name 2 }.
                short_message(out, 3, |out| {
                    uint_field(out, 1, id);
                    bytes_field(out, 2, name.as_bytes());
                });
            }
        });
    });
    descriptor(out, |out| {
        uint_field(out, 1, RUN_TRACK);
        bytes_field(out, 2, b"Alight run");
    });
    track_event(header.start_ns, out, |out| {
        uint_field(out, EVENT_TYPE, TYPE_INSTANT);
        uint_field(out, EVENT_TRACK, RUN_TRACK);
        bytes_field(out, EVENT_NAME, b"start");
        for (name, value) in [
            ("machine", header.machine.as_str()),
            ("scheduler", &header.scheduler),
            ("seed", &header.seed.to_string()),
            ("command", &header.command),
        ] {
            // DebugAnnotation: name 10, string_value 6.
            message(out, EVENT_ANNOTATION, |out| {
                bytes_field(out, 10, name.as_bytes());
                bytes_field(out, 6, value.as_bytes());
            });
        }
    });
}

fn names(kind: usize, cpu: u32) -> (&'static str, String) {
    match kind.checked_sub(1) {
        None => ("Placement decisions", format!("CPU {cpu} decides")),
        Some(counter) => {
            let name = CpuCounter::ALL[counter].name();
            (name, format!("CPU {cpu} {name}"))
        }
    }
}

/// A track that only holds others: TrackDescriptor { uuid 1, name 2, child_ordering 11 = EXPLICIT }.
fn describe_group(uuid: u64, name: &str, out: &mut Vec<u8>) {
    descriptor(out, |out| {
        uint_field(out, 1, uuid);
        bytes_field(out, 2, name.as_bytes());
        uint_field(out, 11, 3);
    });
}

/// A CPU's track: TrackDescriptor { uuid 1, name 2, parent_uuid 5, counter 8, sibling_order_rank 12 }.
fn describe_cpu(group: u64, uuid: u64, name: &str, is_counter: bool, cpu: u32, out: &mut Vec<u8>) {
    descriptor(out, |out| {
        uint_field(out, 1, uuid);
        bytes_field(out, 2, name.as_bytes());
        uint_field(out, 5, group);
        if is_counter {
            bytes_field(out, 8, b"");
        }
        uint_field(out, 12, u64::from(cpu));
    });
}

fn descriptor(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    message(out, TRACE_PACKET, |out| {
        uint_field(out, PACKET_SEQUENCE_ID, SEQUENCE);
        message(out, PACKET_TRACK_DESCRIPTOR, body);
    });
}

fn track_event(time_ns: u64, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    message(out, TRACE_PACKET, |out| {
        uint_field(out, PACKET_TIMESTAMP, time_ns);
        uint_field(out, PACKET_SEQUENCE_ID, SEQUENCE);
        uint_field(out, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_INCREMENTAL_STATE);
        message(out, PACKET_TRACK_EVENT, body);
    });
}

/// DebugAnnotation { name_iid 1, value }.
fn annotation(out: &mut Vec<u8>, name: u64, value: impl FnOnce(&mut Vec<u8>)) {
    short_message(out, EVENT_ANNOTATION, |out| {
        uint_field(out, 1, name);
        value(out);
    });
}
