// SPDX-License-Identifier: GPL-2.0-only
//! `taskset MASK COMMAND`, `taskset -c LIST COMMAND` (util-linux 2.42): CPUs that a command may use.

use super::super::cpus::{self, Text};
use super::super::getopt::{self, Spec, Value, Word};
use super::super::surroundings::Surroundings;
use super::{changes_a_running_task, prints_a_text};
use crate::diagnostic::{Refusal, Remarks};

#[derive(Debug, Clone, Copy)]
enum Opt {
    All,
    List,
    Pid,
    Informs,
}

const fn spec(short: char, long: &'static str, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value: Value::No,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('a', "all-tasks", Opt::All),
    spec('c', "cpu-list", Opt::List),
    spec('h', "help", Opt::Informs),
    spec('p', "pid", Opt::Pid),
    spec('V', "version", Opt::Informs),
];

pub(super) fn read(
    words: &[Word],
    around: &mut Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<usize, Refusal> {
    let parsed = getopt::parse_leading("taskset", SPECS, &words[1..])?;
    let mut is_list = false;
    for found in &parsed.options {
        match found.id {
            Opt::List => is_list = true,
            Opt::All => remarks.note(
                found.place,
                "taskset -a has no effect without -p: the command still has one task",
            ),
            Opt::Pid => {
                return Err(changes_a_running_task(found));
            }
            Opt::Informs => {
                return Err(prints_a_text(found));
            }
        }
    }
    let Some(cpus) = parsed.operands.first() else {
        return Err(Refusal::new(
            words[words.len() - 1].place,
            "taskset lacks CPUs and a command; expected `taskset -c LIST COMMAND` or `taskset MASK COMMAND`",
        ));
    };
    let (given, named) = match is_list {
        true => {
            let given = Text::of(cpus, "taskset -c");
            (given, cpus::list(given)?)
        }
        false => {
            let given = Text::of(cpus, "taskset");
            (given, cpus::mask(given)?)
        }
    };
    let allowed = cpus::on_site(given, named, around.site, remarks)?;
    around.begin.attributes.affinity = Some(allowed);
    Ok(words.len() - parsed.operands.len() + 1)
}
