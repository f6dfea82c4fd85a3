// SPDX-License-Identifier: GPL-2.0-only
//! How a load of the scheduler ended: what the kernel's exit information says.

use super::error::RunFailed;
use crate::skeleton::AlightSkel;
use libbpf_rs::{MapCore, MapFlags};
use std::fmt;

/// `scx_exit_info.kind` from which on the kernel ended the scheduler for an error
/// (SCX_EXIT_ERROR); these numbers are the same in all kernels.
const EXIT_ERROR: i32 = 1024;
/// The loader unregistered it (SCX_EXIT_UNREG).
const EXIT_UNREG: i32 = 64;
/// SysRq-S (SCX_EXIT_SYSRQ).
const EXIT_SYSRQ: i32 = 67;
/// Bit of the exit code by which the kernel asks for the scheduler to be loaded again, for
/// instance after CPU hotplug (SCX_ECODE_ACT_RESTART).
const EXIT_RESTART: i64 = 1 << 48;
/// Begins each line of the dump. The name of a task may contain a line end like those of the dump
/// itself. With this prefix the text after it is read as part of the dump, not as a message of this
/// program.
const OF_THE_DUMP: &str = "| ";

/// How one load of the scheduler ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As requested.
    Done,
    /// By SysRq-S.
    SysRq,
    /// The kernel asks for the scheduler to be loaded again, for this reason.
    Restart(String),
}

/// What the kernel says of an end that was not requested (`struct scx_exit_info`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExitInfo {
    /// Kind of the end, in words.
    pub reason: String,
    /// Details.
    pub message: String,
    /// State of CPUs and tasks at the end; may be empty.
    pub dump: String,
}

impl fmt::Display for ExitInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        if !self.dump.is_empty() {
            writeln!(f, "\n\nThe kernel's dump:")?;
            for line in self.dump.trim_end().lines() {
                writeln!(f, "{OF_THE_DUMP}{line}")?;
            }
        }
        Ok(())
    }
}

/// `scx_exit_info.kind`; 0 while the scheduler is loaded.
pub(super) fn exit_kind(skel: &AlightSkel<'_>) -> i32 {
    skel.maps
        .bss_data
        .as_deref()
        // SAFETY: valid for reads; the kernel writes it at any time.
        .map_or(0, |bss| unsafe { std::ptr::read_volatile(&bss.ended.kind) })
}

/// Why the scheduler is no longer loaded.
pub(super) fn end_of(skel: &AlightSkel<'_>) -> Result<End, RunFailed> {
    let ended = &skel
        .maps
        .bss_data
        .as_deref()
        .expect("the program has variables")
        .ended;
    let info = ExitInfo {
        reason: text(&ended.reason),
        message: text(&ended.message),
        dump: dump(skel),
    };
    judge(exit_kind(skel), ended.code, info)
}

fn judge(kind: i32, code: i64, info: ExitInfo) -> Result<End, RunFailed> {
    match kind {
        EXIT_ERROR.. => Err(RunFailed::Ended(info)),
        _ if code & EXIT_RESTART != 0 => Ok(End::Restart(info.to_string())),
        0 | EXIT_UNREG => Ok(End::Done),
        EXIT_SYSRQ => Ok(End::SysRq),
        _ => Err(RunFailed::Ended(info)),
    }
}

fn dump(skel: &AlightSkel<'_>) -> String {
    let value = skel
        .maps
        .exit_dump
        .lookup(&0_u32.to_ne_bytes(), MapFlags::ANY);
    let bytes = value.ok().flatten().unwrap_or_default();
    let text: Vec<u8> = bytes.into_iter().take_while(|byte| *byte != 0).collect();
    printable(&String::from_utf8_lossy(&text), &['\n', '\t'])
}

/// A C string, of one line.
fn text(chars: &[i8]) -> String {
    let bytes: Vec<u8> = chars
        .iter()
        .map(|c| *c as u8)
        .take_while(|c| *c != 0)
        .collect();
    printable(&String::from_utf8_lossy(&bytes), &[])
}

/// A text of the kernel with control characters escaped, except those in `own`, which the kernel
/// itself writes. The text has names of tasks, by which an attacker could send commands to a
/// terminal.
fn printable(text: &str, own: &[char]) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() && !own.contains(&c) => printable.extend(c.escape_default()),
            c => printable.push(c),
        }
    }
    printable
}

#[cfg(test)]
mod tests;
