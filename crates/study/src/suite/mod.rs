// SPDX-License-Identifier: GPL-2.0-only
//! The acceptance suite: scenarios that LISA asks of Linux, asked of the model.
//! What they run stands in [`scenario`], what is noted of a run in [`observe`],
//! what the cheapest placement would take in [`energy`], and the verdicts here.

pub mod energy;
pub mod observe;
pub mod scenario;

use std::sync::atomic::AtomicBool;

use alight_machine::{Governor, Machine};
use alight_policy::Scheduler;
use alight_sim::Scenario;
use alight_workload::{Mode, Workload};
use serde::{Deserialize, Serialize};

use observe::{Observer, Seen};
use scenario::{BUFFER_PERIODS, Entry, LATE_PERCENT, PERIOD_US};

/// What was seen in one run: enough to judge it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Start and end of what is asserted, ns.
    pub window: (u64, u64),
    /// Utilization that each task is expected to have.
    pub utils: Vec<u32>,
    /// What each did, in the same order.
    pub tasks: Vec<Seen>,
}

/// The answer to a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "UPPERCASE")]
pub enum Verdict {
    /// All held.
    Pass(Figures),
    /// Something did not.
    Fail(Figures),
    /// It cannot be said.
    Undecided {
        /// Why.
        why: String,
    },
}

/// What a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Energy of the placements seen, by the energy model, nJ.
    pub observed_nj: u64,
    /// Energy of the cheapest placement, nJ.
    pub optimum_nj: u64,
    /// How much more the first may be, percent.
    pub energy_percent: u64,
    /// Activations, of the task that was late most often, that were late, percent.
    pub late_percent: u64,
}

/// Runs a scenario; `None` where the machine has no such tasks.
///
/// # Errors
/// What the simulation refuses.
pub fn observe(
    entry: &Entry,
    machine: &Machine,
    scheduler: &Scheduler,
    seed: u64,
) -> Result<Option<Observation>, alight_sim::Error> {
    let Some(duties) = entry.duties(machine) else {
        return Ok(None);
    };
    let text = scenario::rt_app(machine, &duties, BUFFER_PERIODS + entry.periods);
    let workload = Workload::from_rtapp(entry.name, &text, Mode::default())
        .map_err(|error| alight_sim::Error::Refused(error.to_string()))?
        .workload;
    let period_ns = u64::from(PERIOD_US) * 1000;
    let start = u64::from(BUFFER_PERIODS) * period_ns;
    let end = start + u64::from(entry.periods) * period_ns;
    let run = Scenario {
        machine,
        workloads: std::slice::from_ref(&workload),
        scheduler,
        governor: Some(Governor::Schedutil),
        seed,
        duration_ns: Some(end),
        changes: &[],
        check: false,
    };
    let names = alight_sim::task_table(&run)?;
    let mut observer = Observer::default();
    alight_sim::run(&run, Some(&mut observer), &AtomicBool::new(false))?;
    let seen = |index: usize| {
        let name = format!("task{index}-{index}");
        let pid = names.iter().find(|task| task.1 == name).map(|task| task.0);
        pid.and_then(|pid| observer.tasks.get(&pid))
            .cloned()
            .ok_or_else(|| alight_sim::Error::Refused(format!("{name} never ran")))
    };
    Ok(Some(Observation {
        window: (start, end),
        utils: duties.iter().map(|duty| duty.peak_util()).collect(),
        tasks: (0..duties.len()).map(seen).collect::<Result<_, _>>()?,
    }))
}

/// The verdict on what was seen.
pub fn judge(entry: &Entry, machine: &Machine, seen: Option<&Observation>) -> Verdict {
    let undecided = |why: &str| Verdict::Undecided {
        why: why.to_owned(),
    };
    let Some(seen) = seen else {
        return undecided("not applicable: all CPUs have one capacity");
    };
    let domains = energy::domains(machine);
    if (domains.iter().flat_map(|domain| &domain.points)).any(|point| point.1 == 0) {
        return undecided("not applicable: the machine gives no power for some operating point");
    }
    let Some(optimum_nw) = energy::optimum_nw(&domains, &seen.utils) else {
        return undecided("every placement is overutilized");
    };
    let figures = Figures {
        observed_nj: observed_nj(&domains, machine.cpus.len(), seen),
        optimum_nj: to_nj(u128::from(optimum_nw) * u128::from(seen.window.1 - seen.window.0)),
        energy_percent: entry.energy_percent,
        late_percent: seen
            .tasks
            .iter()
            .map(|task| late_percent(task, seen.window))
            .max()
            .unwrap_or(0),
    };
    let cheap = figures.observed_nj * 100 <= figures.optimum_nj * (100 + entry.energy_percent);
    if cheap && figures.late_percent <= LATE_PERCENT {
        Verdict::Pass(figures)
    } else {
        Verdict::Fail(figures)
    }
}

fn to_nj(nw_ns: u128) -> u64 {
    u64::try_from(nw_ns / 1_000_000_000).unwrap_or(u64::MAX)
}

/// Energy of each task being, with all its utilization, on the CPU that it last ran on.
fn observed_nj(domains: &[energy::Domain], cpus: usize, seen: &Observation) -> u64 {
    let (start, end) = seen.window;
    let mut moves: Vec<(u64, usize, usize)> = vec![];
    for (task, of) in seen.tasks.iter().enumerate() {
        moves.extend(
            of.cpus
                .iter()
                .map(|&(time, cpu)| (time, task, cpu as usize)),
        );
    }
    moves.sort_unstable();
    let mut utils = vec![0; cpus];
    let mut home = vec![None; seen.tasks.len()];
    let (mut sum, mut since) = (0_u128, start);
    for (time, task, cpu) in moves {
        let time = time.clamp(start, end);
        sum += u128::from(energy::power_nw(domains, &utils)) * u128::from(time - since);
        since = time;
        if let Some(old) = home[task].replace(cpu) {
            utils[old] -= seen.utils[task];
        }
        utils[cpu] += seen.utils[task];
    }
    sum += u128::from(energy::power_nw(domains, &utils)) * u128::from(end - since);
    to_nj(sum)
}

/// Activations within the window that ended after the next one was due.
fn late_percent(task: &Seen, (start, end): (u64, u64)) -> u64 {
    let period_ns = u64::from(PERIOD_US) * 1000;
    let (mut all, mut late) = (0_u64, 0_u64);
    for &(woken, asleep) in &task.activations {
        if woken >= start && asleep <= end {
            // Without a sleep in between several activations are one, and all but the last late.
            let missed = (asleep - woken) / period_ns;
            all += missed.max(1);
            late += missed;
        }
    }
    // A task that never slept was late every time.
    (late * 100).checked_div(all).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn juno() -> Machine {
        alight_machine::load("juno-r0").unwrap().machine
    }

    /// One task of OneSmallTask, on these CPUs from these times on, as long a time each period.
    fn seen(cpus: Vec<(u64, u32)>, busy_ns: u64) -> Observation {
        let window = (0, 1_000_000_000);
        let activations = (0..60).map(|k| (k * 16_000_000, k * 16_000_000 + busy_ns));
        Observation {
            window,
            utils: vec![100],
            tasks: vec![Seen {
                cpus,
                activations: activations.collect(),
            }],
        }
    }

    fn word(seen: &Observation) -> &'static str {
        match judge(&scenario::ENTRIES[0], &juno(), Some(seen)) {
            Verdict::Pass(_) => "PASS",
            Verdict::Fail(_) => "FAIL",
            Verdict::Undecided { .. } => "UNDECIDED",
        }
    }

    #[test]
    fn verdicts_follow_where_the_task_was_and_when_it_was_done() {
        let machine = juno();
        let of = |big: bool| {
            let is = |cpu: &alight_machine::Cpu| (cpu.capacity_orig == 1024) == big;
            machine.cpus.iter().position(is).unwrap() as u32
        };
        let (little, big) = (of(false), of(true));
        assert_eq!(word(&seen(vec![(0, little)], 5_000_000)), "PASS");
        assert_eq!(word(&seen(vec![(0, big)], 5_000_000)), "FAIL", "too dear");
        let strayed = vec![(0, little), (500_000_000, big), (501_000_000, little)];
        assert_eq!(
            word(&seen(strayed, 5_000_000)),
            "PASS",
            "a stray millisecond"
        );
        assert_eq!(word(&seen(vec![(0, little)], 17_000_000)), "FAIL", "late");
    }

    #[test]
    fn what_fits_nowhere_is_not_decided() {
        let mut observation = seen(vec![(0, 0)], 1);
        observation.utils = vec![1000];
        assert_eq!(word(&observation), "UNDECIDED");
    }

    #[test]
    fn a_run_is_judged_the_same_after_it_was_saved() {
        let (machine, entry) = (juno(), &scenario::ENTRIES[3]);
        let scheduler = Scheduler::parse("linux-6.5").unwrap();
        let observation = observe(entry, &machine, &scheduler, 1).unwrap();
        let saved = serde_json::to_string(&observation).unwrap();
        let again: Option<Observation> = serde_json::from_str(&saved).unwrap();
        assert_eq!(again, observation);
        assert_eq!(again.unwrap().tasks.len(), 5);
    }

    #[test]
    fn tasks_have_the_size_that_their_name_says() {
        let machine = juno();
        let little = scenario::size(&machine, scenario::Size::Little)
            .unwrap()
            .peak_util();
        let big = scenario::size(&machine, scenario::Size::Big)
            .unwrap()
            .peak_util();
        assert!(little * 5 < 446 * 4, "{little} fits a little CPU");
        assert!(
            big * 5 > 446 * 4 && big * 5 < 1024 * 4,
            "{big} fits a big CPU only"
        );
    }
}
