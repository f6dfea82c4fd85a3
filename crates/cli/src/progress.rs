// SPDX-License-Identifier: GPL-2.0-only
//! The progress of runs, of many and within each, shown where a person looks.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use alight_sim::WHOLE;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar of `runs` on standard error; nothing if that is no terminal.
pub fn bar(runs: u64) -> ProgressBar {
    // indicatif draws on terminals only.
    let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left")
        .expect("a valid template");
    bar.with_style(style)
}

/// Runs of which each tells how far it is: a bar on standard error; nothing if that is no terminal.
pub struct Runs {
    bar: ProgressBar,
    asked: u64,
    complete: AtomicU64,
}

impl Runs {
    /// A bar of so many runs.
    pub fn of(asked: u64) -> Self {
        let all = asked * u64::from(WHOLE);
        let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
        let template = match asked {
            1 => "{bar:40} {percent} %, {eta} left",
            _ => "{bar:40} {msg} runs, {eta} left",
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        Runs {
            bar: bar.with_style(style).with_message(format!("0/{asked}")),
            asked,
            complete: AtomicU64::new(0),
        }
    }

    /// Makes one run, which is to tell how much of it is done.
    pub fn one<T>(&self, run: impl FnOnce(&dyn Fn(u32)) -> T) -> T {
        let told = Cell::new(0);
        let tell = |parts: u32| {
            let parts = parts.clamp(told.get(), WHOLE);
            self.bar.inc(u64::from(parts - told.replace(parts)));
        };
        let outcome = run(&tell);
        tell(WHOLE);
        let complete = self.complete.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{complete}/{}", self.asked));
        outcome
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
