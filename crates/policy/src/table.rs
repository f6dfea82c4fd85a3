// SPDX-License-Identifier: GPL-2.0-only
//! The arrays of a [`crate::Core`], indexed without a bounds check in release builds.
//!
//! Every index into them comes from who built them (a CPU number, a task number,
//! a group of a domain) and they never change their length: that is what makes
//! this sound, and what whoever holds one has to keep to. Debug builds, which
//! the tests are, check each access. It saves about a seventh of the
//! instructions of the simulator's event loop.

use std::ops::{Deref, DerefMut, Index, IndexMut};

/// An array of fixed length; an index out of its range is a bug that only debug
/// builds catch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table<T>(Box<[T]>);

impl<T> From<Vec<T>> for Table<T> {
    fn from(items: Vec<T>) -> Self {
        Table(items.into())
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Table(items.into_iter().collect())
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len());
        // SAFETY: see the head of the file.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len());
        // SAFETY: see the head of the file.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Table<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Table<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
