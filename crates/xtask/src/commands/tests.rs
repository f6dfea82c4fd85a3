// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// After a change that is meant: `cargo run -p xtask -- commands docs/reference/commands.md`.
#[test]
fn the_page_of_the_book_shows_what_help_prints() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md");
    if std::env::var_os("ALIGHT_BLESS").is_some() {
        write(&file).expect("written");
    }
    let known = std::fs::read_to_string(&file).expect("the page");
    assert!(
        known == page(),
        "{} is not what --help prints now; write it again",
        file.display()
    );
}

#[test]
fn every_command_has_a_section() {
    let page = page();
    for name in [
        "alight",
        "alight compare",
        "alight machine capture",
        "alight study run",
        "scx_alight",
        "alight-record",
    ] {
        assert!(page.contains(&format!("\n## {name}\n")), "{name}");
    }
    assert!(
        page.lines().all(|line| line.chars().count() <= 110),
        "a line is too long"
    );
}
