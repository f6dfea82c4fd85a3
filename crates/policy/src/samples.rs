// SPDX-License-Identifier: GPL-2.0-only
//! Samples of C structures that Rust reads from bytes, field by field.
//!
//! They check such a reader against C. In each sample C sets one field and leaves the others 0;
//! the reader must then find a value in this field only.

use crate::mirror::compile;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A structure as C has it.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Headers that C includes first, relative to the tree's root.
    pub includes: &'a [&'a str],
    /// Its name in C.
    pub c_name: &'a str,
    /// Fields that a reader reads; a field of an inner structure is `outer.inner`.
    pub fields: &'a [&'a str],
    /// Fields that have this value in all samples.
    pub fixed: &'a [(&'a str, u64)],
    /// Fields that no reader reads.
    pub unread: &'a [&'a str],
    /// The value that a field is set to; a smaller field gets the low bits.
    pub value: u64,
}

/// The structure with one field set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The field.
    pub field: String,
    /// Its value, unsigned.
    pub value: u64,
    /// The whole structure.
    pub bytes: Vec<u8>,
}

impl Written<'_> {
    /// A sample of each field.
    ///
    /// # Errors
    /// The messages of the C compiler. It refuses a structure with other fields than those named.
    pub fn samples(&self, root: &Path) -> Result<Vec<Sample>, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("alight-samples-{}-{number}", std::process::id());
        let program = Program(std::env::temp_dir().join(name));
        let path = program.0.to_string_lossy();
        compile(root, &["-o", &path], &self.source())?;
        let ran = Command::new(&program.0)
            .output()
            .map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&ran.stdout);
        let samples: Option<Vec<_>> = said.lines().map(sample).collect();
        samples.ok_or_else(|| format!("{}: {said}", self.c_name))
    }

    /// A C program that prints the samples.
    fn source(&self) -> String {
        let mut text = String::from("#include <stdio.h>\n#include <string.h>\n");
        for include in self.includes {
            let _ = writeln!(text, "#include \"{include}\"");
        }
        let c = self.c_name;
        let fixed = self.fixed.iter().map(|(name, _)| name);
        let size = |name: &&str| format!("sizeof((({c} *)0)->{name})");
        let all = self.fields.iter().chain(fixed).chain(self.unread);
        let sizes: Vec<String> = all.map(size).collect();
        let _ = writeln!(
            text,
            "_Static_assert(sizeof({c}) == {}, \"{c} has other fields\");\n\
             static {c} s;\n\
             static void say(const char *name, unsigned long long value, unsigned long size)\n{{\n\
             \tconst unsigned char *bytes = (const unsigned char *)&s;\n\
             \tprintf(\"%s %llu \", name, value & ~0ull >> (64 - 8 * size));\n\
             \tfor (unsigned long i = 0; i < sizeof(s); i++)\n\
             \t\tprintf(\"%02x\", bytes[i]);\n\
             \tputs(\"\");\n}}\n\
             int main(void)\n{{",
            sizes.join(" + ")
        );
        for name in self.fields {
            text += "\tmemset(&s, 0, sizeof(s));\n";
            for (name, value) in self.fixed {
                let _ = writeln!(text, "\ts.{name} = {value};");
            }
            let value = self.value;
            let _ = writeln!(
                text,
                "\ts.{name} = (__typeof__(s.{name})){value}ull;\n\
                 \tsay(\"{name}\", (unsigned long long)s.{name}, sizeof(s.{name}));"
            );
        }
        text += "\treturn 0;\n}\n";
        text
    }
}

/// A built program; its file is removed on drop.
struct Program(PathBuf);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// `NAME VALUE BYTES`, the bytes in hexadecimal.
fn sample(line: &str) -> Option<Sample> {
    let mut words = line.split(' ');
    let (field, value, hex) = (words.next()?, words.next()?, words.next()?);
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    Some(Sample {
        field: field.to_owned(),
        value: value.parse().ok()?,
        bytes: (0..hex.len()).step_by(2).map(byte).collect::<Option<_>>()?,
    })
}

/// Checks that what was `read` of a sample has a value in the sample's field only. A flag may be
/// read as 1 for any value.
///
/// # Errors
/// The fields that have a value instead.
pub fn judge(sample: &Sample, read: &[(String, u64)]) -> Result<(), String> {
    let Sample { field, value, .. } = sample;
    let set: Vec<_> = read.iter().filter(|(_, value)| *value != 0).collect();
    match set[..] {
        [(name, found)] if name == field && (found == value || *found == 1) => Ok(()),
        _ => Err(format!("C set {field} to {value}, read was {set:?}")),
    }
}

#[cfg(test)]
mod tests;
