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
    /// The reason for this size.
    pub reason: &'static str,
    /// The source of the reason.
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
        reason: "the shortest tick of a kernel: periodic balancing runs no more often",
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
        reason: "the energy of 1 W between two updates of an energy counter, about 1 ms",
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
        reason: "one CPU in ten searches: about 3 to 10 ns for each search",
        source: "scan_local_ns and scan_remote_ns, machines/costs.toml",
    },
    Floor {
        named: "",
        unit: "",
        least: 1.0,
        reason: "a count is whole: a difference below 1 is less than one in each run",
        source: "definition of a count",
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
mod tests;
