// SPDX-License-Identifier: GPL-2.0-only
//! `stands_on!`: makes a layer dereference to the layer below it, which it owns (see `lib.rs`).

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
