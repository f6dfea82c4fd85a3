// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn the_spread_keeps_the_mean_and_leans_to_the_right() {
    assert_eq!(SPREAD.iter().sum::<u64>(), 1000 * SPREAD.len() as u64);
    assert!(SPREAD.is_sorted());
    assert!(SPREAD[31] - 1000 > 1000 - SPREAD[0]);
}

#[test]
fn phases_and_pauses_fill_the_duration() {
    for seconds in [1, 5, 20, 60] {
        let settings = Settings {
            duration_ns: seconds * 1_000_000_000,
            ..Settings::default()
        };
        let script = Script::of(&settings);
        let scrolled = script.frames() as u64 * settings.period_ns;
        let paused = (script.phases.len() as u64 - 1) * PAUSE_NS;
        let all = scrolled + paused;
        assert!(all <= settings.duration_ns, "{seconds} s: {all}");
        let lost = script.phases.len() as u64 * settings.period_ns + PAUSE_NS;
        assert!(all + lost >= settings.duration_ns, "{seconds} s: {all}");
    }
}

#[test]
fn seeds_and_streams_differ_and_the_mean_is_kept() {
    let script = |seed| Script {
        seed,
        phases: vec![],
    };
    let works = |seed, stream| -> Vec<u64> {
        (0..4096)
            .map(|frame| script(seed).work_ns(stream, frame, 1_000_000))
            .collect()
    };
    let ui = works(1, Stream::Ui);
    assert_eq!(ui, works(1, Stream::Ui));
    assert_ne!(ui, works(2, Stream::Ui));
    assert_ne!(ui, works(1, Stream::Render));
    let mean = ui.iter().sum::<u64>() / ui.len() as u64;
    assert!(mean.abs_diff(1_000_000) < 20_000, "{mean}");
}
