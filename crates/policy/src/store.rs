// SPDX-License-Identifier: GPL-2.0-only
//! Where a [`crate::Core`] keeps its arrays.

use std::fmt::Debug;
use std::ops::DerefMut;

/// A kind of array.
///
/// # Safety
/// An array is at any time what it was made of: the same items, as many.
pub unsafe trait Store {
    /// Its array of these.
    type Of<T: Clone + Debug>: DerefMut<Target = [T]> + Clone + Debug;

    /// An array of `items`.
    ///
    /// # Safety
    /// What the kind asks of who looks things up in its arrays.
    unsafe fn of<T: Clone + Debug>(items: Box<[T]>) -> Self::Of<T>;
}

/// Boxed slices, which ask nothing: each look is checked.
#[derive(Debug, Clone, Copy)]
pub struct Checked;

// SAFETY: a slice is.
unsafe impl Store for Checked {
    type Of<T: Clone + Debug> = Box<[T]>;

    unsafe fn of<T: Clone + Debug>(items: Box<[T]>) -> Box<[T]> {
        items
    }
}
