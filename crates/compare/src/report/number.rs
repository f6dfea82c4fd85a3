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
mod tests {
    use super::*;

    #[test]
    fn numbers_show_six_digits() {
        for (value, text) in [
            (0.631_04, "0.631040"),
            (10_267.76, "10267.8"),
            (118_000_000.25, "118000000"),
            (12.0, "12"),
            (0.0, "0"),
            (-0.0, "0"),
            (99.999_999_9, "100.0000"),
            (1e-12, "0.000000000"),
        ] {
            assert_eq!(plain(value), text, "{value}");
        }
    }

    #[test]
    fn short_numbers_show_four_digits_and_whole_ones_all() {
        for (value, text) in [
            (19.25, "19.25"),
            (1850.75, "1851"),
            (123_456.7, "123457"),
            (7663.0, "7663"),
            (0.000_296_954, "0.0002970"),
        ] {
            assert_eq!(short(value), text, "{value}");
        }
    }

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        for (ns, text) in [
            (0, "0 ns"),
            (430, "430 ns"),
            (12_500, "12.50 us"),
            (300_000, "300 us"),
            (5_330_177, "5.330 ms"),
            (61_000_000_000, "61 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn percentages_carry_a_sign_and_no_negative_zero() {
        assert_eq!(percent(Some(41.23)), "+41.2%");
        assert_eq!(percent(Some(-0.04)), "+0.0%");
        assert_eq!(percent(Some(-3.0)), "-3.0%");
        assert_eq!(percent(None), "-");
        assert_eq!(interval(Some((-1.0, 2.0))), "[-1.0, +2.0]");
    }

    #[test]
    fn times_are_exact() {
        for (ns, text) in [
            (5_000_000_000, "5 s"),
            (1_500_000_000, "1500 ms"),
            (17_000, "17 us"),
            (17_001, "17001 ns"),
            (0, "0 ns"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
