// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the facts of tasks, and of the choice of the workload.

use super::*;

const RECORDER: u32 = 90;

/// What the kernel says of a thread of a process.
fn said(pid: u32, tgid: u32, parent: u32) -> workload_fact {
    let mut said = workload_fact {
        time: 1000,
        pid,
        tgid,
        parent,
        ..workload_fact::default()
    };
    said.affinity[0] = 0b1111;
    said
}

fn tasks(chosen: Chosen) -> Tasks {
    Tasks::new(chosen, RECORDER, 4, Groups::default())
}

fn command() -> Tasks {
    tasks(Chosen::Processes(HashSet::new()))
}

/// The only fact that comes of it.
fn only(facts: Vec<TaskFact>) -> TaskFact {
    let [fact] = <[TaskFact; 1]>::try_from(facts).expect("one fact");
    fact
}

#[test]
fn the_workload_is_what_descends_from_the_chosen_process() {
    let mut tasks = command();
    tasks.choose(100);
    for (what, said, expected) in [
        ("its own process", said(100, 100, RECORDER), true),
        ("a thread", said(101, 100, RECORDER), true),
        ("a child", said(102, 102, 100), true),
        ("a child's child", said(103, 103, 102), true),
        ("a thread of the child's child", said(104, 103, 102), true),
        ("the recorder", said(RECORDER, RECORDER, 1), false),
        ("somebody else", said(105, 105, 1), false),
    ] {
        assert_eq!(only(tasks.learn(&said)).chosen, Some(expected), "{what}");
    }
    // The task that forked it may have ended since: it stays in the workload.
    tasks.forget(102);
    let mut adopted = said(103, 103, 1);
    adopted.nice = 5;
    let fact = only(tasks.learn(&adopted));
    assert_eq!((fact.chosen, fact.nice), (None, Some(5)));
}

#[test]
fn a_running_process_is_chosen_by_its_number() {
    let mut tasks = tasks(Chosen::Processes(HashSet::from([7])));
    for (said, expected) in [
        (said(8, 7, 1), true),
        (said(9, 9, 7), true),
        (said(6, 6, 1), false),
    ] {
        assert_eq!(
            only(tasks.learn(&said)).chosen,
            Some(expected),
            "{}",
            said.pid
        );
    }
}

#[test]
fn groups_lie_in_their_parents() {
    for (group, path, expected) in [
        ("/app", "/app", true),
        ("/app/db", "/app", true),
        ("/application", "/app", false),
        ("/", "/app", false),
        ("/app", "/", true),
        ("/", "/", true),
    ] {
        assert_eq!(within(group, path), expected, "{group} in {path}");
    }
}

#[test]
fn only_what_changes_is_told_again() {
    let mut tasks = command();
    let first = said(5, 5, 1);
    let fact = only(tasks.learn(&first));
    assert_eq!(fact.affinity.as_deref(), Some("0-3"));
    assert_eq!(fact.policy, Some(Policy::Normal));
    assert_eq!(
        (fact.rt_priority, fact.uclamp_min, fact.cgroup),
        (None, None, None)
    );
    assert_eq!(tasks.learn(&first), []);

    let mut later = first;
    later.time = 2000;
    later.affinity[0] = 0b1010;
    later.policy = 1;
    later.rt_priority = 50;
    let expected = TaskFact {
        time: 2000,
        pid: 5,
        affinity: Some("1,3".into()),
        policy: Some(Policy::Fifo),
        rt_priority: Some(50),
        ..TaskFact::default()
    };
    assert_eq!(tasks.learn(&later), [expected]);
}

#[test]
fn a_whole_process_changes_its_group() {
    let mut tasks = command();
    for thread in [5, 6] {
        tasks.learn(&said(thread, 5, 1));
    }
    tasks.learn(&said(7, 7, 1));
    let mut moved = said(5, 5, 1);
    moved.has = HAS_GROUP | WHOLE_PROCESS;
    moved.autogroup = 3;
    let facts = tasks.learn(&moved);
    let told: Vec<_> = (facts.iter())
        .map(|fact| (fact.pid, fact.cgroup.as_deref()))
        .collect();
    assert_eq!(told, [(5, Some("/autogroup-3")), (6, Some("/autogroup-3"))]);
}

#[test]
fn the_start_has_a_state_and_a_decayed_load() {
    for (state, on_cpu, expected) in [
        (0, 1, TaskState::Running),
        (0, 0, TaskState::Runnable),
        (1, 0, TaskState::Asleep),
        (2, 0, TaskState::Blocked),
        // TASK_IDLE
        (0x402, 0, TaskState::Blocked),
    ] {
        let mut said = said(5, 5, 1);
        (said.has, said.state, said.on_cpu) = (HAS_START, state, on_cpu);
        (said.util_avg, said.util_stale) = (400, 32 << PERIOD_BITS);
        let fact = only(command().learn(&said));
        // The half, as the kernel's integers have it.
        assert_eq!((fact.state, fact.util_avg), (Some(expected), Some(199)));
    }
}

#[test]
fn a_mask_is_a_list() {
    for (mask, nr_cpus, expected) in [
        (&[0b1][..], 1, Some("0")),
        (&[0b1111_0110], 8, Some("1-2,4-7")),
        // Bits of CPUs that do not exist.
        (&[u64::MAX], 3, Some("0-2")),
        (&[0, 0b11], 128, Some("64-65")),
        (&[0], 4, Some("")),
        (&[u64::MAX], 65, None),
    ] {
        assert_eq!(affinity(mask, nr_cpus).as_deref(), expected, "{mask:x?}");
    }
}
