// SPDX-License-Identifier: GPL-2.0-only
//! Each header of the kernel side compiles by itself, for BPF: it includes what it uses. Those of
//! `policy/` compile after `kernel.h`, which brings libbpf's loops.

use libbpf_rs::libbpf_sys::API_HEADERS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of the headers in a directory of the tree.
fn headers(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(directory)).expect("the directory is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    let mut names: Vec<_> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".h"))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{directory} has no headers");
    names
}

/// What the compiler says of a file with nothing but these includes.
fn compile(includes: &[String]) -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory");
    let libbpf = directory.path().join("bpf");
    fs::create_dir(&libbpf).expect("it is new");
    for (name, text) in API_HEADERS {
        fs::write(libbpf.join(name), text).expect("it can be written");
    }
    let source = directory.path().join("alone.bpf.c");
    let lines = includes.iter().map(|name| format!("#include \"{name}\"\n"));
    fs::write(&source, lines.collect::<String>()).expect("it can be written");
    let clang = std::env::var_os("BPF_CLANG").unwrap_or("clang-19".into());
    let ran = Command::new(clang)
        .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-fsyntax-only"])
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
        .args(["-Wno-unused-parameter", "-Wno-sign-compare"])
        .args(["-Wno-missing-field-initializers", "-D__TARGET_ARCH_x86"])
        .arg("-I")
        .arg(root())
        .arg("-I")
        .arg(directory.path())
        .arg(&source)
        .output()
        .expect("clang, which built the programs, is there");
    match ran.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}

#[test]
fn each_header_compiles_alone() {
    for name in headers("crates/live/src/bpf") {
        let result = compile(&[format!("crates/live/src/bpf/{name}")]);
        assert_eq!(result, Ok(()), "{name}");
    }
}

#[test]
fn so_does_each_header_of_the_policy_after_the_kernels_types() {
    for name in headers("policy") {
        let result = compile(&[
            "crates/live/src/bpf/kernel.h".into(),
            format!("policy/{name}"),
        ]);
        assert_eq!(result, Ok(()), "{name}");
    }
}
