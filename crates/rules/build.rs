// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the matcher that BPF has for the host.

fn main() {
    println!("cargo:rerun-if-changed=../../policy/glob.h");
    println!("cargo:rerun-if-changed=../../policy/mask.h");
    println!("cargo:rerun-if-changed=../../policy/abi.h");
    println!("cargo:rerun-if-changed=../../policy/types.h");
    println!("cargo:rerun-if-changed=src/glob.c");
    cc::Build::new()
        .file("src/glob.c")
        .include("../..")
        .std("gnu11")
        .warnings(true)
        .extra_warnings(true)
        .compile("alight_glob");
}
