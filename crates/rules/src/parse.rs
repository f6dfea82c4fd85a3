// SPDX-License-Identifier: GPL-2.0-only
//! Reads rules.

use crate::{LONGEST_PATH, LONGEST_PATTERN, MOST, Policy, Rule};
use std::fmt;

const MATCHES: [&str; 5] = ["comm", "cgroup", "pid", "nice", "policy"];
const SETTINGS: [&str; 2] = ["uclamp_min", "uclamp_max"];

/// Longest file of rules, bytes.
const LONGEST_FILE: usize = 1 << 20;

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}, column {column}: found {found}, expected {expected}", Whence(.whence, .line))]
pub struct Error {
    /// The option or the file.
    pub whence: String,
    /// Line of a file, from 1.
    pub line: Option<usize>,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What stands there.
    pub found: Found,
    /// What should.
    pub expected: String,
}

struct Whence<'a>(&'a str, &'a Option<usize>);

impl fmt::Display for Whence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(line) => write!(f, "{}:{line}", self.0),
            None => f.write_str(self.0),
        }
    }
}

/// What stands where something else should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A text.
    Text(String),
    /// The end.
    End,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What cannot be printed must not reach a terminal.
            Found::Text(text) => write!(f, "'{}'", text.escape_debug()),
            Found::End => f.write_str("the end"),
        }
    }
}

/// A word of a rule: `KEY=VALUE`.
struct Word<'a> {
    column: usize,
    text: &'a str,
}

struct Place<'a> {
    whence: &'a str,
    line: Option<usize>,
    end: usize,
}

impl Place<'_> {
    fn at(&self, column: usize, found: &str, expected: impl Into<String>) -> Error {
        let found: String = found.chars().take(60).collect();
        Error {
            whence: self.whence.escape_debug().to_string(),
            line: self.line,
            column,
            found: Found::Text(found),
            expected: expected.into(),
        }
    }

    fn end(&self, expected: &str) -> Error {
        Error {
            found: Found::End,
            ..self.at(self.end, "", expected)
        }
    }
}

/// The words of a text, up to a `#` that begins one.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut column = 1;
    for text in text.split_inclusive(char::is_whitespace) {
        let word = text.trim();
        if word.starts_with('#') {
            break;
        }
        if !word.is_empty() {
            words.push(Word { column, text: word });
        }
        column += text.chars().count();
    }
    words
}

/// Reads the text of a file of rules, one a line. Empty lines and comments (`#` to the end of the line)
/// are skipped. `name` is the file's name in errors.
///
/// # Errors
/// A line is no rule. The error has line and column.
pub fn parse_file(name: &str, text: &str) -> Result<Vec<Rule>, Error> {
    let mut rules = Vec::new();
    let place = |line, end| Place {
        whence: name,
        line: Some(line),
        end,
    };
    if text.len() > LONGEST_FILE {
        let found = format!("{} bytes", text.len());
        let expected = format!("at most {LONGEST_FILE} bytes");
        return Err(place(1, 1).at(1, &found, expected));
    }
    for (number, line) in (1..).zip(text.lines()) {
        let Some(first) = words(line).into_iter().next() else {
            continue;
        };
        if rules.len() == MOST {
            let expected = format!("at most {MOST} rules");
            return Err(place(number, 1).at(first.column, line.trim(), expected));
        }
        rules.push(rule(line, name, Some(number))?);
    }
    Ok(rules)
}

/// The rule of a text, of this option or file and line.
pub(crate) fn rule(text: &str, whence: &str, line: Option<usize>) -> Result<Rule, Error> {
    let place = Place {
        whence,
        line,
        end: text.chars().count() + 1,
    };
    let mut rule = Rule::default();
    let mut known: Vec<&str> = Vec::new();
    for word in words(text) {
        let (key, value) = word.text.split_once('=').unwrap_or((word.text, ""));
        if !MATCHES.contains(&key) && !SETTINGS.contains(&key) {
            return Err(place.at(word.column, key, keys(key)));
        }
        if known.contains(&key) {
            return Err(place.at(word.column, word.text, format!("{key}= once")));
        }
        known.push(key);
        let value = Word {
            column: word.column + (word.text.chars().count() - value.chars().count()),
            text: value,
        };
        set(&mut rule, key, &value).map_err(|expected| match value.text {
            "" => place.at(word.column, word.text, format!("{key}= and {expected}")),
            found => place.at(value.column, found, expected),
        })?;
    }
    if !MATCHES.iter().any(|key| known.contains(key)) {
        return Err(place.end("a match: comm=, cgroup=, pid=, nice= or policy= (comm=* for all)"));
    }
    if !SETTINGS.iter().any(|key| known.contains(key)) {
        return Err(place.end("a setting: uclamp_min= or uclamp_max="));
    }
    if let (Some(min), Some(max)) = (rule.uclamp_min, rule.uclamp_max)
        && min > max
    {
        return Err(place.at(1, text.trim(), "uclamp_min not above uclamp_max"));
    }
    Ok(rule)
}

/// What a word may begin with.
fn keys(given: &str) -> String {
    let all = MATCHES.iter().chain(&SETTINGS);
    let near = all
        .map(|key| (strsim::jaro_winkler(given, key), key))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.7)
        .map_or(String::new(), |(_, key)| {
            format!("; did you mean '{key}='?")
        });
    format!(
        "a match (comm=, cgroup=, pid=, nice=, policy=) or a setting (uclamp_min=, uclamp_max=){near}"
    )
}

/// Gives a rule a match or a setting; the error says what was expected.
fn set(rule: &mut Rule, key: &str, value: &Word<'_>) -> Result<(), String> {
    let text = value.text;
    match key {
        "comm" => rule.comm = Some(pattern(text, LONGEST_PATTERN)?),
        "cgroup" => {
            if !text.starts_with(['/', '*', '?']) {
                return Err("a path that begins with /, such as /system.slice/*".into());
            }
            rule.cgroup = Some(pattern(text, LONGEST_PATH)?);
        }
        "pid" => {
            let pid = text.parse().ok().filter(|pid| (1..=1 << 22).contains(pid));
            rule.pid = Some(pid.ok_or("a thread's or process's number, 1 to 4194304")?);
        }
        "nice" => {
            rule.nice =
                Some(nice(text).ok_or("a nice value, -20 to 19, or a range such as -20..-1")?)
        }
        "policy" => {
            rule.policy = Some(match text {
                "normal" | "other" => Policy::Normal,
                "batch" => Policy::Batch,
                "idle" => Policy::Idle,
                _ => return Err("normal, batch or idle".into()),
            });
        }
        "uclamp_min" => rule.uclamp_min = Some(percent(text)?),
        _ => rule.uclamp_max = Some(percent(text)?),
    }
    Ok(())
}

fn pattern(text: &str, longest: usize) -> Result<Vec<u8>, String> {
    if text.is_empty() || text.len() > longest || text.contains('\0') {
        return Err(format!(
            "a name of 1 to {longest} bytes; * matches any characters and ? one, a space too"
        ));
    }
    Ok(text.into())
}

fn nice(text: &str) -> Option<(i8, i8)> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.parse().ok().filter(|n: &i8| (-20..=19).contains(n));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

/// Percent with two digits after the point at most, in 1/1024: as the kernel reads
/// cpu.uclamp.min (`capacity_from_percent`).
fn percent(text: &str) -> Result<u16, String> {
    let expected = || "percent, 0 to 100, such as 60 or 12.5, or max".to_owned();
    if text == "max" {
        return Ok(1024);
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !digits(whole, 3) || !digits(part, 2) {
        return Err(expected());
    }
    let number = |text: &str| text.parse::<u32>().map_err(|_| expected());
    let tens = if part.len() == 1 { 10 } else { 1 };
    let hundredths = number(whole)? * 100 + number(part)? * tens;
    if hundredths > 10_000 {
        return Err(expected());
    }
    Ok(((hundredths * 1024 + 5000) / 10_000) as u16)
}

#[cfg(test)]
mod tests;
