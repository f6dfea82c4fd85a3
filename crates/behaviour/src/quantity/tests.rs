// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn judged(name: &str, kernel: (f64, u64), model: &[(f64, u64)]) -> Agreement {
    of_runs(name, &[kernel], model)
}

fn of_runs(name: &str, kernel: &[(f64, u64)], model: &[(f64, u64)]) -> Agreement {
    let figure = |&(value, samples): &(f64, u64)| Some(Measurement { value, samples });
    let [kernel, model] = [kernel, model].map(|runs| runs.iter().map(figure).collect());
    let (kernel, model): (Vec<_>, Vec<_>) = (kernel, model);
    Quantity::judge(rule_of(name), None, &kernel, &model).verdict
}

#[test]
fn a_figure_is_judged_by_the_larger_of_both_tolerances() {
    for (name, kernel, model, verdict) in [
        // 25 %, or 3 us.
        ("wakeup_latency_p50_us", 100.0, 124.0, Agreement::Agree),
        ("wakeup_latency_p50_us", 100.0, 126.0, Agreement::Disagree),
        ("wakeup_latency_p50_us", 4.0, 1.5, Agreement::Agree),
        ("wakeup_latency_p50_us", 4.0, 12.0, Agreement::Disagree),
        // Points, whatever the share.
        ("wakeups_to_idle_percent", 3.0, 7.9, Agreement::Agree),
        ("wakeups_to_idle_percent", 90.0, 84.9, Agreement::Disagree),
        (NICE_SHARE, 75.0, 72.0, Agreement::Disagree),
    ] {
        let judged = judged(name, (kernel, 5000), &[(model, 5000); 3]);
        assert_eq!(judged, verdict, "{name}: {kernel} and {model}");
    }
}

#[test]
fn few_events_say_nothing_but_none_on_one_side_does() {
    let rate = "migrations_per_s";
    assert_eq!(judged(rate, (50.0, 99), &[(5.0, 10)]), Agreement::TooFew);
    assert_eq!(judged(rate, (50.0, 100), &[(0.0, 0)]), Agreement::Disagree);
    assert_eq!(judged(rate, (0.0, 0), &[(50.0, 100)]), Agreement::Disagree);
}

#[test]
fn runs_of_the_model_on_both_sides_of_the_kernel_leave_it_open() {
    let runs = [(10.0, 500), (11.0, 500), (60.0, 500)];
    let judged = |kernel| judged("slice_p50_us", (kernel, 500), &runs);
    assert_eq!(judged(11.0), Agreement::Agree);
    assert_eq!(judged(30.0), Agreement::TooFew);
    assert_eq!(judged(90.0), Agreement::Disagree);
}

#[test]
fn medians_are_compared_and_runs_that_meet_leave_it_open() {
    let judged = |kernel: [f64; 3], model: [f64; 3]| {
        let [kernel, model] = [kernel, model].map(|runs| runs.map(|value| (value, 500)));
        of_runs("slice_p50_us", &kernel, &model)
    };
    // One run far off on either side does not matter where the others agree.
    assert_eq!(
        judged([10.0, 11.0, 90.0], [11.0, 12.0, 1.0]),
        Agreement::Agree
    );
    assert_eq!(
        judged([10.0, 50.0, 90.0], [1.0, 2.0, 11.0]),
        Agreement::TooFew
    );
    assert_eq!(
        judged([12.0, 50.0, 90.0], [1.0, 2.0, 11.0]),
        Agreement::Disagree
    );
}

#[test]
fn what_one_side_lacks_is_not_measured() {
    let rule = rule_of("elapsed_s");
    let figure = Some(Measurement {
        value: 1.0,
        samples: 500,
    });
    for (kernel, model) in [
        (vec![None], vec![figure]),
        (vec![figure, None], vec![figure]),
        (vec![figure], vec![None]),
        (vec![figure], vec![figure, None]),
        (vec![figure], vec![]),
    ] {
        let quantity = Quantity::judge(rule, None, &kernel, &model);
        assert_eq!(quantity.verdict, Agreement::NotMeasured);
    }
}

#[test]
fn every_rule_has_a_name_of_its_own_a_tolerance_and_a_reason() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(RULES[..at].iter().all(|other| other.name != rule.name));
        assert!(rule.tolerance.percent > 0.0 || rule.tolerance.absolute > 0.0);
        assert!(rule.least_samples >= 100 && !rule.reason.is_empty());
    }
}
