// SPDX-License-Identifier: GPL-2.0-only
//! Captured facts as a machine file.

mod costs;
mod names;

use std::fmt::Write;

use super::clocks::FreqFacts;
use super::facts::{CapacityFrom, CoreFacts, Facts, IdleFacts};
use super::speeds::{Speed, SpeedFrom};
use super::{Measured, MeasuredCore, Reading};
use crate::cpuset::CpuSet;
use crate::guess::{self, CostKind, L2_KIB, SMT_PERCENT, SWITCH_US, power_domains};
use crate::schema::SCHEMA;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {
        let _ = writeln!($text, $($argument)*);
    };
}
use line;

/// Less than this the form does not take.
const SMT_LEAST_PERCENT: u32 = 10;
impl CapacityFrom {
    fn source(self) -> &'static str {
        match self {
            Self::Sysfs => "sysfs",
            Self::AllEqual => "equal",
            Self::Assumed => "assumed",
        }
    }
}

/// The machine file of `facts` and of what was measured, with notes on what is assumed.
pub(super) fn machine_file(facts: &Facts, measured: &Measured, notes: &[String]) -> String {
    let mut text = String::new();
    head(&mut text, facts, measured, notes);
    itmt(&mut text, facts);
    topology(&mut text, facts);
    let names = names::distinct(facts);
    for ((core, cpus), name) in facts.core_types.iter().zip(&names) {
        core_type(
            &mut text,
            name,
            (core, cpus),
            measured,
            lowest_power(facts, cpus),
            has_siblings(facts, cpus),
        );
    }
    costs::classes(&mut text, facts, measured);
    for (number, ((capacity, freq), spans)) in facts.freq_domains.iter().enumerate() {
        freq_domain(&mut text, number, freq, spans, kind_of(facts, &spans[0]));
        let core = spans[0].first().and_then(|cpu| measured.core(cpu));
        let measured = core.and_then(|core| capacities(*capacity, &freq.khz, core));
        let stated = || {
            let column = freq.capacity.as_ref()?;
            Some(format!("{{ value = {column:?}, source = \"em\" }}"))
        };
        if let Some(column) = measured.or_else(stated) {
            line!(text, "capacity = {column}");
        }
    }
    cluster(&mut text, facts);
    costs::memory(&mut text, facts, measured);
    text
}

fn head(text: &mut String, facts: &Facts, measured: &Measured, notes: &[String]) {
    let description = format!("{}, {} CPUs, captured", facts.model, facts.cpus.len());
    line!(text, "schema = {}", quoted(SCHEMA));
    line!(text, "name = {}", quoted(&facts.name));
    line!(text, "description = {}", quoted(&description));
    let (hz, source) = measured
        .hz
        .map_or((guess::HZ, "assumed"), |hz| (u64::from(hz), "config"));
    line!(text, "hz = {{ value = {hz}, source = \"{source}\" }}");
    hrtick(text, facts, measured);
    if measured.irq_time_accounting {
        line!(
            text,
            "irq_time_accounting = {{ value = true, source = \"config\" }}"
        );
    }
    if measured.one_processor {
        line!(
            text,
            "one_processor = {{ value = true, source = \"benchmark\" }}"
        );
    }
    let source = if facts.governor_known {
        "sysfs"
    } else {
        "assumed"
    };
    line!(
        text,
        "governor = {{ value = \"{}\", source = \"{source}\" }}",
        facts.governor
    );
    if !notes.is_empty() {
        line!(
            text,
            "# These notes say what was assumed: remove a note when its figures are right."
        );
        line!(text, "notes = [");
        for note in notes {
            line!(text, "  {},", quoted(note));
        }
        line!(text, "]");
    }
    sources(text, facts, measured);
}

fn sources(text: &mut String, facts: &Facts, measured: &Measured) {
    let method = measured.method.as_deref();
    let method = method.unwrap_or("micro-benchmarks on the captured machine");
    line!(text, "\n[sources]");
    line!(
        text,
        "sysfs = {{ text = \"sysfs of the captured machine\", confidence = \"measured\" }}"
    );
    let kernel = measured.kernel.as_deref().map(|name| format!(" {name}"));
    let kernel = kernel.unwrap_or_default();
    line!(
        text,
        "debugfs = {{ text = {}, confidence = \"measured\" }}",
        quoted(&format!(
            "sched/features in debugfs of the captured kernel{kernel}"
        ))
    );
    line!(
        text,
        "default = {{ text = \"default of kernels from 7.1 on for this architecture\", confidence = \"derived\" }}"
    );
    line!(
        text,
        "config = {{ text = {}, confidence = \"measured\" }}",
        quoted(&format!("configuration of the captured kernel{kernel}"))
    );
    line!(
        text,
        "benchmark = {{ text = {}, confidence = \"measured\" }}",
        quoted(method)
    );
    if measured.cores.iter().any(|core| !core.within.is_empty()) {
        line!(
            text,
            "within = {{ text = \"part of other costs, with which it was measured\", confidence = \"derived\" }}"
        );
    }
    line!(
        text,
        "em = {{ text = \"energy model in debugfs of the captured machine\", confidence = \"measured\" }}"
    );
    line!(
        text,
        "equal = {{ text = \"the kernel states no cpu_capacity: all CPUs have the same \
         capacity\", confidence = \"derived\" }}"
    );
    for (from, said) in [
        (
            SpeedFrom::Firmware,
            "firmware = { text = \"acpi_cppc/highest_perf of the captured machine: the firmware's \
             rating of its CPUs, an average over loads\", confidence = \"derived\" }",
        ),
        (
            SpeedFrom::Clock,
            "clock = { text = \"cpufreq/cpuinfo_max_freq of the captured machine: cores of one \
             make differ by their top clock\", confidence = \"derived\" }",
        ),
    ] {
        let mut speeds = facts.core_types.keys().filter_map(|core| core.speed);
        if speeds.any(|speed| speed.from == from) {
            line!(text, "{said}");
        }
    }
    line!(
        text,
        "assumed = {{ text = \"not in sysfs; an order of magnitude for this kind of core\", confidence = \"assumed\" }}"
    );
}

/// Whether kernels from 7.1 on end slices by timers on this machine: as the captured one is set, if it
/// is one of them, else as is their default. They do where CONFIG_HRTIMER_REARM_DEFERRED is set, which
/// x86 selects (7.1.13: kernel/sched/features.h, arch/x86/Kconfig).
fn hrtick(text: &mut String, facts: &Facts, measured: &Measured) {
    let (on, source) = match measured.hrtick {
        Some(on) => (on, "debugfs"),
        None if facts.x86 => (true, "default"),
        None => return,
    };
    line!(text, "hrtick = {{ value = {on}, source = \"{source}\" }}");
}

/// The priorities of the CPUs.
fn itmt(text: &mut String, facts: &Facts) {
    let Some(ranks) = &facts.ranks else { return };
    let driver = ranks.driver.name();
    line!(text, "\n[itmt]\nsource = \"sysfs\"\ndriver = \"{driver}\"");
    for (priority, cpus) in ranks.cpus.iter().rev() {
        line!(text, "\n[itmt.rank.p{priority}]\nsource = \"sysfs\"");
        line!(text, "cpus = \"{cpus}\"\npriority = {priority}");
    }
}

fn topology(text: &mut String, facts: &Facts) {
    line!(text, "\n[topology]\nsource = \"sysfs\"");
    line!(text, "cpus = \"{}\"", facts.cpus);
    let sharing = &facts.sharing;
    line!(text, "core = {}", spans(&sharing.core));
    if let Some(cls) = &sharing.cls {
        let cls = spans(cls);
        let cls = match facts.x86 {
            true => cls,
            false => format!("{{ value = {cls}, source = \"assumed\" }}"),
        };
        line!(text, "cls = {cls}");
    }
    line!(text, "llc = {}", spans(&sharing.llc));
    if let Some(mc) = &sharing.mc {
        line!(text, "mc = {}", spans(mc));
    }
    line!(text, "node = {}", spans(&sharing.nodes));
    line!(text, "numa_distance = {:?}", sharing.distances);
}

/// Has some core of `cpus` several threads?
fn has_siblings(facts: &Facts, cpus: &CpuSet) -> bool {
    let cores = facts
        .sharing
        .core
        .iter()
        .filter(|core| core.intersects(cpus));
    cores.map(CpuSet::len).any(|threads| threads > 1)
}

fn core_type(
    text: &mut String,
    name: &str,
    (core, cpus): (&CoreFacts, &CpuSet),
    measured: &Measured,
    lowest_uw: u64,
    smt: bool,
) {
    let key = quoted(name);
    line!(text, "\n[core_type.{key}]\nsource = \"sysfs\"");
    line!(text, "cpus = \"{cpus}\"");
    let costs = costs::class(core, cpus, measured);
    let known = cpus.first().and_then(|cpu| measured.core(cpu));
    let (capacity, from) = (core.capacity, core.capacity_from.source());
    line!(
        text,
        "capacity = {{ value = {capacity}, source = \"{from}\" }}"
    );
    if let Some(speed) = core.speed {
        let reading = known.and_then(|known| known.speed);
        line!(text, "speed = {}", speed_of(speed, reading));
    }
    line!(text, "l2_kib = {}", known_or(core.l2_kib, L2_KIB));
    if smt {
        let share = known.and_then(|known| known.smt_percent);
        let share = share.map(|share| share.sourced(SMT_LEAST_PERCENT));
        let share = share.unwrap_or_else(|| known_or(None, SMT_PERCENT));
        line!(text, "smt_percent = {share}");
    }
    line!(text, "costs = \"{costs}\"");
    let states = if core.idle_states.is_empty() {
        vec![lone_state(core.kind, costs != core.kind.class())]
    } else {
        core.idle_states.clone()
    };
    let source = if core.idle_states.is_empty() {
        "assumed"
    } else {
        "sysfs"
    };
    for (depth, state) in states.iter().enumerate() {
        let power_uw = guess::idle_power_uw(lowest_uw, depth, states.len());
        line!(text, "\n[[core_type.{key}.idle_state]]");
        line!(
            text,
            "name = {}\nsource = \"{source}\"",
            quoted(&state.name)
        );
        exit(text, state, known);
        line!(text, "residency_us = {}", state.residency_us);
        line!(
            text,
            "power_uw = {{ value = {power_uw}, source = \"assumed\" }}"
        );
        idle_flags(text, core.kind, depth, state);
    }
}

/// A speed with its source, and with its spread if it was measured.
fn speed_of(speed: Speed, reading: Option<Reading>) -> String {
    let source = match (speed.from, reading) {
        (SpeedFrom::Measured, Some(reading)) => return reading.sourced(1),
        (SpeedFrom::Measured, None) => "benchmark",
        (SpeedFrom::Firmware, _) => "firmware",
        (SpeedFrom::Clock, _) => "clock",
    };
    format!("{{ value = {}, source = \"{source}\" }}", speed.value)
}

/// What leaving an idle state takes: measured, with what cpuidle plans with, or as its driver says.
/// Where leaving it takes longer than the driver says, the model plans with what was measured.
fn exit(text: &mut String, state: &IdleFacts, known: Option<&MeasuredCore>) {
    let exits = known.map_or(&[][..], |known| &known.idle_exits);
    match exits.iter().find(|(name, _)| *name == state.name) {
        Some((_, reading)) => {
            line!(text, "exit_us = {}", reading.sourced(0));
            if state.latency_us >= u64::from(reading.value) {
                line!(text, "wakeup_us = {}", state.latency_us);
            }
        }
        None => {
            line!(text, "exit_us = {}", state.latency_us);
        }
    }
}

/// The column of capacities at the frequencies `khz`, where all of them were measured and it rises.
fn capacities(top: u64, khz: &[u64], core: &MeasuredCore) -> Option<String> {
    let at = |khz: &u64| {
        let found = core.speed_at.iter().find(|(known, _)| known == khz);
        let of = |part: u32| (top * u64::from(part) / 1000).max(1);
        found.map(|(_, part)| (of(part.value), part.spread.map(of)))
    };
    let mut column = khz.iter().map(at).collect::<Option<Vec<_>>>()?;
    *column.last_mut()? = (top, [top, top]);
    let rises = column.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let (values, spreads): (Vec<u64>, Vec<[u64; 2]>) = column.into_iter().unzip();
    (rises && khz.len() > 1)
        .then(|| format!("{{ value = {values:?}, spread = {spreads:?}, source = \"benchmark\" }}"))
}

/// What sysfs does not say of an idle state: POLL polls, on arm all but the
/// first stop the local timer, a cluster's state has it in its name.
fn idle_flags(text: &mut String, kind: CostKind, depth: usize, state: &IdleFacts) {
    let assumed = |value: &str| format!("{{ value = {value}, source = \"assumed\" }}");
    if state.name == "POLL" {
        line!(text, "polling = {}", assumed("true"));
    }
    if kind != CostKind::X86 && depth > 0 {
        line!(text, "timer_stops = {}", assumed("true"));
    }
    if state.whole_cluster && depth > 0 {
        line!(text, "scope = {}", assumed("\"cluster\""));
    }
}

/// The state of a kernel without cpuidle. What leaving it takes is in the costs if those were measured.
fn lone_state(kind: CostKind, measured: bool) -> IdleFacts {
    let latency_us = u64::from(!measured);
    IdleFacts {
        name: kind.idle_state().to_owned(),
        latency_us,
        residency_us: latency_us,
        whole_cluster: false,
    }
}

fn freq_domain(
    text: &mut String,
    number: usize,
    freq: &FreqFacts,
    domains: &[CpuSet],
    kind: CostKind,
) {
    let source = if freq.known { "sysfs" } else { "assumed" };
    line!(
        text,
        "\n[freq_domain.policy{number}]\nsource = \"{source}\""
    );
    line!(text, "cpus = {}", spans(domains));
    line!(text, "khz = {:?}", freq.khz);
    match &freq.power_uw {
        Some(power) => {
            line!(
                text,
                "core_power_uw = {{ value = {power:?}, source = \"em\" }}"
            );
        }
        None => {
            let power = kind.powers_uw(&freq.khz);
            line!(
                text,
                "core_power_uw = {{ value = {power:?}, source = \"assumed\" }}"
            );
        }
    }
    line!(
        text,
        "cluster_power_percent = {{ value = {}, source = \"assumed\" }}",
        guess::CLUSTER_POWER_PERCENT
    );
    line!(text, "switch_us = {}", known_or(freq.switch_us, SWITCH_US));
    line!(
        text,
        "fast_switch = {{ value = {}, source = \"assumed\" }}",
        freq.fast_switch
    );
    if let Some(limit) = freq.rate_limit_us {
        line!(text, "rate_limit_us = {limit}");
    }
}

fn cluster(text: &mut String, facts: &Facts) {
    line!(
        text,
        "\n# The CPUs of one last-level cache count as one power domain."
    );
    line!(text, "[cluster.llc]\nsource = \"assumed\"");
    let domains = power_domains(&facts.sharing.llc, facts.freq_domains.values().flatten());
    line!(text, "cpus = {}", spans(&domains));
    line!(
        text,
        "idle_power_mw = {}\noff_power_mw = 0",
        guess::CLUSTER_IDLE_MW
    );
}

/// The least power of a busy core of these CPUs, normally that at its lowest frequency, uW.
fn lowest_power(facts: &Facts, cpus: &CpuSet) -> u64 {
    facts
        .freq_domains
        .iter()
        .filter(|(_, spans)| spans.iter().any(|span| span.intersects(cpus)))
        .filter_map(|((_, freq), spans)| match &freq.power_uw {
            Some(power) => power.iter().min().copied(),
            None => kind_of(facts, &spans[0])
                .powers_uw(&freq.khz)
                .first()
                .copied(),
        })
        .min()
        .unwrap_or(0)
}

fn kind_of(facts: &Facts, span: &CpuSet) -> CostKind {
    facts
        .core_types
        .iter()
        .find(|(_, cpus)| cpus.intersects(span))
        .map_or(CostKind::X86, |(core, _)| core.kind)
}

fn spans(spans: &[CpuSet]) -> String {
    let lists: Vec<String> = spans.iter().map(|span| format!("\"{span}\"")).collect();
    format!("[{}]", lists.join(", "))
}

/// A figure that sysfs states or that is assumed.
fn known_or(value: Option<u64>, assumed: u64) -> String {
    match value {
        Some(value) => value.to_string(),
        None => format!("{{ value = {assumed}, source = \"assumed\" }}"),
    }
}

/// Text as TOML, whatever is in it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
