// SPDX-License-Identifier: GPL-2.0-only
//! Everything there is to say about an rt-app file, and how it is written down.

use crate::diagnostic::{Diagnostic, Refusal, Remarks, Severity};
use crate::load::{Mode, text_of};
use crate::rtapp;
use serde::Serialize;

/// Looks through the bytes of an rt-app file. As [`lint`], which is of its text; other encodings than
/// UTF-8 are errors.
pub fn lint_file(bytes: &[u8], mode: Mode) -> Vec<Diagnostic> {
    match text_of(bytes) {
        Ok(text) => lint(&text, mode),
        Err(refusal) => vec![error(refusal)],
    }
}

/// Looks through the text of an rt-app file. Sorted by place; an error is the last thing found.
pub fn lint(text: &str, mode: Mode) -> Vec<Diagnostic> {
    let mut remarks = Remarks::default();
    let refusal = rtapp::compile("lint", text, mode, &mut remarks).err();
    let mut found = remarks.list;
    found.extend(refusal.map(error));
    found.sort_by_key(|d| (d.line, d.column));
    found
}

fn error(refusal: Refusal) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        line: refusal.place.line,
        column: refusal.place.column,
        message: refusal.message,
    }
}

/// One line each, `FILE:LINE:COLUMN: severity: message`, and a line that counts them.
pub fn render_text(file: &str, found: &[Diagnostic]) -> String {
    let mut text = String::new();
    for d in found {
        let severity = d.severity.as_str();
        text += &format!(
            "{file}:{}:{}: {severity}: {}\n",
            d.line, d.column, d.message
        );
    }
    let count = |severity: Severity| {
        let count = found.iter().filter(|d| d.severity == severity).count();
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {}{plural}", severity.as_str())
    };
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(count);
    text += &format!("{file}: {}\n", counts.join(", "));
    text
}

/// As JSON with the schema `alight.lint/1`: file, mode, whether it can be run, diagnostics.
pub fn render_json(file: &str, mode: Mode, found: &[Diagnostic]) -> String {
    #[derive(Serialize)]
    struct LintReport<'a> {
        schema: &'static str,
        file: &'a str,
        mode: &'static str,
        runs: bool,
        diagnostics: &'a [Diagnostic],
    }
    let report = LintReport {
        schema: "alight.lint/1",
        file,
        mode: mode.as_str(),
        runs: found.iter().all(|d| d.severity < Severity::Error),
        diagnostics: found,
    };
    // Strings and numbers only: this cannot fail.
    serde_json::to_string_pretty(&report).unwrap_or_default()
}
