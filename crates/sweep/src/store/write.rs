// SPDX-License-Identifier: GPL-2.0-only
//! Writing: the tables once, then results as they come.

use std::time::Instant;

use alight_compare::header::VERSION as PROGRAM;
use rusqlite::params;

use super::{APPLICATION, COMMIT_AFTER, SCHEMA, Store, StoreError, TABLES, VERSION, host};
use crate::store::End;
use crate::sweep::{BatchResult, Cell, RunResult, Sweep};

impl Store {
    /// Makes the tables and writes what is known before the first run, all of it or nothing.
    pub(super) fn create(&mut self, sweep: &Sweep, command: &str) -> Result<(), StoreError> {
        self.begin()?;
        self.execute(TABLES)?;
        self.execute(&format!(
            "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        ))?;
        for source in &sweep.sources {
            self.insert(
                "INSERT INTO provenance VALUES (?1, ?2, ?3, ?4)",
                params![source.kind, source.name, source.hash, source.text],
            )?;
        }
        for (index, template) in sweep.spec.templates.iter().enumerate() {
            let settings = sweep.settings_of(index);
            self.insert(
                "INSERT INTO templates VALUES (?1, ?2, ?3)",
                params![
                    template.name,
                    settings.start as i64,
                    (settings.end - settings.start) as i64
                ],
            )?;
            for (place, factor) in sweep.factors(Some(index)).iter().enumerate() {
                self.insert(
                    "INSERT INTO factors VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        template.name,
                        place as i64,
                        factor.name,
                        factor.is_figure,
                        factor.levels.count() as i64,
                        factor.levels.to_string()
                    ],
                )?;
            }
        }
        self.state(sweep, command)?;
        self.flush()
    }

    /// Writes what may differ from one run of the command to the next.
    pub(super) fn restate(&mut self, sweep: &Sweep, command: &str) -> Result<(), StoreError> {
        self.begin()?;
        self.state(sweep, command)?;
        // With more runs, cells that were complete are so no longer.
        let most = i64::from(sweep.spec.runs.most());
        self.insert("DELETE FROM ends WHERE most <> ?1", params![most])?;
        self.flush()
    }

    fn state(&self, sweep: &Sweep, command: &str) -> Result<(), StoreError> {
        let spec = &sweep.spec;
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        let base = spec.base.as_ref().map(|base| base.name.clone());
        let rows = [
            ("schema", SCHEMA.to_owned()),
            ("program", PROGRAM.to_owned()),
            ("title", spec.title.clone()),
            ("command", command.to_owned()),
            ("design", spec.design.name().to_owned()),
            ("seed", spec.seed.to_string()),
            ("runs", spec.runs.most().to_string()),
            (
                "until",
                spec.runs.until_metric().unwrap_or_default().to_owned(),
            ),
            ("base", base.unwrap_or_default()),
            ("cells", sweep.cells().to_string()),
            ("objectives", json(serde_json::to_string(&spec.objectives))),
            (
                "constraints",
                json(serde_json::to_string(&spec.constraints)),
            ),
            ("matters_percent", spec.matters_percent.to_string()),
        ];
        for (key, value) in rows {
            self.insert("REPLACE INTO sweep VALUES (?1, ?2)", params![key, value])?;
        }
        let hash = xxhash_rust::xxh3::xxh3_64(spec.text.as_bytes());
        self.insert(
            "REPLACE INTO provenance VALUES ('file', 'sweep', ?1, ?2)",
            params![format!("{hash:016x}"), spec.text],
        )
    }

    /// Adds what a batch gave, all of it or nothing. It is on the disk after [`Store::flush`], or
    /// within a moment.
    ///
    /// # Errors
    /// What the system refuses, now or at an earlier write: a store that could not write once
    /// writes no more. Another result of a run that is stored already.
    pub fn add(&mut self, sweep: &Sweep, result: &BatchResult) -> Result<(), StoreError> {
        self.attempt(|store| {
            store.begin()?;
            store.execute("SAVEPOINT batch")?;
            let added = store.add_all(sweep, result);
            if let Err(StoreError::Refused { .. }) = &added {
                store.execute("ROLLBACK TO batch")?;
            }
            added.and_then(|()| store.execute("RELEASE batch"))?;
            match store.begun {
                Some(begun) if begun.elapsed() >= COMMIT_AFTER => store.commit(),
                _ => Ok(()),
            }
        })
    }

    /// Does it. If the system refuses, what was not written yet is given up: a transaction that
    /// lost some of its rows must not be written.
    fn attempt(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if let Some(message) = &self.broken {
            return Err(host(&self.path, message));
        }
        let done = write(self);
        if let Err(StoreError::Host { message, .. }) = &done {
            self.broken = Some(message.clone());
            self.begun = None;
            // Where SQLite has ended it already, there is none to roll back.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn add_all(&self, sweep: &Sweep, result: &BatchResult) -> Result<(), StoreError> {
        let cell = sweep.cell(result.batch.cell);
        self.add_cell(sweep, &cell)?;
        for metric in &result.metrics {
            self.insert(
                "INSERT OR IGNORE INTO metric_names VALUES (?1, ?2, ?3, ?4)",
                params![metric.name, metric.kind, metric.unit, metric.better],
            )?;
        }
        let number = result.batch.cell as i64;
        for setting in &result.settings {
            for run in &setting.runs {
                let (id, seed) = (setting.setting as i64, run.seed as i64);
                let hash = format!("{:016x}", run.hash);
                let known = self.run_hash(number, id, seed)?;
                if let Some(known) = known.filter(|known| *known != hash) {
                    return Err(self.another_run(seed, number, &known, &hash));
                }
                self.insert(
                    "INSERT OR IGNORE INTO runs VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![number, id, seed, hash, run.end_ns as i64],
                )?;
                self.add_numbers((number, id, seed), result, run)?;
            }
        }
        Ok(())
    }

    fn add_numbers(
        &self,
        (cell, setting, seed): (i64, i64, i64),
        result: &BatchResult,
        run: &RunResult,
    ) -> Result<(), StoreError> {
        for (place, value) in &run.values {
            let Some(metric) = result.metrics.get(*place as usize) else {
                continue;
            };
            self.insert(
                "INSERT OR IGNORE INTO metrics VALUES (?1, ?2, ?3, ?4, ?5)",
                params![cell, setting, seed, metric.name, value],
            )?;
        }
        for (place, decisions) in &run.steps {
            let Some(step) = BatchResult::step_name(*place) else {
                continue;
            };
            self.insert(
                "INSERT OR IGNORE INTO steps VALUES (?1, ?2, ?3, ?4, ?5)",
                params![cell, setting, seed, step, *decisions as i64],
            )?;
        }
        Ok(())
    }

    fn add_cell(&self, sweep: &Sweep, cell: &Cell) -> Result<(), StoreError> {
        let (machine, workload) = sweep.place(cell);
        let number = cell.number as i64;
        let sql = "INSERT OR IGNORE INTO cells VALUES (?1, ?2, ?3)";
        let added = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params![number, machine, workload]))
            .map_err(|error| self.failed(&error))?;
        if added == 0 {
            return Ok(());
        }
        for setting in &cell.settings {
            let template = setting
                .template
                .map(|index| &sweep.spec.templates[index].name);
            self.insert(
                "INSERT INTO settings VALUES (?1, ?2, ?3, ?4)",
                params![
                    number,
                    setting.number as i64,
                    setting.scheduler.name,
                    template
                ],
            )?;
            for (factor, level) in sweep.factors(setting.template).iter().zip(&setting.levels) {
                self.insert(
                    "INSERT INTO levels VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        number,
                        setting.number as i64,
                        factor.name,
                        *level as i64,
                        factor.levels.text(*level),
                        factor.levels.number(*level)
                    ],
                )?;
            }
        }
        Ok(())
    }

    /// Notes that a cell is complete.
    ///
    /// # Errors
    /// As [`Store::add`].
    pub fn end(&mut self, cell: u64, end: &End) -> Result<(), StoreError> {
        self.attempt(|store| {
            store.begin()?;
            store.insert(
                "REPLACE INTO ends VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    cell as i64,
                    end.runs,
                    end.most,
                    end.half_width_percent,
                    end.known
                ],
            )
        })
    }

    /// Notes that a cell cannot run. Runs that it has are taken away: whether there are any hangs on
    /// the order in which its batches ran.
    ///
    /// # Errors
    /// As [`Store::add`].
    pub(crate) fn refuse(&mut self, sweep: &Sweep, cell: u64, why: &str) -> Result<(), StoreError> {
        self.attempt(|store| {
            store.begin()?;
            store.add_cell(sweep, &sweep.cell(cell))?;
            for table in ["runs", "metrics", "steps", "ends"] {
                let sql = format!("DELETE FROM {table} WHERE cell = ?1");
                store.insert(&sql, params![cell as i64])?;
            }
            store.insert(
                "REPLACE INTO refused VALUES (?1, ?2)",
                params![cell as i64, why],
            )
        })
    }

    /// Notes that a cell is complete no longer.
    pub(crate) fn reopen(&mut self, cell: u64) -> Result<(), StoreError> {
        self.attempt(|store| {
            store.begin()?;
            store.insert("DELETE FROM ends WHERE cell = ?1", params![cell as i64])
        })
    }

    /// Writes to the disk what was added.
    ///
    /// # Errors
    /// As [`Store::add`]. What was added since the last time is lost then, and nothing else.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.attempt(Store::commit)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        match self.begun.take() {
            Some(_) => self.execute("COMMIT"),
            None => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        if self.begun.is_none() {
            self.execute("BEGIN IMMEDIATE")?;
            self.begun = Some(Instant::now());
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let executed = self.connection.execute_batch(sql);
        executed.map_err(|error| self.failed(&error))
    }

    fn insert(&self, sql: &str, row: impl rusqlite::Params) -> Result<(), StoreError> {
        let inserted =
            (self.connection.prepare_cached(sql)).and_then(|mut statement| statement.execute(row));
        inserted.map(drop).map_err(|error| self.failed(&error))
    }
}
