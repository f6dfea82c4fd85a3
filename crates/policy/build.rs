// SPDX-License-Identifier: GPL-2.0-only
//! Compiles policy/native.c for the host.

fn main() {
    let policy = std::path::Path::new("../../policy");
    println!("cargo:rerun-if-changed={}", policy.display());
    cc::Build::new()
        .file(policy.join("native.c"))
        .std("gnu11")
        .opt_level(2)
        // Line tables alone do not need it, and the search needs the register.
        .force_frame_pointer(false)
        // Gathering four counters into a vector to step them costs more than it saves.
        .flag_if_supported("-fno-tree-slp-vectorize")
        .warnings(true)
        .extra_warnings(true)
        .compile("alight_policy");
}
