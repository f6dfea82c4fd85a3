// SPDX-License-Identifier: GPL-2.0-only

use crate::parse;
use crate::tests::PLAIN;

/// What is replaced, and by what.
type Edit = (&'static str, &'static str);

/// What is replaced in [`PLAIN`], and all that is said then.
#[test]
fn mistakes_of_a_file_are_told_together_in_plain_words() {
    let cases: [(&str, &[Edit], &[&str]); 6] = [
        (
            "keys that are missing",
            &[
                ("title = \"mine\"\n", ""),
                ("runs = 4\n", ""),
                ("metric = \"events\"\nbefore", "before"),
            ],
            &[
                "1:1: the file lacks the keys `title`, `runs`",
                "16:1: [row] lacks the key `metric`",
            ],
        ),
        (
            "keys that nobody knows",
            &[
                ("in_short = true", "in_shirt = true"),
                ("name = \"other\"", "named = \"other\""),
            ],
            &[
                "15:1: unknown key `named` in [case], the nearest valid: `name`",
                "31:1: unknown key `in_shirt` in [check], the nearest valid: `in_short`",
            ],
        ),
        (
            "other types",
            &[
                ("runs = 4", "runs = \"4\""),
                (
                    "[\"linux-5.5\", \"linux-5.5+asym-capacity\"]",
                    "[\"linux-5.5\", 5]",
                ),
                ("at_least = 140.0", "at_least = \"140\""),
                ("in_short = true", "in_short = 1"),
                ("{ mean = 100.0 }", "100.0"),
            ],
            &[
                "6:28: `schedulers` is 5, expected text in quotes",
                "7:8: `runs` is text \"4\", expected a whole number from 1 to 4294967295, in runs",
                "20:10: `row.before` is 100.0, expected a table",
                "29:12: `check.at_least` is text \"140\", expected a number",
                "31:12: `check.in_short` is 1, expected `true` or `false`",
            ],
        ),
        (
            "numbers that are none",
            &[
                ("at_most = 160.0", "at_most = nan"),
                ("at_least = 1000.0", "at_least = -inf"),
            ],
            &[
                "30:11: `check.at_most` is nan, expected a number",
                "39:12: `check.at_least` is -inf, expected a number",
            ],
        ),
        (
            "windows",
            &[(
                "name = \"one\"",
                "name = \"one\"\npicture_ms = [1, 2, 3]\ncalibration = { window_ms = [-1, 2] }",
            )],
            &[
                "12:14: `case.picture_ms` is a list, expected two whole numbers, from and to, in ms",
                "13:15: [case.calibration] lacks the key `runs`",
                "13:30: `case.calibration.window_ms` is -1, expected a whole number from 0 to \
                 1000000000000, in ms",
            ],
        ),
        (
            "a key that occurs twice",
            &[("runs = 4", "runs = 4\nruns = 5")],
            &["8:1: the key `runs` occurs twice"],
        ),
    ];
    for (what, edits, says) in cases {
        let edit = |text: String, (from, to): &Edit| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        };
        let text = edits.iter().fold(PLAIN.to_owned(), edit);
        let error = parse("mine.toml", &text).expect_err(what).to_string();
        let says: Vec<String> = says
            .iter()
            .map(|line| format!("mine.toml:{line}"))
            .collect();
        assert_eq!(error, says.join("\n"), "{what}");
    }
}
