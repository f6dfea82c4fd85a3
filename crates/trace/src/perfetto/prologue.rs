// SPDX-License-Identifier: GPL-2.0-only
//! The packets before the first event: what Perfetto must know to read the rest, the machine and its tasks.

use std::collections::BTreeMap;

use super::field::TRACE_PACKET;
use super::tracks;
use super::wire::{bytes_field, message, uint_field};
use crate::header::{TraceHeader, kernel_comm};

/// Linux release from which `prev_state` has the numbers of `PrevState::raw`; Perfetto decodes by it.
const PREV_STATE_RELEASE: &str = "4.14.0";

const PACKET_PROCESS_TREE: u32 = 2;
const PACKET_SYSTEM_INFO: u32 = 45;
const PACKET_CPU_INFO: u32 = 67;

/// Writes the packets.
pub(super) fn write(header: &TraceHeader, out: &mut Vec<u8>) {
    message(out, TRACE_PACKET, |out| {
        message(out, PACKET_SYSTEM_INFO, |out| system_info(header, out))
    });
    message(out, TRACE_PACKET, |out| {
        message(out, PACKET_CPU_INFO, |out| cpu_info(header, out))
    });
    message(out, TRACE_PACKET, |out| {
        message(out, PACKET_PROCESS_TREE, |out| process_tree(header, out))
    });
    tracks::write_prologue(header, out);
}

/// `SystemInfo`: `utsname` = 1 { sysname 1, version 2, release 3 }, `tracing_service_version` = 4, `num_cpus` = 8.
fn system_info(header: &TraceHeader, out: &mut Vec<u8>) {
    message(out, 1, |out| {
        bytes_field(out, 1, b"Linux");
        bytes_field(
            out,
            2,
            format!("simulated {} on {}", header.scheduler, header.machine).as_bytes(),
        );
        bytes_field(out, 3, PREV_STATE_RELEASE.as_bytes());
    });
    bytes_field(
        out,
        4,
        concat!("alight ", env!("CARGO_PKG_VERSION")).as_bytes(),
    );
    uint_field(out, 8, header.cpus.len() as u64);
}

/// `CpuInfo`: `cpus` = 1 { processor 1, frequencies 2, capacity 3 }.
fn cpu_info(header: &TraceHeader, out: &mut Vec<u8>) {
    for cpu in &header.cpus {
        message(out, 1, |out| {
            bytes_field(out, 1, cpu.model.as_bytes());
            for &khz in &cpu.frequencies_khz {
                uint_field(out, 2, u64::from(khz));
            }
            uint_field(out, 3, u64::from(cpu.capacity));
        });
    }
}

/// `ProcessTree`: `processes` = 1 { pid 1, ppid 2, cmdline 3 }, `threads` = 2 { tid 1, name 2, tgid 3 }.
fn process_tree(header: &TraceHeader, out: &mut Vec<u8>) {
    let mut processes = BTreeMap::new();
    for task in &header.tasks {
        processes.entry(task.tgid).or_insert(&task.process);
    }
    for (&tgid, name) in &processes {
        message(out, 1, |out| {
            uint_field(out, 1, u64::from(tgid));
            uint_field(out, 2, 0);
            bytes_field(out, 3, name.as_bytes());
        });
    }
    for task in &header.tasks {
        message(out, 2, |out| {
            uint_field(out, 1, u64::from(task.pid));
            bytes_field(out, 2, kernel_comm(&task.comm).as_bytes());
            uint_field(out, 3, u64::from(task.tgid));
        });
    }
}
