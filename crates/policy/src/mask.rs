// SPDX-License-Identifier: GPL-2.0-only
//! CPU masks on the Rust side.

use crate::abi::{MAX_CPUS, Mask};

impl Mask {
    /// No CPU.
    pub const EMPTY: Mask = Mask {
        w: [0; MAX_CPUS / 64],
    };

    /// Is `cpu` a member?
    #[inline]
    pub fn contains(&self, cpu: u32) -> bool {
        self.w[cpu as usize / 64] >> (cpu % 64) & 1 != 0
    }

    /// Adds `cpu`.
    #[inline]
    pub fn insert(&mut self, cpu: u32) {
        self.w[cpu as usize / 64] |= 1 << (cpu % 64);
    }

    /// Removes `cpu`.
    #[inline]
    pub fn remove(&mut self, cpu: u32) {
        self.w[cpu as usize / 64] &= !(1 << (cpu % 64));
    }

    /// Adds `cpu` if `member`, else removes it.
    #[inline]
    pub fn assign(&mut self, cpu: u32, member: bool) {
        let word = &mut self.w[cpu as usize / 64];
        *word = *word & !(1 << (cpu % 64)) | u64::from(member) << (cpu % 64);
    }

    /// Number of members.
    pub fn len(&self) -> u32 {
        self.w.iter().map(|w| w.count_ones()).sum()
    }

    /// True if it has no member.
    pub fn is_empty(&self) -> bool {
        self.w.iter().all(|&w| w == 0)
    }

    /// Smallest member >= `from` that is in `other` too, looking at `words` words.
    #[inline]
    pub fn next_and(&self, other: &Mask, from: u32, words: usize) -> Option<u32> {
        let first = from as usize / 64;
        for i in first..words {
            let mut bits = self.w[i] & other.w[i];
            if i == first {
                bits &= !0 << (from % 64);
            }
            if bits != 0 {
                return Some(i as u32 * 64 + bits.trailing_zeros());
            }
        }
        None
    }

    /// Members of both among the first `words` words, in rising order.
    #[inline]
    pub fn and<'a>(&'a self, other: &'a Mask, words: usize) -> impl Iterator<Item = u32> + 'a {
        (0..)
            .zip(&self.w[..words])
            .zip(&other.w)
            .flat_map(|((i, a), b)| {
                let mut left = a & b;
                std::iter::from_fn(move || {
                    let at = (left != 0).then(|| i * 64 + left.trailing_zeros())?;
                    left &= left - 1;
                    Some(at)
                })
            })
    }

    /// Do the two share a member among the first `words` words?
    #[inline]
    pub fn intersects(&self, other: &Mask, words: usize) -> bool {
        (0..words).any(|i| self.w[i] & other.w[i] != 0)
    }

    /// Is every member one of `other`?
    pub fn is_subset_of(&self, other: &Mask) -> bool {
        self.w.iter().zip(&other.w).all(|(a, b)| a & !b == 0)
    }

    /// Members in rising order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let cpu = (from < MAX_CPUS as u32)
                .then(|| self.next_and(self, from, MAX_CPUS / 64))
                .flatten()?;
            from = cpu + 1;
            Some(cpu)
        })
    }
}

impl FromIterator<u32> for Mask {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut mask = Mask::EMPTY;
        for cpu in cpus {
            mask.insert(cpu);
        }
        mask
    }
}
