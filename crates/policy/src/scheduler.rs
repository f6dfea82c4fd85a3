// SPDX-License-Identifier: GPL-2.0-only
//! The schedulers a user can name: a base kernel plus features, `linux-5.5+asym-capacity`.
//! Two tables say what each base and each feature sets in [`Params`].

use crate::abi::Params;
use std::fmt;

/// A base kernel.
#[derive(Debug)]
pub struct Base {
    /// As typed.
    pub name: &'static str,
    /// What it stands for.
    pub summary: &'static str,
    set: fn(&mut Params),
}

/// A placement policy that can be added to a base.
#[derive(Debug)]
pub struct Feature {
    /// As typed after `+`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Bases it makes sense on.
    pub bases: &'static [&'static str],
    bit: u64,
    set: fn(&mut Params),
}

/// All bases.
pub const BASES: &[Base] = &[Base {
    name: "linux-5.5",
    summary: "CFS; wake_cap and slow path for big tasks on asymmetric machines; SIS_PROP",
    set: |k| {
        k.wake_cap = 1;
        k.sis_prop = 1;
        k.sched_idle_last = 1;
        k.idlest_load_inverted = 1;
        k.est_lsb = 1;
        k.idlest_weight_unset = 1;
        k.fork_util_inflated = 1;
    },
}];

/// All features.
pub const FEATURES: &[Feature] = &[Feature {
    name: "asym-capacity",
    summary: "an idle CPU that is big enough, instead of wake_cap and the slow path",
    source: "\"sched/fair: Capacity aware wakeup rework\" v4, February 2020, merged in 5.7",
    bases: &["linux-5.5"],
    bit: 1 << 0,
    set: |k| k.wake_cap = 0,
}];

/// A named scheduler and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduler {
    /// Canonical name: base, then features in table order.
    pub name: String,
    /// What the core reads.
    pub params: Params,
}

/// Why a name is not a scheduler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No such base.
    #[error("scheduler '{given}': unknown base '{base}'; {hint}")]
    UnknownBase {
        /// As typed.
        given: String,
        /// The base part.
        base: String,
        /// Nearest names.
        hint: String,
    },
    /// No such feature.
    #[error("scheduler '{given}': unknown feature '{feature}'; {hint}")]
    UnknownFeature {
        /// As typed.
        given: String,
        /// The feature part.
        feature: String,
        /// Nearest names.
        hint: String,
    },
    /// The feature has no such tunable.
    #[error(
        "scheduler '{given}': feature '{feature}' has no tunable '{tunable}'; it has no tunables"
    )]
    UnknownTunable {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
        /// The tunable.
        tunable: String,
    },
    /// Named twice.
    #[error("scheduler '{given}': feature '{feature}' is named twice; once is enough")]
    Twice {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
    },
    /// The feature does not go with the base.
    #[error("scheduler '{given}': '{feature}' does not apply to '{base}'; it applies to {bases}")]
    WrongBase {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
        /// The base.
        base: String,
        /// Where it applies.
        bases: String,
    },
}

/// "did you mean" with the nearest names first, then all of them.
fn hint(given: &str, names: impl Iterator<Item = &'static str>) -> String {
    let mut names: Vec<_> = names.collect();
    names.sort_by(|a, b| {
        strsim::jaro_winkler(given, b)
            .total_cmp(&strsim::jaro_winkler(given, a))
            .then(a.cmp(b))
    });
    match names.first() {
        Some(best) if strsim::jaro_winkler(given, best) > 0.7 => {
            format!("did you mean '{best}'? valid: {}", names.join(", "))
        }
        _ => format!("valid: {}", names.join(", ")),
    }
}

impl Scheduler {
    /// Parses `BASE[+FEATURE[:TUNABLE=VALUE]…]…`.
    ///
    /// # Errors
    /// Unknown, doubled or unfitting parts, naming the valid ones.
    pub fn parse(given: &str) -> Result<Self, Error> {
        let given_owned = || given.to_string();
        let mut parts = given.split('+');
        let base_name = parts.next().unwrap_or_default().trim();
        let base =
            BASES
                .iter()
                .find(|b| b.name == base_name)
                .ok_or_else(|| Error::UnknownBase {
                    given: given_owned(),
                    base: base_name.to_string(),
                    hint: hint(base_name, BASES.iter().map(|b| b.name)),
                })?;
        let mut params = Params::default();
        (base.set)(&mut params);
        for part in parts {
            let (name, tunable) = part
                .split_once([':', '='])
                .map_or((part, None), |(name, rest)| (name, Some(rest)));
            let feature = FEATURES
                .iter()
                .find(|f| f.name == name.trim())
                .ok_or_else(|| Error::UnknownFeature {
                    given: given_owned(),
                    feature: name.trim().to_string(),
                    hint: hint(name.trim(), FEATURES.iter().map(|f| f.name)),
                })?;
            let feature_name = || feature.name.to_string();
            if let Some(tunable) = tunable {
                return Err(Error::UnknownTunable {
                    given: given_owned(),
                    feature: feature_name(),
                    tunable: tunable.to_string(),
                });
            }
            if params.features & feature.bit != 0 {
                return Err(Error::Twice {
                    given: given_owned(),
                    feature: feature_name(),
                });
            }
            if !feature.bases.contains(&base.name) {
                return Err(Error::WrongBase {
                    given: given_owned(),
                    feature: feature_name(),
                    base: base.name.to_string(),
                    bases: feature.bases.join(", "),
                });
            }
            params.features |= feature.bit;
            (feature.set)(&mut params);
        }
        let mut name = base.name.to_string();
        for feature in FEATURES.iter().filter(|f| params.features & f.bit != 0) {
            name.push('+');
            name.push_str(feature.name);
        }
        Ok(Scheduler { name, params })
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
