// SPDX-License-Identifier: GPL-2.0-only
//! Command lines of the real tools, read as those tools read them.

mod adrestia;
mod cpus;
mod cyclictest;
mod draw;
mod frames;
mod getopt;
mod hackbench;
mod housekeeping;
mod messaging;
mod perf_bench;
mod prefix;
mod schbench;
mod surroundings;
mod sysbench;

use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::program::Workload;
use crate::site::Site;
use getopt::Word;
use surroundings::Surroundings;

const TOOLS: &[(&str, Compile)] = &[
    ("adrestia", adrestia::compile),
    ("cyclictest", cyclictest::compile),
    ("frames", frames::compile),
    ("hackbench", hackbench::compile),
    ("housekeeping", housekeeping::compile),
    ("perf", perf_bench::compile),
    ("schbench", schbench::compile),
    ("sysbench", sysbench::compile),
];

/// Tasks that one command line may ask for. Far above what the tools can start on a stock
/// kernel; a mistyped number is refused instead of filling the memory.
const MAX_TASKS: u64 = 100_000;

type Compile = fn(&Surroundings<'_>, &[Word], &mut Remarks) -> Result<Workload, Refusal>;

/// Compiles a command line: prefixes such as `taskset`, and a tool. A name may have a path before it.
pub(crate) fn compile(
    line: &str,
    site: Option<&Site>,
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let words = split(line)?;
    let mut around = Surroundings::new(line, site);
    let words = prefix::read_all(&words, &mut around, remarks)?;
    let mut workload = compile_tool(&around, words, remarks)?;
    around.begin.apply(&mut workload)?;
    Ok(workload)
}

fn compile_tool(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let Some((command, arguments)) = words.split_first() else {
        return Err(Refusal::new(
            Place { line: 1, column: 1 },
            format!(
                "the workload is empty; give a command line of {} or a file ending in .json",
                tool_names()
            ),
        ));
    };
    let tool = command.text.rsplit('/').next().unwrap_or_default();
    match TOOLS.iter().find(|(name, _)| *name == tool) {
        Some((_, compile)) => compile(around, arguments, remarks),
        None => Err(Refusal::new(
            command.place,
            format!(
                "`{}` is no workload; the nearest: {}; or give an rt-app file ending in .json, or a \
                 recording ending in .alight, which `alight import` makes of a trace",
                command.text,
                nearest(tool, first_words())
            ),
        )),
    }
}

/// What a command line may begin with.
fn first_words() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _)| *name).chain(prefix::names())
}

/// Whether a word, with or without a path, is the name of a tool or of a prefix.
pub(crate) fn is_tool(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    first_words().any(|known| known == name)
}

fn tool_names() -> String {
    let names: Vec<String> = TOOLS.iter().map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}

/// Splits a line into words as a shell does, and finds where each stands.
fn split(line: &str) -> Result<Vec<Word>, Refusal> {
    let texts = shell_words::split(line).map_err(|_| {
        let quote = line.find(['"', '\'']).unwrap_or(0);
        Refusal::new(
            place_of(line, quote),
            "this quote is not closed; add the closing quote",
        )
    })?;
    let mut from = 0;
    let mut words = Vec::with_capacity(texts.len());
    for text in texts {
        // A quoted word may not occur literally; then the place is where it can begin at the earliest.
        let start = line[from..].find(&text).map_or(from, |at| from + at);
        let end = start + text.len();
        from = if line.is_char_boundary(end) {
            end
        } else {
            from
        };
        words.push(Word {
            text,
            place: place_of(line, start),
        });
    }
    Ok(words)
}

fn place_of(line: &str, byte: usize) -> Place {
    Place {
        line: 1,
        column: line[..byte].chars().count() as u32 + 1,
    }
}

/// Refuses words that are no options, for tools that take none.
fn refuse_operands(tool: &str, operands: &[Word]) -> Result<(), Refusal> {
    match operands.first() {
        None => Ok(()),
        Some(word) => Err(Refusal::new(
            word.place,
            format!(
                "{tool} takes options only and would ignore `{}`; remove it or put the option \
                 before it",
                word.text
            ),
        )),
    }
}
