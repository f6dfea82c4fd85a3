// SPDX-License-Identifier: GPL-2.0-only
//! Times as users type them: `5s`, `200ms`, `1.5s`, `2min`.

use std::ops::Range;

use alight_compare::report::number::time;

/// Units with their size in ns, in the order in which messages list them.
const UNITS: [(&str, u64); 5] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];

/// A point in time or a length, ns: a decimal number and its unit, exact to the ns.
///
/// # Errors
/// Anything else, with what was expected.
pub fn parse(text: &str) -> Result<u64, String> {
    let number_end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    if number.is_empty() {
        return Err(expected(if text.starts_with('-') {
            "the time is negative"
        } else {
            "there is no number"
        }));
    }
    let unit = unit.trim();
    let size = UNITS.iter().find(|(name, _)| *name == unit);
    let Some((_, size)) = size else {
        return Err(expected(&if unit.is_empty() {
            format!("'{number}' has no unit")
        } else {
            format!("'{unit}' is no unit")
        }));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = if whole.is_empty() { "0" } else { whole };
    let ns = whole.parse::<u64>().ok().and_then(|n| n.checked_mul(*size));
    let fraction = fraction_ns(fraction, *size)?;
    ns.and_then(|ns| ns.checked_add(fraction))
        .ok_or_else(|| expected("the time exceeds 584 years"))
}

/// A length of time: as [`parse`], but 0 is refused.
///
/// # Errors
/// As [`parse`], and 0.
pub fn parse_length(text: &str) -> Result<u64, String> {
    match parse(text)? {
        0 => Err(expected("the run has no length")),
        ns => Ok(ns),
    }
}

/// A part of a run, `FROM:TO`, ns.
///
/// # Errors
/// Times that [`parse`] refuses, one time alone, and an end that is not after the begin.
pub fn parse_span(text: &str) -> Result<Range<u64>, String> {
    let Some((from, to)) = text.split_once(':') else {
        return Err("expected two times, like 1s:1.2s".to_owned());
    };
    let (from, to) = (parse(from)?, parse(to)?);
    match from < to {
        true => Ok(from..to),
        false => Err("the second time must be later than the first".to_owned()),
    }
}

/// A time as users type it, exact.
pub fn typed(ns: u64) -> String {
    time(ns).replace(' ', "")
}

/// `digits` behind the point of a number of units of `size` ns.
fn fraction_ns(digits: &str, size: u64) -> Result<u64, String> {
    let mut ns = 0;
    let mut place = size;
    for digit in digits.chars() {
        let digit = digit
            .to_digit(10)
            .ok_or_else(|| expected("the number has two points"))?;
        if digit != 0 && !place.is_multiple_of(10) {
            return Err(expected("the number is finer than 1 ns"));
        }
        place /= 10;
        ns += place * u64::from(digit);
    }
    Ok(ns)
}

fn expected(found: &str) -> String {
    let units: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
    format!(
        "{found}; expected a number and a unit ({}), like 5s or 200ms",
        units.join(", ")
    )
}

#[cfg(test)]
mod tests;
