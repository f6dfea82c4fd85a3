// SPDX-License-Identifier: GPL-2.0-only
//! The schedulers there are, and what one of them is made of.

use alight_policy::scheduler::{
    BASES, Base, FEATURES, Feature, LATEST, On, Onto, Proof, Release, Tunable,
};
use alight_policy::{STEPS, Scheduler};
use serde::Serialize;

use crate::report::{Columns, map, pretty};

const LIST_SCHEMA: &str = "alight.policies/1";
const SHOW_SCHEMA: &str = "alight.policy/1";

/// What a name names.
#[derive(Debug)]
pub enum Named {
    /// A base kernel, alone.
    Base(&'static Base, Scheduler),
    /// A feature, alone.
    Feature(&'static Feature),
    /// A base with features.
    Scheduler(Scheduler),
}

impl Named {
    /// Finds a base, a feature (`asym-capacity` or `+asym-capacity`) or a scheduler.
    ///
    /// # Errors
    /// A name that is none of them, with the nearest valid ones.
    pub fn find(name: &str) -> Result<Self, String> {
        let bare = name.trim().strip_prefix('+').unwrap_or(name).trim();
        if let Some(feature) = FEATURES.iter().find(|feature| feature.name == bare) {
            return Ok(Named::Feature(feature));
        }
        let scheduler = Scheduler::choose([name], Onto::Newest);
        let scheduler = scheduler.map_err(|error| error.to_string())?;
        let base = BASES.iter().find(|base| base.name == scheduler.name);
        Ok(match base {
            Some(base) => Named::Base(base, scheduler),
            None => Named::Scheduler(scheduler),
        })
    }
}

#[derive(Serialize)]
struct PoliciesDocument {
    schema: &'static str,
    bases: Vec<BaseOut>,
    features: Vec<FeatureOut>,
}

#[derive(Serialize)]
struct BaseOut {
    name: &'static str,
    summary: &'static str,
    /// The point release that was read.
    read: &'static str,
    /// A kernel that ran was held against it.
    held_against_kernel: bool,
}

#[derive(Serialize)]
struct FeatureOut {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    /// Where it changes something by itself.
    bases: Vec<&'static str>,
    /// Where the base has it already: the release since which.
    merged: Vec<Merged>,
    /// Where it cannot be had: why.
    refused: Vec<Refused>,
    /// What machine and load must have for it to act.
    needs: &'static str,
    /// The steps that only it has.
    steps: &'static [&'static str],
    tunables: Vec<TunableOut>,
}

#[derive(Serialize)]
struct Merged {
    base: &'static str,
    since: String,
}

#[derive(Serialize)]
struct Refused {
    base: &'static str,
    why: &'static str,
}

#[derive(Serialize)]
struct TunableOut {
    name: &'static str,
    summary: &'static str,
    values: String,
    default: &'static str,
}

fn base_out(base: &Base) -> BaseOut {
    BaseOut {
        name: base.name,
        summary: base.summary,
        read: base.read,
        held_against_kernel: base.proof == Proof::Kernel,
    }
}

fn feature_out(feature: &Feature) -> FeatureOut {
    FeatureOut {
        name: feature.name,
        summary: feature.summary,
        source: feature.source,
        bases: on(feature, |on| (on == On::New).then_some(()))
            .map(|(base, ())| base)
            .collect(),
        merged: merged(feature)
            .map(|(base, since)| Merged {
                base,
                since: since.to_string(),
            })
            .collect(),
        refused: refused(feature)
            .map(|(base, why)| Refused { base, why })
            .collect(),
        needs: feature.needs.as_str(),
        steps: feature.steps,
        tunables: feature.tunables.iter().map(tunable_out).collect(),
    }
}

fn tunable_out(tunable: &Tunable) -> TunableOut {
    TunableOut {
        name: tunable.name,
        summary: tunable.summary,
        values: tunable.values.expected(),
        default: tunable.default,
    }
}

/// The bases on which a feature means what `pick` picks.
fn on<T>(feature: &Feature, pick: fn(On) -> Option<T>) -> impl Iterator<Item = (&'static str, T)> {
    let each = BASES.iter();
    each.filter_map(move |base| Some((base.name, pick(feature.meaning(base))?)))
}

fn merged(feature: &Feature) -> impl Iterator<Item = (&'static str, Release)> {
    on(feature, |on| match on {
        On::Merged(since) => Some(since),
        _ => None,
    })
}

fn refused(feature: &Feature) -> impl Iterator<Item = (&'static str, &'static str)> {
    on(feature, |on| match on {
        On::Not(why) => Some(why),
        _ => None,
    })
}

/// The steps that only this feature has, with what each means.
fn steps_of(feature: &Feature) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let steps = feature.steps;
    STEPS.iter().filter(move |(name, _)| steps.contains(name))
}

/// What a feature means on each base, one line a meaning.
fn meanings(feature: &Feature) -> Vec<String> {
    let names = |bases: Vec<&str>| bases.join(", ");
    let new = on(feature, |on| (on == On::New).then_some(()));
    let mut lines = vec![format!(
        "on {}",
        names(new.map(|(base, ())| base).collect())
    )];
    let merged: Vec<_> = merged(feature).collect();
    if let Some((_, since)) = merged.first() {
        let bases = names(merged.iter().map(|(base, _)| *base).collect());
        lines.push(format!(
            "part of {bases} (since {since}): only other values of its tunables change something"
        ));
    }
    lines.extend(refused(feature).map(|(base, why)| format!("not on {base}: {why}")));
    lines
}

/// All bases and features for the terminal.
pub fn list() -> String {
    let mut bases = Columns::new(2, 2);
    for base in BASES {
        bases.row([base.name, base.summary]);
        bases.row(["", &base.standing()]);
    }
    let mut features = Columns::new(2, 2);
    for feature in FEATURES {
        features.row([format!("+{}", feature.name), feature.summary.to_owned()]);
        for line in meanings(feature) {
            features.row([String::new(), line]);
        }
        let tunables: Vec<_> = feature.tunables.iter().map(|t| t.name).collect();
        if !tunables.is_empty() {
            features.row([String::new(), format!("tunables: {}", tunables.join(", "))]);
        }
    }
    format!(
        "base kernels\n{}\
         {LATEST} names the newest, {}.\n\nfeatures\n{}\nA scheduler is a base with features: {}\n\
         or with features that have tunables: linux-6.5+bias-prev:spare=128+sched-idle\n\
         Features without a base, +sched-idle or sched-idle, are added to --base or to the first scheduler\n\
         of a comparison, else to the newest base that accepts them.\n\
         `alight policy show FEATURE` explains its tunables.\n",
        bases.render(),
        Base::newest().name,
        features.render(),
        example()
    )
}

/// A scheduler with a feature, as users type it.
pub fn example() -> String {
    let feature = &FEATURES[0];
    let newest = on(feature, |on| (on == On::New).then_some(())).last();
    match newest {
        Some((base, ())) => format!("{base}+{}", feature.name),
        None => BASES[0].name.to_owned(),
    }
}

/// All bases and features for programs: `alight.policies/1`.
pub fn list_json() -> String {
    pretty(&PoliciesDocument {
        schema: LIST_SCHEMA,
        bases: BASES.iter().map(base_out).collect(),
        features: FEATURES.iter().map(feature_out).collect(),
    })
}

/// A base, a feature or a scheduler for the terminal.
pub fn show(named: &Named) -> String {
    let mut rows = Columns::new(0, 2);
    match named {
        Named::Base(base, scheduler) => {
            rows.row(["base", base.name]);
            rows.row(["", base.summary]);
            rows.row(["", &base.standing()]);
            params_rows(&mut rows, scheduler);
        }
        Named::Feature(feature) => feature_rows(&mut rows, feature),
        Named::Scheduler(scheduler) => {
            rows.row(["scheduler", &scheduler.name]);
            let (base, features) = scheduler.parts();
            rows.row(["base", &format!("{}: {}", base.name, base.summary)]);
            rows.row(["", &base.standing()]);
            for feature in features {
                feature_rows(&mut rows, feature);
            }
            params_rows(&mut rows, scheduler);
        }
    }
    rows.render()
}

fn feature_rows(rows: &mut Columns, feature: &Feature) {
    rows.row(["feature", &format!("+{}", feature.name)]);
    rows.row(["", feature.summary]);
    rows.row(["source", feature.source]);
    for (index, line) in meanings(feature).iter().enumerate() {
        rows.row([if index == 0 { "applies" } else { "" }, line]);
    }
    rows.row(["acts on", feature.needs.as_str()]);
    for (index, (name, meaning)) in steps_of(feature).enumerate() {
        let label = if index == 0 { "steps" } else { "" };
        let own = format!("{}: ", feature.name);
        let meaning = meaning.strip_prefix(&own).unwrap_or(meaning);
        rows.row([label, &format!("{name}: {meaning}")]);
    }
    if feature.steps.is_empty() {
        rows.row([
            "steps",
            "none of its own: it changes which CPUs the base's steps accept",
        ]);
    }
    for (index, tunable) in feature.tunables.iter().enumerate() {
        let name = if index == 0 { "tunables" } else { "" };
        let (values, default) = (tunable.values.expected(), tunable.default);
        rows.row([
            name,
            &format!("{}: {values}; default {default}", tunable.name),
        ]);
        rows.row(["", &format!("    {}", tunable.summary)]);
    }
    rows.row([
        "described in",
        &format!("docs/policies/{}.md", feature.name),
    ]);
}

fn params_rows(rows: &mut Columns, scheduler: &Scheduler) {
    for (index, (name, value)) in scheduler.params.fields().iter().enumerate() {
        let label = if index == 0 { "parameters" } else { "" };
        rows.row([label, &format!("{name} = {value}")]);
    }
}

#[derive(Serialize)]
struct Show {
    schema: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<BaseOut>,
    features: Vec<FeatureOut>,
    #[serde(serialize_with = "map", skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<(&'static str, u64)>,
}

/// A base, a feature or a scheduler for programs: `alight.policy/1`.
pub fn show_json(named: &Named) -> String {
    pretty(&match named {
        Named::Feature(feature) => Show {
            schema: SHOW_SCHEMA,
            name: feature.name.to_owned(),
            base: None,
            features: vec![feature_out(feature)],
            parameters: Vec::new(),
        },
        Named::Base(_, scheduler) | Named::Scheduler(scheduler) => {
            let (base, features) = scheduler.parts();
            Show {
                schema: SHOW_SCHEMA,
                name: scheduler.name.clone(),
                base: Some(base_out(base)),
                features: features.into_iter().map(feature_out).collect(),
                parameters: scheduler.params.fields(),
            }
        }
    })
}

#[cfg(test)]
mod tests;
