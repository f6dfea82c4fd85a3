// SPDX-License-Identifier: GPL-2.0-only
//! What an operation of a program leaves to do.

/// What an operation's effect leaves to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Go on with the next operation.
    Done,
    /// Go on elsewhere.
    Jump(u32),
    /// The task sleeps; woken, it goes on with the next operation.
    DoneAfterSleep,
    /// The task sleeps; woken, this operation takes effect again.
    RetryAfterSleep,
    /// It takes effect again behind the kernel work that is charged.
    RetryAfterWork,
    /// The task gives the CPU up but stays runnable.
    Yield,
    /// The task was moved to another CPU.
    Moved,
    /// The task ends.
    Exit,
}
