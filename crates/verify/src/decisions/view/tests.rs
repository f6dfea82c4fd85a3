// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn task() -> TaskState {
    TaskState {
        load_avg: 500,
        queue_load_avg: 999,
        h_load: 400,
        h_load_stamp: 10,
        ..TaskState::default()
    }
}

#[test]
fn the_root_computes_its_share_anew_each_tick() {
    assert_eq!(h_load(&task(), 10), 200); // 500 * 400 / 1000
    assert_eq!(h_load(&task(), 11), 499); // 500 * 999 / 1000
    let grouped = TaskState { depth: 1, ..task() };
    assert_eq!(h_load(&grouped, 11), 200);
}

#[test]
fn estimates_are_a_pair_up_to_6_7() {
    let state = TaskState {
        util_est: UTIL_AVG_UNCHANGED | 300,
        util_est_ewma: 200,
        ..task()
    };
    for (minor, expected) in [(1, (300, 200)), (7, (300, 200)), (8, (0, 300))] {
        let rules = Rules {
            kernel: KernelVersion { major: 6, minor },
            tick: 4_000_000,
        };
        let task = rules.task(&state, 0);
        assert_eq!(
            (task.util_est_enqueued, task.util_est_ewma),
            expected,
            "6.{minor}"
        );
        assert_eq!(task.flags, task_flag::EST_UNCHANGED);
    }
}

#[test]
fn an_interrupt_is_told_by_the_preemption_count() {
    for (minor, preempt_count, expected, because) in [
        (2, 0x8000_0003, 0, "preemption disabled, nothing to do"),
        (2, 0x0001_0001, wake_flag::INTERRUPT, "an interrupt"),
        (2, 0x0000_0100, wake_flag::INTERRUPT, "a softirq"),
        (2, 0x0000_0200, 0, "softirqs disabled only"),
        (3, 0x0003_0001, 0, "interrupts disabled three times"),
        (3, 0x0100_0002, wake_flag::INTERRUPT, "an interrupt"),
        (3, 0x1100_0000, wake_flag::INTERRUPT, "an NMI"),
        (3, 0x0000_0100, wake_flag::INTERRUPT, "a softirq"),
        (3, 0x8000_0201, 0, "softirqs disabled only"),
    ] {
        let rules = Rules {
            kernel: KernelVersion { major: 7, minor },
            tick: 4_000_000,
        };
        let found = rules.wake_flags(&Wakeup {
            preempt_count,
            ..Wakeup::default()
        });
        assert_eq!(found, expected, "7.{minor}: {because}");
    }
}

#[test]
fn what_the_recorder_learned_of_interrupts_comes_before_the_version() {
    let rules = Rules {
        kernel: KernelVersion { major: 7, minor: 2 },
        tick: 4_000_000,
    };
    let found = |preempt_count, flags| {
        rules.wake_flags(&Wakeup {
            preempt_count,
            flags,
            ..Wakeup::default()
        })
    };
    let hardirq = 0x0001_0000;
    assert_eq!(found(hardirq, 0), wake_flag::INTERRUPT);
    assert_eq!(found(hardirq, flag::CONTEXT), 0);
    let told = flag::CONTEXT | flag::INTERRUPT;
    assert_eq!(found(0, told), wake_flag::INTERRUPT);
}
