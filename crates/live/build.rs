// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the BPF side with clang and generates its skeletons.

use libbpf_cargo::SkeletonBuilder;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What runs in the kernel, `src/bpf/NAME.bpf.c`.
const PROGRAMS: [&str; 6] = [
    "alight",
    "record_pelt",
    "record_decisions",
    "record_behaviour",
    "record_workload",
    "select_test",
];

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let clang = env::var_os("BPF_CLANG").unwrap_or("clang-19".into());
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
    println!("cargo:rerun-if-changed=src/bpf");
    println!("cargo:rerun-if-changed=../../policy");
    for name in PROGRAMS {
        build(name, &root, &out, &clang);
    }
}

/// Builds `src/bpf/NAME.bpf.c` to `NAME.skel.rs` in `out`.
fn build(name: &str, root: &Path, out: &Path, clang: &OsStr) {
    let source = format!("src/bpf/{name}.bpf.c");
    let built = SkeletonBuilder::new()
        .source(&source)
        .clang(clang)
        .clang_args([
            "-I".into(),
            root.as_os_str().to_owned(),
            "-mcpu=v3".into(),
            "-Wall".into(),
            "-Wextra".into(),
            "-Wno-unused-parameter".into(),
            "-Wno-sign-compare".into(),
            "-Wno-missing-field-initializers".into(),
        ])
        .build_and_generate(out.join(format!("{name}.skel.rs")));
    if let Err(error) = built {
        let clang = clang.to_string_lossy();
        eprintln!("{clang} could not build {source}: {error:?}");
        eprintln!("BPF_CLANG names the compiler; it must be clang 19 or later");
        std::process::exit(1);
    }
}
