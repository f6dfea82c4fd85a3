// SPDX-License-Identifier: GPL-2.0-only
//! How a load of the scheduler ended: what the kernel's exit information says.

use super::error::Error;
use crate::skeleton::AlightSkel;

/// `scx_exit_info.kind` from which on the kernel ended the scheduler for an error.
const EXIT_ERROR: i32 = 1024;
/// Bit of the exit code by which the kernel asks to be loaded anew, for instance after CPU hotplug.
const EXIT_RESTART: i64 = 1 << 48;

/// How one load of the scheduler ended.
pub(super) enum End {
    /// As asked.
    Done,
    /// The machine is another, in this way: load again.
    Restart(&'static str),
}

/// `scx_exit_info.kind`; 0 while the scheduler is loaded.
pub(super) fn exit_kind(skel: &AlightSkel<'_>) -> i32 {
    skel.maps
        .bss_data
        .as_deref()
        .map_or(0, |bss| bss.ended.kind)
}

/// Why the scheduler is no longer there.
pub(super) fn end_of(skel: &AlightSkel<'_>) -> Result<End, Error> {
    let ended = &skel
        .maps
        .bss_data
        .as_deref()
        .expect("the program has variables")
        .ended;
    if ended.kind >= EXIT_ERROR {
        return Err(Error::Ended {
            reason: text(&ended.reason),
            message: text(&ended.message),
        });
    }
    if ended.code & EXIT_RESTART != 0 {
        return Ok(End::Restart("CPUs came or went"));
    }
    Ok(End::Done)
}

/// A C string.
fn text(chars: &[i8]) -> String {
    let bytes: Vec<u8> = chars
        .iter()
        .map(|c| *c as u8)
        .take_while(|c| *c != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
