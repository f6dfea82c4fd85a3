// SPDX-License-Identifier: GPL-2.0-only
//! What holds for every base with every feature, however it is told, on every machine
//! and in every state.

use crate::common::states::schedulers::{combinations, tuned};
use crate::common::states::{Scene, Wanted};
use alight_policy::abi::{class, rule};
use alight_policy::scheduler::{FEATURES, On};
use alight_policy::{Answer, Core, Kind, NONE, Note, STEPS, Scheduler, VERDICTS};
use std::collections::BTreeSet;

/// Most CPUs of a machine: four words of a mask.
const MOST_CPUS: u32 = 200;
/// Machines a scheduler, and wakeups of each.
const MACHINES: u64 = 6;
const WAKEUPS: usize = 24;

/// Every wakeup of every scheduler: the scene before it, and where that is, for messages.
fn for_every_wakeup(machines: u64, mut check: impl FnMut(&mut Scene, &str)) {
    for scheduler in combinations().iter().chain(&tuned()) {
        for machine in 0..machines {
            let wanted = Wanted::anything(MOST_CPUS);
            let mut scene = Scene::new(scheduler, 1, machine, wanted);
            for wakeup in 0..WAKEUPS {
                scene.next();
                let place = format!("{}, machine {machine}, wakeup {wakeup}", scheduler.name);
                check(&mut scene, &place);
            }
        }
    }
}

fn step(answer: &Answer) -> &'static str {
    STEPS[answer.step as usize].0
}

// ---- one wakeup ----

/// Allowed, online, and what the answer says of the CPU is so.
fn check_cpu(before: &Scene, answer: &Answer, place: &str) {
    let nr = before.core.topology.nr_cpus;
    assert!(answer.cpu < nr && answer.target < nr, "{place}: {answer:?}");
    assert!(before.allowed.contains(answer.cpu), "{place}: {answer:?}");
    assert!(before.online.contains(answer.cpu), "{place}: {answer:?}");

    let (k, rq) = (&before.core.params, &before.core.cpus[answer.cpu as usize]);
    let idle = rq.curr_is_idle == 1 && rq.nr_running == 0 && rq.ttwu_pending == 0;
    let counts = match k.sched_idle {
        rule::SCHED_IDLE_BUSY => false,
        rule::SCHED_IDLE_NORMAL => before.wakee.class != class::IDLE,
        _ => true,
    };
    let good = idle || counts && rq.nr_running > 0 && rq.nr_running == rq.h_nr_idle;
    assert_eq!(answer.found_idle == 1, good, "{place}: {answer:?}");
    let promised = [
        "target_idle",
        "prev_idle",
        "recent_idle",
        "idle_core",
        "llc_scan",
        "smt_scan",
        "idle_group",
        "asym_fits",
        "asym_biggest",
        "asym_min_clamp",
        "slow_idle",
        "slow_sched_idle",
        "prev_smt",
        "cluster_scan",
        "prev_far",
        "recent_far",
    ];
    assert!(
        good || !promised.contains(&step(answer)),
        "{place}: {answer:?}"
    );
}

/// A step of a feature, or of a machine, answers nowhere else.
fn check_step(before: &Scene, answer: &Answer, place: &str) {
    let (k, core) = (&before.core.params, &before.core);
    let name = step(answer);
    let possible = match name.split('_').next() {
        Some("pack") => k.pack != rule::PACK_NONE,
        Some("bias") => k.bias_prev != 0 || k.room != rule::ROOM_NONE,
        Some("asym") => k.asym != rule::ASYM_IGNORED && core.topology.asym != 0,
        Some("eas") => !core.perf.is_empty() && core.root.overutilized == 0,
        Some("slow") => answer.slow == 1,
        Some("cluster") => core.topology.cluster != 0,
        _ => name != "none",
    };
    assert!(possible, "{place}: {answer:?}");
    assert!(
        answer.slow == 0 || ["slow", "fallback"].iter().any(|s| name.starts_with(s)),
        "{place}"
    );
}

/// How many CPUs a decision may look at, and sum for groups or energy, at most.
fn bounds(core: &Core) -> (u32, u32) {
    let (k, nr) = (&core.params, core.topology.nr_cpus);
    let levels = (core.places.iter().map(|p| p.nr_domains).max()).unwrap_or(0);
    // The buddy; the previous CPU first; target, previous and recent CPU.
    let single = 5;
    let near = match k.sibling {
        // From the cache downwards, the groups of each domain.
        rule::SIBLING_GROUPS => levels * nr,
        // Cores, then CPUs, then threads of the target's core.
        rule::SIBLING_SEPARATE => 2 * nr + 8,
        // Threads of the previous core; cores or CPUs.
        _ => 8 + nr,
    };
    // Where a scan for capacity answers at once it is all there is; else it may come after the
    // single ones. Full packing first looks for an idle CPU near the buddy.
    let packs = if k.pack == rule::PACK_FULL {
        levels * nr + 1
    } else {
        0
    };
    // The slow path: each level once, the groups summed and the CPUs of the best one looked at.
    let slow = levels * nr;
    let searched = near.max(slow).max(nr);
    // EAS looks at each CPU once. It sums each for what is busy and for what the set wants:
    // without the wakee, on the previous CPU and on the best other one.
    let energy = if core.perf.is_empty() { 0 } else { 6 * nr };
    (single + packs + searched, slow.max(energy))
}

/// A scan that SIS_UTIL bounds sees no more than it may (and 7.2 bounds that for capacity too).
fn check_budget(before: &Scene, answer: &Answer, place: &str) {
    let k = &before.core.params;
    let looked = answer.looked_near + answer.looked_far;
    let here = &before.core.places[answer.target as usize];
    let core_known =
        before.core.topology.smt != 0 && before.core.llcs[here.shared as usize].has_idle_cores != 0;
    let scans_capacity =
        before.core.topology.asym != 0 && k.asym != rule::ASYM_IGNORED && here.asym_domain != NONE;
    if k.sis_util == 0
        || answer.slow == 1
        || core_known
        || scans_capacity
        || k.pack == rule::PACK_FULL
        || step(answer).starts_with("eas")
        || here.llc_domain == NONE
    {
        return;
    }
    let llc = before.core.domains[here.llc_domain as usize].llc;
    let worth = before.core.llcs[llc as usize].nr_idle_scan;
    assert!(
        looked <= 5 + 8 + worth,
        "{place}: {looked} CPUs of {worth}: {answer:?}"
    );
}

/// Each candidate that was counted was noted, and the last one taken is the answer.
fn check_notes(answer: &Answer, notes: &[Note], place: &str) {
    for (verdict, count) in (0..).zip(answer.verdicts) {
        let noted = notes.iter().filter(|note| note.verdict == verdict).count();
        assert_eq!(
            noted, count as usize,
            "{place}: {}",
            VERDICTS[verdict as usize]
        );
    }
    let last = notes
        .iter()
        .rfind(|note| note.verdict == 0)
        .expect("a CPU was taken");
    assert_eq!((last.cpu, last.step), (answer.cpu, answer.step), "{place}");
}

/// A decision writes the wakee, the waker, this CPU's scan cost and idle-core flags, nothing else.
fn check_writes(before: &Scene, after: &Scene, place: &str) {
    let (old, new) = (&before.core, &after.core);
    for (cpu, (old, new)) in old.cpus.iter().zip(&new.cpus).enumerate() {
        let mut expected = *old;
        if cpu == before.this as usize {
            expected.avg_scan_cost = new.avg_scan_cost;
        }
        assert_eq!(expected, *new, "{place}: CPU {cpu}");
    }
    for (old, new) in old.llcs.iter().zip(&new.llcs) {
        let mut expected = *old;
        expected.has_idle_cores = old.has_idle_cores.min(new.has_idle_cores);
        assert_eq!(expected, *new, "{place}");
    }
    assert!(
        old.groups == new.groups && old.domains == new.domains,
        "{place}"
    );
    assert!(old.places == new.places && old.root == new.root, "{place}");
}

#[test]
fn an_answer_is_allowed_repeatable_explained_and_bounded() {
    for_every_wakeup(MACHINES, |scene, place| {
        let before = scene.clone();
        let mut again = scene.clone();
        let (explained, notes) = scene.explain();
        let answer = scene.ask();

        check_cpu(&before, &answer, place);
        check_step(&before, &answer, place);
        check_notes(&answer, &notes, place);
        check_writes(&before, scene, place);
        check_budget(&before, &answer, place);
        let (looked, summed) = bounds(&before.core);
        assert!(
            answer.looked_near + answer.looked_far <= looked,
            "{place}: {answer:?}"
        );
        assert!(answer.summed <= summed, "{place}: {answer:?}");

        assert_eq!(answer, explained, "{place}");
        assert_eq!(answer, again.ask(), "{place}");
        assert_eq!(
            (scene.wakee, scene.waker),
            (again.wakee, again.waker),
            "{place}"
        );
        assert!(
            scene.core.cpus == again.core.cpus && scene.core.llcs == again.core.llcs,
            "{place}"
        );
    });
}

#[test]
fn every_step_answers_somewhere() {
    let mut seen = BTreeSet::from([0]);
    for_every_wakeup(16 * MACHINES, |scene, _| {
        seen.insert(scene.ask().step);
    });
    let missing: Vec<&str> = (0..)
        .zip(STEPS)
        .filter(|(step, _)| !seen.contains(step))
        .map(|(_, (name, _))| name)
        .collect();
    assert!(
        missing.is_empty(),
        "no state of the tests leads to {missing:?}"
    );
}

// ---- off means off ----

/// States in which a feature cannot act: what is not wanted of them, what the wakeup must not be.
type Nowhere = (&'static str, fn(&mut Wanted), fn(&mut Scene));

const NOWHERE: &[Nowhere] = &[
    ("asym-capacity", |wanted| wanted.equal = true, |_| {}),
    ("pack", |wanted| wanted.gated = false, |_| {}),
    ("sched-idle", |wanted| wanted.sched_idle = false, |_| {}),
    ("uclamp-sum", |wanted| wanted.clamps = false, |_| {}),
    (
        "bias-prev",
        |_| {},
        |scene| {
            if scene.kind == Kind::Wake {
                scene.kind = Kind::Exec;
            }
        },
    ),
];

/// Answers and what is written but for the signals that only the feature keeps.
fn same(base: &mut Scene, with: &mut Scene, place: &str) {
    assert_eq!(
        base.allowed, with.allowed,
        "{place}: the states differ before"
    );
    assert_eq!(base.ask(), with.ask(), "{place}");
    with.wakee.pelt.uclamp = base.wakee.pelt.uclamp;
    assert_eq!(
        (base.wakee, base.waker),
        (with.wakee, with.waker),
        "{place}"
    );
    assert!(
        base.core.cpus == with.core.cpus && base.core.llcs == with.core.llcs,
        "{place}"
    );
}

/// The features of `scheduler`, in states where none of them can act, against its base.
fn check_off(scheduler: &Scheduler) {
    let (base, features) = scheduler.parts();
    let alone = Scheduler::parse(base.name).unwrap();
    let nowhere: Vec<&Nowhere> = (NOWHERE.iter())
        .filter(|(name, ..)| features.iter().any(|feature| feature.name == *name))
        .collect();
    assert_eq!(
        nowhere.len(),
        features.len(),
        "say above where {} cannot act",
        scheduler.name
    );
    let mut wanted = Wanted::anything(MOST_CPUS);
    nowhere
        .iter()
        .for_each(|(_, change, _)| change(&mut wanted));
    for machine in 0..MACHINES {
        let mut with = Scene::new(scheduler, 2, machine, wanted);
        let mut base = Scene::new(&alone, 2, machine, wanted);
        for wakeup in 0..WAKEUPS {
            for scene in [&mut with, &mut base] {
                scene.next();
                nowhere.iter().for_each(|(_, _, change)| change(scene));
            }
            let place = format!("{}, machine {machine}, wakeup {wakeup}", scheduler.name);
            same(&mut base, &mut with, &place);
        }
    }
}

#[test]
fn a_feature_that_cannot_act_changes_nothing() {
    assert_eq!(NOWHERE.len(), FEATURES.len());
    combinations().iter().for_each(check_off);
}

#[test]
fn nor_does_it_however_it_is_told() {
    let part_of_the_base = |scheduler: &Scheduler| {
        let (base, features) = scheduler.parts();
        features
            .iter()
            .any(|feature| !matches!(feature.meaning(base), On::New))
    };
    // Where the base has the feature, an option may take a part of it away.
    tuned()
        .iter()
        .filter(|scheduler| !part_of_the_base(scheduler))
        .for_each(check_off);
}
