// SPDX-License-Identifier: GPL-2.0-only
//! From the rounds to a machine file, and what it lacks.

use crate::costs;
use crate::outcome::{Extra, Measurement, Unmeasured, rows};
use crate::rounds::{Distance, Key, Rounds, median, reading};
use crate::session::{Options, Session};
use alight_machine::{DataSheet, Measured, MeasuredCore, Reading, capture_measured};
use rustix::time::{ClockId, clock_getres};

mod gaps;
mod idle;

/// The measurement of `session`; `unmeasured`: what is known already to be missing.
///
/// # Errors
/// The machine cannot be captured any more.
pub(crate) fn of(
    session: &Session,
    options: &Options,
    captured: &DataSheet,
    mut unmeasured: Vec<Unmeasured>,
) -> Result<Measurement, alight_machine::Error> {
    let mut measured = Measured {
        // A round in which others wanted the CPUs looks so too.
        one_processor: median(session.rounds.of(&Key::OneProcessor).to_vec()) == 1,
        cores: cores(session),
        memory: memory(&session.rounds),
        method: Some(method(options.rounds)),
        ..costs::configured(&session.root)
    };
    measured.hz = measured.hz.or_else(coarse_hz);
    gaps::find(session, &measured, &mut unmeasured);
    let busy = busy(session.busy, options.rounds);
    let what: Vec<&str> = unmeasured
        .iter()
        .map(|missing| missing.what.as_str())
        .collect();
    measured.notes = vec![format!("not measured: {}", what.join("; "))];
    measured.notes.extend(busy.clone());
    let file = capture_measured(&options.root, &measured)?;
    let toml = file.toml.clone();
    let sheet = file.draft()?.resolve()?;
    Ok(Measurement {
        rows: rows(&sheet, captured),
        toml,
        extras: extras(session, &measured),
        unmeasured,
        busy,
        lost: Vec::new(),
        rounds: options.rounds,
    })
}

/// Says that others wanted the CPUs, if that was so.
fn busy(busy: u32, rounds: u32) -> Option<String> {
    (busy > 0).then(|| {
        format!(
            "other tasks wanted a CPU in {busy} of {}: times may be too long, and spreads wide",
            crate::outcome::rounds(rounds)
        )
    })
}

/// The source of the figures.
fn method(rounds: u32) -> String {
    format!(
        "`alight machine measure` on this machine: median of {}; spread: least and largest round",
        crate::outcome::rounds(rounds)
    )
}

/// Ticks a second, by the resolution of the coarse clock, which moves at ticks (`LOW_RES_NSEC`).
fn coarse_hz() -> Option<u32> {
    let resolution = clock_getres(ClockId::MonotonicCoarse);
    let ns = u64::try_from(resolution.tv_nsec)
        .ok()
        .filter(|&ns| ns > 0)?;
    u32::try_from((1_000_000_000 + ns / 2) / ns).ok()
}

fn cores(session: &Session) -> Vec<MeasuredCore> {
    let speeds = speeds(&session.rounds, session.host.cores.len());
    let core = |(number, core): (usize, &crate::host::Core)| {
        let (exits, mut costs) = (idle::exits(session, number), session.rounds.costs(number));
        idle::correct(session, number, &mut costs);
        MeasuredCore {
            cpus: core.ours,
            within: within(&costs),
            costs,
            speed: speeds.get(number).copied().flatten(),
            smt_percent: share(&session.rounds, number),
            idle_exits: exits,
            speed_at: by_frequency(&session.rounds, number, &core.khz),
        }
    };
    session.host.cores.iter().enumerate().map(core).collect()
}

/// Costs that those of `costs` contain.
fn within(costs: &[(&'static str, Reading)]) -> Vec<&'static str> {
    let has = |name: &str| costs.iter().any(|(known, _)| *known == name);
    let contained = costs::WITHIN.iter().filter(|(_, in_which)| has(in_which));
    let mut within: Vec<&str> = contained.map(|(name, _)| *name).collect();
    if has("wakeup_ns") && !has("select_ns") {
        within.push("select_ns");
    }
    within
}

/// Of each core type the speed, 1024 that of the fastest; none with one core type, whose speed is 1024
/// by definition.
fn speeds(rounds: &Rounds, cores: usize) -> Vec<Option<Reading>> {
    let work = |core: usize| rounds.of(&Key::Work(core));
    let fastest = (0..cores).map(|core| median(work(core).to_vec())).max();
    let Some(fastest) = fastest.filter(|&loops| loops != 0 && cores > 1) else {
        return vec![None; cores];
    };
    let speed = |core: usize| {
        let parts = work(core).iter().map(|&loops| part(loops, fastest, 1024));
        reading(parts)
    };
    (0..cores).map(speed).collect()
}

/// `of` times the share of `loops` in `whole`, rounded.
fn part(loops: u64, whole: u64, of: u64) -> u64 {
    let product = u128::from(loops) * u128::from(of) + u128::from(whole / 2);
    u64::try_from(product / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

/// Speed of a thread beside its sibling, percent of its speed alone in the same round; not above 100.
fn share(rounds: &Rounds, core: usize) -> Option<Reading> {
    let alone = rounds.of(&Key::Work(core)).iter();
    let both = alone.zip(rounds.of(&Key::WorkBeside(core)));
    reading(both.map(|(&alone, &beside)| part(beside, alone, 100).clamp(10, 100)))
}

/// Speed at each frequency, thousandths of that at the highest one in the same round.
fn by_frequency(rounds: &Rounds, core: usize, khz: &[u64]) -> Vec<(u64, Reading)> {
    let at = |khz: u64| rounds.of(&Key::WorkAt(core, khz));
    let Some(&highest) = khz.last() else {
        return Vec::new();
    };
    let speed = |&khz: &u64| {
        let both = at(khz).iter().zip(at(highest));
        let parts = both.map(|(&loops, &top)| part(loops, top, 1000).min(1000));
        Some((khz, reading(parts)?))
    };
    khz.iter().filter_map(speed).collect()
}

/// Figures of `[memory]`. What is farther takes no less.
fn memory(rounds: &Rounds) -> Vec<(&'static str, Reading)> {
    let mut memory = Vec::new();
    let mut nearer = 0;
    let within = rounds.reading(&Key::Line(Distance::Cache));
    for (key, found) in [
        ("llc_line_ns", within.or(rounds.reading(&Key::Cache))),
        (
            "cross_llc_line_ns",
            rounds.reading(&Key::Line(Distance::Node)),
        ),
        (
            "cross_node_line_ns",
            rounds.reading(&Key::Line(Distance::Machine)),
        ),
    ] {
        let Some(mut reading) = found.map(line) else {
            continue;
        };
        reading.value = reading.value.max(nearer);
        reading.spread[1] = reading.spread[1].max(nearer);
        nearer = reading.value;
        memory.push((key, reading));
    }
    if let Some(reading) = rounds.reading(&Key::Memory).map(line) {
        memory.push(("dram_line_ns", reading));
    }
    if let Some(reading) = in_flight(rounds, Distance::Cache) {
        memory.push(("refill_mlp", reading));
    }
    if let Some(reading) = rounds.reading(&Key::MessagesKept) {
        memory.push(("messages_kept", reading));
    }
    memory
}

/// A time of a line that a machine file takes: at most a millisecond.
fn line(reading: Reading) -> Reading {
    const MOST: u32 = 1_000_000;
    Reading {
        value: reading.value.min(MOST),
        spread: reading.spread.map(|ns| ns.min(MOST)),
    }
}

/// Lines in flight: what a line takes alone, by what one of many takes.
fn in_flight(rounds: &Rounds, distance: Distance) -> Option<Reading> {
    let alone = rounds.of(&Key::Line(distance)).iter();
    let both = alone.zip(rounds.of(&Key::Refill(distance)));
    reading(both.map(|(&line, &refill)| part(line.saturating_mul(1024), refill, 1).max(1)))
}

/// What was measured and has no place in a machine file.
fn extras(session: &Session, measured: &Measured) -> Vec<Extra> {
    let mut extras = Vec::new();
    let mut add = |what: String, reading: Option<Reading>| {
        extras.extend(reading.map(|reading| Extra {
            what,
            value: reading.value.into(),
            spread: reading.spread.map(u64::from),
        }));
    };
    let rounds = &session.rounds;
    let core = Distance::Core;
    add(
        format!("line of {}, ns", core.whose()),
        rounds.reading(&Key::Line(core)),
    );
    if measured.memory.iter().any(|(key, _)| *key == "llc_line_ns") {
        add(
            "line of the last-level cache, ns".to_owned(),
            rounds.reading(&Key::Cache),
        );
    }
    for distance in Distance::ALL {
        let refills = rounds.of(&Key::Refill(distance)).iter();
        // 1024 lines of 64 bytes.
        let rate = refills.map(|&ns| 65_536_000 / ns.max(1));
        add(
            format!("refill from {}, MB/s", distance.whose()),
            reading(rate),
        );
    }
    for (number, core) in session.host.cores.iter().enumerate() {
        let speed = measured.cores.get(number).and_then(|core| core.speed);
        add(format!("speed of {}, fastest 1024", core.name), speed);
    }
    extras
}

#[cfg(test)]
mod tests;
