// SPDX-License-Identifier: GPL-2.0-only
//! Records which task runs on which CPU, and when (`src/bpf/record_behaviour.bpf.c`), with the
//! machine and its costs, so that the same can be simulated.

use crate::behaviour_skeleton::RecordBehaviourSkelBuilder;
use crate::kernel_names::tracepoint_arguments;
use crate::record_session::{During, NotRecorded, Recorded, Session};
use crate::refusal;
use alight_recording::delta::Packer;
use alight_recording::{End, Header, Writer};
use libbpf_rs::RingBufferBuilder;
use libbpf_rs::btf::Btf;
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The kind of record that is written: a `struct behaviour_event` of
/// `src/bpf/record_behaviour.h`, packed by [`alight_recording::delta`].
pub const KIND: &str = "behaviour.event/1";

/// Time for the kernel to end its own work after hooking, and after what was run before.
const SETTLE: Duration = Duration::from_secs(5);
/// How often an end by time or by interrupt is looked for: seldom, because each look is a wakeup.
const LOOK: Duration = Duration::from_millis(200);

/// Records as `session` says; it must have a command.
///
/// # Errors
/// The kernel lacks what is hooked, refuses the recorder, nothing can be
/// measured, or the file cannot be written.
pub fn run(session: &Session, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    if session.command.is_empty() {
        return Err(NotRecorded::Kernel(
            "no workload is given: name it, as in `alight record behaviour -o FILE -- hackbench \
             -g 2`; the same command line is simulated"
                .to_owned(),
        ));
    }
    let mut object = MaybeUninit::uninit();
    let builder = RecordBehaviourSkelBuilder::default();
    refusal::listen(session.verbose);
    let mut open = builder.open(&mut object).during("opening the recorder")?;
    (open.maps.events.set_max_entries(session.ring_bytes)).during("sizing the ring buffer")?;
    if let Some(variables) = &mut open.maps.bss_data {
        variables.recorder = std::process::id();
    }
    let btf = Btf::from_vmlinux().during("reading the kernel's type information")?;
    if let Some(constants) = &mut open.maps.rodata_data {
        constants.switch_tells_state = tracepoint_arguments(&btf, "sched_switch") >= Some(4);
    }
    let mut skel = open.load().during("loading the recorder into the kernel")?;
    skel.attach().during("hooking the tracepoints")?;

    std::thread::sleep(SETTLE);
    // Measured with the recorder attached, because its cost is part of each path.
    let machine = machine().map_err(NotRecorded::Costs)?;
    let mut header = session.header(&[KIND], "CLOCK_MONOTONIC, ns")?;
    header.facts.insert("machine".into(), machine);
    add_files(&mut header, &session.command);
    let mut writer = session.writer(&header)?;

    let wanted = AtomicBool::new(false);
    let sink = RefCell::new((&mut writer, Packer::default(), Vec::new(), None));
    let mut ring = RingBufferBuilder::new();
    ring.add(&skel.maps.events, |event| {
        if wanted.load(Ordering::Relaxed) {
            put(&mut sink.borrow_mut(), event);
        }
        0
    })
    .during("reading the ring buffer")?;
    let ring = ring.build().during("reading the ring buffer")?;

    // The events of the benchmarks are dropped.
    ring.consume().during("reading the ring buffer")?;
    wanted.store(true, Ordering::Relaxed);
    let mut child = session.start()?.expect("there is a command");
    let pid = child.0.id();
    let deadline = session.duration.map(|length| Instant::now() + length);
    // Nothing is read meanwhile, and without a deadline this process does not wake up.
    let status = match deadline {
        None => child.0.wait().map(Some),
        Some(deadline) => loop {
            match child.0.try_wait() {
                Ok(None) if Instant::now() < deadline && !stop.load(Ordering::Relaxed) => {
                    std::thread::sleep(LOOK);
                }
                ended => break ended,
            }
        },
    };
    let status = status.map_err(|error| session.command_failed(error))?;
    drop(child);
    ring.consume().during("reading the ring buffer")?;
    drop(ring);
    if let (_, _, _, Some(error)) = sink.into_inner() {
        return Err(session.failed(error));
    }
    let mut facts = BTreeMap::from([("pid".to_owned(), pid.to_string())]);
    let mut lost = 0;
    if let Some(variables) = &skel.maps.bss_data {
        lost = variables.ring_full;
        if variables.workload_forked != 0 && variables.workload == pid {
            let flips = variables.workload_flips.to_string();
            facts.insert("wakee_flips".to_owned(), flips);
        }
    }
    let recorded = Recorded {
        records: writer.count(0),
        lost,
    };
    let end = End {
        lost: [("ring_full".to_owned(), lost)].into(),
        status: status.map(|ended| ended.code().unwrap_or(128)),
        facts,
        ..End::default()
    };
    session.finish(writer, end)?;
    Ok(recorded)
}

type Sink<'a> = (&'a mut Writer, Packer, Vec<u8>, Option<io::Error>);

fn put((writer, packer, packed, failure): &mut Sink<'_>, event: &[u8]) {
    if failure.is_none() {
        packer.pack(event, packed);
        *failure = writer.write(0, packed).err();
    }
}

/// This machine, with what its kernel paths cost, as a machine file.
pub(crate) fn machine() -> io::Result<String> {
    let root = Path::new("/");
    let measured = alight_measure::costs::measure(root)?;
    let captured = alight_machine::capture_measured(root, &measured);
    Ok(captured.map_err(io::Error::other)?.toml)
}

/// Adds rt-app's files, which belong to the command line.
pub(crate) fn add_files(header: &mut Header, command: &[String]) {
    for word in command.iter().filter(|word| word.ends_with(".json")) {
        if let Ok(text) = std::fs::read_to_string(word) {
            header.facts.insert(format!("file {word}"), text);
        }
    }
}
