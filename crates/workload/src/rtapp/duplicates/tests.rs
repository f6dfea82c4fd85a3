// SPDX-License-Identifier: GPL-2.0-only

use super::super::json::parse;
use super::*;

fn keys(text: &str, mode: Mode) -> (Vec<String>, Vec<String>) {
    let mut root = parse(text, mode).expect("parses").root;
    let mut remarks = Remarks::default();
    resolve(&mut root, mode, &mut remarks);
    let Kind::Object(members) = root.kind else {
        panic!("an object");
    };
    let show = |m: &Member| match &m.value.kind {
        Kind::Int(n) => format!("{}={n}", m.key),
        other => format!("{}={}", m.key, other.describe()),
    };
    let said = remarks.list.iter();
    let said = said.map(|d| format!("{}:{} {}", d.line, d.column, d.severity.as_str()));
    (members.iter().map(show).collect(), said.collect())
}

#[test]
fn workgen_keeps_all_and_rtapp_the_last_at_the_first_place() {
    let text = "{'run':275,'resume':1,'run':4725,'run1':7,'run':8}";
    let (all, notes) = keys(text, Mode::Workgen);
    assert_eq!(
        all,
        ["run=275", "resume=1", "run1=4725", "run11=7", "run2=8"]
    );
    assert_eq!(notes, ["1:23 note", "1:34 note", "1:43 note"]);
    let (last, warnings) = keys(text, Mode::Rtapp);
    assert_eq!(last, ["run=8", "resume=1", "run1=7"]);
    assert_eq!(warnings, ["1:8 warning", "1:29 warning"]);
}
