// SPDX-License-Identifier: GPL-2.0-only
//! Looks names up in the running kernel, because they differ between versions: addresses of
//! variables, values of enumerators, parameters of functions and tracepoints.

use libbpf_rs::ReferencesType;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Enum, Func, FuncProto, Ptr, Typedef};
use std::collections::BTreeMap;
use std::fs;

/// A function of kernels in which BPF can hook entries and exits of functions (fentry, fexit).
const DIRECT: &str = "register_ftrace_direct";

/// Addresses of the kernel's functions and variables, from `/proc/kallsyms`.
#[derive(Debug, Default)]
pub struct Symbols(BTreeMap<String, u64>);

impl Symbols {
    /// Those of `wanted` that the running kernel has.
    pub fn read(wanted: &[&str]) -> Self {
        Self::parse(
            &fs::read_to_string("/proc/kallsyms").unwrap_or_default(),
            wanted,
        )
    }

    /// `text`: as `/proc/kallsyms` has it, `ADDRESS TYPE NAME`; modules come last.
    fn parse(text: &str, wanted: &[&str]) -> Self {
        let mut found = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let address = words.next();
            if let Some(name) = words.nth(1)
                && wanted.contains(&name)
                && let Some(address) = address.and_then(|hex| u64::from_str_radix(hex, 16).ok())
            {
                found.entry(name.to_owned()).or_insert(address);
            }
        }
        Symbols(found)
    }

    /// Its address; 0: there is none, or this process may not see it.
    pub fn address(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// Why entries and exits of this kernel's functions cannot be hooked, if so.
pub fn no_hooks() -> Option<String> {
    // `schedule` is always there; if it is not found, the symbols cannot be read.
    let symbols = Symbols::read(&[DIRECT, "schedule"]);
    (symbols.has("schedule") && !symbols.has(DIRECT)).then(|| {
        format!(
            "entries and exits of its functions cannot be hooked by BPF (it has no {DIRECT}; arm64 \
             has it since 6.4). `alight record behaviour` does not need them"
        )
    })
}

/// The enumerators of the kernel whose names begin with `prefix`.
pub fn enumerators(btf: &Btf<'_>, prefix: &str) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for list in btf.type_by_kind::<Enum<'_>>() {
        for one in list.iter() {
            let name = one.name.and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with(prefix) {
                found.entry(name.to_owned()).or_insert(one.value);
            }
        }
    }
    found
}

/// How many parameters a function of the kernel has.
pub fn parameters(btf: &Btf<'_>, function: &str) -> Option<usize> {
    let function = btf.type_by_name::<Func<'_>>(function)?;
    let prototype = FuncProto::try_from(function.referenced_type()).ok()?;
    Some(prototype.iter().count())
}

/// How many arguments a program at this tracepoint gets.
pub fn tracepoint_arguments(btf: &Btf<'_>, tracepoint: &str) -> Option<usize> {
    let name = format!("btf_trace_{tracepoint}");
    let function = Ptr::try_from(btf.type_by_name::<Typedef<'_>>(&name)?.referenced_type()).ok()?;
    let prototype = FuncProto::try_from(function.referenced_type()).ok()?;
    // The first is the tracepoint's own.
    prototype.iter().count().checked_sub(1)
}

#[cfg(test)]
mod tests;
