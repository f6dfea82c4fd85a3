// SPDX-License-Identifier: GPL-2.0-only
//! Exit codes of `scx_alight`.

/// Ended as asked: by a signal, after `--duration`, by SysRq-S.
pub const DONE: u8 = 0;
/// This machine cannot run it (no permission, no sched_ext, another scheduler), or a decision
/// differed under `--verify`.
pub const FAILED: u8 = 1;
/// The command line, or a file that it names, is wrong.
pub const BAD_INPUT: u8 = 2;
/// The kernel ended the scheduler for an error.
pub const ENDED: u8 = 3;
