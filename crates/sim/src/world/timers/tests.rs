// SPDX-License-Identifier: GPL-2.0-only
//! Timers of a CPU: order of expiry.

use super::*;
use proptest::prelude::*;

#[test]
fn timers_of_one_instant_expire_in_the_order_they_were_started() {
    let mut nodes = Nodes::new(8);
    let mut timers = Timers::default();
    for task in [5, 2, 7, 1, 0] {
        timers.insert(&mut nodes, task, 10);
    }
    timers.insert(&mut nodes, 4, 9);
    let order: Vec<u32> = (0..6).map(|_| timers.pop(&mut nodes)).collect();
    assert_eq!(order, [4, 5, 2, 7, 1, 0]);
    assert_eq!(timers.first_at(), NEVER);
}

#[test]
fn a_timer_may_never_expire() {
    let mut nodes = Nodes::new(3);
    let mut timers = Timers::default();
    timers.insert(&mut nodes, 0, u64::MAX);
    timers.insert(&mut nodes, 1, NEVER);
    timers.insert(&mut nodes, 2, 7);
    let order: Vec<u32> = (0..3).map(|_| timers.pop(&mut nodes)).collect();
    assert_eq!(order, [2, 0, 1]);
}

proptest! {
    #[test]
    fn behaves_as_a_stable_sorted_list(
        steps in prop::collection::vec(prop::option::weighted(0.6, (0u32..40, 0u64..12)), 1..400),
    ) {
        let mut nodes = Nodes::new(40);
        let mut timers = Timers::default();
        let mut model: Vec<(u64, u32)> = vec![];
        for step in steps {
            match step {
                Some((task, at)) if model.iter().all(|m| m.1 != task) => {
                    let behind = model.iter().position(|m| m.0 > at).unwrap_or(model.len());
                    model.insert(behind, (at, task));
                    timers.insert(&mut nodes, task, at);
                }
                _ if !model.is_empty() => {
                    let (_, task) = model.remove(0);
                    prop_assert_eq!(timers.pop(&mut nodes), task);
                }
                _ => {}
            }
            prop_assert_eq!(timers.first_at(), model.first().map_or(NEVER, |m| m.0));
        }
    }
}
