// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::decisions::layout::CpuState;

/// CPUs 1 and 3 of four change their number of tasks from 1 to 2.
fn wakeup() -> Wakeup {
    let running = |nr_running| CpuState {
        nr_running,
        ..CpuState::default()
    };
    Wakeup {
        jiffies: 10,
        changed: 0b1010,
        exit_flags: flag::OVERUTILIZED | flag::SAME_WAKEE,
        exit_ticks: 1,
        cpus: vec![running(1); 4],
        exits: vec![running(2); 2],
        ..Wakeup::default()
    }
}

fn running(wakeup: &Wakeup) -> Vec<u16> {
    wakeup.cpus.iter().map(|cpu| cpu.nr_running).collect()
}

#[test]
fn at_the_exit_all_that_changed_has_changed() {
    let exit = exit(&wakeup());
    assert_eq!(running(&exit), [1, 2, 1, 2]);
    // The function itself makes the wakee the waker's last.
    assert_eq!((exit.jiffies, exit.flags), (11, flag::OVERUTILIZED));
}

#[test]
fn in_between_each_cpu_has_changed_or_not() {
    let states: Vec<_> = between(&wakeup())
        .map(|w| (running(&w), w.jiffies))
        .collect();
    let one = |third, fourth| [1, third, 1, fourth].to_vec();
    let expected = [one(1, 1), one(2, 1), one(1, 2), one(2, 2)]
        .into_iter()
        .flat_map(|state| [(state.clone(), 10), (state, 11)]);
    assert_eq!(states, expected.collect::<Vec<_>>());
}

#[test]
fn a_queue_of_the_root_is_that_of_its_cpu() {
    let mut wakeup = wakeup();
    wakeup.task_cpu = 3;
    wakeup.exits[1].load_avg = 70;
    wakeup.waker.depth = 1;
    wakeup.waker.queue_load_avg = 5;
    let exit = exit(&wakeup);
    assert_eq!(exit.wakee.queue_load_avg, 70);
    assert_eq!(exit.waker.queue_load_avg, 5);
}
