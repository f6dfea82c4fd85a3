// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the grammar: what users type, what it is added to, and the scheduler that it means.

use super::*;
use crate::scheduler::{LATEST, Release};

fn newest() -> &'static str {
    BASES.last().expect("there are bases").name
}

fn name(words: &str, onto: Onto<'_>) -> Result<String, String> {
    let scheduler = Scheduler::choose(words.split_whitespace(), onto);
    scheduler.map(|s| s.name).map_err(|error| error.to_string())
}

/// A leading `+` changes nothing.
#[test]
fn features_without_a_base_are_added_to_what_the_place_states() {
    let over = |name: &str| Scheduler::parse(name).expect(name);
    let (plain, with) = (over("linux-6.5"), over("linux-6.5+pack:mode=full"));
    let told = over("linux-6.5+bias-prev:spare=512");
    for (words, onto, expected) in [
        ("bias-prev", Onto::Newest, format!("{}+bias-prev", newest())),
        (
            "bias-prev",
            Onto::Stated(&plain),
            "linux-6.5+bias-prev".into(),
        ),
        (
            "bias-prev",
            Onto::First(&plain),
            "linux-6.5+bias-prev".into(),
        ),
        (
            "bias-prev:spare=128+sched-idle",
            Onto::First(&plain),
            "linux-6.5+sched-idle+bias-prev:spare=128".into(),
        ),
        (
            "bias-prev",
            Onto::First(&with),
            "linux-6.5+pack:mode=full+bias-prev".into(),
        ),
        // The feature is replaced: it is not named twice, and its old tunables are gone.
        (
            "bias-prev:spare=128",
            Onto::Stated(&told),
            "linux-6.5+bias-prev:spare=128".into(),
        ),
        (
            "bias-prev",
            Onto::First(&told),
            "linux-6.5+bias-prev".into(),
        ),
        // 7.2 has both already; 5.5 is the last that lacks them.
        (
            "asym-capacity",
            Onto::NewestWithout,
            "linux-5.5+asym-capacity".into(),
        ),
        (
            "asym-capacity+bias-prev",
            Onto::NewestWithout,
            "linux-5.5+asym-capacity+bias-prev".into(),
        ),
        (
            "bias-prev",
            Onto::NewestWithout,
            format!("{}+bias-prev", newest()),
        ),
    ] {
        assert_eq!(name(words, onto), Ok(expected.clone()), "{words} {onto:?}");
        let plus = format!("+{words}");
        assert_eq!(name(&plus, onto), Ok(expected), "{plus} {onto:?}");
    }
}

#[test]
fn who_names_a_base_means_that_one() {
    let first = Scheduler::parse("linux-7.2+pack").unwrap();
    for onto in [Onto::Newest, Onto::NewestWithout, Onto::First(&first)] {
        for (words, expected) in [
            ("linux-6.5", "linux-6.5"),
            ("linux-6.5+bias-prev", "linux-6.5+bias-prev"),
            ("+linux-6.5+bias-prev", "linux-6.5+bias-prev"),
            ("bias-prev+linux-6.5", "linux-6.5+bias-prev"),
            (
                "bias-prev linux-6.5+pack=full",
                "linux-6.5+pack:mode=full+bias-prev",
            ),
        ] {
            assert_eq!(name(words, onto), Ok(expected.to_owned()), "{words}");
        }
    }
    let stated = Scheduler::parse("linux-6.5").unwrap();
    let again = name("linux-6.5+bias-prev", Onto::Stated(&stated));
    assert_eq!(again, Ok("linux-6.5+bias-prev".to_owned()));
}

#[test]
fn without_words_it_is_what_the_place_states() {
    let first = Scheduler::parse("linux-6.5+bias-prev:spare=128").unwrap();
    assert_eq!(name("", Onto::Newest), Ok(newest().to_owned()));
    assert_eq!(name("", Onto::First(&first)), Ok(first.name.clone()));
}

/// `asym-capacity:hog=cap-orig` is a step of the scan without clamps, which 6.1 lacks.
#[test]
fn the_base_is_the_newest_that_goes_with_the_features() {
    assert_eq!(
        name("asym-capacity:hog=cap-orig", Onto::Newest),
        Ok("linux-5.5+asym-capacity:hog=cap-orig".to_owned())
    );
}

#[test]
fn a_comparison_is_over_its_first_scheduler() {
    for (names, expected) in [
        (
            &["linux-6.5", "bias-prev", "+bias-prev", "linux-7.2"][..],
            &[
                "linux-6.5",
                "linux-6.5+bias-prev",
                "linux-6.5+bias-prev",
                "linux-7.2",
            ][..],
        ),
        // A sweep; one of its labels is the default.
        (
            &["linux-6.5", "bias-prev:spare=128", "bias-prev:spare=256"],
            &[
                "linux-6.5",
                "linux-6.5+bias-prev:spare=128",
                "linux-6.5+bias-prev:spare=256",
            ],
        ),
        (
            &["linux-6.5+bias-prev", "bias-prev:fits", "pack"],
            &[
                "linux-6.5+bias-prev",
                "linux-6.5+bias-prev:fits",
                "linux-6.5+pack+bias-prev",
            ],
        ),
    ] {
        let all = Scheduler::choose_all(names.iter().copied()).expect("schedulers");
        let all: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(all, expected);
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    let stated = Scheduler::parse("linux-6.5+pack").unwrap();
    for (words, onto, expected) in [
        (
            "linux-6.5 bias-prev linux-7.2",
            Onto::Newest,
            "'linux-6.5 bias-prev linux-7.2' names two bases, linux-6.5 and linux-7.2: name one",
        ),
        (
            "bias-prev bias-prev:spare=128",
            Onto::Newest,
            "scheduler 'linux-7.3+bias-prev+bias-prev:spare=128': 'bias-prev' is named twice; \
             name it once",
        ),
        (
            "linux-3.9 sched-idle",
            Onto::Newest,
            "scheduler 'linux-3.9+sched-idle': 'sched-idle' does not go with linux-3.9: the \
             searches of Linux 3.9 do not recognise a CPU that runs only SCHED_IDLE tasks; it goes with \
             linux-5.4, linux-5.5, linux-5.10, linux-5.15, linux-6.1, linux-6.5, linux-6.6, \
             linux-6.8, linux-6.12, linux-6.18, linux-7.0, linux-7.1, linux-7.2, linux-7.3",
        ),
        (
            "linux-6.5+bias-prev",
            Onto::Stated(&stated),
            "'linux-6.5+bias-prev' has the base linux-6.5, and --base says linux-6.5+pack: leave \
             out one of them",
        ),
    ] {
        assert_eq!(name(words, onto), Err(expected.to_owned()));
    }
}

#[test]
fn strange_words_are_answered_with_known_ones() {
    for (words, says) in [
        (
            "bias-prev+sched-idel",
            [
                "no base and no feature 'sched-idel'",
                "did you mean 'sched-idle'?",
            ],
        ),
        (
            "bais-prev:spare=128",
            [
                "no base and no feature 'bais-prev:spare=128'",
                "did you mean 'bias-prev'?",
            ],
        ),
        (
            "linux-6.5+bais-prev",
            ["unknown feature 'bais-prev'", "did you mean 'bias-prev'?"],
        ),
        ("", ["no base and no feature ''", "valid: "]),
        ("+", ["no base and no feature ''", "valid: "]),
    ] {
        let error = Scheduler::choose([words], Onto::Newest).expect_err(words);
        for says in says {
            let error = error.to_string();
            assert!(error.contains(says), "{words}: {error}");
        }
    }
}

/// A release that is no base is read as a version, not as a misspelled word.
#[test]
fn versions_are_answered_with_the_base_below() {
    for (words, says) in [
        ("linux-6.13", "the nearest below it is 'linux-6.12'"),
        (
            "linux-6.13+bias-prev",
            "the nearest below it is 'linux-6.12'",
        ),
        ("linux-6.4", "the nearest below it is 'linux-6.1'"),
        ("linux-6.10", "the nearest below it is 'linux-6.8'"),
        ("linux-5.11", "the nearest below it is 'linux-5.10'"),
        ("linux-5.6", "the nearest below it is 'linux-5.5'"),
        ("linux-7.20", "the nearest below it is 'linux-7.3'"),
        ("linux-8.0", "the nearest below it is 'linux-7.3'"),
        ("linux-6", "the nearest below it is 'linux-6.18'"),
        ("linux-2.6.39", "the oldest is 'linux-3.9'"),
        ("linux-3.8", "the oldest is 'linux-3.9'"),
        ("linux-6.5.13", "did you mean 'linux-6.5'?"),
        ("linux-6.1-rc3", "did you mean 'linux-6.1'?"),
        ("7.2", "did you mean 'linux-7.2'?"),
        ("v6.5", "did you mean 'linux-6.5'?"),
        ("linux6.5", "did you mean 'linux-6.5'?"),
        ("6.13+bias-prev", "the nearest below it is 'linux-6.12'"),
        ("linux-99999999999.1", "the nearest below it is 'linux-7.3'"),
    ] {
        let error = Scheduler::choose([words], Onto::Newest).expect_err(words);
        let error = error.to_string();
        assert!(error.contains(says), "{words}: {error}");
        let all: Vec<&str> = BASES.iter().map(|base| base.name).chain([LATEST]).collect();
        let bases = format!("; bases: {}", all.join(", "));
        assert!(error.ends_with(&bases), "{words}: {error}");
    }
}

/// It is valid wherever a base can be named; the scheduler has the name of the newest base.
#[test]
fn linux_latest_is_the_newest_base() {
    let stated = Scheduler::parse(newest()).expect("a base");
    for (words, onto, expected) in [
        (LATEST, Onto::Newest, newest().to_owned()),
        (
            "linux-latest+bias-prev",
            Onto::Newest,
            format!("{}+bias-prev", newest()),
        ),
        (
            "bias-prev linux-latest",
            Onto::Newest,
            format!("{}+bias-prev", newest()),
        ),
        (LATEST, Onto::Stated(&stated), newest().to_owned()),
        (LATEST, Onto::First(&stated), newest().to_owned()),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let found = Scheduler::choose(words.iter().copied(), onto).expect("a scheduler");
        assert_eq!(found.name, expected, "{words:?}");
    }
    let parsed = Scheduler::parse("linux-latest+sched-idle").expect("a scheduler");
    assert_eq!(parsed.parts().0.name, newest());
    let other = Scheduler::parse("linux-6.1").expect("a base");
    let refused = Scheduler::choose([LATEST], Onto::Stated(&other)).expect_err("two bases");
    assert!(refused.to_string().contains(newest()), "{refused}");
    let error = Scheduler::parse("linux-lates")
        .expect_err("no base")
        .to_string();
    assert!(error.contains("did you mean 'linux-latest'?"), "{error}");
}

#[test]
fn a_kernel_has_the_nearest_base_that_is_not_newer() {
    for (major, minor, expected) in [
        (3, 8, None),
        (3, 9, Some("linux-3.9")),
        (5, 6, Some("linux-5.5")),
        (6, 1, Some("linux-6.1")),
        (6, 4, Some("linux-6.1")),
        (6, 17, Some("linux-6.12")),
        (6, 19, Some("linux-6.18")),
        (7, 1, Some("linux-7.1")),
        (7, 3, Some("linux-7.3")),
        (9, 0, Some(newest())),
    ] {
        let found = Base::nearest(Release::new(major, minor)).map(|base| base.name);
        assert_eq!(found, expected, "{major}.{minor}");
    }
}

#[test]
fn only_a_kernel_newer_than_all_bases_lies_beyond_them() {
    let newest = BASES.last().expect("there are bases").release;
    assert_eq!(newest.beyond_bases(), None);
    assert_eq!(Release::new(3, 8).beyond_bases(), None);
    let next = Release::new(newest.major, newest.minor + 1);
    let said = next.beyond_bases().expect("there is no base for it");
    assert!(said.contains(&newest.to_string()), "{said}");
}

#[test]
fn bases_stand_in_the_order_of_their_releases() {
    for two in BASES.windows(2) {
        assert!(two[0].release < two[1].release, "{}", two[1].name);
    }
    for base in BASES {
        assert_eq!(base.name, format!("linux-{}", base.release));
        assert!(
            base.read.starts_with(&base.release.to_string()),
            "{}",
            base.name
        );
    }
}
