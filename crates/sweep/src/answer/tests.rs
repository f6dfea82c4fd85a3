// SPDX-License-Identifier: GPL-2.0-only

use std::sync::atomic::AtomicBool;

use alight_compare::Spread;
use alight_compare::fake::metric;
use alight_sim::{Outcome, Scenario};
use alight_workload::program::Better;

use super::*;
use crate::effects::{Found, Verdict};
use crate::report;
use crate::synthetic::{Truth, noise, of, run, spare, sweep};
use crate::work::Work;

fn answer(more: &str, truth: &Truth<'_>) -> Answer {
    let folder = tempfile::tempdir().expect("a folder");
    let store = run(&sweep(more), &folder.path().join("s"), truth).expect("a store");
    Answer::of(&store).expect("an answer")
}

const GRID: &str = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..512 step 128\"]\n\
                    runs = 8\nobjectives = { y = \"minimise\" }";

/// Least at 256; settings of a seed share most of their noise.
fn valley(scenario: &Scenario<'_>) -> f64 {
    let spare = spare(scenario).map_or(400.0, f64::from);
    let own = noise(scenario, spare as u64);
    let away = (spare - 256.0).max(0.9 * (256.0 - spare));
    1000.0 + away + 90.0 * noise(scenario, 0) + 4.0 * own
}

fn best_of(answer: &Answer, objective: usize) -> Option<&str> {
    let place = &answer.places[0];
    let best = place.best[objective].candidate;
    best.map(|index| place.candidates[index].scheduler.as_str())
}

#[test]
fn the_best_setting_is_found_and_what_is_as_good() {
    let found = answer(GRID, &valley);
    assert_eq!(best_of(&found, 0), Some("linux-6.5+bias-prev:spare=256"));
    let place = &found.places[0];
    assert!(place.best[0].tied.is_empty());
    let best = place.candidates[3].objectives[0]
        .as_ref()
        .expect("measured");
    assert_eq!((best.runs, place.candidates.len()), (8, 6));
    let delta = best.delta.expect("a difference");
    assert!(
        (delta.difference + 144.0).abs() < 4.0 && delta.significant,
        "{delta:?}"
    );
    let text = report::text(&found);
    assert!(text.contains("best y: +bias-prev:spare=256, 1"), "{text}");
    assert!(
        text.contains("every other setting is certainly worse"),
        "{text}"
    );
    let Some(Found::Variance(effects)) = &place.effects[0].found else {
        panic!("{place:?}");
    };
    assert_eq!(effects.main[0].verdict, Verdict::Matters);
    assert!(text.contains("matters; least at 256, most at"), "{text}");

    // Noise of its own larger than all differences: nobody can be told from the best.
    let loud = answer(GRID, &|scenario: &Scenario<'_>| {
        let key = spare(scenario).unwrap_or(9999);
        1000.0 + 500.0 * noise(scenario, key.into())
    });
    assert_eq!(loud.places[0].best[0].tied.len(), 5);
    assert!(report::text(&loud).contains("cannot tell: more runs needed"));
    let same = answer(GRID, &|scenario: &Scenario<'_>| {
        1000.0 + 90.0 * noise(scenario, 0)
    });
    assert!(
        report::text(&same).contains("does not matter"),
        "{}",
        report::text(&same)
    );
}

#[test]
fn constraints_rule_settings_out() {
    for (constraint, expected) in [
        ("y >= 1100", Some("linux-6.5+bias-prev:spare=128")),
        ("y >= 95 % of base", Some("linux-6.5+bias-prev:spare=128")),
        ("y <= 10", None),
        ("events <= 5000", Some("linux-6.5+bias-prev:spare=256")),
    ] {
        let found = answer(
            &format!("{GRID}\nconstraints = [\"{constraint}\"]"),
            &valley,
        );
        assert_eq!(best_of(&found, 0), expected, "{constraint}");
        let text = report::text(&found);
        match expected {
            None => assert!(text.contains("no setting meets the constraints"), "{text}"),
            Some(_) => assert_eq!(text.contains("breaks y"), constraint.starts_with('y')),
        }
    }
}

/// Cells that end after 5, 20 and 40 runs. The first five seeds are 5 % less for all schedulers.
const UNTIL: &str = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..40\"]\n\
                     until = { metric = \"y\", half_width_percent = 1, max_runs = 40 }\n\
                     objectives.y = \"minimise\"\nconstraints = [\"y <= 102.1 % of base\"]";

fn lucky_start(scenario: &Scenario<'_>) -> f64 {
    let luck = if scenario.seed <= 5 { -50.0 } else { 0.0 };
    let Some(spare) = spare(scenario) else {
        return 1000.0 + luck;
    };
    let scatter = [0.0, 40.0, 60.0][(spare as usize / 16).min(2)];
    1000.0 + luck + 20.0 + scatter * noise(scenario, spare.into())
}

#[test]
fn a_constraint_says_whether_it_is_certain() {
    // Means of about 1000, from 600 to 1400: 980 and 1020 are within the scatter, 500 is not.
    let loud = |scenario: &Scenario<'_>| 1000.0 + 800.0 * noise(scenario, 0);
    for (constraint, certain) in [
        ("y <= 980", false),
        ("y <= 1020", false),
        ("y <= 1600", true),
        ("y <= 500", true),
        ("y <= 101 % of base", true),
    ] {
        let found = answer(&format!("{GRID}\nconstraints = [\"{constraint}\"]"), &loud);
        for candidate in &found.places[0].candidates {
            assert_eq!(candidate.constraints_certain, [certain], "{constraint}");
        }
        let text = report::text(&found);
        assert_eq!(
            text.contains(&format!("{constraint} (not certain)")),
            !certain,
            "{text}"
        );
    }
}

#[test]
fn a_setting_is_set_beside_the_base_of_its_own_cell() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = run(&sweep(UNTIL), &folder.path().join("s"), &lucky_start).expect("a store");
    let found = Answer::of(&store).expect("an answer");
    let ends = store.ends().expect("ends");
    assert_eq!(
        ends.values().map(|end| end.runs).collect::<Vec<_>>(),
        [5, 20, 40]
    );
    let constraint = &found.constraints[0];
    for candidate in &found.places[0].candidates[1..] {
        let cell = (candidate.setting - 1) / 16;
        let samples = store.samples_of_cell(cell, "y").expect("samples");
        let pairs = crate::samples::pairs(&samples[&0], &samples[&candidate.setting]);
        let measured = candidate.objectives[0].as_ref().expect("measured");
        assert_eq!(measured.runs, ends[&cell].runs as usize);
        let delta = Delta::at(ERROR, &pairs).expect("a difference");
        assert_eq!(measured.delta, Some(delta), "{}", candidate.scheduler);
        let holds = constraint.holds(delta.means.1, Some(delta.means.0));
        assert_eq!(candidate.constraints[0], holds, "{}", candidate.scheduler);
    }
    let held = |range: std::ops::Range<usize>| {
        let candidates = found.places[0].candidates[range].iter();
        candidates.filter(|candidate| candidate.feasible).count()
    };
    // 2 % above the base: at 5 runs 20 of 950 are 2.1 %.
    assert_eq!((held(1..17), held(0..1)), (0, 1));
    assert!(held(17..42) > 5, "{}", held(17..42));
}

#[test]
fn what_is_certainly_worse_than_the_base_is_not_the_best() {
    let unbound = UNTIL.replace("constraints", "options.duration = \"1s\"\n#");
    for (direction, expected) in [("minimise", true), ("maximise", false)] {
        let found = answer(&unbound.replace("minimise", direction), &lucky_start);
        let (place, best) = (&found.places[0], &found.places[0].best[0]);
        // At five runs each setting of the first cell has a smaller mean than the base.
        let means = [0, 1].map(|at| place.candidates[at].objectives[0].as_ref().map(|m| m.mean));
        assert!(means[1] < means[0]);
        assert_eq!(best.candidate == Some(0), expected, "{best:?}");
        let is_worse = |at: usize| !best.tied.contains(&at) && best.candidate != Some(at);
        assert_eq!((1..17).all(is_worse), expected, "{best:?}");
        assert_eq!(is_worse(0), !expected, "{best:?}");
    }
}

#[test]
fn a_setting_that_lacks_figures_is_left_out() {
    let more = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..512 step 32\"]\nruns = 4\n\
                objectives = { y = \"minimise\" }\n\
                [[factor]]\nmachine = \"memory.llc_line_ns\"\ntimes = [1, 2]";
    // Large where the figure is doubled, but for the last setting it is the least before that.
    let truth = |scenario: &Scenario<'_>| {
        let lines = f64::from(scenario.machine.memory.llc_line_ns);
        let spare = f64::from(spare(scenario).unwrap_or(0));
        1000.0 + lines * (1.0 + spare / 100.0) - spare / 10.0 + noise(scenario, 0)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let store = run(&sweep(more), &folder.path().join("s"), &truth).expect("a store");
    let whole = Answer::of(&store).expect("an answer");
    let last = whole.places[0].candidates.len() - 1;
    for table in [
        "cells", "settings", "levels", "runs", "metrics", "steps", "ends",
    ] {
        store.execute_for_test(&format!("DELETE FROM {table} WHERE cell = 3"));
    }
    let part = Answer::of(&store).expect("an answer");
    assert_eq!(
        part.places[0].candidates,
        whole.places[0].candidates[..last]
    );
    assert_eq!((part.extent.complete, last), (3, 17));
    store.execute_for_test("DELETE FROM settings WHERE cell = 2");
    let none = Answer::of(&store).expect("an answer");
    assert!(report::text(&none).contains("no setting has run at all values"));
}

#[test]
fn nothing_is_said_of_settings_that_are_not_there() {
    let one = "schedulers = [\"linux-6.5\"]\nruns = 3\nobjectives = { y = \"minimise\" }";
    let text = report::text(&answer(one, &valley));
    assert!(!text.contains("other setting"), "{text}");
    for (constraint, words) in [
        ("y <= 1050", "; no other setting meets the constraints"),
        (
            "y <= 1200",
            "; every other setting that meets the constraints is certainly worse",
        ),
        ("y <= 9000", "; every other setting is certainly worse"),
    ] {
        let text = report::text(&answer(
            &format!("{GRID}\nconstraints = [\"{constraint}\"]"),
            &valley,
        ));
        assert!(text.contains(words), "{constraint}: {text}");
    }
}

#[test]
fn the_front_is_what_no_other_beats_in_all() {
    // y falls with spare, x = 1000 + seed-free bump rises: but for 128, which is beaten by 0.
    let both = GRID.replace(
        "{ y = \"minimise\" }",
        "{ y = \"minimise\", events = \"minimise\" }",
    );
    let found = answer(&both, &|scenario: &Scenario<'_>| {
        1000.0 - f64::from(spare(scenario).unwrap_or(0)) + noise(scenario, 0)
    });
    // All have the same events, so the least y beats all.
    let front: Vec<bool> = (found.places[0].candidates.iter())
        .map(|candidate| candidate.on_front)
        .collect();
    assert_eq!(front, [false, false, false, false, false, true]);
    let text = report::text(&found);
    assert!(
        text.contains("front, 1 of 6 settings: +bias-prev:spare=512"),
        "{text}"
    );
}

#[test]
fn a_member_of_the_front_that_noise_may_have_put_there_is_marked() {
    let both = GRID.replace(
        "{ y = \"minimise\" }",
        "{ y = \"minimise\", z = \"minimise\" }",
    );
    // y falls and z rises from setting to setting, by much more than their noise. But the z of the
    // last two differ by less: 512 is certainly better than 384 in y, and 384 than 512 in nothing.
    let found = answer_by(&both, &|scenario: &Scenario<'_>| {
        let spare = spare(scenario).map_or(-128.0, f64::from);
        let own = |key: u64| noise(scenario, key + spare.abs() as u64);
        let mut outcome = of(scenario.seed, 2000.0 - spare + own(0));
        let z = 1000.0 + spare.min(384.0) + if spare > 384.0 { 0.5 } else { 0.0 } + 4.0 * own(1);
        let z = metric("z", "", Some(Better::Lower), z);
        outcome.results.push(z);
        Ok(outcome)
    });
    let candidates = found.places[0].candidates.iter();
    let on: Vec<(bool, bool)> = candidates
        .map(|candidate| (candidate.on_front, candidate.front_certain))
        .collect();
    let (others, last) = on.split_at(4);
    assert!(others.iter().all(|on| *on == (true, true)), "{on:?}");
    assert_eq!(last, [(true, false), (true, true)]);
    let text = report::text(&found);
    let says = "; on it by nothing certain: +bias-prev:spare=384";
    assert!(text.contains(says), "{text}");
    assert!(text.contains("  front (not certain)\n"), "{text}");
    let page = crate::page::page(&found);
    assert!(page.contains("yes, not certain"), "{page}");
    let pale = crate::picture::draw(&found).expect("a picture");
    let key = "filled: on the front (pale: not certain)";
    assert!(pale.contains(key), "{pale}");
}

#[test]
fn settings_that_are_equal_take_no_place_from_each_other() {
    let both = GRID.replace(
        "{ y = \"minimise\" }",
        "{ y = \"minimise\", events = \"minimise\" }",
    );
    let found = answer(&both, &|scenario: &Scenario<'_>| 9.0 + noise(scenario, 0));
    let mut candidates = found.places[0].candidates.iter();
    assert!(candidates.all(|candidate| candidate.on_front && candidate.front_certain));
}

/// The answer of a sweep some of whose runs are refused.
fn answer_of(more: &str, refuses: &(dyn Fn(&Scenario<'_>) -> bool + Sync)) -> Answer {
    answer_by(more, &|scenario| match refuses(scenario) {
        true => Err(alight_sim::Error::Refused("no such task".to_owned())),
        false => Ok(of(scenario.seed, valley(scenario))),
    })
}

/// The answer of a sweep with these runs.
fn answer_by(
    more: &str,
    run: &(dyn Fn(&Scenario<'_>) -> Result<Outcome, alight_sim::Error> + Sync),
) -> Answer {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep(more);
    let simulate = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| run(scenario);
    let store = Store::open(&folder.path().join("s"), &sweep, "").expect("a store");
    let work = Work::new(&sweep, store).expect("work");
    let done = work.run(&simulate, Spread::QUIET, &AtomicBool::new(false), &|_| ());
    Answer::of(&done.unwrap_or_else(|error| panic!("{error}"))).expect("an answer")
}

#[test]
fn figures_at_which_a_cell_cannot_run_are_left_out_of_all_settings() {
    let figures = "\n[[factor]]\nmachine = \"memory.llc_line_ns\"\nvalues = [40, 80, 120]";
    let two = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..512 step 16\"]\nruns = 4\n\
               objectives = { y = \"minimise\" }";
    // The first sixteen settings at the second of three values.
    let found = answer_of(&format!("{two}{figures}"), &|scenario| {
        scenario.machine.memory.llc_line_ns == 80 && spare(scenario) == Some(32)
    });
    let place = &found.places[0];
    let refused = &place.refused[0];
    assert_eq!((place.refused.len(), refused.figures.len()), (1, 1));
    assert_eq!(refused.figures["memory.llc_line_ns"], "80");
    assert!(!found.interrupted());
    assert_eq!((found.extent.cells, found.extent.refused), (9, 1));
    // All settings stand side by side, over the other two values.
    assert_eq!(place.candidates.len(), 34);
    let without = "\n[[factor]]\nmachine = \"memory.llc_line_ns\"\nvalues = [40, 120]";
    let other = answer_of(&format!("{two}{without}"), &|_| false);
    assert_eq!(place.candidates, other.places[0].candidates);
    assert_eq!(place.best, other.places[0].best);
    let text = report::text(&found);
    for says in [
        "8 of 9 are complete, 1 cannot run",
        "memory.llc_line_ns=80 cannot run: linux-6.5+bias-prev:spare=32 at seed 1: no such task",
        "means leave out the figures at which a cell cannot run",
        "points cannot run: the factors are analysed if all have run",
    ] {
        assert!(text.contains(says), "{says}\n{text}");
    }
}

#[test]
fn settings_that_cannot_run_at_all_cost_no_others() {
    let more = "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..512 step 16\"]\nruns = 4\n\
                objectives = { y = \"minimise\" }";
    let found = answer_of(more, &|scenario| spare(scenario) == Some(32));
    // The base, and those behind the first sixteen.
    let place = &found.places[0];
    assert_eq!((place.refused.len(), place.candidates.len()), (1, 1 + 17));
    assert!(report::text(&found).contains("cell 0 cannot run: linux-6.5+bias-prev:spare=32"));
    let none = answer_of(more, &|scenario| spare(scenario).is_some());
    assert!(none.places[0].candidates.is_empty() && !none.interrupted());
    let text = report::text(&none);
    assert!(text.contains("no setting can run at all values"), "{text}");
}

#[test]
fn figures_of_the_machine_are_averaged_and_analysed() {
    let more = format!("{GRID}\n[[factor]]\nmachine = \"memory.llc_line_ns\"\ntimes = [1, 2]");
    let found = answer(&more, &|scenario: &Scenario<'_>| {
        valley(scenario) + 3.0 * f64::from(scenario.machine.memory.llc_line_ns)
    });
    assert_eq!(found.extent.cells, 2);
    assert_eq!(best_of(&found, 0), Some("linux-6.5+bias-prev:spare=256"));
    let Some(Found::Variance(effects)) = &found.places[0].effects[0].found else {
        panic!("no analysis");
    };
    let names: Vec<&str> = effects
        .main
        .iter()
        .map(|effect| effect.factors[0].as_str())
        .collect();
    assert_eq!(names, ["bias-prev:spare", "memory.llc_line_ns"]);
    assert_eq!(effects.main[1].verdict, Verdict::Matters);
    assert_eq!(effects.pairs[0].verdict, Verdict::DoesNotMatter);
}

#[test]
fn a_planted_tunable_is_ranked_first_by_morris() {
    let more = "base = \"linux-6.5\"\ndesign = \"morris\"\ntrajectories = 12\nruns = 6\n\
                schedulers = [\"bias-prev:spare=0..512+asym-capacity\", \"bias-prev:spare=0..512\"]\n\
                objectives = { y = \"minimise\" }\n\
                [[factor]]\nmachine = \"memory.llc_line_ns\"\ntimes = \"0.5..2 step 0.1\"\n\
                [[factor]]\nmachine = \"costs.*.switch_ns\"\ntimes = \"0.5..2 step 0.1\"\n\
                [[factor]]\nmachine = \"core_type.*.l2_kib\"\ntimes = [1, 2]";
    let found = answer(more, &|scenario: &Scenario<'_>| {
        let spare = f64::from(spare(scenario).unwrap_or(0));
        let lines = f64::from(scenario.machine.memory.llc_line_ns);
        let own = noise(scenario, spare as u64 + lines as u64);
        1000.0 + 0.3 * spare + 0.5 * lines + 20.0 * own
    });
    for effects in &found.places[0].effects {
        let Some(Found::Trajectories(all)) = &effects.found else {
            panic!("{effects:?}");
        };
        let names: Vec<&str> = all
            .factors
            .iter()
            .map(|factor| factor.factor.as_str())
            .collect();
        assert_eq!(names[..2], ["bias-prev:spare", "memory.llc_line_ns"]);
        assert_eq!(all.factors[0].verdict, Verdict::Matters);
        assert_eq!(all.factors[3].verdict, Verdict::DoesNotMatter, "{all:?}");
    }
    assert!(
        found.places[0].candidates.is_empty(),
        "each point has a machine of its own"
    );
    assert!(report::text(&found).contains("there is no best setting"));
}

#[test]
fn a_planted_tunable_has_the_variance_by_sobol() {
    let more = "base = \"linux-6.5\"\ndesign = \"sobol\"\nsamples = 64\nruns = 2\n\
                schedulers = [\"bias-prev:spare=0..512\"]\nobjectives = { y = \"minimise\" }";
    let found = answer(more, &|scenario: &Scenario<'_>| {
        1000.0 + f64::from(spare(scenario).unwrap_or(0))
    });
    let Some(Found::Indices(all)) = &found.places[0].effects[0].found else {
        panic!("no analysis");
    };
    assert!((all.factors[0].total - 1.0).abs() < 0.2, "{all:?}");
    assert_eq!(all.factors[0].verdict, Verdict::Matters);
    // Without figures the points can be compared, and the least is the best.
    assert!(best_of(&found, 0).is_some_and(|best| best.starts_with("linux-6.5")));
    assert!(report::text(&found).contains("shares of the variance"));
}

#[test]
fn a_store_that_somebody_broke_is_no_empty_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = run(&sweep(GRID), &folder.path().join("s"), &valley).expect("a store");
    store.execute_for_test("UPDATE sweep SET value = '{' WHERE key = 'objectives'");
    let error = Answer::of(&store).expect_err("damaged").to_string();
    assert!(
        error.contains("is damaged: the list of objectives cannot be read"),
        "{error}"
    );
}

#[test]
fn an_unfinished_sweep_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let sweep = sweep(GRID);
    let path = folder.path().join("s");
    let store = crate::synthetic::run_until(&sweep, &path, &valley, &cancel).expect("a store");
    let found = Answer::of(&store).expect("an answer");
    assert!(found.interrupted() && found.places.is_empty());
    assert!(report::text(&found).contains("0 of 1 are complete"));
    let json: serde_json::Value = serde_json::from_str(&report::json(&found)).expect("JSON");
    assert_eq!(json["schema"], "alight.sweep-answer/1");
}
