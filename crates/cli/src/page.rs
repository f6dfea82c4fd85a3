// SPDX-License-Identifier: GPL-2.0-only
//! The report as a page, beside the report that is printed: `--html FILE`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::PageArg;
use crate::failure::Failure;
use crate::output;

impl PageArg {
    /// Refuses a file that cannot become a page, before what takes long.
    ///
    /// # Errors
    /// Another ending than `.html`, and a place where nothing can be written.
    pub fn check(&self) -> Result<(), Failure> {
        let Some(file) = &self.html else {
            return Ok(());
        };
        check_ending(file, "--html", "a page is HTML", "html")?;
        output::try_place(file)
    }

    /// Whether a page is to be written.
    pub fn is_wanted(&self) -> bool {
        self.html.is_some()
    }

    /// Writes the page, if one is wanted; `aloud` says where.
    ///
    /// # Errors
    /// What the system said.
    pub fn write(&self, aloud: bool, page: impl FnOnce() -> String) -> Result<(), Failure> {
        let Some(file) = &self.html else {
            return Ok(());
        };
        output::save(file, &page())?;
        match aloud {
            true => output::print(&format!("page     {}\n", file.display())),
            false => Ok(()),
        }
    }

    /// What to add where an interrupted command writes a page.
    pub fn without_timelines(&self) -> &'static str {
        match self.is_wanted() {
            true => "; the page has no timelines",
            false => "",
        }
    }

    /// Says that the page is not whole, if ctrl-C came while its timelines were made. The report is
    /// printed already.
    ///
    /// # Errors
    /// That it is so.
    pub fn is_whole(&self, cancel: &AtomicBool) -> Result<(), Failure> {
        match self.is_wanted() && cancel.load(Ordering::Relaxed) {
            true => Err(Failure::Interrupted(
                "interrupted: the report is complete, and the page has no timelines".to_owned(),
            )),
            false => Ok(()),
        }
    }
}

/// Refuses a file whose name promises another format.
///
/// # Errors
/// Another ending.
pub fn check_ending(file: &Path, option: &str, what: &str, ending: &str) -> Result<(), Failure> {
    match file.extension().is_some_and(|found| found == ending) {
        true => Ok(()),
        false => Err(Failure::BadInput(format!(
            "{option} '{}': {what}; name a file that ends in .{ending}",
            alight_text::cell(&file.display().to_string())
        ))),
    }
}
