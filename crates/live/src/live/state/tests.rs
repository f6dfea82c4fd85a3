// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the state of sched_ext in sysfs.

use super::*;

#[test]
fn only_an_enabled_scheduler_of_our_name_runs() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("sys/kernel/sched_ext");
    let sched_ext = SchedExt::of(root.path());
    assert_eq!(
        sched_ext.ours(),
        Err("nothing, because its state cannot be read".to_owned())
    );
    fs::create_dir_all(directory.join("root")).unwrap();
    for (state, name, expected) in [
        ("enabled", "alight", Ok(())),
        ("enabling", "alight", Err("enabling")),
        ("disabled", "", Err("disabled")),
        ("enabled", "lavd", Err("enabled, with the scheduler 'lavd'")),
    ] {
        fs::write(directory.join("state"), format!("{state}\n")).unwrap();
        fs::write(directory.join("root/ops"), format!("{name}\n")).unwrap();
        assert_eq!(sched_ext.ours(), expected.map_err(str::to_owned));
    }
}

#[test]
fn an_ended_scheduler_is_not_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    assert!(SchedExt::of(root.path()).wait(|| true).is_err());
    assert!(begin.elapsed() < PATIENCE);
}
