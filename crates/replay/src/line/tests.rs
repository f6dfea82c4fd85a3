// SPDX-License-Identifier: GPL-2.0-only
//! Lines that name a recording.

use super::*;

#[test]
fn lines_name_a_file_and_how_to_replay_it() {
    for (text, file, recorded_on, background) in [
        ("app.alight", "app.alight", None, true),
        (
            "'my app.alight' --no-background",
            "my app.alight",
            None,
            false,
        ),
        (
            "a.alight --recorded-on juno-r0",
            "a.alight",
            Some("juno-r0"),
            true,
        ),
    ] {
        let line = Line::parse(text).unwrap().unwrap();
        assert_eq!(line.file, PathBuf::from(file), "{text}");
        assert_eq!(line.recorded_on.as_deref(), recorded_on, "{text}");
        assert_eq!(line.options.background, background, "{text}");
    }
}

#[test]
fn each_option_of_drawing_asks_for_it() {
    for (text, block_ms, length_s) in [
        ("a.alight --resample", 100, None),
        ("a.alight --block 20", 20, None),
        ("a.alight --length 30 --resample", 100, Some(30)),
    ] {
        let line = Line::parse(text).unwrap().unwrap();
        let expected = Resample {
            block_ns: block_ms * 1_000_000,
            length_ns: length_s.map(|s: u64| s * 1_000_000_000),
        };
        assert_eq!(line.options.resample, Some(expected), "{text}");
    }
}

#[test]
fn other_lines_are_for_others() {
    for text in ["hackbench -g 1", "a.json", "", "it's", "run.alight.json"] {
        assert_eq!(Line::parse(text), None, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_named() {
    for (text, why) in [
        ("a.alight --fast", "'--fast' is no option of a recording"),
        ("a.alight --recorded-on", "'--recorded-on' needs a value"),
        ("a.alight --block 0", "'--block 0': expected a whole number"),
        ("a.alight --length soon", "'--length soon': expected"),
        ("'a.alight", "a quote is not closed"),
    ] {
        let error = Line::parse(text).unwrap().unwrap_err().to_string();
        assert!(error.starts_with(why), "{text}: {error}");
    }
}
