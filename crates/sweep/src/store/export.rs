// SPDX-License-Identifier: GPL-2.0-only
//! The store as one table of text: a row for each number of each run.

use std::collections::BTreeMap;

use super::{Store, StoreError};

/// Columns before those of the factors.
const HEAD: [&str; 6] = [
    "cell",
    "machine",
    "workload",
    "setting",
    "scheduler",
    "template",
];
/// Columns behind them.
const TAIL: [&str; 6] = ["seed", "metric", "kind", "unit", "better", "value"];

impl Store {
    /// The table as CSV (RFC 4180, lines end in a newline), with a column for each factor.
    ///
    /// # Errors
    /// What the system refuses, and a file that is damaged.
    pub fn csv(&self) -> Result<String, StoreError> {
        let data = self.data()?;
        let mut factors: Vec<&str> = vec![];
        for factor in data.templates.iter().flat_map(|template| &template.factors) {
            if !factors.contains(&factor.name.as_str()) {
                factors.push(&factor.name);
            }
        }
        let mut lines = csv::Writer::from_writer(vec![]);
        let head = HEAD.into_iter().chain(factors.iter().copied()).chain(TAIL);
        // Nothing can fail that is written to memory.
        let _ = lines.write_record(head);
        let settings: BTreeMap<(u64, u64), _> = (data.settings.iter())
            .map(|setting| ((setting.cell, setting.setting), setting))
            .collect();
        let sql = "SELECT cell, setting, machine, workload, scheduler, template, seed, metric, \
                   kind, unit, better, value FROM results ORDER BY cell, setting, seed, metric";
        let rows = self.rows(sql, [], |row| {
            let number = |index| row.get::<_, i64>(index);
            let (cell, setting) = (number(0)?, number(1)?);
            let text = |index| {
                row.get::<_, Option<String>>(index)
                    .map(Option::unwrap_or_default)
            };
            let found = settings.get(&(cell as u64, setting as u64));
            let mut fields = vec![
                cell.to_string(),
                text(2)?,
                text(3)?,
                setting.to_string(),
                text(4)?,
                text(5)?,
            ];
            for factor in &factors {
                let level = found.and_then(|setting| setting.levels.get(*factor));
                fields.push(level.map(|(_, value)| value.clone()).unwrap_or_default());
            }
            fields.push(number(6)?.to_string());
            for index in 7..11 {
                fields.push(text(index)?);
            }
            fields.push(row.get::<_, f64>(11)?.to_string());
            let _ = lines.write_record(&fields);
            Ok(())
        });
        rows?;
        let bytes = lines.into_inner().unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
