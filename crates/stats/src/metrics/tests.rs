// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::statistics::tests::example;
use openmetrics_parser::openmetrics::parse_openmetrics;
use proptest::prelude::*;

#[test]
fn a_parser_accepts_it() {
    let text = render(&example());
    let exposition = parse_openmetrics(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for family in [
        "alight",
        "alight_decisions",
        "alight_selections",
        "alight_run_delay_seconds",
        "alight_cpu_runs",
    ] {
        assert!(exposition.families.contains_key(family), "{family}");
    }
    let steps = exposition.families["alight_selections"].iter_samples();
    assert_eq!(steps.count(), STEPS.len());
}

#[test]
fn a_histogram_adds_up_to_its_count() {
    let text = render(&example());
    for line in [
        "alight_run_delay_seconds_bucket{le=\"0.000032767\"} 1470",
        "alight_run_delay_seconds_bucket{le=\"+Inf\"} 1500",
        "alight_run_delay_seconds_count 1500",
        "alight_run_delay_seconds_sum 0.030000000",
        "alight_run_delay_max_seconds 0.003000000",
        "alight_selections_total{step=\"bias_prev\",feature=\"bias-prev\"} 180",
        "alight_selections_total{step=\"target_idle\",feature=\"\"} 120",
        "alight_scan_length_bucket{le=\"3.0\"} 300",
        "alight_scan_length_sum 750",
        "alight_cpu_runs_total{cpu=\"1\"} 1000",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
    }
    assert!(text.ends_with("\n# EOF\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_name_and_no_count_breaks_it(
        scheduler in ".*",
        version in "[\\\\\"\n{}#= ]*",
        counts in prop::collection::vec(any::<u64>(), 8),
    ) {
        let mut statistics = example();
        statistics.scheduler = scheduler;
        statistics.version = version;
        statistics.uptime_ns = counts[0];
        statistics.totals.decisions = counts[1];
        statistics.totals.delay_ns = counts[2];
        statistics.totals.delay_max_ns = counts[3];
        statistics.totals.moved.copy_from_slice(&counts[4..]);
        let text = render(&statistics);
        prop_assert!(text.lines().all(|line| line == "# EOF" || line.starts_with("# ")
            || line.starts_with("alight_")), "{text}");
        prop_assert_eq!(text.matches("# EOF").count() - statistics.scheduler.matches("# EOF").count()
            - statistics.version.matches("# EOF").count(), 1);
    }
}
