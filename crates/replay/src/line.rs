// SPDX-License-Identifier: GPL-2.0-only
//! The line by which a user names a recording as a workload.

use std::path::PathBuf;

use crate::{Options, Resample};

/// How a recording file is called.
pub const ENDING: &str = ".alight";
/// What the line may hold behind the file.
const USAGE: &str = "FILE.alight [--no-background] [--recorded-on MACHINE] [--resample] [--block MS] \
     [--length SECONDS]";

/// The largest number of an option: an hour of ms.
const MOST: u64 = 3_600_000;

/// A recording and how to replay it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The file.
    pub file: PathBuf,
    /// The machine that was recorded, by name or file; `None`: the one that the recording holds, or
    /// else the one that is simulated.
    pub recorded_on: Option<String>,
    /// What is replayed.
    pub options: Options,
}

/// Why a line is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// A quote is not closed.
    #[error("a quote is not closed: {0}")]
    Quotes(String),
    /// A word that means nothing.
    #[error("'{0}' is no option of a recording; expected {USAGE}")]
    Option(String),
    /// An option without its value.
    #[error("'{0}' needs a value; expected {USAGE}")]
    Value(&'static str),
    /// A value that is no number above 0.
    #[error("'{option} {found}': expected a whole number from 1 to {MOST}")]
    Number {
        /// The option.
        option: &'static str,
        /// Its value.
        found: String,
    },
}

impl Line {
    /// Reads a line; `None` if it does not name a recording.
    pub fn parse(text: &str) -> Option<Result<Self, BadLine>> {
        let words = match shell_words::split(text) {
            Ok(words) => words,
            Err(_) if !text.contains(ENDING) => return None,
            Err(_) => return Some(Err(BadLine::Quotes(text.to_owned()))),
        };
        let (file, rest) = words.split_first()?;
        file.ends_with(ENDING).then(|| Self::of(file, rest))
    }

    fn of(file: &str, words: &[String]) -> Result<Self, BadLine> {
        let mut line = Line {
            file: PathBuf::from(file),
            recorded_on: None,
            options: Options::default(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--no-background" => line.options.background = false,
                "--recorded-on" => {
                    line.recorded_on = Some(value("--recorded-on", &mut words)?.clone());
                }
                "--resample" => resample(&mut line, |_| ()),
                "--block" => {
                    let ms = number("--block", &mut words)?;
                    resample(&mut line, |resample| resample.block_ns = ms * 1_000_000);
                }
                "--length" => {
                    let seconds = number("--length", &mut words)?;
                    resample(&mut line, |resample| {
                        resample.length_ns = Some(seconds * 1_000_000_000);
                    });
                }
                other => return Err(BadLine::Option(other.to_owned())),
            }
        }
        Ok(line)
    }
}

/// To draw is asked for by each option of drawing.
fn resample(line: &mut Line, change: impl FnOnce(&mut Resample)) {
    change(line.options.resample.get_or_insert_default());
}

fn value<'a>(
    option: &'static str,
    words: &mut impl Iterator<Item = &'a String>,
) -> Result<&'a String, BadLine> {
    words.next().ok_or(BadLine::Value(option))
}

fn number<'a>(
    option: &'static str,
    words: &mut impl Iterator<Item = &'a String>,
) -> Result<u64, BadLine> {
    let found = value(option, words)?;
    let number = found
        .parse()
        .ok()
        .filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| BadLine::Number {
        option,
        found: found.clone(),
    })
}

#[cfg(test)]
mod tests;
