// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn base() -> Scheduler {
    Scheduler::parse("linux-6.5").expect("a base")
}

fn template(text: &str) -> Template {
    Template::parse(text, Some(&base())).expect(text)
}

#[test]
fn ranges_become_factors_and_schedulers() {
    let spare = template("linux-6.1+bias-prev:spare=0..512 step 64");
    assert_eq!(spare.name, "linux-6.1+bias-prev:spare=*");
    assert_eq!(spare.tunables[0].name, "bias-prev:spare");
    assert_eq!(spare.tunables[0].levels.count(), 9);
    let last = spare.scheduler(&[8]).expect("a scheduler");
    assert_eq!(last.name, "linux-6.1+bias-prev:spare=512");
}

#[test]
fn what_has_no_base_is_added_to_the_base() {
    for (text, name, first) in [
        (
            "bias-prev:spare=0|512",
            "linux-6.5+bias-prev:spare=*",
            "linux-6.5+bias-prev:spare=0",
        ),
        (
            "+bias-prev=5..6",
            "linux-6.5+bias-prev=*",
            "linux-6.5+bias-prev:spare=5",
        ),
        ("bias-prev", "linux-6.5+bias-prev", "linux-6.5+bias-prev"),
        ("linux-7.2", "linux-7.2", "linux-7.2"),
    ] {
        let template = template(text);
        let levels = vec![0; template.tunables.len()];
        let scheduler = template.scheduler(&levels).expect("a scheduler");
        assert_eq!(
            (template.name.as_str(), scheduler.name.as_str()),
            (name, first),
            "{text}"
        );
    }
}

#[test]
fn several_tunables_vary_at_once() {
    let pack = template("linux-6.5+pack:mode=full:level=40..80 step 20+bias-prev:spare=0..1024");
    let names: Vec<&str> = pack.tunables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["pack:level", "bias-prev:spare"]);
    let some = pack.scheduler(&[1, 7]).expect("a scheduler");
    assert_eq!(
        some.name,
        "linux-6.5+pack:mode=full:level=60+bias-prev:spare=7"
    );
}

#[test]
fn what_no_scheduler_has_is_named() {
    for (text, message) in [
        ("bias-prev:spare=0..2000", "2000"),
        ("bias-prev:spare=0|99999999|64", "99999999"),
        ("bias-prev:spar=0..512", "spar"),
        ("bias-prv:spare=0..512", "bias-prv"),
        ("pack:mode=none|most", "most"),
        ("bias-prev:spare=512..0", "is empty"),
        ("bias-prev:spare=0|0", "occurs twice"),
        ("bias-prev:spare=0..4:spare=1..2", "`bias-prev:spare` twice"),
        ("linux-9.9+bias-prev:spare=0..4", "linux-9.9"),
    ] {
        let error = Template::parse(text, Some(&base())).expect_err(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}
