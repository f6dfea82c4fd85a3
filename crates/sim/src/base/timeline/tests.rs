// SPDX-License-Identifier: GPL-2.0-only
//! Timeline: order of keys, equal keys, wrapping keys.

use super::*;
use proptest::prelude::*;

fn order(t: &Timeline, nodes: &Nodes) -> Vec<u32> {
    let mut all = vec![];
    let mut at = t.first();
    while at != NONE {
        all.push(at);
        at = t.next(nodes, at);
    }
    all
}

#[test]
fn equal_keys_keep_the_order_of_insertion() {
    let mut nodes = Nodes::new(8);
    let mut t = Timeline::default();
    for task in [5, 2, 7, 1] {
        t.insert(&mut nodes, task, 10);
    }
    assert_eq!(order(&t, &nodes), [5, 2, 7, 1]);
    t.remove(&mut nodes, 2);
    assert_eq!(order(&t, &nodes), [5, 7, 1]);
}

#[test]
fn keys_may_wrap() {
    let mut nodes = Nodes::new(2);
    let mut t = Timeline::default();
    t.insert(&mut nodes, 0, 5);
    t.insert(&mut nodes, 1, 0u64.wrapping_sub(5));
    assert_eq!(order(&t, &nodes), [1, 0]);
}

proptest! {
    #[test]
    fn behaves_as_a_stable_sorted_list(
        steps in prop::collection::vec((0u32..40, 0u64..12), 1..400),
    ) {
        let mut nodes = Nodes::new(40);
        let mut t = Timeline::default();
        let mut model: Vec<(u64, u32)> = vec![];
        for (task, key) in steps {
            if let Some(at) = model.iter().position(|m| m.1 == task) {
                model.remove(at);
                t.remove(&mut nodes, task);
            } else {
                let at = model.iter().position(|m| m.0 > key).unwrap_or(model.len());
                model.insert(at, (key, task));
                t.insert(&mut nodes, task, key);
            }
            prop_assert_eq!(t.len() as usize, model.len());
            prop_assert_eq!(t.first_key(), model.first().map(|m| m.0));
            let expected: Vec<u32> = model.iter().map(|m| m.1).collect();
            prop_assert_eq!(order(&t, &nodes), expected);
        }
    }
}
