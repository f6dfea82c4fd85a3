// SPDX-License-Identifier: GPL-2.0-only
//! The file in which a calibration keeps the points that it evaluated (`--keep`): a head that names the
//! machine and the program, then a line a point. Another program may evaluate otherwise.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use alight_published::calibrate::{Factors, Misfit};

use crate::failure::Failure;

/// An open file of points.
pub struct Kept {
    place: PathBuf,
    file: Mutex<File>,
}

impl Kept {
    /// Adds a point.
    pub fn keep(&self, point: &Factors, misfit: Misfit) -> io::Result<()> {
        let mut file = self
            .file
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        let written = file.write_all(line(point, misfit).as_bytes());
        written.map_err(|why| io::Error::new(why.kind(), told(&self.place, why)))
    }
}

fn told(place: &Path, why: impl std::fmt::Display) -> String {
    format!("{}: {why}", place.display())
}

/// The points of `file`, which is made if it is not there, and the file to add to.
///
/// # Errors
/// It cannot be read or written, or is of another machine or program, or is no such file.
pub fn open(file: &Path, machine: &str) -> Result<(Vec<(Factors, Misfit)>, Kept), Failure> {
    let host = |error: io::Error| Failure::Host(told(file, error));
    let mut options = OpenOptions::new();
    let opened = options.read(true).append(true).create(true).open(file);
    let mut opened = opened.map_err(host)?;
    let mut bytes = vec![];
    opened.read_to_end(&mut bytes).map_err(host)?;
    let text = String::from_utf8_lossy(&bytes);
    let head = head(machine).map_err(host)?;
    // A line without its end was being written when the calibration ended.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let points = match text.strip_prefix(&head) {
        Some(rest) => read(&rest[..whole - head.len()]).ok_or("a line of it is no point"),
        None if text.is_empty() => Ok(vec![]),
        None => Err("it is of another machine or another build of this program"),
    };
    let points = points.map_err(|why| {
        let why = format!("{why}; remove it, or name another file");
        Failure::BadInput(told(file, why))
    })?;
    opened.set_len(whole as u64).map_err(host)?;
    if text.is_empty() {
        opened.write_all(head.as_bytes()).map_err(host)?;
    }
    let kept = Kept {
        place: file.to_owned(),
        file: Mutex::new(opened),
    };
    Ok((points, kept))
}

/// The first line. Machines and studies are part of the program.
fn head(machine: &str) -> io::Result<String> {
    let mut program = DefaultHasher::new();
    program.write(&std::fs::read(std::env::current_exe()?)?);
    Ok(format!(
        "alight.points/1 {machine} {:016x}\n",
        program.finish()
    ))
}

fn line(point: &Factors, Misfit { value, is_whole }: Misfit) -> String {
    let factors = point.map(|factor| factor.to_string()).join(" ");
    let of = if is_whole { "whole" } else { "part" };
    format!("{factors} {value} {of}\n")
}

fn read(text: &str) -> Option<Vec<(Factors, Misfit)>> {
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [factors @ .., value, of] = &words[..] else {
                return None;
            };
            let factors: Option<Vec<u64>> = factors.iter().map(|word| word.parse().ok()).collect();
            let misfit = Misfit {
                value: value.parse().ok()?,
                is_whole: match *of {
                    "whole" => true,
                    "part" => false,
                    _ => return None,
                },
            };
            Some((factors?.try_into().ok()?, misfit))
        })
        .collect()
}

#[cfg(test)]
mod tests;
