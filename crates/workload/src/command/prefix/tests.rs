// SPDX-License-Identifier: GPL-2.0-only
//! Prefixes as the real tools read them, and what the tasks behind them begin with.

use crate::program::{Attributes, Policy};
use crate::{Diagnostic, Loaded, Mode, Severity, Site, Workload};

/// Six CPUs on two nodes.
fn site() -> Site {
    Site::new("box", [0, 0, 0, 1, 1, 1])
}

fn load(line: &str) -> Result<Loaded, String> {
    Workload::load_on(line, Mode::default(), &site()).map_err(|error| error.to_string())
}

/// `FIFO 10, nice 5, cpus [0, 1], clamps 100 1024`: what differs from a plain task.
fn spell(a: &Attributes) -> String {
    let mut parts = vec![];
    if let Some(policy) = a.policy {
        let name = match policy {
            Policy::Normal => "OTHER",
            Policy::Batch => "BATCH",
            Policy::Idle => "IDLE",
            Policy::Fifo => "FIFO",
            Policy::RoundRobin => "RR",
            Policy::Deadline => "DEADLINE",
        };
        parts.push(match a.rt_priority {
            Some(priority) => format!("{name} {priority}"),
            None => name.to_owned(),
        });
    }
    if let Some((period, deadline)) = a.dl_period_deadline_ns {
        let runtime = a.slice_ns.unwrap_or(0);
        parts.push(format!(
            "runtime {runtime} deadline {deadline} period {period}"
        ));
    } else if let Some(slice) = a.slice_ns {
        parts.push(format!("slice {slice}"));
    }
    if let Some(nice) = a.nice {
        parts.push(format!("nice {nice}"));
    }
    if let Some(cpus) = &a.affinity {
        parts.push(format!("cpus {cpus:?}"));
    }
    if a.uclamp_min.is_some() || a.uclamp_max.is_some() {
        let (min, max) = (a.uclamp_min.unwrap_or(0), a.uclamp_max.unwrap_or(1024));
        parts.push(format!("clamps {min} {max}"));
    }
    if let Some(group) = &a.group {
        parts.push(format!("in {group}"));
    }
    parts.join(", ")
}

/// The first task's attributes, and behind a bar those of the others where they differ.
fn begins_with(line: &str) -> String {
    let loaded = load(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let mut all: Vec<String> = (loaded.workload.tasks.iter())
        .map(|task| spell(&task.attributes))
        .collect();
    all.dedup();
    all.join(" | ")
}

#[test]
fn a_prefix_says_what_a_command_begins_with() {
    for (line, expected) in [
        ("hackbench -g 1", ""),
        ("taskset 3 hackbench -g 1", "cpus [0, 1]"),
        ("taskset 0x30 hackbench -g 1", "cpus [4, 5]"),
        ("taskset -c 0-4:2,5 hackbench -g 1", "cpus [0, 2, 4, 5]"),
        ("/usr/bin/taskset --cpu-list 1 hackbench -g 1", "cpus [1]"),
        ("taskset -ac 1 hackbench -g 1", "cpus [1]"),
        ("taskset -c 4-9 hackbench -g 1", "cpus [4, 5]"),
        ("chrt 7 hackbench -g 1", "RR 7"),
        ("chrt -f 10 hackbench -g 1", "FIFO 10"),
        ("chrt --rr 99 hackbench -g 1", "RR 99"),
        ("chrt -o 0 hackbench -g 1", "OTHER"),
        ("chrt -b hackbench -g 1", "BATCH"),
        ("chrt -i 0 hackbench -g 1", "IDLE"),
        ("chrt -v -f 1 -- hackbench -g 1", "FIFO 1"),
        ("chrt -o -T 3000000 hackbench -g 1", "OTHER, slice 3000000"),
        (
            "chrt -U 100 -X 900 -b hackbench -g 1",
            "BATCH, clamps 100 900",
        ),
        ("nice hackbench -g 1", "nice 10"),
        ("nice -n 5 hackbench -g 1", "nice 5"),
        ("nice -n5 hackbench -g 1", "nice 5"),
        ("nice -5 hackbench -g 1", "nice 5"),
        ("nice --5 hackbench -g 1", "nice -5"),
        ("nice -+5 hackbench -g 1", "nice 5"),
        ("nice -1 -n 3 hackbench -g 1", "nice 3"),
        ("nice --adjustment=-3 hackbench -g 1", "nice -3"),
        ("nice --adj 3 hackbench -g 1", "nice 3"),
        ("nice -n 30 hackbench -g 1", "nice 19"),
        ("nice -n -99999999999999999999 hackbench -g 1", "nice -20"),
        ("nice -n 4 -- hackbench -g 1", "nice 4"),
        ("nice nice hackbench -g 1", "nice 19"),
        ("nice -n 5 nice -n -2 hackbench -g 1", "nice 3"),
        ("numactl -N 1 hackbench -g 1", "cpus [3, 4, 5]"),
        (
            "numactl --cpunodebind=0-1 hackbench -g 1",
            "cpus [0, 1, 2, 3, 4, 5]",
        ),
        ("numactl -c !0 hackbench -g 1", "cpus [3, 4, 5]"),
        ("numactl -C +1,4 hackbench -g 1", "cpus [1, 4]"),
        (
            "numactl --physcpubind all hackbench -g 1",
            "cpus [0, 1, 2, 3, 4, 5]",
        ),
        ("numactl -m 1 -N same hackbench -g 1", "cpus [3, 4, 5]"),
        ("numactl -l hackbench -g 1", ""),
        ("uclampset -m 100 hackbench -g 1", "clamps 100 1024"),
        ("uclampset -m 0 -M 512 hackbench -g 1", "clamps 0 512"),
        ("uclampset -m -1 -M 300 hackbench -g 1", "clamps 0 300"),
    ] {
        assert_eq!(begins_with(line), expected, "{line}");
    }
}

#[test]
fn prefixes_nest_in_any_order() {
    for (line, expected) in [
        (
            "taskset -c 0-3 chrt -f 10 nice -n 5 hackbench -g 1",
            "FIFO 10, nice 5, cpus [0, 1, 2, 3]",
        ),
        (
            "nice -n 5 chrt -f 10 taskset -c 0-3 hackbench -g 1",
            "FIFO 10, nice 5, cpus [0, 1, 2, 3]",
        ),
        (
            "uclampset -M 300 cgexec -g cpu:bg numactl -N 1 chrt -i 0 hackbench -g 1",
            "IDLE, cpus [3, 4, 5], clamps 0 300, in /bg",
        ),
        // The last word counts.
        ("taskset -c 0-3 taskset -c 5 hackbench -g 1", "cpus [5]"),
        (
            "taskset -c 0-3 numactl -N 1 hackbench -g 1",
            "cpus [3, 4, 5]",
        ),
        // `+` and the range of numactl are those of the CPUs that it may use.
        ("taskset -c 4-5 numactl -C +1 hackbench -g 1", "cpus [5]"),
        ("taskset -c 4-5 numactl -a -C 1 hackbench -g 1", "cpus [1]"),
        ("chrt -f 10 chrt -o 0 hackbench -g 1", "OTHER"),
        ("uclampset -m 500 uclampset -m -1 hackbench -g 1", ""),
    ] {
        assert_eq!(begins_with(line), expected, "{line}");
    }
}

/// `sched_fork()`: without the flag all is inherited; with it policy, nice values below 0, slice and
/// clamps begin anew, and real-time tasks come to nice 0.
#[test]
fn reset_on_fork_keeps_it_from_what_is_forked() {
    for (line, expected) in [
        ("chrt -R -f 10 hackbench -g 1", "FIFO 10 | "),
        (
            "nice -n 5 chrt -R -f 10 hackbench -g 1",
            "FIFO 10, nice 5 | ",
        ),
        (
            "nice -n -5 chrt -R -b hackbench -g 1",
            "BATCH, nice -5 | BATCH",
        ),
        ("nice -n 5 chrt -R -b hackbench -g 1", "BATCH, nice 5"),
        (
            "taskset 3 chrt -R -X 300 -i hackbench -g 1",
            "IDLE, cpus [0, 1], clamps 0 300 | IDLE, cpus [0, 1]",
        ),
        (
            "chrt -d -R -T 5000000 -D 8000000 -P 10000000 0 hackbench -g 1",
            "DEADLINE, runtime 5000000 deadline 8000000 period 10000000 | ",
        ),
        (
            "chrt -dR -P 10000000 hackbench -g 1",
            "DEADLINE, runtime 10000000 deadline 10000000 period 10000000 | ",
        ),
        ("chrt -R -f 10 chrt -f 9 hackbench -g 1", "FIFO 9"),
        (
            "chrt -R -f 10 uclampset -m 9 hackbench -g 1",
            "FIFO 10, clamps 9 1024 | ",
        ),
    ] {
        assert_eq!(begins_with(line), expected, "{line}");
    }
}

/// What a tool sets by itself: cyclictest its threads' policy and CPU, frames its clamps, schbench its
/// workers' CPUs.
#[test]
fn what_the_tool_sets_counts() {
    for (line, expected) in [
        (
            "chrt -f 10 nice -n 5 cyclictest -t 1 -a 2 -q -D 1",
            "FIFO 10, nice 5, cpus [2] | OTHER, nice 5, cpus [2]",
        ),
        (
            "chrt -f 10 cyclictest -t 1 -p 80 -q -D 1",
            "FIFO 10 | FIFO 80",
        ),
        (
            "taskset -c 0 cyclictest -t 2 -q -D 1",
            "cpus [0] | OTHER, cpus [0]",
        ),
        (
            "taskset -c 0 schbench -t 1 -W 2-3 -r 1",
            "cpus [0] | cpus [2, 3]",
        ),
        (
            "uclampset -M 800 frames --util-min 300 --background 0",
            "clamps 0 800 | clamps 300 800 | clamps 0 800",
        ),
    ] {
        assert_eq!(begins_with(line), expected, "{line}");
    }
}

#[test]
fn what_the_real_prefixes_refuse_is_refused_with_its_place() {
    for (line, place, words) in [
        ("taskset", 1, "lacks CPUs and a command"),
        ("taskset -c", 9, "lacks CPUs and a command"),
        ("taskset -c 0", 12, "the line ends here"),
        (
            "taskset -c 9 hackbench",
            12,
            "no such CPU (EINVAL); machine 'box' has CPUs 0 to 5",
        ),
        ("taskset 0 hackbench", 9, "names no CPU (EINVAL)"),
        ("taskset 0x40 hackbench", 9, "no such CPU (EINVAL)"),
        ("taskset -c 3-1 hackbench", 12, "runs backwards"),
        ("taskset 0-3 hackbench", 9, "or -c and a list"),
        ("taskset -p 3 700", 9, "-p changes a task that already runs"),
        ("taskset -x 3 hackbench", 9, "taskset has no option `-x`"),
        ("taskset 3 nothing", 11, "`nothing` is no workload"),
        ("taskset 3 -- hackbench", 11, "`--` is no workload"),
        ("chrt", 1, "the line ends here"),
        ("chrt -f 10", 9, "the line ends here"),
        (
            "chrt -f hackbench",
            9,
            "SCHED_FIFO needs a priority of 1 to 99",
        ),
        (
            "chrt -f 0 hackbench",
            9,
            "priority 0 is out of range for SCHED_FIFO; expected 1 to 99",
        ),
        (
            "chrt 100 hackbench",
            6,
            "priority 100 is out of range for SCHED_RR",
        ),
        (
            "chrt -b 5 hackbench",
            9,
            "priority 5 is out of range for SCHED_BATCH; expected 0",
        ),
        ("chrt -f -5 hackbench", 9, "chrt has no option `-5`"),
        ("chrt -f -T 5 10 hackbench", 9, "-T is for SCHED_DEADLINE"),
        (
            "chrt -o -P 5 0 hackbench",
            9,
            "-P and -D are for SCHED_DEADLINE, not for SCHED_OTHER",
        ),
        ("chrt -dR 0 hackbench", 6, "neither a period nor a deadline"),
        (
            "chrt -dR -T 9 -P 5 hackbench",
            6,
            "runtime 9, deadline 5, period 5",
        ),
        (
            "chrt -dR -T x -P 5 hackbench",
            10,
            "-T is `x`, expected a whole number of ns",
        ),
        (
            "chrt -d -P 10000000 0 hackbench",
            6,
            "but a task of SCHED_DEADLINE may not fork (EAGAIN); add -R",
        ),
        ("chrt -e hackbench", 6, "SCHED_EXT is not modelled"),
        ("chrt -p 10 700", 6, "changes a task that already runs"),
        ("chrt -m", 6, "prints a text"),
        (
            "chrt -U 9 -X 8 -o hackbench",
            11,
            "lower clamp 9 is above the upper one 8",
        ),
        ("nice", 1, "the line ends here"),
        ("nice -n", 6, "-n needs a value"),
        ("nice -n x hackbench", 6, "`x`, which is not a whole number"),
        ("nice -5x hackbench", 6, "`5x`, which is not a whole number"),
        ("nice -q hackbench", 6, "nice has no option `-q`"),
        ("nice --version", 6, "prints a text"),
        (
            "numactl -N 2 hackbench",
            9,
            "node 2 is out of range; there are 0-1",
        ),
        (
            "numactl -C 0-6 hackbench",
            9,
            "CPU 6 is out of range; there are 0-5",
        ),
        (
            "taskset -c 1 numactl -C 0 hackbench",
            22,
            "CPU 0 is out of range; there are 1",
        ),
        (
            "numactl -N same hackbench",
            9,
            "`same` needs nodes before it",
        ),
        ("numactl -m 7 hackbench", 9, "node 7 is out of range"),
        ("numactl -H", 9, "prints a text"),
        (
            "numactl --shm /x hackbench",
            9,
            "shared memory, which is not modelled",
        ),
        ("uclampset hackbench", 1, "uclampset lacks a clamp"),
        (
            "uclampset -m 1025 hackbench",
            11,
            "`1025`, which the kernel refuses (EINVAL)",
        ),
        (
            "uclampset -m -2 hackbench",
            11,
            "`-2`, which the kernel refuses (EINVAL)",
        ),
        (
            "uclampset -m 600 -M 500 hackbench",
            18,
            "lower clamp 600 is above the upper one 500",
        ),
        (
            "uclampset -s -m 5",
            11,
            "use the options --sysctl sched_util_clamp_min=N",
        ),
        (
            "uclampset -a -m 5 hackbench",
            11,
            "changes a task that already runs",
        ),
        (
            "uclampset -p 5 -m 5",
            11,
            "changes a task that already runs",
        ),
        (
            "uclampset -M 200 frames --util-min 300",
            11,
            "util_min 300 above util_max 200",
        ),
        ("sudo chrt -f 1 hackbench", 1, "`sudo` is no workload"),
    ] {
        let error = load(line).map(|_| ()).expect_err(line);
        let expected = format!("command line:1:{place}: ");
        assert!(error.starts_with(&expected), "{line}: {error}");
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn what_is_left_out_is_said() {
    for (line, severity, words) in [
        (
            "numactl -m 0 hackbench",
            Severity::Warning,
            "the placement of memory is not modelled",
        ),
        (
            "numactl --interleave=all hackbench",
            Severity::Warning,
            "--interleave has no effect",
        ),
        (
            "numactl -l hackbench",
            Severity::Warning,
            "-l has no effect",
        ),
        (
            "taskset -c 4-9 hackbench",
            Severity::Note,
            "CPU 6 and above do not exist and are left out",
        ),
        ("nice -n 50 hackbench", Severity::Note, "the kernel uses 19"),
        (
            "uclampset -R -m 5 hackbench",
            Severity::Warning,
            "the kernel ignores uclampset -R",
        ),
        ("chrt -O -o hackbench", Severity::Note, "has no effect"),
    ] {
        let said: Vec<Diagnostic> = load(line).expect(line).diagnostics;
        let found = (said.iter()).any(|d| d.severity == severity && d.message.contains(words));
        assert!(found, "{line}: {said:?}");
    }
}

/// Without a machine plain numbers stay as they are, and the simulator refuses CPUs that are not there.
#[test]
fn what_needs_the_machine_says_so_where_it_is_unknown() {
    let load = |line: &str| Workload::from_command_line(line).map_err(|error| error.to_string());
    let loaded = load("taskset -c 2,9 hackbench -g 1").expect("plain numbers");
    assert_eq!(spell(&loaded.workload.tasks[0].attributes), "cpus [2, 9]");
    let loaded = load("numactl -C 3,1 hackbench -g 1").expect("plain numbers");
    assert_eq!(spell(&loaded.workload.tasks[0].attributes), "cpus [1, 3]");
    for line in [
        "numactl -N 0 hackbench",
        "numactl -C all hackbench",
        "numactl -C !0 hackbench",
    ] {
        let error = load(line).map(|_| ()).expect_err(line);
        assert!(error.contains("the machine"), "{line}: {error}");
    }
}
