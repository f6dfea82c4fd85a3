// SPDX-License-Identifier: GPL-2.0-only
//! Files of sysfs that are changed for a while. All that was changed comes back, the last change
//! first, when the value goes: at the end, after an error, after a panic.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The changes so far.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Files with their texts before.
    before: Vec<(PathBuf, String)>,
    /// Files that could not be brought back.
    lost: Vec<String>,
}

impl Changes {
    /// Gives `file` another text.
    ///
    /// # Errors
    /// It cannot be read or written; it is as before then.
    pub fn set(&mut self, file: &Path, text: &str) -> io::Result<()> {
        let before = fs::read_to_string(file)?.trim_end().to_owned();
        if before == text {
            return Ok(());
        }
        // Kept before the write: one that fails half-way is taken back too.
        self.before.push((file.to_owned(), before));
        let written = fs::write(file, text);
        if written.is_err() {
            self.back_to(self.before.len() - 1);
        }
        written
    }

    /// Where [`Changes::back_to`] can come back to.
    pub fn mark(&self) -> usize {
        self.before.len()
    }

    /// Takes back what was changed since `mark`.
    pub fn back_to(&mut self, mark: usize) {
        while self.before.len() > mark {
            let Some((file, text)) = self.before.pop() else {
                return;
            };
            let now = fs::read_to_string(&file);
            if now.is_ok_and(|now| now.trim_end() == text) {
                continue;
            }
            if let Err(error) = fs::write(&file, &text) {
                let file = file.display();
                self.lost.push(format!("{file} was {text}: {error}"));
            }
        }
    }

    /// Files that could not be brought back, each with what it was.
    pub fn lost(&self) -> &[String] {
        &self.lost
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.back_to(0);
    }
}

#[cfg(test)]
mod tests;
