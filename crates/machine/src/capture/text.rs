// SPDX-License-Identifier: GPL-2.0-only
//! Captured facts as a machine file.

mod costs;

use std::fmt::Write;

use super::clocks::FreqFacts;
use super::facts::{CapacityFrom, CoreFacts, CostKind, Facts, IdleFacts};
use super::sharing::power_domains;
use super::{Measured, MeasuredCore};
use crate::cpuset::CpuSet;
use crate::schema::SCHEMA;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {
        let _ = writeln!($text, $($argument)*);
    };
}
use line;

/// L2 of a core that does not say, KiB.
const L2_KIB: u64 = 512;
/// Two threads of a core together get done a quarter more than one.
const SMT_PERCENT: u64 = 62;
/// Less than this the form does not take.
const SMT_LEAST_PERCENT: u32 = 10;
/// Time of a clock change that nobody states, us.
const SWITCH_US: u64 = 50;

impl CostKind {
    fn class(self) -> &'static str {
        match self {
            Self::X86 => "x86",
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// Power of a busy core at its top frequency where none is known, uW.
    fn top_power_uw(self) -> u64 {
        match self {
            Self::X86 => 3_000_000,
            Self::Little => 200_000,
            Self::Big => 1_000_000,
        }
    }
}

impl CapacityFrom {
    fn source(self) -> &'static str {
        match self {
            Self::Sysfs => "sysfs",
            Self::AllEqual => "equal",
            Self::Assumed => "assumed",
            Self::Measured => "benchmark",
        }
    }
}

/// The machine file of `facts` and of what was measured, with notes on what is assumed.
pub(super) fn machine_file(facts: &Facts, measured: &Measured, notes: &[String]) -> String {
    let mut text = String::new();
    head(&mut text, facts, measured, notes);
    topology(&mut text, facts);
    let names = distinct_names(facts);
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
        if let Some(column) = core.and_then(|core| capacities(*capacity, &freq.khz, core)) {
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
    line!(text, "name = \"host\"");
    line!(text, "description = {}", quoted(&description));
    let (hz, source) = measured.hz.map_or((250, "assumed"), |hz| (hz, "config"));
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
    sources(text, measured);
}

fn sources(text: &mut String, measured: &Measured) {
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
        "default = {{ text = \"default of kernels from 7.2 on for this architecture\", confidence = \"derived\" }}"
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
    line!(
        text,
        "assumed = {{ text = \"not in sysfs; an order of magnitude for this kind of core\", confidence = \"assumed\" }}"
    );
}

/// Whether kernels from 7.2 on end slices by timers on this machine: as the captured one is set, if it
/// is one of them, else as is their default. They do where CONFIG_HRTIMER_REARM_DEFERRED is set, which
/// x86 selects (7.2: kernel/sched/features.h, arch/x86/Kconfig).
fn hrtick(text: &mut String, facts: &Facts, measured: &Measured) {
    let (on, source) = match measured.hrtick {
        Some(on) => (on, "debugfs"),
        None if facts.x86 => (true, "default"),
        None => return,
    };
    line!(text, "hrtick = {{ value = {on}, source = \"{source}\" }}");
}

fn topology(text: &mut String, facts: &Facts) {
    line!(text, "\n[topology]\nsource = \"sysfs\"");
    line!(text, "cpus = \"{}\"", facts.cpus);
    let sharing = &facts.sharing;
    line!(text, "core = {}", spans(&sharing.core));
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
    let speed = known.and_then(|known| known.speed);
    match (core.capacity_from, speed) {
        (CapacityFrom::Measured, Some(speed)) => {
            line!(text, "capacity = {}", speed.sourced(1));
        }
        (from, _) => {
            let (capacity, from) = (core.capacity, from.source());
            line!(
                text,
                "capacity = {{ value = {capacity}, source = \"{from}\" }}"
            );
        }
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
        // Nobody states idle powers: the busy power divided into equal steps.
        let steps = states.len() as u64 + 1;
        let power_uw = lowest_uw * (steps - 1 - depth as u64) / steps;
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
    let name = if kind == CostKind::X86 { "C1" } else { "WFI" };
    let latency_us = u64::from(!measured);
    IdleFacts {
        name: name.to_owned(),
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
            let power = assumed_powers(freq, kind);
            line!(
                text,
                "core_power_uw = {{ value = {power:?}, source = \"assumed\" }}"
            );
        }
    }
    line!(
        text,
        "cluster_power_percent = {{ value = 20, source = \"assumed\" }}"
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

/// Power that grows with the square of the frequency: voltage grows with it
/// over a part of the range.
fn assumed_powers(freq: &FreqFacts, kind: CostKind) -> Vec<u64> {
    // Nothing clocks above 4 THz: what does is refused when the file is read.
    let bounded = |khz: u64| u128::from(khz.clamp(1, u64::from(u32::MAX)));
    let top = bounded(freq.khz.last().copied().unwrap_or(1));
    freq.khz
        .iter()
        .map(|&khz| {
            let khz = bounded(khz);
            let power = u128::from(kind.top_power_uw()) * khz * khz / (top * top);
            u64::try_from(power).unwrap_or(u64::MAX).max(1)
        })
        .collect()
}

fn cluster(text: &mut String, facts: &Facts) {
    line!(
        text,
        "\n# The CPUs of one last-level cache count as one power domain."
    );
    line!(text, "[cluster.llc]\nsource = \"assumed\"");
    let domains = power_domains(&facts.sharing.llc, facts.freq_domains.values().flatten());
    line!(text, "cpus = {}", spans(&domains));
    line!(text, "idle_power_mw = 20\noff_power_mw = 0");
}

/// A name for each core type; types with the same name are numbered.
fn distinct_names(facts: &Facts) -> Vec<String> {
    let names: Vec<&str> = facts
        .core_types
        .keys()
        .map(|core| core.name.as_str())
        .collect();
    let mut distinct: Vec<String> = Vec::new();
    for name in &names {
        let same = names.iter().filter(|other| *other == name).count();
        let numbered = (0..).map(|number| format!("{name} #{number}"));
        let mut candidates = (same == 1)
            .then(|| (*name).to_owned())
            .into_iter()
            .chain(numbered);
        let free = candidates.find(|candidate| {
            let of_another = same > 1 && names.contains(&candidate.as_str());
            !of_another && !distinct.contains(candidate)
        });
        distinct.extend(free);
    }
    distinct
}

/// Power of a busy core of these CPUs at its lowest frequency, uW.
fn lowest_power(facts: &Facts, cpus: &CpuSet) -> u64 {
    facts
        .freq_domains
        .iter()
        .filter(|(_, spans)| spans.iter().any(|span| span.intersects(cpus)))
        .filter_map(|((_, freq), spans)| match &freq.power_uw {
            Some(power) => power.first().copied(),
            None => assumed_powers(freq, kind_of(facts, &spans[0]))
                .first()
                .copied(),
        })
        .min()
        .unwrap_or(0)
        .min(u64::from(u32::MAX))
}

fn kind_of(facts: &Facts, span: &CpuSet) -> CostKind {
    facts
        .core_types
        .iter()
        .find(|(_, cpus)| cpus.intersects(span))
        .map_or(CostKind::X86, |(core, _)| core.kind)
}

pub(super) fn spans(spans: &[CpuSet]) -> String {
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
