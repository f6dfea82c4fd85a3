// SPDX-License-Identifier: GPL-2.0-only
//! Reading: what reports and the rule of `until` need, in the order of the tables' keys.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Params, Row, params};
use serde::Serialize;

use super::{Store, StoreError, refused};
use crate::samples::Samples;

/// How a cell came to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Runs of each of its settings.
    pub runs: u32,
    /// The most that it could have had.
    pub most: u32,
    /// With `until`: half-width of the widest interval, percent.
    pub half_width_percent: Option<f64>,
    /// With `until`: whether each interval is as narrow as asked.
    pub known: Option<bool>,
}

/// A scheduler of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateRow {
    /// Its name.
    pub name: String,
    /// Number of its first setting.
    pub first: u64,
    /// Number of its settings.
    pub settings: u64,
    /// What varies of it.
    pub factors: Vec<FactorRow>,
}

/// What varies of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorRow {
    /// Its name.
    pub name: String,
    /// It is a figure of the machine.
    pub is_figure: bool,
    /// Number of its values.
    pub levels: u64,
    /// Its values in words.
    pub range: String,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRow {
    /// Its number.
    pub cell: u64,
    /// Its machine.
    pub machine: String,
    /// Its workload.
    pub workload: String,
}

/// A cell that cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedRow {
    /// Its number.
    pub cell: u64,
    /// Its machine.
    pub machine: String,
    /// Its workload.
    pub workload: String,
    /// The figures of the machine that vary, with their values.
    pub figures: BTreeMap<String, String>,
    /// Why.
    pub why: String,
}

/// A setting in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// The cell.
    pub cell: u64,
    /// Its number; 0 is the base.
    pub setting: u64,
    /// The scheduler.
    pub scheduler: String,
    /// The template; `None`: it is the base.
    pub template: Option<String>,
    /// Levels by factor: the place among its values, and the value.
    pub levels: BTreeMap<String, (u64, String)>,
}

/// All but the numbers of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// The pairs of the table `sweep`.
    pub facts: BTreeMap<String, String>,
    /// The schedulers, in the order of the file.
    pub templates: Vec<TemplateRow>,
    /// The cells that have runs or were refused.
    pub cells: Vec<CellRow>,
    /// Their settings.
    pub settings: Vec<SettingRow>,
    /// The cells that are complete.
    pub ends: BTreeMap<u64, End>,
    /// The cells that cannot run, in the order of their numbers.
    pub refused: Vec<RefusedRow>,
    /// What answers rest on, by `WORKLOAD on MACHINE`: labels and texts.
    pub rests: BTreeMap<String, Vec<(String, String)>>,
}

impl Store {
    /// All but the numbers of runs.
    ///
    /// # Errors
    /// What the system refuses, and a file that is damaged.
    pub fn data(&self) -> Result<Data, StoreError> {
        let facts = self.rows("SELECT key, value FROM sweep ORDER BY key", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let mut templates = self.rows(
            "SELECT template, first_setting, settings FROM templates ORDER BY first_setting",
            [],
            |row| {
                Ok(TemplateRow {
                    name: row.get(0)?,
                    first: unsigned(row, 1)?,
                    settings: unsigned(row, 2)?,
                    factors: vec![],
                })
            },
        )?;
        for template in &mut templates {
            template.factors = self.factors(&template.name)?;
        }
        let sql = "SELECT cell, machine, workload FROM cells ORDER BY cell";
        let cells = self.rows(sql, [], |row| {
            Ok(CellRow {
                cell: unsigned(row, 0)?,
                machine: row.get(1)?,
                workload: row.get(2)?,
            })
        })?;
        Ok(Data {
            facts: facts.into_iter().collect(),
            templates,
            cells,
            settings: self.settings()?,
            ends: self.ends()?,
            refused: self.refused()?,
            rests: self.rests()?,
        })
    }

    fn rests(&self) -> Result<BTreeMap<String, Vec<(String, String)>>, StoreError> {
        let sql = "SELECT name, text FROM provenance WHERE kind = 'rests'";
        let rows = self.rows(sql, [], |row| {
            let text: String = row.get(1)?;
            let lines = text.lines().filter_map(|line| line.split_once('\t'));
            let lines = lines.map(|(label, text)| (label.to_owned(), text.to_owned()));
            Ok((row.get(0)?, lines.collect()))
        })?;
        Ok(rows.into_iter().collect())
    }

    fn factors(&self, template: &str) -> Result<Vec<FactorRow>, StoreError> {
        self.rows(
            "SELECT factor, is_figure, levels, range FROM factors WHERE template = ?1 ORDER BY place",
            params![template],
            |row| {
                Ok(FactorRow {
                    name: row.get(0)?,
                    is_figure: row.get(1)?,
                    levels: unsigned(row, 2)?,
                    range: row.get(3)?,
                })
            },
        )
    }

    fn settings(&self) -> Result<Vec<SettingRow>, StoreError> {
        let mut levels: BTreeMap<(u64, u64), BTreeMap<String, (u64, String)>> = BTreeMap::new();
        let sql = "SELECT cell, setting, factor, level, value FROM levels";
        let rows = self.rows(sql, [], |row| {
            let key = (unsigned(row, 0)?, unsigned(row, 1)?);
            Ok((
                key,
                row.get::<_, String>(2)?,
                (unsigned(row, 3)?, row.get(4)?),
            ))
        })?;
        for (key, factor, level) in rows {
            levels.entry(key).or_default().insert(factor, level);
        }
        let sql = "SELECT cell, setting, scheduler, template FROM settings ORDER BY cell, setting";
        let mut settings = self.rows(sql, [], |row| {
            Ok(SettingRow {
                cell: unsigned(row, 0)?,
                setting: unsigned(row, 1)?,
                scheduler: row.get(2)?,
                template: row.get(3)?,
                levels: BTreeMap::new(),
            })
        })?;
        for setting in &mut settings {
            let found = levels.remove(&(setting.cell, setting.setting));
            setting.levels = found.unwrap_or_default();
        }
        Ok(settings)
    }

    /// The cells that are complete.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn ends(&self) -> Result<BTreeMap<u64, End>, StoreError> {
        let sql = "SELECT cell, runs, most, half_width_percent, known FROM ends";
        let rows = self.rows(sql, [], |row| {
            let end = End {
                runs: row.get(1)?,
                most: row.get(2)?,
                half_width_percent: row.get(3)?,
                known: row.get(4)?,
            };
            Ok((unsigned(row, 0)?, end))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// The cells that cannot run, in the order of their numbers.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn refused(&self) -> Result<Vec<RefusedRow>, StoreError> {
        let sql = "SELECT refused.cell, machine, workload, why FROM refused \
                   JOIN cells ON cells.cell = refused.cell ORDER BY refused.cell";
        let mut rows = self.rows(sql, [], |row| {
            Ok(RefusedRow {
                cell: unsigned(row, 0)?,
                machine: row.get(1)?,
                workload: row.get(2)?,
                figures: BTreeMap::new(),
                why: row.get(3)?,
            })
        })?;
        let sql = "SELECT DISTINCT factor, value FROM levels WHERE cell = ?1 \
                   AND factor IN (SELECT factor FROM factors WHERE is_figure)";
        for row in &mut rows {
            let figures = self.rows(sql, params![row.cell as i64], |figure| {
                Ok((figure.get(0)?, figure.get(1)?))
            })?;
            row.figures = figures.into_iter().collect();
        }
        Ok(rows)
    }

    /// Cells, seeds, and how many settings of the cell have a run with numbers at the seed.
    pub(crate) fn seeds(&self) -> Result<Vec<(u64, u64, u64)>, StoreError> {
        let sql = "SELECT cell, seed, count(*) FROM runs WHERE EXISTS (\
                   SELECT 1 FROM metrics WHERE metrics.cell = runs.cell \
                   AND metrics.setting = runs.setting AND metrics.seed = runs.seed) \
                   GROUP BY cell, seed";
        self.rows(sql, [], |row| {
            Ok((unsigned(row, 0)?, unsigned(row, 1)?, unsigned(row, 2)?))
        })
    }

    /// Number of runs.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn runs(&self) -> Result<u64, StoreError> {
        let rows = self.rows("SELECT count(*) FROM runs", [], |row| unsigned(row, 0))?;
        Ok(rows.first().copied().unwrap_or(0))
    }

    /// The values of a number in one cell, by setting, in the order of seeds.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn samples_of_cell(
        &self,
        cell: u64,
        metric: &str,
    ) -> Result<BTreeMap<u64, Samples>, StoreError> {
        let sql = "SELECT setting, seed, value FROM metrics \
                   WHERE cell = ?1 AND metric = ?2 ORDER BY setting, seed";
        let rows = self.rows(sql, params![cell as i64, metric], |row| {
            Ok((unsigned(row, 0)?, (unsigned(row, 1)?, row.get(2)?)))
        })?;
        let mut samples: BTreeMap<u64, Samples> = BTreeMap::new();
        for (setting, sample) in rows {
            samples.entry(setting).or_default().push(sample);
        }
        Ok(samples)
    }

    /// The values of a number everywhere, by cell and setting, in the order of seeds.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn samples(&self, metric: &str) -> Result<BTreeMap<(u64, u64), Samples>, StoreError> {
        let sql = "SELECT cell, setting, seed, value FROM metrics \
                   WHERE metric = ?1 ORDER BY cell, setting, seed";
        let rows = self.rows(sql, params![metric], |row| {
            let key = (unsigned(row, 0)?, unsigned(row, 1)?);
            Ok((key, (unsigned(row, 2)?, row.get(3)?)))
        })?;
        let mut samples: BTreeMap<(u64, u64), Samples> = BTreeMap::new();
        for (key, sample) in rows {
            samples.entry(key).or_default().push(sample);
        }
        Ok(samples)
    }

    /// Unit and better direction of a number; `None`: no run has it.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn unit(&self, metric: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT unit FROM metric_names WHERE metric = ?1";
        let rows = self.rows(sql, params![metric], |row| row.get(0))?;
        Ok(rows.into_iter().next())
    }

    /// The names of numbers that runs have.
    pub(super) fn metric_names(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT metric FROM metric_names ORDER BY metric";
        self.rows(sql, [], |row| row.get(0))
    }

    /// A machine and a workload whose runs lack a number; `None`: all have it. The first cell of
    /// each with runs stands for the others.
    pub(super) fn place_without(
        &self,
        metric: &str,
    ) -> Result<Option<(String, String)>, StoreError> {
        let sql = "SELECT machine, workload FROM cells WHERE cell IN (\
                   SELECT min(cell) FROM cells \
                   WHERE cell NOT IN (SELECT cell FROM refused) GROUP BY machine, workload) AND NOT EXISTS (\
                   SELECT 1 FROM metrics WHERE metrics.cell = cells.cell AND metric = ?1) \
                   ORDER BY cell";
        let rows = self.rows(sql, params![metric], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().next())
    }

    pub(super) fn hash_of(&self, kind: &str, name: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT hash FROM provenance WHERE kind = ?1 AND name = ?2";
        let found = (self
            .connection
            .query_row(sql, params![kind, name], |row| row.get(0)))
        .optional();
        found.map_err(|error| self.failed(&error))
    }

    /// Cell and seed of the first run of some cell; `None`: there is no run.
    pub(crate) fn first_run(&self) -> Result<Option<(u64, u64)>, StoreError> {
        let sql = "SELECT cell, seed FROM runs ORDER BY cell, setting, seed LIMIT 1";
        let rows = self.rows(sql, [], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?;
        Ok(rows.into_iter().next())
    }

    /// Whether a run is the one that is stored.
    ///
    /// # Errors
    /// It is another one.
    pub(crate) fn check_run(
        &self,
        (cell, setting, seed): (u64, u64, u64),
        hash: u64,
    ) -> Result<(), StoreError> {
        let known = self.run_hash(cell as i64, setting as i64, seed as i64)?;
        let hash = format!("{hash:016x}");
        match known.filter(|known| *known != hash) {
            Some(known) => Err(self.another_run(seed as i64, cell as i64, &known, &hash)),
            None => Ok(()),
        }
    }

    pub(super) fn another_run(&self, seed: i64, cell: i64, known: &str, hash: &str) -> StoreError {
        let message = format!(
            "run {seed} of cell {cell} is stored with the identity {known}, and now has {hash}: the \
             program or what it read has changed; name another file"
        );
        refused(&self.path, &message)
    }

    pub(super) fn run_hash(
        &self,
        cell: i64,
        setting: i64,
        seed: i64,
    ) -> Result<Option<String>, StoreError> {
        let sql = "SELECT hash FROM runs WHERE cell = ?1 AND setting = ?2 AND seed = ?3";
        let mut statement =
            (self.connection.prepare_cached(sql)).map_err(|error| self.failed(&error))?;
        let found = statement.query_row(params![cell, setting, seed], |row| row.get(0));
        found.optional().map_err(|error| self.failed(&error))
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let read = |mut statement: rusqlite::CachedStatement<'_>| {
            let rows = statement.query_map(params, read)?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        (self.connection.prepare_cached(sql).and_then(read)).map_err(|error| self.failed(&error))
    }
}

pub(super) fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}
