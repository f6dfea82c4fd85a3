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
                    "the key `{}` occurs again; it is kept as `{unique}`, as workgen does (rt-app \
                     alone keeps only the last value)",
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
mod tests;
