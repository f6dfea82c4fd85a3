// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the BPF side with clang and generates its skeleton.

use libbpf_cargo::SkeletonBuilder;
use std::env;
use std::path::PathBuf;

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("alight.skel.rs");
    let clang = env::var_os("BPF_CLANG").unwrap_or("clang-19".into());
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
    println!("cargo:rerun-if-changed=src/bpf");
    println!("cargo:rerun-if-changed=../../policy");
    let built = SkeletonBuilder::new()
        .source("src/bpf/alight.bpf.c")
        .clang(&clang)
        .clang_args([
            "-I".into(),
            root.into_os_string(),
            "-mcpu=v3".into(),
            "-Wall".into(),
            "-Wextra".into(),
            "-Wno-unused-parameter".into(),
            "-Wno-sign-compare".into(),
            "-Wno-missing-field-initializers".into(),
        ])
        .build_and_generate(&out);
    if let Err(error) = built {
        let clang = clang.to_string_lossy();
        eprintln!("{clang} could not build src/bpf/alight.bpf.c: {error:?}");
        eprintln!("BPF_CLANG names the compiler; it must be clang 19 or later");
        std::process::exit(1);
    }
}
