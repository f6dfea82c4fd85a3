// SPDX-License-Identifier: GPL-2.0-only
//! The command that gives the same result again: all that decides it, nothing else.

use crate::args::RunArgs;

/// The command line of `verb` over `schedulers`; `options` are those of the verb alone.
pub fn command(verb: &str, run: &RunArgs, schedulers: &[String], options: &[String]) -> String {
    let mut words = vec!["alight".to_owned(), verb.to_owned()];
    words.extend(run.words());
    words.extend_from_slice(options);
    words.extend_from_slice(schedulers);
    shell_words::join(words)
}
