// SPDX-License-Identifier: GPL-2.0-only
//! A layer owns the one below it, and dereferences to it.

/// Gives a layer the fields and methods of the one below it.
macro_rules! stands_on {
    ($($above:ident on $below:ident: $field:ident),* $(,)?) => {$(
        impl<'a> std::ops::Deref for $above<'a> {
            type Target = $below<'a>;
            #[inline(always)]
            fn deref(&self) -> &$below<'a> {
                &self.$field
            }
        }
        impl std::ops::DerefMut for $above<'_> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.$field
            }
        }
    )*};
}

pub(crate) use stands_on;
