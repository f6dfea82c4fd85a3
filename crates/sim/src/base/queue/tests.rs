// SPDX-License-Identifier: GPL-2.0-only
//! Event queue: the earliest slot is first, equal times by slot.

use super::*;
use proptest::prelude::*;

#[test]
fn equal_times_come_in_slot_order() {
    let mut q = Queue::new(5);
    for slot in [3, 1, 4] {
        q.set(slot, 70);
    }
    let mut order = vec![];
    while q.first().0 != NEVER {
        let (_, slot) = q.first();
        order.push(slot);
        q.set(slot, NEVER);
    }
    assert_eq!(order, [1, 3, 4]);
}

proptest! {
    #[test]
    fn first_is_the_minimum_of_all_slots(
        slots in 1usize..70,
        sets in prop::collection::vec((any::<prop::sample::Index>(), 0u64..100), 1..300),
    ) {
        let mut q = Queue::new(slots);
        let mut model = vec![NEVER; slots];
        for (slot, time) in sets {
            let slot = slot.index(slots);
            let time = if time < 20 { NEVER } else { time };
            q.set(slot, time);
            model[slot] = time;
            let (time, slot) =
                model.iter().copied().zip(0..).min().expect("slots is not 0");
            prop_assert_eq!(q.first().0, time);
            if time != NEVER {
                prop_assert_eq!(q.first().1, slot);
            }
        }
    }
}
