// SPDX-License-Identifier: GPL-2.0-only
//! What a session of scrolling asks for: how many frames, and how much work each is. Drawn from the
//! seed in integers, so that it is the same everywhere.

use super::super::draw::{between, draw};
use super::options::Settings;

/// Between two phases of scrolling, ns.
pub(super) const PAUSE_NS: u64 = 500_000_000;
/// Shortest and longest phase, ns.
const PHASE_NS: (u64, u64) = (1_000_000_000, 3_000_000_000);
/// Least and most work of a background task at a time, ns.
const BACKGROUND_NS: (u64, u64) = (200_000, 2_000_000);
/// Shortest and longest sleep of a background task, ns: those of housekeeping on a phone.
const BACKGROUND_PAUSE_NS: (u64, u64) = (20_000_000, 500_000_000);

/// Work of a frame in thousandths of the mean: the middles of 32 equally likely parts of a
/// log-normal distribution with sigma 0.3 (**assumed**), scaled to the mean 1000.
const SPREAD: [u64; 32] = [
    502, 579, 626, 662, 693, 721, 747, 771, 794, 816, 838, 860, 881, 903, 925, 947, 967, 992, 1016,
    1041, 1067, 1095, 1124, 1156, 1190, 1229, 1272, 1323, 1385, 1466, 1584, 1828,
];

/// What a random number is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Phases,
    Ui,
    Render,
    Compositor,
    Background,
}

/// A session.
#[derive(Debug, Clone)]
pub(super) struct Script {
    seed: u64,
    /// Frames of each phase of scrolling.
    pub phases: Vec<u64>,
}

impl Script {
    /// Phases and pauses until the duration is over.
    pub fn of(settings: &Settings) -> Self {
        let mut script = Script {
            seed: settings.seed,
            phases: vec![],
        };
        let mut left = settings.duration_ns;
        while left >= settings.period_ns {
            let drawn = script.between(Stream::Phases, script.phases.len(), PHASE_NS);
            let phase = drawn.min(left);
            script
                .phases
                .push(phase.div_euclid(settings.period_ns).max(1));
            left = left.saturating_sub(phase + PAUSE_NS);
        }
        script
    }

    /// Frames in all.
    pub fn frames(&self) -> usize {
        self.phases.iter().sum::<u64>() as usize
    }

    /// Work of a frame whose like take `mean_ns`.
    pub fn work_ns(&self, stream: Stream, frame: usize, mean_ns: u64) -> u64 {
        let part = draw(self.seed, stream as u64, frame) % SPREAD.len() as u64;
        (mean_ns * SPREAD[part as usize] / 1000).max(1)
    }

    /// Work of a background task at a time, and its sleep between.
    pub fn background_ns(&self, task: u32) -> (u64, u64) {
        let at = 2 * task as usize;
        (
            self.between(Stream::Background, at, BACKGROUND_NS),
            self.between(Stream::Background, at + 1, BACKGROUND_PAUSE_NS),
        )
    }

    fn between(&self, stream: Stream, index: usize, range: (u64, u64)) -> u64 {
        between(self.seed, stream as u64, index, range)
    }
}

#[cfg(test)]
mod tests;
