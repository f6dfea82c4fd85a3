// SPDX-License-Identifier: GPL-2.0-only
//! Reading single values out of a sysfs tree: absent is an answer, unusable is
//! an error that names the file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::files::Files;
use crate::cpuset::CpuSet;
use crate::error::Error;

/// Longest text quoted in an error, in characters.
const QUOTED: usize = 40;

pub(crate) struct Tree {
    root: PathBuf,
    /// `None`: they are on disk below `root`, else `root` is the archive that they are from.
    files: Option<Files>,
}

impl Tree {
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            files: None,
        }
    }

    /// The tree in the archive or dump called `name`.
    pub fn of(name: &Path, files: Files) -> Self {
        Self {
            root: name.to_owned(),
            files: Some(files),
        }
    }

    /// Text of a file without surrounding blanks; `None` where it is missing,
    /// not ours to read or has nothing to say (`ENODEV` of an offline CPU).
    pub fn text(&self, path: &str) -> Result<Option<String>, Error> {
        let Some(bytes) = self.bytes(path)? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    fn bytes(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, Error> {
        if let Some(files) = &self.files {
            return Ok(files.bytes(path).map(Cow::Borrowed));
        }
        let path = self.root.join(path);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(Cow::Owned(bytes))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(source) => Err(Error::Read { path, source }),
        }
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

    /// Numbers in `range`, separated by blanks.
    pub fn numbers(
        &self,
        path: &str,
        range: &RangeInclusive<u64>,
    ) -> Result<Option<Vec<u64>>, Error> {
        let (least, most) = (range.start(), range.end());
        let expected = format!("whole numbers from {least} to {most}, separated by blanks");
        self.parsed(path, &expected, |text| {
            let numbers = text.split_whitespace().map(|word| word.parse().ok());
            numbers
                .map(|number| number.filter(|n| range.contains(n)))
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

    /// CPUs from the file `name` in `folder` or, where that says nothing, from the
    /// mask that the kernel shows beside it: `core_cpus_list` has `core_cpus`,
    /// `shared_cpu_list` has `shared_cpu_map`, `cpulist` has `cpumap`.
    pub fn cpus_or_mask(&self, folder: &str, name: &str) -> Result<Option<CpuSet>, Error> {
        let mask = match name {
            "cpulist" => "cpumap".to_owned(),
            "shared_cpu_list" => "shared_cpu_map".to_owned(),
            _ => name.trim_end_matches("_list").to_owned(),
        };
        match self.cpus(&format!("{folder}/{name}"))? {
            Some(cpus) => Ok(Some(cpus)),
            None => self.mask(&format!("{folder}/{mask}")),
        }
    }

    /// CPUs as a mask: words of 32 bits, hexadecimal, the highest first.
    fn mask(&self, path: &str) -> Result<Option<CpuSet>, Error> {
        self.parsed(
            path,
            "a mask of CPUs such as `ff` or `3,00000000`",
            |text| {
                let words: Vec<&str> = text.split(',').collect();
                let (highest, others) = words.split_first()?;
                let padded = others.iter().all(|word| word.len() == 8);
                if highest.is_empty() || !padded {
                    return None;
                }
                let mut cpus = CpuSet::new();
                for (place, digit) in words.concat().chars().rev().enumerate() {
                    let bits = digit.to_digit(16)?;
                    for bit in (0..4).filter(|bit| bits & (1 << bit) != 0) {
                        let cpu = place * 4 + bit;
                        if cpu >= CpuSet::MAX {
                            return None;
                        }
                        cpus.insert(cpu);
                    }
                }
                Some(cpus)
            },
        )
    }

    /// A size such as `512K`, in KiB, in `range`.
    pub fn kib(&self, path: &str, range: &RangeInclusive<u64>) -> Result<Option<u64>, Error> {
        let (least, most) = (range.start(), range.end());
        let expected = format!("a size such as `512K`, from {least}K to {most}K");
        self.parsed(path, &expected, |text| {
            let (digits, factor) = match text.strip_suffix('M') {
                Some(digits) => (digits, 1024),
                None => (text.strip_suffix('K')?, 1),
            };
            let kib = digits.parse::<u64>().ok()?.checked_mul(factor)?;
            range.contains(&kib).then_some(kib)
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
        let names = self.names_in(folder)?;
        let numbers = names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok());
        let distinct: BTreeSet<u64> = numbers.collect();
        Ok(distinct.into_iter().collect())
    }

    fn names_in(&self, folder: &str) -> Result<Vec<String>, Error> {
        if let Some(files) = &self.files {
            let names = files.names_in(folder).into_iter();
            return Ok(names.map(str::to_owned).collect());
        }
        let path = self.root.join(folder);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(source) => return Err(Error::Read { path, source }),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.collect())
    }

    /// Is there such a file or folder?
    pub fn exists(&self, path: &str) -> bool {
        match &self.files {
            Some(files) => files.exists(path),
            None => self.root.join(path).exists(),
        }
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
