// SPDX-License-Identifier: GPL-2.0-only
//! Reading single values out of a sysfs tree: absent is an answer, unusable is
//! an error that names the file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::cpuset::CpuSet;
use crate::error::Error;

/// Longest text quoted in an error, in characters.
const QUOTED: usize = 40;

pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Text of a file without surrounding blanks; `None` where it is missing,
    /// not ours to read or has nothing to say (`ENODEV` of an offline CPU).
    pub fn text(&self, path: &str) -> Result<Option<String>, Error> {
        let path = self.root.join(path);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(source) => return Err(Error::Read { path, source }),
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// A decimal number.
    pub fn number(&self, path: &str) -> Result<Option<u64>, Error> {
        self.parsed(path, "a whole number", |text| text.parse().ok())
    }

    /// A number that may be hexadecimal with `0x`.
    pub fn register(&self, path: &str) -> Result<Option<u64>, Error> {
        self.parsed(path, "a number such as 0x410fd034", |text| {
            match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            }
        })
    }

    /// Numbers separated by blanks.
    pub fn numbers(&self, path: &str) -> Result<Option<Vec<u64>>, Error> {
        self.parsed(path, "whole numbers separated by blanks", |text| {
            text.split_whitespace()
                .map(|word| word.parse().ok())
                .collect()
        })
    }

    /// A CPU list such as `0-3,8`, or CPUs separated by blanks as cpufreq
    /// writes them.
    pub fn cpus(&self, path: &str) -> Result<Option<CpuSet>, Error> {
        self.parsed(path, "a CPU list such as `0-3,8`", |text| {
            let list: Vec<&str> = text.split_whitespace().collect();
            list.join(",").parse().ok()
        })
    }

    /// A size such as `512K`, in KiB.
    pub fn kib(&self, path: &str) -> Result<Option<u64>, Error> {
        self.parsed(path, "a size such as `512K`", |text| {
            let (digits, factor) = match text.strip_suffix('M') {
                Some(digits) => (digits, 1024),
                None => (text.strip_suffix('K')?, 1),
            };
            digits.parse::<u64>().ok()?.checked_mul(factor)
        })
    }

    pub fn parsed<T>(
        &self,
        path: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.text(path)? else {
            return Ok(None);
        };
        match parse(&text) {
            Some(value) => Ok(Some(value)),
            None => Err(Error::Captured {
                path: self.root.join(path),
                found: text.chars().take(QUOTED).collect(),
                expected: expected.to_owned(),
            }),
        }
    }

    /// Numbers N of the entries `prefixN` in a folder, in rising order.
    pub fn numbered(&self, folder: &str, prefix: &str) -> Result<Vec<u64>, Error> {
        let path = self.root.join(folder);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(source) => return Err(Error::Read { path, source }),
        };
        let mut numbers: Vec<u64> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                entry
                    .file_name()
                    .to_str()?
                    .strip_prefix(prefix)?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Full path of a file, for messages.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    /// `ENODEV` and `ENXIO`: the attribute exists but its device does not.
    const NO_DEVICE: [i32; 2] = [19, 6];
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory
    ) || error
        .raw_os_error()
        .is_some_and(|code| NO_DEVICE.contains(&code))
}
