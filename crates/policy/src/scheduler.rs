// SPDX-License-Identifier: GPL-2.0-only
//! Schedulers and their names: a base kernel plus features with their tunables, such as
//! `linux-5.5+asym-capacity` or `linux-6.5+bias-prev:spare=128+sched-idle`.
//!
//! The name is only a label. It keeps every value that was named, even a default. The rules
//! ([`Scheduler::params`]) decide.

use crate::STEPS;
use crate::abi::Params;
use crate::bases::instead_of;
use crate::features::Options;
use std::fmt;

pub use crate::bases::{BASES, Base, LATEST, Proof, Release};
pub use crate::choose::Onto;
pub use crate::features::{FEATURES, Feature, Needs, On, Tunable, Values};

/// A scheduler: its name, and the rules that the core reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduler {
    /// Label: the base, then the features in table order, each with the tunables that were named,
    /// even at their default.
    pub name: String,
    /// The rules, features and tunables that the core reads.
    pub params: Params,
}

/// Why a text is not the name of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadScheduler {
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
    /// Neither a base nor a feature has this name.
    #[error(
        "there is no base and no feature '{name}'{}; {hint}",
        within(given, name)
    )]
    Unknown {
        /// As typed.
        given: String,
        /// The word.
        name: String,
        /// Nearest names.
        hint: String,
    },
    /// More than one base.
    #[error("'{given}' names two bases, {first} and {second}: name one")]
    TwoBases {
        /// As typed.
        given: String,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// A base other than the one that `--base` states.
    #[error("'{given}' has the base {base}, and --base says {stated}: leave out one of them")]
    OtherBase {
        /// As typed.
        given: String,
        /// Its base.
        base: String,
        /// The base that `--base` states.
        stated: String,
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
    #[error("scheduler '{given}': '{feature}' has no tunable '{tunable}'; {hint}")]
    UnknownTunable {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
        /// The tunable.
        tunable: String,
        /// Nearest names.
        hint: String,
    },
    /// The tunable cannot have this value.
    #[error("scheduler '{given}': {feature}:{tunable} is {found}, expected {expected}")]
    BadValue {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
        /// The tunable.
        tunable: String,
        /// What was found.
        found: String,
        /// The valid values.
        expected: String,
    },
    /// Named twice.
    #[error("scheduler '{given}': '{name}' is named twice; name it once")]
    Twice {
        /// As typed.
        given: String,
        /// The feature or tunable.
        name: String,
    },
    /// The feature cannot be added to the base.
    #[error(
        "scheduler '{given}': '{feature}' does not go with {base}: {why}; it goes with {bases}"
    )]
    WrongBase {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
        /// The base.
        base: String,
        /// Why not.
        why: String,
        /// The bases to which it can be added.
        bases: String,
    },
    /// Tunables that exclude each other, on this base or on every base.
    #[error("scheduler '{given}': {feature}: {why}")]
    Conflict {
        /// As typed.
        given: String,
        /// The feature.
        feature: String,
        /// Why, and what to name instead.
        why: String,
    },
}

/// The whole text in which a word was typed, unless the word is all of it.
fn within(given: &str, name: &str) -> String {
    match given.trim_start_matches('+') == name {
        true => String::new(),
        false => format!(" (in '{given}')"),
    }
}

/// "did you mean" with the nearest name, then all names, the nearest first. Names with the
/// longest common beginning are nearest, then the most similar; of equals the last.
pub(crate) fn hint(given: &str, names: impl DoubleEndedIterator<Item = &'static str>) -> String {
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

/// A feature with its options, as typed: `bias-prev:spare=128`, `pack=full`.
struct Given<'a> {
    whole: &'a str,
    feature: &'static Feature,
    options: Options,
}

impl<'a> Given<'a> {
    fn parse(whole: &'a str, part: &str) -> Result<Self, BadScheduler> {
        let mut words = part.split(':').map(str::trim);
        let head = words.next().unwrap_or_default();
        let (name, first) = match head.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (head, None),
        };
        let feature = (FEATURES.iter().find(|f| f.name == name)).ok_or_else(|| {
            BadScheduler::UnknownFeature {
                given: whole.to_owned(),
                feature: name.to_owned(),
                hint: hint(name, FEATURES.iter().map(|f| f.name)),
            }
        })?;
        let mut this = Given {
            whole,
            feature,
            options: Options::default(),
        };
        if let Some(value) = first {
            match feature.tunables.first() {
                Some(tunable) => this.add(tunable, Some(value))?,
                None => return Err(this.unknown_tunable("")),
            }
        }
        for word in words {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim())),
                None => (word, None),
            };
            let tunable = feature.tunables.iter().find(|t| t.name == name);
            this.add(tunable.ok_or_else(|| this.unknown_tunable(name))?, value)?;
        }
        Ok(this)
    }

    fn add(&mut self, tunable: &'static Tunable, text: Option<&str>) -> Result<(), BadScheduler> {
        let value = tunable
            .values
            .parse(text)
            .ok_or_else(|| BadScheduler::BadValue {
                given: self.whole.to_owned(),
                feature: self.feature.name.to_owned(),
                tunable: tunable.name.to_owned(),
                found: text.map_or("nothing".to_owned(), |text| format!("'{text}'")),
                expected: tunable.values.expected(),
            })?;
        if self.options.0.iter().any(|(name, _)| *name == tunable.name) {
            return Err(BadScheduler::Twice {
                given: self.whole.to_owned(),
                name: format!("{}:{}", self.feature.name, tunable.name),
            });
        }
        self.options.0.push((tunable.name, value));
        Ok(())
    }

    fn unknown_tunable(&self, name: &str) -> BadScheduler {
        let known = self.feature.tunables.iter().map(|t| t.name);
        BadScheduler::UnknownTunable {
            given: self.whole.to_owned(),
            feature: self.feature.name.to_owned(),
            tunable: name.to_owned(),
            hint: match known.len() {
                0 => "it has none".to_owned(),
                _ => hint(name, known),
            },
        }
    }

    fn apply(&self, base: &Base, params: &mut Params) -> Result<(), BadScheduler> {
        let on = |base: &Base| self.feature.meaning(base);
        if let On::Not(why) = on(base) {
            let goes = BASES.iter().filter(|base| !matches!(on(base), On::Not(_)));
            return Err(BadScheduler::WrongBase {
                given: self.whole.to_owned(),
                feature: self.feature.name.to_owned(),
                base: base.name.to_owned(),
                why: why.to_owned(),
                bases: goes.map(|base| base.name).collect::<Vec<_>>().join(", "),
            });
        }
        params.features |= self.feature.bit;
        (self.feature.apply)(params, &self.options).map_err(|why| BadScheduler::Conflict {
            given: self.whole.to_owned(),
            feature: self.feature.name.to_owned(),
            why: why.to_owned(),
        })
    }

    /// Canonical name: the tunables that were named, in table order.
    fn name(&self) -> String {
        let mut name = self.feature.name.to_owned();
        for tunable in self.feature.tunables {
            let given = (self.options.0.iter()).find(|(known, _)| *known == tunable.name);
            let Some(&(_, value)) = given else { continue };
            name.push(':');
            name.push_str(tunable.name);
            if tunable.values != Values::Flag || value == 0 {
                name.push('=');
                name.push_str(&tunable.values.text(value));
            }
        }
        name
    }
}

impl Scheduler {
    /// Parses a whole name, `BASE[+FEATURE[=VALUE][:TUNABLE[=VALUE]]…]…`. The order of features does
    /// not matter. `linux-latest` means the newest base; the scheduler has the name of that base.
    /// [`Scheduler::choose`] reads what users type.
    ///
    /// # Errors
    /// A part is unknown, is named twice, or cannot be added to the base. The message lists what is
    /// valid.
    pub fn parse(given: &str) -> Result<Self, BadScheduler> {
        let mut parts = given.split('+').map(str::trim);
        let base_name = parts.next().unwrap_or_default();
        let base = Base::named(base_name).ok_or_else(|| BadScheduler::UnknownBase {
            given: given.to_owned(),
            base: base_name.to_owned(),
            hint: instead_of(base_name),
        })?;
        let mut features = parts
            .map(|part| Given::parse(given, part))
            .collect::<Result<Vec<_>, _>>()?;
        features.sort_by_key(|one| FEATURES.iter().position(|f| f.name == one.feature.name));
        if let Some(two) =
            (features.windows(2)).find(|two| two[0].feature.bit == two[1].feature.bit)
        {
            return Err(BadScheduler::Twice {
                given: given.to_owned(),
                name: two[0].feature.name.to_owned(),
            });
        }
        let (mut name, mut params) = (base.name.to_owned(), base.rules);
        for feature in &features {
            feature.apply(base, &mut params)?;
            name.push('+');
            name.push_str(&feature.name());
        }
        Ok(Scheduler { name, params })
    }

    /// True if both have the same base and the same rules, even if their labels differ. With the
    /// same seed their runs are then the same run, with one hash.
    pub fn is_same_run(&self, other: &Scheduler) -> bool {
        let rules = |scheduler: &Scheduler| Params {
            // This says which features were named, not what they changed.
            features: 0,
            ..scheduler.params
        };
        self.parts().0.name == other.parts().0.name && rules(self) == rules(other)
    }

    /// The base without the features.
    pub fn base_alone(&self) -> Scheduler {
        let base = self.parts().0;
        Scheduler {
            name: base.name.to_owned(),
            params: base.rules,
        }
    }

    /// This scheduler without one of its features.
    pub fn without(&self, feature: &Feature) -> Scheduler {
        let named = |part: &&str| part.split(':').next() != Some(feature.name);
        let kept: Vec<&str> = self.name.split('+').filter(named).collect();
        Scheduler::parse(&kept.join("+")).expect("features do not need each other")
    }

    /// The feature that owns the step with this index in [`crate::STEPS`]. `None`: the base owns
    /// it. A base also owns the steps of features that were merged before it.
    pub fn owner(&self, step: u32) -> Option<&'static Feature> {
        let name = STEPS.get(step as usize)?.0;
        let (base, features) = self.parts();
        (features.into_iter()).find(|f| f.steps.contains(&name) && f.meaning(base) == On::New)
    }

    /// Its base, and its features in table order.
    pub fn parts(&self) -> (&'static Base, Vec<&'static Feature>) {
        let base = self.name.split('+').next().unwrap_or_default();
        let base = BASES.iter().find(|known| known.name == base);
        let features = (FEATURES.iter()).filter(|f| self.params.features & f.bit != 0);
        (
            base.expect("a parsed scheduler has a known base"),
            features.collect(),
        )
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
