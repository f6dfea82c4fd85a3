// SPDX-License-Identifier: GPL-2.0-only
//! The cards in docs/results/policies are what the program prints today: a cell or two of each is made again
//! and must be on the page word for word. If not, the model has changed: `make cards`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::alight;

/// A committed card: the words of its command, and its text.
struct Committed {
    page: PathBuf,
    command: Vec<String>,
    text: String,
}

/// Workloads that take moments to simulate, on boards.
const QUICK: [&str; 8] = [
    "spare-time",
    "mixed",
    "light",
    "phone",
    "capped",
    "boosted",
    "frames",
    "frames-boosted",
];
const BOARDS: [&str; 5] = ["tc2", "ca9x4", "juno-r0", "juno-r2", "hikey620"];

fn committed() -> Vec<Committed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/policies");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    let mut cards = vec![];
    for page in pages {
        let content = fs::read_to_string(&page).unwrap();
        for part in content.split("<!-- alight ").skip(1) {
            let (command, rest) = part.split_once(" -->\n").expect("the end of the command");
            let (text, _) = rest
                .split_once("<!-- end of the card -->")
                .expect("the end of the card");
            cards.push(Committed {
                page: page.clone(),
                command: command.split(' ').map(str::to_owned).collect(),
                text: text.to_owned(),
            });
        }
    }
    cards
}

/// The rows of a card's text that are of this cell.
fn rows<'a>(text: &'a str, machine: &str, workload: &str) -> Vec<&'a str> {
    let head = format!("| {machine} | {workload} |");
    let mut rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with(&head))
        .collect();
    rows.sort_unstable();
    rows
}

/// The cell alone, made again.
fn again(card: &Committed, machine: &str, workload: &str) -> String {
    let mut args: Vec<&str> = card.command.iter().map(String::as_str).collect();
    args.extend(["-m", machine, "-w", workload, "--style", "markdown"]);
    let output = alight(&args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn the_cards_of_the_pages_are_those_that_the_program_makes() {
    let cards = committed();
    for feature in alight_policy::scheduler::FEATURES {
        let page = format!("{}.md", feature.name);
        let has = |card: &Committed| card.page.ends_with(&page);
        assert!(cards.iter().any(has), "{page} has no card");
    }
    for card in &cards {
        let cells = BOARDS
            .iter()
            .flat_map(|machine| QUICK.map(|workload| (*machine, workload)));
        let mut differing = cells.filter(|(m, w)| !rows(&card.text, m, w).is_empty());
        let (machine, workload) = differing.next().expect("a cell with numbers");
        let place = format!(
            "{}, {}: {workload} on {machine}: `make cards` makes it again",
            card.page.display(),
            card.command.join(" ")
        );
        let found = again(card, machine, workload);
        assert_eq!(
            rows(&found, machine, workload),
            rows(&card.text, machine, workload),
            "{place}"
        );
        let version = format!("alight {}", env!("CARGO_PKG_VERSION"));
        assert!(card.text.contains(&version), "{place}");
    }
}

#[test]
fn runs_that_a_card_calls_identical_are() {
    for card in committed() {
        let of_board = |line: &str| {
            let (machine, workloads) = line.strip_prefix("- ")?.split_once(": ")?;
            let machine = BOARDS.into_iter().find(|board| *board == machine)?;
            let workload = QUICK
                .into_iter()
                .find(|name| workloads.split(", ").any(|w| w == *name))?;
            Some((machine, workload))
        };
        let Some((machine, workload)) = card.text.lines().find_map(of_board) else {
            continue;
        };
        let found = again(&card, machine, workload).replace('\n', " ");
        let says = "1 cell (a workload on a machine); in 1 of them";
        assert!(found.contains(says), "{machine} {workload}: {found}");
    }
}
