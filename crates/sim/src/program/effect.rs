// SPDX-License-Identifier: GPL-2.0-only
//! The effect of an operation of a program: how its task goes on.

/// How the task goes on after an operation has taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Go on with the next operation.
    Done,
    /// Go on with the operation of this number.
    Jump(u32),
    /// The task sleeps; woken, it goes on with the next operation.
    DoneAfterSleep,
    /// The task sleeps; woken, this operation takes effect again.
    RetryAfterSleep,
    /// This operation takes effect again after the charged kernel work.
    RetryAfterWork,
    /// The task gives the CPU up but stays runnable.
    Yield,
    /// The task was moved to another CPU.
    Moved,
    /// The task ends.
    Exit,
}
