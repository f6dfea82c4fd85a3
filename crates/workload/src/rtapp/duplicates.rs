// SPDX-License-Identifier: GPL-2.0-only
//! What becomes of keys that occur more than once in an object.

use super::json::{Kind, Member, Value};
use crate::diagnostic::Remarks;
use crate::load::Mode;
use std::collections::{BTreeMap, BTreeSet};

/// Makes the keys of all objects unique, as `mode` wants it.
pub(super) fn resolve(value: &mut Value, mode: Mode, remarks: &mut Remarks) {
    match &mut value.kind {
        Kind::Array(items) => {
            for item in items {
                resolve(item, mode, remarks);
            }
        }
        Kind::Object(members) => {
            match mode {
                Mode::Workgen => rename(members, remarks),
                Mode::Rtapp => collapse(members, remarks),
            }
            for member in members {
                resolve(&mut member.value, mode, remarks);
            }
        }
        _ => {}
    }
}

/// As `workgen` does: a number is appended to the later ones, so that none is lost.
fn rename(members: &mut [Member], remarks: &mut Remarks) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    // Where the search for a free number begins, so that many duplicates do not take for ever.
    let mut next_number: BTreeMap<String, u64> = BTreeMap::new();
    for member in members {
        if !taken.insert(member.key.clone()) {
            let number = next_number.entry(member.key.clone()).or_insert(1);
            let unique = loop {
                let candidate = format!("{}{number}", member.key);
                *number += 1;
                if taken.insert(candidate.clone()) {
                    break candidate;
                }
            };
            remarks.note(
                member.place,
                format!(
                    "the key `{}` occurs again; it is kept as `{unique}`, as workgen does (rt-app by itself would drop all but the last value)",
                    member.key
                ),
            );
            member.key = unique;
        }
    }
}

/// As json-c does: the last value, at the place of the first.
fn collapse(members: &mut Vec<Member>, remarks: &mut Remarks) {
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Member> = Vec::with_capacity(members.len());
    for member in members.drain(..) {
        match index.get(&member.key) {
            None => {
                index.insert(member.key.clone(), kept.len());
                kept.push(member);
            }
            Some(&at) => {
                remarks.warn(
                    kept[at].value.place,
                    format!(
                        "this value of `{}` is lost: the key occurs again in line {}, and rt-app takes that value here; number the keys, or read the file as workgen does",
                        member.key, member.place.line
                    ),
                );
                kept[at].value = member.value;
            }
        }
    }
    *members = kept;
}

#[cfg(test)]
mod tests {
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
}
