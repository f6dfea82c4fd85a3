// SPDX-License-Identifier: GPL-2.0-only
//! What every feature is asked: the standard set of workloads, each with the numbers that judge it.

use alight_workload::program::Better::{self, Higher, Lower};
use alight_workload::{Error, Mode, Workload};

/// From so many CPUs on a machine is a server.
const SERVER: usize = 64;

/// One workload of the set.
pub struct StandardWorkload {
    /// As typed after `--workload`.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// What runs at once on a machine of so many CPUs, as typed after `-w`; none: it is not
    /// asked of such a machine.
    pub commands: fn(cpus: usize) -> Vec<String>,
    /// End of a run, ms; `None`: when the work is done.
    pub duration_ms: Option<u64>,
    /// Metrics that can be harmed or helped, the one that matters most first.
    pub judged: &'static [(&'static str, Better)],
    /// Metrics whose change is neither good nor bad here by itself.
    pub shown: &'static [&'static str],
}

const ENERGY: (&str, Better) = ("energy_j", Lower);
const MEAN: (&str, Better) = ("run_delay_mean_us", Lower);
const TAIL: (&str, Better) = ("run_delay_p99_us", Lower);
const MOVES: &[&str] = &["cpu_migrations"];
/// Where a run does as much as it can in its time: who does more may use more.
const MOVES_AND_ENERGY: &[&str] = &["cpu_migrations", "energy_j"];

/// The set, in the order of reports: from nothing to do to too much to do.
pub const WORKLOADS: &[StandardWorkload] = &[
    StandardWorkload {
        name: "idle",
        about: "a thread that only wakes, each 100 ms, and its main thread, each 10 ms",
        commands: |_| one("cyclictest -q -t 1 -i 100000 -D 2"),
        duration_ms: None,
        judged: &[("wakeup_latency_us", Lower), ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "light",
        about: "eight tasks of 0.8 ms each 40 ms; a server: a thread for two CPUs that only wakes, each 10 ms",
        commands: |cpus| match cpus {
            SERVER.. => one(&format!(
                "cyclictest -q -t {} -i 10000 -d 77 -D 1",
                cpus / 2
            )),
            _ => one("workloads/light-tasks.json"),
        },
        duration_ms: Some(2000),
        judged: &[TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "phone",
        about: "a busy periodic task, two medium ones, eight small ones",
        commands: |_| one("workloads/periodic-mix.json"),
        duration_ms: Some(2000),
        judged: &[("busy_wakeup_latency_p99_us", Lower), TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "frames",
        about: "scrolling: UI, render thread and compositor at 60 Hz, background tasks",
        commands: |_| one("frames --duration 3"),
        duration_ms: None,
        judged: &[
            ("jank_percent", Lower),
            ("frame_time_p50_us", Lower),
            ("frame_time_p99_us", Lower),
            TAIL,
            ENERGY,
        ],
        shown: MOVES,
    },
    StandardWorkload {
        name: "pipe",
        about: "two tasks that hand a byte to and fro over pipes",
        commands: |_| one("perf bench sched pipe -l 2000"),
        duration_ms: None,
        judged: &[("elapsed_s", Lower), TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "futex",
        about: "two tasks that hand a turn to and fro over semaphores",
        commands: |_| one("workloads/card/ping-pong.json"),
        duration_ms: None,
        judged: &[("ping_loops", Higher), TAIL, MEAN],
        shown: MOVES_AND_ENERGY,
    },
    StandardWorkload {
        name: "handover",
        about: "a producer and three consumers around a mutex and a condition",
        commands: |_| one("workloads/lock-handover.json"),
        duration_ms: Some(2000),
        judged: &[("consumer_loops", Higher), TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "mutexes",
        about: "sysbench threads, one a CPU: eight mutexes and yields",
        // Yields of as many threads as a server has CPUs take too long to simulate.
        commands: |cpus| match cpus {
            SERVER.. => vec![],
            _ => one(&format!(
                "sysbench threads --threads={cpus} --events=1000 --time=0 run"
            )),
        },
        duration_ms: None,
        judged: &[("elapsed_s", Lower), TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "hackbench",
        about: "processes and sockets, 40 tasks a group; a group for twelve CPUs",
        commands: |cpus| one(&hackbench(cpus)),
        duration_ms: None,
        judged: &[("elapsed_s", Lower), TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "hackbench-pipe",
        about: "the same with threads and pipes",
        commands: |cpus| one(&format!("{} --threads --pipe", hackbench(cpus))),
        duration_ms: None,
        judged: &[("elapsed_s", Lower), TAIL, MEAN, ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "schbench-under",
        about: "requests of 3 ms, a worker for two CPUs",
        commands: |cpus| one(&format!("schbench -t {} -n 1 -r 1", cpus / 2)),
        duration_ms: None,
        judged: SCHBENCH,
        shown: MOVES_AND_ENERGY,
    },
    StandardWorkload {
        name: "schbench-over",
        about: "the same, two workers a CPU",
        commands: |cpus| one(&format!("schbench -t {} -n 1 -r 1", cpus * 2)),
        duration_ms: None,
        judged: SCHBENCH,
        shown: MOVES_AND_ENERGY,
    },
    StandardWorkload {
        name: "hogs-under",
        about: "sysbench cpu, a thread for two CPUs, ten events each",
        commands: |cpus| one(&hogs(cpus / 2)),
        duration_ms: None,
        judged: &[("elapsed_s", Lower), ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "hogs-over",
        about: "the same, three threads for two CPUs",
        commands: |cpus| one(&hogs(cpus + cpus / 2)),
        duration_ms: None,
        judged: &[("elapsed_s", Lower), ENERGY],
        shown: MOVES,
    },
    StandardWorkload {
        name: "spare-time",
        about: "SCHED_IDLE hogs on half of the CPUs, beside normal tasks of 0.5 ms each 8 ms",
        commands: |cpus| match cpus {
            SERVER.. => one("workloads/card/spare-time-server.json"),
            _ => one("workloads/card/spare-time.json"),
        },
        duration_ms: None,
        judged: &[
            ("worker_wakeup_latency_p99_us", Lower),
            ("worker_wakeup_latency_us", Lower),
            ("hog_loops", Higher),
        ],
        shown: MOVES_AND_ENERGY,
    },
    StandardWorkload {
        name: "mixed",
        about: "a user's tasks, batch work at nice 10, and SCHED_IDLE hogs everywhere",
        commands: |cpus| match cpus {
            SERVER.. => vec![],
            _ => one("workloads/card/mixed.json"),
        },
        duration_ms: None,
        judged: &[
            ("user_wakeup_latency_p99_us", Lower),
            ("user_wakeup_latency_us", Lower),
            ("batch_loops", Higher),
            ("background_loops", Higher),
        ],
        shown: MOVES_AND_ENERGY,
    },
    StandardWorkload {
        name: "capped",
        about: "four hogs that may count as 150 of 1024, beside small tasks",
        commands: |_| one("workloads/card/capped.json"),
        duration_ms: None,
        judged: &[
            ("capped_loops", Higher),
            ("small_wakeup_latency_p99_us", Lower),
            ("small_wakeup_latency_us", Lower),
            ENERGY,
        ],
        shown: MOVES,
    },
    StandardWorkload {
        name: "boosted",
        about: "a chain of two tasks that ask for half a CPU, beside plain ones",
        commands: |_| one("workloads/card/boosted.json"),
        duration_ms: None,
        judged: &[
            ("second_loops", Higher),
            ("first_wakeup_latency_p99_us", Lower),
            TAIL,
            ENERGY,
        ],
        shown: MOVES,
    },
    StandardWorkload {
        name: "frames-boosted",
        about: "scrolling with a lower clamp of 512 on UI and render thread",
        commands: |_| one("frames --duration 3 --util-min 512"),
        duration_ms: None,
        judged: &[
            ("jank_percent", Lower),
            ("frame_time_p50_us", Lower),
            ("frame_time_p99_us", Lower),
            TAIL,
            ENERGY,
        ],
        shown: MOVES,
    },
];

const SCHBENCH: &[(&str, Better)] = &[
    ("wakeup_latency_p99_us", Lower),
    ("wakeup_latency_p50_us", Lower),
    ("request_latency_p99_us", Lower),
    ("requests_per_s", Higher),
];

fn one(command: &str) -> Vec<String> {
    vec![command.to_owned()]
}

fn hackbench(cpus: usize) -> String {
    let loops = if cpus < SERVER { 400 } else { 80 };
    format!("hackbench -g {} -l {loops}", (cpus / 12).max(1))
}

fn hogs(threads: usize) -> String {
    format!(
        "sysbench cpu --threads={threads} --events={} --time=0 run",
        threads * 10
    )
}

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../", $path)))),+]
    };
}

/// The rt-app files of the set: a card can be made anywhere.
const FILES: &[(&str, &str)] = files![
    "workloads/light-tasks.json",
    "workloads/periodic-mix.json",
    "workloads/lock-handover.json",
    "workloads/card/ping-pong.json",
    "workloads/card/spare-time.json",
    "workloads/card/spare-time-server.json",
    "workloads/card/mixed.json",
    "workloads/card/capped.json",
    "workloads/card/boosted.json",
];

/// A workload of the set.
///
/// # Errors
/// Those of the workload's own reader.
pub fn load(text: &str) -> Result<Workload, Error> {
    let file = FILES.iter().find(|(path, _)| *path == text);
    let loaded = match file {
        Some((path, content)) => Workload::from_rtapp(path, content, Mode::default())?,
        None => Workload::from_command_line(text)?,
    };
    Ok(loaded.workload)
}
