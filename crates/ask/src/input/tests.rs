// SPDX-License-Identifier: GPL-2.0-only
//! Texts stand for files, and comparisons have two schedulers.

use super::*;

/// An rt-app file of one task.
const RTAPP: &str = r#"{"tasks": {"one": {"loop": 3, "run": 1000, "sleep": 1000}}}"#;

fn options(machine: &str, workload: &str) -> Options {
    Options {
        machine: Some(machine.to_owned()),
        workloads: vec![workload.to_owned()],
        ..Options::default()
    }
}

#[test]
fn a_text_is_read_in_place_of_the_file_of_its_name() {
    let juno = alight_machine::load("juno-r0").unwrap();
    let texts: Texts = [
        ("board.toml".to_owned(), juno.text.clone()),
        ("one.json".to_owned(), RTAPP.to_owned()),
    ]
    .into();
    let input = Input::load_with(options("board.toml", "one.json"), &texts, &|_| ()).unwrap();
    assert_eq!(input.machine, juno.machine);
    assert_eq!(input.workloads[0].name, "one.json");
    assert_eq!(
        input.command("simulate", &["linux-6.5"], &[]),
        "alight simulate -m board.toml -w one.json --seed 1 linux-6.5"
    );
}

#[test]
fn an_input_keeps_the_rtapp_files_of_its_workloads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.json");
    std::fs::write(&file, RTAPP).unwrap();
    let name = file.display().to_string();
    let input = Input::load(options("juno-r0", &name), &|_| ()).unwrap();
    assert_eq!(input.texts, Texts::from([(name.clone(), RTAPP.to_owned())]));
    drop(folder);
    // Elsewhere, the texts do in place of the files.
    let again = Input::load_with(options("juno-r0", &name), &input.texts, &|_| ()).unwrap();
    assert_eq!(again.workloads, input.workloads);
    let line = Input::load(options("juno-r0", "hackbench -g 1 -l 1"), &|_| ()).unwrap();
    assert!(line.texts.is_empty());
}

#[test]
fn a_text_that_cannot_be_is_refused_by_its_name() {
    for (name, text) in [("board.toml", "name = 7"), ("one.json", "{\"tasks\": 7}")] {
        let mut texts: Texts = [("one.json".to_owned(), RTAPP.to_owned())].into();
        texts.insert(name.to_owned(), text.to_owned());
        let machine = if name == "board.toml" {
            name
        } else {
            "juno-r0"
        };
        let loaded = Input::load_with(options(machine, "one.json"), &texts, &|_| ());
        let message = loaded.err().expect("it is refused").to_string();
        assert!(message.starts_with(&format!("{name}:1:")), "{message}");
    }
}

#[test]
fn a_comparison_has_two_schedulers() {
    let two = schedulers_to_compare(["linux-6.5", "bias-prev"]).unwrap();
    assert_eq!(two[1].name, "linux-6.5+bias-prev");
    for (names, message) in [
        (
            &["linux-6.5"][..],
            "a comparison needs two schedulers or more, found linux-6.5; name another",
        ),
        (
            &["linux-6.5+bias-prev"],
            "a comparison needs two schedulers or more, found linux-6.5+bias-prev; name another, or \
             its base by --base linux-6.5",
        ),
    ] {
        let refused = schedulers_to_compare(names.iter().copied()).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
}
