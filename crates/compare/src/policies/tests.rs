// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_name_is_a_base_a_feature_or_both() {
    assert!(matches!(Named::find("linux-5.5"), Ok(Named::Base(..))));
    assert!(matches!(
        Named::find("asym-capacity"),
        Ok(Named::Feature(_))
    ));
    assert!(matches!(
        Named::find("+asym-capacity"),
        Ok(Named::Feature(_))
    ));
    assert!(matches!(
        Named::find("linux-5.5+asym-capacity"),
        Ok(Named::Scheduler(_))
    ));
    // What a feature is told is a matter of a scheduler: over the newest base.
    for (name, expected) in [
        ("bias-prev:spare=128", "linux-7.3+bias-prev:spare=128"),
        ("+pack=full", "linux-7.3+pack:mode=full"),
        ("pack+bias-prev", "linux-7.3+pack+bias-prev"),
    ] {
        match Named::find(name) {
            Ok(Named::Scheduler(found)) => assert_eq!(found.name, expected),
            other => panic!("{name}: {other:?}"),
        }
    }
    let error = Named::find("asym-capacty").unwrap_err();
    assert!(error.contains("did you mean 'asym-capacity'"), "{error}");
    let error = Named::find("linux-5.5+asym").unwrap_err();
    assert!(error.contains("unknown feature 'asym'"), "{error}");
    let error = Named::find("bias-prev:foo=1").unwrap_err();
    assert!(
        error.contains("'bias-prev' has no tunable 'foo'"),
        "{error}"
    );
}

#[test]
fn every_base_and_feature_is_listed_and_shown() {
    let list = list();
    for name in BASES
        .iter()
        .map(|b| b.name)
        .chain(FEATURES.iter().map(|f| f.name))
    {
        assert!(list.contains(name), "{name} is not in\n{list}");
        assert!(show(&Named::find(name).unwrap()).contains(name));
    }
    assert!(Scheduler::parse(&example()).is_ok());
}

#[test]
fn a_feature_shows_the_steps_that_it_answers_by() {
    let shown = |name| show(&Named::find(name).unwrap());
    let bias = shown("bias-prev");
    assert!(bias.contains("bias_last: no CPU is idle"), "{bias}");
    assert!(shown("sched-idle").contains("none of its own"));
}

#[test]
fn a_scheduler_shows_the_parameters_that_its_features_change() {
    let base = show(&Named::find("linux-5.5").unwrap());
    assert!(base.contains("wake_cap = 1"), "{base}");
    let both = show(&Named::find("linux-5.5+asym-capacity").unwrap());
    assert!(both.contains("wake_cap = 0"), "{both}");
    assert!(both.contains("base"), "{both}");
}
