// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn the_ending_chooses_the_format() {
    for (name, format) in [
        ("run.pftrace", Format::Perfetto),
        ("out/run.perfetto-trace", Format::Perfetto),
        ("run.txt", Format::Ftrace),
        ("RUN.FTRACE", Format::Ftrace),
        ("run.systrace", Format::Ftrace),
        ("run.raw.txt", Format::FtraceRaw),
    ] {
        assert_eq!(Format::of_path(Path::new(name)), Ok(format), "{name}");
    }
}

#[test]
fn other_endings_are_refused_with_the_valid_ones() {
    const VALID: &str = "a trace's name ends in one of .pftrace, .perfetto-trace, .raw.txt, .txt, .ftrace, .systrace";
    for (name, found, nearest) in [
        ("run.json", "unknown trace ending '.json'", ""),
        (
            "run.pftrac",
            "unknown trace ending '.pftrac'",
            " (did you mean '.pftrace'?)",
        ),
        ("run", "no ending", ""),
        (".txt", "no ending", ""),
    ] {
        let message = Format::of_path(Path::new(name)).unwrap_err().to_string();
        assert_eq!(message, format!("{name}: {found}; {VALID}{nearest}"));
    }
}
