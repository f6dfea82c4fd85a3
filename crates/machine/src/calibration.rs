// SPDX-License-Identifier: GPL-2.0-only
//! What `alight calibrate` adds to a machine file: costs of kernel paths, fitted to rows of
//! published measurements. It stands below a mark, so that the file without it is known: that,
//! with the files of the other machines whose rows count, is what the costs were fitted on, and who
//! edits one has a machine that they do not fit any more. Who edits the costs or the rows has
//! what was never fitted.

use std::fmt::Write;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::costs::{COST_FIELDS, IDLE_TIMES};
use crate::document::{Kind, Node};
use crate::draft::Draft;
use crate::error::Error;
use crate::reader::{Ledger, Reader};

/// First line of what is added.
const MARK: &str = "# Below: written by `alight calibrate`, which makes it again.\n";
/// What the line begins with that says to which files the costs were fitted.
const OF: &str = "of = ";
/// Name of the source that fitted costs cite.
const SOURCE: &str = "calibrate";

/// To which rows the costs of a machine were fitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Calibration {
    /// The machine whose rows they are; another one may take its costs from it.
    pub machine: String,
    /// The rows, with what was published and what the fitted model gives.
    pub rows: Vec<String>,
    /// How well the rows determine the costs; `None` in files of earlier versions.
    pub factors: Option<Factors>,
    /// The files, and the cost classes of the program, are still those that the costs were fitted on,
    /// and the costs and rows are those that were written.
    pub matches: bool,
}

/// The factors on the costs of a class, in thousandths: those that were fitted, and others that the
/// rows leave open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Factors {
    /// Their names, in the order of each point.
    pub names: Vec<String>,
    /// Those that the costs have.
    pub fitted: Vec<u64>,
    /// For each factor the furthest either way at which the rows are met about as well.
    pub open: Vec<Vec<u64>>,
}

impl Factors {
    /// Of each factor the name, what was fitted, and the least and the most that is left open.
    pub fn ranges(&self) -> impl Iterator<Item = (&str, u64, u64, u64)> {
        self.names
            .iter()
            .zip(&self.fitted)
            .enumerate()
            .map(|(index, (name, &fitted))| {
                let of_it = || self.open.iter().map(|point| point[index]).chain([fitted]);
                let least = of_it().min().unwrap_or(fitted);
                (
                    name.as_str(),
                    fitted,
                    least,
                    of_it().max().unwrap_or(fitted),
                )
            })
    }

    /// `calls 1.5 (1.2 to 1.9), switches 0.75 (0.6 to 1)`.
    pub fn in_words(&self) -> String {
        let times = |thousandths: u64| format!("{}", thousandths as f64 / 1e3);
        let word = |(name, fitted, least, most)| {
            format!(
                "{name} {} ({} to {})",
                times(fitted),
                times(least),
                times(most)
            )
        };
        self.ranges().map(word).collect::<Vec<_>>().join(", ")
    }
}

/// A cost of a class of cores, as stated at the class's reference clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedCost {
    /// The class.
    pub class: String,
    /// Key in the class's table, unit last.
    pub key: &'static str,
    /// Its value.
    pub value: u64,
}

/// The text without what was added.
pub(crate) fn bare(text: &str) -> &str {
    text.find(MARK).map_or(text, |at| &text[..at])
}

/// What was added to the text, but for the line that says of what.
fn added(text: &str) -> impl Iterator<Item = &str> {
    let lines = text[bare(text).len()..].lines();
    lines.filter(|line| !line.starts_with(OF))
}

/// What tells edited files from those that were calibrated: `text`, and those of other machines.
fn identity(classes: &str, text: &str, others: &[String]) -> String {
    let mut hash = Xxh3::new();
    hash.update(classes.as_bytes());
    hash.update(bare(text).as_bytes());
    for other in others {
        hash.update(bare(other).as_bytes());
    }
    for line in added(text) {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    format!("{:016x}", hash.digest())
}

/// The table `[calibration]` of a file, if it has one; `text_of` finds the files of other machines.
pub(crate) fn read(
    root: &Node,
    text: &str,
    classes: &str,
    text_of: impl Fn(&str) -> Result<String, Error>,
) -> Result<Option<Calibration>, Error> {
    let unrecorded = Ledger::default();
    let Kind::Table(table) = &root.kind else {
        return Ok(None);
    };
    let Some(entry) = table.get("calibration") else {
        return Ok(None);
    };
    let section = Reader::new(&entry.node, "calibration", &unrecorded);
    let stated = section.and_then(|mut section| {
        let machine = section.text("machine");
        let machine = section.required("machine", machine);
        let of = section.text("of");
        let of = section.required("of", of);
        let also = section.texts("also").unwrap_or_default();
        let rows = section.texts("rows");
        let rows = section.required("rows", rows);
        let factors = factors(&mut section);
        section.finish();
        Some((machine?.value, of?.value, also, rows?, factors))
    });
    unrecorded.verdict()?;
    let Some((machine, of, also, rows, factors)) = stated else {
        return Ok(None);
    };
    let others = also.iter().map(|machine| text_of(machine));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Calibration {
        machine,
        rows,
        factors,
        matches: of == identity(classes, text, &others),
    }))
}

/// The factors of a table `[calibration]`.
fn factors(section: &mut Reader<'_>) -> Option<Factors> {
    let names = section.texts("factors")?;
    let mut points = section.numbers("points", 1..=u64::from(u32::MAX))?;
    if points.is_empty() || points.iter().any(|point| point.len() != names.len()) {
        let expected = format!(
            "`calibration.points` must have one list or more of {} numbers, one for each of `factors`",
            names.len()
        );
        section.complain(section.place_of("points"), expected);
        return None;
    }
    let fitted = points.remove(0);
    Some(Factors {
        names,
        fitted,
        open: points,
    })
}

/// `text` with the costs that were fitted to `rows` in place of an earlier calibration. Some rows
/// may be those of machines that have their costs from here: `also`, name and text.
pub(crate) fn write(
    text: &str,
    classes: &str,
    machine: &str,
    also: &[(String, String)],
    rows: &[String],
    factors: &Factors,
    costs: &[StatedCost],
) -> String {
    let mut new = bare(text).trim_end().to_owned() + "\n";
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let _ = write!(
        new,
        "{MARK}\n[calibration]\nmachine = {}\n",
        quoted(machine)
    );
    let of_stands_at = new.len();
    if !also.is_empty() {
        let names: Vec<_> = also.iter().map(|(name, _)| quoted(name)).collect();
        let _ = writeln!(new, "also = [{}]", names.join(", "));
    }
    new += "rows = [\n";
    for row in rows {
        let _ = writeln!(new, "  {},", quoted(row));
    }
    let names: Vec<_> = factors.names.iter().map(|name| quoted(name)).collect();
    let _ = writeln!(
        new,
        "]\n# In thousandths of the class's costs: those below, then others that the rows leave open.\n\
         factors = [{}]\npoints = [",
        names.join(", ")
    );
    for point in [&factors.fitted].into_iter().chain(&factors.open) {
        let _ = writeln!(new, "  {point:?},");
    }
    let _ = write!(
        new,
        "]\n\n[sources.{SOURCE}]\ntext = {}\nconfidence = \"calibrated\"\n",
        quoted(&format!(
            "alight calibrate {machine}: fitted to the rows of [calibration]"
        ))
    );
    let mut class = "";
    for cost in costs {
        if cost.class != class {
            class = &cost.class;
            let _ = write!(new, "\n[costs.{class}]\nsource = \"{SOURCE}\"\n");
        }
        let _ = writeln!(new, "{} = {}", cost.key, cost.value);
    }
    let others: Vec<String> = also.iter().map(|(_, text)| text.clone()).collect();
    let of = identity(classes, &new, &others);
    new.insert_str(of_stands_at, &format!("{OF}\"{of}\"\n"));
    new
}

impl Draft {
    /// To which rows the costs were fitted, if they were.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The machine that the costs are taken from, if it is another.
    pub fn costs_from(&self) -> Option<&str> {
        self.costs_from.as_deref()
    }

    /// Multiplies every cost, and the times of idle states (`idle_times_permille`), by a factor in
    /// thousandths, rounded to the nearest and, unless it is stated as 0, not below 1.
    pub fn scale_costs(&mut self, factor: impl Fn(&str) -> u64) {
        for core in &mut self.core_types {
            let times = &mut core.costs.idle_times;
            *times = ((*times * factor(IDLE_TIMES) + 500) / 1000).max(1);
            for (field, cost) in COST_FIELDS.iter().zip(&mut core.costs.values) {
                let Some((cost, _)) = cost else { continue };
                let scaled = (cost.value * factor(field.key) + 500) / 1000;
                cost.value = scaled.max(cost.value.min(1));
            }
        }
    }

    /// The costs of the classes that the machine's cores have, class by class.
    pub fn stated_costs(&self) -> Vec<StatedCost> {
        let mut costs: Vec<StatedCost> = Vec::new();
        for class in self.core_types.iter().map(|core| &core.costs) {
            if costs.iter().any(|known| known.class == class.name) {
                continue;
            }
            let cost = |key, value| StatedCost {
                class: class.name.clone(),
                key,
                value,
            };
            let stated = COST_FIELDS.iter().zip(&class.values);
            let stated = stated.filter_map(|(field, of)| Some((field.key, of.as_ref()?.0.value)));
            let all = stated.chain([(IDLE_TIMES, class.idle_times)]);
            costs.extend(all.map(|(key, value)| cost(key, value)));
        }
        costs
    }
}
