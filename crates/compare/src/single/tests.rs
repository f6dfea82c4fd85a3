// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::fake;

#[test]
fn the_table_says_what_was_asked_and_what_came_out() {
    let mut outcome = fake::outcome(7);
    outcome.interrupted = true;
    let table = table(&fake::conditions(), &outcome);
    for expected in [
        "scheduler  linux-5.5\n",
        "seed       1\n",
        "at 5.000000000 s of simulated time, INTERRUPTED, 100 events (hash 0000000000000007)",
        "  events  1070  (higher is better)\n",
        "  cpu_migrations",
        "  slow_idle          3  5.3%  slow path: the idle CPU",
    ] {
        assert!(table.contains(expected), "no '{expected}' in\n{table}");
    }
}

#[test]
fn a_run_without_wakeups_says_so() {
    let mut outcome = fake::outcome(1);
    outcome.steps.fill(0);
    let table = table(&fake::conditions(), &outcome);
    assert!(table.ends_with("no wakeup asked for a CPU\n"), "{table}");
}

#[test]
fn the_json_holds_every_number() {
    let json = json(&fake::conditions(), &fake::outcome(7));
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], "alight.simulate/1");
    assert_eq!(value["scheduler"], "linux-5.5");
    assert_eq!(value["hash"], "0000000000000007");
    assert_eq!(value["metrics"]["events"]["value"], 1070.0);
    assert_eq!(value["metrics"]["events"]["better"], "higher");
    assert_eq!(value["metrics"]["cpu_migrations"]["kind"], "mechanism");
    assert_eq!(value["steps"]["slow_idle"], 3);
}
