// SPDX-License-Identifier: GPL-2.0-only
//! Option parsing as `getopt_long(3)` of the GNU C library does it: clusters of short options,
//! attached and detached values, unambiguous abbreviations of long options.

use crate::diagnostic::{Place, Refusal, nearest};

/// Highest CPU number that an affinity may name.
pub(super) const MAX_CPU: i64 = 8191;

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// None.
    No,
    /// Always: attached, or the next word.
    Required,
    /// Only if attached (`-e5`, `--event=5`).
    Optional,
}

/// One option of a tool. Either spelling may be absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec<T> {
    pub short: Option<char>,
    pub long: Option<&'static str>,
    pub value: Value,
    pub id: T,
}

/// A word of the command line and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub place: Place,
}

/// An option as found.
#[derive(Debug, Clone)]
pub(super) struct Found<T> {
    pub id: T,
    /// As typed, with its dashes: for messages.
    pub spelling: String,
    pub value: Option<String>,
    pub place: Place,
    /// The word after the option, if that is not an option: some tools look at it by themselves.
    pub following: Option<Word>,
}

/// The options in order, and the words that are none.
#[derive(Debug)]
pub(super) struct Parsed<T> {
    pub options: Vec<Found<T>>,
    pub operands: Vec<Word>,
}

/// Parses the words behind the command's name.
pub(super) fn parse<T: Copy>(
    tool: &str,
    specs: &[Spec<T>],
    words: &[Word],
) -> Result<Parsed<T>, Refusal> {
    let mut reader = Reader::new(tool, specs, words);
    reader.read_all()?;
    Ok(reader.parsed)
}

/// The same up to the first word that is no option (`getopt_long(3)` with `+`): what stands there and
/// behind it are the operands, which may have options of their own.
pub(super) fn parse_leading<T: Copy>(
    tool: &str,
    specs: &[Spec<T>],
    words: &[Word],
) -> Result<Parsed<T>, Refusal> {
    let mut reader = Reader {
        leading: true,
        ..Reader::new(tool, specs, words)
    };
    reader.read_all()?;
    Ok(reader.parsed)
}

struct Reader<'a, T> {
    tool: &'a str,
    specs: &'a [Spec<T>],
    words: &'a [Word],
    next: usize,
    /// The first operand ends the options.
    leading: bool,
    parsed: Parsed<T>,
}

impl<'a, T: Copy> Reader<'a, T> {
    fn new(tool: &'a str, specs: &'a [Spec<T>], words: &'a [Word]) -> Self {
        Reader {
            tool,
            specs,
            words,
            next: 0,
            leading: false,
            parsed: Parsed {
                options: Vec::new(),
                operands: Vec::new(),
            },
        }
    }

    fn read_all(&mut self) -> Result<(), Refusal> {
        while let Some(word) = self.words.get(self.next) {
            self.next += 1;
            if word.text == "--" {
                self.parsed
                    .operands
                    .extend_from_slice(&self.words[self.next..]);
                return Ok(());
            }
            if let Some(long) = word.text.strip_prefix("--") {
                self.read_long(word, long)?;
            } else if word.text.len() > 1 && word.text.starts_with('-') {
                self.read_cluster(word, &word.text[1..])?;
            } else if self.leading {
                self.parsed
                    .operands
                    .extend_from_slice(&self.words[self.next - 1..]);
                return Ok(());
            } else {
                self.parsed.operands.push(word.clone());
            }
        }
        Ok(())
    }

    fn read_long(&mut self, word: &Word, text: &str) -> Result<(), Refusal> {
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let spec = self.find_long(word, name)?;
        let spelling = format!("--{}", spec.long.unwrap_or(name));
        let value = match (spec.value, attached) {
            (Value::No, Some(value)) => {
                return Err(Refusal::new(
                    word.place,
                    format!("{spelling} takes no value, found `{value}`; leave `={value}` out"),
                ));
            }
            (Value::Required, None) => Some(self.take_next_word(word, &spelling)?),
            (_, attached) => attached,
        };
        self.push(spec.id, spelling, value, word.place);
        Ok(())
    }

    fn find_long(&self, word: &Word, name: &str) -> Result<Spec<T>, Refusal> {
        let of_long = |wanted: &dyn Fn(&str) -> bool| -> Vec<Spec<T>> {
            let matching = self.specs.iter().filter(|s| s.long.is_some_and(wanted));
            matching.copied().collect()
        };
        if let [exact, ..] = of_long(&|long| long == name)[..] {
            return Ok(exact);
        }
        match &of_long(&|long| !name.is_empty() && long.starts_with(name))[..] {
            [only] => Ok(*only),
            [] => Err(self.unknown(word.place, &format!("--{name}"))),
            several => {
                let longs = several.iter().filter_map(|s| s.long);
                let meant: Vec<String> = longs.map(|l| format!("`--{l}`")).collect();
                Err(Refusal::new(
                    word.place,
                    format!(
                        "`--{name}` is short for more than one option; write one of {}",
                        meant.join(", ")
                    ),
                ))
            }
        }
    }

    fn read_cluster(&mut self, word: &Word, letters: &str) -> Result<(), Refusal> {
        for (at, letter) in letters.char_indices() {
            let spelling = format!("-{letter}");
            let Some(spec) = self.specs.iter().find(|s| s.short == Some(letter)).copied() else {
                return Err(self.unknown(word.place, &spelling));
            };
            let rest = &letters[at + letter.len_utf8()..];
            let value = match spec.value {
                Value::No => None,
                Value::Required if rest.is_empty() => Some(self.take_next_word(word, &spelling)?),
                Value::Optional if rest.is_empty() => None,
                Value::Required | Value::Optional => Some(rest.to_owned()),
            };
            self.push(spec.id, spelling, value, word.place);
            if spec.value != Value::No {
                break;
            }
        }
        Ok(())
    }

    fn take_next_word(&mut self, word: &Word, spelling: &str) -> Result<String, Refusal> {
        let Some(value) = self.words.get(self.next) else {
            return Err(Refusal::new(
                word.place,
                format!("{spelling} needs a value, but the line ends here; add the value"),
            ));
        };
        self.next += 1;
        Ok(value.text.clone())
    }

    fn push(&mut self, id: T, spelling: String, value: Option<String>, place: Place) {
        let following = self.words.get(self.next);
        self.parsed.options.push(Found {
            id,
            spelling,
            value,
            place,
            following: following.filter(|w| !w.text.starts_with('-')).cloned(),
        });
    }

    fn unknown(&self, place: Place, found: &str) -> Refusal {
        let spellings: Vec<String> = self
            .specs
            .iter()
            .flat_map(|s| {
                let short = s.short.map(|c| format!("-{c}"));
                short.into_iter().chain(s.long.map(|l| format!("--{l}")))
            })
            .collect();
        let valid = spellings.iter().map(String::as_str);
        Refusal::new(
            place,
            format!(
                "{} has no option `{found}`; the nearest: {}",
                self.tool,
                nearest(found, valid)
            ),
        )
    }
}

/// Reads a whole decimal number between `least` and `most`.
pub(super) fn number(
    place: Place,
    spelling: &str,
    text: &str,
    least: i64,
    most: i64,
) -> Result<i64, Refusal> {
    let refuse = |what: &str| {
        Refusal::new(
            place,
            format!(
                "{spelling} is `{text}`, {what}; expected a whole number from {least} to {most}"
            ),
        )
    };
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refuse("which is not a whole number"));
    }
    match text.parse::<i64>() {
        Ok(n) if n < least => Err(refuse("which is too small")),
        Ok(n) if n <= most => Ok(n),
        _ => Err(refuse("which is too large")),
    }
}

/// A list such as `0-3,8`, in rising order.
pub(super) fn cpu_list<T>(found: &Found<T>, list: &str) -> Result<Vec<u32>, Refusal> {
    let cpu = |text: &str| number(found.place, &found.spelling, text, 0, MAX_CPU);
    let mut cpus = Vec::new();
    for part in list.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (cpu(first)?, cpu(last)?),
            None => (cpu(part)?, cpu(part)?),
        };
        if first > last {
            return Err(Refusal::new(
                found.place,
                format!(
                    "{} has the range `{part}`, which runs backwards; write {last}-{first}",
                    found.spelling
                ),
            ));
        }
        cpus.extend((first..=last).map(|cpu| cpu as u32));
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests;
