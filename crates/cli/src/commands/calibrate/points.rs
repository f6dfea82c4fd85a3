// SPDX-License-Identifier: GPL-2.0-only
//! The file in which a calibration keeps the points that it evaluated (`--keep`): a head that names the
//! machine and the program, then a line a point. Another program may evaluate otherwise.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use alight_published::calibrate::{Factors, Misfit};

use crate::failure::Failure;

/// An open file of points.
pub struct Kept(Mutex<File>);

impl Kept {
    /// Adds a point.
    pub fn keep(&self, point: &Factors, misfit: Misfit) -> io::Result<()> {
        let line = line(point, misfit);
        let mut file = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        file.write_all(line.as_bytes())
    }
}

/// The points of `file`, which is made if it is not there, and the file to add to.
///
/// # Errors
/// It cannot be read or written, or is of another machine or program, or is no such file.
pub fn open(file: &Path, machine: &str) -> Result<(Vec<(Factors, Misfit)>, Kept), Failure> {
    let host = |error: io::Error| Failure::Host(format!("{}: {error}", file.display()));
    let mut options = OpenOptions::new();
    let mut opened = (options.read(true).write(true).create(true).truncate(false))
        .open(file)
        .map_err(host)?;
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(host)?;
    let head = head(machine).map_err(host)?;
    // A line without its end was being written when the calibration ended.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let points = match text.strip_prefix(&head) {
        Some(rest) => read(&rest[..whole - head.len()]).ok_or("a line of it is no point"),
        None if text.is_empty() => Ok(vec![]),
        None => Err("it is of another machine or another build of this program"),
    };
    let points = points.map_err(|why| {
        Failure::BadInput(format!(
            "{}: {why}; remove it, or name another file",
            file.display()
        ))
    })?;
    let end = if text.is_empty() {
        opened.write_all(head.as_bytes()).map_err(host)?;
        head.len()
    } else {
        whole
    };
    opened.set_len(end as u64).map_err(host)?;
    opened.seek(SeekFrom::End(0)).map_err(host)?;
    Ok((points, Kept(Mutex::new(opened))))
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
