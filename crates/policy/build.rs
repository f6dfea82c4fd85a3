// SPDX-License-Identifier: GPL-2.0-only
//! Compiles policy/native.c for the host.

use std::path::{Path, PathBuf};

fn main() {
    let policy = Path::new("../../policy");
    println!("cargo:rerun-if-changed={}", policy.display());
    compile(&policy.join("native.c"), "alight_policy");
    if std::env::var_os("CARGO_FEATURE_BARE_CORE").is_some() {
        compile(&bare(policy), "alight_policy_bare");
    }
}

fn compile(source: &Path, library: &str) {
    cc::Build::new()
        .file(source)
        .std("gnu11")
        .opt_level(2)
        // Line tables alone do not need it, and the search needs the register.
        .force_frame_pointer(false)
        // Gathering four counters into a vector to step them costs more than it saves.
        .flag_if_supported("-fno-tree-slp-vectorize")
        .warnings(true)
        .extra_warnings(true)
        .compile(library);
}

/// The rules that only a feature sets, and what they are without it.
const FEATURE_RULES: [(&str, &str); 9] = [
    ("asym_at_once", "0"),
    ("asym_hog", "0"),
    ("pack_by_level", "0"),
    ("pack_pelt", "0"),
    ("pack", "PACK_NONE"),
    ("bias_prev", "0"),
    ("room", "ROOM_NONE"),
    ("aggregate", "AGGREGATE_MAX"),
    ("uclamp_factor", "0"),
];

/// A copy of the core in which no feature can be on, so that the compiler leaves them out:
/// what features cost that are off is measured against it. Its table has a name of its own.
fn bare(policy: &Path) -> PathBuf {
    let to = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("bare");
    std::fs::create_dir_all(&to).expect("a folder for the copy");
    for entry in std::fs::read_dir(policy).expect("policy/") {
        let path = entry.expect("a file of policy/").path();
        let mut text = std::fs::read_to_string(&path).expect("C code");
        for (rule, value) in FEATURE_RULES {
            text = without_rule(&text, rule, value);
        }
        let text = text.replace("alight_policy_table", "alight_policy_bare");
        let name = path.file_name().expect("a file has a name");
        std::fs::write(to.join(name), text).expect("the copy");
    }
    to.join("native.c")
}

/// `text` with `value` wherever it reads this rule: `c->k->rule`, `k->rule`.
fn without_rule(text: &str, rule: &str, value: &str) -> String {
    let read = format!("k->{rule}");
    let mut parts = text.split(&read);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let longer_name = part.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if longer_name {
            result.push_str(&read);
        } else {
            result.truncate(result.trim_end_matches("c->").len());
            result.push_str(value);
        }
        result.push_str(part);
    }
    result
}
