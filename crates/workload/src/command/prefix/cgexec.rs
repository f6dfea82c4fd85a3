// SPDX-License-Identifier: GPL-2.0-only
//! `cgexec -g cpu:PATH COMMAND`, which runs a command in a cgroup (libcgroup).

use super::super::getopt::Word;
use super::super::surroundings::Surroundings;
use crate::diagnostic::{Place, Refusal, Remarks};

/// Words before the command: the name, `-g`, the group.
const WORDS: usize = 3;

pub(super) fn read(
    words: &[Word],
    around: &mut Surroundings<'_>,
    _remarks: &mut Remarks,
) -> Result<usize, Refusal> {
    let expected = "expected `cgexec -g cpu:GROUP COMMAND`";
    let refuse = |place: Place, why: String| Err(Refusal::new(place, format!("{why}; {expected}")));
    let [_, option, group, command, ..] = words else {
        return refuse(words[0].place, "cgexec lacks a group or a command".into());
    };
    if option.text != "-g" {
        return refuse(option.place, format!("`{}` is not understood", option.text));
    }
    let (controllers, path) = group.text.split_once(':').unwrap_or(("", &group.text));
    if !controllers.split(',').any(|controller| controller == "cpu") {
        return refuse(
            group.place,
            format!("`{}` names no group of the cpu controller", group.text),
        );
    }
    let path = path.trim_matches('/');
    if path.contains('/') {
        let why = format!("`/{path}` is below a group, and only one level is modelled");
        return refuse(group.place, why);
    }
    if command.text.starts_with('-') {
        return refuse(
            command.place,
            format!("`{}` is not understood", command.text),
        );
    }
    around.begin.attributes.group = Some(format!("/{path}"));
    Ok(WORDS)
}

#[cfg(test)]
mod tests {
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
}
