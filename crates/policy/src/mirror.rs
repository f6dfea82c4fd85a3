// SPDX-License-Identifier: GPL-2.0-only
//! Structures that C and Rust both have: what Rust believes of them, as assertions for a C
//! compiler.
//!
//! [`mirror!`](crate::mirror) lists the fields of a structure. A field that Rust has and the list
//! has not does not compile. [`check`] has the C compiler compare each field's offset and type, so
//! that a field which C lacks, calls otherwise or has elsewhere is an error; and as fields must
//! follow each other without a gap, one that only C has is an error too.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A type that C has too.
pub trait CType {
    /// Its name in C. `inner` is what is declared of it: a name, `*`, `[8]`, or nothing.
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
    /// Bytes before it.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// Its type in C.
    pub c_type: String,
}

/// A structure as Rust has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// What C calls it.
    pub c_name: &'static str,
    /// Bytes.
    pub size: usize,
    /// In their order.
    pub fields: Vec<Field>,
}

/// A structure that C has too.
pub trait Mirror {
    /// What Rust believes of it.
    fn structure() -> Structure;
}

/// The C type of a field. Not to be called but by [`mirror!`](crate::mirror).
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
                // Without `..`: a field that is not listed is an error.
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

/// Bytes of a field. Not to be called but by [`mirror!`](crate::mirror).
#[doc(hidden)]
pub fn size_of_field<S, T>(_: impl Fn(&S) -> &T) -> usize {
    size_of::<T>()
}

impl Structure {
    /// Bytes that are in no field, by where they begin.
    fn gaps(&self) -> Vec<usize> {
        let mut end = 0;
        let mut gaps = vec![];
        for field in &self.fields {
            if field.offset != end {
                gaps.push(end);
            }
            end = field.offset + field.size;
        }
        if end != self.size {
            gaps.push(end);
        }
        gaps
    }

    /// What a C compiler is to find true.
    fn assertions(&self) -> String {
        let c = self.c_name;
        let mut text = format!(
            "_Static_assert(sizeof({c}) == {size}, \"{c} has not {size} bytes\");\n",
            size = self.size
        );
        for Field {
            name,
            offset,
            c_type,
            ..
        } in &self.fields
        {
            let _ = writeln!(
                text,
                "_Static_assert(__builtin_offsetof({c}, {name}) == {offset}, \
                 \"{c}: {name} is not at {offset}\");\n\
                 _Static_assert(__builtin_types_compatible_p(__typeof__((({c} *)0)->{name}), \
                 {c_type}), \"{c}: {name} is no {c_type}\");"
            );
        }
        text
    }
}

/// Holds structures and constants against C. `includes`: what C has to include first, relative to
/// `root`; `constants`: names in C, and values.
///
/// # Errors
/// What the C compiler said, or where a structure has bytes that no field accounts for.
pub fn check(
    root: &Path,
    includes: &[&str],
    structures: &[Structure],
    constants: &[(String, u64)],
) -> Result<(), String> {
    let mut text = String::new();
    for include in includes {
        let _ = writeln!(text, "#include \"{include}\"");
    }
    for structure in structures {
        let gaps = structure.gaps();
        if !gaps.is_empty() {
            let c = structure.c_name;
            return Err(format!("{c} has bytes of no field at {gaps:?}"));
        }
        text += &structure.assertions();
    }
    for (name, value) in constants {
        let _ = writeln!(
            text,
            "_Static_assert((unsigned long long)({name}) == {value}ull, \"{name} is not {value}\");"
        );
    }
    compile(root, &["-fsyntax-only"], &text)
}

/// Has the C compiler compile `text`.
///
/// # Errors
/// What it said.
pub fn compile(root: &Path, arguments: &[&str], text: &str) -> Result<(), String> {
    let cc = std::env::var_os("CC").unwrap_or("cc".into());
    let mut compiler = Command::new(&cc)
        .args(["-std=gnu11", "-Wall", "-Wno-unused-function", "-x", "c"])
        .args(arguments)
        .arg("-I")
        .arg(root)
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", cc.display()))?;
    let mut stdin = compiler.stdin.take().expect("it is piped");
    let wrote = stdin.write_all(text.as_bytes());
    drop(stdin);
    let ended = compiler.wait_with_output().map_err(|e| e.to_string())?;
    match (ended.status.success(), wrote) {
        (true, Ok(())) => Ok(()),
        (true, Err(error)) => Err(error.to_string()),
        (false, _) => Err(String::from_utf8_lossy(&ended.stderr).into_owned()),
    }
}
