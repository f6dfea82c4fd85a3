// SPDX-License-Identifier: GPL-2.0-only
//! Pages are whole, the same each time, and ask for nothing.

use super::*;
use crate::{Forest, Mark, Row, Table, Timeline};

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

/// A page of parts that need scripts.
fn scripted() -> Page {
    let timeline = Timeline::default();
    page()
        .part("Timelines", &timeline)
        .parts("More", &[&Text::new(["Again."]), &timeline])
}

#[test]
fn same_content_is_the_same_bytes() {
    assert_eq!(page().render(), page().render());
    assert_eq!(scripted().render(), scripted().render());
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
    for address in [" src=", "url(", "@import", "<link"] {
        assert!(!scripted().render().contains(address), "{address}");
    }
}

#[test]
fn a_script_is_written_once_and_the_policy_allows_it_and_no_other() {
    let page = scripted();
    let html = page.render();
    assert_eq!(html.matches("<script>").count(), page.assets.len());
    assert_eq!(html.matches("'sha256-").count(), page.assets.len());
    for asset in &page.assets {
        assert!(html.contains(&format!("<script>{}</script>", asset.script)));
        assert!(html.contains(asset.source().trim()));
    }
    assert!(!html.contains("'unsafe-eval'") && !html.contains("script-src 'unsafe-inline'"));
}

#[test]
fn no_script_ends_early() {
    for asset in &scripted().assets {
        assert!(!asset.script.contains("</") && !asset.script.contains("<!--"));
    }
}
