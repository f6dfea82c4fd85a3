// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn help_is_asked_by_its_option_and_not_by_a_value_or_a_mistake() {
    for (words, asked) in [
        ("--help", true),
        ("-h", true),
        ("bias-prev --stats 1 --help", true),
        ("--metrics -h", true),
        ("", false),
        ("bias-prev", false),
        ("--stats 0 --help", false),
        ("--machine --help", false),
    ] {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let help = help_asked::<run::Arguments>("alight run", &words);
        assert_eq!(help.is_some(), asked, "{words:?}");
        if let Some(help) = help {
            let text = help.to_string();
            assert!(text.contains("Usage: alight run [OPTIONS]"), "{text}");
        }
    }
}

#[test]
fn each_thing_to_record_has_its_help() {
    for (words, says) in [
        (&["--help"][..], "Usage: alight record <COMMAND>"),
        (&["pelt", "--help"], "Usage: alight record pelt [OPTIONS]"),
    ] {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let help = help_asked::<record::Arguments>("alight record", &words).expect("help");
        assert!(help.to_string().contains(says), "{help}");
    }
    // It is the command's own.
    let words = ["pelt", "-o", "x", "--", "hackbench", "--help"].map(OsString::from);
    assert!(help_asked::<record::Arguments>("alight record", &words).is_none());
}
