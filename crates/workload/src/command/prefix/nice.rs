// SPDX-License-Identifier: GPL-2.0-only
//! `nice -n N COMMAND`, `nice -N COMMAND` (coreutils 9.9): adds to the nice value of a command.

use super::super::getopt::{self, Spec, Value, Word};
use super::super::surroundings::Surroundings;
use super::prints_a_text;
use crate::diagnostic::{Place, Refusal, Remarks};

#[derive(Debug, Clone, Copy)]
enum Opt {
    Adjustment,
    Informs,
}

const SPECS: &[Spec<Opt>] = &[
    Spec {
        short: Some('n'),
        long: Some("adjustment"),
        value: Value::Required,
        id: Opt::Adjustment,
    },
    Spec {
        short: None,
        long: Some("help"),
        value: Value::No,
        id: Opt::Informs,
    },
    Spec {
        short: None,
        long: Some("version"),
        value: Value::No,
        id: Opt::Informs,
    },
];

/// What is added if no option says.
const DEFAULT: i64 = 10;
/// Least and greatest nice value.
const NICE: (i64, i64) = (-20, 19);

pub(super) fn read(
    words: &[Word],
    around: &mut Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<usize, Refusal> {
    let mut adjustment = (DEFAULT, words[0].place);
    let mut next = 1;
    while let Some(word) = words.get(next) {
        if let Some(number) = old_spelling(&word.text) {
            adjustment = (parse(word.place, number)?, word.place);
            next += 1;
            continue;
        }
        let is_option = word.text.len() > 1 && word.text.starts_with('-');
        if !is_option {
            break;
        }
        // One option at a time: an old spelling may stand behind it.
        let parsed = getopt::parse_leading("nice", SPECS, first_option(&words[next..]))?;
        for found in &parsed.options {
            match found.id {
                Opt::Adjustment => {
                    let text = found.value.as_deref().unwrap_or_default();
                    adjustment = (parse(found.place, text)?, found.place);
                }
                Opt::Informs => {
                    return Err(prints_a_text(found));
                }
            }
        }
        next += first_option(&words[next..]).len();
        if word.text == "--" {
            break;
        }
    }
    add(adjustment, around, remarks);
    Ok(next)
}

/// The option that the words begin with, and its value if that is a word of its own.
fn first_option(words: &[Word]) -> &[Word] {
    let takes_next = matches!(words[0].text.as_str(), "-n")
        || words[0].text.len() > 2
            && "--adjustment".starts_with(&words[0].text)
            && words[0].text.starts_with("--");
    &words[..words.len().min(1 + usize::from(takes_next))]
}

/// `-5`, `--5` and `-+5`, which are no options of getopt: what stands behind the first dash.
fn old_spelling(text: &str) -> Option<&str> {
    let number = text.strip_prefix('-')?;
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    digits
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(number)
}

/// `xstrtol()`: any whole number; what is too large counts as the largest.
fn parse(place: Place, text: &str) -> Result<i64, Refusal> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::new(
            place,
            format!(
                "nice: the adjustment is `{text}`, which is not a whole number; expected like -n 5"
            ),
        ));
    }
    Ok(text.parse().unwrap_or(match text.starts_with('-') {
        true => i64::MIN,
        false => i64::MAX,
    }))
}

/// `setpriority(2)`: what is out of range is brought to its end.
fn add((adjustment, place): (i64, Place), around: &mut Surroundings<'_>, remarks: &mut Remarks) {
    let before = around.begin.attributes.nice.unwrap_or(0);
    let wanted = i64::from(before).saturating_add(adjustment);
    let nice = wanted.clamp(NICE.0, NICE.1);
    if nice != wanted {
        remarks.note(
            place,
            format!("nice: {before} plus {adjustment} is out of range; the kernel uses {nice}"),
        );
    }
    around.begin.attributes.nice = Some(nice as i32);
}
