// SPDX-License-Identifier: GPL-2.0-only
//! The grammar by which users name schedulers: parts joined by `+`, each a base or a feature with
//! its tunables, in any order: `linux-6.5`, `bias-prev`, `+bias-prev`,
//! `linux-6.5+bias-prev:spare=128`. Without a base, the features are added to a scheduler that the
//! caller states ([`Onto`]).

use crate::bases::is_release;
use crate::scheduler::{BASES, BadScheduler, Base, FEATURES, On, Scheduler, hint};

/// The scheduler to which features are added if no base is named with them.
///
/// A feature that it has already is replaced, with its tunables: onto `linux-6.5+bias-prev`,
/// `bias-prev:spare=128` is `linux-6.5+bias-prev:spare=128`.
#[derive(Debug, Clone, Copy)]
pub enum Onto<'a> {
    /// The newest base to which they can be added; without features the newest base.
    Newest,
    /// The newest base that lacks all of them; if there is none, as `Newest`.
    NewestWithout,
    /// The first scheduler of a comparison. A name with a base of its own does not use it.
    First(&'a Scheduler),
    /// The scheduler that `--base` states. Another base is an error.
    Stated(&'a Scheduler),
}

impl Scheduler {
    /// The scheduler that `words` name together. Each word may be parts joined by `+`, and may
    /// begin with `+`.
    ///
    /// # Errors
    /// Two bases are named, or [`Scheduler::parse`] refuses the name.
    pub fn choose<'a>(
        words: impl IntoIterator<Item = &'a str>,
        onto: Onto<'_>,
    ) -> Result<Self, BadScheduler> {
        let words: Vec<&str> = words.into_iter().collect();
        let given = Words::read(&words)?;
        let over = match (given.base, onto) {
            (Some(base), Onto::Stated(stated)) if stated.name != base => {
                return Err(BadScheduler::OtherBase {
                    given: given.whole,
                    base: base.to_owned(),
                    stated: stated.name.clone(),
                });
            }
            (Some(base), _) => return given.on(base),
            (None, Onto::Newest) => return given.on_newest(),
            (None, Onto::NewestWithout) => return given.on_newest_without(),
            (None, Onto::First(over) | Onto::Stated(over)) => over,
        };
        let kept = over.name.split('+').filter(|part| {
            let feature = feature_of(part);
            !given.features.iter().any(|new| feature_of(new) == feature)
        });
        given.on(&kept.collect::<Vec<_>>().join("+"))
    }

    /// The schedulers of a comparison. If they name no base, the first is on the newest base and
    /// the others add to the first.
    ///
    /// # Errors
    /// As [`Scheduler::choose`], for the first name that is wrong.
    pub fn choose_all<'a>(
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Self>, BadScheduler> {
        let mut all: Vec<Scheduler> = vec![];
        for name in names {
            let onto = all.first().map_or(Onto::Newest, Onto::First);
            all.push(Scheduler::choose([name], onto)?);
        }
        Ok(all)
    }
}

/// Words, taken apart.
struct Words<'a> {
    /// As typed.
    whole: String,
    base: Option<&'a str>,
    features: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn read(words: &[&'a str]) -> Result<Self, BadScheduler> {
        let whole = words.join(" ");
        let parts = (words.iter())
            .flat_map(|word| {
                word.trim_start()
                    .strip_prefix('+')
                    .unwrap_or(word)
                    .split('+')
            })
            .map(str::trim);
        let (bases, features): (Vec<&str>, Vec<&str>) = parts.partition(|part| is_release(part));
        let base = match bases[..] {
            [] => None,
            // `linux-latest` becomes the name of the newest base, which is compared with `stated`.
            [base] => Some(Base::named(base).map_or(base, |known| known.name)),
            [first, second, ..] => {
                return Err(BadScheduler::TwoBases {
                    given: whole,
                    first: first.to_owned(),
                    second: second.to_owned(),
                });
            }
        };
        // With a base, an unknown word can only be meant as a feature: `parse` says so.
        let stranger = |part: &&&str| !FEATURES.iter().any(|f| f.name == feature_of(part));
        if base.is_none()
            && let Some(stranger) = features.iter().find(stranger)
        {
            let names = (BASES.iter().map(|base| base.name)).chain(FEATURES.iter().map(|f| f.name));
            return Err(BadScheduler::Unknown {
                given: whole,
                name: (*stranger).to_owned(),
                hint: hint(feature_of(stranger), names.collect::<Vec<_>>().into_iter()),
            });
        }
        Ok(Words {
            whole,
            base,
            features,
        })
    }

    /// The features added to a base, or to a base with other features.
    fn on(&self, base: &str) -> Result<Scheduler, BadScheduler> {
        let parts: Vec<&str> = [base].into_iter().chain(self.features.clone()).collect();
        Scheduler::parse(&parts.join("+"))
    }

    /// The newest base that takes the features. If none does, the error is that of the newest base.
    fn on_newest(&self) -> Result<Scheduler, BadScheduler> {
        let mut newest_first = BASES.iter().rev().map(|base| self.on(base.name));
        let newest = newest_first.next().expect("there are bases");
        newest.or_else(|refused| newest_first.find_map(Result::ok).ok_or(refused))
    }

    fn on_newest_without(&self) -> Result<Scheduler, BadScheduler> {
        let lacking = |base: &Base| {
            let scheduler = self.on(base.name).ok()?;
            let features = scheduler.parts().1;
            let lacks = features.iter().all(|f| f.meaning(base) == On::New);
            lacks.then_some(scheduler)
        };
        match BASES.iter().rev().find_map(lacking) {
            Some(scheduler) => Ok(scheduler),
            None => self.on_newest(),
        }
    }
}

/// The feature that a part names, without its tunables.
fn feature_of(part: &str) -> &str {
    part.split([':', '=']).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests;
