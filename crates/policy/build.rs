// SPDX-License-Identifier: GPL-2.0-only
//! Compiles policy/native.c for the host: whole, and for schedulers without features.

use std::path::Path;

fn main() {
    let policy = Path::new("../../policy");
    println!("cargo:rerun-if-changed={}", policy.display());
    let source = policy.join("native.c");
    compiler().file(&source).compile("alight_policy");
    compiler()
        .file(&source)
        .define("POLICY_PLAIN", None)
        .compile("alight_policy_plain");
}

fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .std("gnu11")
        // As the kernel: integers wrap round (-fno-strict-overflow).
        .flag("-fwrapv")
        .opt_level(2)
        // Line tables alone do not need it, and the search needs the register.
        .force_frame_pointer(false)
        // Gathering four counters into a vector to step them costs more than it saves.
        .flag_if_supported("-fno-tree-slp-vectorize")
        .warnings(true)
        .extra_warnings(true);
    build
}
