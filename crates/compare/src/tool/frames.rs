// SPDX-License-Identifier: GPL-2.0-only
//! The frame pipeline, in the words of Android's `dumpsys gfxinfo`.

use alight_sim::Figures;
use alight_workload::report::Frames;

const PERCENTILES: [u32; 4] = [500, 900, 950, 990];

pub(super) fn print(frames: &Frames, figures: &Figures) -> Option<String> {
    super::elapsed_us(frames.elapsed, figures)?;
    let rendered = figures.counters[frames.frames as usize];
    let late = figures.counters[frames.late as usize];
    let percent = 100.0 * late as f64 / rendered.max(1) as f64;
    let mut text = format!(
        "Total frames rendered: {rendered}\n\
         Janky frames: {late} ({percent:.2}%)\n"
    );
    for per_mille in PERCENTILES {
        let time = &figures.tallies[frames.frame_time as usize];
        let (us, _) = time.percentile(per_mille).unwrap_or((0, 0));
        text += &format!("{}th percentile: {}ms\n", per_mille / 10, us / 1000);
    }
    Some(text)
}
