// SPDX-License-Identifier: GPL-2.0-only
//! `hackbench` of rt-tests 2.x: its options. What it does is in [`super::messaging`].

use super::getopt::{self, Found, Spec, Value, Word, number};
use super::messaging::{self, Settings};
use super::refuse_operands;
use super::surroundings::Surroundings;
use crate::diagnostic::{Refusal, Remarks};
use crate::program::{ChannelKind, Workload};
use crate::report::Report;

/// Bytes that a message may have: workers build it on their stack, which is 8 MiB by default.
const MAX_DATASIZE: i64 = 8 << 20;

#[derive(Debug, Clone, Copy)]
enum Opt {
    Fds,
    Fifo,
    Groups,
    Help,
    Loops,
    Pipe,
    Inet,
    Datasize,
    Threads,
    Processes,
}

const fn spec(short: char, long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('f', "fds", Value::Required, Opt::Fds),
    spec('F', "fifo", Value::No, Opt::Fifo),
    spec('g', "groups", Value::Required, Opt::Groups),
    spec('h', "help", Value::No, Opt::Help),
    spec('l', "loops", Value::Required, Opt::Loops),
    spec('p', "pipe", Value::No, Opt::Pipe),
    spec('i', "inet", Value::No, Opt::Inet),
    spec('s', "datasize", Value::Required, Opt::Datasize),
    spec('T', "threads", Value::No, Opt::Threads),
    spec('P', "processes", Value::No, Opt::Processes),
];

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    _remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = read_settings(words)?;
    let mut workload = messaging::build(around.line, &settings);
    workload.report = Some(Report::Hackbench(settings.report()));
    Ok(workload)
}

/// Reads the options over rt-tests' defaults.
fn read_settings(words: &[Word]) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("hackbench", SPECS, words)?;
    let mut settings = Settings {
        groups: 10,
        fds: 20,
        loops: 100,
        datasize: 100,
        channel: ChannelKind::Socket,
        threads: false,
        fifo: false,
        comm: "hackbench",
    };
    for found in &parsed.options {
        let positive = |most: i64| positive_number(found, most);
        match found.id {
            Opt::Fds => settings.fds = positive(i64::from(i32::MAX))?,
            Opt::Groups => settings.groups = positive(i64::from(i32::MAX))?,
            Opt::Loops => settings.loops = positive(i64::from(i32::MAX))?,
            Opt::Datasize => settings.datasize = positive(MAX_DATASIZE)?,
            Opt::Fifo => settings.fifo = true,
            Opt::Pipe => settings.channel = ChannelKind::Pipe,
            Opt::Threads => settings.threads = true,
            Opt::Processes => settings.threads = false,
            Opt::Inet => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{}: TCP connections are not modelled; use -p for pipes, or neither for AF_UNIX sockets",
                        found.spelling
                    ),
                ));
            }
            Opt::Help => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{} prints a help text and runs nothing; remove it",
                        found.spelling
                    ),
                ));
            }
        }
    }
    refuse_old_form(&parsed.operands)?;
    refuse_operands("hackbench", &parsed.operands)?;
    settings.refuse_too_many(words, "-g or -f")?;
    Ok(settings)
}

/// `hackbench GROUPS [process|thread] [LOOPS]`, as it was before rt-tests took it in (and is in LTP).
fn refuse_old_form(operands: &[Word]) -> Result<(), Refusal> {
    let is_number = |word: &&Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(groups) = operands.first().filter(is_number) else {
        return Ok(());
    };
    let workers = match operands.get(1).map(|word| word.text.as_str()) {
        Some("thread") => " -T",
        _ => "",
    };
    let loops = operands.get(2).filter(is_number);
    let loops = loops.map_or(String::new(), |loops| format!(" -l {}", loops.text));
    Err(Refusal::new(
        groups.place,
        format!(
            "`{}` without an option is the syntax of an older hackbench; for rt-tests 2.4, which \
             is modelled, write -g {}{workers}{loops}",
            groups.text, groups.text
        ),
    ))
}

fn positive_number(found: &Found<Opt>, most: i64) -> Result<u32, Refusal> {
    let text = found.value.as_deref().unwrap_or_default();
    number(found.place, &found.spelling, text, 1, most).map(|n| n as u32)
}
