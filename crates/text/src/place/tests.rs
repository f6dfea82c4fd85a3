// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn links_are_followed_to_the_file_that_is_or_shall_be() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("sub/there"), "").unwrap();
    symlink("sub/there", at("relative")).unwrap();
    symlink(at("sub/there"), at("absolute")).unwrap();
    symlink("../relative", at("sub/twice")).unwrap();
    symlink("sub/not-yet", at("dangling")).unwrap();
    symlink("circle", at("circle")).unwrap();
    for (given, expected) in [
        ("sub/there", Some("sub/there")),
        ("nothing", Some("nothing")),
        ("relative", Some("sub/there")),
        ("absolute", Some("sub/there")),
        ("sub/twice", Some("sub/../sub/there")),
        ("dangling", Some("sub/not-yet")),
        ("circle", None),
    ] {
        assert_eq!(place(&at(given)).ok(), expected.map(at), "{given}");
    }
    assert_eq!(place(Path::new("plain")).unwrap(), Path::new("plain"));
}
