// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn point(value: u64, is_whole: bool) -> (Factors, Misfit) {
    let factors = [1000, 125, 8000, value + 1, 440];
    (factors, Misfit { value, is_whole })
}

#[test]
fn what_was_kept_is_read_again_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points");
    let all = [point(7, true), point(9, false), point(7, true)];
    for nr in 0..3 {
        let (found, kept) = open(&file, "juno-r0").unwrap();
        assert_eq!(found, all[..nr]);
        kept.keep(&all[nr].0, all[nr].1).unwrap();
    }
}

#[test]
fn a_line_that_was_not_finished_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points");
    let (whole, after) = (point(7, true), point(8, false));
    let (_, kept) = open(&file, "juno-r0").unwrap();
    kept.keep(&whole.0, whole.1).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}1000 1000 10")).unwrap();
    let (found, kept) = open(&file, "juno-r0").unwrap();
    assert_eq!(found, [whole]);
    kept.keep(&after.0, after.1).unwrap();
    assert_eq!(open(&file, "juno-r0").unwrap().0, [whole, after]);
}

#[test]
fn what_is_of_something_else_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points");
    drop(open(&file, "juno-r0").unwrap());
    let own = std::fs::read_to_string(&file).unwrap();
    for (text, machine, why) in [
        (own.clone(), "sdm845", "another machine"),
        (
            "alight.points/1 juno-r0 0\n".into(),
            "juno-r0",
            "another build",
        ),
        ("my notes\n".into(), "juno-r0", "another build"),
        (format!("{own}1 2 3\n"), "juno-r0", "no point"),
    ] {
        std::fs::write(&file, &text).unwrap();
        let Err(Failure::BadInput(found)) = open(&file, machine) else {
            panic!("{text} is taken");
        };
        assert!(found.contains(why), "{found}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}
