// SPDX-License-Identifier: GPL-2.0-only
//! What each member of the document means: for tools that ask the socket (`stats_meta`), and for
//! readers (`--help-stats`).

use crate::counters::{DISTANCES, PLAIN};
use alight_policy::STEPS;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The structure at the top.
const TOP: &str = "Alight";

/// A member and its type, in the words of scx_stats.
struct Member {
    name: &'static str,
    kind: Kind,
    what: &'static str,
}

enum Kind {
    Number,
    Text,
    Numbers,
    /// By name, structures of the kind that is named here.
    Named(&'static str),
}

impl Kind {
    fn to_json(&self) -> (&'static str, Value) {
        match self {
            Kind::Number => ("datum", json!("u64")),
            Kind::Text => ("datum", json!("string")),
            Kind::Numbers => ("array", json!("u64")),
            Kind::Named(of) => (
                "dict",
                json!({ "key": "string", "datum": { "struct": of } }),
            ),
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Text => "text",
            Kind::Numbers => "numbers",
            Kind::Named(_) => "by name",
        }
    }
}

/// A structure; in OpenMetrics, `label` tells those of one dictionary apart.
struct Structure {
    name: &'static str,
    what: &'static str,
    prefix: &'static str,
    label: Option<&'static str>,
    members: Vec<Member>,
}

fn number(name: &'static str, what: &'static str) -> Member {
    Member {
        name,
        kind: Kind::Number,
        what,
    }
}

fn plain() -> Vec<Member> {
    let mut members: Vec<Member> = PLAIN
        .iter()
        .map(|&(name, what)| number(name, what))
        .collect();
    members.push(number(
        "delay_max_ns",
        "longest time from runnable to running, ns",
    ));
    members
}

fn structures() -> Vec<Structure> {
    let member = |name, kind, what| Member { name, kind, what };
    let mut top = vec![
        member("scheduler", Kind::Text, "base and features"),
        member("version", Kind::Text, "version of scx_alight"),
        number("uptime_ns", "time since the start, ns"),
        number("loads", "times that it was loaded into the kernel"),
        number("nr_cpus", "possible CPUs"),
    ];
    top.extend(plain());
    top.extend([
        number("delay_p50_ns", "median of the run delay, ns"),
        number("delay_p99_ns", "99th percentile of the run delay, ns"),
        member(
            "scans",
            Kind::Numbers,
            "decisions by log2 of the CPUs they looked at; the first number: none or one",
        ),
        member(
            "delays",
            Kind::Numbers,
            "starts by log2 of the run delay in ns; the first number: 0 or 1",
        ),
        member(
            "steps",
            Kind::Named("Step"),
            "decisions by the step that answered",
        ),
        member(
            "features",
            Kind::Named("Feature"),
            "decisions answered by a step of the feature",
        ),
        member(
            "moved",
            Kind::Named("Distance"),
            "starts of a task on another CPU than its last one, by distance",
        ),
        member("cpus", Kind::Named("Cpu"), "counts of each CPU"),
    ]);
    vec![
        Structure {
            name: TOP,
            what: "statistics of scx_alight; counts begin at its start",
            prefix: "alight_",
            label: None,
            members: top,
        },
        Structure {
            name: "Step",
            what: "a step of the policy",
            prefix: "alight_step_",
            label: Some("step"),
            members: vec![number("decisions", "decisions that the step answered")],
        },
        Structure {
            name: "Feature",
            what: "a feature of the scheduler that has steps of its own",
            prefix: "alight_feature_",
            label: Some("feature"),
            members: vec![number("decisions", "decisions that its steps answered")],
        },
        Structure {
            name: "Distance",
            what: "distance of a task's CPU from its last one",
            prefix: "alight_moved_",
            label: Some("distance"),
            members: vec![number("runs", "starts at this distance")],
        },
        Structure {
            name: "Cpu",
            what: "a CPU",
            prefix: "alight_cpu_",
            label: Some("cpu"),
            members: plain(),
        },
    ]
}

/// The answer to `stats_meta`: every structure by name.
pub fn to_json() -> Value {
    let mut all = Map::new();
    for structure in structures() {
        let mut fields = Map::new();
        for member in &structure.members {
            let (form, of) = member.kind.to_json();
            fields.insert(
                member.name.to_owned(),
                json!({ form: of, "desc": member.what }),
            );
        }
        let mut user = Map::new();
        user.insert("_om_prefix".to_owned(), json!(structure.prefix));
        if let Some(label) = structure.label {
            user.insert("_om_label".to_owned(), json!(label));
        }
        let mut meta = Map::new();
        meta.insert("name".to_owned(), json!(structure.name));
        meta.insert("desc".to_owned(), json!(structure.what));
        if structure.name == TOP {
            meta.insert("top".to_owned(), json!("true"));
        }
        meta.insert("user".to_owned(), Value::Object(user));
        meta.insert("fields".to_owned(), Value::Object(fields));
        all.insert(structure.name.to_owned(), Value::Object(meta));
    }
    Value::Object(all)
}

/// Every statistic with its description.
pub fn to_text() -> String {
    let mut text = String::new();
    for structure in structures() {
        let _ = writeln!(text, "[{}] {}", structure.name, structure.what);
        for member in &structure.members {
            let kind = match member.kind {
                Kind::Named(of) => format!("{} [{of}]", member.kind.text()),
                _ => member.kind.text().to_owned(),
            };
            let _ = writeln!(text, "  {:<15} {kind:<18} {}", member.name, member.what);
        }
        text.push('\n');
    }
    for (title, table) in [("steps", &STEPS[..]), ("distances", &DISTANCES[..])] {
        let _ = writeln!(text, "The {title}:");
        for (name, what) in table {
            let _ = writeln!(text, "  {name:<17} {what}");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
