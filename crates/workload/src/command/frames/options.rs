// SPDX-License-Identifier: GPL-2.0-only
//! Options of `frames`. Defaults are in the middle of what phones show at 60 Hz.

use super::super::getopt::{self, Spec, Value, Word, number};
use super::super::refuse_operands;
use crate::diagnostic::{Refusal, Remarks};

/// A command line, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub period_ns: u64,
    /// Mean work of a frame in the UI thread, the render thread and the compositor, ns.
    pub ui_ns: u64,
    pub render_ns: u64,
    pub composition_ns: u64,
    pub duration_ns: u64,
    /// Background tasks.
    pub background: u32,
    /// Clamp of UI and render thread.
    pub util_min: Option<u32>,
    /// Their clamp after a late frame, and for how many periods.
    pub boost: Option<u32>,
    pub boost_periods: u64,
    pub seed: u64,
}

const NS_PER_US: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;
/// Shortest and longest period, us: 1000 and 1 frames a second.
const PERIOD_US: (i64, i64) = (1000, 1_000_000);
/// Most work of a frame, us.
const MAX_WORK_US: i64 = 1_000_000;
/// Longest session, s: each frame of it is written out.
const MAX_DURATION_S: i64 = 600;
const MAX_BACKGROUND: i64 = 1000;
const MAX_CLAMP: i64 = 1024;
/// A minute at 60 Hz.
const MAX_BOOST_PERIODS: i64 = 3600;

impl Default for Settings {
    fn default() -> Self {
        Settings {
            period_ns: 16_667 * NS_PER_US,
            ui_ns: 5000 * NS_PER_US,
            render_ns: 4000 * NS_PER_US,
            composition_ns: 1750 * NS_PER_US,
            duration_ns: 20 * NS_PER_S,
            background: 5,
            util_min: None,
            boost: None,
            boost_periods: 10,
            seed: 1,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Opt {
    Period,
    Ui,
    Render,
    Composition,
    Duration,
    Background,
    UtilMin,
    Boost,
    BoostPeriods,
    Seed,
}

const fn spec(long: &'static str, id: Opt) -> Spec<Opt> {
    Spec {
        short: None,
        long: Some(long),
        value: Value::Required,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec("period", Opt::Period),
    spec("ui", Opt::Ui),
    spec("render", Opt::Render),
    spec("composition", Opt::Composition),
    spec("duration", Opt::Duration),
    spec("background", Opt::Background),
    spec("util-min", Opt::UtilMin),
    spec("boost", Opt::Boost),
    spec("boost-periods", Opt::BoostPeriods),
    spec("seed", Opt::Seed),
];

/// Reads the words behind `frames`.
pub(super) fn read(words: &[Word], _remarks: &mut Remarks) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("frames", SPECS, words)?;
    let mut settings = Settings::default();
    for found in &parsed.options {
        let text = found.value.as_deref().unwrap_or_default();
        let read = |(least, most): (i64, i64)| {
            number(found.place, &found.spelling, text, least, most).map(|n| n as u64)
        };
        let us = |range| read(range).map(|us| us * NS_PER_US);
        match found.id {
            Opt::Period => settings.period_ns = us(PERIOD_US)?,
            Opt::Ui => settings.ui_ns = us((1, MAX_WORK_US))?,
            Opt::Render => settings.render_ns = us((1, MAX_WORK_US))?,
            Opt::Composition => settings.composition_ns = us((1, MAX_WORK_US))?,
            Opt::Duration => settings.duration_ns = read((1, MAX_DURATION_S))? * NS_PER_S,
            Opt::Background => settings.background = read((0, MAX_BACKGROUND))? as u32,
            Opt::UtilMin => settings.util_min = Some(read((0, MAX_CLAMP))? as u32),
            Opt::Boost => settings.boost = Some(read((0, MAX_CLAMP))? as u32),
            Opt::BoostPeriods => settings.boost_periods = read((1, MAX_BOOST_PERIODS))?,
            Opt::Seed => settings.seed = read((0, i64::MAX))?,
        }
    }
    refuse_operands("frames", &parsed.operands)?;
    Ok(settings)
}
