// SPDX-License-Identifier: GPL-2.0-only
//! Numbers that were asked for by name, or by a pattern: `*` is any characters, `?` is one, `[ab]` one
//! of these.

use alight_sim::Outcome;
use glob::Pattern;

use crate::metrics::all_names;

/// Names and patterns of metrics; none: all metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection(Vec<Pattern>);

/// A name that no number has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--metric '{given}': this run has no such number; {hint}")]
pub struct Unknown {
    given: String,
    hint: String,
}

impl Unknown {
    /// The same of a name that stood elsewhere than behind `--metric`.
    pub fn words(&self) -> String {
        let Unknown { given, hint } = self;
        format!("'{given}': this run has no such number; {hint}")
    }
}

impl Selection {
    /// Of names or patterns as they are typed.
    ///
    /// # Errors
    /// What is no pattern, with its reason.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let pattern = |text| {
            Pattern::new(text)
                .map_err(|error| format!("--metric '{text}': {}", mistake(text, error.pos)))
        };
        let patterns = texts.into_iter().map(pattern);
        Ok(Selection(patterns.collect::<Result<_, _>>()?))
    }

    /// Whether it was asked for all, by naming none.
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the number of this name is asked for.
    pub fn has(&self, name: &str) -> bool {
        self.is_all() || self.0.iter().any(|pattern| pattern.matches(name))
    }

    /// Looks whether each name and pattern fits a number of the run, of which it may have none this
    /// time.
    ///
    /// # Errors
    /// One that fits none, with the nearest names.
    pub fn check(&self, outcome: &Outcome) -> Result<(), Unknown> {
        self.check_names(&all_names(outcome))
    }

    /// As [`Selection::check`], of these names.
    ///
    /// # Errors
    /// As there.
    pub fn check_names(&self, names: &[String]) -> Result<(), Unknown> {
        let fits = |pattern: &&Pattern| names.iter().any(|name| pattern.matches(name));
        match self.0.iter().find(|pattern| !fits(pattern)) {
            None => Ok(()),
            Some(pattern) => Err(Unknown {
                given: pattern.as_str().to_owned(),
                hint: hint(pattern.as_str(), names),
            }),
        }
    }
}

/// What is wrong with a pattern, by the place that the library names: it knows sets and `**`.
fn mistake(text: &str, at: usize) -> &'static str {
    let before: String = text.chars().take(at).collect();
    match text.chars().nth(at) == Some('[') && !before.ends_with("**") {
        true => "the set after `[` is empty or not closed; write it as in `[ab]`",
        false => "`**` is not a pattern here; write one `*`, which matches any characters",
    }
}

/// The nearest names, those that begin alike first.
fn hint(given: &str, names: &[String]) -> String {
    /// Names to offer.
    const OFFERED: usize = 6;
    let plain = given.replace(['*', '?', '[', ']'], "");
    let likeness = |name: &str| {
        let contains = !plain.is_empty() && name.contains(&plain);
        (contains, strsim::jaro_winkler(&plain, name))
    };
    let mut nearest: Vec<&str> = names.iter().map(String::as_str).collect();
    nearest.sort_by(|a, b| {
        let ((has_a, like_a), (has_b, like_b)) = (likeness(a), likeness(b));
        has_b.cmp(&has_a).then(like_b.total_cmp(&like_a))
    });
    nearest.truncate(OFFERED);
    format!("the nearest: {}; --full shows all", nearest.join(", "))
}

#[cfg(test)]
mod tests;
