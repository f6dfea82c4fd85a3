// SPDX-License-Identifier: GPL-2.0-only
//! What a card is asked where the user names a part of it only: the base of a feature, machines,
//! workloads.

use std::num::NonZeroU32;

use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;

use super::{Place, StandardWorkload, WORKLOADS};
use crate::inert;

/// Where a card asks unless the user names machines: one of each shape, so that a card takes
/// hours at the most.
pub const MACHINES: [&str; 10] = [
    "juno-r0",
    "juno-r2",
    "tc2",
    "ca9x4",
    "hikey620",
    "sdm845",
    "sdm845-phantom",
    "rk3588",
    "gs101",
    "epyc-9654-2s",
];
/// Runs of each scheduler and cell, unless the user says how many.
pub const RUNS: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
/// The same for a first look.
pub const QUICK_RUNS: NonZeroU32 = NonZeroU32::new(3).expect("not zero");

/// The base, and the feature over it. Without a stated base it is that of the feature, or the newest
/// that lacks it.
///
/// # Errors
/// What is no feature, or has nothing new for the base; in words.
pub fn sides(feature: &str, base: Option<&str>) -> Result<(Scheduler, Scheduler), String> {
    let choose = |name, onto| Scheduler::choose([name], onto).map_err(|error| error.to_string());
    let stated = base.map(|name| choose(name, Onto::Newest)).transpose()?;
    let onto = stated.as_ref().map_or(Onto::NewestWithout, Onto::Stated);
    let variant = choose(feature, onto)?;
    let base = stated.unwrap_or_else(|| variant.base_alone());
    if variant.parts().1.is_empty() {
        return Err(format!(
            "'{variant}' names no feature; name one of `alight policy list`, like bias-prev"
        ));
    }
    if variant.is_same_run(&base) {
        return Err(inert::nothing_new(&base, &variant));
    }
    Ok((base, variant))
}

/// For a first look: of these machines the first where the feature can act.
pub fn first_look(base: &Scheduler, variant: &Scheduler, mut places: Vec<Place>) -> Vec<Place> {
    let acts = |place: &Place| inert::lacks(base, variant, &place.machine).is_none();
    let first = places.iter().position(acts).unwrap_or(0);
    places.swap(0, first);
    places.truncate(1);
    places
}

/// The workloads of the set that are named; else all of them.
///
/// # Errors
/// A name that none has, with the nearest; in words.
pub fn workloads(names: &[String]) -> Result<Vec<&'static StandardWorkload>, String> {
    if names.is_empty() {
        return Ok(WORKLOADS.iter().collect());
    }
    let find = |name: &String| {
        let known = WORKLOADS.iter().find(|entry| entry.name == name);
        known.ok_or_else(|| {
            let likeness = |entry: &StandardWorkload| strsim::jaro_winkler(name, entry.name);
            let mut nearest: Vec<&StandardWorkload> = WORKLOADS.iter().collect();
            nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
            let nearest: Vec<&str> = nearest.iter().map(|entry| entry.name).collect();
            format!(
                "no workload '{name}' in the standard set; did you mean '{}'? valid: {}",
                nearest[0],
                nearest.join(", ")
            )
        })
    };
    names.iter().map(find).collect()
}
