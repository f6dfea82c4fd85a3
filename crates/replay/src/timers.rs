// SPDX-License-Identifier: GPL-2.0-only
//! What kind of sleep a timer ended.
//!
//! A task that waits for points in time is late for the next one if it runs for long; a task that
//! pauses is not. A recording of calls says which of the two was asked for. Else it shows when sleeps
//! begin and end: what varies less tells: where the gaps between ends are alike there is a period; where the
//! lengths are alike there is a pause; else the ends are points in time.

use alight_recording::workload::Call;
use alight_workload::program::Op;

use crate::task::{Task, TimerSleep};

/// Sleeps are alike if the 95th percentile of them is not above the 5th by more than this part
/// of the median.
const ALIKE: u64 = 20;
/// Or by no more than this, ns: less than what a timer is late on an idle machine.
const JITTER: u64 = 20_000;
/// Fewer show nothing.
const FEWEST: usize = 8;
/// Periods of timers are not shorter, ns; messages may follow each other faster.
const SHORTEST_PERIOD: u64 = 200_000;

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Points,
    Pauses,
    /// It was no timer.
    Device,
}

/// Makes operations of the sleeps that timers ended. Returns how many were taken for timers
/// though the recording does not say which interrupts they were, and how many were not.
pub(crate) fn settle(task: &mut Task, start: u64) -> (u64, u64) {
    let sleeps = std::mem::take(&mut task.timer_sleeps);
    let kinds = [true, false].map(|known| {
        let these: Vec<&TimerSleep> = (sleeps.iter())
            .filter(|s| s.known == known && s.called.is_none())
            .collect();
        kind(&these, known)
    });
    let (mut assumed, mut devices) = (0, 0);
    for sleep in sleeps {
        let (known, kind) = match sleep.called {
            Some(Call::SleepUntil) => (true, Kind::Points),
            Some(Call::Sleep) => (true, Kind::Pauses),
            _ => (sleep.known, kinds[usize::from(!sleep.known)]),
        };
        let ns = sleep.until - sleep.since;
        // A ns for each that comes before it keeps the order.
        let slack_ns = sleep.behind;
        let op = match kind {
            Kind::Points => Op::SleepUntil {
                ns: sleep.until - start,
                slack_ns,
            },
            Kind::Pauses => Op::SleepFor { ns, slack_ns },
            Kind::Device => Op::Complete { ns, cpu: sleep.cpu },
        };
        match (known, kind) {
            (true, _) => {}
            (false, Kind::Device) => devices += 1,
            (false, _) => assumed += 1,
        }
        task.set(sleep.op, op);
    }
    (assumed, devices)
}

fn kind(sleeps: &[&TimerSleep], known: bool) -> Kind {
    let otherwise = if known { Kind::Points } else { Kind::Device };
    if sleeps.len() < FEWEST {
        return otherwise;
    }
    let gaps = sleeps
        .windows(2)
        .map(|pair| pair[1].until - pair[0].until)
        .collect();
    let lengths = sleeps.iter().map(|s| s.until - s.since).collect();
    match (spread(gaps), spread(lengths)) {
        (Some(gaps), Some(lengths)) if gaps <= lengths => Kind::Points,
        (_, Some(_)) => Kind::Pauses,
        (Some(_), None) => Kind::Points,
        (None, None) => otherwise,
    }
}

/// Whether these gaps between wakings are those of a timer.
pub(crate) fn are_regular(gaps: &[u64]) -> bool {
    gaps.len() >= FEWEST
        && spread(gaps.to_vec()).is_some()
        && gaps.iter().all(|&gap| gap >= SHORTEST_PERIOD)
}

/// How far apart the 5th and the 95th percentile are, ns, if the values are alike.
fn spread(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    let at = |percent: usize| values[(values.len() - 1) * percent / 100];
    let spread = at(95) - at(5);
    (spread <= JITTER.max(at(50) / ALIKE)).then_some(spread)
}

#[cfg(test)]
mod tests;
