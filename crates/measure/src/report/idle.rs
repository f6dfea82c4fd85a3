// SPDX-License-Identifier: GPL-2.0-only
//! What leaving idle states takes, from how late sleeps end in them.
//!
//! A sleep in the state S ends late by `exit(S) + idle_exit + after`, where `after` (timer, wakeup,
//! switch, way out of the sleep) is measured alone. The shallowest state that was entered is the
//! base: its `exit` is what its driver says, 0 for one that polls, and `idle_exit` follows. The
//! others follow from the difference to the base.

use crate::rounds::{Key, reading};
use crate::session::Session;
use alight_machine::Reading;

/// A machine file takes no exit above ten seconds, us.
const LONGEST: u64 = 10_000_000;

/// The shallowest state of core type `core` that was entered in every round in which it was looked for.
pub(super) fn base(session: &Session, core: usize) -> Option<usize> {
    let states = 0..session.states[core].len();
    let rounds = |state: usize| session.rounds.of(&Key::Late(core, state)).len();
    let most = states.clone().map(rounds).max().filter(|&most| most > 0)?;
    states.into_iter().find(|&state| rounds(state) == most)
}

/// What leaving each state takes, us, rounded; but the base's.
pub(super) fn exits(session: &Session, core: usize) -> Vec<(String, Reading)> {
    let Some(base) = base(session, core) else {
        return Vec::new();
    };
    let states = &session.states[core];
    let beside = session.rounds.of(&Key::Late(core, base));
    let exit = |(number, state): (usize, &crate::idle::State)| {
        let late = session.rounds.of(&Key::Late(core, number)).iter();
        let own = states[base].latency_us * 1000;
        let parts = late.zip(beside);
        let parts =
            parts.map(|(late, base)| (late.saturating_sub(*base).saturating_add(own + 500)) / 1000);
        let parts = parts.map(|us| us.min(LONGEST));
        (number > base).then(|| Some((state.name.clone(), reading(parts)?)))?
    };
    states.iter().enumerate().filter_map(exit).collect()
}

/// `idle_exit_ns` and `ipi_receive_ns` without the exit of an idle state: the kernel path benchmark
/// alone cannot tell the two apart.
pub(super) fn correct(session: &Session, core: usize, costs: &mut [(&'static str, Reading)]) {
    let Some(base) = base(session, core) else {
        return;
    };
    let own = session.states[core][base].latency_us * 1000;
    let late = session.rounds.of(&Key::Late(core, base)).iter();
    let after = session.rounds.of(&Key::AfterIdle(core));
    let exits: Vec<u64> = (late.zip(after))
        .map(|(late, after)| late.saturating_sub(after.saturating_add(own)))
        .collect();
    let interrupted = session.rounds.of(&Key::Interrupted(core)).iter();
    let receive = interrupted
        .zip(&exits)
        .map(|(whole, exit)| whole.saturating_sub(exit.saturating_add(own)));
    for (key, corrected) in [
        ("idle_exit_ns", reading(exits.iter().copied())),
        ("ipi_receive_ns", reading(receive)),
    ] {
        let known = costs.iter_mut().find(|(known, _)| *known == key);
        if let (Some((_, known)), Some(corrected)) = (known, corrected) {
            *known = corrected;
        }
    }
}
