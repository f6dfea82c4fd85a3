// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn what_a_terminal_obeys_is_written_out() {
    for (given, as_text, as_line) in [
        ("hackbench -g 1", "hackbench -g 1", "hackbench -g 1"),
        (
            "Prozeß 任务 e\u{301}",
            "Prozeß 任务 e\u{301}",
            "Prozeß 任务 e\u{301}",
        ),
        ("a\u{1b}[2Jb", "a\\u001b[2Jb", "a\\u001b[2Jb"),
        (
            "a\rb\u{7}\u{7f}",
            "a\\u000db\\u0007\\u007f",
            "a\\u000db\\u0007\\u007f",
        ),
        ("a\u{9b}31m", "a\\u009b31m", "a\\u009b31m"),
        ("a\u{202e}b\u{2066}", "a\\u202eb\\u2066", "a\\u202eb\\u2066"),
        ("\u{feff}a\u{2028}b", "\\ufeffa\\u2028b", "\\ufeffa\\u2028b"),
        ("a\n\tb", "a\n\tb", "a\\u000a\\u0009b"),
        ("\0", "\\u0000", "\\u0000"),
    ] {
        assert_eq!(harmless(given), as_text, "{given:?}");
        assert_eq!(line(given), as_line, "{given:?}");
    }
}
