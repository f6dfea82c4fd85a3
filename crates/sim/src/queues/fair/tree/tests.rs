// SPDX-License-Identifier: GPL-2.0-only
//! Tests of EEVDF's queue against a sorted list.

use super::*;
use proptest::prelude::*;

fn order(tree: &Tree, n: &Table<Entity>) -> Vec<u32> {
    let mut all = vec![];
    let mut at = tree.first();
    while at != NONE {
        all.push(at);
        at = crate::base::treap::next(n, at);
    }
    all
}

proptest! {
    /// Against a sorted list: order, sums, extremes, and the pick for every
    /// bound of eligibility.
    #[test]
    fn behaves_as_a_sorted_list(
        steps in prop::collection::vec((0u32..24, 0u64..12, 0u64..12, 1u64..5), 1..200),
    ) {
        let entities: Vec<_> = (0..24).map(Entity::new).collect();
        // SAFETY: tasks are below 24.
        let mut n = unsafe { Table::new(entities) };
        let mut tree = Tree::default();
        tree.move_zero(5);
        let mut model: Vec<u32> = vec![];
        for (task, deadline, vruntime, slice) in steps {
            if let Some(at) = model.iter().position(|&m| m == task) {
                model.remove(at);
                tree.remove(&mut n, task);
            } else {
                let e = &mut n[task as usize];
                (e.deadline, e.vruntime, e.slice) = (deadline, vruntime, slice);
                let at = model.iter().position(|&m| n[m as usize].deadline > deadline);
                model.insert(at.unwrap_or(model.len()), task);
                tree.insert(&mut n, task, u64::from(task) + 1);
            }
            prop_assert_eq!(tree.len() as usize, model.len());
            prop_assert_eq!(&order(&tree, &n), &model);
            let of = |m: &u32| n[*m as usize];
            prop_assert_eq!(tree.shortest_slice(&n), model.iter().map(|m| of(m).slice).min());
            prop_assert_eq!(tree.longest_slice(&n), model.iter().map(|m| of(m).slice).max());
            let weighted = |m: &u32| (i64::from(*m) + 1) * (of(m).vruntime as i64 - 5);
            prop_assert_eq!(tree.sum, model.iter().map(weighted).sum::<i64>());
            prop_assert_eq!(tree.weight, model.iter().map(|m| i64::from(*m) + 1).sum::<i64>());
            for bound in 0..13 {
                let found = model.iter().find(|m| of(m).vruntime < bound);
                let picked = tree.pick(&n, |vruntime| vruntime < bound);
                prop_assert_eq!(picked, found.copied().unwrap_or(NONE));
            }
        }
    }
}
