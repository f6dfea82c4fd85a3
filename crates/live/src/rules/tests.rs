// SPDX-License-Identifier: GPL-2.0-only
//! Tests of rules for the kernel side, and of cgroups.

use super::*;

fn rules(texts: &[&str]) -> Vec<Rule> {
    let parse = |text: &&str| Rule::parse(text).unwrap();
    texts.iter().map(parse).collect()
}

#[test]
fn a_rule_becomes_what_the_kernel_side_reads() {
    let rule = &rules(&["comm=render* nice=-5..0 pid=7 policy=batch uclamp_min=60"])[0];
    let compiled = compiled(rule);
    assert_eq!(&compiled.comm[..8], b"render*\0");
    assert_eq!(compiled.asks, 15);
    assert_eq!((compiled.nice_first, compiled.nice_last), (-5, 0));
    assert_eq!((compiled.pid, compiled.policy), (7, 1));
    assert_eq!((compiled.uclamp_min, compiled.uclamp_max), (614, NO_CLAMP));
}

#[test]
fn cgroups_are_found_with_what_they_meet() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path();
    fs::create_dir_all(at.join("a/b")).unwrap();
    fs::create_dir(at.join("c\n\u{1b}[2J")).unwrap();
    fs::write(at.join("cgroup.controllers"), "cpu\n").unwrap();
    std::os::unix::fs::symlink("/", at.join("a/link")).unwrap();
    let rules = rules(&[
        "cgroup=/a/* uclamp_min=1",
        "comm=x uclamp_min=1",
        "cgroup=/c?* uclamp_min=1",
    ]);
    assert_eq!(of_any_cgroup(&rules), 0b010);
    let (found, all) = walk(at, &rules);
    assert!(all);
    let met = |path: &str| found[&fs::metadata(at.join(path)).unwrap().ino()];
    assert_eq!(found.len(), 4);
    assert_eq!(met(""), 0b010);
    assert_eq!(met("a"), 0b010);
    assert_eq!(met("a/b"), 0b011);
    assert_eq!(met("c\n\u{1b}[2J"), 0b110);
}

#[test]
fn a_cgroup_that_cannot_be_told_keeps_none_from_the_others() {
    let mut known = BTreeMap::from([(1, 0b01), (2, 0b01), (3, 0b01)]);
    let found = BTreeMap::from([(3, 0b10), (4, 0b01), (5, 0b11)]);
    let mut broken = vec![1, 4];
    for (told, news, expected, after) in [
        (
            vec![
                (1, None),
                (2, None),
                (3, Some(0b10)),
                (4, Some(0b01)),
                (5, Some(0b11)),
            ],
            true,
            Err(4),
            BTreeMap::from([(1, 0b01), (3, 0b10), (5, 0b11)]),
        ),
        (
            vec![(1, None), (4, Some(0b01))],
            true,
            Ok(()),
            found.clone(),
        ),
        (vec![], false, Ok(()), found.clone()),
    ] {
        let mut calls = Vec::new();
        let result = bring(&mut known, &found, |id, met| {
            calls.push((id, met));
            if broken.contains(&id) {
                Err(id)
            } else {
                Ok(())
            }
        });
        assert_eq!((calls, result, &known), (told, (news, expected), &after));
        broken.clear();
    }
}

#[test]
fn the_hierarchy_of_v2_is_found_or_missed() {
    let root = tempfile::tempdir().unwrap();
    let usual = root.path().join("sys/fs/cgroup");
    let error = hierarchy(root.path()).unwrap_err().to_string();
    assert!(error.contains("no v2 hierarchy"), "{error}");
    fs::create_dir_all(usual.join("unified")).unwrap();
    fs::write(usual.join("unified/cgroup.controllers"), "").unwrap();
    assert_eq!(hierarchy(root.path()).unwrap(), usual.join("unified"));
    fs::write(usual.join("cgroup.controllers"), "").unwrap();
    assert_eq!(hierarchy(root.path()).unwrap(), usual);
}
