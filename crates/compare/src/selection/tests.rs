// SPDX-License-Identifier: GPL-2.0-only

use super::*;

const NAMES: [&str; 6] = [
    "elapsed_s",
    "energy_j",
    "run_delay_mean_us",
    "run_delay_p99_us",
    "to_prev_percent",
    "AudioTick-0_loops",
];

#[test]
fn a_name_or_a_pattern_selects() {
    for (texts, selected) in [
        (&[][..], &NAMES[..]),
        (&["elapsed_s"], &["elapsed_s"]),
        (
            &["run_delay*", "elapsed_s"],
            &["elapsed_s", "run_delay_mean_us", "run_delay_p99_us"],
        ),
        (&["*_p99_us"], &["run_delay_p99_us"]),
        (&["e*_[sj]"], &["elapsed_s", "energy_j"]),
        (&["AudioTick-?_loops"], &["AudioTick-0_loops"]),
        (&["elapsed"], &[]),
    ] {
        let selection = Selection::of(texts.iter().copied()).unwrap();
        let found: Vec<&str> = NAMES.into_iter().filter(|n| selection.has(n)).collect();
        assert_eq!(found, selected, "{texts:?}");
    }
}

#[test]
fn a_name_that_is_none_is_answered_with_the_nearest() {
    let names: Vec<String> = NAMES.map(str::to_owned).to_vec();
    for (text, nearest) in [
        ("elapsed", "elapsed_s"),
        ("run_dealy_mean_us", "run_delay_mean_us"),
        ("rundelay*", "run_delay_p99_us"),
        ("p99", "run_delay_p99_us"),
    ] {
        let selection = Selection::of(["energy_j", text]).unwrap();
        let error = selection.check_names(&names).unwrap_err().to_string();
        let says =
            format!("--metric '{text}': this run has no such number; the nearest: {nearest}");
        assert!(error.starts_with(&says), "{error}");
    }
    assert_eq!(
        Selection::of(["energy_*"]).unwrap().check_names(&names),
        Ok(())
    );
    for (text, says) in [
        ("a[b", "the set after `[` is empty or not closed"),
        ("a[]", "the set after `[` is empty or not closed"),
        ("a**", "`**` is not a pattern here; write one `*`"),
        ("a***", "`**` is not a pattern here; write one `*`"),
        ("**[ab]", "`**` is not a pattern here; write one `*`"),
    ] {
        let error = Selection::of([text]).unwrap_err();
        assert!(
            error.starts_with(&format!("--metric '{text}': {says}")),
            "{error}"
        );
    }
}
