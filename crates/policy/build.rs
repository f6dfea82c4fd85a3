// SPDX-License-Identifier: GPL-2.0-only
//! Compiles policy/native.c for the host.

fn main() {
    let policy = std::path::Path::new("../../policy");
    println!("cargo:rerun-if-changed={}", policy.display());
    cc::Build::new()
        .file(policy.join("native.c"))
        .std("gnu11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .compile("alight_policy");
}
