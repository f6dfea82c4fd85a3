// SPDX-License-Identifier: GPL-2.0-only

use super::*;

const SPECS: &[Spec<char>] = &[
    Spec {
        short: Some('l'),
        long: Some("loops"),
        value: Value::Required,
        id: 'l',
    },
    Spec {
        short: Some('p'),
        long: Some("pipe"),
        value: Value::No,
        id: 'p',
    },
    Spec {
        short: Some('T'),
        long: Some("threads"),
        value: Value::No,
        id: 'T',
    },
    Spec {
        short: Some('t'),
        long: Some("throttle"),
        value: Value::Optional,
        id: 't',
    },
];

fn words(line: &str) -> Vec<Word> {
    let word = |(i, text): (usize, &str)| Word {
        text: text.to_owned(),
        place: Place {
            line: 1,
            column: i as u32 + 1,
        },
    };
    line.split_whitespace().enumerate().map(word).collect()
}

fn outcome(line: &str) -> String {
    match parse("tool", SPECS, &words(line)) {
        Err(refusal) => format!("refused: {}", refusal.message),
        Ok(parsed) => {
            let option =
                |f: &Found<char>| format!("{}={}", f.id, f.value.as_deref().unwrap_or("."));
            let mut out: Vec<String> = parsed.options.iter().map(option).collect();
            out.extend(parsed.operands.iter().map(|w| format!("[{}]", w.text)));
            out.join(" ")
        }
    }
}

#[test]
fn spellings_of_getopt_long() {
    let table = [
        ("-l5", "l=5"),
        ("-l 5", "l=5"),
        ("--loops=5", "l=5"),
        ("--loops 5", "l=5"),
        ("--loo 5", "l=5"),
        ("-pTl5", "p=. T=. l=5"),
        ("-t 3", "t=. [3]"),
        ("-t3", "t=3"),
        ("--throttle=3 -p", "t=3 p=."),
        ("a -p b", "p=. [a] [b]"),
        ("-p -- -l", "p=. [-l]"),
        ("-l -p", "l=-p"),
        ("--loops=", "l="),
    ];
    for (line, expected) in table {
        assert_eq!(outcome(line), expected, "{line}");
    }
}

#[test]
fn leading_options_end_at_the_first_operand() {
    for (line, options, operands) in [
        ("-p a -l 5", "p", "a -l 5"),
        ("-l 5 -- -p", "l", "-p"),
        ("a -p", "", "a -p"),
        ("-pT", "pT", ""),
        ("- -p", "", "- -p"),
    ] {
        let parsed = parse_leading("tool", SPECS, &words(line)).expect(line);
        let found: String = parsed.options.iter().map(|option| option.id).collect();
        let rest: Vec<&str> = parsed.operands.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(
            (found.as_str(), rest.join(" ")),
            (options, operands.to_owned()),
            "{line}"
        );
    }
}

#[test]
fn what_is_refused_and_how() {
    let table = [
        ("-l", "-l needs a value"),
        ("--pipe=3", "--pipe takes no value"),
        (
            "--thr",
            "more than one option; write one of `--threads`, `--throttle`",
        ),
        (
            "--pipes",
            "tool has no option `--pipes`; the nearest: `--pipe`",
        ),
        ("-px", "tool has no option `-x`"),
    ];
    for (line, expected) in table {
        let found = outcome(line);
        assert!(found.contains(expected), "{line}: {found}");
    }
}

#[test]
fn numbers_are_whole_and_in_range() {
    let read = |text| number(Place::default(), "-l", text, 1, 9).map_err(|r| r.message);
    assert_eq!(read("9"), Ok(9));
    assert_eq!(read("+4"), Ok(4));
    for (text, expected) in [
        ("0", "too small"),
        ("-3", "too small"),
        ("10", "too large"),
        ("99999999999999999999", "too large"),
        ("4x", "not a whole number"),
        ("", "not a whole number"),
        ("-", "not a whole number"),
    ] {
        let message = read(text).expect_err(text);
        assert!(message.contains(expected), "{text}: {message}");
        assert!(message.contains("from 1 to 9"), "{text}: {message}");
    }
}
