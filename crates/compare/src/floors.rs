// SPDX-License-Identifier: GPL-2.0-only
//! The least differences that matter, by metric, in the metric's own unit: a percentage alone makes
//! a harm of 12 ns that become 160 ns. docs/reference/metrics.md shows this table, and a test holds the two
//! together.

use crate::report::number;

/// The least difference of some metrics that matters.
#[derive(Debug, PartialEq)]
pub struct Floor {
    /// What a metric's name contains; empty: any.
    pub named: &'static str,
    /// Unit of the metric, as metrics have it.
    pub unit: &'static str,
    /// The least difference that matters, in that unit.
    pub least: f64,
    /// Why so much.
    pub reason: &'static str,
    /// Where that can be looked up.
    pub source: &'static str,
}

/// All floors; the first that fits a metric counts, and the last fits all that no other does.
pub const FLOORS: [Floor; 10] = [
    Floor {
        named: "frame_time",
        unit: "us",
        least: 100.0,
        reason: "0.6 % of a frame of 60 Hz",
        source: "1 s / 60 = 16.7 ms",
    },
    Floor {
        named: "",
        unit: "us",
        least: 1.0,
        reason: "the tools that measure latencies count whole microseconds",
        source: "rt-tests 2.4 src/cyclictest/cyclictest.c; schbench 24e32b8 schbench.c; adrestia 7ced8eb wake.c",
    },
    Floor {
        named: "",
        unit: "ms",
        least: 1.0,
        reason: "the shortest tick of a kernel: balancing looks no more often",
        source: "CONFIG_HZ=1000, Linux 6.5 kernel/Kconfig.hz",
    },
    Floor {
        named: "",
        unit: "s",
        least: 0.001,
        reason: "the tools that measure how long work takes print whole milliseconds",
        source: "rt-tests 2.4 src/hackbench/hackbench.c; Linux 6.1 tools/perf/bench/sched-messaging.c",
    },
    Floor {
        named: "",
        unit: "j",
        least: 0.001,
        reason: "what 1 W takes between two updates of an energy counter, about 1 ms",
        source: "Intel SDM, volume 3, \"RAPL interfaces\": energy status registers are updated every ~1 ms",
    },
    Floor {
        named: "",
        unit: "w",
        least: 0.001,
        reason: "powers of cores are measured and published in whole milliwatts",
        source: "Arm LISA, juno_energy.py; machines/juno-r0.toml",
    },
    Floor {
        named: "",
        unit: "mw",
        least: 1.0,
        reason: "powers of cores are measured and published in whole milliwatts",
        source: "Arm LISA, juno_energy.py; machines/juno-r0.toml",
    },
    Floor {
        named: "",
        unit: "percent",
        least: 0.1,
        reason: "shares are published with one decimal",
        source: "late frames of 1.1 %, studies/pixel6-jank.toml",
    },
    Floor {
        named: "per_wakeup",
        unit: "",
        least: 0.1,
        reason: "one CPU in ten searches: some 3 to 10 ns a search",
        source: "scan_local_ns and scan_remote_ns, machines/costs.toml",
    },
    Floor {
        named: "",
        unit: "",
        least: 1.0,
        reason: "a count is whole: less than 1 is not even one a run",
        source: "what is counted",
    },
];

impl Floor {
    /// The floor of a metric.
    pub fn of(name: &str, unit: &str) -> &'static Floor {
        let fits = |floor: &&Floor| floor.unit == unit && name.contains(floor.named);
        let last = &FLOORS[FLOORS.len() - 1];
        FLOORS.iter().find(fits).unwrap_or(last)
    }

    /// Whether a difference is as much as this, or more.
    pub fn reached_by(&self, difference: f64) -> bool {
        /// What rounding may take from a difference that is just as much.
        const ROUNDING: f64 = 1e-9;
        difference.abs() >= self.least * (1.0 - ROUNDING)
    }
}

/// `12 ns -> 160 ns`: two values of a metric, in a unit that suits both.
pub fn change(from: f64, to: f64, unit: &str) -> String {
    let of = |scale: f64, unit: &str| {
        let value = |value: f64| plain(value * scale);
        match unit {
            "" => format!("{} -> {}", value(from), value(to)),
            unit => format!("{} {unit} -> {} {unit}", value(from), value(to)),
        }
    };
    let most = from.abs().max(to.abs());
    let steps: &[(f64, &str)] = match unit {
        "s" => &[(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")],
        "ms" => &[(1e-3, "s"), (1.0, "ms"), (1e3, "us"), (1e6, "ns")],
        "us" => &[(1e-6, "s"), (1e-3, "ms"), (1.0, "us"), (1e3, "ns")],
        "j" => &[(1.0, "J"), (1e3, "mJ"), (1e6, "uJ")],
        "w" => &[(1.0, "W"), (1e3, "mW"), (1e6, "uW")],
        "mw" => &[(1e-3, "W"), (1.0, "mW"), (1e3, "uW")],
        "percent" => &[(1.0, "%")],
        _ => &[(1.0, "")],
    };
    let suits = steps.iter().find(|(scale, _)| most * scale >= 1.0);
    let (scale, unit) = suits.unwrap_or(&steps[steps.len() - 1]);
    of(*scale, unit)
}

/// With four digits and no more than it needs: 12, not 12.00, for what is 12 but for rounding.
fn plain(value: f64) -> String {
    let text = number::fixed(value, number::decimals_for(value, 4));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
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
        let page = include_str!("../../../docs/reference/metrics.md");
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
}
