// SPDX-License-Identifier: GPL-2.0-only

use crate::program::Workload;

#[test]
fn a_command_runs_in_the_group_that_cgexec_names() {
    for (line, group) in [
        ("hackbench -g 1", None),
        (
            "cgexec -g cpu:background hackbench -g 1",
            Some("/background"),
        ),
        (
            "/usr/bin/cgexec -g cpu,memory:/a sysbench threads run",
            Some("/a"),
        ),
        ("cgexec -g cpu:/ cyclictest -D 1", Some("/")),
    ] {
        let loaded = Workload::from_command_line(line).expect("valid");
        let found = loaded
            .workload
            .tasks
            .iter()
            .map(|task| task.attributes.group.as_deref());
        assert!(
            found.eq(loaded.workload.tasks.iter().map(|_| group)),
            "{line}"
        );
    }
}

#[test]
fn what_is_no_group_of_the_cpu_controller_is_refused() {
    for (line, words) in [
        ("cgexec", "lacks a group"),
        ("cgexec -g cpu:a", "lacks a group or a command"),
        ("cgexec -g memory:a hackbench", "names no group of the cpu"),
        ("cgexec -g a hackbench", "names no group of the cpu"),
        ("cgexec -g cpu:a/b hackbench", "only one level"),
        (
            "cgexec --sticky -g cpu:a hackbench",
            "`--sticky` is not understood",
        ),
        (
            "cgexec -g cpu:a -g cpu:b hackbench",
            "`-g` is not understood",
        ),
        ("cgexec -g cpu:a nothing", "`nothing` is no workload"),
    ] {
        let error = Workload::from_command_line(line)
            .expect_err(line)
            .to_string();
        assert!(error.contains(words), "{line}: {error}");
    }
}
