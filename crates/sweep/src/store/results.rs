// SPDX-License-Identifier: GPL-2.0-only
//! All numbers of all runs, for tables.

use std::collections::HashMap;

use super::read::unsigned;
use super::{Store, StoreError};
use crate::sweep::MetricName;

/// All numbers of all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The numbers that some run has, by name.
    pub metrics: Vec<MetricName>,
    /// Their values, in the order of cells, settings, seeds and names.
    pub rows: Vec<ResultRow>,
}

/// A number of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResultRow {
    /// The cell.
    pub cell: u64,
    /// The setting; 0 is the base.
    pub setting: u64,
    /// The seed.
    pub seed: u64,
    /// Place of the number among [`Results::metrics`].
    pub metric: usize,
    /// Its value, in its unit.
    pub value: f64,
}

impl Store {
    /// All numbers of all runs.
    ///
    /// # Errors
    /// As [`Store::data`].
    pub fn results(&self) -> Result<Results, StoreError> {
        let sql = "SELECT metric, kind, unit, better FROM metric_names ORDER BY metric";
        let metrics = self.rows(sql, [], |row| {
            Ok(MetricName {
                name: row.get(0)?,
                kind: row.get(1)?,
                unit: row.get(2)?,
                better: row.get(3)?,
            })
        })?;
        let names = metrics.iter().map(|metric| metric.name.clone());
        let places: HashMap<String, usize> = names.zip(0..).collect();
        let sql = "SELECT cell, setting, seed, metric, value FROM metrics \
                   ORDER BY cell, setting, seed, metric";
        let rows = self.rows(sql, [], |row| {
            let metric: String = row.get(3)?;
            // A damaged file may lack a name; such a number has no unit.
            let Some(&metric) = places.get(&metric) else {
                return Ok(None);
            };
            Ok(Some(ResultRow {
                cell: unsigned(row, 0)?,
                setting: unsigned(row, 1)?,
                seed: unsigned(row, 2)?,
                metric,
                value: row.get(4)?,
            }))
        })?;
        let rows = rows.into_iter().flatten().collect();
        Ok(Results { metrics, rows })
    }
}
