// SPDX-License-Identifier: GPL-2.0-only
//! A TOML file that is read key by key. Each mistake keeps its place, and all are told together.

use std::cell::RefCell;
use std::fmt;
use std::ops::RangeInclusive;

use alight_machine::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// All that is wrong with a file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes {
    file: String,
    /// One at least.
    pub mistakes: Vec<Mistake>,
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            let Mistake {
                line,
                column,
                message,
            } = mistake;
            write!(f, "{end}{}:{line}:{column}: {message}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// A value and the offset at which it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Bytes before it.
    pub offset: usize,
}

/// A file while it is read.
pub struct Document<'t> {
    text: &'t str,
    mistakes: RefCell<Vec<Mistake>>,
}

impl<'t> Document<'t> {
    /// Reads `text`, called `file` in messages, by `read`, which tells what is wrong.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn read<T>(
        file: &str,
        text: &'t str,
        read: impl FnOnce(&Document<'t>, Section<'_, 't>) -> Option<T>,
    ) -> Result<T, Mistakes> {
        let document = Document {
            text,
            mistakes: RefCell::default(),
        };
        let read = match DeTable::parse(text) {
            Ok(table) => read(&document, document.section(table.get_ref(), "", 0)),
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                let message = match (error.message(), text.get(span.clone())) {
                    ("duplicate key", Some(key)) => {
                        format!("the key `{}` occurs twice", key.trim())
                    }
                    (message, _) => message.replace('\n', " "),
                };
                document.complain(span.start, message);
                None
            }
        };
        let mut mistakes = document.mistakes.take();
        mistakes.sort();
        match read {
            Some(read) if mistakes.is_empty() => Ok(read),
            _ => Err(Mistakes {
                file: file.to_owned(),
                mistakes,
            }),
        }
    }

    /// Tells of something wrong at an offset.
    pub fn complain(&self, offset: usize, message: impl Into<String>) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        self.mistakes.borrow_mut().push(Mistake {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            message: message.into(),
        });
    }

    /// `what`, or nothing and a complaint.
    pub fn told<T>(&self, offset: usize, what: Result<T, impl ToString>) -> Option<T> {
        what.map_err(|error| self.complain(offset, error.to_string()))
            .ok()
    }

    fn section<'d>(&'d self, table: &'d DeTable<'t>, path: &str, offset: usize) -> Section<'d, 't> {
        Section {
            document: self,
            table,
            path: path.to_owned(),
            offset,
            asked: RefCell::default(),
        }
    }
}

/// A table of a file.
pub struct Section<'d, 't> {
    document: &'d Document<'t>,
    table: &'d DeTable<'t>,
    path: String,
    /// Where it begins.
    pub offset: usize,
    asked: RefCell<Vec<&'static str>>,
}

impl<'d, 't> Section<'d, 't> {
    fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    fn get(&self, key: &'static str) -> Option<&'d Spanned<DeValue<'t>>> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    fn mistyped<T>(&self, key: &str, found: &Spanned<DeValue<'_>>, expected: &str) -> Option<T> {
        let path = self.path_of(key);
        let found_text = describe(found.get_ref());
        let message = format!("`{path}` is {found_text}, expected {expected}");
        self.document.complain(found.span().start, message);
        None
    }

    /// Whether the key is there, of use or not.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where a key's value stands; without it, where the table does.
    pub fn place(&self, key: &str) -> usize {
        let value = self.table.get(key);
        value.map_or(self.offset, |value| value.span().start)
    }

    /// Complains if the key is not there.
    pub fn required<T>(&self, key: &str, value: Option<T>, example: &str) -> Option<T> {
        if value.is_none() && !self.has(key) {
            let where_ = match self.path.as_str() {
                "" => "the file".to_owned(),
                path => format!("[{path}]"),
            };
            let message = format!("{where_} lacks the key `{key}`, expected like `{example}`");
            self.document.complain(self.offset, message);
        }
        value
    }

    /// Text in quotes.
    pub fn text(&self, key: &'static str) -> Option<At<String>> {
        let found = self.get(key)?;
        match found.get_ref().as_str() {
            Some(text) => Some(At {
                value: text.to_owned(),
                offset: found.span().start,
            }),
            None => self.mistyped(key, found, "text in quotes"),
        }
    }

    /// A list whose items are texts, or lists of texts of one item or more.
    pub fn lists(&self, key: &'static str) -> Option<Vec<At<Vec<String>>>> {
        const EXPECTED: &str = "a list of texts in quotes";
        let found = self.get(key)?;
        let Some(items) = found.get_ref().as_array() else {
            return self.mistyped(key, found, EXPECTED);
        };
        if items.is_empty() {
            return self.mistyped(key, found, "one item or more");
        }
        let item = |item: &Spanned<DeValue<'_>>| {
            let inner = match item.get_ref() {
                DeValue::Array(inner) if !inner.is_empty() => {
                    let texts = inner.iter().map(|text| text.get_ref().as_str());
                    texts.collect::<Option<Vec<_>>>()
                }
                other => other.as_str().map(|text| vec![text]),
            };
            let Some(texts) = inner else {
                return self.mistyped(key, item, EXPECTED);
            };
            Some(At {
                value: texts.into_iter().map(str::to_owned).collect(),
                offset: item.span().start,
            })
        };
        items.iter().map(item).collect()
    }

    /// A list of texts.
    pub fn texts(&self, key: &'static str) -> Option<Vec<At<String>>> {
        let lists = self.lists(key)?;
        let one = |list: At<Vec<String>>| match <[String; 1]>::try_from(list.value) {
            Ok([value]) => Some(At {
                value,
                offset: list.offset,
            }),
            Err(_) => {
                let message = format!("`{}` has a list in it, expected texts", self.path_of(key));
                self.document.complain(list.offset, message);
                None
            }
        };
        lists.into_iter().map(one).collect()
    }

    /// The values of a factor: a range in quotes, or a list of numbers or texts, as typed.
    pub fn values(&self, key: &'static str) -> Option<At<Result<String, Vec<String>>>> {
        let found = self.get(key)?;
        let offset = found.span().start;
        let typed = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Integer(digits) => Some(digits.to_string()),
            DeValue::Float(digits) => Some(digits.to_string()),
            DeValue::Boolean(value) => Some(value.to_string()),
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        };
        let value = match found.get_ref() {
            DeValue::String(range) => Some(Ok(range.to_string())),
            DeValue::Array(items) => items.iter().map(typed).collect::<Option<_>>().map(Err),
            _ => None,
        };
        match value {
            Some(value) => Some(At { value, offset }),
            None => self.mistyped(key, found, "a range like \"80..120 step 20\" or a list"),
        }
    }

    /// A whole number in a range.
    pub fn whole(&self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let found = self.get(key)?;
        let number = match found.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        let number = number.filter(|number| range.contains(number));
        number.or_else(|| {
            let (least, most) = (range.start(), range.end());
            self.mistyped(
                key,
                found,
                &format!("a whole number from {least} to {most}"),
            )
        })
    }

    /// A percentage above 0, at most 100.
    pub fn percentage(&self, key: &'static str) -> Option<f64> {
        let found = self.get(key)?;
        let number = match found.get_ref() {
            DeValue::Integer(digits) => digits.as_str().parse::<f64>().ok(),
            DeValue::Float(digits) => digits.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let number = number.filter(|number| *number > 0.0 && *number <= 100.0);
        number.or_else(|| self.mistyped(key, found, "a percentage above 0, at most 100"))
    }

    /// A table.
    pub fn section(&self, key: &'static str) -> Option<Section<'d, 't>> {
        let found = self.get(key)?;
        match found.get_ref().as_table() {
            Some(table) => {
                let path = self.path_of(key);
                Some(self.document.section(table, &path, found.span().start))
            }
            None => self.mistyped(key, found, "a table"),
        }
    }

    /// Tables headed `[[key]]`.
    pub fn sections(&self, key: &'static str) -> Vec<Section<'d, 't>> {
        let Some(found) = self.get(key) else {
            return vec![];
        };
        let path = self.path_of(key);
        let tables = found.get_ref().as_array().map(|items| {
            let tables = items.iter().map(|item| {
                let table = item.get_ref().as_table()?;
                Some(self.document.section(table, &path, item.span().start))
            });
            tables.collect::<Option<Vec<_>>>()
        });
        match tables.flatten() {
            Some(tables) => tables,
            None => {
                let expected = format!("tables headed [[{path}]]");
                self.mistyped::<()>(key, found, &expected);
                vec![]
            }
        }
    }

    /// All keys of a table of texts or lists of texts, in the order of the file; each text of a
    /// list is an entry of its own.
    pub fn entries(&self) -> Vec<(String, At<String>)> {
        let mut found: Vec<_> = self.table.iter().collect();
        found.sort_by_key(|(key, _)| key.span().start);
        let mut entries = vec![];
        for (key, value) in found {
            let items = match value.get_ref() {
                DeValue::Array(items) => items.iter().collect(),
                _ => vec![value],
            };
            for item in items {
                let text = match item.get_ref() {
                    DeValue::String(text) => Some(text.to_string()),
                    DeValue::Integer(digits) => Some(digits.to_string()),
                    _ => self.mistyped(key.get_ref(), item, "text in quotes"),
                };
                if let Some(value) = text {
                    let offset = item.span().start;
                    entries.push((key.get_ref().to_string(), At { value, offset }));
                }
            }
        }
        entries
    }

    /// Complains of keys that nobody asked for.
    pub fn finish(self) {
        let asked = self.asked.borrow();
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if !asked.contains(&name) {
                let hint = nearest(name, asked.iter().copied());
                let where_ = match self.path.as_str() {
                    "" => "at the top of the file".to_owned(),
                    path => format!("in [{path}]"),
                };
                let message = format!("unknown key `{name}` {where_}, {hint}");
                self.document.complain(key.span().start, message);
            }
        }
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("text \"{}\"", alight_text::cell(text)),
        DeValue::Integer(digits) => digits.to_string(),
        DeValue::Float(digits) => digits.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Array(items) if items.is_empty() => "an empty list".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
    }
}
