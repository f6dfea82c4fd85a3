// SPDX-License-Identifier: GPL-2.0-only
//! The names of schedulers: bases, features, tunables, and what is said of names
//! that are none.

use alight_policy::scheduler::{BASES, FEATURES, On};
use alight_policy::{STEPS, Scheduler};
use std::collections::BTreeSet;

fn canonical(given: &str) -> String {
    Scheduler::parse(given).expect(given).name
}

#[test]
fn a_name_becomes_canonical() {
    let table = [
        ("linux-5.5", "linux-5.5"),
        (" linux-5.5 + asym-capacity ", "linux-5.5+asym-capacity"),
        (
            "linux-6.5+bias-prev:spare=128+sched-idle",
            "linux-6.5+sched-idle+bias-prev:spare=128",
        ),
        ("linux-3.9+pack=default", "linux-3.9+pack:mode=default"),
        ("linux-3.9+pack=full", "linux-3.9+pack:mode=full"),
        (
            "linux-6.5+pack=full:level=50:signals=2013",
            "linux-6.5+pack:mode=full:signals=2013:level=50",
        ),
        ("linux-6.5+bias-prev=128", "linux-6.5+bias-prev:spare=128"),
        (
            "linux-6.5+bias-prev:spare=256",
            "linux-6.5+bias-prev:spare=256",
        ),
        (
            "linux-6.5+bias-prev:select:fits=on",
            "linux-6.5+bias-prev:fits:select",
        ),
        (
            "linux-6.5+bias-prev:idle-only=off",
            "linux-6.5+bias-prev:idle-only=off",
        ),
        (
            "linux-7.2+asym-capacity:prev-first=off",
            "linux-7.2+asym-capacity:prev-first=off",
        ),
    ];
    for (given, expected) in table {
        assert_eq!(canonical(given), expected);
        assert_eq!(canonical(expected), expected);
        let of = |name| Scheduler::parse(name).unwrap().params;
        assert_eq!(of(given), of(expected), "{given}");
    }
}

/// A default that is named stands in the label, so that a sweep has a label a point; the rules are
/// those of the feature without it.
#[test]
fn labels_differ_where_runs_are_the_same() {
    for (one, other, same) in [
        ("linux-6.5+bias-prev", "linux-6.5+bias-prev:spare=256", true),
        ("linux-6.5+bias-prev", "linux-6.5+bias-prev:fits=off", true),
        ("linux-3.9+pack", "linux-3.9+pack=default", true),
        ("linux-3.9+pack", "linux-3.9+pack:light=20", true),
        // Part of the base.
        ("linux-7.2", "linux-7.2+asym-capacity", true),
        ("linux-5.5", "linux-5.5+asym-capacity", false),
        (
            "linux-6.5+bias-prev",
            "linux-6.5+bias-prev:spare=255",
            false,
        ),
        ("linux-6.5+bias-prev", "linux-7.2+bias-prev", false),
    ] {
        let [one, other] = [one, other].map(|name| Scheduler::parse(name).expect(name));
        assert_eq!(one.is_same_run(&other), same, "{one} {other}");
        assert_ne!(one.name, other.name);
    }
}

#[test]
fn what_is_no_scheduler_is_refused_with_what_would_do() {
    let table: &[(&str, &[&str])] = &[
        (
            "linux-5.6",
            &[
                "unknown base 'linux-5.6'",
                "the nearest below it is 'linux-5.5'",
            ],
        ),
        ("linux-6.5+bias", &["unknown feature 'bias'", "bias-prev"]),
        (
            "linux-6.5+bias-prev:spar=1",
            &["'bias-prev' has no tunable 'spar'", "did you mean 'spare'"],
        ),
        (
            "linux-6.5+bias-prev:spare=1025",
            &["bias-prev:spare is '1025'", "a whole number from 0 to 1024"],
        ),
        (
            "linux-6.5+bias-prev:spare",
            &["is nothing", "a whole number"],
        ),
        ("linux-6.5+bias-prev:fits=yes", &["'yes'", "on or off"]),
        (
            "linux-5.5+asym-capacity:hog=no",
            &["'no'", "scan or cap-orig"],
        ),
        (
            "linux-6.5+bias-prev+bias-prev",
            &["'bias-prev' is named twice"],
        ),
        (
            "linux-6.5+bias-prev:fits:fits",
            &["'bias-prev:fits' is named twice"],
        ),
        (
            "linux-6.5+bias-prev:fits:idle-only",
            &["three forms", "choose one"],
        ),
        (
            "linux-6.5+asym-capacity:hog=cap-orig",
            &["without clamps", "clamps=off"],
        ),
        (
            "linux-5.5+asym-capacity:smt:clamps=off",
            &["leave out clamps=off"],
        ),
        (
            "linux-3.9+bias-prev",
            &[
                "does not go with linux-3.9",
                "util_est",
                "linux-5.4, linux-5.5",
            ],
        ),
        (
            "linux-3.9+pack:signals=pelt",
            &["tracks no utilization", "use signals=2013"],
        ),
        (
            "linux-3.9+pack:level=50",
            &["mode=full", "add mode=full, or leave out level"],
        ),
        (
            "linux-3.9+pack=ful",
            &["pack:mode is 'ful'", "none, default or full"],
        ),
        (
            "linux-3.9+pack:light=101",
            &["pack:light is '101'", "a whole number from 0 to 100"],
        ),
        ("linux-6.5+", &["unknown feature ''"]),
        ("", &["unknown base ''"]),
    ];
    for (given, says) in table {
        let error = Scheduler::parse(given).expect_err(given).to_string();
        for words in *says {
            assert!(error.contains(words), "{given}: {error}");
        }
    }
}

#[test]
fn every_combination_of_features_runs_on_6_5_and_7_2() {
    for base in ["linux-6.5", "linux-7.2"] {
        for chosen in 0..1u32 << FEATURES.len() {
            let mut name = base.to_owned();
            for (index, feature) in FEATURES.iter().enumerate() {
                if chosen & 1 << index != 0 {
                    name = format!("{name}+{}", feature.name);
                }
            }
            let scheduler = Scheduler::parse(&name).expect(&name);
            assert_eq!(scheduler.name, name);
            for feature in scheduler.parts().1 {
                let rest = scheduler.without(feature);
                assert_eq!(rest.parts().1.len() as u32, chosen.count_ones() - 1);
            }
        }
    }
}

#[test]
fn the_table_says_what_each_feature_means_on_each_base() {
    for feature in FEATURES {
        for base in BASES {
            let on = feature.meaning(base);
            let given = format!("{}+{}", base.name, feature.name);
            let scheduler = Scheduler::parse(&given);
            match on {
                On::Not(why) => {
                    let error = scheduler.expect_err(&given).to_string();
                    assert!(error.contains(why), "{given}: {error}");
                }
                On::New | On::Merged(_) => {
                    let mut params = scheduler.expect(&given).params;
                    params.features = 0;
                    let alone = Scheduler::parse(base.name).unwrap().params;
                    assert_eq!(params == alone, on != On::New, "{given}");
                }
            }
        }
    }
}

/// A step belongs to the feature that brought it, or to the base: that which has it already too.
#[test]
fn every_step_has_one_owner() {
    let step = |name: &str| STEPS.iter().position(|(known, _)| *known == name);
    let owned: Vec<&str> = FEATURES.iter().flat_map(|f| f.steps).copied().collect();
    for (index, name) in owned.iter().enumerate() {
        assert!(step(name).is_some(), "{name} is no step");
        assert!(!owned[..index].contains(name), "{name} has two owners");
    }
    let table = [
        ("linux-6.5+bias-prev", "bias_last", Some("bias-prev")),
        ("linux-6.5+bias-prev", "prev_idle", None),
        ("linux-3.9+pack", "pack_buddy", Some("pack")),
        (
            "linux-5.5+asym-capacity",
            "asym_fits",
            Some("asym-capacity"),
        ),
        ("linux-7.2+asym-capacity", "asym_fits", None),
        ("linux-7.2", "asym_fits", None),
    ];
    for (scheduler, name, owner) in table {
        let owning = Scheduler::parse(scheduler)
            .expect(scheduler)
            .owner(step(name).expect(name) as u32);
        assert_eq!(owning.map(|f| f.name), owner, "{scheduler} {name}");
    }
}

#[test]
fn a_scheduler_can_do_without_its_features() {
    let with = Scheduler::parse("linux-6.5+pack=full+bias-prev").unwrap();
    assert_eq!(with.base_alone(), Scheduler::parse("linux-6.5").unwrap());
    let (_, features) = with.parts();
    let rest: Vec<_> = features.iter().map(|f| with.without(f).name).collect();
    assert_eq!(rest, ["linux-6.5+bias-prev", "linux-6.5+pack:mode=full"]);
}

/// The rules that the core reads as those of features (`POLICY_FEATURE_RULE`).
fn rules_of_features() -> BTreeSet<String> {
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy");
    let mut rules = BTreeSet::new();
    for file in std::fs::read_dir(policy).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for read in text.split("POLICY_FEATURE_RULE(").skip(1) {
            let arguments = read.split(')').next().unwrap_or_default();
            rules.extend(arguments.split(", ").nth(1).map(str::to_owned));
        }
    }
    rules.remove("rule"); // the definition itself
    rules
}

/// Who has no feature is decided by a core that is compiled without their rules.
#[test]
fn without_a_feature_no_rule_of_theirs_is_set() {
    let rules = rules_of_features();
    assert!(rules.len() > 5 && rules.contains("bias_prev"), "{rules:?}");
    let mut plain = 0;
    for base in BASES {
        for set in 0..1 << FEATURES.len() {
            let chosen = (FEATURES.iter().enumerate()).filter(|(i, _)| set >> i & 1 != 0);
            let name = chosen.fold(base.name.to_owned(), |name, (_, feature)| {
                format!("{name}+{}", feature.name)
            });
            let Ok(scheduler) = Scheduler::parse(&name) else {
                continue;
            };
            if scheduler.params.features == 0 {
                plain += 1;
                for (rule, value) in scheduler.params.fields() {
                    assert!(
                        value == 0 || !rules.contains(rule),
                        "{name}: {rule} is {value}"
                    );
                }
            }
        }
    }
    assert!(plain >= BASES.len());
}
