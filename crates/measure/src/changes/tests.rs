// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn files() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let [least, most] =
        ["scaling_min_freq", "scaling_max_freq"].map(|name| folder.path().join(name));
    fs::write(&least, "800000\n").unwrap();
    fs::write(&most, "3000000\n").unwrap();
    (folder, least, most)
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap().trim_end().to_owned()
}

#[test]
fn changes_come_back_in_reverse_order() {
    let (_folder, least, most) = files();
    let mut changes = Changes::default();
    changes.set(&most, "1000000").unwrap();
    let mark = changes.mark();
    changes.set(&least, "1000000").unwrap();
    changes.set(&least, "900000").unwrap();
    assert_eq!(
        (text(&least), text(&most)),
        ("900000".into(), "1000000".into())
    );
    changes.back_to(mark);
    assert_eq!(
        (text(&least), text(&most)),
        ("800000".into(), "1000000".into())
    );
    drop(changes);
    assert_eq!(text(&most), "3000000");
}

#[test]
fn changes_come_back_after_a_panic() {
    let (_folder, least, _) = files();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let mut changes = Changes::default();
        changes.set(&least, "1").unwrap();
        assert_eq!(text(&least), "1");
        panic!("a benchmark ended early");
    }));
    assert!(caught.is_err());
    assert_eq!(text(&least), "800000");
}

#[test]
fn a_file_that_cannot_be_brought_back_is_told() {
    let (folder, least, _) = files();
    let mut changes = Changes::default();
    changes.set(&least, "1").unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    changes.back_to(0);
    let [lost] = changes.lost() else {
        panic!("{:?}", changes.lost());
    };
    assert!(lost.contains("scaling_min_freq was 800000"), "{lost}");
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let mut changes = Changes::default();
    assert!(changes.set(Path::new("/nowhere/disable"), "1").is_err());
    assert_eq!(changes.mark(), 0);
}
