// SPDX-License-Identifier: GPL-2.0-only
//! Records what `select_task_rq_fair()` saw and returned (`src/bpf/record_decisions.bpf.c`).

use crate::decisions_skeleton::{
    OpenRecordDecisionsSkel, RecordDecisionsSkel, RecordDecisionsSkelBuilder, types,
};
use crate::kernel_names::{Symbols, enumerators, no_hooks, parameters};
use crate::record_session::{During, NotRecorded, Recorded, Session};
use crate::refusal;
use alight_machine::kernel;
use alight_recording::delta::Packer;
use alight_recording::{End, Writer};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, Typedef, Var};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, num_possible_cpus};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::{MaybeUninit, offset_of};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The kind of record that is written: a `struct wakeup` of
/// `src/bpf/record_decisions.h` with what follows it, packed by
/// [`alight_recording::delta`].
pub const KIND: &str = "decision.wakeup/3";

/// The kernel's function that decides.
const FUNCTION: &str = "select_task_rq_fair";

/// The most CPUs that a record holds (`RECORD_CPUS`).
const MAX_CPUS: usize = 64;

/// Records as `session` says.
///
/// # Errors
/// The kernel lacks what is hooked, refuses the recorder, or the file cannot be written.
pub fn run(session: &Session, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    let btf = Btf::from_vmlinux().map_err(|error| {
        NotRecorded::Kernel(format!(
            "it has no type information (CONFIG_DEBUG_INFO_BTF): {error}"
        ))
    })?;
    let nr_cpus = check(&btf)?;
    let mut object = MaybeUninit::uninit();
    let builder = RecordDecisionsSkelBuilder::default();
    refusal::listen(session.verbose);
    let mut open = builder.open(&mut object).during("opening the recorder")?;
    describe(&mut open, &btf, nr_cpus)?;
    (open.maps.wakeups.set_max_entries(session.ring_bytes)).during("sizing the ring buffer")?;
    (open.maps.buffers.set_max_entries(nr_cpus)).during("sizing the buffers of the CPUs")?;
    let mut skel = open.load().during("loading the recorder into the kernel")?;

    let mut header = session.header(&[KIND], "ns since boot, and jiffies")?;
    let hardirq = learn_hardirq_bits(&mut skel)?;
    if hardirq != 0 {
        let bits = format!("{hardirq:#x}");
        header.facts.insert("hardirq_bits".into(), bits);
    }
    (header.facts).insert("sd_flags".into(), listed(&enumerators(&btf, "SD_")));
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
    // If the program at an exit was skipped, only the count of entries shows it.
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
        facts: [
            ("forks", offset_of!(types::counts, forks)),
            ("execs", offset_of!(types::counts, execs)),
            ("syncs", offset_of!(types::counts, syncs)),
            ("interrupts", offset_of!(types::counts, interrupts)),
        ]
        .into_iter()
        .map(|(name, offset)| Ok((name.to_owned(), counted(offset)?.to_string())))
        .collect::<Result<_, NotRecorded>>()?,
        ..End::default()
    };
    session.finish(writer, end)?;
    Ok(recorded)
}

/// `SD_ASYM_CPUCAPACITY 32, SD_BALANCE_EXEC 2`
fn listed(values: &BTreeMap<String, i64>) -> String {
    let listed: Vec<_> = (values.iter())
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    listed.join(", ")
}

/// Tells the kernel side the properties of this kernel that it cannot find out by itself.
fn describe(
    open: &mut OpenRecordDecisionsSkel<'_>,
    btf: &Btf<'_>,
    nr_cpus: u32,
) -> Result<(), NotRecorded> {
    let timer = "btf_trace_hrtimer_expire_entry";
    let timer_is_known = btf.type_by_name::<Typedef<'_>>(timer).is_some();
    open.progs.timer_expires.set_autoload(timer_is_known);
    let constants = open.maps.rodata_data.as_mut();
    let constants = constants.expect("the recorder has constants");
    constants.nr_cpus = nr_cpus;
    constants.address = addresses();
    let typed = btf.type_by_name::<Var<'_>>("runqueues").is_some();
    constants.typed_variables = typed;
    if !typed && (constants.address.runqueues == 0 || constants.address.__per_cpu_offset == 0) {
        return Err(NotRecorded::Kernel(
            "its type information has no per-CPU variables, and /proc/kallsyms does not tell where \
             runqueues and __per_cpu_offset are (sysctl kernel.kptr_restrict must be 0 or 1)"
                .to_owned(),
        ));
    }
    match parameters(btf, FUNCTION) {
        Some(3) => {}
        Some(4) => {
            let flags = enumerators(btf, "SD_BALANCE_");
            let flag = |name: &str| flags.get(name).map_or(0, |value| *value as u32);
            constants.sd_balance_exec = flag("SD_BALANCE_EXEC");
            constants.sd_balance_fork = flag("SD_BALANCE_FORK");
            if constants.sd_balance_exec == 0 {
                let why = "its type information does not tell the value of SD_BALANCE_EXEC";
                return Err(NotRecorded::Kernel(why.to_owned()));
            }
        }
        other => {
            return Err(NotRecorded::Kernel(format!(
                "its {FUNCTION} has {} parameters; known are 3, and 4 before 5.11",
                other.unwrap_or_default()
            )));
        }
    }
    Ok(())
}

/// The addresses of the kernel's variables; 0: it does not have this one.
fn addresses() -> types::addresses {
    macro_rules! by_name {
        ($($name:ident)*) => {{
            let symbols = Symbols::read(&[$(stringify!($name)),*]);
            types::addresses { $($name: symbols.address(stringify!($name))),* }
        }};
    }
    by_name!(
        __per_cpu_offset runqueues cpu_scale cpufreq_pressure hw_pressure thermal_pressure
        __preempt_count sd_llc sd_asym_cpucapacity sd_llc_shared sd_balance_shared sd_llc_size
        sched_uclamp_used sched_smt_present sched_asym_cpucapacity sched_cluster_active
    )
}

/// The bits of `preempt_count` that count hard interrupts: each sleep here ends with a timer that
/// expires in a hard interrupt. 0: they cannot be learned on this kernel.
fn learn_hardirq_bits(skel: &mut RecordDecisionsSkel<'_>) -> Result<u32, NotRecorded> {
    const SLEEPS: u32 = 5;
    if !skel.progs.timer_expires.autoload() {
        return Ok(0);
    }
    let hook = (skel.progs.timer_expires.attach()).during("hooking the kernel's timers")?;
    for _ in 0..SLEEPS {
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(hook);
    let learned = (skel.maps.bss_data.as_ref()).map_or(0, |variables| variables.hardirq_bits);
    Ok(learned)
}

/// Number of CPUs, if the kernel has what is needed.
fn check(btf: &Btf<'_>) -> Result<u32, NotRecorded> {
    let refuse = |reason| Err(NotRecorded::Kernel(reason));
    if btf.type_by_name::<Func<'_>>(FUNCTION).is_none() {
        return refuse(format!("its type information lacks {FUNCTION}"));
    }
    if let Some(why) = no_hooks() {
        return refuse(why);
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
