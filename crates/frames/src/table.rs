// SPDX-License-Identifier: GPL-2.0-only
//! Columns of equal length.

use std::collections::HashMap;

/// The code of a row without a word.
pub const NO_WORD: i32 = -1;

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Times from the start of the trace's clock, ns.
    Time(Vec<i64>),
    /// Whole numbers.
    Int(Vec<i64>),
    /// Whole numbers of which some may be above 2^63, such as seeds.
    Whole(Vec<u64>),
    /// Numbers; NaN where there is none.
    Float(Vec<f64>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Words, each stored once; a row holds the place of its word.
    Text {
        /// For each row a place in `words`, or [`NO_WORD`].
        codes: Vec<i32>,
        /// The words, none twice.
        words: Vec<String>,
    },
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// The values.
    pub values: Values,
    /// For each row whether it has a value; `None`: all have one.
    pub present: Option<Vec<bool>>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    columns: Vec<Column>,
    indexed: bool,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Table::default()
    }

    /// A table whose index is a column `Time`.
    pub fn timed(times: impl IntoIterator<Item = u64>) -> Self {
        let times = times.into_iter().map(|time| time as i64).collect();
        Table::new()
            .with("Time", Values::Time(times), None)
            .indexed()
    }

    /// The first column becomes the index.
    #[must_use]
    pub fn indexed(mut self) -> Self {
        self.indexed = true;
        self
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn int<T: Into<i64>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.with(name, Values::Int(values), None)
    }

    /// Adds a column of whole numbers that some rows lack.
    #[must_use]
    pub fn maybe_int<T: Into<i64>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = Option<T>>,
    ) -> Self {
        let (values, present) = values
            .into_iter()
            .map(|value| {
                let present = value.is_some();
                (value.map_or(0, Into::into), present)
            })
            .unzip();
        self.with(name, Values::Int(values), Some(present))
    }

    /// Adds a column of whole numbers that may be above 2^63.
    #[must_use]
    pub fn whole(self, name: &str, values: impl IntoIterator<Item = u64>) -> Self {
        self.with(name, Values::Whole(values.into_iter().collect()), None)
    }

    /// Adds a column of yes or no that some rows lack.
    #[must_use]
    pub fn maybe_bool(self, name: &str, values: impl IntoIterator<Item = Option<bool>>) -> Self {
        let (values, present) = values
            .into_iter()
            .map(|value| (value.unwrap_or(false), value.is_some()))
            .unzip();
        self.with(name, Values::Bool(values), Some(present))
    }

    /// Adds a column of numbers; NaN where there is none.
    #[must_use]
    pub fn float(self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.with(name, Values::Float(values.into_iter().collect()), None)
    }

    /// Adds a column of durations in seconds; NaN where there is none.
    #[must_use]
    pub fn seconds(self, name: &str, ns: impl IntoIterator<Item = Option<u64>>) -> Self {
        let seconds = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e9);
        self.float(name, ns.into_iter().map(seconds))
    }

    /// Adds a column of words; an empty word is none.
    #[must_use]
    pub fn text<T: AsRef<str>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        let mut places: HashMap<String, i32> = HashMap::new();
        let mut words: Vec<String> = vec![];
        let code = |word: T| match word.as_ref() {
            "" => NO_WORD,
            word => *places.entry(word.to_owned()).or_insert_with(|| {
                words.push(word.to_owned());
                words.len() as i32 - 1
            }),
        };
        let codes: Vec<i32> = values.into_iter().map(code).collect();
        let present: Vec<bool> = codes.iter().map(|&code| code != NO_WORD).collect();
        let present = present.contains(&false).then_some(present);
        self.with(name, Values::Text { codes, words }, present)
    }

    /// Adds a column.
    ///
    /// # Panics
    /// It is not as long as those before.
    fn with(mut self, name: &str, values: Values, present: Option<Vec<bool>>) -> Self {
        let column = Column {
            name: name.to_owned(),
            values,
            present,
        };
        if let Some(first) = self.columns.first() {
            assert_eq!(column.len(), first.len(), "the column {name}");
        }
        self.columns.push(column);
        self
    }

    /// The columns, the index first.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether the first column is the index.
    pub fn has_index(&self) -> bool {
        self.indexed
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }
}

impl Column {
    /// Number of rows.
    fn len(&self) -> usize {
        match &self.values {
            Values::Time(values) | Values::Int(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text { codes, .. } => codes.len(),
        }
    }
}

#[cfg(test)]
mod tests;
