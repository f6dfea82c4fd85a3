// SPDX-License-Identifier: GPL-2.0-only
//! Finds out which program the kernel refused, and why, from what libbpf says while it loads and
//! attaches.

use libbpf_rs::{PrintCallback, PrintLevel, set_print};
use std::sync::Mutex;

/// What libbpf warned of since [`listen`].
static SAID: Mutex<String> = Mutex::new(String::new());

/// Keeps the warnings of libbpf from now on; prints all that libbpf says if `verbose`.
pub fn listen(verbose: bool) {
    said().clear();
    let (level, keep): (_, PrintCallback) = match verbose {
        true => (PrintLevel::Debug, |level, text| {
            print!("{text}");
            keep_warning(level, &text);
        }),
        false => (PrintLevel::Warn, |level, text| keep_warning(level, &text)),
    };
    set_print(Some((level, keep)));
}

fn said() -> std::sync::MutexGuard<'static, String> {
    SAID.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn keep_warning(level: PrintLevel, text: &str) {
    if matches!(level, PrintLevel::Warn) {
        said().push_str(text);
    }
}

/// What was refused since [`listen`], as a sentence; `None` if libbpf did not warn.
pub fn sentence() -> Option<String> {
    in_words(&said())
}

fn in_words(said: &str) -> Option<String> {
    let last = said.lines().rfind(|line| !line.trim().is_empty())?;
    let Some((program, what)) = said.lines().find_map(failed_program) else {
        return Some(last.trim().to_owned());
    };
    Some(match heading(said).or_else(|| last_of_verifier(said)) {
        Some(line) => format!("the kernel refuses the program {program}: {line}"),
        None => format!("program {program}: {what}"),
    })
}

/// `libbpf: prog 'NAME': ... failed ...`
fn failed_program(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once("prog '")?;
    let (name, what) = rest.split_once("': ")?;
    what.contains("failed").then_some((name, what.trim()))
}

/// What the verifier says at the head of its explanation, since 7.3.
fn heading(said: &str) -> Option<&str> {
    (said.lines()).find_map(|line| line.strip_prefix("Verification failed: "))
}

/// The verifier's last line that is no statistics.
fn last_of_verifier(said: &str) -> Option<&str> {
    const STATISTICS: [&str; 4] = [
        "processed ",
        "verification time",
        "stack depth",
        "max_states",
    ];
    said.lines()
        .skip_while(|line| !line.contains("-- BEGIN PROG LOAD LOG --"))
        .skip(1)
        .take_while(|line| !line.contains("-- END PROG LOAD LOG --"))
        .map(str::trim)
        .filter(|line| !line.is_empty() && !STATISTICS.iter().any(|one| line.starts_with(one)))
        .last()
}

#[cfg(test)]
mod tests;
