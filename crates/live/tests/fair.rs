// SPDX-License-Identifier: GPL-2.0-only
//! The order of tasks on a CPU, on the host: builds tests/fair.c, which says what is
//! promised, with the checks that find undefined arithmetic, and runs it.

use std::path::Path;
use std::process::Command;

#[test]
fn the_order_is_what_it_promises_to_be() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = here.join("tests/fair.c");
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("fair");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror"])
        .args(["-fsanitize=undefined", "-fno-sanitize-recover=all", "-I"])
        .arg(here.join("../.."))
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .output()
        .expect("cc, which links Rust programs, is there");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(&program)
        .output()
        .expect("what was built runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let checks: u64 = (said.split_whitespace().next())
        .and_then(|count| count.parse().ok())
        .expect("it says how many checks it made");
    assert!(checks > 100_000, "{said}");
}
