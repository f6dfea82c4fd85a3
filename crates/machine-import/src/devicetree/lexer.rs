// SPDX-License-Identifier: GPL-2.0-only
//! Characters of a device tree source, with lines, comments and marks of the preprocessor.

use std::path::Path;

use super::tree::At;
use crate::error::Error;

/// What the preprocessor takes away.
const UNPROCESSED: [&str; 9] = [
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif",
];

/// A place in a source.
pub(super) struct Cursor<'a> {
    path: &'a Path,
    rest: &'a str,
    pub at: At,
    /// Files that the preprocessor says the text is from; the first, without a name, is the source.
    pub files: Vec<String>,
    at_line_start: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Self {
            path,
            rest: text,
            at: At { file: 0, line: 1 },
            files: vec![String::new()],
            at_line_start: true,
        }
    }

    pub fn error(&self, message: impl Into<String>) -> Error {
        let message = message.into();
        let message = match self.files[self.at.file].as_str() {
            "" => message,
            file => format!("{message} (in {file})"),
        };
        Error::line(self.path, self.at.line, message)
    }

    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.at.line += 1;
            self.at_line_start = true;
        } else if !c.is_whitespace() {
            self.at_line_start = false;
        }
        Some(c)
    }

    /// Takes `text` if it stands here.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            text.chars().for_each(|_| {
                self.advance();
            });
        }
        found
    }

    /// Blanks, comments and marks of the preprocessor.
    pub fn space(&mut self) -> Result<(), Error> {
        loop {
            match self.peek() {
                Some(c) if c.is_whitespace() => {
                    self.advance();
                }
                Some('/') if self.starts_with("//") => self.skip_line(),
                Some('/') if self.starts_with("/*") => self.comment()?,
                Some('#') if self.at_line_start && !self.mark()? => return Ok(()),
                Some('#') if self.at_line_start => {}
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.advance();
        }
    }

    fn comment(&mut self) -> Result<(), Error> {
        let end = self.rest.get(2..).and_then(|rest| rest.find("*/"));
        let Some(end) = end else {
            return Err(self.error("a comment has no end, expected `*/`"));
        };
        let length = end + 4;
        let lines = self.rest[..length].matches('\n').count();
        self.at.line += lines;
        self.at_line_start |= lines > 0;
        self.rest = &self.rest[length..];
        Ok(())
    }

    /// A mark such as `# 12 "file.dtsi" 2`, which is taken; no: `#` begins a name.
    fn mark(&mut self) -> Result<bool, Error> {
        let line = self.rest.lines().next().unwrap_or(self.rest);
        let words = line[1..].trim_start();
        let first = words.split_whitespace().next().unwrap_or("");
        if UNPROCESSED.contains(&first) {
            return Err(self.error(format!(
                "`#{first}` stands here, expected a source without it: run the preprocessor first \
                 (`cpp -nostdinc -I include -undef -x assembler-with-cpp FILE.dts`, in Linux with \
                 `-I scripts/dtc/include-prefixes`)"
            )));
        }
        let numbered = words.strip_prefix("line").unwrap_or(words).trim_start();
        let number: Option<usize> = numbered
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        let (true, Some(number)) = (words.starts_with("line") || line.starts_with("# "), number)
        else {
            if first == "pragma" {
                self.skip_line();
                return Ok(true);
            }
            return Ok(false);
        };
        let mut quoted = numbered.split('"');
        if let Some(file) = quoted.nth(1) {
            self.at.file = self.file_number(file);
        }
        self.skip_line();
        self.advance();
        self.at.line = number;
        Ok(true)
    }

    /// The number of a file that a mark names.
    fn file_number(&mut self, file: &str) -> usize {
        let name = Path::new(file).file_name().unwrap_or_default();
        if Some(name) == self.path.file_name() || file.starts_with('<') {
            return 0;
        }
        let name = name.to_string_lossy();
        if let Some(known) = self.files.iter().position(|known| *known == name) {
            return known;
        }
        self.files.push(name.into_owned());
        self.files.len() - 1
    }

    /// Characters as long as they are wanted.
    pub fn word(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..length];
        self.rest = &self.rest[length..];
        if !word.is_empty() {
            self.at_line_start = false;
        }
        word
    }

    /// The name of a node or a property.
    pub fn name(&mut self) -> Result<&'a str, Error> {
        let word = self.word(|c| c.is_ascii_alphanumeric() || ",._+*#?@-".contains(c));
        match word {
            "" => Err(self.error(format!("{} stands here, expected a name", self.found()))),
            word => Ok(word),
        }
    }

    /// The name of a label.
    pub fn label(&mut self) -> &'a str {
        self.word(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// One character that must come next.
    pub fn expect(&mut self, wanted: char) -> Result<(), Error> {
        self.space()?;
        if self.peek() == Some(wanted) {
            self.advance();
            return Ok(());
        }
        Err(self.error(format!("{} stands here, expected `{wanted}`", self.found())))
    }

    /// What stands here, in words.
    pub fn found(&self) -> String {
        match self.peek() {
            None => "the end of the file".to_owned(),
            Some(c) => format!("`{c}`"),
        }
    }

    /// A text in double quotes, the first of which is taken, as its bytes.
    pub fn text(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            match self.advance() {
                Some('"') => return Ok(bytes),
                Some('\\') => bytes.push(self.escaped()?),
                Some(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                None => return Err(self.error("a text has no end, expected `\"`")),
            }
        }
    }

    /// What stands behind a backslash.
    pub fn escaped(&mut self) -> Result<u8, Error> {
        let c = self.advance();
        Ok(match c {
            Some('n') => b'\n',
            Some('t') => b'\t',
            Some('r') => b'\r',
            Some('a') => 7,
            Some('b') => 8,
            Some('f') => 12,
            Some('v') => 11,
            Some('x') => {
                let digits = self.word(|c| c.is_ascii_hexdigit());
                return u8::from_str_radix(digits, 16)
                    .map_err(|_| self.error(format!("`\\x{digits}` is no byte")));
            }
            Some(first @ '0'..='7') => {
                let digits = format!("{first}{}", self.word(|c| ('0'..='7').contains(&c)));
                return u8::from_str_radix(&digits, 8)
                    .map_err(|_| self.error(format!("`\\{digits}` is no byte")));
            }
            Some(c) if c.is_ascii() => c as u8,
            _ => return Err(self.error("`\\` is followed by nothing that it may be followed by")),
        })
    }
}
