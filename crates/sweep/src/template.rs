// SPDX-License-Identifier: GPL-2.0-only
//! A scheduler some of whose tunables are ranges: `linux-6.5+bias-prev:spare=0..512 step 64`.
//!
//! The grammar is that of scheduler names, but for the values of tunables: `FROM..TO step STEP` is
//! a range, and `A|B|C` a list.

use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;

use crate::levels::{Levels, Scale, tried};

/// A tunable with the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunable {
    /// `FEATURE:TUNABLE`.
    pub name: String,
    /// Its values.
    pub levels: Levels,
}

/// A scheduler with tunables that vary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// As in reports: with `*` for each value that varies.
    pub name: String,
    /// The tunables that vary.
    pub tunables: Vec<Tunable>,
    /// The text around their values: one piece more than there are.
    pieces: Vec<String>,
    /// The scheduler that it is added to, if it has no base of its own.
    onto: Option<Scheduler>,
}

impl Template {
    /// Reads a scheduler of a sweep. Without a base of its own it is added to `onto`, else to the
    /// newest base.
    ///
    /// # Errors
    /// Ranges that are none; names and values that no scheduler has, at either end of each range.
    pub fn parse(text: &str, onto: Option<&Scheduler>) -> Result<Self, String> {
        let mut pieces = vec![String::new()];
        let mut tunables: Vec<Tunable> = vec![];
        let mut feature = "";
        for (index, part) in text.split('+').enumerate() {
            if index > 0 {
                pieces.last_mut().expect("one").push('+');
            }
            for (index, word) in part.split(':').enumerate() {
                let (key, value) = match word.split_once('=') {
                    Some((key, value)) => (key, Some(value)),
                    None => (word, None),
                };
                if index == 0 {
                    feature = key.trim();
                } else {
                    pieces.last_mut().expect("one").push(':');
                }
                pieces.last_mut().expect("one").push_str(key.trim());
                let Some(value) = value else { continue };
                pieces.last_mut().expect("one").push('=');
                let Some(levels) = levels_of(value)? else {
                    pieces.last_mut().expect("one").push_str(value.trim());
                    continue;
                };
                let name = match index {
                    0 => feature.to_owned(),
                    _ => format!("{feature}:{}", key.trim()),
                };
                if tunables.iter().any(|other| other.name == name) {
                    return Err(format!("`{text}` names the tunable `{name}` twice"));
                }
                tunables.push(Tunable { name, levels });
                pieces.push(String::new());
            }
        }
        let template = Template {
            name: String::new(),
            tunables,
            pieces,
            onto: onto.cloned(),
        };
        template.checked()
    }

    /// Tries both ends of each range and each item of a list, and how they go together.
    fn checked(mut self) -> Result<Self, String> {
        const MOST_TRIED: usize = 4096;
        let first = self.scheduler(&vec![0; self.tunables.len()])?;
        let all: Vec<&Levels> = self
            .tunables
            .iter()
            .map(|tunable| &tunable.levels)
            .collect();
        // Each alone first: then a message names the end of a range.
        for levels in tried(&all, 0).into_iter().chain(tried(&all, MOST_TRIED)) {
            self.scheduler(&levels)?;
        }
        let starred = self.typed(|_| "*".to_owned());
        self.name = match (self.tunables.is_empty(), &self.onto) {
            (true, _) => first.name,
            (false, Some(onto)) if !names_base(&starred) => {
                format!("{}+{}", onto.name, starred.trim_start_matches('+'))
            }
            (false, _) => starred,
        };
        Ok(self)
    }

    /// The scheduler in which tunable `i` has its value number `levels[i]`.
    ///
    /// # Errors
    /// What no scheduler is, with its name.
    pub fn scheduler(&self, levels: &[u64]) -> Result<Scheduler, String> {
        let text = self.typed(|index| self.tunables[index].levels.text(levels[index]));
        let onto = self.onto.as_ref().map_or(Onto::Newest, Onto::First);
        Scheduler::choose([text.as_str()], onto).map_err(|error| error.to_string())
    }

    fn typed(&self, value: impl Fn(usize) -> String) -> String {
        let mut text = self.pieces[0].clone();
        for (index, piece) in self.pieces[1..].iter().enumerate() {
            text.push_str(&value(index));
            text.push_str(piece);
        }
        text
    }
}

fn names_base(text: &str) -> bool {
    let mut parts = text.split('+');
    parts.any(|part| part.trim().starts_with("linux-"))
}

/// The values of a range or a list; `None`: it is one value.
fn levels_of(value: &str) -> Result<Option<Levels>, String> {
    if value.contains("..") {
        return Levels::range(value.trim(), Scale::Whole).map(Some);
    }
    if value.contains('|') {
        let items: Vec<&str> = value.split('|').collect();
        return Levels::list(&items, Scale::Whole)
            .map(Some)
            .map_err(|error| format!("`{}`: {error}", value.trim()));
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
