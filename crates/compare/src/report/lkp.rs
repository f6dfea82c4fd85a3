// SPDX-License-Identifier: GPL-2.0-only
//! The report as the kernel test robot mails it: `value ± deviation  change  value ± deviation  name`,
//! a block for each scheduler against the base.

use crate::compare::{Comparison, Series, Variant};
use crate::report::layout::Columns;
use crate::report::{number, words};

const RULE: &str =
    "=========================================================================================";

pub(super) fn render(comparison: &Comparison) -> String {
    let header = &comparison.header;
    let mut text = format!(
        "{RULE}\nmachine/governor/workload:\n  {}/{}/{}\n\nprogram: {}\nruns: {}\nreproduce: {}\n",
        alight_text::line(&header.machine),
        header.governor,
        alight_text::line(&header.workloads.join(" & ")),
        words::program(),
        words::runs(comparison),
        alight_text::line(&header.command),
    );
    for (label, sentence) in header.rests.rows() {
        text.push_str(&format!("{label}: {sentence}\n"));
    }
    for other in comparison.others() {
        if let Some(why) = &other.inert {
            let name = &other.scheduler;
            text.push_str(&format!(
                "identical: {name}: each run equals the base's: {why}\n"
            ));
        }
        text.push('\n');
        text.push_str(&block(comparison, other));
    }
    text
}

fn block(comparison: &Comparison, other: &Variant) -> String {
    let base = comparison.base();
    let mut columns = Columns::new(0, 0).with_remark();
    columns.row([&base.scheduler, "", &other.scheduler, ""]);
    columns.row(["%stddev", "%change", "%stddev", ""]);
    let mut partly = String::new();
    for key in comparison.keys() {
        let both = [base, other].map(|variant| variant.series(&key.name));
        if both.iter().all(Option::is_none) {
            continue;
        }
        let delta = both[1].and_then(|series| series.delta);
        let [was, is] = both.map(|series| series.map_or(number::NONE.to_owned(), value));
        let change = delta.map_or(number::NONE.to_owned(), |delta| {
            number::percent(delta.delta_percent)
        });
        columns.row([was, change, is, alight_text::cell(&key.name)]);
        for remark in words::remarks(comparison, &key.name) {
            partly += &format!("{remark}\n");
        }
    }
    columns.render() + &partly
}

/// `161714 ± 2%`; the robot leaves a deviation below 2 % out, so nothing stands for it.
fn value(series: &Series) -> String {
    const SHOWN_FROM_PERCENT: f64 = 2.0;
    let mean = number::plain(series.summary.mean);
    match series.summary.cv_percent() {
        Some(cv) if cv >= SHOWN_FROM_PERCENT => format!("{mean} \u{b1}{cv:3.0}%"),
        _ => format!("{mean}      "),
    }
}
