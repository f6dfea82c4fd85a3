// SPDX-License-Identifier: GPL-2.0-only
//! `alight explain`.

use std::num::NonZeroUsize;
use std::sync::Arc;

use alight_ask::{Explained, Input, duration};
use alight_policy::Scheduler;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::input::warn_late;
use crate::wait::interruptible;

/// Decisions, or the steps that answered.
#[pyclass(frozen, module = "alight._alight")]
pub struct Explanation {
    input: Arc<Input>,
    found: alight_ask::Explanation,
}

#[pymethods]
impl Explanation {
    /// The document, the bytes of `alight explain --json`.
    fn json(&self) -> String {
        self.found.json()
    }

    /// The report for the terminal.
    fn text(&self) -> String {
        self.found.text()
    }

    /// The report as a page, the bytes of `alight explain --html`. The run is made once more, for the
    /// timeline.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let page = interruptible(py, |cancel| self.found.page(&self.input, &|_| (), cancel))?;
        Ok(page.map_err(Failure::from)?)
    }
}

/// Reads what is to be explained: the words of a user.
///
/// # Errors
/// A time that is none, a limit below 1, and neither a task nor the histogram.
pub fn asked(
    scheduler: Scheduler,
    task: Option<String>,
    at: Option<String>,
    limit: Option<i64>,
    histogram: bool,
) -> Result<Explained, Failure> {
    let at_ns = at.map(|text| {
        duration::parse(&text).map_err(|why| Failure::BadInput(format!("at '{text}': {why}")))
    });
    let limit = limit.map(|limit| {
        let known = usize::try_from(limit).ok().and_then(NonZeroUsize::new);
        known.ok_or_else(|| {
            Failure::BadInput(format!("limit {limit}: expected a whole number, 1 or more"))
        })
    });
    if task.is_none() && !histogram {
        return Err(Failure::bad_input(
            "no task: name one by task=, or count the steps of all by histogram=True",
        ));
    }
    Ok(Explained {
        scheduler,
        task,
        at_ns: at_ns.transpose()?,
        limit: limit.transpose()?,
        histogram,
    })
}

/// Explains.
pub fn explain(py: Python<'_>, input: &Arc<Input>, asked: &Explained) -> PyResult<Explanation> {
    let found = interruptible(py, |cancel| asked.run(input, cancel))?;
    let found = found.map_err(Failure::from)?;
    warn_late(py, input, found.end_ns)?;
    Ok(Explanation {
        input: Arc::clone(input),
        found,
    })
}
