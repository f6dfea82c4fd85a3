// SPDX-License-Identifier: GPL-2.0-only
//! Costs that were fitted: written below a mark, read again, and known not to fit an edited file.

use std::fs;
use std::path::Path;

use alight_machine::{DataSheet, Factors, calibrated, load, open_bare};
use tempfile::tempdir;

const ROW: &str = "juno-hackbench elapsed_s: mean \"0.63\" published";

/// Two factors, the second of which the rows do not tell.
fn factors() -> Factors {
    Factors {
        names: vec!["near".to_owned(), "far".to_owned()],
        fitted: vec![3000, 3000],
        open: vec![vec![3300, 1000], vec![2700, 8000]],
    }
}

/// juno-r0 with costs three times as large.
fn tripled() -> String {
    let mut draft = open_bare("juno-r0").unwrap();
    draft.scale_costs(|_| 3000);
    calibrated(
        "juno-r0",
        &[],
        &[ROW.to_owned()],
        &factors(),
        &draft.stated_costs(),
    )
    .unwrap()
}

fn loaded(folder: &Path, text: &str) -> DataSheet {
    let file = folder.join("board.toml");
    fs::write(&file, text).unwrap();
    load(file.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn fitted_costs_are_read_with_their_rows_and_their_provenance() {
    let folder = tempdir().unwrap();
    let bare = open_bare("juno-r0").unwrap().resolve().unwrap();
    let sheet = loaded(folder.path(), &tripled());
    let (before, after) = (&bare.machine.core_types[0], &sheet.machine.core_types[0]);
    assert_eq!(after.costs.scan_local_ns, 3 * before.costs.scan_local_ns);
    assert_ne!(after.costs.switch_ns, before.costs.switch_ns);
    let calibration = sheet.calibration.unwrap();
    assert_eq!(
        (calibration.machine.as_str(), calibration.matches),
        ("juno-r0", true)
    );
    assert_eq!(calibration.rows, [ROW]);
    let read = calibration.factors.expect("as written");
    assert_eq!(read, factors());
    assert_eq!(read.in_words(), "near 3 (2.7 to 3.3), far 3 (1 to 8)");
    let switch = sheet
        .figures
        .iter()
        .find(|figure| figure.path.ends_with("costs.switch_ns"));
    assert_eq!(
        switch.unwrap().provenance.confidence.to_string(),
        "calibrated"
    );
}

#[test]
fn an_edited_file_is_known_not_to_be_the_one_that_was_fitted() {
    let folder = tempdir().unwrap();
    let text = tripled();
    assert!(loaded(folder.path(), &text).calibration.unwrap().matches);
    let (costs, rows) = (text.rfind("switch_ns = ").unwrap(), "published");
    for edited in [
        text.replace("llc_line_ns = 20", "llc_line_ns = 21"),
        format!(
            "{}switch_ns = 9{}",
            &text[..costs],
            &text[costs + "switch_ns = ".len()..]
        ),
        text.replace(rows, "measured"),
        text.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n",
    ] {
        assert_ne!(edited, text);
        assert!(!loaded(folder.path(), &edited).calibration.unwrap().matches);
    }
}

#[test]
fn costs_of_its_own_are_not_those_that_were_fitted() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("juno.toml"), tripled()).unwrap();
    let text = "schema = \"alight.machine/1\"\nname = \"other\"\ninherits = \"juno.toml\"\n";
    let matches = |text: &str| loaded(folder.path(), text).calibration.unwrap().matches;
    assert!(matches(text));
    let own = "[sources]\nme = { text = \"a guess\", confidence = \"assumed\" }\n[costs.big]\nsource = \"me\"\nswitch_ns = 50000\n";
    assert!(!matches(&format!("{text}{own}")));
}

#[test]
fn a_machine_whose_rows_count_too_is_known_to_be_edited() {
    let folder = tempdir().unwrap();
    let other = folder.path().join("other.toml");
    fs::write(&other, "name = \"other\"\n").unwrap();
    let also = [other.to_str().unwrap().to_owned()];
    let costs = open_bare("juno-r0").unwrap().stated_costs();
    let text = calibrated("juno-r0", &also, &[ROW.to_owned()], &factors(), &costs).unwrap();
    let matches = || loaded(folder.path(), &text).calibration.unwrap().matches;
    assert!(matches());
    fs::write(&other, "name = \"another\"\n").unwrap();
    assert!(!matches());
}

#[test]
fn a_calibration_replaces_an_earlier_one() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("board.toml");
    fs::write(&file, tripled()).unwrap();
    let name = file.to_str().unwrap();
    let mut draft = open_bare(name).unwrap();
    draft.scale_costs(|_| 3000);
    let again = calibrated(
        name,
        &[],
        &[ROW.to_owned()],
        &factors(),
        &draft.stated_costs(),
    )
    .unwrap();
    assert_eq!(again, tripled());
}

#[test]
fn cores_of_one_type_cost_the_same_on_another_board() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("juno.toml"), tripled()).unwrap();
    let text = "schema = \"alight.machine/1\"\nname = \"other\"\ninherits = \"hikey620\"\ncosts_from = \"juno.toml\"\n";
    let sheet = loaded(folder.path(), text);
    let plain = open_bare("hikey620").unwrap().resolve().unwrap();
    let scan = |sheet: &DataSheet| sheet.machine.core_types[0].costs.scan_local_ns;
    assert_eq!(scan(&sheet), 3 * scan(&plain));
    assert_eq!(sheet.calibration.unwrap().machine, "juno-r0");
}

#[test]
fn what_is_no_calibration_is_refused_with_its_place() {
    let folder = tempdir().unwrap();
    for (from, to, message) in [
        ("rows = [", "rows = 3\nother = [", "calibration.rows"),
        ("\nof = ", "\noff = ", "off"),
        ("[3000, 3000]", "[3000]", "calibration.points"),
        ("[3000, 3000]", "[3000, 0]", "calibration.points"),
        ("[3000, 3000]", "3000", "calibration.points"),
    ] {
        let file = folder.path().join("board.toml");
        fs::write(&file, tripled().replacen(from, to, 1)).unwrap();
        let error = load(file.to_str().unwrap()).unwrap_err().to_string();
        assert!(
            error.contains("board.toml:") && error.contains(message),
            "{error}"
        );
    }
}
