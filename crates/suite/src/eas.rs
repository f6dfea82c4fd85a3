// SPDX-License-Identifier: GPL-2.0-only
//! A. Energy-aware placement, after LISA's `eas_behaviour.py`: where tasks were is
//! compared, by the energy model that the kernel places by, with the cheapest
//! placement; and whether they got their work done in time.

use super::energy::{self, Domain};
use super::observe::TaskSeen;
use super::plan::{Phase, Plan, Task, Work};
use super::platform::{Class, Platform};
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const PLACEMENT: &str = "task_placement";
const SLACK: &str = "slack";

/// What `task_placement` allows above the optimum.
const fn placement(percent: i64, reason: &'static str) -> Limit {
    Limit {
        test: PLACEMENT,
        what: "energy above that of the cheapest placement",
        unit: "%",
        bound: Bound::AtMost(percent * 1000),
        reason,
    }
}

/// Activations that end after the next one was due.
const LATE: Limit = Limit {
    test: SLACK,
    what: "late activations of the task that was late most often",
    unit: "%",
    bound: Bound::AtMost(15_000),
    reason: "a task that moves to a bigger CPU is late until it runs there; 15 % are 9 activations of 62",
};

const fn entry(
    name: &'static str,
    about: &'static str,
    limits: &'static [Limit],
    plans: fn(&Platform) -> Result<Vec<Plan>, String>,
) -> Entry {
    Entry {
        name,
        family: Family::EnergyAware,
        about,
        limits,
        plans,
        judge,
    }
}

/// The scenarios.
pub const ENTRIES: [Entry; 7] = [
    entry(
        "OneSmallTask",
        "one little task stays on the CPU where it costs the least energy",
        &[
            placement(
                5,
                "nothing moves a lone task; a stray activation is allowed",
            ),
            LATE,
        ],
        |platform| steady(platform, 0, 1),
    ),
    entry(
        "ThreeSmallTasks",
        "three little tasks share the CPUs that cost the least energy",
        &[
            placement(
                20,
                "the choice among small CPUs changes little; only big CPUs must stay unused",
            ),
            LATE,
        ],
        |platform| steady(platform, 0, 3),
    ),
    entry(
        "TwoBigTasks",
        "two big tasks run on CPUs that they fit",
        &[
            placement(5, "few CPUs fit a big task, so there is little choice"),
            LATE,
        ],
        |platform| steady(platform, 2, 0),
    ),
    entry(
        "TwoBigThreeSmall",
        "big tasks run on big CPUs, and at once little tasks on cheap CPUs",
        &[
            placement(
                5,
                "the energy of the big tasks outweighs that of the little ones",
            ),
            LATE,
        ],
        |platform| steady(platform, 2, 3),
    ),
    entry(
        "EnergyModelWakeMigration",
        "a task for each big CPU is little for 2 s and big for 2 s, twice: each moves down and up",
        &[
            placement(
                5,
                "in 8 s there are 3 changes, and each takes a small part of them",
            ),
            LATE,
        ],
        wake_migration,
    ),
    entry(
        "RampUp",
        "one task grows from 10 % of a little CPU to a big one's, 5 % of the scale each 0.5 s",
        &[
            placement(
                15,
                "it moves up some time after it could: the kernel waits in order not to lose speed",
            ),
            LATE,
        ],
        |platform| ramp(platform, true),
    ),
    entry(
        "RampDown",
        "the same task shrinks",
        &[
            placement(
                18,
                "it also moves down late; LISA found 18 % by trial on Juno r0, r2, HiKey 960 and TC2",
            ),
            LATE,
        ],
        |platform| ramp(platform, false),
    ),
];

fn periodic_peak(util: f64) -> f64 {
    f64::from(Work::periodic(util, 1000).peak_util())
}

/// Utilization of a little task: the peak of its signal, with the quarter that
/// schedutil adds, falls midway between the two operating points around half of the
/// top frequency, so that it does not waver between them.
pub fn little_util(platform: &Platform, class: &Class) -> Result<f64, String> {
    let points = platform.points(class.cpus[0]);
    let top = f64::from(points.last().map_or(0, |point| point.khz));
    let band = points
        .windows(2)
        .find(|band| f64::from(band[1].khz) > top / 2.0)
        .ok_or("the small CPUs have one operating point only")?;
    let middle = f64::from(band[0].khz + band[1].khz) / 2.0;
    let util = middle / top * f64::from(class.capacity);
    let swing = periodic_peak(util / 1.25) - util / 1.25;
    Ok((util - swing) / 1.25)
}

/// Utilization of a big task: it fills the second-biggest class, or takes nearly all
/// of what fits the biggest one.
pub fn big_util(classes: &[Class]) -> f64 {
    let [below, next] =
        [classes.len() - 2, classes.len() - 1].map(|at| f64::from(classes[at].capacity));
    let fits = 0.8 * next;
    if periodic_peak(below) < fits {
        return below;
    }
    let util = 0.95 * fits;
    util - (periodic_peak(util) - util)
}

/// 0.1 s with next to nothing to do, in which `util_est` forgets that the task is
/// new (`EASBehaviourNoEWMA`).
fn forget() -> Phase {
    Phase::new("forget", Work::periodic(0.0001 * 1024.0, 100)).unjudged()
}

fn task(name: String, phases: impl IntoIterator<Item = Phase>) -> Task {
    let phases = std::iter::once(forget()).chain(phases).collect();
    Task { name, phases }
}

/// LISA runs all of these with all idle states off but the shallowest.
fn plans(tasks: Vec<Task>) -> Vec<Plan> {
    let plan = Plan {
        shallow_idle: true,
        ..Plan::tasks("", tasks)
    };
    vec![plan]
}

/// Tasks that stay as they are for a second.
fn steady(platform: &Platform, big: u32, small: u32) -> Result<Vec<Plan>, String> {
    let classes = platform.asymmetric()?;
    let one = |name: String, util| task(name, [Phase::new("test", Work::periodic(util, 1000))]);
    let little = little_util(platform, &classes[0])?;
    let mut tasks: Vec<Task> = (0..small)
        .map(|at| one(format!("small_{at}"), little))
        .collect();
    tasks.extend((0..big).map(|at| one(format!("big_{at}"), big_util(&classes))));
    Ok(plans(tasks))
}

fn wake_migration(platform: &Platform) -> Result<Vec<Plan>, String> {
    let classes = platform.asymmetric()?;
    let low = 0.2 * f64::from(classes[0].capacity);
    let high = big_util(&classes);
    let bigs = &classes[classes.len() - 1].cpus;
    let of = |at: usize| {
        let phases = [
            ("low_0", low),
            ("high_0", high),
            ("low_1", low),
            ("high_1", high),
        ];
        let phase = |(name, util)| Phase::new(name, Work::periodic(util, 2000));
        task(format!("emwm_{at}"), phases.map(phase))
    };
    Ok(plans((0..bigs.len()).map(of).collect()))
}

/// Steps of 5 % of the scale, the last one cut to `to` (`DutyCycleSweepPhase`).
fn ramp(platform: &Platform, up: bool) -> Result<Vec<Plan>, String> {
    const STEP: f64 = 51.2;
    let classes = platform.asymmetric()?;
    let (low, high) = (0.1 * f64::from(classes[0].capacity), big_util(&classes));
    let steps = ((high - low) / STEP).ceil() as u32;
    let util = |step: u32| match up {
        true => (low + f64::from(step) * STEP).min(high),
        false => (high - f64::from(step) * STEP).max(low),
    };
    let phase = |step| Phase::new(format!("step_{step}"), Work::periodic(util(step), 500));
    let phases = (0..=steps).map(phase);
    Ok(plans(vec![match up {
        true => task("up".to_owned(), phases),
        // It begins big already: twice the time in which PELT settles.
        false => {
            let settle = 2 * super::pelt::settling_ns(1024.0, 1.0) / 1_000_000;
            let buffer = Phase::new("buffer", Work::periodic(util(0), settle)).unjudged();
            Task {
                name: "down".to_owned(),
                phases: std::iter::once(buffer).chain(phases).collect(),
            }
        }
    }]))
}

fn judge(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    if !platform.powered() {
        return Err("the machine gives some operating point no power".to_owned());
    }
    let domains = energy::domains(platform);
    let mut measured = vec![];
    for run in observed {
        let window = window(run)?;
        let history = history(run, window);
        let (seen, best) = energies(&domains, platform.cpus.len(), &history, window)?;
        let above = (i128::try_from(seen).unwrap_or(i128::MAX)
            - i128::try_from(best).unwrap_or(i128::MAX))
            * 100_000
            / i128::try_from(best.max(1)).unwrap_or(i128::MAX);
        measured.push(TestFigure {
            test: PLACEMENT,
            of: String::new(),
            milli: above as i64,
        });
        measured.push(late(run));
    }
    Ok(measured)
}

/// From when all tasks are in judged phases until the first of them ends, ns.
fn window(run: &Observed) -> Result<(u64, u64), String> {
    let (mut from, mut to) = (0, u64::MAX);
    for (task, seen) in run.plan.of_tasks().iter().zip(&run.seen.tasks) {
        let judged = task.phases.iter().position(|phase| phase.asserted);
        let start = judged.and_then(|at| seen.phases.get(at));
        from = from.max(*start.ok_or_else(|| format!("{} never began its phase", task.name))?);
        to = to.min(
            seen.end
                .ok_or_else(|| format!("{} never ended", task.name))?,
        );
    }
    match from < to {
        true => Ok((from, to)),
        false => Err("the tasks never ran together".to_owned()),
    }
}

/// A change in what a task is expected to use, or of its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Util(u32),
    Cpu(usize),
}

/// All changes up to the end of the window, in order.
fn history(run: &Observed, window: (u64, u64)) -> Vec<(u64, usize, Change)> {
    let mut history = vec![];
    for (at, (task, seen)) in run.plan.of_tasks().iter().zip(&run.seen.tasks).enumerate() {
        let phases = task.phases.iter().zip(&seen.phases);
        for (phase, &start) in phases.filter(|(phase, _)| phase.asserted) {
            history.push((
                start.max(window.0),
                at,
                Change::Util(phase.work.peak_util()),
            ));
        }
        for slice in &seen.slices {
            history.push((
                slice.from.max(window.0),
                at,
                Change::Cpu(slice.cpu as usize),
            ));
        }
    }
    history.retain(|(time, ..)| *time < window.1);
    history.sort_by_key(|&(time, task, _)| (time, task));
    history
}

/// Energy in nW ns of the placements seen and of the cheapest ones, each task with its
/// expected utilization on the CPU that it was last on.
fn energies(
    domains: &[Domain],
    cpus: usize,
    history: &[(u64, usize, Change)],
    (start, end): (u64, u64),
) -> Result<(u128, u128), String> {
    let tasks = history.iter().map(|change| change.1 + 1).max().unwrap_or(0);
    let mut utils = vec![0; tasks];
    let mut homes = vec![None; tasks];
    let (mut seen, mut best) = (0_u128, 0_u128);
    let mut optimum = (utils.clone(), 0);
    let mut since = start;
    let ends = std::iter::once((end, 0, None));
    let changes = history
        .iter()
        .map(|&(time, task, change)| (time, task, Some(change)));
    for (time, task, change) in changes.chain(ends) {
        if time > since {
            if optimum.0 != utils {
                let nw = energy::optimum_nw(domains, &utils);
                let nw = nw.ok_or("every placement overutilizes some CPU")?;
                optimum = (utils.clone(), nw);
            }
            let mut used = vec![0; cpus];
            for (util, home) in utils.iter().zip(&homes) {
                if let Some(cpu) = *home {
                    used[cpu] += util;
                }
            }
            let lasted = u128::from(time - since);
            seen += u128::from(energy::power_nw(domains, &used)) * lasted;
            best += u128::from(optimum.1) * lasted;
            since = time;
        }
        match change {
            Some(Change::Util(util)) => utils[task] = util,
            Some(Change::Cpu(cpu)) => homes[task] = Some(cpu),
            None => {}
        }
    }
    Ok((seen, best))
}

fn late(run: &Observed) -> TestFigure {
    let percent = |task: &TaskSeen| {
        (task.late * 100_000)
            .checked_div(task.activations)
            .unwrap_or(100_000)
    };
    let tasks = run.plan.of_tasks().iter().zip(&run.seen.tasks);
    let worst = tasks.max_by_key(|(_, seen)| percent(seen));
    TestFigure {
        test: SLACK,
        of: worst.map_or(String::new(), |(task, _)| task.name.clone()),
        milli: worst.map_or(0, |(_, seen)| percent(seen) as i64),
    }
}
