// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the rules that every header of `policy/` keeps.

use crate::mirror::compile;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names and texts of the headers.
fn headers() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("policy")).unwrap();
    let mut headers: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "h"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    headers.sort();
    assert!(headers.len() > 20);
    headers
}

#[test]
fn each_compiles_alone() {
    for (name, _) in headers() {
        let text = format!("#include \"policy/{name}\"\n");
        let result = compile(
            &root(),
            &[
                "-fsyntax-only",
                "-Wextra",
                "-Werror",
                "-Wno-unknown-pragmas",
            ],
            &text,
        );
        assert_eq!(result, Ok(()), "{name}");
    }
}

/// The name that a line defines, if it is of a function, a tag or a macro with arguments.
fn defined(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(rest) = line.strip_prefix("#define ") {
        let end = rest.find(|c| !is_name(c))?;
        return (rest[end..].starts_with('(')).then_some(&rest[..end]);
    }
    let line = line
        .strip_prefix("__attribute__((noinline)) ")
        .unwrap_or(line);
    if !line.starts_with(|c: char| c.is_ascii_lowercase()) || line.starts_with("typedef") {
        return None;
    }
    for tag in ["struct ", "enum "] {
        if let Some(name) = line.strip_prefix(tag).and_then(|l| l.strip_suffix(" {")) {
            return Some(name);
        }
    }
    let before = &line[..line.find('(')?];
    Some(&before[before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1)..])
}

/// With the prefix the headers compile beside the kernel's own types (`vmlinux.h`).
#[test]
fn what_they_define_begins_with_policy() {
    let (mut all, mut others) = (0, vec![]);
    for (name, text) in headers() {
        for found in text.lines().filter_map(defined) {
            all += 1;
            if !found.starts_with("policy_") && !found.starts_with("POLICY_") {
                others.push(format!("{name}: {found}"));
            }
        }
    }
    assert!(all > 250, "{all}");
    assert_eq!(others, Vec::<String>::new());
}
