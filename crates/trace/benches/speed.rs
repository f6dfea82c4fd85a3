// SPDX-License-Identifier: GPL-2.0-only
//! How fast traces are written: events per second of each format, on one core, to a real file.
//!
//! `cargo bench -p alight-trace --bench speed -- [EVENTS] [DIRECTORY]`, by default 6 million events in the system's temporary directory. The events
//! are those of a busy machine (a wakeup is waking, migrate, wakeup; then two switches and an idle exit and entry,
//! and a decision). The ratio is to a plain loop that makes the same events and only adds up their fields: what a
//! machine's speed does to both cancels out.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use alight_trace::{
    CpuInfo, Event, Format, PrevState, Sink, TaskInfo, TaskRef, TraceFile, TraceHeader,
};

const CPUS: u32 = 8;
const TASKS: u32 = 64;
const FIRST_PID: u32 = 1000;
/// Timed runs of each; the fastest counts.
const REPEATS: usize = 3;

/// The loop to compare with: takes events, writes nothing.
struct Sum(u64);

impl Sink for Sum {
    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()> {
        let field = match black_box(event) {
            Event::Switch { next, .. } => next.pid,
            Event::Waking { task, .. }
            | Event::Wakeup { task, .. }
            | Event::Migrate { task, .. } => task.pid,
            Event::Decision { scanned, .. } => scanned,
            _ => 1,
        };
        self.0 = self
            .0
            .wrapping_add(time_ns)
            .wrapping_add(u64::from(cpu ^ field));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds its own.
    let mut arguments = (std::env::args().skip(1)).filter(|argument| argument != "--bench");
    let events: u64 = arguments
        .next()
        .map_or(Ok(6_000_000), |count| count.parse())?;
    let directory = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(directory)?;

    let plain_s = fastest(|| {
        let mut sum = Sum(0);
        generate(events, &mut sum)?;
        black_box(sum.0);
        Ok(())
    })?;
    println!(
        "{:<10} {:>14} {:>12} {:>14} {:>16}",
        "format", "events_per_s", "ns_per_event", "bytes_per_event", "plain_loop_ratio"
    );
    report("plain", events, plain_s, 0, plain_s);
    for (name, format) in [
        ("perfetto", Format::Perfetto),
        ("ftrace", Format::Ftrace),
        ("raw", Format::FtraceRaw),
    ] {
        let path = directory.path().join("trace");
        let seconds = fastest(|| write(&path, format, events))?;
        report(
            name,
            events,
            seconds,
            std::fs::metadata(&path)?.len(),
            plain_s,
        );
    }
    Ok(())
}

fn write(path: &Path, format: Format, events: u64) -> Result<(), Box<dyn Error>> {
    let mut trace = TraceFile::create_as(path, format, &header())?;
    generate(events, &mut trace)?;
    Ok(trace.finish()?)
}

fn fastest(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn report(name: &str, events: u64, seconds: f64, bytes: u64, plain_s: f64) {
    let count = events as f64;
    println!(
        "{name:<10} {:>14.0} {:>12.1} {:>14.1} {:>16.4}",
        count / seconds,
        seconds / count * 1e9,
        bytes as f64 / count,
        plain_s / seconds
    );
}

fn header() -> TraceHeader {
    let cpu = CpuInfo {
        model: String::new(),
        capacity: 1024,
        frequencies_khz: vec![1_000_000],
    };
    let task = |pid| TaskInfo {
        pid,
        tgid: FIRST_PID,
        comm: format!("worker-{pid}"),
        process: "bench".into(),
    };
    TraceHeader {
        machine: "bench".into(),
        cpus: vec![cpu; CPUS as usize],
        tasks: (FIRST_PID..FIRST_PID + TASKS).map(task).collect(),
        ..TraceHeader::default()
    }
}

/// Makes `count` events: rounds of a wakeup on one CPU and the run that follows on the next.
fn generate(count: u64, sink: &mut dyn Sink) -> Result<(), Box<dyn Error>> {
    const IDLE: TaskRef = TaskRef { pid: 0, prio: 120 };
    let (mut made, mut time_ns) = (0, 0);
    'rounds: for round in 0u32.. {
        let task = TaskRef {
            pid: FIRST_PID + round % TASKS,
            prio: 120,
        };
        let (waker, target) = (round % CPUS, (round + 1) % CPUS);
        let run_in = Event::Switch {
            prev: IDLE,
            prev_state: PrevState::Running,
            next: task,
        };
        let run_out = Event::Switch {
            prev: task,
            prev_state: PrevState::Sleeping,
            next: IDLE,
        };
        let decision = Event::Decision {
            task,
            prev_cpu: waker,
            cpu: target,
            step: "idle_core",
            scanned: 4,
        };
        for (cpu, event) in [
            (
                waker,
                Event::Waking {
                    task,
                    target_cpu: waker,
                },
            ),
            (waker, decision),
            (
                waker,
                Event::Migrate {
                    task,
                    orig_cpu: waker,
                    dest_cpu: target,
                },
            ),
            (
                waker,
                Event::Wakeup {
                    task,
                    target_cpu: target,
                },
            ),
            (target, Event::IdleExit),
            (target, run_in),
            (target, run_out),
            (target, Event::IdleEnter { state: 1 }),
        ] {
            if made == count {
                break 'rounds;
            }
            made += 1;
            time_ns += 777;
            sink.event(time_ns, cpu, event)?;
        }
    }
    Ok(())
}
