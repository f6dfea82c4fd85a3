// SPDX-License-Identifier: GPL-2.0-only
//! The page on predictions: how many were right, pair by pair, and what is known of the wrong ones.

use std::collections::BTreeMap;
use std::fmt::Write;

use alight_text::{item, paragraph};

use super::{Difference, LEAST_RECORDINGS, OF, Pair, Reports, SIZE_PERCENT};
use crate::replayed::Standing;

/// Shares that are aimed at, percent: of signs, of sizes.
const AIMS: (u32, u32) = (90, 70);
/// Written by hand: what was found about the predictions that are wrong.
const CAUSES: &str = include_str!("causes.md");
/// Quantities in the table of those that are wrong most often.
const MOST: usize = 30;

/// Writing to a String cannot fail.
macro_rules! line {
    ($page:expr, $($argument:tt)*) => {
        writeln!($page, $($argument)*).expect("a String takes everything")
    };
}

/// Numbers of differences.
#[derive(Default, Clone, Copy)]
struct Tally {
    significant: usize,
    sign: usize,
    size: usize,
}

impl Tally {
    fn add(&mut self, difference: &Difference) {
        self.significant += 1;
        self.sign += usize::from(difference.sign_right());
        self.size += usize::from(difference.size_right());
    }

    fn of<'a>(differences: impl IntoIterator<Item = &'a Difference>) -> Self {
        let mut tally = Tally::default();
        differences.into_iter().for_each(|one| tally.add(one));
        tally
    }

    /// Three cells.
    fn cells(self) -> String {
        let share = |part| match self.significant {
            0 => "-".to_owned(),
            all => format!("{part} ({:.0} %)", percent(part, all)),
        };
        let (sign, size) = (share(self.sign), share(self.size));
        format!("{} | {sign} | {size}", self.significant)
    }
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all as f64
}

/// The page (Markdown). `of` says which model made the reports, and when.
pub fn page(pairs: &[Pair], of: Option<&str>) -> String {
    [
        HEAD.to_owned(),
        of.map(|of| format!("\n{}", paragraph(&format!("The reports are of {of}."))))
            .unwrap_or_default(),
        answer(pairs),
        method(),
        by_pair(pairs),
        by_workload(pairs),
        by_quantity(pairs),
        own(pairs),
        failures(pairs),
        format!("\n{CAUSES}"),
    ]
    .concat()
}

const HEAD: &str = "\
<!-- SPDX-License-Identifier: GPL-2.0-only -->
# Replays held against kernels

How often is the answer of a replay right? `verify/workload.sh` records workloads under two kernels,
two affinities and two schedulers. The replay of a recording predicts what changes under the other
one, and a recording under the other one tells what changed. `alight verify predictions` makes this
page of the reports. Nothing was adjusted to them.
";

fn answer(pairs: &[Pair]) -> String {
    let all = Tally::of(pairs.iter().flat_map(differences));
    if all.significant == 0 {
        return format!("\n{}", paragraph("No difference is significant."));
    }
    let large = Tally::of(pairs.iter().flat_map(differences).filter(|it| it.matters()));
    let mut page =
        "\n| differences | number | sign right | size right |\n|---|---:|---:|---:|\n".to_owned();
    line!(page, "| significant | {} |", all.cells());
    line!(
        page,
        "| of these larger than the tolerance of their quantity | {} |",
        large.cells()
    );
    let (sign, size) = AIMS;
    line!(page, "| aim | | {sign} % | {size} % |");
    page
}

fn differences(pair: &Pair) -> impl Iterator<Item = &Difference> {
    pair.workloads
        .values()
        .flat_map(|reports| &reports.differences)
}

fn method() -> String {
    let mut page = "\n## Method\n\n".to_owned();
    for text in [
        "A set is a kernel on one or four CPUs, with some recordings of each workload: five, \
         unless the end of the page says otherwise. *pinned*: all tasks may use two of the four \
         CPUs. *scx*: `scx_alight` decides as `linux-7.2`; *scx-bias-prev*: as \
         `linux-7.2+bias-prev`."
            .to_owned(),
        "The guests run under emulation. Their time is the count of instructions, and four CPUs \
         take turns at one processor."
            .to_owned(),
        "Quantities are those of [whole runs](explanation/behaviour.md), and CPU shares and wakeup \
         latencies of each group of tasks where there are several."
            .to_owned(),
        format!(
            "Measured difference: the median of the second set's recordings less that of the first \
             set's. It is significant if no recording of one set lies among those of the other. Of \
             five against five this is significant by the rank test of Mann and Whitney \
             (p = 0.008). With fewer than {LEAST_RECORDINGS} recordings on a side none is."
        ),
        "Predicted difference: the replays of the first set under the second set's rules less the \
         replays under its own rules, medians of the recordings with five seeds each. \
         `alight compare` reports the same difference."
            .to_owned(),
        format!(
            "The sign is right if both differences have it. The size is right if the predicted \
             difference is within {SIZE_PERCENT} % of the measured one."
        ),
    ] {
        page += &item(&text);
    }
    page
}

fn by_pair(pairs: &[Pair]) -> String {
    let mut page = "\n## By pair\n\n".to_owned();
    page += "| replayed | predicted | quantities | significant | sign right | size right | larger than \
             the tolerance | sign right | size right |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for pair in pairs {
        let compared: usize = pair.workloads.values().map(|one| one.compared).sum();
        let all = Tally::of(differences(pair)).cells();
        let large = Tally::of(differences(pair).filter(|it| it.matters())).cells();
        let (from, to) = (&pair.from, &pair.to);
        line!(page, "| {from} | {to} | {compared} | {all} | {large} |");
    }
    page
}

fn by_workload(pairs: &[Pair]) -> String {
    let mut page = "\n## By workload\n\n".to_owned();
    page += "| workload | replayed | predicted | significant | sign right | size right |\n\
             |---|---|---|---:|---:|---:|\n";
    let mut rows: Vec<(&str, &Pair, &Reports)> = Vec::new();
    for pair in pairs {
        let of_pair = pair.workloads.iter();
        rows.extend(of_pair.map(|(name, reports)| (name.as_str(), pair, reports)));
    }
    rows.sort_by_key(|(name, ..)| *name);
    for (name, pair, reports) in rows {
        let cells = Tally::of(&reports.differences).cells();
        line!(page, "| {name} | {} | {} | {cells} |", pair.from, pair.to);
    }
    page
}

fn by_quantity(pairs: &[Pair]) -> String {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for difference in pairs.iter().flat_map(differences) {
        let name = difference.quantity.split(OF).next().unwrap_or_default();
        tallies.entry(name).or_default().add(difference);
    }
    let mut rows: Vec<(&str, Tally)> = tallies.into_iter().collect();
    rows.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.significant - tally.sign));
    rows.truncate(MOST);
    let mut page = "\n## By quantity\n\nThose with the most wrong signs first.\n\n".to_owned();
    page += "| quantity | significant | sign right | size right |\n|---|---:|---:|---:|\n";
    for (name, tally) in rows {
        line!(page, "| `{name}` | {} |", tally.cells());
    }
    page
}

/// The self-checks of each set, once: every pair that replays it holds the same.
fn own(pairs: &[Pair]) -> String {
    let mut page = "\n## Self-checks\n\n".to_owned();
    page += &paragraph(
        "Each recording is replayed under its own rules. The table has the quantities that agree and \
         disagree (medians of the recordings), and how many of the recordings a replay of is usable: \
         `alight verify workload` warns of the others.",
    );
    page += "\n| recordings | workload | agree | disagree | usable |\n|---|---|---:|---:|---:|\n";
    let mut sets: BTreeMap<(&str, &str), &Reports> = BTreeMap::new();
    for pair in pairs {
        for (workload, reports) in &pair.workloads {
            sets.entry((&pair.from, workload)).or_insert(reports);
        }
    }
    for ((set, workload), reports) in sets {
        let middle = |figure: fn(&(usize, usize)) -> usize| {
            let mut all: Vec<usize> = reports.own.iter().map(figure).collect();
            all.sort_unstable();
            (all.get(all.len() / 2)).map_or("-".to_owned(), usize::to_string)
        };
        let usable = (reports.standings.iter())
            .filter(|standing| **standing != Standing::NotUsable)
            .count();
        let (agree, disagree) = (middle(|own| own.0), middle(|own| own.1));
        let all = reports.standings.len();
        line!(
            page,
            "| {set} | {workload} | {agree} | {disagree} | {usable} of {all} |"
        );
    }
    page
}

fn failures(pairs: &[Pair]) -> String {
    let mut page = String::new();
    for pair in pairs {
        for (workload, reports) in &pair.workloads {
            for message in &reports.failed {
                let (from, to) = (&pair.from, &pair.to);
                page += &item(&format!("{workload}, {from} to {to}: {message}"));
            }
        }
    }
    match page.is_empty() {
        true => page,
        false => format!("\n## Reports that could not be made\n\n{page}"),
    }
}
