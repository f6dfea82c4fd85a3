// SPDX-License-Identifier: GPL-2.0-only
//! How late sleeps end by idle state.
//!
//! A sleep's state is told by the counters of cpuidle (`cpuidle/stateN/usage`): the deepest one that
//! was entered during the sleep. Root may switch the other states off for a while; without, a state
//! is measured if the governor chooses it.

use crate::changes::Changes;
use crate::on_cpu;
use crate::rounds::median;
use rustix::thread::nanosleep;
use rustix::time::Timespec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An idle state of a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    folder: PathBuf,
    /// As in machine files.
    pub name: String,
    /// What leaving it takes as its driver says, us.
    pub latency_us: u64,
    /// Shortest stay that is worth it, us.
    pub residency_us: u64,
    /// The user has switched it off.
    pub off: bool,
}

/// The idle states of `cpu`, from the shallowest; none without cpuidle.
pub(crate) fn states(root: &Path, cpu: usize) -> Vec<State> {
    let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpuidle"));
    let state = |number: usize| {
        let folder = folder.join(format!("state{number}"));
        let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| text(name).and_then(|text| text.trim().parse().ok());
        Some(State {
            name: text("name")?.trim().to_owned(),
            latency_us: number("latency").unwrap_or(0),
            residency_us: number("residency").unwrap_or(0),
            off: number("disable") == Some(1),
            folder,
        })
    };
    (0..).map_while(state).collect()
}

/// Sleeps of each length, with those of 10 ms and more a fifth as many.
const SLEEPS: usize = 40;
/// So many sleeps in a state are enough to say how late they end.
const ENOUGH: usize = 8;
/// The longest sleep.
const LONGEST: Duration = Duration::from_millis(40);

/// How late sleeps on `cpu` end in each of `states`, ns, by the number of the state. With `changes`
/// all states but one are switched off in turn, as far as that is allowed.
///
/// # Errors
/// The CPU may not be used, or the counters cannot be read.
pub(crate) fn late(
    cpu: usize,
    states: &[State],
    changes: Option<&mut Changes>,
) -> io::Result<Vec<(usize, u64)>> {
    let mut samples: Vec<Vec<u64>> = vec![Vec::new(); states.len()];
    for length in lengths(states) {
        sleeps(cpu, states, length, &mut samples)?;
    }
    if let Some(changes) = changes {
        for (number, state) in states.iter().enumerate().filter(|(_, state)| !state.off) {
            let mark = changes.mark();
            if alone(states, number, changes).is_ok() {
                let length = length(state).max(Duration::from_millis(1));
                // What the governor chose by itself was not always this state alone, but counts
                // where it does not care for what is switched off.
                let chosen = std::mem::take(&mut samples[number]);
                let slept = sleeps(cpu, states, length, &mut samples);
                changes.back_to(mark);
                slept?;
                if samples[number].len() < ENOUGH {
                    samples[number].extend(chosen);
                }
            }
            changes.back_to(mark);
        }
    }
    let enough =
        |(number, late): (usize, Vec<u64>)| (late.len() >= ENOUGH).then(|| (number, median(late)));
    Ok(samples.into_iter().enumerate().filter_map(enough).collect())
}

/// Switches `state` off, or on if it is off: to see whether that is allowed.
///
/// # Errors
/// It is not.
pub(crate) fn switch(state: &State, changes: &mut Changes) -> io::Result<()> {
    let other = if state.off { "0" } else { "1" };
    changes.set(&state.folder.join("disable"), other)
}

/// Switches off all states but one.
fn alone(states: &[State], number: usize, changes: &mut Changes) -> io::Result<()> {
    for (other, state) in states.iter().enumerate() {
        let off = if other == number { "0" } else { "1" };
        changes.set(&state.folder.join("disable"), off)?;
    }
    Ok(())
}

/// A sleep that is worth the state.
fn length(state: &State) -> Duration {
    (Duration::from_micros(60) + 3 * Duration::from_micros(state.residency_us)).min(LONGEST)
}

/// Lengths of sleeps for which a governor chooses the states: short, by each state, and 2 ms.
fn lengths(states: &[State]) -> Vec<Duration> {
    let mut lengths: Vec<Duration> = states.iter().map(length).collect();
    lengths.push(Duration::from_millis(2));
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn sleeps(
    cpu: usize,
    states: &[State],
    length: Duration,
    samples: &mut [Vec<u64>],
) -> io::Result<()> {
    let times = match length < Duration::from_millis(10) {
        true => SLEEPS,
        false => SLEEPS / 5,
    };
    let request = Timespec {
        tv_sec: 0,
        tv_nsec: i64::try_from(length.as_nanos()).unwrap_or(0),
    };
    let slept = on_cpu(cpu, || {
        let mut slept = Vec::new();
        for _ in 0..times {
            let before = usage(states)?;
            let start = Instant::now();
            // Nobody sends a signal; a sleep cut short would only look less late.
            let _ = nanosleep(&request);
            let late = start.elapsed().saturating_sub(length);
            let late = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
            slept.extend(entered(&before, &usage(states)?).map(|state| (state, late)));
        }
        Ok(slept)
    })?;
    for (state, late) in slept {
        samples[state].push(late);
    }
    Ok(())
}

/// How often each state was entered so far.
fn usage(states: &[State]) -> io::Result<Vec<u64>> {
    let usage = |state: &State| {
        let text = fs::read_to_string(state.folder.join("usage"))?;
        text.trim().parse().map_err(io::Error::other)
    };
    states.iter().map(usage).collect()
}

/// The deepest state that was entered in between; `None`: none was.
fn entered(before: &[u64], after: &[u64]) -> Option<usize> {
    let mut pairs = before.iter().zip(after);
    pairs.rposition(|(before, after)| after > before)
}

#[cfg(test)]
mod tests;
