// SPDX-License-Identifier: GPL-2.0-only
//! The answer in words: in which results each scheduler is better or worse than the base.

use crate::compare::{Comparison, Variant};
use crate::metrics::Key;
use crate::report::layout::labelled;
use crate::report::number;
use crate::report::results::shown_and_hidden;
use crate::report::words::short_name;
use crate::stats::Delta;
use crate::verdict::Verdict;

/// Numbers that an answer names at most, of those that are better, worse and so on.
const NAMED: usize = 3;

/// The answer in words: of each scheduler, in which results and energy it is better and worse than
/// the base. Left out are those whose runs are another's: the head says so.
pub fn answers(comparison: &Comparison) -> Vec<String> {
    let (keys, _) = shown_and_hidden(comparison);
    let base = &comparison.base().scheduler;
    let of = |variant: &Variant| {
        let label = short_name(&variant.scheduler, base);
        match (&variant.inert, &variant.same_as) {
            (Some(_), _) => Some(format!(
                "{label} changes nothing: each run equals the base's"
            )),
            (None, Some(_)) => None,
            (None, None) => Some(format!("{label}: {}", differences(variant, &keys))),
        }
    };
    comparison.others().iter().filter_map(of).collect()
}

/// `better in events (+37.8%); worse in energy_j (+6.3%)`.
fn differences(variant: &Variant, keys: &[&Key]) -> String {
    let judged: Vec<(&Key, Verdict, Delta)> = (keys.iter())
        .filter_map(|key| {
            let delta = variant.series(&key.name)?.delta?;
            Some((*key, Verdict::of(key, Some(&delta)), delta))
        })
        .collect();
    let said = |(wanted, what): (Verdict, &str)| {
        let of = judged.iter().filter(|(_, verdict, _)| *verdict == wanted);
        let mut names: Vec<String> = of
            .map(|(key, _, delta)| {
                let name = alight_text::cell(&key.name);
                format!("{name} ({})", number::percent(delta.delta_percent))
            })
            .collect();
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
    };
    let said: Vec<String> = [
        (Verdict::Better, "better in"),
        (Verdict::Worse, "worse in"),
        (Verdict::Different, "different in"),
        (
            Verdict::NoSpread,
            "different, without a spread to judge by, in",
        ),
    ]
    .into_iter()
    .filter_map(said)
    .collect();
    match said.is_empty() {
        true => "no difference that is certain and large enough to matter".to_owned(),
        false => said.join("; "),
    }
}

/// The last lines: the answer in words.
pub(super) fn rows(comparison: &Comparison) -> String {
    let labels = std::iter::once("answer").chain(std::iter::repeat(""));
    format!("\n{}", labelled(labels.zip(answers(comparison))))
}
