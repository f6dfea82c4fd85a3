// SPDX-License-Identifier: GPL-2.0-only
//! `--html`: reports as pages.

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
    let heads: Vec<&str> = (page.split("<h2>").skip(1))
        .map(|part| part.split("</h2>").next().unwrap())
        .collect();
    let expected = [
        "Question",
        "Answer",
        "How far to trust it",
        "Differences: +asym-capacity",
        "What happened",
        "How long tasks waited",
        "Energy of the clusters, means of the runs",
        "Idle states of all CPUs, means of the runs",
        "Utilization and clocks",
        "Where wakeups went",
        "Steps that answered, % of all decisions",
        "Why: +asym-capacity",
        "All numbers, means of the runs",
        "Again",
    ];
    assert_eq!(heads, expected);
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

/// Each report has its page: it opens with the question, and ends with the command that asks again.
#[test]
fn every_report_has_a_page() {
    let folder = tempdir().unwrap();
    let one = ["-m", "juno-r0", "-w", "hackbench -g 1 -l 20"];
    let recording = folder.path().join("run.alight");
    let record = [
        "simulate",
        "linux-6.5",
        "--trace",
        recording.to_str().unwrap(),
    ];
    alight(&record).args(one).assert().success();
    let explain = ["explain", "linux-5.5+asym-capacity", "--limit", "3"];
    let table: [(&[&str], &[&str], &str); 6] = [
        (&["simulate", "linux-6.5"], &one, "What happened"),
        (
            &[&explain[..], &["--task", "hackbench"]].concat(),
            &one,
            "Decision at",
        ),
        (
            &["explain", "linux-5.5+asym-capacity", "--histogram"],
            &one,
            "Where the base would have chosen another CPU",
        ),
        (
            &[
                "card",
                "asym-capacity",
                "--quick",
                "-w",
                "hackbench",
                "--runs",
                "2",
            ],
            &[],
            "The rest",
        ),
        (&["study", "run", "juno-sysbench", "--short"], &[], "Answer"),
        (
            &[
                "verify",
                "workload",
                recording.to_str().unwrap(),
                "--no-write",
            ],
            &[],
            "Self-check under linux-6.5",
        ),
    ];
    for (verb, more, section) in table {
        let file = folder.path().join("page.html");
        let mut asked = alight(verb);
        asked.args(more).arg("--html").arg(&file);
        asked.assert().stdout(predicates::str::ends_with(format!(
            "page     {}\n",
            file.display()
        )));
        let page = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let heads: Vec<&str> = (page.split("<h2>").skip(1))
            .map(|part| part.split("</h2>").next().unwrap())
            .collect();
        assert_eq!(heads[0], "Question", "{verb:?}");
        assert_eq!(heads.last(), Some(&"Again"), "{verb:?}");
        assert!(
            heads.iter().any(|head| head.starts_with(section)),
            "{verb:?}: {heads:?}"
        );
    }
}

#[test]
fn a_page_is_of_one_study() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("all.html");
    let mut asked = alight(&["study", "run", "--all", "--short", "--html"]);
    let says = contains("--html writes the page of one study");
    asked.arg(&file).assert().code(2).stdout("").stderr(says);
}
