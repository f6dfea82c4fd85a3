// SPDX-License-Identifier: GPL-2.0-only
//! The Rust side of structures that C and Rust both have, and its comparison with C.
//!
//! [`mirror!`](crate::mirror!) lists the fields of a structure. If a field of the Rust structure is
//! not listed, the crate does not compile. In tests, and with the feature `against-c`, `check` has
//! the C compiler compare each field's offset and type: a field that C lacks, or has under another
//! name or at another offset, is an error. Fields must follow each other without a gap, so that a
//! field that only C has is an error too.

#[cfg(any(test, feature = "against-c"))]
mod against_c;

#[cfg(any(test, feature = "against-c"))]
pub use against_c::{check, compile};

/// A type that C has too.
pub trait CType {
    /// Its declaration in C. `inner` is the declarator: a name, `*`, `[8]`, or nothing.
    fn declare(inner: &str) -> String;
}

macro_rules! numbers {
    ($($rust:ty: $c:literal)*) => {$(
        impl CType for $rust {
            fn declare(inner: &str) -> String {
                format!("{} {inner}", $c)
            }
        }
    )*};
}

numbers!(u8: "u8" u16: "u16" u32: "u32" u64: "u64" i32: "s32" i64: "s64" (): "void");

impl<T: CType, const N: usize> CType for [T; N] {
    fn declare(inner: &str) -> String {
        T::declare(&format!("{inner}[{N}]"))
    }
}

impl<T: CType> CType for *mut T {
    fn declare(inner: &str) -> String {
        T::declare(&format!("*{inner}"))
    }
}

impl<T: CType> CType for *const T {
    fn declare(inner: &str) -> String {
        format!("const {}", T::declare(&format!("*{inner}")))
    }
}

macro_rules! functions {
    ($(($($argument:ident)*))*) => {$(
        impl<R: CType, $($argument: CType),*> CType for unsafe extern "C" fn($($argument),*) -> R {
            fn declare(inner: &str) -> String {
                let arguments: Vec<String> = vec![$($argument::declare("")),*];
                R::declare(&format!("(*{inner})({})", arguments.join(", ")))
            }
        }
    )*};
}

functions!((A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F));

/// A field as Rust has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name, in C too.
    pub name: &'static str,
    /// Its offset, bytes.
    pub offset: usize,
    /// Its size, bytes.
    pub size: usize,
    /// Its type in C.
    pub c_type: String,
}

/// A structure as Rust has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// Its name in C.
    pub c_name: &'static str,
    /// Its size, bytes.
    pub size: usize,
    /// Its fields, in order.
    pub fields: Vec<Field>,
}

/// A structure that C has too.
pub trait Mirror {
    /// Its layout in Rust.
    fn structure() -> Structure;
}

/// The C type of a field. Only [`mirror!`](crate::mirror) calls it.
#[doc(hidden)]
pub fn type_of<S, T: CType>(_: impl Fn(&S) -> &T) -> String {
    T::declare("")
}

/// Declares that C has these structures with exactly these fields, in this order:
/// `mirror! { Root as "struct policy_root" { overutilized, uclamp_used } }`.
#[macro_export]
macro_rules! mirror {
    ($($rust:ty as $c:literal { $($field:ident),+ $(,)? })*) => {$(
        impl $crate::mirror::CType for $rust {
            fn declare(inner: &str) -> String {
                format!("{} {inner}", $c)
            }
        }

        impl $crate::mirror::Mirror for $rust {
            fn structure() -> $crate::mirror::Structure {
                // There is no `..`, so that a field that is not listed is an error.
                fn _all(it: &$rust) {
                    type This = $rust;
                    let This { $($field: _),+ } = it;
                }
                let fields = vec![$($crate::mirror::Field {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($rust, $field),
                    size: $crate::mirror::size_of_field(|it: &$rust| &it.$field),
                    c_type: $crate::mirror::type_of(|it: &$rust| &it.$field),
                }),+];
                $crate::mirror::Structure { c_name: $c, size: size_of::<$rust>(), fields }
            }
        }
    )*};
}

/// The size of a field, bytes. Only [`mirror!`](crate::mirror) calls it.
#[doc(hidden)]
pub fn size_of_field<S, T>(_: impl Fn(&S) -> &T) -> usize {
    size_of::<T>()
}
