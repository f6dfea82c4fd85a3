// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn rules(texts: &[&str]) -> Vec<Rule> {
    let parsed = texts.iter().map(|text| Rule::parse(text));
    parsed.collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_command_line_comes_before_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules");
    fs::write(&path, "comm=b uclamp_min=2\n").unwrap();
    let file = file(path.to_str().unwrap()).unwrap();
    let all = all(&rules(&["comm=a uclamp_min=1"]), &[file]);
    assert_eq!(all, rules(&["comm=a uclamp_min=1", "comm=b uclamp_min=2"]));
    fs::write(&path, "comm=b\n").unwrap();
    let error = super::file(path.to_str().unwrap()).unwrap_err();
    assert!(
        error.ends_with(
            "rules:1, column 7: found the end, expected a setting: uclamp_min= or uclamp_max="
        ),
        "{error}"
    );
}
