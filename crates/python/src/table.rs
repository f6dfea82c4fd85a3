// SPDX-License-Identifier: GPL-2.0-only
//! Tables on their way to data frames: columns as bytes, or as Arrow.

use std::sync::Arc;

use alight_frames as frames;
use alight_frames::Values;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::arrow;

/// A table.
#[pyclass(frozen, module = "alight._alight")]
pub struct Table(Arc<frames::Table>);

impl Table {
    /// The table of these columns.
    pub fn of(table: frames::Table) -> Self {
        Table(Arc::new(table))
    }
}

/// A column as the package reads it: its name; what it holds (`time`, `int`, `whole`,
/// `float`, `bool`, `text`);
/// its values in the machine's byte order, 8 bytes each, of text 4 bytes each: the place of a word, of
/// bool 1 byte each; the words; for each row a byte that says whether there is a value, or nothing if
/// all rows have one.
type AsBytes<'py> = (
    String,
    &'static str,
    Bound<'py, PyBytes>,
    Option<Vec<String>>,
    Option<Bound<'py, PyBytes>>,
);

#[pymethods]
impl Table {
    /// The columns.
    fn columns<'py>(&self, py: Python<'py>) -> Vec<AsBytes<'py>> {
        let one = |column: &frames::Column| {
            let (kind, values, words) = match &column.values {
                Values::Time(values) => ("time", bytes(py, values, |v| v.to_ne_bytes()), None),
                Values::Int(values) => ("int", bytes(py, values, |v| v.to_ne_bytes()), None),
                Values::Whole(values) => ("whole", bytes(py, values, |v| v.to_ne_bytes()), None),
                Values::Float(values) => ("float", bytes(py, values, |v| v.to_ne_bytes()), None),
                Values::Bool(values) => ("bool", bytes(py, values, |&v| [u8::from(v)]), None),
                Values::Text { codes, words } => {
                    let codes = bytes(py, codes, |code| code.to_ne_bytes());
                    ("text", codes, Some(words.clone()))
                }
            };
            let present = column.present.as_ref();
            let present = present.map(|there| bytes(py, there, |&there| [u8::from(there)]));
            (column.name.clone(), kind, values, words, present)
        };
        self.0.columns().iter().map(one).collect()
    }

    /// Whether the first column is the index.
    fn has_index(&self) -> bool {
        self.0.has_index()
    }

    /// Number of rows.
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The table by the Arrow PyCapsule interface: one batch, times as durations in ns.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers that want another schema cast; the interface allows it.
        let _ = requested_schema;
        arrow::stream(py, Arc::clone(&self.0))
    }
}

fn bytes<'py, T, const N: usize>(
    py: Python<'py>,
    values: &[T],
    of: impl Fn(&T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let flat: Vec<u8> = values.iter().flat_map(of).collect();
    PyBytes::new(py, &flat)
}
