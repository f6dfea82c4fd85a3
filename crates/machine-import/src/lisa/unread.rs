// SPDX-License-Identifier: GPL-2.0-only
//! Keys of LISA that have no place in a machine file: each is named.

use super::yaml::{Node, Value};

/// Keys of which something is read.
const READ: [&str; 9] = [
    "name",
    "abi",
    "os",
    "cpus-count",
    "numa-nodes-count",
    "freq-domains",
    "freqs",
    "cpu-capacities",
    "kernel",
];

/// A sentence for each key that is not read.
pub(super) fn notes(info: &Node, conf: &Node) -> Vec<String> {
    let mut notes = Vec::new();
    let mut name = |node: &Node, inside: &str, read: &[&str]| {
        for (key, line) in keys(node) {
            let path = format!("{inside}{key}");
            if !read.contains(&key) {
                notes.push(format!(
                    "line {line}: `{path}` {}: it is left out",
                    why(&path)
                ));
            }
        }
    };
    if !std::ptr::eq(info, conf) {
        name(info, "platform-info.", &["conf"]);
    }
    name(conf, "", &READ);
    if let Some(kernel) = conf.get("kernel") {
        name(kernel, "kernel.", &["config"]);
    }
    if let Some(capacities) = conf.get("cpu-capacities") {
        // Whether capacities can be written says nothing of what they are. Without `orig` the keys are
        // CPUs.
        match capacities.get("orig") {
            Some(_) => name(capacities, "cpu-capacities.", &["orig", "writeable"]),
            None => {
                let rtapp = keys(capacities).filter(|(key, _)| *key == RTAPP);
                for (key, line) in rtapp {
                    let path = format!("cpu-capacities.{key}");
                    notes.push(format!(
                        "line {line}: `{path}` {}: it is left out",
                        why(&path)
                    ));
                }
            }
        }
    }
    notes.extend(configuration(conf));
    notes
}

const RTAPP: &str = "rtapp";

/// The keys of a mapping that are texts, with their lines.
fn keys(node: &Node) -> impl Iterator<Item = (&str, usize)> {
    let pairs = match &node.value {
        Value::Mapping(pairs) => pairs.as_slice(),
        _ => &[],
    };
    pairs.iter().filter_map(|(key, _)| match &key.value {
        Value::Scalar(text) => Some((text.as_str(), key.line)),
        _ => None,
    })
}

/// Of a configuration that has text only the tick is taken.
fn configuration(conf: &Node) -> Option<String> {
    let text = conf.get("kernel")?.get("config")?.get("text")?;
    let Value::Scalar(options) = &text.value else {
        return None;
    };
    (!options.trim().is_empty()).then(|| {
        format!(
            "line {}: of `kernel.config` only CONFIG_HZ is taken, the other options are left out",
            text.line
        )
    })
}

fn why(path: &str) -> &'static str {
    match path {
        "nrg-model" => "is an object of LISA's Python code",
        RTAPP | "cpu-capacities.rtapp" => {
            "has the speeds of CPUs as rt-app measured them, and a machine file takes the capacities \
             of the kernel"
        }
        "kernel.version" => "is the kernel that ran, and a machine file is for any kernel",
        "capacity-classes" => "follows from the capacities",
        _ => "has no place in a machine file",
    }
}
