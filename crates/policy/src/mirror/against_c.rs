// SPDX-License-Identifier: GPL-2.0-only
//! Structures as assertions for a C compiler.

use super::{Field, Structure};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

impl Structure {
    /// Offsets at which bytes begin that are in no field.
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

    /// Assertions for a C compiler.
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

/// Compares structures and constants with C. `includes`: headers that C includes first, relative to
/// `root`. `constants`: names in C, and values.
///
/// # Errors
/// The messages of the C compiler, or the offsets of bytes that are in no field.
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
/// The messages of the compiler.
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
