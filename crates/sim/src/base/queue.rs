// SPDX-License-Identifier: GPL-2.0-only
//! The event queue: a tournament tree with one slot per CPU, which yields the CPU that acts next.
//!
//! A slot holds the time of that CPU's next event, or [`NEVER`]. Changing a slot updates its path
//! to the root, without branches that depend on the data. Nothing is allocated. A moved event
//! leaves nothing behind. A key packs the time with the slot number, so events at equal times are
//! ordered by slot.

/// Bits of a key that hold the slot.
const SLOT_BITS: u32 = 12;
/// Largest number of slots.
pub const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// The time of an event that never comes.
pub const NEVER: u64 = u64::MAX >> SLOT_BITS;

/// The pending event of each slot.
#[derive(Debug, Clone)]
pub struct Queue {
    /// `tree[1]` is the earliest key, `tree[leaves + slot]` the slot's own key. Length: twice
    /// `leaves`.
    tree: Box<[u64]>,
    leaves: usize,
}

impl Queue {
    /// A queue of `slots` slots without events.
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
        // SAFETY: `i` starts below `2 * leaves`, which is even, and only decreases.
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
