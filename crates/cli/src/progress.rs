// SPDX-License-Identifier: GPL-2.0-only
//! The progress of many runs, shown where a person looks.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar of `runs` on standard error; nothing if that is no terminal.
pub fn bar(runs: u64) -> ProgressBar {
    // indicatif draws on terminals only.
    let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left")
        .expect("a valid template");
    bar.with_style(style)
}
