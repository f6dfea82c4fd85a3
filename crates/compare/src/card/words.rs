// SPDX-License-Identifier: GPL-2.0-only
//! The sentences that a card's texts share.

use super::{Card, Cell, FALSE_DISCOVERIES, Fate, LEAST_PERCENT, Line, LineVerdict, value};
use crate::report::number;
use crate::rests;
use crate::verdict::too_small;

/// The sections with a row a number, in their order: harms first.
pub const SECTIONS: [(LineVerdict, &str); 5] = [
    (LineVerdict::Harm, "harms"),
    (LineVerdict::Help, "helps"),
    (
        LineVerdict::Shift,
        "shifts, neither good nor bad by themselves",
    ),
    (
        LineVerdict::NoSpread,
        "the same in every run: no spread to judge by",
    ),
    (LineVerdict::TooSmall, "too small to matter"),
];

/// A section that is left out where it has no row.
pub fn only_if_any(verdict: LineVerdict) -> bool {
    matches!(verdict, LineVerdict::NoSpread | LineVerdict::TooSmall)
}

/// Heads of the cells of [`row`].
pub const HEADS: [&str; 6] = [
    "machine",
    "workload",
    "metric",
    "base",
    "delta",
    "95% interval",
];

/// A number as a row. Of what depends on other numbers of the card only the verdict is in it.
pub fn row(cell: &Cell, line: &Line) -> [String; 6] {
    let delta = match line.delta.delta_percent {
        Some(percent) => number::percent(Some(percent)),
        None => format!("to {}", value(line.mean)),
    };
    [
        cell.machine.clone(),
        cell.workload.to_owned(),
        line.metric.clone(),
        value(line.base),
        delta,
        certainty_of(line),
    ]
}

/// The interval; or why there is none, or what it would say too much of.
fn certainty_of(line: &Line) -> String {
    match (line.verdict, line.delta.no_interval) {
        (LineVerdict::TooSmall, _) => too_small(line.unit, &line.delta),
        (_, Some(why)) => why.as_str().to_owned(),
        _ => number::interval(line.delta.ci_low.zip(line.delta.ci_high)),
    }
}

/// `linux-6.5 against linux-6.5+bias-prev; 10 runs of each cell, seeds 1 to 10, shared`.
pub fn question(card: &Card) -> String {
    let last = card.seed + u64::from(card.runs) - 1;
    format!(
        "{} against {}, {} run{} of each, seed{} {}",
        card.variant,
        card.base,
        card.runs,
        if card.runs == 1 { "" } else { "s" },
        if card.runs == 1 { "" } else { "s" },
        if card.runs == 1 {
            last.to_string()
        } else {
            format!("{} to {last}, shared", card.seed)
        },
    )
}

/// "1 cell", "2 cells".
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// What was asked and how much of it is there.
pub fn extent(card: &Card) -> String {
    let identical = (card.cells.iter()).filter(|cell| cell.fate.is_identical());
    let done = card.cells.len();
    let asked = if card.interrupted() {
        format!("; INTERRUPTED: {} were asked for", card.asked)
    } else {
        String::new()
    };
    format!(
        "{} (a workload on a machine){asked}; in {} of them every run equals the base's, event for event",
        counted(done, "cell"),
        identical.count()
    )
}

/// How chance is kept out.
pub fn certainty(card: &Card) -> String {
    let tests = card.tests();
    if tests == 0 {
        return match card.runs {
            1 => "one run of each cannot tell a difference from noise: use --runs 2 or more"
                .to_owned(),
            _ => "no number differs from run to run; nothing is tested".to_owned(),
        };
    }
    let untested = match card.untested() {
        0 => String::new(),
        count => format!(
            "; {} not, because every run has the same difference",
            match count {
                1 => "1 number is".to_owned(),
                count => format!("{count} numbers are"),
            }
        ),
    };
    format!(
        "{} tested{untested}. Each interval is a 95 % confidence interval (Student's t, paired by seed); about {} of \
         them exclude zero by chance. Numbers are listed if they differ at a false discovery rate of {} % over all \
         tests (Benjamini-Hochberg), by {} % or more, and by enough to matter (docs/reference/metrics.md)",
        match tests {
            1 => "1 number is".to_owned(),
            tests => format!("{tests} numbers are"),
        },
        (tests as f64 * 0.05).round(),
        100.0 * FALSE_DISCOVERIES,
        LEAST_PERCENT
    )
}

/// What is not listed, in counts.
pub fn remainder(card: &Card) -> String {
    let none = card.of(LineVerdict::None);
    // An interval this wide says that too little was run.
    const WIDE_PERCENT: f64 = 10.0;
    let wide = none.iter().filter(|(_, line)| {
        let ends = line.delta.ci_low.zip(line.delta.ci_high);
        ends.is_some_and(|(low, high)| low < -WIDE_PERCENT || high > WIDE_PERCENT)
    });
    if card.tests() == 0 {
        return format!("{} not tested", counted(none.len(), "number"));
    }
    let small = card.of(LineVerdict::Small).len();
    let (dropped, wide) = (card.dropped(), wide.count());
    let mut told = vec![format!(
        "{} no measurable difference",
        has(none.len(), "number")
    )];
    if small != 0 {
        told.push(format!("{} less than {LEAST_PERCENT} %", differs(small)));
    }
    if dropped != 0 {
        told.push(format!(
            "of these, {} an interval that excludes zero, as expected by chance among so many tests",
            has(dropped, "number")
        ));
    }
    if wide != 0 {
        told.push(format!(
            "{} an interval that reaches beyond {WIDE_PERCENT} %: more runs could show a difference",
            has(wide, "number")
        ));
    }
    told.join("; ")
}

/// `3 numbers have`.
fn has(count: usize, what: &str) -> String {
    let verb = if count == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(count, what))
}

/// `3 numbers differ by`.
fn differs(count: usize) -> String {
    match count {
        1 => "1 number differs by".to_owned(),
        count => format!("{count} numbers differ by"),
    }
}

/// Machines and the workloads of theirs that have this fate, as `machine: a, b`.
pub fn by_machine(card: &Card, has: impl Fn(&Fate) -> bool) -> Vec<(String, String)> {
    let mut list: Vec<(String, Vec<&str>)> = Vec::new();
    for cell in card.cells.iter().filter(|cell| has(&cell.fate)) {
        match list.last_mut() {
            Some((machine, workloads)) if *machine == cell.machine => workloads.push(cell.workload),
            _ => list.push((cell.machine.clone(), vec![cell.workload])),
        }
    }
    (list.into_iter())
        .map(|(machine, workloads)| (machine, workloads.join(", ")))
        .collect()
}

/// Commands of the cells of the first lines of each section, each once, in the order of cells.
pub fn commands(card: &Card, most: usize) -> Vec<&str> {
    let sections = SECTIONS.iter().flat_map(|(verdict, _)| {
        let lines = card.of(*verdict).into_iter().take(most);
        lines.map(|(cell, _)| cell.command.as_str())
    });
    let listed: Vec<&str> = sections.collect();
    let commands = card.cells.iter().map(|cell| cell.command.as_str());
    commands
        .filter(|command| listed.contains(command))
        .collect()
}

/// What the numbers rest on: a line a machine.
pub fn rests_on(card: &Card) -> Vec<String> {
    let line = |(machine, trust): &(String, _)| format!("{machine}: {}", rests::line(trust));
    card.trust.iter().map(line).collect()
}

/// What the model leaves out, each sentence once, with the cells that need it.
pub fn left_out(card: &Card) -> Vec<String> {
    let mut sentences: Vec<&String> = vec![];
    for sentence in card.cells.iter().flat_map(|cell| &cell.left_out) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    let with_cells = |sentence: &String| {
        let has = |cell: &&Cell| cell.left_out.contains(sentence);
        let mut machines: Vec<&str> = vec![];
        for cell in card.cells.iter().filter(has) {
            if !machines.contains(&cell.machine.as_str()) {
                machines.push(&cell.machine);
            }
        }
        format!("{}: {sentence}", machines.join(", "))
    };
    sentences.into_iter().map(with_cells).collect()
}

/// Sentences: machines where it cannot act.
pub fn cannot_act(card: &Card) -> Vec<String> {
    let mut list: Vec<(&str, Vec<&str>)> = Vec::new();
    for (machine, what) in &card.cannot_act {
        match list.last_mut() {
            Some((known, machines)) if known == what => machines.push(machine),
            _ => list.push((what, vec![machine])),
        }
    }
    (list.into_iter())
        .map(|(what, machines)| format!("{}: it needs {what}", machines.join(", ")))
        .collect()
}

/// The text with a capital letter at its begin.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
