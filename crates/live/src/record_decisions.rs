// SPDX-License-Identifier: GPL-2.0-only
//! Records what `select_task_rq_fair()` saw and answered (`src/bpf/record_decisions.bpf.c`).

use crate::decisions_skeleton::{RecordDecisionsSkel, RecordDecisionsSkelBuilder, types};
use crate::record_session::{During, NotRecorded, Recorded, Session};
use alight_machine::kernel;
use alight_recording::delta::Packer;
use alight_recording::{End, Writer};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Func;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, num_possible_cpus};
use std::cell::RefCell;
use std::mem::{MaybeUninit, offset_of};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The kind of record that is written: a `struct wakeup` of
/// `src/bpf/record_decisions.h` with what follows it, packed by
/// [`alight_recording::delta`].
pub const KIND: &str = "decision.wakeup/2";

/// The kernel's function that decides.
const FUNCTION: &str = "select_task_rq_fair";

/// The most CPUs that a record holds (`RECORD_CPUS`).
const MAX_CPUS: usize = 64;

/// Records as `session` says.
///
/// # Errors
/// The kernel lacks what is hooked, refuses the recorder, or the file cannot be written.
pub fn run(session: &Session, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    let nr_cpus = check()?;
    let mut object = MaybeUninit::uninit();
    let mut builder = RecordDecisionsSkelBuilder::default();
    builder.object_builder_mut().debug(session.verbose);
    let mut open = builder.open(&mut object).during("opening the recorder")?;
    (open.maps.rodata_data.as_mut())
        .expect("the recorder has constants")
        .nr_cpus = nr_cpus;
    (open.maps.wakeups.set_max_entries(session.ring_bytes)).during("sizing the ring buffer")?;
    (open.maps.buffers.set_max_entries(nr_cpus)).during("sizing the buffers of the CPUs")?;
    let mut skel = open.load().during("loading the recorder into the kernel")?;

    let mut header = session.header(&[KIND], "ns since boot, and jiffies")?;
    let model = kernel::energy_model(Path::new("/")).unwrap_or_default();
    if !model.is_empty()
        && let Ok(domains) = serde_json::to_string(&model)
    {
        header.facts.insert("energy_model".into(), domains);
    }
    let mut writer = session.writer(&header)?;
    let RecordDecisionsSkel {
        progs, links, maps, ..
    } = &mut skel;
    let hooking = "hooking the kernel's functions";
    // The exit first: without an entry it does nothing.
    links.select_left = Some(progs.select_left.attach().during(hooking)?);
    links.select_entered = Some(progs.select_entered.attach().during(hooking)?);

    let packer = RefCell::new((Packer::default(), Vec::new()));
    let status = session.pump(
        &maps.wakeups,
        &mut writer,
        |writer: &mut Writer, wakeup| {
            let (packer, packed) = &mut *packer.borrow_mut();
            packer.pack(wakeup, packed);
            writer.write(0, packed)
        },
        || {
            links.select_entered = None;
            links.select_left = None;
        },
        stop,
    )?;
    let counted = |offset| count(&maps.counts, offset);
    let ring_full = counted(offset_of!(types::counts, ring_full))?;
    let written = counted(offset_of!(types::counts, written))?;
    let entered = counted(offset_of!(types::counts, entered))?;
    // An exit that was passed over leaves nothing but the count.
    let exit_unseen = entered.saturating_sub(written + ring_full);
    let recorded = Recorded {
        records: writer.count(0),
        lost: ring_full + exit_unseen,
    };
    let end = End {
        lost: [
            ("ring_full".to_owned(), ring_full),
            ("exit_unseen".to_owned(), exit_unseen),
        ]
        .into(),
        status,
        ..End::default()
    };
    session.finish(writer, end)?;
    Ok(recorded)
}

/// Number of CPUs, if the kernel has what is needed.
fn check() -> Result<u32, NotRecorded> {
    let refuse = |reason| Err(NotRecorded::Kernel(reason));
    let btf = Btf::from_vmlinux().map_err(|error| {
        NotRecorded::Kernel(format!(
            "it has no type information (CONFIG_DEBUG_INFO_BTF): {error}"
        ))
    })?;
    if btf.type_by_name::<Func<'_>>(FUNCTION).is_none() {
        return refuse(format!("its type information lacks {FUNCTION}"));
    }
    let nr_cpus = num_possible_cpus().during("counting the CPUs")?;
    if nr_cpus > MAX_CPUS {
        return refuse(format!(
            "it may have {nr_cpus} CPUs; the recorder supports at most {MAX_CPUS}"
        ));
    }
    Ok(nr_cpus as u32)
}

/// One of the counts, summed over the CPUs.
fn count(counts: &impl MapCore, offset: usize) -> Result<u64, NotRecorded> {
    let of_cpus = counts
        .lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)
        .during("reading the counts")?
        .unwrap_or_default();
    let number = |bytes: &Vec<u8>| {
        (bytes.get(offset..offset + 8))
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u64::from_ne_bytes)
    };
    Ok(of_cpus.iter().map(number).sum())
}
