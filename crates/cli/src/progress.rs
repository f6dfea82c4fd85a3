// SPDX-License-Identifier: GPL-2.0-only
//! The progress of what takes long, shown where a person looks.

use std::sync::atomic::{AtomicU64, Ordering};

use alight_compare::Progress;
use alight_compare::progress::Listener;
use alight_published::calibrate::millionths;
use alight_sim::WHOLE;
use alight_sweep::work::Standing;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error; nothing if that is no terminal.
pub struct Bar {
    // indicatif draws on terminals only.
    bar: ProgressBar,
    asked: u64,
    complete: AtomicU64,
}

impl Bar {
    /// Of so many runs.
    pub fn of(asked: usize) -> Self {
        Bar::with_template(
            asked,
            match asked {
                1 => "{bar:40} {percent} %, {eta} left",
                _ => "{bar:40} {msg} runs, {eta} left",
            },
        )
    }

    /// Of so many runs that are made once more for a page.
    pub fn of_page(asked: usize) -> Self {
        Bar::with_template(
            asked,
            match asked {
                1 => "{bar:40} {percent} % of the page's run, {eta} left",
                _ => "{bar:40} {msg} runs of the page, {eta} left",
            },
        )
    }

    fn with_template(asked: usize, template: &str) -> Self {
        let asked = asked as u64;
        let all = asked * u64::from(WHOLE);
        let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(template).expect("a valid template");
        Bar {
            bar: bar.with_style(style).with_message(format!("0/{asked}")),
            asked,
            complete: AtomicU64::new(0),
        }
    }

    /// Of a search, of which nobody knows how long it is.
    pub fn of_search() -> Self {
        Bar {
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
            asked: 0,
            complete: AtomicU64::new(0),
        }
    }

    /// Shows what is told.
    pub fn hear(&self, told: Progress) {
        match told {
            Progress::Parts(more) => self.bar.inc(more.into()),
            Progress::Run => {
                let complete = self.complete.fetch_add(1, Ordering::Relaxed) + 1;
                self.bar.set_message(format!("{complete}/{}", self.asked));
            }
            Progress::Points { evaluated, least } => {
                let message = format!("{evaluated} points, misfit {}", millionths(least));
                self.bar.set_message(message);
                self.bar.tick();
            }
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Does what takes long below a bar, which it is given to tell, and takes the bar away.
pub fn on_bar<T>(bar: Bar, work: impl FnOnce(&Listener<'_>) -> T) -> T {
    let done = work(&|told| bar.hear(told));
    bar.finish();
    done
}

/// A bar of steps that each have a name.
pub struct Steps {
    bar: ProgressBar,
}

impl Default for Steps {
    fn default() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:40} {percent} %, {eta} left: {msg}");
        Steps {
            bar: bar.with_style(style.expect("a valid template")),
        }
    }
}

impl Steps {
    /// So many of all have ended, and this one runs.
    pub fn hear(&self, done: usize, of: usize, what: &'static str) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(what);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar of the cells of a sweep.
pub struct Cells {
    bar: ProgressBar,
}

impl Cells {
    /// Of a sweep that stands here.
    pub fn of(standing: Standing) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:40} {msg}, {eta} left at most");
        let cells = Cells {
            bar: bar.with_style(style.expect("a valid template")),
        };
        cells.hear(standing);
        // What was there before took no time.
        cells.bar.reset_eta();
        cells
    }

    /// Shows how far it is.
    pub fn hear(&self, standing: Standing) {
        let Standing {
            cells,
            complete,
            refused,
            runs,
            most_runs,
            spared,
        } = standing;
        self.bar.set_length(most_runs.saturating_sub(spared));
        self.bar.set_position(runs);
        let spared = match spared {
            0 => String::new(),
            spared => format!(", {spared} spared"),
        };
        let refused = match refused {
            0 => String::new(),
            refused => format!(", {refused} refused"),
        };
        let message = format!("{complete}/{cells} cells{refused}, {runs} runs{spared}");
        self.bar.set_message(message);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
