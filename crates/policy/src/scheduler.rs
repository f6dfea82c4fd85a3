// SPDX-License-Identifier: GPL-2.0-only
//! The schedulers a user can name: a base kernel plus features, `linux-5.5+asym-capacity`.
//! Two tables say what each base and each feature sets in [`Params`].

use crate::abi::{Params, rule};
use std::fmt;

/// A base kernel.
#[derive(Debug)]
pub struct Base {
    /// As typed.
    pub name: &'static str,
    /// What it stands for.
    pub summary: &'static str,
    rules: Params,
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
pub const BASES: &[Base] = &[
    Base {
        name: "linux-3.9",
        summary: "CFS; load by weight, idle groups below the cache; no utilization, no energy model",
        rules: LINUX_3_9,
    },
    Base {
        name: "linux-5.4",
        summary: "CFS; wake_cap on asymmetric machines, SIS_PROP, EAS, fork by spare capacity",
        rules: LINUX_5_4,
    },
    Base {
        name: "linux-5.5",
        summary: "CFS; wake_cap and slow path for big tasks on asymmetric machines; SIS_PROP, EAS",
        rules: LINUX_5_5,
    },
    Base {
        name: "linux-6.1",
        summary: "CFS; scan for CPUs that fit task and clamps, one LLC scan, SIS_UTIL, EAS by least energy",
        rules: LINUX_6_1,
    },
    Base {
        name: "linux-6.5",
        summary: "as 6.1, with tasks that wait counted in the frequency that EAS expects",
        rules: LINUX_6_5,
    },
    Base {
        name: "linux-7.2",
        summary: "EEVDF; clusters, idle cores on asymmetric machines, EAS by performance states",
        rules: LINUX_7_2,
    },
];

/// kernel/sched/fair.c of 3.9.
const LINUX_3_9: Params = Params {
    affine_balanced: 1,
    exit_is_sync: 1,
    load: rule::LOAD_WEIGHT,
    walk_all: 1,
    search_if_affine: 1,
    sched_idle: rule::SCHED_IDLE_BUSY,
    sibling: rule::SIBLING_GROUPS,
    recent_none: 1,
    idlest: rule::IDLEST_LOAD,
    fit: rule::FIT_PLAIN,
    est_none: 1,
    cache_pct: 125,
    package_pct: 125,
    ..Params::NONE
};

/// kernel/sched/fair.c of 5.4.
const LINUX_5_4: Params = Params {
    wake_wide: 1,
    wake_cap: 1,
    eas: rule::EAS_SIXTEENTH,
    performance: rule::PERFORMANCE_FREQUENCY,
    load: rule::LOAD_RUNNABLE,
    sched_idle: rule::SCHED_IDLE_LAST,
    sibling: rule::SIBLING_SEPARATE,
    sis_prop: 1,
    idlest: rule::IDLEST_SPARE,
    fit: rule::FIT_PLAIN,
    fork_util_inflated: 1,
    est_lsb: 1,
    est_slow_up: 1,
    sums: rule::SUMS_FREE,
    cache_pct: 117,
    package_pct: 125,
    ..Params::NONE
};

/// What 5.5 changed: load with the blocked tasks, fork by how full groups are, estimates that rise
/// at once. Clamps count as they do from 5.6 on, which the published comparisons with 5.5 had.
const LINUX_5_5: Params = Params {
    load: rule::LOAD_AVG,
    idlest: rule::IDLEST_CLASS,
    idlest_load_inverted: 1,
    idlest_weight_unset: 1,
    fit: rule::FIT_CLAMPED,
    est_slow_up: 0,
    sums: rule::SUMS_BOUNDED,
    ..LINUX_5_4
};

/// What changed up to 6.1, read in 6.1.192.
const LINUX_6_1: Params = Params {
    wake_cap: 0,
    eas: rule::EAS_DELTA,
    performance: rule::PERFORMANCE_UTIL,
    skip_inefficient: 1,
    affine_prev_idle: 1,
    sched_idle: rule::SCHED_IDLE_AVAIL,
    sibling: rule::SIBLING_ONE_SCAN,
    recent_always: 1,
    kthread_stacks: 1,
    sis_prop: 0,
    sis_util: 1,
    asym: rule::ASYM_FITS,
    fit: rule::FIT_CLAMPS,
    pressure: rule::PRESSURE_THERMAL,
    idlest_load_inverted: 0,
    idlest_weight_unset: 0,
    idlest_tie_util: 1,
    idlest_runnable: 1,
    idlest_misfit_cpus: 1,
    idlest_numa_imbalance: 1,
    est_lsb: 0,
    est_keeps_last: 1,
    sums: rule::SUMS_CUT,
    package_pct: 117,
    asym_partial: 1,
    cluster_level: 1,
    ..LINUX_5_5
};

/// What changed up to 6.5, read in 6.5.13 (fixes of 6.1.192 that it lacks included).
const LINUX_6_5: Params = Params {
    util_boost: rule::BOOST_QUEUE,
    asym_from_next: 1,
    smt_beyond_domain: 1,
    ..LINUX_6_1
};

/// What changed up to 7.2.
const LINUX_7_2: Params = Params {
    current_cpu: 1,
    util_boost: rule::BOOST_TASK,
    performance: rule::PERFORMANCE_CLAMPED,
    state_by_performance: 1,
    delayed_dequeue: 1,
    sched_idle: rule::SCHED_IDLE_NORMAL,
    cluster_scan: 1,
    smt_beyond_domain: 0,
    empty_scan_tells_nothing: 1,
    asym: rule::ASYM_CORES,
    asym_from_next: 0,
    pressure: rule::PRESSURE_AVERAGE,
    idlest_allowed_only: 1,
    idlest_eas_spares: 1,
    fork_util_inflated: 0,
    est_keeps_last: 0,
    est_single: 1,
    sums: rule::SUMS_BOUNDED_JOIN,
    shared_by_asym: 1,
    ..LINUX_6_5
};

/// All features.
pub const FEATURES: &[Feature] = &[Feature {
    name: "asym-capacity",
    summary: "an idle CPU that is big enough, instead of wake_cap and the slow path",
    source: "\"sched/fair: Capacity aware wakeup rework\" v4, February 2020, merged in 5.7",
    bases: &["linux-5.5", "linux-5.4"],
    bit: 1 << 0,
    set: |k| {
        k.wake_cap = 0;
        k.fit = rule::FIT_CLAMPED;
    },
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

/// "did you mean" with the nearest names first, then all of them. What begins alike
/// comes first, since 5.6 is nearer to 5.5 than to 6.5; then the newest.
fn hint(given: &str, names: impl DoubleEndedIterator<Item = &'static str>) -> String {
    let likeness = |name: &str| {
        let pairs = given.bytes().zip(name.bytes());
        let begins_alike = pairs.take_while(|(a, b)| a == b).count();
        (begins_alike, strsim::jaro_winkler(given, name))
    };
    let mut names: Vec<_> = names.rev().collect();
    names.sort_by(|a, b| {
        let ((long_a, like_a), (long_b, like_b)) = (likeness(a), likeness(b));
        long_b.cmp(&long_a).then(like_b.total_cmp(&like_a))
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
        let mut params = base.rules;
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
