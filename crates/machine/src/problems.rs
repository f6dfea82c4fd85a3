// SPDX-License-Identifier: GPL-2.0-only
//! What is wrong with a machine file, put together: keys that one section lacks make one
//! line, and so do figures without a source.

use crate::error::{Error, Place};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A key that must be there is not.
    Lacks {
        /// Where the section begins.
        place: Place,
        /// The section as messages call it.
        section: String,
        key: &'static str,
    },
    /// A figure says not where it comes from.
    NoSource {
        place: Place,
        /// Keys that lead to the figure.
        path: String,
    },
    /// Anything else.
    Wrong { place: Place, message: String },
}

/// Figures without a source that are named before the rest is counted.
const NAMED: usize = 4;

/// # Errors
/// All problems, in the order of the file; `Ok` without any.
pub(crate) fn verdict(problems: Vec<Problem>) -> Result<(), Error> {
    let mut lines: Vec<(Place, String)> = Vec::new();
    let mut lacking: Vec<(Place, String, Vec<&str>)> = Vec::new();
    let mut sourceless: Vec<(Place, String)> = Vec::new();
    for problem in problems {
        match problem {
            Problem::Wrong { place, message } => lines.push((place, message)),
            Problem::NoSource { place, path } => sourceless.push((place, path)),
            Problem::Lacks {
                place,
                section,
                key,
            } => match lacking.iter_mut().find(|(_, known, _)| *known == section) {
                Some((.., keys)) if keys.contains(&key) => {}
                Some((.., keys)) => keys.push(key),
                None => lacking.push((place, section, vec![key])),
            },
        }
    }
    lines.extend(lacking.into_iter().map(|(place, section, keys)| {
        let words = if keys.len() == 1 { "key" } else { "keys" };
        let message = format!("{section} lacks the {words} {}", quoted(&keys));
        (place, message)
    }));
    lines.extend(without_source(sourceless));
    lines.sort();
    lines.dedup();
    let mut errors: Vec<Error> = (lines.into_iter())
        .map(|(place, message)| Error::Written { place, message })
        .collect();
    match errors.len() {
        0 => Ok(()),
        1 => Err(errors.remove(0)),
        _ => Err(Error::Several(errors)),
    }
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// One line at the place of the first.
fn without_source(mut figures: Vec<(Place, String)>) -> Option<(Place, String)> {
    figures.sort();
    figures.dedup();
    let (place, _) = figures.first()?.clone();
    let paths: Vec<&str> = figures.iter().map(|(_, path)| path.as_str()).collect();
    let say = if paths.len() == 1 { "says" } else { "say" };
    let them = if paths.len() == 1 {
        "it or its section"
    } else {
        "them or their sections"
    };
    let comes = if paths.len() == 1 {
        "it comes"
    } else {
        "they come"
    };
    let names = match paths.len() {
        0..=NAMED => quoted(&paths),
        all => format!("{} and {} more", quoted(&paths[..NAMED]), all - NAMED),
    };
    let message = format!(
        "{names} {say} not where {comes} from: give {them} a `source` that is listed in [sources]"
    );
    Some((place, message))
}
