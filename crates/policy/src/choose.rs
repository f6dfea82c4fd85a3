// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler that a few words ask for: `bias-prev sched-idle`, `linux-6.5 pack=full`,
//! `linux-5.5+asym-capacity`.

use crate::scheduler::{BASES, Error, FEATURES, Scheduler, hint};

/// What all bases' names begin with, and no feature's does.
const BASE_PREFIX: &str = "linux-";

impl Scheduler {
    /// Each word is a base, a feature with what it is told, or several of them joined by `+`; their
    /// order does not matter. Without a base it is the newest one that goes with the features.
    ///
    /// # Errors
    /// Two bases, and what [`Scheduler::parse`] refuses.
    pub fn choose<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let words: Vec<&str> = words.into_iter().collect();
        let parts: Vec<&str> = (words.iter())
            .flat_map(|word| word.strip_prefix('+').unwrap_or(word).split('+'))
            .map(str::trim)
            .collect();
        let (bases, features): (Vec<&str>, Vec<&str>) =
            (parts.into_iter()).partition(|part| part.starts_with(BASE_PREFIX));
        let known = |part: &&str| {
            let name = part.split([':', '=']).next().unwrap_or_default().trim();
            FEATURES.iter().any(|feature| feature.name == name)
        };
        if let Some(stranger) = features.iter().find(|part| !known(part)) {
            let names = (BASES.iter().map(|base| base.name)).chain(FEATURES.iter().map(|f| f.name));
            return Err(Error::Unknown {
                given: words.join(" "),
                name: (*stranger).to_owned(),
                hint: hint(stranger, names.collect::<Vec<_>>().into_iter()),
            });
        }
        let on = |base: &str| {
            let parts: Vec<&str> = [base].into_iter().chain(features.iter().copied()).collect();
            Scheduler::parse(&parts.join("+"))
        };
        match bases[..] {
            [] => {
                let mut newest_first = BASES.iter().rev().map(|base| on(base.name));
                let newest = newest_first.next().expect("there are bases");
                newest.or_else(|refused| newest_first.find_map(Result::ok).ok_or(refused))
            }
            [base] => on(base),
            [first, second, ..] => Err(Error::TwoBases {
                given: words.join(" "),
                first: first.to_owned(),
                second: second.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_a_scheduler() {
        let newest = BASES.last().expect("there are bases").name;
        for (words, expected) in [
            ("", newest.to_owned()),
            ("linux-6.5", "linux-6.5".to_owned()),
            (
                "bias-prev sched-idle",
                format!("{newest}+sched-idle+bias-prev"),
            ),
            ("+bias-prev", format!("{newest}+bias-prev")),
            (
                "bias-prev:spare=128+sched-idle",
                format!("{newest}+sched-idle+bias-prev:spare=128"),
            ),
            ("linux-6.5+bias-prev", "linux-6.5+bias-prev".to_owned()),
            (
                "bias-prev linux-6.5+pack=full",
                "linux-6.5+pack:mode=full+bias-prev".to_owned(),
            ),
        ] {
            let scheduler = Scheduler::choose(words.split_whitespace());
            assert_eq!(scheduler.map(|s| s.name), Ok(expected), "{words}");
        }
    }

    #[test]
    fn the_base_is_the_newest_that_goes_with_the_features() {
        /* 6.1 looks at clamps in the scan that hog=cap-orig is a step of. */
        let scheduler = Scheduler::choose(["asym-capacity:hog=cap-orig"]);
        assert_eq!(
            scheduler.map(|s| s.name),
            Ok("linux-5.5+asym-capacity:hog=cap-orig".to_owned())
        );
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (words, expected) in [
            (
                "linux-6.5 bias-prev linux-7.2",
                "'linux-6.5 bias-prev linux-7.2' names two bases, linux-6.5 and linux-7.2: name one",
            ),
            (
                "bias-prev bias-prev:spare=128",
                "scheduler 'linux-7.2+bias-prev+bias-prev:spare=128': 'bias-prev' is named twice; \
                 once is enough",
            ),
            (
                "linux-3.9 sched-idle",
                "scheduler 'linux-3.9+sched-idle': 'sched-idle' does not go with linux-3.9: the \
                 searches of Linux 3.9 know no CPU that runs SCHED_IDLE tasks only; it goes with \
                 linux-5.4, linux-5.5, linux-6.1, linux-6.5, linux-7.2",
            ),
        ] {
            let error = Scheduler::choose(words.split_whitespace()).expect_err(words);
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn strange_words_are_answered_with_known_ones() {
        for (words, name, nearest) in [
            ("bias-prev sched-idel", "sched-idel", "sched-idle"),
            ("bais-prev:spare=128", "bais-prev:spare=128", "bias-prev"),
        ] {
            let error = Scheduler::choose(words.split_whitespace()).expect_err(words);
            let text = error.to_string();
            assert!(
                text.contains(&format!("no base and no feature '{name}'")),
                "{text}"
            );
            assert!(
                text.contains(&format!("did you mean '{nearest}'?")),
                "{text}"
            );
        }
        let error = Scheduler::choose(["linux-5.6"]).expect_err("there is none");
        assert!(
            error.to_string().contains("did you mean 'linux-5.5'?"),
            "{error}"
        );
        let error = Scheduler::choose(["7.2"]).expect_err("not a name");
        assert!(error.to_string().contains("linux-7.2"), "{error}");
    }
}
