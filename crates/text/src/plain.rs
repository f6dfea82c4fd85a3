// SPDX-License-Identifier: GPL-2.0-only
//! Text of others, as names in their files and words of a command line are. A terminal obeys control
//! characters: it moves, colours, answers, or shows something else than what is there.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal, or a reader's eye, is led astray by `c`: control characters (ESC, CR, BEL, DEL,
/// C1) but line feed and tab, marks that change the direction of text, line and paragraph separators,
/// and the byte order mark, which nobody sees.
pub fn does_harm(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        _ => c.is_control(),
    }
}

/// A text of lines in which each character that [`does_harm`] is written as `\u001b`: what JSON has
/// for it, so that a document of JSON keeps its meaning.
pub fn harmless(text: &str) -> Cow<'_, str> {
    written(text, does_harm)
}

/// The same as one line: line feeds and tabs are written out, too.
pub fn line(text: &str) -> Cow<'_, str> {
    written(text, |c| does_harm(c) || matches!(c, '\n' | '\t'))
}

fn written(text: &str, out: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&out) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match out(c) {
            true => write!(plain, "\\u{:04x}", u32::from(c)).expect("a string takes all"),
            false => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests;
