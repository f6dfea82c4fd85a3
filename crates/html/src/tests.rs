// SPDX-License-Identifier: GPL-2.0-only
//! Pages are whole, the same each time, and ask for nothing.

use super::*;

fn page() -> Page {
    let row = Row {
        label: "events".into(),
        delta: Some(44.2),
        interval: Some((26.1, 62.3)),
        mark: Mark::Better,
        words: "+44.2% [+26.1, +62.3] better".into(),
    };
    Page::new("sysbench <threads> & \"more\"")
        .text("Nothing", [""; 0])
        .text("Question", ["Which one?"])
        .part("Differences", &Forest::new(vec![row]))
        .part("Numbers", &Table::new(["", "mean"]).row(["a", "1.0"]))
        .command("Again", "alight compare -m juno-r0")
}

#[test]
fn same_content_is_the_same_bytes() {
    assert_eq!(page().render(), page().render());
}

#[test]
fn text_is_text_and_a_section_without_any_is_left_out() {
    let html = page().render();
    assert!(
        html.contains("<h1>sysbench &lt;threads&gt; &amp; &quot;more&quot;</h1>"),
        "{html}"
    );
    assert!(!html.contains("Nothing"));
    assert_eq!(html.matches("<section>").count(), 4);
}

#[test]
fn nothing_is_fetched_from_elsewhere() {
    let html = page().render();
    for address in [
        "http:", "https:", "//", "url(", "src=", "@import", "<link", "<script",
    ] {
        assert!(!html.contains(address), "{address}");
    }
    assert!(html.contains("default-src 'none'"));
}
