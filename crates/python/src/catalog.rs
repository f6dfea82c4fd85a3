// SPDX-License-Identifier: GPL-2.0-only
//! The machines and schedulers that there are.

use alight_ask::Texts;
use alight_compare::report::pretty;
use alight_policy::scheduler::{BASES, FEATURES};
use alight_workload::{Mode, Workload};
use pyo3::prelude::*;

use crate::failure::{Failure, Remarks};
use crate::input::Named;

/// The version of the program.
#[pyfunction]
pub fn version() -> &'static str {
    alight_compare::header::VERSION
}

/// Names of the built-in machines.
#[pyfunction]
pub fn machines() -> Vec<&'static str> {
    alight_machine::names()
}

/// The base kernels, oldest first, and the features, with what each does.
#[pyfunction]
pub fn schedulers() -> Vec<(String, &'static str)> {
    let bases = BASES
        .iter()
        .map(|base| (base.name.to_owned(), base.summary));
    let features = FEATURES.iter().map(|f| (format!("+{}", f.name), f.summary));
    bases.chain(features).collect()
}

/// Of a machine its name, number of CPUs, file, document (`alight.machine/1`) and description.
#[pyfunction]
pub fn machine(py: Python<'_>, named: Named) -> PyResult<(String, usize, String, String, String)> {
    let (word, text) = named;
    let texts: Texts = text.map(|text| (word.clone(), text)).into_iter().collect();
    let remarks = Remarks::default();
    let sheet = alight_ask::load_sheet(&word, &texts, &|remark| remarks.hear(remark));
    let sheet = sheet.map_err(Failure::from)?;
    remarks.warn(py, 2)?;
    let document = pretty(&alight_machine::to_json(&sheet));
    let shown = alight_machine::show(&sheet);
    let machine = sheet.machine;
    Ok((
        machine.name,
        machine.cpus.len(),
        sheet.text,
        document,
        shown,
    ))
}

/// Refuses the text of an rt-app file that cannot be run.
#[pyfunction]
pub fn check_rtapp(name: &str, text: &str) -> PyResult<()> {
    let loaded = Workload::from_rtapp(name, text, Mode::default());
    loaded.map_err(Failure::bad_input)?;
    Ok(())
}
