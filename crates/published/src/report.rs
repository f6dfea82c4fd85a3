// SPDX-License-Identifier: GPL-2.0-only
//! A study as people read it: tables in the layout of the publications, the mechanism under each,
//! and what had to come out. One description ([`Block`]) serves the terminal and pages.

use alight_compare::compare::{Comparison, Series};
use alight_compare::metrics::MetricKind;
use alight_compare::report::{Columns, head_of, number};
use alight_compare::report::{STATISTICS, statistics_of, words};
use alight_compare::stats::{Delta, Summary};
use alight_machine::Trust;

use super::base::off;
use super::grid;
use super::lead::lead;
use super::sensitivity::{MOVES, Sensitivity};
use super::{
    Answer, Case, CaseAnswer, CaseLoad, Check, CheckOutcome, Length, Published, Row, Study,
};

/// Part of a report.
pub(super) enum Block {
    /// A title.
    Title(String),
    /// Rows under heads; the first columns to the left.
    Table { left: usize, rows: Vec<Vec<String>> },
    /// Lines.
    Lines(Vec<String>),
}

/// Cases that have tables of their own; of more than these a table has a line a case, unless there
/// are published figures to hold them against.
const MOST_WITH_TABLES: usize = 8;

/// Numbers of the mechanism that every study shows, by name or by how the name begins.
const MECHANISM: [&str; 27] = [
    "cpu_migrations",
    "migrations_",
    "context_switches",
    "preemptions",
    "cpus_utilized",
    "cpu_us_per_message",
    "messages_per_switch",
    "wakeups",
    "fast_path_selections",
    "slow_path_selections",
    "found_idle_percent",
    "to_idle_percent",
    "to_sched_idle_percent",
    "to_busy_percent",
    "looked_at_per_wakeup",
    "run_delay_mean_us",
    "newidle_",
    "lock_wait_s",
    "cache_refill_s",
    "beside_sibling_percent",
    "overutilized",
    "active_",
    "frequency_changes",
    "busy_capacity_",
    "idle_requested_",
    "idle_reached_",
    "idle_residency_",
];

/// What a study asks.
pub fn show(study: &Study, trust: &Trust) -> String {
    let mut head = about(study, trust);
    for case in &study.cases {
        let name = match case.name.as_str() {
            "" => "runs".to_owned(),
            name => format!("{name} runs"),
        };
        let what = load(case, &case.full, &case.full.commands);
        head.push(("case", format!("{name}: {what}")));
        for own in &case.instead {
            let what = own.full.commands.join("; ");
            head.push(("", format!("{} runs: {what}", own.scheduler)));
        }
    }
    let unfitted = study.unfitted(trust.costs.calibration.as_ref());
    for row in &study.rows {
        let mut what = row.says.clone().unwrap_or_else(|| row.metric.clone());
        if !row.case.is_empty() {
            what = format!("{}: {what}", row.case);
        }
        let waits = unfitted.iter().any(|one| std::ptr::eq(*one, row));
        let before = match (&row.before, row.calibrates) {
            (None, _) => "predicted, before and after".to_owned(),
            (Some(before), true) if waits => {
                format!("before {}; costs are not yet fitted to it", spelt(before))
            }
            (Some(before), true) => format!("before {}; costs are fitted to it", spelt(before)),
            (Some(before), false) => format!("before {}", spelt(before)),
        };
        head.push(("row", format!("{what}: {before}")));
        for (scheduler, after) in &row.after {
            head.push(("", format!("{scheduler}: {}", spelt(after))));
        }
    }
    for check in &study.checks {
        head.push(("check", format!("{}: {}", check.says, claim(check))));
    }
    format!(
        "{}: {}\n{}",
        study.name,
        study.title,
        alight_compare::report::labelled(head)
    )
}

/// What a case runs to this extent, its command lines being shown as `commands`, and how.
fn load(case: &Case, extent: &CaseLoad, commands: &[String]) -> String {
    let mut what = commands.join("; ");
    if let Some(governor) = case.governor {
        what += &format!(", {governor}");
    }
    if let Some(governor) = case.idle_governor {
        what += &format!(", idle governor {}", governor.name());
    }
    if let Some(ns) = extent.duration_ns {
        what += &format!(", cut at {}", number::time(ns));
    }
    if let Some(change) = case.changes.first() {
        what += &format!(", counted from {}", number::time(change.at_ns));
    }
    what
}

/// Command lines, and the place of what is none in a line.
fn in_a_line(commands: &[String]) -> Vec<String> {
    let short = |command: &String| match command.starts_with('{') {
        true => "an rt-app file of the study".to_owned(),
        false => command.clone(),
    };
    commands.iter().map(short).collect()
}

/// Everything that came out.
pub fn render(answer: &Answer<'_>, trust: &Trust, sensitivity: Option<&Sensitivity>) -> String {
    let study = answer.study;
    let mut text = format!(
        "{}: study {}: {}\n",
        words::program(),
        study.name,
        study.title
    );
    text.push_str(&head_of(head(answer, trust), &answer.command));
    for block in blocks(answer, sensitivity) {
        text.push('\n');
        match block {
            Block::Title(title) => text.push_str(&format!("{title}\n")),
            Block::Table { left, rows } => {
                text.pop();
                let mut columns = Columns::new(2, left);
                rows.into_iter().for_each(|row| columns.row(row));
                text.push_str(&columns.render());
            }
            Block::Lines(lines) => {
                text.pop();
                lines
                    .iter()
                    .for_each(|line| text.push_str(&format!("  {line}\n")));
            }
        }
    }
    text
}

/// Conditions: what must stand above the tables.
pub(super) fn head(answer: &Answer<'_>, trust: &Trust) -> Vec<(&'static str, String)> {
    let mut head = about(answer.study, trust);
    let mut runs = format!(
        "{} of each scheduler and case, seeds from {}",
        answer.runs, answer.seed
    );
    if answer.interrupted() {
        runs += "; INTERRUPTED: the complete runs are shown";
    }
    head.push(("runs", runs));
    head.push(("starred", words::STAR.trim_start_matches("* ").to_owned()));
    if answer.length == Length::Short {
        let short = "shortened loads and few runs: shows that the study runs, and predicts nothing";
        head.push(("short", short.to_owned()));
    }
    let lines = loads(answer);
    head.extend(lines.into_iter().map(|line| ("workload", line)));
    let mut left_out: Vec<&str> = vec![];
    for case in &answer.cases {
        for text in &case.comparison().header.rests.left_out {
            if !left_out.contains(&text.as_str()) {
                left_out.push(text);
            }
        }
    }
    head.extend(
        left_out
            .into_iter()
            .map(|text| ("left out", text.to_owned())),
    );
    head
}

/// What the cases ran, those that ran the same together; what one scheduler ran in lines of its own.
fn loads(answer: &Answer<'_>) -> Vec<String> {
    let mut together: Vec<(Vec<String>, Vec<&str>)> = vec![];
    for case in &answer.study.cases {
        let extent = case.extent(answer.length);
        let mut lines = vec![load(case, extent, &in_a_line(&extent.commands))];
        lines.extend(case.instead.iter().map(|own| {
            let commands = &own.extent(answer.length).commands;
            format!("under {}: {}", own.scheduler, commands.join("; "))
        }));
        match together.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, cases)) => cases.push(&case.name),
            None => together.push((lines, vec![&case.name])),
        }
    }
    for (lines, cases) in &mut together {
        lines[0] = match cases.as_slice() {
            [case] => named(case, &lines[0]),
            cases => format!("{} cases like {}: {}", cases.len(), cases[0], lines[0]),
        };
    }
    together.into_iter().flat_map(|(lines, _)| lines).collect()
}

fn about(study: &Study, trust: &Trust) -> Vec<(&'static str, String)> {
    let mut head = vec![("published", study.publication.clone())];
    head.extend(study.notes.iter().map(|note| ("note", note.clone())));
    head.push(("machine", study.machine.clone()));
    head.push(("costs", costs(study, trust)));
    for (index, scheduler) in study.schedulers.iter().enumerate() {
        let role = if index == 0 { "base" } else { "variant" };
        head.push((role, scheduler.name.clone()));
    }
    head
}

/// What the costs of the machine were fitted to, and which rows of the study they should have been.
fn costs(study: &Study, trust: &Trust) -> String {
    let unfitted = study.unfitted(trust.costs.calibration.as_ref());
    let unfitted: Vec<&str> = unfitted.iter().map(|row| row.metric.as_str()).collect();
    let unfitted = match unfitted.as_slice() {
        [] => String::new(),
        rows => format!("; NOT FITTED to this study's {}", rows.join(", ")),
    };
    format!("{}{unfitted}", trust.costs)
}

/// Tables, mechanism, checks, sensitivity.
pub(super) fn blocks(answer: &Answer<'_>, sensitivity: Option<&Sensitivity>) -> Vec<Block> {
    let published = answer.study.rows.iter().any(|row| row.before.is_some());
    let mut blocks = lead(answer);
    blocks.extend(match answer.study.cases.len() {
        cases if cases > MOST_WITH_TABLES && !published => grid::tables_by_row(answer),
        _ => tables_by_case(answer),
    });
    if !answer.checks.is_empty() {
        blocks.push(Block::Title("checks of the study".to_owned()));
        let lines = answer
            .checks
            .iter()
            .map(|(check, outcome)| judged(check, *outcome));
        blocks.push(Block::Lines(lines.collect()));
    }
    if let Some(sensitivity) = sensitivity {
        let of = of_shortened(&sensitivity.shortened);
        let moves = MOVES.map(|permille| number::signed((permille as f64 - 1000.0) / 10.0) + "%");
        blocks.push(Block::Title(format!(
            "the predicted delta with one parameter at {}, runs: {}{of}",
            moves.join(" / "),
            sensitivity.runs
        )));
        blocks.extend(moved(sensitivity));
    }
    blocks
}

/// What ran again, where that was less than is published.
pub(super) fn of_shortened(commands: &[String]) -> String {
    match commands {
        [] => String::new(),
        commands => format!(" of `{}`", commands.join("`, `")),
    }
}

fn tables_by_case(answer: &Answer<'_>) -> Vec<Block> {
    let mut blocks = vec![];
    for case in &answer.cases {
        let rows = (answer.study.rows.iter()).filter(|row| case.is(&row.case));
        for row in rows {
            // Where other cases have the number, this one needs none.
            if answer.values(row, case).is_empty() && answer.has(row) {
                continue;
            }
            blocks.push(Block::Title(of_case(case, &title(row, case))));
            blocks.push(table(answer, row, case));
        }
        blocks.push(Block::Title(of_case(
            case,
            "why: the mechanism, means of the runs",
        )));
        blocks.push(mechanism(case.comparison()));
    }
    blocks
}

pub(super) fn title(row: &Row, case: &CaseAnswer<'_>) -> String {
    let key = case
        .comparison()
        .base()
        .series(&row.metric)
        .map(|series| words::title(&series.key));
    let metric =
        key.unwrap_or_else(|| format!("FAILED {}: the model has no such number here", row.metric));
    match &row.says {
        Some(says) => format!("{says} ({metric})"),
        None => metric,
    }
}

fn of_case(case: &CaseAnswer<'_>, text: &str) -> String {
    named(&case.case.name, text)
}

/// Behind the name of a case, if it has one.
fn named(case: &str, text: &str) -> String {
    match case {
        "" => text.to_owned(),
        name => format!("{name}: {text}"),
    }
}

fn table(answer: &Answer<'_>, row: &Row, case: &CaseAnswer<'_>) -> Block {
    let mut rows = vec![
        [""].iter()
            .chain(&STATISTICS)
            .chain(&PREDICTION)
            .map(|cell| (*cell).to_owned())
            .collect(),
    ];
    // Of a shortened load nothing was published.
    let short = answer.length == Length::Short;
    let before = row.before.as_ref().filter(|_| !short);
    if let Some(before) = before {
        let mut cells = vec!["published before".to_owned()];
        cells.extend(published(before));
        rows.push(cells);
    }
    for value in answer.values(row, case) {
        let decimals = number::decimals(value.summary.mean);
        let mut cells = vec![value.variant.scheduler.clone()];
        cells.extend(statistics_of(&value.summary, decimals));
        if let Some(delta) = value
            .variant
            .series(&row.metric)
            .and_then(|series| series.delta)
        {
            let costs = answer.left_open(case, &row.metric, &value.variant.scheduler);
            cells.extend(prediction(&delta, costs));
        }
        rows.push(cells);
        let base = value.variant.scheduler == case.comparison().base().scheduler;
        if let Some(before) = before.filter(|_| base) {
            rows.push(off_by(&value.summary, before));
        } else if let Some(after) = row.after.get(&value.variant.scheduler).filter(|_| !short) {
            let mut cells = vec!["published after".to_owned()];
            cells.extend(published(after));
            rows.push(cells);
            rows.push(off_by(&value.summary, after));
        }
    }
    Block::Table { left: 1, rows }
}

/// Heads of what a variant's line ends in: the difference from the base, its interval over the costs
/// that are left open, its 95 % interval over the runs.
pub(super) const PREDICTION: [&str; 3] = ["delta", "costs", "runs, 95%"];

/// The same cells.
pub(super) fn prediction(delta: &Delta, costs: Option<(f64, f64)>) -> [String; 3] {
    [
        difference(delta),
        number::interval(costs),
        number::interval(delta.ci_low.zip(delta.ci_high)),
    ]
}

fn difference(delta: &Delta) -> String {
    let star = if delta.significant { " *" } else { "" };
    number::percent(delta.delta_percent) + star
}

/// How far the model is from what was published, as a line of a table.
fn off_by(model: &Summary, published: &Published) -> Vec<String> {
    let mut cells = vec!["off by".to_owned()];
    cells.extend(off(model, published).map(number::percent));
    cells
}

fn published(before: &Published) -> [String; 7] {
    before
        .statistics()
        .map(|value| value.map_or(number::NONE.to_owned(), |value| value.to_string()))
}

/// `mean 0.63104, std 0.025486`.
fn spelt(before: &Published) -> String {
    let named = STATISTICS.into_iter().zip(before.statistics());
    let words: Vec<String> = named
        .filter_map(|(name, value)| Some(format!("{name} {}", value?)))
        .collect();
    words.join(", ")
}

fn mechanism(comparison: &Comparison) -> Block {
    let base = comparison.base();
    let mut rows = vec![vec![String::new(), base.scheduler.clone()]];
    for other in comparison.others() {
        let name = words::short_name(&other.scheduler, &base.scheduler);
        rows[0].extend([name.to_owned(), "delta".to_owned()]);
    }
    for series in of_the_mechanism(&base.series) {
        let mut row = vec![series.key.name.clone(), number::short(series.summary.mean)];
        for other in comparison.others() {
            row.extend(beside(other.series(&series.key.name)));
        }
        rows.push(row);
    }
    Block::Table { left: 1, rows }
}

/// Numbers that tell why, without the results.
pub(super) fn of_the_mechanism(all: &[Series]) -> impl Iterator<Item = &Series> {
    all.iter().filter(|series| match series.key.kind {
        MetricKind::Result => false,
        MetricKind::Energy => true,
        MetricKind::Mechanism => MECHANISM
            .iter()
            .any(|name| series.key.name.starts_with(name)),
    })
}

/// A variant's number and its delta, beside the base's.
pub(super) fn beside(found: Option<&Series>) -> [String; 2] {
    let mean = found.map_or(number::NONE.to_owned(), |found| {
        number::short(found.summary.mean)
    });
    let delta = found.and_then(|found| found.delta);
    let star = if delta.is_some_and(|delta| delta.significant) {
        " *"
    } else {
        ""
    };
    let percent = number::percent(delta.and_then(|delta| delta.delta_percent));
    [mean, percent + star]
}

/// Which number a check is about, and its bounds.
fn claim(check: &Check) -> String {
    let (what, expected) = number_and_bounds(check);
    format!("{what}, expected {expected}")
}

/// Which number a check is about; its bounds.
fn number_and_bounds(check: &Check) -> (String, String) {
    let case = match check.case.as_str() {
        "" => String::new(),
        case => format!("{case}, "),
    };
    let what = match &check.relative_to {
        None => format!("{case}{} of {}", check.metric, check.scheduler),
        Some(other) => format!(
            "{case}{} of {}, percent of {other}'s",
            check.metric, check.scheduler
        ),
    };
    let bounds = [("at least", check.at_least), ("at most", check.at_most)];
    let bounds: Vec<String> = bounds
        .into_iter()
        .filter_map(|(word, bound)| Some(format!("{word} {}", number::plain(bound?))))
        .collect();
    (what, bounds.join(" and "))
}

fn judged(check: &Check, outcome: CheckOutcome) -> String {
    let (what, expected) = number_and_bounds(check);
    let (word, found) = match outcome {
        CheckOutcome::Held(found) => ("held  ", number::short(found)),
        CheckOutcome::Failed(found) => ("FAILED", number::short(found)),
        CheckOutcome::NoNumber => ("FAILED", "no such number".to_owned()),
        CheckOutcome::NotInShort => ("      ", "applies to full runs only".to_owned()),
    };
    format!(
        "{word} {}: {what}: {found}, expected {expected}",
        check.says
    )
}

/// The predictions as they are, and with each parameter moved, down and up; those that none moves
/// in a line.
fn moved(sensitivity: &Sensitivity) -> Vec<Block> {
    let shown = |delta: Option<Delta>| match delta {
        Some(delta) => difference(&delta),
        None => number::NONE.to_owned(),
    };
    let mut heads = vec!["prediction".to_owned(), "as it is".to_owned()];
    heads.extend(
        (sensitivity.parameters.iter()).map(|parameter| match parameter.values {
            Some([less, more]) => format!("{} {less} / {more}", parameter.name),
            None if parameter.fitted => parameter.name.to_owned(),
            None => format!("{} (stated)", parameter.name),
        }),
    );
    let mut rows = vec![heads];
    let mut still: Vec<&str> = vec![];
    for (label, unmoved) in &sensitivity.unmoved {
        let unmoved = shown(*unmoved);
        let moves = sensitivity.parameters.iter().map(|parameter| {
            let known = |(known, _): &&(String, _)| known == label;
            let deltas = parameter.deltas.iter().find(known);
            deltas.map_or([None; MOVES.len()], |(_, deltas)| *deltas)
        });
        let moves: Vec<_> = moves.map(|deltas| deltas.map(shown)).collect();
        if moves.iter().flatten().all(|delta| *delta == unmoved) {
            still.push(label);
            continue;
        }
        let mut row = vec![label.clone(), unmoved];
        row.extend(moves.iter().map(|[down, up]| match down == up {
            true => up.clone(),
            false => format!("{down} / {up}"),
        }));
        rows.push(row);
    }
    let mut blocks = vec![];
    if rows.len() > 1 {
        blocks.push(Block::Table { left: 1, rows });
    }
    if !still.is_empty() {
        let line = format!("changed by no parameter: {}", still.join("; "));
        blocks.push(Block::Lines(vec![line]));
    }
    blocks
}
