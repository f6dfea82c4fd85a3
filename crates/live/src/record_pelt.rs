// SPDX-License-Identifier: GPL-2.0-only
//! Records every change of the kernel's load-tracking signals (`src/bpf/record_pelt.bpf.c`).

use crate::kernel_names::no_hooks;
use crate::pelt_skeleton::{OpenRecordPeltSkel, RecordPeltSkel, RecordPeltSkelBuilder};
use crate::record_session::{During, NotRecorded, Recorded, Session};
use crate::refusal;
use alight_recording::End;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, Typedef};
use libbpf_rs::query::{ProgInfoIter, ProgramInfo};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicBool;

/// The kind of record that is written; its layout is `struct pelt_event` of
/// `src/bpf/record_pelt.h` with the body that belongs to its operation.
pub const KIND: &str = "pelt.event/1";

/// Records as `session` says.
///
/// # Errors
/// The kernel lacks what is hooked, refuses the recorder, or the file cannot be written.
pub fn run(session: &Session, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    let mut object = MaybeUninit::uninit();
    let builder = RecordPeltSkelBuilder::default();
    refusal::listen(session.verbose);
    let mut open = builder.open(&mut object).during("opening the recorder")?;
    let hooks = choose_hooks(&mut open)?;
    (open.maps.events.set_max_entries(session.ring_bytes)).during("sizing the ring buffer")?;
    let mut skel = open.load().during("loading the recorder into the kernel")?;
    skel.attach().during("hooking the kernel's functions")?;

    let programs: BTreeSet<_> = skel.object().progs().map(|p| p.name().to_owned()).collect();
    let mut header = session.header(&[KIND], "PELT time and rq clocks, ns")?;
    header
        .facts
        .insert("hooked".into(), hooks.present.join(" "));
    header
        .facts
        .insert("not_in_btf".into(), hooks.absent.join(" "));
    let mut writer = session.writer(&header)?;
    set_recording(&mut skel, true);
    let RecordPeltSkel { maps, .. } = &mut skel;
    let status = session.pump(
        &maps.events,
        &mut writer,
        |writer, event| writer.write(0, event),
        || {
            if let Some(variables) = &mut maps.bss_data {
                write_recording(&mut variables.recording, false);
            }
        },
        stop,
    )?;
    let variables = maps
        .bss_data
        .as_deref()
        .expect("the recorder has variables");
    let missed = missed_calls(&programs);
    let missed_in_all = missed.values().sum::<u64>();
    let recorded = Recorded {
        records: writer.count(0),
        lost: variables.ring_full + missed_in_all,
    };
    let end = End {
        lost: [
            ("ring_full".to_owned(), variables.ring_full),
            ("program_interrupted".to_owned(), missed_in_all),
        ]
        .into(),
        status,
        facts: [
            ("pelt_irq_tp".to_owned(), variables.irq_traced.to_string()),
            ("programs_interrupted".to_owned(), listed(&missed)),
        ]
        .into(),
        ..End::default()
    };
    session.finish(writer, end)?;
    Ok(recorded)
}

/// For each program the number of calls for which the kernel skipped it, because it was running on
/// the same CPU and had been interrupted there; only programs with such calls.
fn missed_calls(programs: &BTreeSet<OsString>) -> BTreeMap<String, u64> {
    (ProgInfoIter::default())
        .filter(|program| program.recursion_misses > 0)
        .filter(|program| programs.iter().any(|ours| is_named(program, ours)))
        .map(|program| {
            let name = program.name.to_string_lossy().into_owned();
            (name, program.recursion_misses)
        })
        .collect()
}

/// `blocked_end 1, se_traced 2`
fn listed(missed: &BTreeMap<String, u64>) -> String {
    let listed: Vec<_> = missed
        .iter()
        .map(|(name, times)| format!("{name} {times}"))
        .collect();
    listed.join(", ")
}

/// The kernel keeps the first 15 bytes of a program's name.
fn is_named(program: &ProgramInfo, name: &OsStr) -> bool {
    let known = program.name.as_encoded_bytes();
    !known.is_empty() && name.as_encoded_bytes().starts_with(known)
}

fn set_recording(skel: &mut RecordPeltSkel<'_>, on: bool) {
    if let Some(variables) = &mut skel.maps.bss_data {
        write_recording(&mut variables.recording, on);
    }
}

/// Writes the flag, which the kernel side reads at any time.
fn write_recording(flag: &mut bool, on: bool) {
    // SAFETY: a valid reference.
    unsafe { std::ptr::write_volatile(flag, on) }
}

/// Functions and tracepoints, by whether this kernel's type information has them.
struct Hooks {
    present: Vec<String>,
    absent: Vec<String>,
}

/// Chooses what can be hooked here. Programs whose section begins with `?` are
/// optional: if their function was inlined everywhere, tracepoints and the
/// continuity of states show what it did. Tracepoints are optional, too: the type
/// information of 5.10 has none of them.
fn choose_hooks(open: &mut OpenRecordPeltSkel<'_>) -> Result<Hooks, NotRecorded> {
    let btf = Btf::from_vmlinux().map_err(|error| {
        NotRecorded::Kernel(format!(
            "it has no type information (CONFIG_DEBUG_INFO_BTF): {error}"
        ))
    })?;
    let (mut present, mut absent, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for mut program in open.open_object_mut().progs_mut() {
        let section = program.section().to_string_lossy().into_owned();
        let optional = !program.autoload();
        let (kind, name) = section.split_once('/').unwrap_or_default();
        let there = match kind {
            "tp_btf" => btf
                .type_by_name::<Typedef<'_>>(&format!("btf_trace_{name}"))
                .is_some(),
            _ => btf.type_by_name::<Func<'_>>(name).is_some(),
        };
        program.set_autoload(there);
        let list = match (there, optional) {
            (true, _) => &mut present,
            (false, true) => &mut absent,
            (false, false) => &mut missing,
        };
        if !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
        }
    }
    if let Some(why) = no_hooks() {
        return Err(NotRecorded::Kernel(why));
    }
    if missing.is_empty() {
        Ok(Hooks { present, absent })
    } else {
        Err(NotRecorded::Kernel(format!(
            "its type information lacks {}",
            missing.join(", ")
        )))
    }
}
