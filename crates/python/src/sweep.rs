// SPDX-License-Identifier: GPL-2.0-only
//! `alight sweep`: on this machine, and in batches that run elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use alight_ask::Texts;
use alight_compare::{Spread, simulate};
use alight_frames as frames;
use alight_sweep::answer::Answer;
use alight_sweep::store::{Data, Results, SettingRow, Store};
use alight_sweep::sweep::{Batch, Done};
use alight_sweep::work::{Standing, Trial, Work};
use alight_sweep::{page, report};
use pyo3::prelude::*;

use crate::comparison::jobs_of;
use crate::failure::{Failure, Remarks};
use crate::table::Table;
use crate::wait::{interruptible, interruptible_telling};

/// A sweep.
#[pyclass(frozen, module = "alight._alight")]
pub struct Sweep {
    name: String,
    sweep: alight_sweep::sweep::Sweep,
}

#[pymethods]
impl Sweep {
    /// Reads a sweep's file: its name and text, and the texts of files that it names.
    #[new]
    fn new(py: Python<'_>, name: String, text: String, texts: Texts) -> PyResult<Self> {
        let remarks = Remarks::default();
        let tell = |remark: &str| remarks.hear(remark);
        let sweep = alight_sweep::sweep::Sweep::parse_with(&name, &text, &texts, &tell);
        let sweep = sweep.map_err(Failure::from)?;
        remarks.warn(py, 2)?;
        Ok(Sweep { name, sweep })
    }

    /// The file's name.
    fn name(&self) -> &str {
        &self.name
    }

    /// The file's text.
    fn text(&self) -> &str {
        &self.sweep.spec.text
    }

    /// The texts of other files with which the sweep is the same elsewhere.
    fn texts(&self) -> Texts {
        self.sweep.texts()
    }

    /// What decides the runs: two sweeps that agree in it give the same.
    fn identity(&self) -> String {
        let sources = self.sweep.sources.iter();
        let words =
            sources.map(|source| format!("{} {} {}", source.kind, source.name, source.hash));
        words.collect::<Vec<_>>().join("\n")
    }

    /// Number of cells.
    fn cells(&self) -> u64 {
        self.sweep.cells()
    }

    /// Simulations at most.
    fn most_runs(&self) -> u128 {
        self.sweep.most_runs()
    }

    /// Refuses a sweep of more simulations than are allowed, with the time that it would take.
    fn check_size(&self, py: Python<'_>, allow_runs: u128, jobs: Option<i64>) -> PyResult<()> {
        if self.sweep.most_runs() <= allow_runs {
            return Ok(());
        }
        let threads = jobs.map(jobs_of).transpose()?;
        let trial = interruptible(py, |cancel| {
            Trial::run(&self.sweep, &simulate, threads, cancel)
        })?;
        let trial = trial.map_err(Failure::from)?;
        Err(Failure::BadInput(trial.in_words(&self.sweep, "allow_runs")).into())
    }

    /// Runs what the store lacks, over the cores of this machine. `progress` is called now and then
    /// with how far it is ([`Told`]).
    fn run(
        &self,
        py: Python<'_>,
        store: PathBuf,
        jobs: Option<i64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let how = Spread {
            threads: jobs.map(jobs_of).transpose()?,
            ..Spread::QUIET
        };
        let latest = Mutex::new(None);
        let hear = |standing: Standing| {
            *latest.lock().expect("no holder panics") = Some(standing);
        };
        let work = |cancel: &AtomicBool| {
            let work = Work::new(&self.sweep, self.open(&store)?)?;
            hear(work.standing());
            work.run(&simulate, how, cancel, &hear)?;
            Ok::<_, Failure>(())
        };
        let tell = || {
            let standing = latest.lock().expect("no holder panics").take();
            standing.map_or(Ok(()), |standing| told(progress.as_ref(), standing))
        };
        let done = interruptible_telling(py, work, tell)?;
        tell()?;
        Ok(done?)
    }

    /// Runs what the store lacks by `spread`: it is called with batches, and returns an iterator over
    /// their results, in any order, each a list of what `run_batches` gave. A result that does not come
    /// is asked for again by the next call of this function. What has come is stored, whatever happens.
    /// `progress` is called after each list.
    fn run_by(
        &self,
        py: Python<'_>,
        store: PathBuf,
        spread: &Bound<'_, PyAny>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let opened = interruptible(py, |cancel| {
            let work = Work::new(&self.sweep, self.open(&store)?)?;
            work.check(&simulate, cancel)?;
            Ok::<_, Failure>(work)
        })?;
        let mut work = opened?;
        let done = drive(&mut work, spread, progress.as_ref());
        py.detach(|| work.into_store()).map_err(Failure::from)?;
        done
    }

    /// Runs batches, one after the other, on one core.
    fn run_batches(&self, py: Python<'_>, batches: Vec<String>) -> PyResult<Vec<String>> {
        let results = interruptible(py, |cancel| {
            let results = batches.iter().map(|batch| self.run_batch(batch, cancel));
            results.collect::<Result<Vec<String>, Failure>>()
        })?;
        Ok(results?)
    }
}

impl Sweep {
    fn open(&self, store: &Path) -> Result<Store, alight_sweep::store::StoreError> {
        let file = store.display().to_string();
        let words = ["alight", "sweep", &self.name, "--store", &file];
        Store::open(store, &self.sweep, &shell_words::join(words))
    }

    fn run_batch(&self, batch: &str, cancel: &AtomicBool) -> Result<String, Failure> {
        let batch: Batch = serde_json::from_str(batch).map_err(Failure::bad_input)?;
        if batch.cell >= self.sweep.cells() {
            let (cell, cells) = (batch.cell, self.sweep.cells());
            return Err(Failure::BadInput(format!("cell {cell} of {cells}")));
        }
        let done = self.sweep.run(batch, &simulate, cancel, &|_| ())?;
        Ok(serde_json::to_string(&done).expect("a result has no map with other keys than text"))
    }
}

/// How far a sweep is, as the package's `SweepProgress` has it: cells, those that are complete, those
/// that cannot run, simulations that are stored, that it takes at most, that `until` spared.
type Told = (u64, u64, u64, u64, u64, u64);

/// Calls `progress`, if there is one.
fn told(progress: Option<&Bound<'_, PyAny>>, at: Standing) -> PyResult<()> {
    let told: Told = (
        at.cells,
        at.complete,
        at.refused,
        at.runs,
        at.most_runs,
        at.spared,
    );
    progress.map_or(Ok(()), |progress| progress.call1(told).map(drop))
}

/// Hands out batches and adds their results until there is nothing to be done.
fn drive(
    work: &mut Work<'_>,
    spread: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    told(progress, work.standing())?;
    loop {
        let batches = work.next();
        if batches.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = batches
            .iter()
            .map(|batch| serde_json::to_string(batch).expect("a batch is three numbers"))
            .collect();
        let before = work.standing();
        for results in spread.call1((words,))?.try_iter()? {
            for text in results?.extract::<Vec<String>>()? {
                let done: Done = serde_json::from_str(&text).map_err(Failure::bad_input)?;
                work.add(&done).map_err(Failure::from)?;
            }
            told(progress, work.standing())?;
        }
        if work.standing() == before {
            return Err(Failure::Host("no batch gave a result".to_owned()).into());
        }
    }
}

/// A cell that cannot run: number, machine, workload, figures, why.
type Refused = (u64, String, String, BTreeMap<String, String>, String);

/// A store that is read.
#[pyclass(frozen, module = "alight._alight")]
pub struct SweepStore(PathBuf);

#[pymethods]
impl SweepStore {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Store::read(&path).map_err(Failure::from)?;
        Ok(SweepStore(path))
    }

    /// The answer as the document `alight.sweep-answer/1`, the bytes of `alight sweep show --json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.detach(|| self.answer().map(|answer| report::json(&answer)))?)
    }

    /// The answer for the terminal.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.detach(|| self.answer().map(|answer| report::text(&answer)))?)
    }

    /// The answer as a page, the bytes of `alight sweep show --html`.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.detach(|| self.answer().map(|answer| page::page(&answer)))?)
    }

    /// The cells that cannot run: number, machine, workload, figures of the machine, and why.
    fn refused(&self, py: Python<'_>) -> PyResult<Vec<Refused>> {
        let found = py.detach(|| Store::read(&self.0)?.refused());
        let rows = found.map_err(Failure::from)?.into_iter();
        Ok(rows
            .map(|row| (row.cell, row.machine, row.workload, row.figures, row.why))
            .collect())
    }

    /// A row for each number of each run, the values of `alight sweep export --csv`.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let made = py.detach(|| -> Result<frames::Table, Failure> {
            let store = Store::read(&self.0)?;
            Ok(table(&store.data()?, &store.results()?))
        });
        Ok(Table::of(made?))
    }
}

impl SweepStore {
    fn answer(&self) -> Result<Answer, Failure> {
        Ok(Answer::of(&Store::read(&self.0)?)?)
    }
}

fn table(data: &Data, results: &Results) -> frames::Table {
    let cells: std::collections::HashMap<u64, _> =
        data.cells.iter().map(|cell| (cell.cell, cell)).collect();
    let settings: std::collections::HashMap<(u64, u64), &SettingRow> = (data.settings.iter())
        .map(|setting| ((setting.cell, setting.setting), setting))
        .collect();
    let rows = || results.rows.iter();
    let cell = |row: u64| cells.get(&row).copied();
    let setting = |row: &alight_sweep::store::ResultRow| settings.get(&(row.cell, row.setting));
    let mut table = frames::Table::new()
        .whole("cell", rows().map(|row| row.cell))
        .text(
            "machine",
            rows().map(|row| cell(row.cell).map_or("", |cell| &cell.machine)),
        )
        .text(
            "workload",
            rows().map(|row| cell(row.cell).map_or("", |cell| &cell.workload)),
        )
        .whole("setting", rows().map(|row| row.setting))
        .text(
            "scheduler",
            rows().map(|row| setting(row).map_or("", |found| &found.scheduler)),
        )
        .text(
            "template",
            rows().map(|row| {
                setting(row)
                    .and_then(|found| found.template.as_deref())
                    .unwrap_or("")
            }),
        );
    for factor in factors(data) {
        let values = rows().map(|row| {
            let level = setting(row)?.levels.get(factor)?;
            Some(level.1.as_str())
        });
        table = column(table, factor, values.collect());
    }
    let metric = |row: &alight_sweep::store::ResultRow| &results.metrics[row.metric];
    table
        .whole("seed", rows().map(|row| row.seed))
        .text("metric", rows().map(|row| &metric(row).name))
        .text("kind", rows().map(|row| &metric(row).kind))
        .text("unit", rows().map(|row| &metric(row).unit))
        .text(
            "better",
            rows().map(|row| metric(row).better.as_deref().unwrap_or("")),
        )
        .float("value", rows().map(|row| row.value))
}

/// The factors of all schedulers, each once.
fn factors(data: &Data) -> Vec<&str> {
    let mut factors: Vec<&str> = vec![];
    for factor in data.templates.iter().flat_map(|template| &template.factors) {
        if !factors.contains(&factor.name.as_str()) {
            factors.push(&factor.name);
        }
    }
    factors
}

/// Adds the values of a factor: as numbers if all of them are.
fn column(table: frames::Table, name: &str, values: Vec<Option<&str>>) -> frames::Table {
    let parsed = |value: &Option<&str>| value.map(str::parse::<f64>).transpose();
    match values.iter().map(parsed).collect::<Result<Vec<_>, _>>() {
        Ok(numbers) => table.float(name, numbers.into_iter().map(|n| n.unwrap_or(f64::NAN))),
        Err(_) => table.text(name, values.into_iter().map(Option::unwrap_or_default)),
    }
}

/// The text of a sweep's file that a `dict` describes, given as JSON.
#[pyfunction]
pub fn toml_of_json(json: &str) -> PyResult<String> {
    let value: toml::Table = serde_json::from_str(json)
        .map_err(|error| Failure::BadInput(format!("a sweep's dict: {error}")))?;
    Ok(toml::to_string(&value).map_err(Failure::bad_input)?)
}
