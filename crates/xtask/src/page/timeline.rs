// SPDX-License-Identifier: GPL-2.0-only
//! Made-up runs of a timeline.

use alight_html::timeline::{Clock, Column, Idle, Lane, Mark, NONE, Run, Slice, Timeline};

use super::Draw;

/// How many tasks.
const TASKS: u64 = 40;

/// Two runs of so many slices on so many CPUs. Each slice begins with a wakeup.
pub(super) fn timeline(slices: usize, cpus: usize) -> Timeline {
    let names = |from: u64, name: &'static str| (from..).map(move |n| format!("{name}-{n}"));
    let tasks = names(1, "hackbench").take(TASKS as usize - 2);
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    Timeline {
        start_ns: 0,
        cpus: names(0, "CPU")
            .take(cpus)
            .map(|name| name.replace('-', " "))
            .collect(),
        tasks: tasks
            .chain([
                "kworker/0:1".into(),
                "<b>a task & its long name, which is cut</b>".into(),
            ])
            .collect(),
        idle_states: words("WFI cpu-sleep cluster-sleep"),
        columns: vec![
            Column::Word {
                label: "step".into(),
                words: words("prev idle-core idle-sibling waker slow"),
            },
            Column::Cpu {
                label: "previous CPU".into(),
            },
            Column::Cpu {
                label: "CPU of the base".into(),
            },
            Column::Number {
                label: "looked at".into(),
                unit: "CPUs".into(),
            },
            Column::Word {
                label: "idle".into(),
                words: words("no yes"),
            },
            Column::Nanoseconds {
                label: "cost of the search".into(),
            },
        ],
        runs: super::NAMES
            .into_iter()
            .enumerate()
            .map(|(at, name)| run(name, slices / cpus, cpus, at as u64 + 1))
            .collect(),
    }
}

/// A run of so many slices a CPU.
fn run(name: &str, slices: usize, cpus: usize, seed: u64) -> Run {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut run = Run {
        name: name.to_owned(),
        ..Run::default()
    };
    for cpu in 0..cpus {
        let slices = if is_used(cpu, cpus) { slices } else { 0 };
        let lane = lane(&mut draw, slices);
        for slice in &lane.slices {
            run.marks.push(mark(&mut draw, slice, [cpu, cpus]));
        }
        run.end_ns = run
            .end_ns
            .max(lane.slices.last().map_or(0, |slice| slice.end_ns));
        run.cpus.push(lane);
    }
    run
}

/// Slices behind each other after a switch of 1.5 µs, or after an idle period.
fn lane(draw: &mut Draw, slices: usize) -> Lane {
    let mut lane = Lane::default();
    let mut now = draw.below(100_000);
    for _ in 0..slices {
        if draw.below(5) < 2 {
            let length = draw.long_tailed(2_000);
            let state = if length < 20_000 {
                0
            } else if length < 300_000 {
                1
            } else {
                2
            };
            lane.idle.push(Idle {
                start_ns: now,
                end_ns: now + length,
                state,
            });
            now += length;
        }
        if draw.below(50) == 0 {
            let khz = [408_000, 816_000, 1_200_000, 1_800_000][draw.below(4) as usize];
            lane.clocks.push(Clock { at_ns: now, khz });
        }
        now += 1_500;
        let end_ns = now + draw.long_tailed(1_000);
        lane.slices.push(Slice {
            start_ns: now,
            end_ns,
            task: draw.below(TASKS) as u32,
        });
        now = end_ns;
    }
    lane
}

/// Of many CPUs, one in eight is not used.
fn is_used(cpu: usize, cpus: usize) -> bool {
    cpus <= 64 || cpu % 8 != 7
}

/// A CPU that is used.
fn any_cpu(draw: &mut Draw, cpus: usize) -> u32 {
    let cpu = draw.below(cpus as u64) as usize;
    let used = if is_used(cpu, cpus) { cpu } else { cpu - 1 };
    used as u32
}

/// The wakeup that this slice begins with; one in 20 chose another CPU.
fn mark(draw: &mut Draw, slice: &Slice, [cpu, cpus]: [usize; 2]) -> Mark {
    let queued = if draw.below(3) == 0 {
        draw.long_tailed(500)
    } else {
        2_700
    };
    let chosen = if draw.below(20) == 0 {
        any_cpu(draw, cpus)
    } else {
        cpu as u32
    };
    let previous = if draw.below(4) == 0 {
        any_cpu(draw, cpus)
    } else {
        cpu as u32
    };
    let base = match draw.below(10) {
        0 => any_cpu(draw, cpus),
        1 => NONE,
        _ => chosen,
    };
    let step = if previous == chosen {
        0
    } else {
        1 + draw.below(4) as u32
    };
    let looked_at = if step == 0 { 1 } else { draw.below(8) as u32 };
    Mark {
        at_ns: slice.start_ns.saturating_sub(queued),
        cpu: chosen,
        task: slice.task,
        values: vec![
            step,
            previous,
            base,
            looked_at,
            u32::from(queued == 2_700),
            180 + 45 * looked_at,
        ],
    }
}
