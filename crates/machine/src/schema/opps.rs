// SPDX-License-Identifier: GPL-2.0-only
//! Operating points and powers: stated, or by the rules that the kernel has.

use super::{CAPACITY, KHZ, MICROVOLT, POWER_MW, POWER_UW};
use crate::draft::OppDraft;
use crate::figure::{Confidence, Provenance};
use crate::reader::{At, Reader};

/// The operating points: columns of equal length, one value a point.
pub(super) fn read_opps(section: &mut Reader) -> Option<Vec<OppDraft>> {
    let khz = section.wholes("khz", KHZ);
    let khz = section.required("khz", khz);
    if let Some(empty) = khz.as_ref().filter(|khz| khz.value.is_empty()) {
        let message = format!(
            "`{}.khz` is empty, expected at least one frequency",
            section.path
        );
        section.complain(&empty.place, message);
    }
    let capacity = section.wholes("capacity", CAPACITY);
    let modelled = read_modelled_power(section, khz.as_ref());
    let core_power = read_core_power(section, modelled.as_ref());
    let cluster_power = read_cluster_power(section, core_power.as_ref());
    let khz = khz?;
    let columns = [
        ("capacity", capacity.as_ref()),
        ("core power", core_power.as_ref()),
        ("cluster power", cluster_power.as_ref()),
    ];
    let unequal = |(name, column)| !equal_length(section, &khz, name, column);
    if columns
        .into_iter()
        .filter(|&column| unequal(column))
        .count()
        > 0
    {
        return None;
    }
    let mut capacity = capacity.map(|column| column.value.into_iter());
    let mut modelled = modelled.map(|column| column.value.into_iter());
    let columns = (khz.value.into_iter())
        .zip(core_power?.value)
        .zip(cluster_power?.value);
    let opps = columns.map(|((khz, core_power_uw), cluster_power_uw)| OppDraft {
        khz,
        capacity: capacity.as_mut().and_then(Iterator::next),
        em_power_uw: (modelled.as_mut().and_then(Iterator::next))
            .map_or(core_power_uw.value, |modelled| modelled.value),
        core_power_uw,
        cluster_power_uw,
    });
    Some(opps.collect())
}

type Column = At<Vec<At<u64>>>;

/// Has the column a value for each `khz`, if it is there? Tells if not.
fn equal_length(section: &Reader, khz: &Column, name: &str, column: Option<&Column>) -> bool {
    match column {
        Some(column) if column.value.len() != khz.value.len() => {
            let message = format!(
                "the {name} column of [{}] has {} values, expected {}, one for each `khz`",
                section.path,
                column.value.len(),
                khz.value.len()
            );
            section.complain(&column.place, message);
            false
        }
        _ => true,
    }
}

/// Power of a busy core by the rule of the kernel's energy model (Linux 6.5 `drivers/opp/of.c`,
/// `_get_power`): C * f * V^2 with whole MHz and mV; `None` if the coefficient or the voltages are not
/// stated.
fn read_modelled_power(section: &mut Reader, khz: Option<&Column>) -> Option<Column> {
    let coefficient = section.whole("dynamic_power_coefficient", 1..=1_000_000);
    let microvolt = section.wholes("microvolt", MICROVOLT);
    let (coefficient, microvolt, khz) = (coefficient?, microvolt?, khz?);
    if !equal_length(section, khz, "microvolt", Some(&microvolt)) {
        return None;
    }
    let value: Vec<At<u64>> = khz
        .value
        .iter()
        .zip(&microvolt.value)
        .map(|(khz, microvolt)| {
            let (mhz, mv) = (khz.value / 1000, microvolt.value / 1000);
            let power = u128::from(coefficient.value * mhz) * u128::from(mv * mv) / 1_000_000;
            At {
                value: u64::try_from(power).unwrap_or(u64::MAX),
                place: microvolt.place.clone(),
            }
        })
        .collect();
    let place = microvolt.place;
    Some(At { value, place })
}

/// Power of a busy core: stated, or `modelled`.
fn read_core_power(section: &mut Reader, modelled: Option<&Column>) -> Option<Column> {
    let stated = powers(section, "core_power_mw", "core_power_uw");
    let keys = ["core_power_mw", "core_power_uw"];
    if keys.into_iter().any(|key| section.has(key)) {
        return stated;
    }
    if !(section.has("dynamic_power_coefficient") && section.has("microvolt")) {
        let message = format!(
            "[{}] has neither `core_power_mw` nor `dynamic_power_coefficient` with `microvolt`",
            section.path
        );
        section.complain(section.place, message);
    }
    let modelled = modelled?.clone();
    derived(
        section,
        "core_power_uw",
        &modelled.value,
        "dynamic_power_coefficient * MHz * V^2 (Linux 6.5 drivers/opp/of.c _get_power)",
    );
    Some(modelled)
}

/// Power of a cluster's shared part, stated or a share of a core's power.
fn read_cluster_power(section: &mut Reader, core_power: Option<&Column>) -> Option<Column> {
    let stated = powers(section, "cluster_power_mw", "cluster_power_uw");
    let percent = section.whole("cluster_power_percent", 0..=1000);
    let keys = ["cluster_power_mw", "cluster_power_uw"];
    if keys.into_iter().any(|key| section.has(key)) {
        return stated;
    }
    let percent = match section.has("cluster_power_percent") {
        true => percent?,
        false => section.required("cluster_power_mw", None)?,
    };
    let value: Vec<At<u64>> = core_power?
        .value
        .iter()
        .map(|core| At {
            value: core.value.saturating_mul(percent.value) / 100,
            place: percent.place.clone(),
        })
        .collect();
    derived(
        section,
        "cluster_power_uw",
        &value,
        "cluster_power_percent of the core power",
    );
    let place = percent.place;
    Some(At { value, place })
}

fn derived(section: &Reader, key: &str, column: &[At<u64>], rule: &str) {
    let words: Vec<String> = column.iter().map(|v| v.value.to_string()).collect();
    let provenance = Provenance::new(rule.to_owned(), Confidence::Derived);
    section.record_derived(key, words.join(" "), provenance);
}

/// A power in mW or, under another key, in uW; one of them must be there.
pub(super) fn power(
    section: &mut Reader,
    milliwatt: &'static str,
    microwatt: &'static str,
) -> Option<At<u64>> {
    let coarse = section.whole(milliwatt, POWER_MW);
    let fine = section.whole(microwatt, POWER_UW);
    one_unit(section, (milliwatt, microwatt), coarse, fine, |power| {
        power.value *= 1000;
    })
}

/// As [`power`], a column of an operating point table, which need not be there.
fn powers(
    section: &mut Reader,
    milliwatt: &'static str,
    microwatt: &'static str,
) -> Option<Column> {
    let coarse = section.wholes(milliwatt, POWER_MW);
    let fine = section.wholes(microwatt, POWER_UW);
    if coarse.is_none() && fine.is_none() {
        return None;
    }
    one_unit(section, (milliwatt, microwatt), coarse, fine, |column| {
        for power in &mut column.value {
            power.value *= 1000;
        }
    })
}

/// The one of a coarse and a fine figure that is there, in the fine unit.
fn one_unit<T>(
    section: &mut Reader,
    (coarse_key, fine_key): (&'static str, &'static str),
    coarse: Option<At<T>>,
    fine: Option<At<T>>,
    scale: impl Fn(&mut At<T>),
) -> Option<At<T>> {
    match (coarse, fine) {
        (Some(_), Some(fine)) => {
            let message = format!("both `{coarse_key}` and `{fine_key}`, expected one of them");
            section.complain(&fine.place, message);
            None
        }
        (None, fine @ Some(_)) => fine,
        (Some(mut coarse), None) => {
            scale(&mut coarse);
            Some(coarse)
        }
        (None, None) if section.has(fine_key) => None,
        (None, None) => section.required(coarse_key, None),
    }
}
