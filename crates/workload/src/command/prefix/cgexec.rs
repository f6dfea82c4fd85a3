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
        let why = format!("`/{path}` is a group within a group, but only one level is modelled");
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
mod tests;
