// SPDX-License-Identifier: GPL-2.0-only
//! The one grammar by which users name schedulers: parts joined by `+`, each a base or a feature
//! with what it is told, in any order: `linux-6.5`, `bias-prev`, `+bias-prev`,
//! `linux-6.5+bias-prev:spare=128`. Who names no base adds to a scheduler that the place states.

use crate::bases::is_release;
use crate::scheduler::{BASES, BadScheduler, Base, FEATURES, On, Scheduler, hint};

/// What features are added to where no base is named beside them.
///
/// A feature that is there already is told anew: over `linux-6.5+bias-prev`,
/// `bias-prev:spare=128` is `linux-6.5+bias-prev:spare=128`.
#[derive(Debug, Clone, Copy)]
pub enum Onto<'a> {
    /// The newest base that goes with them; without features the newest base.
    Newest,
    /// The newest base that lacks each of them; if there is none, as `Newest`.
    NewestWithout,
    /// The first scheduler of a comparison. Who names a base stands beside it.
    First(&'a Scheduler),
    /// What `--base` states. Who names another base contradicts it.
    Stated(&'a Scheduler),
}

impl Scheduler {
    /// The scheduler that `words` name together; each word may be parts joined by `+`, and may
    /// begin with one.
    ///
    /// # Errors
    /// Two bases, and what [`Scheduler::parse`] refuses.
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

    /// The schedulers of a comparison: the first is over the newest base, the others over the
    /// first, where they name no base.
    ///
    /// # Errors
    /// As [`Scheduler::choose`], of the first that is wrong.
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
            // The newest one has a name of its own, which is compared with others.
            [base] => Some(Base::named(base).map_or(base, |known| known.name)),
            [first, second, ..] => {
                return Err(BadScheduler::TwoBases {
                    given: whole,
                    first: first.to_owned(),
                    second: second.to_owned(),
                });
            }
        };
        // Beside a base it can only be meant as a feature, which `parse` says.
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

    /// The features over a base, or a base with others.
    fn on(&self, base: &str) -> Result<Scheduler, BadScheduler> {
        let parts: Vec<&str> = [base].into_iter().chain(self.features.clone()).collect();
        Scheduler::parse(&parts.join("+"))
    }

    /// Of a base that does not go with the features, what the newest says.
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

/// The feature that a part names, without what it is told.
fn feature_of(part: &str) -> &str {
    part.split([':', '=']).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests;
