// SPDX-License-Identifier: GPL-2.0-only
//! Where a [`crate::Core`] keeps its arrays.

use std::fmt::Debug;
use std::ops::DerefMut;

/// A kind of array.
///
/// # Safety
/// An array must always give access to the items that it was made of, and to all of them.
pub unsafe trait Store {
    /// Its array of these.
    type Of<T: Clone + Debug>: DerefMut<Target = [T]> + Clone + Debug;

    /// An array of `items`.
    ///
    /// # Safety
    /// The kind says what its callers must ensure when they look items up.
    unsafe fn of<T: Clone + Debug>(items: Box<[T]>) -> Self::Of<T>;
}

/// Boxed slices. Callers need not ensure anything: each lookup is checked.
#[derive(Debug, Clone, Copy)]
pub struct Checked;

// SAFETY: a boxed slice keeps its items.
unsafe impl Store for Checked {
    type Of<T: Clone + Debug> = Box<[T]>;

    unsafe fn of<T: Clone + Debug>(items: Box<[T]>) -> Box<[T]> {
        items
    }
}
