// SPDX-License-Identifier: GPL-2.0-only
//! Any text as a file of rules, and any name and cgroup path that an attacker may choose: nothing
//! panics, nothing that is printed holds control characters, and the matcher agrees with its definition.
#![no_main]

use alight_rules::{glob, met_by_cgroup, parse_file};
use libfuzzer_sys::fuzz_target;

/// Which ends of the name the pattern reaches: by definition, without backtracking.
fn by_definition(name: &[u8], pattern: &[u8]) -> bool {
    let ends = |bytes: &[u8]| bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (name, pattern) = (&name[..ends(name)], &pattern[..ends(pattern)]);
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for &p in pattern {
        let mut next = vec![false; name.len() + 1];
        for n in 0..=name.len() {
            next[n] = match p {
                b'*' => reached[n] || n > 0 && next[n - 1],
                p => n > 0 && reached[n - 1] && (p == b'?' || p == name[n - 1]),
            };
        }
        reached = next;
    }
    reached[name.len()]
}

fuzz_target!(|bytes: &[u8]| {
    let split = bytes.iter().position(|&b| b == b'\n').unwrap_or(0);
    let (name, rest) = bytes.split_at(split);
    let pattern = &rest[..rest.len().min(200)];
    let name = &name[..name.len().min(200)];
    assert_eq!(glob::matches(name, pattern), by_definition(name, pattern));
    match parse_file("rules", &String::from_utf8_lossy(bytes)) {
        Ok(rules) => {
            met_by_cgroup(&rules, name);
        }
        Err(error) => assert!(!error.to_string().chars().any(char::is_control)),
    }
});
