// SPDX-License-Identifier: GPL-2.0-only
//! Single values of a document by their type, and what is wrong with them: what was
//! found, what was expected, in which unit.

use std::ops::RangeInclusive;

use super::{At, Ledger, Reader};
use crate::cpuset::CpuSet;
use crate::document::{Kind, Node};
use crate::error::Place;
use crate::figure::Provenance;

/// What is wrong, and where.
pub(super) type Wrong = (Place, String);

pub(super) fn mistyped(node: &Node, path: &str, expected: &str) -> String {
    format!("`{path}` is {}, expected {expected}", node.kind.describe())
}

pub(super) fn text_of(node: &Node, path: &str) -> Result<At<String>, Wrong> {
    match &node.kind {
        Kind::Text(text) => Ok(At {
            value: text.clone(),
            place: node.place.clone(),
        }),
        _ => Err((node.place.clone(), mistyped(node, path, "text in quotes"))),
    }
}

pub(super) fn items_of<'n>(
    node: &'n Node,
    path: &str,
    expected: &str,
) -> Result<&'n [Node], Wrong> {
    match &node.kind {
        Kind::Array(items) => Ok(items),
        _ => Err((node.place.clone(), mistyped(node, path, expected))),
    }
}

/// Units by the end of a key.
const UNITS: [(&str, &str); 9] = [
    ("khz", "kHz"),
    ("hz", "Hz"),
    ("_ns", "ns"),
    ("_us", "us"),
    ("_mw", "mW"),
    ("_uw", "uW"),
    ("_kib", "KiB"),
    ("_percent", "percent"),
    ("microvolt", "uV"),
];

/// For instance `a whole number of us from 0 to 10`.
fn whole_number(path: &str, range: &RangeInclusive<u64>) -> String {
    let unit = UNITS.iter().find(|(end, _)| path.ends_with(end));
    let unit = unit.map_or(String::new(), |(_, unit)| format!(", in {unit}"));
    format!(
        "a whole number from {} to {}{unit}",
        range.start(),
        range.end()
    )
}

pub(super) fn whole_of(
    node: &Node,
    path: &str,
    range: &RangeInclusive<u64>,
) -> Result<At<u64>, Wrong> {
    let value = match node.kind {
        Kind::Integer(value) => u64::try_from(value).ok(),
        _ => None,
    };
    match value.filter(|value| range.contains(value)) {
        Some(value) => Ok(At {
            value,
            place: node.place.clone(),
        }),
        None => {
            let message = mistyped(node, path, &whole_number(path, range));
            Err((node.place.clone(), message))
        }
    }
}

/// Is the value within the spread that stands beside it?
pub(super) fn within_spread(node: &Node, path: &str, provenance: &Provenance) -> Result<(), Wrong> {
    let values = match &node.kind {
        Kind::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let within = |(value, spread): (&Node, &[u64; 2])| match value.kind {
        Kind::Integer(value) => {
            u64::try_from(value).is_ok_and(|value| (spread[0]..=spread[1]).contains(&value))
        }
        _ => false,
    };
    let spread = &provenance.spread;
    if spread.is_empty() || spread.len() == values.len() && values.iter().zip(spread).all(within) {
        return Ok(());
    }
    let words = provenance.spread_in_words();
    let message =
        format!("`{path}` is not within its `spread`, {words}: correct it, or remove the spread");
    Err((node.place.clone(), message))
}

pub(super) fn cpus_of(node: &Node, path: &str) -> Result<At<CpuSet>, Wrong> {
    let text = text_of(node, path)?;
    let value = text
        .value
        .parse()
        .map_err(|error| (text.place.clone(), format!("`{path}`: {error}")))?;
    Ok(At {
        value,
        place: text.place,
    })
}

/// Runs of `size` CPUs out of `cpus`, each with the CPUs `sibling_offset`
/// further up if that is given: x86 numbers the second threads of all cores
/// after the first threads.
pub(super) fn regular_spans(node: &Node, path: &str, ledger: &Ledger) -> Option<Vec<At<CpuSet>>> {
    const LARGEST: u64 = CpuSet::MAX as u64;
    let unrecorded = Ledger::default();
    let spans = Reader::new(node, path, &unrecorded).and_then(|mut table| {
        let cpus = table.entry("cpus");
        let cpus = cpus.and_then(|entry| table.told(cpus_of(&entry.node, path)));
        let cpus = table.required("cpus", cpus);
        let size = table.whole("size", 1..=LARGEST);
        let size = table.required("size", size);
        let offset = table.whole("sibling_offset", 0..=LARGEST);
        let offset = offset.map_or(0, |offset| offset.value as usize);
        table.finish();
        let (cpus, size) = (cpus?, size?.value as usize);
        let members: Vec<usize> = cpus.value.iter().collect();
        let last = members.last().copied().unwrap_or(0);
        if last + offset >= CpuSet::MAX {
            let message = format!("`{path}` reaches beyond CPU {}", CpuSet::MAX - 1);
            unrecorded.complain(&node.place, message);
            return None;
        }
        let span = |run: &[usize]| At {
            value: run.iter().flat_map(|&cpu| [cpu, cpu + offset]).collect(),
            place: node.place.clone(),
        };
        Some(members.chunks(size).map(span).collect())
    });
    ledger.tell_all(unrecorded);
    spans
}
