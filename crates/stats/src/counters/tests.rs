// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn there_is_room_for_all_steps() {
    assert!(alight_policy::STEPS.len() <= STEP_SLOTS);
}

#[test]
fn cpus_add_up() {
    let mut cpus = [Counters::ZERO, Counters::ZERO];
    cpus[0].decisions = 3;
    cpus[1].decisions = 4;
    cpus[0].delay_max_ns = 900;
    cpus[1].delay_max_ns = 700;
    cpus[0].steps[2] = 3;
    cpus[1].steps[2] = 1;
    cpus[1].delays[31] = 5;
    let sum: Counters = cpus.iter().sum();
    assert_eq!(sum.decisions, 7);
    assert_eq!(sum.delay_max_ns, 900, "the largest, not the sum");
    assert_eq!((sum.steps[2], sum.delays[31]), (4, 5));
}

#[test]
fn an_interval_is_the_difference_of_its_ends() {
    let mut before = Counters::ZERO;
    before.runs = 10;
    before.delay_max_ns = 5000;
    before.delays[12] = 10;
    let mut after = before.clone();
    after.runs = 13;
    after.delays[4] = 3;
    let quiet = after.since(&before);
    assert_eq!((quiet.runs, quiet.delays[4], quiet.delays[12]), (3, 3, 0));
    assert_eq!(quiet.delay_max_ns, 31, "the end of bucket 4");
    after.delay_max_ns = 7000;
    after.delays[12] = 11;
    assert_eq!(
        after.since(&before).delay_max_ns,
        7000,
        "exact, because new"
    );
}

#[test]
fn the_plain_ones_stand_in_the_order_of_their_names() {
    let mut counters = Counters::ZERO;
    counters.yields = 9;
    let place = PLAIN.iter().position(|(name, _)| *name == "yields");
    assert_eq!(counters.plain()[place.unwrap()], 9);
}
