// SPDX-License-Identifier: GPL-2.0-only
//! Errors as exceptions, with the texts that the command prints; remarks as warnings.

use std::cell::RefCell;
use std::ffi::CString;

use alight_sim::{AtFault, Fault};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};

create_exception!(
    alight,
    BadInput,
    PyValueError,
    "The question cannot be asked: the place, what was found, what is expected."
);
create_exception!(
    alight,
    HostError,
    PyOSError,
    "The machine that the program runs on failed, for example a full disk."
);
create_exception!(
    alight,
    AlightWarning,
    PyUserWarning,
    "What is odd about an input, and no reason to refuse it."
);

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The user asked for what cannot be.
    BadInput(String),
    /// The machine that the program runs on failed, or the program is wrong.
    Host(String),
    /// A signal ended the run. The exception of its handler takes the place of this one.
    Interrupted,
}

impl Failure {
    /// Bad input, from any error that says so.
    pub fn bad_input(error: impl ToString) -> Self {
        Failure::BadInput(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::BadInput(text) => BadInput::new_err(text),
            Failure::Host(text) => HostError::new_err(text),
            Failure::Interrupted => PyKeyboardInterrupt::new_err(()),
        }
    }
}

impl<E: AtFault> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.fault() {
            Fault::Input => Failure::bad_input(error),
            Fault::Host => Failure::Host(error.to_string()),
            Fault::Interrupt => Failure::Interrupted,
        }
    }
}

/// Hears what is odd about an input.
#[derive(Debug, Default)]
pub struct Remarks(RefCell<Vec<String>>);

impl Remarks {
    /// Keeps a remark.
    pub fn hear(&self, remark: &str) {
        self.0.borrow_mut().push(remark.to_owned());
    }

    /// Warns of each, as of the line of the `level`th Python function above, the nearest of which is 1.
    /// Under the filter `error` the first is raised.
    pub fn warn(self, py: Python<'_>, level: i32) -> PyResult<()> {
        let category = py.get_type::<AlightWarning>();
        for remark in self.0.into_inner() {
            let text = CString::new(remark.replace('\0', "\u{fffd}")).expect("no byte is 0");
            PyErr::warn(py, &category, &text, level)?;
        }
        Ok(())
    }
}
