// SPDX-License-Identifier: GPL-2.0-only
//! The words that several reports share.

use crate::compare::{Comparison, Series, Variant};
use crate::header::VERSION;
use crate::metrics::Key;
use crate::report::number;
use crate::stats::NoInterval;
use crate::verdict::Verdict;

/// `alight 0.1.0`.
pub fn program() -> String {
    format!("alight {VERSION}")
}

/// The name of a scheduler beside the base: the base's own features are left out of it.
pub fn short_name<'a>(scheduler: &'a str, base: &str) -> &'a str {
    match scheduler.strip_prefix(base) {
        Some(rest) if rest.starts_with('+') => rest,
        _ => scheduler,
    }
}

/// `events, higher is better`.
pub fn title(key: &Key) -> String {
    let name = alight_text::cell(&key.name);
    match key.better_word() {
        Some(better) => format!("{name}, {better} is better"),
        None => name,
    }
}

/// What a scheduler's number says against the base, in words.
pub fn verdict(key: &Key, series: Option<&Series>) -> String {
    let delta = series.and_then(|series| series.delta.as_ref());
    Verdict::of(key, delta).words(key, delta)
}

/// Of a number that has no interval though several runs differ from the base: why, for each
/// scheduler that this is so of.
pub fn without_spread(comparison: &Comparison, name: &str) -> Vec<String> {
    let base = &comparison.base().scheduler;
    let of = |variant: &Variant| {
        let delta = variant.series(name)?.delta?;
        let why = match delta.no_interval? {
            NoInterval::OneRun | NoInterval::NoDifference => return None,
            why => why.as_str(),
        };
        let label = short_name(&variant.scheduler, base);
        Some(format!("{name} of {label}: {why}"))
    };
    comparison.others().iter().filter_map(of).collect()
}

/// Says in how many runs a number exists, if not in all: means are of those, differences of what
/// both have.
pub fn partial(comparison: &Comparison, name: &str) -> Option<String> {
    let runs = comparison.seeds.len();
    let base = &comparison.base().scheduler;
    let present: Vec<(&str, usize)> = (comparison.variants.iter())
        .map(|variant| {
            let label = match variant.scheduler == *base {
                true => base,
                false => short_name(&variant.scheduler, base),
            };
            (label, variant.series(name).map_or(0, Series::present))
        })
        .collect();
    if present.iter().all(|&(_, present)| present == runs) {
        return None;
    }
    let each: Vec<String> = (present.iter())
        .map(|(label, present)| format!("{label} has it in {present}"))
        .collect();
    Some(format!(
        "{} is missing in some of the {runs} runs: {}; a mean is of the runs that have it, a difference of those in which \
         both have it",
        alight_text::cell(name),
        each.join(", ")
    ))
}

/// Sentences that stand beside a number's table where its verdicts do not.
pub fn remarks(comparison: &Comparison, name: &str) -> Vec<String> {
    let mut remarks = without_spread(comparison, name);
    remarks.extend(partial(comparison, name));
    remarks
}

/// Decimals that show `digits` significant ones of the base's mean, or of the largest if that is 0.
pub fn decimals(comparison: &Comparison, name: &str, digits: i32) -> usize {
    let mean = |variant: &Variant| variant.series(name).map_or(0.0, |s| s.summary.mean);
    let of = match mean(comparison.base()) {
        0.0 => (comparison.variants.iter().map(mean)).fold(0.0, |most: f64, mean| {
            match mean.abs() > most.abs() {
                true => mean,
                false => most,
            }
        }),
        mean => mean,
    };
    number::decimals_for(of, digits)
}

/// `20, seeds 1 to 20, shared by the schedulers`, and what an interruption left out.
pub fn runs(comparison: &Comparison) -> String {
    let seeds = &comparison.seeds;
    let done = match (seeds.as_slice(), contiguous(seeds)) {
        ([seed], _) => format!("1, seed {seed}"),
        ([first, .., last], true) => format!("{}, seeds {first} to {last}", seeds.len()),
        _ => {
            let list: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!("{}, seeds {}", seeds.len(), list.join(" "))
        }
    };
    let asked = comparison.header.runs;
    if comparison.interrupted() {
        format!("{done}; INTERRUPTED: {asked} were asked for")
    } else {
        format!("{done}, each shared by all schedulers")
    }
}

fn contiguous(seeds: &[u64]) -> bool {
    seeds.windows(2).all(|pair| pair[0] + 1 == pair[1])
}

/// The conditions as pairs of a label and a text, for reports with a head.
pub fn head(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let header = &comparison.header;
    let mut machine = format!(
        "{}, {}, {}",
        header.machine,
        number::cpus(header.cpus),
        header.governor
    );
    if let Some(governor) = header.idle_governor {
        machine += &format!(", idle governor {governor}");
    }
    let mut head = vec![("machine", machine), ("", header.description.clone())];
    head.extend(header.workloads.iter().map(|w| ("workload", w.clone())));
    if let Some(ns) = header.duration_ns {
        head.push(("cut at", number::time(ns)));
    }
    for (index, variant) in comparison.variants.iter().enumerate() {
        let role = if index == 0 { "base" } else { "against it" };
        let hash = number::hash(variant.hash);
        head.push((role, format!("{} (hash {hash})", variant.scheduler)));
        match (&variant.inert, &variant.same_as) {
            (Some(why), _) => {
                head.push(("identical", format!("each run equals the base's: {why}")))
            }
            (None, Some(other)) => {
                head.push((
                    "identical",
                    format!("each run equals that of {other}; only the label differs"),
                ));
            }
            (None, None) => {}
        }
    }
    head.push(("runs", runs(comparison)));
    head.extend((comparison.stopped.iter()).map(|stopped| ("until", stopped.words())));
    head.extend(header.rests.rows());
    head
}

/// What `*` means wherever it stands.
pub const STAR: &str =
    "* significant: the 95 % confidence interval of the paired difference does not contain 0";
