// SPDX-License-Identifier: GPL-2.0-only
//! Times and their units in words.

/// Microseconds, as pages write them.
pub const MICROSECONDS: &str = "µs";

/// A unit as pages write it: `us` of the terminal is [`MICROSECONDS`].
pub fn unit(unit: &str) -> &str {
    match unit {
        "us" => MICROSECONDS,
        other => other,
    }
}

/// A time with its unit, to a thousandth of it; without a rest, without a point.
pub fn time(ns: u64) -> String {
    let (unit, name) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1_000, MICROSECONDS),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let thousandths = ns % unit / (unit / 1_000);
    let rest = format!(".{thousandths:03}");
    format!(
        "{}{} {name}",
        ns / unit,
        rest.trim_end_matches('0').trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests;
