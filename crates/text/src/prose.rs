// SPDX-License-Identifier: GPL-2.0-only
//! Prose of Markdown in lines of a length that people read.

/// Characters of a line.
const WIDTH: usize = 100;

/// A paragraph in lines of at most 100 characters, broken at spaces; each ends in a newline.
pub fn paragraph(text: &str) -> String {
    lines(text, "", "")
}

/// An item of a list, wrapped like a paragraph.
pub fn item(text: &str) -> String {
    lines(text, "- ", "  ")
}

fn lines(text: &str, first: &str, next: &str) -> String {
    let mut prose = first.to_owned();
    let (mut width, mut empty) = (first.chars().count(), true);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if empty {
            width += length;
        } else if width + 1 + length <= WIDTH || begins_something(word) {
            prose.push(' ');
            width += 1 + length;
        } else {
            prose.push('\n');
            prose.push_str(next);
            width = next.chars().count() + length;
        }
        prose.push_str(word);
        empty = false;
    }
    prose.push('\n');
    prose
}

/// A word that makes a list, a heading, a table or a quotation of the line that it begins.
fn begins_something(word: &str) -> bool {
    let number = word.trim_end_matches(['.', ')']);
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    matches!(word, "-" | "+" | "*" | "=" | "|")
        || word.starts_with(['#', '>'])
        || (number.len() < word.len() && is_number(number))
}

#[cfg(test)]
mod tests;
