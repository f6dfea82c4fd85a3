// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::statistics::tests::example;
use std::collections::BTreeMap;

#[test]
fn every_member_of_the_document_is_described_and_none_besides() {
    let described = to_json();
    let names =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let document = example().to_json();
    assert_eq!(names(&document), names(&described[TOP]["fields"]));
    for (member, structure) in [
        ("steps", "Step"),
        ("features", "Feature"),
        ("moved", "Distance"),
        ("cpus", "Cpu"),
    ] {
        assert_eq!(
            described[TOP]["fields"][member]["dict"]["datum"]["struct"],
            structure
        );
        let (_, first) = document[member].as_object().unwrap().iter().next().unwrap();
        assert_eq!(names(first), names(&described[structure]["fields"]));
    }
}

#[test]
fn tools_understand_the_description() {
    let meta: BTreeMap<String, scx_stats::StatsMeta> = serde_json::from_value(to_json()).unwrap();
    assert_eq!(meta[TOP].attrs.top.as_deref(), Some("true"));
    let decisions = &meta[TOP].fields["decisions"];
    assert_eq!(decisions.data.to_string(), "u64");
    assert_eq!(meta[TOP].fields["steps"].data.to_string(), "{string:Step}");
    assert_eq!(meta[TOP].fields["delays"].data.to_string(), "[u64]");
    /* scxstats_to_openmetrics.py tells structures of a dictionary apart by these. */
    for name in ["Step", "Feature", "Distance", "Cpu"] {
        assert!(meta[name].attrs.user.contains_key("_om_label"), "{name}");
    }
}

#[test]
fn the_text_names_every_member() {
    let text = to_text();
    for (name, what) in PLAIN {
        assert!(
            text.contains(&format!("{name:<15} number             {what}")),
            "{name}"
        );
    }
    assert!(text.contains("  target_idle       the target is idle\n"));
}
