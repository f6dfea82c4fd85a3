// SPDX-License-Identifier: GPL-2.0-only
//! Which CPU acts next: a tournament tree with one slot per CPU.
//!
//! A slot holds the time of that CPU's next event, or never. Changing a slot
//! replays its path to the root, without branches that depend on the data;
//! nothing is allocated and nothing is left behind when an event is moved.
//! Times are packed with the slot number, so that equal times are ordered by
//! slot: the order of events is a property of the key.

/// Bits of a key that hold the slot.
const SLOT_BITS: u32 = 12;
/// Slots a queue may have.
pub const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// A time that never comes.
pub const NEVER: u64 = u64::MAX >> SLOT_BITS;

/// The pending event of each slot.
#[derive(Debug, Clone)]
pub struct Queue {
    /// `tree[1]` is the winner, `tree[leaves + slot]` the slot's own key; twice `leaves` long.
    tree: Box<[u64]>,
    leaves: usize,
}

impl Queue {
    /// A queue of `slots` slots, none of which has an event.
    ///
    /// # Panics
    /// If there are no slots or more than [`MAX_SLOTS`].
    pub fn new(slots: usize) -> Self {
        assert!((1..=MAX_SLOTS).contains(&slots));
        let leaves = slots.next_power_of_two();
        Queue {
            tree: vec![u64::MAX; 2 * leaves].into(),
            leaves,
        }
    }

    /// Sets the time of a slot's event; [`NEVER`] removes it.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn set(&mut self, slot: usize, time: u64) {
        assert!(slot < self.leaves, "slot");
        let key = time.min(NEVER) << SLOT_BITS | slot as u64;
        let mut i = self.leaves + slot;
        let tree = self.tree.as_mut_ptr();
        // SAFETY: `i` begins below twice the leaves, an even number, and only falls.
        unsafe {
            if *tree.add(i) == key {
                return;
            }
            *tree.add(i) = key;
            let mut winner = key;
            while i > 1 {
                winner = winner.min(*tree.add(i ^ 1));
                i /= 2;
                if *tree.add(i) == winner {
                    return;
                }
                *tree.add(i) = winner;
            }
        }
    }

    /// Brings a slot's event forward to `time`, if it is later.
    #[inline]
    pub fn advance(&mut self, slot: usize, time: u64) {
        if time < self.tree[self.leaves + slot] >> SLOT_BITS {
            self.set(slot, time);
        }
    }

    /// Time and slot of the earliest event; the time is [`NEVER`] if there is none.
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        // SAFETY: at least one leaf, so at least two nodes.
        let key = unsafe { *self.tree.get_unchecked(1) };
        (key >> SLOT_BITS, (key & (MAX_SLOTS as u64 - 1)) as usize)
    }
}

#[cfg(test)]
mod tests;
