// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the mount point and the paths of task groups.

use super::*;

const V2: &str = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n";
const V1: &str = "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
                  cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
                  cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

#[test]
fn the_hierarchy_with_the_cpu_controller_is_found() {
    for (mounts, expected) in [
        (V2, Some("/sys/fs/cgroup")),
        (V1, Some("/sys/fs/cgroup/cpu,cpuacct")),
        ("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n", None),
        ("", None),
    ] {
        assert_eq!(mount_point(mounts), expected.map(PathBuf::from), "{mounts}");
    }
}

#[test]
fn groups_have_paths_and_those_that_are_gone_a_number() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("app.slice/db");
    fs::create_dir_all(&inner).unwrap();
    let mut groups = Groups {
        mounted: Some(root.path().to_owned()),
        paths: HashMap::new(),
    };
    let inode = |path: &Path| path.metadata().unwrap().ino();
    assert_eq!(groups.path(inode(root.path())), "/");
    assert_eq!(groups.path(inode(&inner)), "/app.slice/db");
    assert_eq!(groups.path(u64::MAX), format!("/gone-{}", u64::MAX));
    // A group that is made later is found when it is looked up.
    let later = root.path().join("later");
    fs::create_dir(&later).unwrap();
    assert_eq!(groups.path(inode(&later)), "/later");
}
