// SPDX-License-Identifier: GPL-2.0-only
//! JSON as json-c 0.16 reads it, which is what rt-app files are written in: comments, trailing commas,
//! single quotes, leading zeros, any case of `true` and `null`. Keeps order, duplicates and places.

use crate::diagnostic::{Place, Refusal};
use crate::load::Mode;

/// Depth of objects and arrays that hold something (`JSON_TOKENER_DEFAULT_DEPTH` less one).
const MAX_DEPTH: usize = 31;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub place: Place,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// A whole number; those beyond 64 bits are clamped, as json-c does.
    Int(i64),
    /// A number with a point or an exponent, not a number, or infinite; as written.
    Float(String),
    String(String),
    Array(Vec<Value>),
    Object(Vec<Member>),
    /// The value of a key that stands alone, as in `"suspend",`.
    Missing,
}

impl Kind {
    /// What a message calls it.
    pub fn describe(&self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Int(_) => "a whole number",
            Kind::Float(_) => "a number with a fraction or an exponent",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
            Kind::Missing => "nothing",
        }
    }
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub key: String,
    pub place: Place,
    pub value: Value,
}

/// A parsed text.
#[derive(Debug)]
pub(super) struct Document {
    pub root: Value,
    /// Where text begins behind the value that json-c does not look at.
    pub ignored_from: Option<Place>,
}

/// Parses a text. A key without a value is taken in [`Mode::Workgen`] if it is `suspend`.
pub(super) fn parse(text: &str, mode: Mode) -> Result<Document, Refusal> {
    let mut parser = Parser {
        rest: text,
        place: Place { line: 1, column: 1 },
        depth: 0,
        mode,
    };
    parser.skip_space()?;
    let root = parser.value()?;
    parser.skip_space()?;
    let ignored_from = (!parser.rest.is_empty()).then_some(parser.place);
    Ok(Document { root, ignored_from })
}

struct Parser<'a> {
    rest: &'a str,
    place: Place,
    depth: usize,
    mode: Mode,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    fn refuse<T>(&self, message: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal::new(self.place, message))
    }

    /// What stands here, for a message.
    fn found(&self) -> String {
        match self.peek() {
            None => "the end of the text".to_owned(),
            Some(c) if c.is_control() => format!("the control character {:#04x}", c as u32),
            Some(c) => format!("`{c}`"),
        }
    }

    fn skip_space(&mut self) -> Result<(), Refusal> {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\n' | '\r') => {
                    self.advance();
                }
                Some('/') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Refusal> {
        let start = self.place;
        self.advance();
        match self.advance() {
            Some('/') => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.advance();
                }
                if self.peek().is_none() && self.mode == Mode::Rtapp {
                    return Err(Refusal::new(
                        start,
                        "the file ends within the comment; end its line",
                    ));
                }
                Ok(())
            }
            Some('*') => {
                let Some(length) = self.comment_length() else {
                    return Err(Refusal::new(
                        start,
                        "the comment is not closed; close it with `*/`; json-c needs an even \
                         number of `*` before that, or none",
                    ));
                };
                let end = self.rest.len() - length;
                while self.rest.len() > end {
                    self.advance();
                }
                Ok(())
            }
            _ => Err(Refusal::new(
                start,
                "found `/`, expected a comment; write `// …` or `/* … */`",
            )),
        }
    }

    /// Length of the rest of a block comment, its end included. json-c does not look at the character
    /// behind a `*` a second time, and so overlooks the end of `/* **/`.
    fn comment_length(&self) -> Option<usize> {
        if self.mode == Mode::Workgen {
            return self.rest.find("*/").map(|at| at + 2);
        }
        let mut from = 0;
        loop {
            let behind_star = from + self.rest[from..].find('*')? + 1;
            let next = self.rest[behind_star..].chars().next()?;
            from = behind_star + next.len_utf8();
            if next == '/' {
                return Some(from);
            }
        }
    }

    fn value(&mut self) -> Result<Value, Refusal> {
        let place = self.place;
        let kind = match self.peek() {
            Some('{') => self.nested(Self::object)?,
            Some('[') => self.nested(Self::array)?,
            Some(quote @ ('"' | '\'')) => Kind::String(self.string(quote)?),
            Some('-' | '0'..='9') => self.number()?,
            Some('t' | 'T') => self.word("true", Kind::Bool(true))?,
            Some('f' | 'F') => self.word("false", Kind::Bool(false))?,
            Some('i' | 'I') => self.word("Infinity", Kind::Float("Infinity".to_owned()))?,
            Some('n' | 'N') if self.rest.as_bytes().get(1).is_some_and(|b| b | 32 == b'a') => {
                self.word("NaN", Kind::Float("NaN".to_owned()))?
            }
            Some('n' | 'N') => self.word("null", Kind::Null)?,
            Some('#') => {
                return self.refuse("found `#`; comments are written `// …` or `/* … */`");
            }
            _ => {
                let found = self.found();
                return self.refuse(format!(
                    "found {found}, expected a value: a whole number, a \"string\", true, false, an [array] or an {{object}}"
                ));
            }
        };
        Ok(Value { place, kind })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Kind, Refusal>) -> Result<Kind, Refusal> {
        self.depth += 1;
        self.advance();
        let kind = inner(self);
        self.depth -= 1;
        kind
    }

    fn refuse_too_deep(&self) -> Result<(), Refusal> {
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        self.refuse(format!(
            "objects and arrays are nested deeper than {MAX_DEPTH}; flatten them"
        ))
    }

    fn array(&mut self) -> Result<Kind, Refusal> {
        let mut items = Vec::new();
        loop {
            self.skip_space()?;
            if self.peek() == Some(']') {
                self.advance();
                return Ok(Kind::Array(items));
            }
            self.refuse_too_deep()?;
            items.push(self.value()?);
            self.skip_space()?;
            match self.peek() {
                Some(',') => {
                    self.advance();
                }
                Some(']') => {}
                _ => {
                    let found = self.found();
                    return self.refuse(format!(
                        "found {found}, expected `,` or `]`; separate the values of an array with commas"
                    ));
                }
            }
        }
    }

    fn object(&mut self) -> Result<Kind, Refusal> {
        let mut members = Vec::new();
        loop {
            self.skip_space()?;
            if self.peek() == Some('}') {
                self.advance();
                return Ok(Kind::Object(members));
            }
            self.refuse_too_deep()?;
            members.push(self.member()?);
            self.skip_space()?;
            match self.peek() {
                Some(',') => {
                    self.advance();
                }
                Some('}') => {}
                _ => {
                    let found = self.found();
                    return self.refuse(format!(
                        "found {found}, expected `,` or `}}`; separate the members of an object with commas"
                    ));
                }
            }
        }
    }

    fn member(&mut self) -> Result<Member, Refusal> {
        let place = self.place;
        let key = match self.peek() {
            Some(quote @ ('"' | '\'')) => self.string(quote)?,
            Some('#') => {
                return self.refuse("found `#`; comments are written `// …` or `/* … */`");
            }
            _ => {
                let found = self.found();
                return self.refuse(format!(
                    "found {found}, expected a key in quotes or `}}`; write keys as \"key\""
                ));
            }
        };
        self.skip_space()?;
        match self.peek() {
            Some(':') => {
                self.advance();
            }
            Some(',' | '}') if self.mode == Mode::Workgen && key == "suspend" => {
                let kind = Kind::Missing;
                let value = Value { place, kind };
                return Ok(Member { key, place, value });
            }
            _ => {
                let found = self.found();
                return self.refuse(format!(
                    "found {found}, expected `:`; write the value of the key `{key}` after a colon"
                ));
            }
        }
        self.skip_space()?;
        let value = self.value()?;
        Ok(Member { key, place, value })
    }

    /// A literal in any case.
    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, Refusal> {
        let length = word.len();
        let written = self.rest.get(..length).unwrap_or_default();
        if !written.eq_ignore_ascii_case(word) {
            return self.refuse(format!(
                "found a word that begins like `{word}`; write `{word}`, or put strings in quotes"
            ));
        }
        for _ in 0..length {
            self.advance();
        }
        Ok(kind)
    }

    fn number(&mut self) -> Result<Kind, Refusal> {
        let start = self.place;
        let text = self.rest;
        self.advance();
        if text.starts_with('-') && matches!(self.peek(), Some('i' | 'I')) {
            return self.word("Infinity", Kind::Float("-Infinity".to_owned()));
        }
        let is_float = self.skip_number();
        let written = &text[..text.len() - self.rest.len()];
        let ends_well = matches!(
            self.peek(),
            Some(',' | ']' | '}' | '/' | ' ' | '\t' | '\n' | '\r')
        );
        if !ends_well && self.depth > 0 {
            let found = self.found();
            return Err(Refusal::new(
                start,
                format!(
                    "found {found} within a number; write whole decimal numbers, without units"
                ),
            ));
        }
        let number = match is_float {
            true => float(written),
            false => whole_number(written).map(Kind::Int),
        };
        match number {
            Some(number) => Ok(number),
            None => Err(Refusal::new(
                start,
                format!("`{written}` is no number; write a whole decimal number"),
            )),
        }
    }

    /// Skips what can belong to a number, behind its first character. Answers whether it is a float.
    fn skip_number(&mut self) -> bool {
        let (mut has_point, mut has_exponent, mut sign_fits) = (false, false, false);
        while let Some(c) = self.peek() {
            let sign_fits_next = match c {
                '0'..='9' => false,
                '-' | '+' if sign_fits => false,
                '.' if !has_point && !has_exponent => {
                    has_point = true;
                    true
                }
                'e' | 'E' if !has_exponent => {
                    has_exponent = true;
                    true
                }
                _ => break,
            };
            sign_fits = sign_fits_next;
            self.advance();
        }
        has_point || has_exponent
    }

    fn string(&mut self, quote: char) -> Result<String, Refusal> {
        let start = self.place;
        self.advance();
        let mut text = String::new();
        loop {
            let escape_at = self.place;
            match self.advance() {
                None => {
                    return Err(Refusal::new(
                        start,
                        format!("the string is not closed; close it with {quote}"),
                    ));
                }
                Some(c) if c == quote => return Ok(text),
                Some('\\') => self.escape(escape_at, &mut text)?,
                Some(c) => text.push(c),
            }
        }
    }

    /// Appends the character of an escape sequence whose backslash is behind.
    fn escape(&mut self, at: Place, text: &mut String) -> Result<(), Refusal> {
        text.push(match self.advance() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode_escape(at, text),
            _ => {
                return Err(Refusal::new(
                    at,
                    "the escape sequence is unknown; the valid ones: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                ));
            }
        });
        Ok(())
    }

    /// Half of a surrogate pair alone becomes the replacement character.
    fn unicode_escape(&mut self, at: Place, text: &mut String) -> Result<(), Refusal> {
        let mut code = self.four_hex_digits(at)?;
        while (0xd800..0xdc00).contains(&code) && self.rest.starts_with("\\u") {
            self.advance();
            self.advance();
            let second = self.four_hex_digits(at)?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x10000 + ((code & 0x3ff) << 10) + (second & 0x3ff);
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
                code = second;
            }
        }
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn four_hex_digits(&mut self, at: Place) -> Result<u32, Refusal> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                return Err(Refusal::new(
                    at,
                    "\\u needs four hexadecimal digits, as in \\u00e9",
                ));
            };
            self.advance();
            code = code * 16 + digit;
        }
        Ok(code)
    }
}

/// An unfinished exponent is dropped. `None` if it is no number.
fn float(written: &str) -> Option<Kind> {
    let trimmed = written.trim_end_matches(['e', 'E', '-', '+']);
    let is_number = trimmed.parse::<f64>().is_ok();
    is_number.then(|| Kind::Float(trimmed.to_owned()))
}

/// Clamps to 64 bits. `None` if there are no digits.
fn whole_number(written: &str) -> Option<i64> {
    let digits = written.strip_prefix('-').unwrap_or(written);
    if digits.is_empty() {
        return None;
    }
    let clamped = match written.starts_with('-') {
        true => i64::MIN,
        false => i64::MAX,
    };
    Some(written.parse().unwrap_or(clamped))
}

#[cfg(test)]
mod tests;
