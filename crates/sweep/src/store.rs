// SPDX-License-Identifier: GPL-2.0-only
//! The store of a sweep: one SQLite file that is written as the runs come in.
//!
//! Results are written in transactions, so a program that is killed loses only what was not written
//! yet. Rows have no order of their own: a sweep that was interrupted ends with the rows of one
//! that was not. Who writes holds a lock (`flock`) on the file; others can read meanwhile. SQLite's
//! rollback journal is used, and no write-ahead log: between two transactions the sweep is one
//! file.

mod export;
mod read;
mod results;
mod write;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use alight_compare::Selection;
use alight_sim::{AtFault, Fault};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{FlockOperation, flock};

use crate::sweep::Sweep;

pub use read::{CellRow, Data, End, FactorRow, RefusedRow, SettingRow, TemplateRow};
pub use results::{ResultRow, Results};

/// Name and version of the form.
pub const SCHEMA: &str = "alight.sweep-store/2";
const TABLES: &str = include_str!("store/schema.sql");
/// `application_id` of SQLite's header: "ALSW".
const APPLICATION: i32 = 0x414C_5357;
/// `user_version` of SQLite's header: the version of [`SCHEMA`].
const VERSION: i32 = 1;
/// Results are written at least so often.
const COMMIT_AFTER: Duration = Duration::from_millis(250);
/// The least size of a database.
const LEAST_BYTES: u64 = 512;
const FOLDER: &str = "is a folder; name the file of a store";
const WRITTEN: &str = "another process writes it; wait for its end, or name another store";
const NO_STORE: &str = "is no store of a sweep; name another file";
/// How long a reader waits for a writer's transaction, and the other way round.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is something else, or cannot go with this sweep.
    #[error("{file}: {message}")]
    Refused {
        /// The file.
        file: String,
        /// Why, and what to do.
        message: String,
    },
    /// The system cannot read or write it.
    #[error("{file}: {message}")]
    Host {
        /// The file.
        file: String,
        /// What the system said.
        message: String,
    },
}

impl AtFault for StoreError {
    fn fault(&self) -> Fault {
        match self {
            StoreError::Refused { .. } => Fault::Input,
            StoreError::Host { .. } => Fault::Host,
        }
    }
}

/// A store that is open.
pub struct Store {
    // Closed before the lock is: closing any handle of a file ends SQLite's own locks on it.
    connection: Connection,
    path: PathBuf,
    /// Since when a transaction has been open.
    begun: Option<Instant>,
    /// What the system said when it refused a write: nothing is written after it.
    broken: Option<String>,
    /// Of one that writes.
    lock: Option<(File, Held)>,
}

impl Store {
    /// Opens the store of a sweep to write, and makes it if there is none. `command` is the command
    /// line, for the provenance.
    ///
    /// # Errors
    /// A file that is no store, is of another version or of another sweep, or that another process
    /// writes; what the system refuses.
    pub fn open(path: &Path, sweep: &Sweep, command: &str) -> Result<Self, StoreError> {
        if path.is_dir() {
            return Err(refused(path, FOLDER));
        }
        // Closing any handle of a file ends the locks that this process holds on it, so a second
        // store of it is refused before the file is opened.
        let held = Held::of(path).map_err(|()| refused(path, WRITTEN))?;
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| host(path, error))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(error) if io::Error::from(error).kind() == io::ErrorKind::WouldBlock => {
                return Err(refused(path, WRITTEN));
            }
            Err(error) => return Err(host(path, io::Error::from(error))),
        }
        check_header(path, &lock)?;
        let held = match held {
            Some(held) => held,
            None => Held::of(path)
                .ok()
                .flatten()
                .ok_or_else(|| refused(path, WRITTEN))?,
        };
        let mut store = Store::connect(path, Some((lock, held)))?;
        match store.is_empty()? {
            true => store.create(sweep, command)?,
            false => {
                store.check_form()?;
                store.check_sweep(sweep)?;
                store.check_names(sweep)?;
                store.restate(sweep, command)?;
            }
        }
        Ok(store)
    }

    /// Opens a store to read.
    ///
    /// # Errors
    /// A file that is no store, or is of another version; what the system refuses.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        // Not opened here: closing it again would end the locks of a writer in this process.
        let found = path.metadata().map_err(|error| host(path, error))?;
        if found.is_dir() {
            return Err(refused(path, FOLDER));
        }
        if (1..LEAST_BYTES).contains(&found.len()) {
            return Err(refused(path, NO_STORE));
        }
        let store = Store::connect(path, None)?;
        if store.is_empty()? {
            return Err(refused(
                path,
                "is empty: no sweep has been stored in it yet",
            ));
        }
        store.check_form()?;
        Ok(store)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connect(path: &Path, lock: Option<(File, Held)>) -> Result<Self, StoreError> {
        // Without CREATE: the file is there. SQLite falls back to reading where it cannot write.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| sql(path, &e))?;
        connection
            .busy_timeout(PATIENCE)
            .map_err(|error| sql(path, &error))?;
        Ok(Store {
            connection,
            path: path.to_owned(),
            begun: None,
            broken: None,
            lock,
        })
    }

    /// A file of no bytes, or one whose first transaction did not come to its end.
    fn is_empty(&self) -> Result<bool, StoreError> {
        let tables = "SELECT count(*) FROM sqlite_master";
        let tables: i64 = (self.connection.query_row(tables, [], |row| row.get(0)))
            .map_err(|error| self.failed(&error))?;
        Ok(tables == 0 && self.pragma("application_id")? == 0)
    }

    fn pragma(&self, name: &str) -> Result<i32, StoreError> {
        self.connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(|error| self.failed(&error))
    }

    fn check_form(&self) -> Result<(), StoreError> {
        if self.pragma("application_id")? != APPLICATION {
            let message = "is a database, but no store of a sweep; name another file";
            return Err(refused(&self.path, message));
        }
        let version = self.pragma("user_version")?;
        if version != VERSION {
            let message = format!(
                "is a store of version {version}, this program reads version {VERSION} ({SCHEMA}); \
                 read it with the program that made it, or name another file"
            );
            return Err(refused(&self.path, &message));
        }
        Ok(())
    }

    /// Whether the runs in it are those that the sweep would make.
    fn check_sweep(&self, sweep: &Sweep) -> Result<(), StoreError> {
        for source in &sweep.sources {
            let known = self.hash_of(source.kind, &source.name)?;
            if known.as_deref() == Some(source.hash.as_str()) {
                continue;
            }
            let what = match (source.kind, known) {
                ("program", Some(version)) => format!(
                    "was made by alight {version}, this is alight {}: runs of two versions do not \
                     mix",
                    source.hash
                ),
                ("machine" | "workload", Some(_)) => format!(
                    "is of another sweep: the {} `{}` has changed since",
                    source.kind, source.name
                ),
                _ => {
                    "is of another sweep: machines, workloads, schedulers, factors, design, seed, \
                      `until` or options differ"
                        .to_owned()
                }
            };
            let message = format!("{what}; name another file");
            return Err(refused(&self.path, &message));
        }
        Ok(())
    }

    /// Whether the stored runs have the numbers that the file names now and did not name before:
    /// those that it named before were looked for at the first run.
    fn check_names(&self, sweep: &Sweep) -> Result<(), StoreError> {
        let names = self.metric_names()?;
        let asked = self.asked()?;
        let new = sweep.spec.metrics().into_iter();
        for name in new.filter(|name| !names.is_empty() && !asked.iter().any(|old| old == name)) {
            let Some((machine, workload)) = self.place_without(name)? else {
                continue;
            };
            let unknown = Selection::of([name]).map(|wanted| wanted.check_names(&names));
            let hint = match unknown {
                Ok(Err(unknown)) => unknown.words(),
                Ok(Ok(())) => format!("no number of them is called `{name}`"),
                Err(why) => why,
            };
            let message = format!(
                "the sweep now names the number `{name}`, and the stored runs of {machine}, \
                 '{workload}' have none: {hint}"
            );
            return Err(refused(&self.path, &message));
        }
        Ok(())
    }

    /// The numbers that the file named when the store was last written.
    fn asked(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT value FROM sweep WHERE key = ?1";
        let mut names = vec![];
        for key in ["objectives", "constraints"] {
            let texts = self.rows(sql, [key], |row| row.get::<_, String>(0))?;
            for text in texts {
                let list: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
                let of = list.iter().filter_map(|entry| entry["metric"].as_str());
                names.extend(of.map(str::to_owned));
            }
        }
        Ok(names)
    }

    /// Something in it cannot be read.
    pub(crate) fn damaged(&self, what: &str) -> StoreError {
        let message = format!("is damaged: {what} cannot be read; name another file");
        refused(&self.path, &message)
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        match sql(&self.path, error) {
            StoreError::Host { file, message } if self.lock.is_some() => StoreError::Host {
                file,
                message: format!("{message}; what was stored before is kept"),
            },
            other => other,
        }
    }
}

/// The file of a store that this process writes, by device and number. It is free again when this
/// is dropped.
struct Held((u64, u64));

/// All files that this process writes.
static HELD: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

impl Held {
    /// `None`: there is no such file yet.
    ///
    /// # Errors
    /// This process writes it already.
    fn of(path: &Path) -> Result<Option<Self>, ()> {
        let Ok(found) = path.metadata() else {
            return Ok(None);
        };
        let file = (found.dev(), found.ino());
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        match held.insert(file) {
            true => Ok(Some(Held(file))),
            false => Err(()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&self.0);
    }
}

/// Refuses a file that is neither empty nor a database. SQLite would take one of a few bytes for an
/// empty database, and write over it.
fn check_header(path: &Path, mut file: &File) -> Result<(), StoreError> {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let mut found = vec![];
    let read = file
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut found);
    read.map_err(|error| host(path, error))?;
    match found.is_empty() || found == MAGIC {
        true => Ok(()),
        false => Err(refused(path, NO_STORE)),
    }
}

fn refused(path: &Path, message: &str) -> StoreError {
    StoreError::Refused {
        file: path.display().to_string(),
        message: message.to_owned(),
    }
}

fn host(path: &Path, error: impl ToString) -> StoreError {
    StoreError::Host {
        file: path.display().to_string(),
        message: error.to_string(),
    }
}

/// What SQLite says, in words.
fn sql(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => refused(path, "is no store of a sweep; name another file"),
        Some(ErrorCode::DatabaseCorrupt) => host(path, "the file is damaged"),
        Some(ErrorCode::DiskFull) => host(path, "the disk is full"),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => host(
            path,
            "cannot be written: the file or its folder is read-only",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            host(path, "another process reads or writes it all the time")
        }
        _ => host(path, error),
    }
}

#[cfg(test)]
mod tests;
