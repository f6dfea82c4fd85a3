// SPDX-License-Identifier: GPL-2.0-only
//! Tables of operating points: `operating-points-v2` and the older `operating-points`.

use super::chips::{self, Masks};
use super::tree::{Id, Tree};
use crate::error::Error;
use crate::platform::{Place, Said};

const MOST_KHZ: u64 = 100_000_000;
const MOST_UV: u64 = 10_000_000;

/// Operating points, rising in frequency.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub khz: Said<Vec<u64>>,
    pub microvolt: Option<Said<Vec<u64>>>,
    pub power_uw: Option<Said<Vec<u64>>>,
    pub switch_us: Option<Said<u64>>,
}

/// One point.
struct Point {
    khz: u64,
    microvolt: Option<u64>,
    microwatt: Option<u64>,
    /// The chips that have it.
    masks: Masks,
}

/// The table of a node of `operating-points-v2`.
pub(super) fn version2(tree: &Tree, table: Id, notes: &mut Vec<String>) -> Result<Table, Error> {
    let path = &tree.nodes[table].path;
    let mut points = Vec::new();
    let mut boosts = Vec::new();
    let mut latency_ns = 0;
    for &node in tree.children(table) {
        if !tree.is_enabled(node)? {
            continue;
        }
        let Some(khz) = frequency(tree, node)? else {
            continue;
        };
        if tree.has(node, "turbo-mode") {
            boosts.push(khz.to_string());
            continue;
        }
        latency_ns = latency_ns.max(tree.cell(node, "clock-latency-ns")?.unwrap_or(0));
        points.push(Point {
            khz,
            microvolt: microvolt(tree, node, notes)?,
            microwatt: tree
                .cells(node, "opp-microwatt")?
                .and_then(|cells| cells.first().copied())
                .map(u64::from),
            masks: tree.cells(node, "opp-supported-hw")?.unwrap_or_default(),
        });
    }
    if !boosts.is_empty() {
        notes.push(format!(
            "{path}: the points {} kHz are of turbo-mode, which Linux does not use before it is told to: \
             they are left out",
            boosts.join(", ")
        ));
    }
    if points.is_empty() {
        let message = "has no point with a frequency (`opp-hz`), expected one at least";
        return Err(tree.error(table, message));
    }
    let place = of_one_chip(&mut points, &tree.place(table));
    let mut finished = finished(points, place, path, notes);
    finished.switch_us = micros(
        latency_ns,
        &format!("{}, clock-latency-ns", tree.place(table)),
    );
    Ok(finished)
}

/// Leaves out the points that the chip with the fastest one lacks. Where the points come from then: which
/// chip it is, is assumed.
fn of_one_chip(points: &mut Vec<Point>, place: &str) -> Place {
    points.sort_by_key(|point| std::cmp::Reverse(point.khz));
    let masks: Vec<&Masks> = points.iter().map(|point| &point.masks).collect();
    let Some(chip) = chips::fastest(&masks) else {
        return Place::File(place.to_owned());
    };
    let named = |(point, _): (&Point, &bool)| match point.masks.is_empty() {
        true => format!("{} kHz", point.khz),
        false => format!("{} kHz {}", point.khz, chips::written(&point.masks)),
    };
    let listed = |wanted: bool| -> String {
        let points = points.iter().zip(&chip.has);
        let wanted = points.filter(|(_, has)| **has == wanted);
        wanted.map(named).collect::<Vec<_>>().join(", ")
    };
    let (its, others) = (listed(true), listed(false));
    let left_out = match others.is_empty() {
        true => String::new(),
        false => format!(", and without {others}"),
    };
    let sentence = format!(
        "{place}: which points a chip has depends on its masks (`opp-supported-hw`), and the tree does not \
         say them: assumed is a chip that has the fastest point, masks {}, with the points {its}{left_out}",
        chips::written(&chip.masks)
    );
    let mut has = chip.has.into_iter();
    points.retain(|_| has.next().unwrap_or(true));
    Place::Assumed(sentence)
}

/// `opp-hz` in kHz: the first of its clocks.
fn frequency(tree: &Tree, node: Id) -> Result<Option<u64>, Error> {
    const NAME: &str = "opp-hz";
    let Some(cells) = tree.cells(node, NAME)? else {
        return Ok(None);
    };
    let &[high, low, ..] = cells.as_slice() else {
        let message = format!(
            "has {} cells, expected the two of a number of 64 bits",
            cells.len()
        );
        return Err(tree.error_in(node, NAME, message));
    };
    let hz = u64::from(high) << 32 | u64::from(low);
    match hz / 1000 {
        khz @ 1..=MOST_KHZ => Ok(Some(khz)),
        _ => {
            let message = format!("is {hz} Hz, expected 1 kHz to {MOST_KHZ} kHz");
            Err(tree.error_in(node, NAME, message))
        }
    }
}

/// `opp-microvolt`: one voltage, or target, least and largest; without it the first of its variants, such
/// as `opp-microvolt-speed0`.
fn microvolt(tree: &Tree, node: Id, notes: &mut Vec<String>) -> Result<Option<u64>, Error> {
    const NAME: &str = "opp-microvolt";
    let names = tree.nodes[node].properties.keys();
    let mut variants = names.filter(|name| name.starts_with("opp-microvolt-"));
    let name = match tree.has(node, NAME) {
        true => NAME.to_owned(),
        false => match variants.next() {
            None => return Ok(None),
            Some(variant) => {
                notes.push(format!(
                    "the voltages are those of `{variant}`: which of its variants a chip has is not known"
                ));
                variant.clone()
            }
        },
    };
    let cells = tree.cells(node, &name)?.unwrap_or_default();
    match cells.first().map(|&volts| u64::from(volts)) {
        Some(volts @ 1..=MOST_UV) => Ok(Some(volts)),
        // Firmware sets the voltage.
        Some(0) => Ok(None),
        _ => {
            let message = format!("has {cells:?}, expected microvolts up to {MOST_UV}");
            Err(tree.error_in(node, &name, message))
        }
    }
}

/// A time of a clock change, us; `None`: less than one.
fn micros(ns: u32, place: &str) -> Option<Said<u64>> {
    let us = u64::from(ns / 1000);
    (us > 0).then(|| Said::new(us, place))
}

/// `clock-latency` of a CPU: the longest time of a change holds (_of_init_opp_table()).
pub(super) fn latency_of_cpu(tree: &Tree, cpu: Id, table: &mut Table) -> Result<(), Error> {
    const NAME: &str = "clock-latency";
    let stated = tree.cell(cpu, NAME)?.unwrap_or(0);
    if let Some(own) = micros(stated, &tree.place_of(cpu, NAME))
        && table
            .switch_us
            .as_ref()
            .is_none_or(|us| us.value < own.value)
    {
        table.switch_us = Some(own);
    }
    Ok(())
}

/// Name of the older table.
pub(super) const OLDER: &str = "operating-points";

/// Pairs of kHz and uV at a CPU.
pub(super) fn version1(
    tree: &Tree,
    cpu: Id,
    notes: &mut Vec<String>,
) -> Result<Option<Table>, Error> {
    let Some(cells) = tree.cells(cpu, OLDER)? else {
        return Ok(None);
    };
    let (pairs, rest) = cells.as_chunks::<2>();
    let in_range = |&[khz, microvolt]: &[u32; 2]| {
        (1..=MOST_KHZ).contains(&khz.into()) && u64::from(microvolt) <= MOST_UV
    };
    if pairs.is_empty() || !rest.is_empty() || !pairs.iter().all(in_range) {
        let message = format!(
            "has the cells {cells:?}, expected pairs of kHz up to {MOST_KHZ} and microvolts up to {MOST_UV}"
        );
        return Err(tree.error_in(cpu, OLDER, message));
    }
    let point = |&[khz, volts]: &[u32; 2]| Point {
        khz: khz.into(),
        microvolt: Some(u64::from(volts)).filter(|&volts| volts > 0),
        microwatt: None,
        masks: Masks::new(),
    };
    Ok(Some(finished(
        pairs.iter().map(point).collect(),
        Place::File(tree.place_of(cpu, OLDER)),
        &tree.nodes[cpu].path,
        notes,
    )))
}

/// The columns of points; one is there if every point has it. Of points with one frequency the first is
/// used.
fn finished(mut points: Vec<Point>, place: Place, path: &str, notes: &mut Vec<String>) -> Table {
    points.sort_by_key(|point| point.khz);
    let mut twice = Vec::new();
    points.dedup_by(|later, first| {
        let same = later.khz == first.khz;
        if same && later.microvolt != first.microvolt {
            twice.push(first.khz.to_string());
        }
        same
    });
    if !twice.is_empty() {
        notes.push(format!(
            "{path}: several points have the frequencies {} kHz, with unlike voltages: the first of each \
             frequency is used",
            twice.join(", ")
        ));
    }
    let column = |of: fn(&Point) -> Option<u64>| {
        let values = points.iter().map(of).collect::<Option<Vec<_>>>()?;
        Some(Said::new(values, place.clone()))
    };
    Table {
        khz: Said::new(
            points.iter().map(|point| point.khz).collect(),
            place.clone(),
        ),
        microvolt: column(|point| point.microvolt),
        power_uw: column(|point| point.microwatt),
        switch_us: None,
    }
}
