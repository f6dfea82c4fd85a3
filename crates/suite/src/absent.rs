// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios of LISA that cannot be asked of the model, with the reason: UNDECIDED,
//! not forgotten.

use super::platform::Platform;
use super::{Bound, Entry, Family, Limit, Observed, Plan, TestFigure};

const fn percent(test: &'static str, what: &'static str, milli: i64) -> Limit {
    Limit {
        test,
        what,
        unit: "%",
        bound: Bound::AtMost(milli),
        reason: "LISA's",
    }
}

const fn none(test: &'static str, what: &'static str) -> Limit {
    Limit {
        test,
        what,
        unit: "",
        bound: Bound::AtMost(0),
        reason: "all must come back",
    }
}

const fn entry(
    name: &'static str,
    family: Family,
    about: &'static str,
    limits: &'static [Limit],
    plans: fn(&Platform) -> Result<Vec<Plan>, String>,
) -> Entry {
    Entry {
        name,
        family,
        about,
        limits,
        plans,
        judge,
    }
}

/// The scenarios.
pub const ENTRIES: [Entry; 4] = [
    entry(
        "LargeStepUp",
        Family::Clocks,
        "5 to 75 % of a big CPU at once, 20 times: schedutil spends a given cost on the way up",
        &[percent(
            "ramp_boost",
            "boost apart from its cost margin",
            100,
        )],
        |_| no("schedutil's ramp boost was proposed in 2019 and is in no released kernel"),
    ),
    entry(
        "SchedTuneFrequencyTest",
        Family::Clocks,
        "a small real-time task boosted by 20 to 100 %: the clock follows",
        &[percent(
            "stune_frequency",
            "mean frequency apart from the boosted one",
            10_000,
        )],
        |_| no(SCHEDTUNE),
    ),
    entry(
        "SchedTunePlacementTest",
        Family::Clocks,
        "a small task boosted by 10 and 50 % that prefers idle CPUs: it runs where that fits",
        &[percent(
            "stune_task_placement",
            "time on CPUs smaller than the boost",
            10_000,
        )],
        |_| no(SCHEDTUNE),
    ),
    entry(
        "HotplugRollback",
        Family::Hotplug,
        "a CPU fails to go off or on at each state of the way, and comes back to where it was",
        &[none(
            "hotplug_rollback",
            "states that were not left as they were entered",
        )],
        |_| no("the states of the hotplug machinery (cpuhp) are not part of a scheduler model"),
    ),
];

const SCHEDTUNE: &str =
    "SchedTune was in Android kernels up to 5.4 and never in mainline; UtilClamp took its place";

fn no(why: &str) -> Result<Vec<Plan>, String> {
    Err(why.to_owned())
}

fn judge(_platform: &Platform, _observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    Err("there is nothing to judge".to_owned())
}
