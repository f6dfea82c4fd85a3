// SPDX-License-Identifier: GPL-2.0-only
//! The table is what `json_object_from_file()` of json-c 0.16 answered to the same bytes.

use super::*;

/// The value as json-c prints it without spaces, keys as often as they occur.
fn print(value: &Value) -> String {
    match &value.kind {
        Kind::Null => "null".to_owned(),
        Kind::Missing => "-".to_owned(),
        Kind::Bool(b) => b.to_string(),
        Kind::Int(n) => n.to_string(),
        Kind::Float(text) => text.clone(),
        Kind::String(text) => format!("\"{text}\""),
        Kind::Array(items) => {
            let items: Vec<String> = items.iter().map(print).collect();
            format!("[{}]", items.join(","))
        }
        Kind::Object(members) => {
            let member = |m: &Member| format!("\"{}\":{}", m.key, print(&m.value));
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn read(text: &str, mode: Mode) -> Option<String> {
    parse(text, mode).ok().map(|d| print(&d.root))
}

#[test]
fn takes_and_refuses_what_json_c_does() {
    let table = [
        (r#"{"a":1,}"#, Some(r#"{"a":1}"#)),
        ("{'a':'b'}", Some(r#"{"a":"b"}"#)),
        (r#"{"a":0100}"#, Some(r#"{"a":100}"#)),
        (
            r#"{"a":TRUE,"b":False,"c":NULL}"#,
            Some(r#"{"a":true,"b":false,"c":null}"#),
        ),
        ("{} garbage", Some("{}")),
        ("{} // end", None),
        ("{} // end\n", Some("{}")),
        ("{} /* x", None),
        ("{} /x", None),
        ("", None),
        ("  ", None),
        (r#"{"a":1.5}"#, Some(r#"{"a":1.5}"#)),
        (r#"{"a":1e3}"#, Some(r#"{"a":1e3}"#)),
        (r#"{"a":123e+}"#, Some(r#"{"a":123}"#)),
        (r#"{"a":1.2.3}"#, None),
        (r#"{"a":1e5.2}"#, None),
        (r#"{"a":-}"#, None),
        (r#"{"a":--1}"#, None),
        (
            r#"{"a":-99999999999999999999999}"#,
            Some(r#"{"a":-9223372036854775808}"#),
        ),
        (r#"{"a":0x10}"#, None),
        (r#"{"a":nan}"#, Some(r#"{"a":NaN}"#)),
        (r#"{"a":-Infinity}"#, Some(r#"{"a":-Infinity}"#)),
        (r#"{a:1}"#, None),
        (r#"{"a" 1}"#, None),
        (r#"{"a":1 "b":2}"#, None),
        ("[1,2,]", Some("[1,2]")),
        ("[,]", None),
        ("{,}", None),
        (r#"["\u00e9"]"#, Some("[\"\u{e9}\"]")),
        (r#"["\ud83d\ude00"]"#, Some("[\"\u{1f600}\"]")),
        (r#"["\ud83d x"]"#, Some("[\"\u{fffd} x\"]")),
        (r#"["\ud83d\u0041"]"#, Some("[\"\u{fffd}A\"]")),
        (r#"["\ud800\ud83d\ude00"]"#, Some("[\"\u{fffd}\u{1f600}\"]")),
        ("/***/{}", None),
        ("/****/{}", Some("{}")),
        (r#"["\x"]"#, None),
        (r"['it\'s']", None),
        (r#"{"suspend",}"#, None),
        (r#"{"a":truex}"#, None),
        (r#"{"a":tru}"#, None),
        (r#"{"a":5/**/}"#, Some(r#"{"a":5}"#)),
        ("{\"a\":/*c*/5//d\n}", Some(r#"{"a":5}"#)),
        (r#"{"a":1-2}"#, None),
        (r#"{"a":1e-5}"#, Some(r#"{"a":1e-5}"#)),
        (r#"{"a":1e--5}"#, None),
        (r#"{"a":.5}"#, None),
        (r#"{"a":+5}"#, None),
        (r#"{"a":5.}"#, Some(r#"{"a":5.}"#)),
        (r#"{"a":5i}"#, None),
        (r#"{"a":[1 2]}"#, None),
        ("{\"a\":\"x\ny\"}", Some("{\"a\":\"x\ny\"}")),
        ("\u{feff}{}", None),
        (r#"{"a":1}}"#, Some(r#"{"a":1}"#)),
        (r#"/* c */ {"a":1}"#, Some(r#"{"a":1}"#)),
        ("#x\n{}", None),
        (r#"{"a":1;}"#, None),
        (r#"{"a":nul}"#, None),
        ("{\"a\":0}\0x", Some(r#"{"a":0}"#)),
        ("{\"a\":1\0}", None),
    ];
    for (text, expected) in table {
        assert_eq!(read(text, Mode::Rtapp).as_deref(), expected, "{text}");
    }
}

#[test]
fn depth_is_limited_as_in_json_c() {
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read(&nested(32), Mode::Rtapp).is_some());
    assert!(read(&nested(33), Mode::Rtapp).is_none());
    let deepest = "[".repeat(100_000);
    assert!(read(&deepest, Mode::Rtapp).is_none());
}

#[test]
fn keeps_duplicates_and_order() {
    let text = r#"{"a":1,"b":2,"a":3}"#;
    assert_eq!(read(text, Mode::Workgen).as_deref(), Some(text));
}

#[test]
fn workgen_takes_a_bare_suspend_and_only_that() {
    let bare = r#"{"suspend","run":5,"suspend"}"#;
    let expected = r#"{"suspend":-,"run":5,"suspend":-}"#;
    assert_eq!(read(bare, Mode::Workgen).as_deref(), Some(expected));
    assert_eq!(read(bare, Mode::Rtapp), None);
    assert_eq!(read(r#"{"resume",}"#, Mode::Workgen), None);
    assert_eq!(read("{} // end", Mode::Workgen).as_deref(), Some("{}"));
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let table = [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "expected `,` or `}`"),
        ("{\n  a: 1\n}", 2, 3, "expected a key in quotes"),
        ("{\"a\": 0x10}", 1, 7, "found `x` within a number"),
        ("{\"a\": [1, 2}", 1, 12, "expected `,` or `]`"),
        ("{\"a\": \"b}", 1, 7, "the string is not closed"),
        ("{\"a\"", 1, 5, "found the end of the text, expected `:`"),
        ("# x\n{}", 1, 1, "comments are written"),
        ("{\"\u{e9}\": ?}", 1, 7, "found `?`, expected a value"),
        ("{\"a\": \"\\q\"}", 1, 8, "the escape sequence is unknown"),
    ];
    for (text, line, column, expected) in table {
        let refusal = parse(text, Mode::Workgen).expect_err(text);
        assert_eq!(refusal.place, Place { line, column }, "{text}");
        assert!(
            refusal.message.contains(expected),
            "{text}: {}",
            refusal.message
        );
    }
}
