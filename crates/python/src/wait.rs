// SPDX-License-Identifier: GPL-2.0-only
//! Work that leaves the interpreter free, and ends when a signal says so.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Says when the work is over, also when it ends by a panic.
#[derive(Default)]
struct Over {
    is: Mutex<bool>,
    bell: Condvar,
}

impl Over {
    /// Waits for the end, for the time between two looks at most; true: it is over.
    fn wait(&self) -> bool {
        let is = self.is.lock().expect("no holder panics");
        let (is, _) = self
            .bell
            .wait_timeout_while(is, LOOK, |is| !*is)
            .expect("no holder panics");
        *is
    }
}

struct Ring<'a>(&'a Over);

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        *self.0.is.lock().expect("no holder panics") = true;
        self.0.bell.notify_all();
    }
}

/// Does `work` as [`interruptible_telling`] does, where nobody listens.
///
/// # Errors
/// What a handler of a signal raised.
///
/// # Panics
/// If `work` does.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    interruptible_telling(py, work, || Ok(()))
}

/// Does `work` on another thread; other threads of the interpreter run meanwhile. A signal whose
/// handler raises an exception, such as ctrl-C, raises the flag that `work` is given, and is raised
/// when `work` has ended. Meanwhile `tell` is called again and again by this thread, which holds the
/// interpreter; what it raises ends `work` likewise.
///
/// # Errors
/// What a handler of a signal raised, or `tell`.
///
/// # Panics
/// If `work` does.
pub fn interruptible_telling<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut tell: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    let over = Over::default();
    let mut raised = Ok(());
    let result = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _ring = Ring(&over);
            work(&cancel)
        });
        while !py.detach(|| over.wait()) {
            if raised.is_ok() {
                raised = py.check_signals().and_then(|()| tell());
                cancel.store(raised.is_err(), Ordering::Relaxed);
            }
        }
        py.detach(|| worker.join())
    });
    raised?;
    Ok(result.unwrap_or_else(|panic| resume_unwind(panic)))
}
