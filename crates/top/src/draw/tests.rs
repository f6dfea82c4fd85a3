// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::view::Key;
use crate::view::tests::statistics;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn drawn(view: &View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, view)).unwrap();
    terminal.backend().to_string()
}

fn view() -> View {
    View::new(statistics(4, &[("target_idle", 100), ("bias_prev", 300)]))
}

#[test]
fn the_picture_says_what_is_decided_and_why() {
    let picture = drawn(&view(), 100, 22);
    for expected in [
        "linux-5.5+bias-prev  up 4 s  2 of 2 CPUs used",
        "decisions 100/s  found idle 50.0 %  looked at 2.0 CPUs",
        "run delay, from 8.1 us to 16.3 us",
        "steps that answered, by count",
        "step         share   per second  feature    meaning",
        "bias_prev    75.0 %  75          bias-prev  bias-prev: the previous CPU",
        "target_idle  25.0 %  25                     the target is idle",
        "q quit  s sort",
    ] {
        assert!(picture.contains(expected), "{expected}\n{picture}");
    }
}

#[test]
fn keys_are_seen_in_the_picture() {
    let mut view = view();
    view.press(Key::Table);
    view.press(Key::Sort);
    view.press(Key::Total);
    let picture = drawn(&view, 100, 22);
    for expected in [
        "(since its start)",
        "CPUs, in their order",
        "cpu  runs/s  decisions/s  idle found  delay mean  delay max",
        "1    225     75           50.0 %      10.0 us     16.0 us",
    ] {
        assert!(picture.contains(expected), "{expected}\n{picture}");
    }
    view.press(Key::Down);
    let picture = drawn(&view, 100, 22);
    assert!(!picture.contains("0    75 "), "scrolled away\n{picture}");
}

#[test]
fn trouble_stands_at_the_top() {
    let mut view = view();
    view.trouble = Some("nobody is there".to_owned());
    assert!(drawn(&view, 100, 22).starts_with("\"nobody is there"));
}

#[test]
fn no_terminal_is_too_small_and_no_count_too_large() {
    let mut large = view();
    let mut now = statistics(5, &[("target_idle", 1 << 40)]);
    now.totals.queued = u64::MAX;
    now.totals.patient = u64::MAX;
    now.totals.delays = [u64::MAX; alight_stats::DELAY_BUCKETS];
    large.update(Ok(now));
    for (width, height) in [(1, 1), (3, 2), (20, 5), (80, 12), (300, 90)] {
        for key in [Key::Table, Key::Total] {
            drawn(&large, width, height);
            large.press(key);
        }
    }
    drawn(&View::new(alight_stats::Statistics::default()), 80, 24);
}
