// SPDX-License-Identifier: GPL-2.0-only
//! [`Table`]: an array without bounds checks in release builds, for the few arrays that every event
//! reads.
//!
//! Bounds checks there cost 10 to 20% of a run's instructions. The code that makes a [`Table`]
//! promises in an `unsafe` block that all indices are in range, and says where they come from.
//! Debug builds, which the tests use, check each access. All other arrays of the simulator are
//! slices and vectors with checks.

use alight_policy::Store;
use std::fmt::Debug;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// An array of fixed length, indexed only by numbers that its owner makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table<T>(Box<[T]>);

impl<T> Table<T> {
    /// An array of `items`.
    ///
    /// # Safety
    /// During its whole life it may only be indexed by numbers below the number of items. This
    /// holds for all code that can reach it: a table is a private or a crate-private field.
    pub unsafe fn new(items: impl Into<Box<[T]>>) -> Self {
        Table(items.into())
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: promised to `new`.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: promised to `new`.
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

/// Makes the arrays of the placement core [`Table`]s.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables;

// SAFETY: a `Table` is a slice with the items that `of` got.
unsafe impl Store for Tables {
    type Of<T: Clone + Debug> = Table<T>;

    unsafe fn of<T: Clone + Debug>(items: Box<[T]>) -> Table<T> {
        // SAFETY: promised by the caller.
        unsafe { Table::new(items) }
    }
}
