// SPDX-License-Identifier: GPL-2.0-only
//! Numbers as text, the same on every machine.

pub use alight_sim::time;

/// Digits that a number shows at least, those before the point included.
pub const SIGNIFICANT: i32 = 6;

/// The same where the order of magnitude is what matters.
const SIGNIFICANT_SHORT: i32 = 4;

/// Decimals that show `value` with 6 significant digits, 0 to 9.
pub fn decimals(value: f64) -> usize {
    decimals_for(value, SIGNIFICANT)
}

/// Decimals that show `value` with so many significant digits, 0 to 9.
pub fn decimals_for(value: f64, significant: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // The formatter's exponent is exact where a logarithm is rounded.
    let exponent: i32 = format!("{value:e}")
        .rsplit_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    (significant - 1 - exponent).clamp(0, 9) as usize
}

/// `value` with `decimals` decimals.
pub fn fixed(value: f64, decimals: usize) -> String {
    positive_zero(format!("{value:.decimals$}"))
}

/// "1 CPU", "2 CPUs".
pub fn cpus(count: usize) -> String {
    match count {
        1 => "1 CPU".to_owned(),
        count => format!("{count} CPUs"),
    }
}

/// `value` with 6 significant digits, a whole one without decimals.
pub fn plain(value: f64) -> String {
    let decimals = if value.fract() == 0.0 {
        0
    } else {
        decimals(value)
    };
    fixed(value, decimals)
}

/// `value` with 4 significant digits, a whole one without decimals.
pub fn short(value: f64) -> String {
    let decimals = if value.fract() == 0.0 {
        0
    } else {
        decimals_for(value, SIGNIFICANT_SHORT)
    };
    fixed(value, decimals)
}

/// A missing number.
pub const NONE: &str = "-";

/// `+41.2%`, or [`NONE`].
pub fn percent(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{}%", signed(value)))
}

/// `+41.2`, one decimal.
pub fn signed(value: f64) -> String {
    let text = fixed(value, 1);
    if text.starts_with('-') {
        text
    } else {
        format!("+{text}")
    }
}

/// `[+38.1, +44.3]`, or nothing for a missing interval.
pub fn interval(ends: Option<(f64, f64)>) -> String {
    ends.map_or(String::new(), |(low, high)| {
        format!("[{}, {}]", signed(low), signed(high))
    })
}

/// The run's identity as it is printed.
pub fn hash(hash: u64) -> String {
    format!("{hash:016x}")
}

/// A point in time: seconds with all nine decimals.
pub fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A length of time to 4 digits, in the unit that suits it: `430 ns`, `12.50 us`.
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => short(ns as f64 / 1e3) + " us",
        1_000_000..1_000_000_000 => short(ns as f64 / 1e6) + " ms",
        _ => short(ns as f64 / 1e9) + " s",
    }
}

fn positive_zero(text: String) -> String {
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    match text.strip_prefix('-') {
        Some(rest) if is_zero => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
