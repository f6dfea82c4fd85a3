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
        "a task goes from 5 to 75 % of a big CPU 20 times: schedutil boosts the frequency by a given cost",
        &[percent(
            "ramp_boost",
            "difference of the boost from its cost margin",
            100,
        )],
        |_| no("schedutil's ramp boost was proposed in 2019 and is in no released kernel"),
    ),
    entry(
        "SchedTuneFrequencyTest",
        Family::Clocks,
        "a small real-time task is boosted by 20 to 100 %: the frequency follows",
        &[percent(
            "stune_frequency",
            "difference of the mean frequency from the boosted one",
            10_000,
        )],
        |_| no(SCHEDTUNE),
    ),
    entry(
        "SchedTunePlacementTest",
        Family::Clocks,
        "a small task that prefers idle CPUs is boosted by 10 and 50 %: it runs on CPUs that the boost fits",
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
        "a CPU fails to go offline or online at each state in turn, and returns to its former state",
        &[none("hotplug_rollback", "states that were not restored")],
        |_| no("the states of CPU hotplug (cpuhp) are not part of a scheduler model"),
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
