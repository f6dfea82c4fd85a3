// SPDX-License-Identifier: GPL-2.0-only
//! Two tasks of a workload on two CPUs, told event by event: what the figures say of them.

use super::*;

const NOBODY: u32 = IDLE.pid;
const MAIN: u32 = 10;
const A: u32 = 11;
const B: u32 = 12;
const OTHER: u32 = 99;

fn task(pid: u32) -> TaskRef {
    let prio = if pid == B { 125 } else { 120 };
    TaskRef { pid, prio }
}

/// Events at us, on a CPU.
struct Story(Gathered);

impl Story {
    /// The workload's tasks are there and wait; the window begins at 0.
    fn begin() -> Self {
        let mut story = Story(Gathered::default());
        story.tell(
            0,
            0,
            Event::Fork {
                parent: task(1),
                child: task(MAIN),
            },
        );
        for child in [A, B] {
            story.tell(
                0,
                0,
                Event::Fork {
                    parent: task(MAIN),
                    child: task(child),
                },
            );
            story.tell(
                0,
                0,
                Event::WakeupNew {
                    task: task(child),
                    target_cpu: 0,
                },
            );
        }
        story
    }

    fn tell(&mut self, us: u64, cpu: u32, event: Event<'_>) {
        self.0
            .event(us * 1000, cpu, event)
            .expect("nothing is written");
    }

    fn switch(&mut self, us: u64, cpu: u32, prev: u32, prev_state: PrevState, next: u32) {
        let (prev, next) = (task(prev), task(next));
        self.tell(
            us,
            cpu,
            Event::Switch {
                prev,
                prev_state,
                next,
            },
        );
    }

    /// The CPU `waker` wakes `pid`, which was on `prev`, to `cpu`.
    fn wake(&mut self, us: u64, waker: u32, pid: u32, prev: u32, cpu: u32) {
        let task = task(pid);
        self.tell(
            us,
            waker,
            Event::Waking {
                task,
                target_cpu: prev,
            },
        );
        if prev != cpu {
            let event = Event::Migrate {
                task,
                orig_cpu: prev,
                dest_cpu: cpu,
            };
            self.tell(us, waker, event);
        }
        self.tell(
            us,
            waker,
            Event::Wakeup {
                task,
                target_cpu: cpu,
            },
        );
    }

    /// The first task ends at `us`.
    fn end(mut self, us: u64, root: Option<u32>) -> BTreeMap<String, f64> {
        self.tell(us, 0, Event::Exit { task: task(A) });
        let (window, figures) = self.0.measure(root, 2).expect("a window");
        assert_eq!((window.from, window.to), (0, us * 1000));
        let name = |(rule, of): (usize, Option<i32>)| match of {
            None => RULES[rule].name.to_owned(),
            Some(of) => format!("{}_{of}", RULES[rule].name),
        };
        figures
            .into_iter()
            .map(|(key, figure)| (name(key), figure.value))
            .collect()
    }
}

#[test]
fn who_ran_where_and_for_how_long() {
    let mut story = Story::begin();
    story.switch(0, 0, NOBODY, PrevState::Running, A);
    story.switch(100, 0, A, PrevState::Preempted, B);
    story.switch(200, 0, B, PrevState::Sleeping, A);
    // Another process is not the workload's, and keeps CPU 1 busy when B is woken to it.
    story.switch(210, 1, NOBODY, PrevState::Running, OTHER);
    story.wake(220, 0, B, 0, 1);
    story.switch(250, 1, OTHER, PrevState::Sleeping, B);
    story.switch(450, 1, B, PrevState::Sleeping, NOBODY);
    // To where it was, which is idle.
    story.wake(500, 0, B, 1, 1);
    story.switch(510, 1, NOBODY, PrevState::Running, B);
    let figures = story.end(1000, Some(MAIN));
    for (name, value) in [
        ("elapsed_s", 0.001),
        ("context_switches_per_s", 6000.0),
        ("wakeups_per_s", 2000.0),
        ("migrations_per_s", 1000.0),
        // Three whole slices: A 100 us, preempted, B 100 us and 200 us.
        ("still_runnable_percent", 100.0 / 3.0),
        ("slice_p50_us", 100.0),
        ("slice_p95_us", 200.0),
        ("wakeups_to_previous_percent", 50.0),
        ("wakeups_to_waker_percent", 0.0),
        ("wakeups_to_other_percent", 50.0),
        ("wakeups_to_idle_percent", 50.0),
        ("wakeup_latency_p50_us", 10.0),
        ("wakeup_latency_p95_us", 30.0),
        // A: born, and preempted for 100 us; B: born, and two wakeups.
        ("run_delay_p50_us", 30.0),
        ("run_delay_p95_us", 100.0),
        // CPU 0 is busy to the end, CPU 1 for 200 us and the last 490.
        ("residency_percent_of_cpu_1", 100.0),
        ("residency_percent_of_cpu_2", 69.0),
        // A has nice 0, B 5: 900 us of 1690.
        ("cpu_share_percent_of_nice_0", 100.0 * 900.0 / 1690.0),
        ("cpu_share_percent_of_nice_5", 100.0 * 790.0 / 1690.0),
    ] {
        let found = figures
            .get(name)
            .unwrap_or_else(|| panic!("no {name} in {figures:?}"));
        assert!((found - value).abs() < 1e-9, "{name}: {found}, not {value}");
    }
}

#[test]
fn a_task_woken_before_it_sleeps_waits_for_nobody() {
    let mut story = Story::begin();
    story.switch(0, 0, NOBODY, PrevState::Running, A);
    story.wake(50, 1, A, 0, 0);
    story.switch(100, 0, A, PrevState::Preempted, B);
    let figures = story.end(200, Some(MAIN));
    assert_eq!(figures["wakeups_per_s"], 0.0);
    assert!(
        !figures.contains_key("wakeup_latency_p50_us"),
        "{figures:?}"
    );
}

#[test]
fn without_a_first_task_all_that_were_born_count() {
    let mut story = Story::begin();
    story.switch(0, 0, NOBODY, PrevState::Running, A);
    story.switch(5, 0, A, PrevState::Sleeping, NOBODY);
    let figures = story.end(10, None);
    assert_eq!(figures["residency_percent_of_cpu_1"], 50.0);
}

#[test]
fn a_workload_that_is_never_whole_has_no_figures() {
    let mut story = Story::begin();
    story.tell(1, 0, Event::Exit { task: task(A) });
    story.tell(
        2,
        0,
        Event::WakeupNew {
            task: task(B),
            target_cpu: 0,
        },
    );
    let nothing = story.0.measure(Some(MAIN), 2).expect_err("never whole");
    assert_eq!(nothing, Nothing::NeverWhole);
    let nothing = Gathered::default().measure(None, 2).expect_err("nothing");
    assert_eq!(nothing, Nothing::NoTask);
}
