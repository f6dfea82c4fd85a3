// SPDX-License-Identifier: GPL-2.0-only
//! Classes of costs, each alone or like another.

use super::{COST_NS, KHZ, PERMILLE};
use crate::costs::{COST_FIELDS, CostClass, IDLE_TIMES, Otherwise};
use crate::document::{Kind, Node, Table, overlay};
use crate::error::{Place, nearest};
use crate::figure::Provenance;
use crate::reader::{At, Ledger, Reader};

/// The tables under `[costs]`.
pub(super) struct CostClasses<'a> {
    table: Option<&'a Table>,
}

/// Times of idle states as the machine states them.
const AS_STATED: u64 = 1000;

/// Longest chain of cost classes that are `like` another.
const LONGEST_CHAIN: usize = 8;

impl<'a> CostClasses<'a> {
    pub fn new(root: &mut Reader, document: &'a Node) -> Self {
        // Asked for here so that the key is known; read only where it is used.
        root.named_sections("costs");
        let table = match &document.kind {
            Kind::Table(table) => match table.get("costs").map(|entry| &entry.node.kind) {
                Some(Kind::Table(classes)) => Some(classes),
                _ => None,
            },
            _ => None,
        };
        Self { table }
    }

    /// The class called `name`, complete with what it takes from another; `asking` is told
    /// what is wrong with it.
    pub fn class(&self, name: &At<String>, asking: &Reader) -> Option<CostClass> {
        let node = self.node(name, LONGEST_CHAIN);
        let node = node.map_err(|(place, message)| asking.complain(&place, message));
        let unrecorded = Ledger::default();
        let family = self.family(&name.value);
        let class = read_class(&name.value, family, &node.ok()?, &unrecorded);
        asking.complain_as(unrecorded);
        class
    }

    /// The last class of the chain that begins at `name`.
    fn family(&self, name: &str) -> String {
        let like = |name: &str| match &self.table?.get(name)?.node.kind {
            Kind::Table(class) => match &class.get("like")?.node.kind {
                Kind::Text(base) => Some(base.clone()),
                _ => None,
            },
            _ => None,
        };
        let chain = std::iter::successors(Some(name.to_owned()), |name| like(name));
        chain.take(LONGEST_CHAIN + 1).last().unwrap_or_default()
    }

    fn node(&self, name: &At<String>, depth: usize) -> Result<Node, (Place, String)> {
        let found = self.table.and_then(|table| table.get(&name.value));
        let Some(entry) = found else {
            let valid = self.table.into_iter().flat_map(Table::keys);
            let hint = nearest(&name.value, valid.map(String::as_str));
            let message = format!("unknown cost class `{}`, {hint}", name.value);
            return Err((name.place.clone(), message));
        };
        let unrecorded = Ledger::default();
        let path = format!("costs.{}", name.value);
        // What is wrong with the table is told when the whole class is read.
        let table = Reader::new(&entry.node, &path, &unrecorded);
        match table.and_then(|mut table| table.text("like")) {
            None => Ok(entry.node.clone()),
            Some(base) if depth == 0 => {
                let message = format!(
                    "`{path}` is like `{}`, the end of a chain of more than {LONGEST_CHAIN} \
                     classes or part of a circle",
                    base.value
                );
                Err((base.place, message))
            }
            Some(base) => Ok(overlay(self.node(&base, depth - 1)?, entry.node.clone())),
        }
    }
}

fn read_class(name: &str, family: String, node: &Node, ledger: &Ledger) -> Option<CostClass> {
    let mut section = Reader::new(node, &format!("costs.{name}"), ledger)?;
    section.text("like");
    let reference_khz = section.whole("reference_khz", KHZ);
    let reference_khz = section.required("reference_khz", reference_khz);
    let mut values: Vec<Option<(At<u64>, Provenance)>> = Vec::new();
    let mut complete = true;
    for field in &COST_FIELDS {
        let value = section.whole_with_provenance(field.key, COST_NS);
        let value = match field.otherwise {
            Otherwise::Missing => {
                let value = section.required(field.key, value);
                complete &= value.is_some();
                value
            }
            Otherwise::Part(percent, key) => value.or_else(|| {
                let other = COST_FIELDS.iter().position(|other| other.key == key)?;
                let (mut whole, mut of) = values.get(other)?.clone()?;
                // A part of something small is not nothing, which no path takes.
                whole.value = (whole.value * percent / 100).max(whole.value.min(1));
                of.spread.clear();
                Some((whole, of))
            }),
            Otherwise::Within => value,
        };
        values.push(value);
    }
    let idle_times = section.whole(IDLE_TIMES, PERMILLE);
    section.finish();
    complete.then_some(CostClass {
        name: name.to_owned(),
        family,
        reference_khz: reference_khz?,
        values,
        idle_times: idle_times.map_or(AS_STATED, |times| times.value),
    })
}
