// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use std::fs;

#[test]
fn a_program_beside_this_one_comes_before_path() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("alight");
    assert_eq!(find("other", Some(&here)), Path::new("other"));
    fs::create_dir(folder.path().join("other")).unwrap();
    assert_eq!(
        find("other", Some(&here)),
        Path::new("other"),
        "a directory is none"
    );
    fs::write(folder.path().join("third"), "").unwrap();
    assert_eq!(find("third", Some(&here)), folder.path().join("third"));
    assert_eq!(find("third", None), Path::new("third"));
}

#[test]
fn a_missing_program_is_said_with_how_it_is_built() {
    let failure = become_program("no-such-program", "x", &[]);
    assert_eq!(failure.code(), 1);
    let text = failure.message();
    assert!(
        text.contains("no-such-program is not beside alight and not in PATH"),
        "{text}"
    );
    assert!(
        text.contains("cargo build --release -p alight-live"),
        "{text}"
    );
}
