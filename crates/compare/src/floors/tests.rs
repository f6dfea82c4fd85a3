// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn the_least_that_matters_is_that_of_the_metric() {
    for (name, unit, small, enough) in [
        ("run_delay_mean_us", "us", 0.148, 1.0),
        ("wakeup_latency_p99_us", "us", -0.999, -1.0),
        ("frame_time_p50_us", "us", 99.0, 100.0),
        ("elapsed_s", "s", 0.000_9, 0.001),
        ("move_left_cluster_ms", "ms", 0.9, 1.0),
        ("energy_j", "j", 0.000_9, 0.001),
        ("power_w", "w", 0.000_9, 0.001),
        ("power_big_mw", "mw", 0.9, 1.0),
        ("jank_percent", "percent", 0.09, 0.1),
        ("looked_at_per_wakeup", "", 0.09, 0.1),
        ("cpu_migrations", "", 0.9, 1.0),
        ("requests_per_s", "", 0.9, 1.0),
    ] {
        let floor = Floor::of(name, unit);
        assert!(!floor.reached_by(small), "{name}: {small}");
        assert!(floor.reached_by(enough), "{name}: {enough}");
    }
}

#[test]
fn every_unit_has_a_floor_of_its_own() {
    for unit in ["s", "ms", "us", "j", "w", "mw", "percent", ""] {
        assert_eq!(Floor::of("anything", unit).unit, unit);
    }
}

#[test]
fn a_change_is_said_in_the_unit_that_suits_it() {
    for (from, to, unit, said) in [
        (0.012, 0.16, "us", "12 ns -> 160 ns"),
        (0.7, 1.25, "us", "0.7 us -> 1.25 us"),
        (0.000_2, 0.000_35, "s", "200 us -> 350 us"),
        (2_000.0, 2_001.0, "us", "2 ms -> 2.001 ms"),
        (0.0, 0.000_4, "j", "0 uJ -> 400 uJ"),
        (0.05, 0.08, "percent", "0.05 % -> 0.08 %"),
        (3.0, 3.4, "", "3 -> 3.4"),
        (0.0, 0.0, "us", "0 ns -> 0 ns"),
    ] {
        assert_eq!(change(from, to, unit), said);
    }
}

/// The page shows what the program does.
#[test]
fn the_page_on_metrics_has_the_table() {
    let page = include_str!("../../../../docs/reference/metrics.md");
    for floor in &FLOORS {
        let unit = match floor.unit {
            "" => "",
            "percent" => " percentage points",
            unit => &format!(" {unit}"),
        };
        for part in [
            format!("{}{unit} |", floor.least),
            format!("| {} |", floor.reason),
            format!("| {} |", floor.source),
        ] {
            assert!(
                page.contains(&part),
                "docs/reference/metrics.md lacks '{part}'"
            );
        }
    }
}
