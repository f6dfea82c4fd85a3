// SPDX-License-Identifier: GPL-2.0-only
//! D. Clamps and clocks, after LISA's `utilclamp.py`, `cpufreq/sanity.py` and
//! `scheduler/sanity.py`.

use super::observe::Seen;
use super::plan::{ClockRule, Load, Phase, Plan, Task, Work};
use super::platform::{Platform, Point};
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const PLACEMENT: &str = "placement";
const FREQ: &str = "freq_selection";
const PERFORMANCE: &str = "performance_sanity";
const CAPACITY: &str = "capacity_sanity";

/// The scenarios.
pub const ENTRIES: [Entry; 3] = [
    Entry {
        name: "UtilClamp",
        family: Family::Clocks,
        about: "a task clamped from below and above to twice what it uses, for up to 8 bands of \
                capacity of each class, 5 s each",
        limits: &[
            Limit {
                test: PLACEMENT,
                what: "activations on a CPU that is smaller than the clamp",
                unit: "%",
                bound: Bound::AtMost(0),
                reason: "uclamp_min is a demand: the CPU must be able to serve it",
            },
            Limit {
                test: FREQ,
                what: "activations at another operating point than that for 1.25 times the clamp",
                unit: "%",
                bound: Bound::AtMost(0),
                reason: "from the second wakeup on, the clamps leave schedutil no choice",
            },
        ],
        plans: clamps,
        judge: judge_clamps,
    },
    Entry {
        name: "UserspaceSanity",
        family: Family::Clocks,
        about: "sysbench cpu for 1 s on a CPU of each clock at up to 5 frequencies",
        limits: &[Limit {
            test: PERFORMANCE,
            what: "steps up in frequency after which less work is done",
            unit: "",
            bound: Bound::AtMost(0),
            reason: "a higher frequency must not do less work",
        }],
        plans: frequencies,
        judge: |_, observed| Ok(vec![rising(PERFORMANCE, observed, true)]),
    },
    Entry {
        name: "CapacitySanity",
        family: Family::Clocks,
        about: "sysbench cpu for 1 s on each CPU at its top frequency",
        limits: &[Limit {
            test: CAPACITY,
            what: "steps up in capacity after which the slowest CPU does less work",
            unit: "",
            bound: Bound::AtMost(0),
            reason: "capacity is the work that a CPU does in a time",
        }],
        plans: capacities,
        judge: judge_capacities,
    },
];

/// Bands that are tried of a class (`NR_PHASES`).
const BANDS: usize = 8;

/// Operating points of a CPU but those that a smaller CPU reaches too.
fn own_points(platform: &Platform, cpu: usize) -> Vec<Point> {
    let mine = platform.cpus[cpu].capacity;
    let smaller = platform
        .cpus
        .iter()
        .map(|cpu| cpu.capacity)
        .filter(|&of| of < mine)
        .max();
    let points = platform.points(cpu).iter().copied();
    points
        .filter(|point| point.capacity >= smaller.unwrap_or(0))
        .collect()
}

/// For each band of a class between two operating points, of the widest ones: the clamp
/// that schedutil maps to its middle.
fn clamp_values(platform: &Platform, cpu: usize) -> Vec<u32> {
    let points = own_points(platform, cpu);
    let mut bands: Vec<(u32, u32)> = points
        .windows(2)
        .map(|band| (band[0].capacity, band[1].capacity))
        .collect();
    bands.sort_by_key(|band| std::cmp::Reverse(band.1 - band.0));
    bands.truncate(BANDS);
    bands.sort_unstable();
    bands
        .iter()
        .map(|band| (band.0 + band.1) / 2 * 4 / 5)
        .collect()
}

fn clamps(platform: &Platform) -> Result<Vec<Plan>, String> {
    let mut phases = vec![];
    for class in platform.classes() {
        for clamp in clamp_values(platform, class.cpus[0]) {
            let work = Work::periodic(f64::from(clamp) / 2.0, 5000);
            phases.push(Phase::new(format!("uclamp-{clamp}"), work).clamped(clamp));
        }
    }
    let first = phases
        .first()
        .ok_or("no CPU has two operating points")?
        .clone();
    let mut buffer = Phase {
        name: "buffer".to_owned(),
        ..first
    }
    .unjudged();
    if let Work::Periodic { loops, .. } = &mut buffer.work {
        *loops = 42;
    }
    phases.insert(0, buffer);
    let tasks = vec![Task {
        name: "task".to_owned(),
        phases,
    }];
    Ok(vec![Plan::tasks("", tasks)])
}

fn judge_clamps(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let (planned, seen) = (&run.plan.of_tasks()[0].phases, &run.seen.tasks[0]);
    if seen.phases.len() != planned.len() {
        return Err("the task did not reach its last phase".to_owned());
    }
    let mut measured = vec![];
    for (at, phase) in planned.iter().enumerate() {
        let (Some(clamp), true) = (phase.clamp, phase.asserted) else {
            continue;
        };
        let window = seen.phase(at);
        let (mut all, mut small, mut wrong) = (0, 0, 0);
        // The phase begins within an activation: the next one is the second wakeup.
        for start in seen
            .starts()
            .filter(|of| of.from > window.0 && of.from < window.1)
        {
            let capacity = platform.cpus[start.cpu as usize].capacity;
            all += 1;
            small += i64::from(capacity != 1024 && capacity <= clamp);
            let expected = expected_khz(platform, start.cpu as usize, clamp);
            wrong += i64::from(clock_at(platform, &run.seen, start.cpu, start.from) != expected);
        }
        for (test, bad) in [(PLACEMENT, small), (FREQ, wrong)] {
            measured.push(TestFigure {
                test,
                of: phase.name.clone(),
                milli: (bad * 100_000).checked_div(all).unwrap_or(100_000),
            });
        }
    }
    Ok(measured)
}

/// The frequency for 1.25 times the clamp, kHz, as schedutil maps it: operating points
/// that save nothing are passed over (CPUFREQ_RELATION_E).
fn expected_khz(platform: &Platform, cpu: usize, clamp: u32) -> Option<u32> {
    let points = platform.points(cpu);
    let top = points.last()?;
    let wanted = u64::from(top.khz) * u64::from(clamp) * 5 / 4 / u64::from(top.capacity.max(1));
    let saves = |at: usize| {
        let behind = points[at + 1..].iter();
        let cost = |point: &Point| point.uw * u64::from(top.khz) / u64::from(point.khz.max(1));
        behind
            .map(cost)
            .min()
            .is_none_or(|least| points[at].uw == 0 || cost(&points[at]) < least)
    };
    let enough = |&at: &usize| u64::from(points[at].khz) >= wanted && saves(at);
    let chosen = (0..points.len()).find(enough);
    Some(chosen.map_or(top, |at| &points[at]).khz)
}

/// The frequency of a CPU that was asked for by a time, kHz; `None` before its first change.
/// What the scheduler itself asks for, a trace of Linux has when it does.
fn clock_at(platform: &Platform, seen: &Seen, cpu: u32, time: u64) -> Option<u32> {
    let clock = &platform.clocks[platform.cpus[cpu as usize].clock];
    let asked_by = time + clock.fast_switch_ns;
    let mut mine = seen.clocks.iter().rev();
    let last = mine.find(|&&(at, of, _)| of == cpu && at <= asked_by);
    last.map(|&(.., khz)| khz)
}

fn tool(label: String, clock: ClockRule, cpu: usize) -> Plan {
    Plan {
        label,
        clock,
        shallow_idle: false,
        signals: false,
        hotplug: 0,
        load: Load::Tool {
            command: "sysbench cpu --threads=1 --time=1 run".to_owned(),
            cpu: cpu as u32,
        },
    }
}

/// Up to 5 frequencies of a clock, rising, as LISA picks them.
const FREQUENCIES: usize = 5;

fn frequencies(platform: &Platform) -> Result<Vec<Plan>, String> {
    let mut plans = vec![];
    for clock in &platform.clocks {
        let count = clock.points.len();
        let step = match count > FREQUENCIES {
            true => count / FREQUENCIES + count % 2,
            false => 1,
        };
        for point in clock.points.iter().step_by(step) {
            let rule = ClockRule::Userspace { khz: point.khz };
            let cpu = clock.cpus[0];
            plans.push(tool(format!("CPU{cpu}@{}", point.khz), rule, cpu));
        }
    }
    match platform.clocks.iter().any(|clock| clock.points.len() > 1) {
        true => Ok(plans),
        false => Err("no CPU has two operating points".to_owned()),
    }
}

/// Counts steps from one run to the next at which less was done. `by_cpu`: runs on different
/// CPUs are not compared.
fn rising(test: &'static str, runs: &[Observed], by_cpu: bool) -> TestFigure {
    let cpu = |run: &Observed| match &run.plan.load {
        Load::Tool { cpu, .. } => Some(*cpu),
        Load::Tasks(_) => None,
    };
    let falls = runs.windows(2).filter(|pair| {
        let same = !by_cpu || cpu(&pair[0]) == cpu(&pair[1]);
        same && pair[1].seen.events < pair[0].seen.events
    });
    let labels: Vec<&str> = falls.map(|pair| pair[1].plan.label.as_str()).collect();
    TestFigure {
        test,
        milli: labels.len() as i64 * 1000,
        of: labels.join(" "),
    }
}

fn capacities(platform: &Platform) -> Result<Vec<Plan>, String> {
    let classes = platform.asymmetric()?;
    let cpus = classes.iter().flat_map(|class| &class.cpus);
    let plan = |&cpu: &usize| tool(format!("CPU{cpu}"), ClockRule::Performance, cpu);
    Ok(cpus.map(plan).collect())
}

/// Of each class the CPU that did least.
fn judge_capacities(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let mut slowest = vec![];
    for class in platform.classes() {
        let mine = observed.iter().filter(|run| match &run.plan.load {
            Load::Tool { cpu, .. } => class.cpus.contains(&(*cpu as usize)),
            Load::Tasks(_) => false,
        });
        let least = mine.min_by_key(|run| run.seen.events);
        slowest.push(least.ok_or("a class of CPUs was not tried")?.clone());
    }
    Ok(vec![rising(CAPACITY, &slowest, false)])
}
