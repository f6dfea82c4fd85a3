// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use proptest::prelude::*;

#[test]
fn a_rule_is_matches_and_settings() {
    let rule = Rule::parse("comm=render* uclamp_min=60").unwrap();
    let expected = Rule {
        comm: Some(b"render*".to_vec()),
        uclamp_min: Some(614),
        ..Rule::default()
    };
    assert_eq!(rule, expected);
    let all = "policy=batch nice=-5..19 pid=42 cgroup=/a/b* comm=? uclamp_min=0 uclamp_max=50";
    let rule = Rule::parse(all).unwrap();
    let expected = Rule {
        comm: Some(b"?".to_vec()),
        cgroup: Some(b"/a/b*".to_vec()),
        pid: Some(42),
        nice: Some((-5, 19)),
        policy: Some(Policy::Batch),
        uclamp_min: Some(0),
        uclamp_max: Some(512),
    };
    assert_eq!(rule, expected);
}

#[test]
fn percent_is_as_in_the_files_of_cgroups() {
    for (text, value) in [
        ("0", 0),
        ("100", 1024),
        ("100.00", 1024),
        ("max", 1024),
        ("60", 614),
        ("12.5", 128),
        ("33.33", 341),
        ("0.04", 0),
        ("0.05", 1),
    ] {
        assert_eq!(percent(text), Ok(value), "{text}");
    }
    for text in [
        "", "101", "100.01", "-1", "1.234", "1.", ".5", "60%", "+5", "1e1", "٣",
    ] {
        assert!(percent(text).is_err(), "{text}");
    }
}

#[test]
fn what_is_no_rule_is_refused_with_its_place() {
    for (text, expected) in [
        (
            "comm=a uclmap_min=60",
            "--rule, column 8: found 'uclmap_min', expected a match (comm=, cgroup=, pid=, nice=, policy=) \
                 or a setting (uclamp_min=, uclamp_max=); did you mean 'uclamp_min='?",
        ),
        (
            "comm=a  uclamp_min=160",
            "--rule, column 20: found '160', expected percent, 0 to 100, such as 60 or 12.5, or max",
        ),
        (
            "nice=5..-5 uclamp_min=1",
            "--rule, column 6: found '5..-5', expected a nice value, -20 to 19, or a range such \
             as -20..-1",
        ),
        (
            "comm= uclamp_min=1",
            "--rule, column 1: found 'comm=', expected comm= and a name of 1 to 32 bytes; * \
             matches any characters and ? one, a space too",
        ),
        (
            "comm=ä uclamp_min",
            "--rule, column 8: found 'uclamp_min', expected uclamp_min= and percent, 0 to 100, such as 60 or \
                 12.5, or max",
        ),
        (
            "comm=a comm=b uclamp_min=1",
            "--rule, column 8: found 'comm=b', expected comm= once",
        ),
        (
            "comm=a",
            "--rule, column 7: found the end, expected a setting: uclamp_min= or uclamp_max=",
        ),
        (
            "uclamp_min=1",
            "--rule, column 13: found the end, expected a match: comm=, cgroup=, pid=, nice= or policy= \
                 (comm=* for all)",
        ),
        (
            "comm=a uclamp_min=60 uclamp_max=50",
            "--rule, column 1: found 'comm=a uclamp_min=60 uclamp_max=50', expected uclamp_min not above \
                 uclamp_max",
        ),
        (
            "cgroup=system.slice uclamp_min=1",
            "--rule, column 8: found 'system.slice', expected a path that begins with /, such as /system.slice/*",
        ),
        (
            "pid=0 uclamp_min=1",
            "--rule, column 5: found '0', expected a thread's or process's number, 1 to 4194304",
        ),
        (
            "policy=fifo uclamp_min=1",
            "--rule, column 8: found 'fifo', expected normal, batch or idle",
        ),
        (
            "\u{1b}[2J=1",
            "--rule, column 1: found '\\u{1b}[2J', expected a match (comm=, cgroup=, pid=, nice=, policy=) or a \
                 setting (uclamp_min=, uclamp_max=)",
        ),
    ] {
        assert_eq!(Rule::parse(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_file_has_a_rule_a_line() {
    let text = "# clamps\n\n  comm=a uclamp_min=1 # why\n\tcomm=#b uclamp_max=2\n";
    let rules = parse_file("rules", text).unwrap();
    assert_eq!(rules[0].uclamp_min, Some(10));
    assert_eq!(rules[1].comm, Some(b"#b".to_vec()));
    assert_eq!(rules.len(), 2);
    let error = parse_file("r", "comm=a uclamp_min=1\n pid=x uclamp_min=1\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "r:2, column 6: found 'x', expected a thread's or process's number, 1 to 4194304"
    );
    let many = "comm=a uclamp_min=1\n".repeat(MOST + 1);
    let error = parse_file("r", &many).unwrap_err().to_string();
    assert!(error.starts_with("r:65, column 1: "), "{error}");
    assert!(error.ends_with("expected at most 64 rules"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_a_rule_or_has_a_place(text in "[ -~=*?#.]{0,60}|\\PC{0,30}") {
        if let Err(error) = Rule::parse(&text) {
            prop_assert!(error.column <= text.chars().count() + 1);
        }
        if let Err(error) = parse_file("f", &text) {
            prop_assert!(error.line.is_some());
        }
    }
}
