// SPDX-License-Identifier: GPL-2.0-only
//! Draws the figures of docs/results/policies from the model: for each feature a sweep over load, with the
//! rules that answered, base beside feature, above what came of it.

use std::error::Error;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_compare::compare::Series;
use alight_compare::{Comparison, Question, Spread, compare, simulate};
use alight_machine::load;
use alight_policy::{STEPS, Scheduler};
use alight_sim::Scenario;
use alight_workload::{Mode, Workload};
use plotters::coord::Shift;
use plotters::prelude::*;

/// What drawing comes to.
pub type Done = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One figure.
struct Drawing {
    /// The feature's page has its name.
    name: &'static str,
    title: &'static str,
    machine: &'static str,
    schedulers: &'static [&'static str],
    /// What grows to the right.
    x: &'static str,
    values: &'static [u32],
    load: fn(u32) -> String,
    duration_ms: Option<u64>,
    /// Two numbers, and what to call them.
    numbers: [(&'static str, &'static str); 2],
}

const FIGURES: [Drawing; 5] = [
    Drawing {
        name: "asym-capacity",
        title: "sysbench threads on juno-r0: 4 little CPUs, 2 big ones",
        machine: "juno-r0",
        schedulers: &["linux-5.5", "linux-5.5+asym-capacity"],
        x: "threads",
        values: &[1, 2, 3, 4, 5, 6, 7, 8, 10, 12],
        load: |n| format!("sysbench threads --threads={n} --events=300 --time=0 run"),
        duration_ms: None,
        numbers: [
            ("elapsed_s", "300 events, s"),
            ("looked_at_per_wakeup", "CPUs looked at, a wakeup"),
        ],
    },
    Drawing {
        name: "sched-idle",
        title: "eight tasks of 2 ms each 8 ms beside SCHED_IDLE hogs on hikey620, 8 CPUs",
        machine: "hikey620",
        schedulers: &["linux-5.4", "linux-5.4+sched-idle"],
        x: "SCHED_IDLE hogs, each on a CPU of its own",
        values: &[0, 1, 2, 3, 4, 5, 6, 7, 8],
        load: spare_time,
        duration_ms: Some(2000),
        numbers: [
            (
                "worker_wakeup_latency_us",
                "wakeup latency of the eight, mean, us",
            ),
            ("looked_at_per_wakeup", "CPUs looked at, a wakeup"),
        ],
    },
    Drawing {
        name: "bias-prev",
        title: "hackbench with threads and pipes on epyc-9654-2s, 384 CPUs",
        machine: "epyc-9654-2s",
        schedulers: &["linux-6.5", "linux-6.5+bias-prev"],
        x: "groups of 40 threads",
        values: &[1, 2, 4, 6, 8, 12, 16, 24, 32],
        load: |n| format!("hackbench -g {n} -l 40 --threads --pipe"),
        duration_ms: None,
        numbers: [("elapsed_s", "time, s"), ("cpu_migrations", "migrations")],
    },
    Drawing {
        name: "pack",
        title: "tasks of 0.8 ms each 40 ms on tc2: CPU 0-1 big, 2-4 little",
        machine: "tc2",
        schedulers: &["linux-3.9", "linux-3.9+pack", "linux-3.9+pack=full"],
        x: "tasks",
        values: &[1, 2, 4, 6, 8, 12, 16, 24, 32],
        load: light,
        duration_ms: Some(2000),
        numbers: [
            ("energy_j", "energy in 2 s, unit of the board"),
            ("run_delay_p99_us", "wakeup latency, 99 %, us"),
        ],
    },
    Drawing {
        name: "uclamp-sum",
        title: "hogs capped at 150 of 1024 on juno-r2: 4 little CPUs of 383, 2 big ones",
        machine: "juno-r2",
        schedulers: &["linux-6.5", "linux-6.5+uclamp-sum"],
        x: "hogs",
        values: &[1, 2, 3, 4, 5, 6, 8, 10, 12],
        load: capped,
        duration_ms: Some(2000),
        numbers: [
            ("power_w", "power, W"),
            ("capped_loops", "pieces of work done in 2 s"),
        ],
    },
];

fn spare_time(hogs: u32) -> String {
    let hogs: String = (0..hogs)
        .map(|cpu| {
            format!(r#""hog{cpu}": {{ "cpus": [{cpu}], "policy": "SCHED_IDLE", "run": 1000 }},"#)
        })
        .collect();
    format!(
        r#"{{ "tasks": {{ {hogs}
            "worker": {{ "instance": 8, "run": 2000, "timer": {{ "ref": "unique", "period": 8000 }} }} }},
            "global": {{ "duration": 2, "calibration": "CPU0" }} }}"#
    )
}

fn light(tasks: u32) -> String {
    let task = |i| {
        let delay = 40_000 * i / tasks;
        format!(
            r#""light{i}": {{ "delay": {delay}, "run": 800, "timer": {{ "ref": "unique", "period": 40000 }} }}"#
        )
    };
    let all: Vec<String> = (0..tasks).map(task).collect();
    format!(
        r#"{{ "tasks": {{ {} }}, "global": {{ "duration": 2, "calibration": "CPU0" }} }}"#,
        all.join(",")
    )
}

fn capped(hogs: u32) -> String {
    format!(
        r#"{{ "tasks": {{ "capped": {{ "instance": {hogs}, "util_max": 150, "run": 2000, "sleep": 100 }} }},
            "global": {{ "duration": 2, "calibration": "CPU0" }} }}"#
    )
}

/// Runs of each scheduler at each load.
const RUNS: NonZeroU32 = NonZeroU32::new(5).expect("not zero");

/// Draws all of them into this folder, which is made if it is not there.
///
/// # Errors
/// A run that fails; a file that cannot be written.
pub fn write(folder: &Path) -> Done {
    std::fs::create_dir_all(folder)?;
    for figure in &FIGURES {
        let path = folder.join(format!("{}.svg", figure.name));
        figure.draw(&path, &figure.sweep()?)?;
    }
    Ok(())
}

impl Drawing {
    /// A comparison at each load.
    fn sweep(&self) -> Result<Vec<Comparison>, Box<dyn Error>> {
        let sheet = load(self.machine)?;
        let (machine, trust) = (&sheet.machine, &sheet.trust());
        let mut schedulers = vec![];
        for name in self.schedulers {
            schedulers.push(Scheduler::parse(name)?);
        }
        let at = |&value: &u32| {
            let text = (self.load)(value);
            let loaded = match text.starts_with('{') {
                true => Workload::from_rtapp(self.name, &text, Mode::default())?,
                false => Workload::from_command_line(&text)?,
            };
            let workloads = [loaded.workload];
            let question = Question {
                scenario: Scenario {
                    duration_ns: self.duration_ms.map(|ms| ms * 1_000_000),
                    ..Scenario::new(machine, &workloads, &schedulers[0])
                },
                trust,
                schedulers: &schedulers,
                runs: RUNS,
                command: String::new(),
            };
            Ok(compare(
                &question,
                &simulate,
                Spread::QUIET,
                &AtomicBool::new(false),
            )?)
        };
        self.values.iter().map(at).collect()
    }

    fn draw(&self, path: &Path, sweep: &[Comparison]) -> Done {
        let root = SVGBackend::new(path, (1000, 720)).into_drawing_area();
        root.fill(&WHITE)?;
        let root = root.titled(self.title, ("sans-serif", 22))?;
        let (top, bottom) = root.split_vertically(360);
        let (panels, legend) = top.split_horizontally(840);
        let shown = steps_worth_showing(sweep);
        for (index, panel) in panels
            .split_evenly((1, self.schedulers.len()))
            .iter()
            .enumerate()
        {
            self.shares(panel, index, sweep, &shown)?;
        }
        key(&legend, &shown)?;
        for (panel, number) in bottom.split_evenly((1, 2)).iter().zip(&self.numbers) {
            self.lines(panel, *number, sweep)?;
        }
        root.present()?;
        Ok(())
    }

    /// Which step answered, of all decisions of a scheduler, at each load.
    fn shares(
        &self,
        panel: &Area<'_>,
        index: usize,
        sweep: &[Comparison],
        shown: &[usize],
    ) -> Done {
        let count = self.values.len() as i32;
        let mut chart = ChartBuilder::on(panel)
            .caption(self.schedulers[index], ("sans-serif", 17))
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(if index == 0 { 48 } else { 12 })
            .build_cartesian_2d((0..count - 1).into_segmented(), 0..100i32)?;
        let label = |x: &SegmentValue<i32>| match x {
            SegmentValue::CenterOf(i) => {
                let value = self.values.get(*i as usize);
                value.map_or(String::new(), u32::to_string)
            }
            _ => String::new(),
        };
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(self.values.len())
            .x_label_formatter(&label)
            .x_desc(self.x)
            .label_style(("sans-serif", 13));
        if index == 0 {
            mesh.y_desc("decisions, %");
        } else {
            mesh.y_label_formatter(&|_| String::new());
        }
        mesh.draw()?;
        let bars = sweep.iter().zip(0i32..).flat_map(|(comparison, x)| {
            let mut below = 0.0;
            stack(&comparison.variants[index].steps, shown)
                .into_iter()
                .map(move |(share, colour)| {
                    let bottom = below;
                    below += share;
                    let ends = [
                        (SegmentValue::Exact(x), f64::round(bottom) as i32),
                        (SegmentValue::Exact(x + 1), f64::round(below) as i32),
                    ];
                    let mut bar = Rectangle::new(ends, colour.filled());
                    bar.set_margin(0, 0, 2, 2);
                    bar
                })
                .collect::<Vec<_>>()
        });
        chart.draw_series(bars)?;
        Ok(())
    }

    /// One number of all schedulers: means, and the range of the runs.
    fn lines(&self, panel: &Area<'_>, (name, label): (&str, &str), sweep: &[Comparison]) -> Done {
        let series = |comparison: &Comparison, index: usize| -> Option<Series> {
            comparison.variants[index].series(name).cloned()
        };
        let each = |index: usize| {
            let points = sweep.iter().zip(self.values);
            points.filter_map(move |(comparison, &x)| {
                Some((f64::from(x), series(comparison, index)?.summary))
            })
        };
        let all = (0..self.schedulers.len()).flat_map(each);
        let most = all.map(|(_, summary)| summary.max).fold(0.0, f64::max);
        let ends = (self.values[0], self.values[self.values.len() - 1]);
        let mut chart = ChartBuilder::on(panel)
            .caption(label, ("sans-serif", 17))
            .margin(8)
            .margin_right(20)
            .x_label_area_size(36)
            .y_label_area_size(60)
            .build_cartesian_2d(f64::from(ends.0)..f64::from(ends.1), 0.0..most * 1.35)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(9)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| short(*y))
            .y_labels(6)
            .x_desc(self.x)
            .label_style(("sans-serif", 13))
            .draw()?;
        for (index, scheduler) in self.schedulers.iter().enumerate() {
            let colour = LINES[index];
            let low = each(index).map(|(x, summary)| (x, summary.min));
            let high = each(index).map(|(x, summary)| (x, summary.max));
            let back: Vec<(f64, f64)> = high.collect::<Vec<_>>().into_iter().rev().collect();
            let band: Vec<(f64, f64)> = low.chain(back).collect();
            chart.draw_series([Polygon::new(band, colour.mix(0.15))])?;
            let means: Vec<(f64, f64)> =
                each(index).map(|(x, summary)| (x, summary.mean)).collect();
            chart
                .draw_series(LineSeries::new(means.clone(), colour.stroke_width(2)))?
                .label(*scheduler)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
                });
            chart.draw_series(means.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .label_font(("sans-serif", 14))
            .draw()?;
        Ok(())
    }
}

/// A number without decimals that say nothing.
fn short(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    rounded.to_string()
}

/// Colours of lines that the colour-blind can tell apart (Okabe and Ito): black, vermilion, blue.
const LINES: [RGBColor; 3] = [
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
];

/// Colours of steps: theirs, and lighter ones.
const FILLS: [RGBColor; 11] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(240, 228, 66),
    RGBColor(110, 80, 160),
    RGBColor(160, 210, 160),
    RGBColor(130, 90, 60),
    RGBColor(250, 190, 190),
];
/// All other steps.
const OTHERS: RGBColor = RGBColor(200, 200, 200);

/// Steps that give at least a fiftieth of the answers somewhere.
fn steps_worth_showing(sweep: &[Comparison]) -> Vec<usize> {
    let variants = || sweep.iter().flat_map(|comparison| &comparison.variants);
    let mut steps: Vec<(usize, f64)> = (0..STEPS.len())
        .map(|step| {
            let shares = variants().map(|variant| share(&variant.steps, step));
            (step, shares.fold(0.0, f64::max))
        })
        .filter(|(_, most)| *most >= 2.0)
        .collect();
    steps.sort_by(|a, b| b.1.total_cmp(&a.1));
    steps.truncate(FILLS.len());
    let mut steps: Vec<usize> = steps.into_iter().map(|(step, _)| step).collect();
    steps.sort_unstable();
    steps
}

fn share(steps: &[f64], step: usize) -> f64 {
    let all: f64 = steps.iter().sum();
    if all > 0.0 {
        100.0 * steps[step] / all
    } else {
        0.0
    }
}

/// Shares with their colours, from below; the last are all others.
fn stack(steps: &[f64], shown: &[usize]) -> Vec<(f64, RGBColor)> {
    let colours = shown.iter().zip(FILLS);
    let mut stack: Vec<(f64, RGBColor)> = colours
        .map(|(&step, colour)| (share(steps, step), colour))
        .collect();
    let rest = 100.0 - stack.iter().map(|(share, _)| share).sum::<f64>();
    stack.push((rest.max(0.0), OTHERS));
    stack
}

/// Which colour is which step, in the order of the bars.
fn key(area: &Area<'_>, shown: &[usize]) -> Done {
    let named = shown
        .iter()
        .zip(FILLS)
        .map(|(&step, colour)| (STEPS[step].0, colour));
    let all = named.chain([("others", OTHERS)]).collect::<Vec<_>>();
    area.draw(&Text::new(
        "step that answered",
        (0, 14),
        ("sans-serif", 14),
    ))?;
    for (row, (name, colour)) in all.into_iter().rev().enumerate() {
        let y = 44 + 22 * row as i32;
        area.draw(&Rectangle::new([(0, y), (14, y + 14)], colour.filled()))?;
        area.draw(&Text::new(name, (20, y), ("sans-serif", 14)))?;
    }
    Ok(())
}
