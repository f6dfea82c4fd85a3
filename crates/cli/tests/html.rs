// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare --html`: the report as a page.

mod common;
#[path = "common/question.rs"]
mod question;

use std::fs;

use common::alight;
use predicates::str::contains;
use question::QUESTION;
use tempfile::tempdir;

#[test]
fn a_page_says_what_the_terminal_says_and_is_the_same_each_time() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("two.html");
    let made = |more: &[&str]| {
        let run = alight(&QUESTION)
            .arg("--html")
            .arg(&file)
            .args(more)
            .assert();
        let output = run.success().get_output().stdout.clone();
        (
            String::from_utf8(output).unwrap(),
            fs::read_to_string(&file).unwrap(),
        )
    };
    let (told, page) = made(&[]);
    assert!(
        told.ends_with(&format!("page     {}\n", file.display())),
        "{told}"
    );
    let answer = told
        .lines()
        .find_map(|line| line.strip_prefix("answer  "))
        .unwrap();
    assert!(
        page.contains(&format!("<p>{answer}</p>")),
        "the page says '{answer}'"
    );
    assert!(
        page.contains("alight compare -m juno-r0 "),
        "how to make it again"
    );
    assert_eq!(page, made(&["--jobs", "1"]).1);
    let (json, again) = made(&["--json"]);
    assert!(json.ends_with("}\n"), "nothing stands behind JSON");
    assert_eq!(again, page);
}

#[test]
fn numbers_that_were_asked_for_have_their_differences() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("chosen.html");
    let mut asked = alight(&QUESTION);
    asked
        .arg("--html")
        .arg(&file)
        .args(["--metric", "run_delay*"]);
    asked.assert().success();
    let page = fs::read_to_string(&file).unwrap();
    let differences = page
        .split("<h2>")
        .find(|part| part.starts_with("Differences: "));
    assert!(differences.unwrap().contains("run_delay_mean_us"), "{page}");
    assert!(!page.contains("energy_j"));
}

#[test]
fn a_page_that_cannot_be_is_refused_before_anything_runs() {
    let folder = tempdir().unwrap();
    for (file, code, says) in [
        (
            "two.svg",
            2,
            "a page is HTML; name a file that ends in .html",
        ),
        ("none/two.html", 1, "two.html"),
    ] {
        let path = folder.path().join(file);
        let asked = alight(&QUESTION).arg("--html").arg(&path).assert();
        asked.code(code).stdout("").stderr(contains(says));
        assert!(!path.exists());
    }
}
