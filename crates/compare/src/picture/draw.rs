// SPDX-License-Identifier: GPL-2.0-only
//! Runs over one time, one above the other, with the same axes.

use std::collections::BTreeSet;
use std::error::Error;

use alight_machine::Machine;
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::course::{Course, DEPTHS, KINDS, PIECES, USES};

type Done = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Widths: all, and the column of keys on the right.
const WIDTH: u32 = 1100;
const KEYS: u32 = 170;
/// Heights: the title, a line below it, the line that names a scheduler, a panel of curves, an axis of
/// time.
const TITLE: u32 = 34;
const LINE: u32 = 22;
const NAME: u32 = 26;
const CURVES: u32 = 150;
const AXIS: u32 = 44;
/// Height of a CPU: as much as its label needs, less where there are many.
const CPU: u32 = 24;
const LEAST_CPU: u32 = 4;
/// Height that CPUs share before they become smaller.
const CPUS: u32 = 1000;
/// Height of a line of the keys.
const KEY: i32 = 20;
/// Room for the labels on the left.
const LEFT: u32 = 76;
/// What a row of residency is of: full height is a CPU that is busy all the time, and some room.
const ROW: i32 = 1000;
const FULL: i32 = 860;
/// Shares are drawn in steps of this many thousandths, so that equal ones become one shape.
const STEP: u64 = 50;

/// Colours that the colour-blind can tell apart (Okabe and Ito): of frequency domains.
const DOMAINS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(0, 0, 0),
];
/// Of kinds of task, of all others, and of idle states, the deeper the paler.
const FILLS: [RGBColor; USES] = [
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(240, 228, 66),
    RGBColor(110, 80, 160),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(90, 90, 90),
    RGBColor(160, 160, 160),
    RGBColor(200, 200, 200),
    RGBColor(224, 224, 224),
    RGBColor(242, 242, 242),
];

/// The picture: a title, lines below it, and each run with the name of its scheduler.
///
/// # Errors
/// Of the drawing library.
pub fn draw(
    title: &str,
    below: &[String],
    machine: &Machine,
    runs: &[(&str, Course)],
) -> Result<String, Box<dyn Error>> {
    let cpus = cpu_height(machine) * machine.cpus.len() as u32 + AXIS;
    let keys = runs.iter().map(|(_, course)| idle_end(machine, course));
    let keys = keys.max().unwrap_or(0) as u32;
    let each = NAME + (2 * CURVES + cpus).max(keys);
    let head = TITLE + LINE * below.len() as u32;
    let mut text = String::new();
    {
        let size = (WIDTH, head + runs.len() as u32 * each);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (top, mut rest) = root.split_vertically(head);
        top.draw(&Text::new(title, (12, 10), ("sans-serif", 20)))?;
        for (line, y) in below.iter().zip((TITLE + 2..).step_by(LINE as usize)) {
            top.draw(&Text::new(
                line.as_str(),
                (12, y as i32),
                ("sans-serif", 15),
            ))?;
        }
        for (scheduler, course) in runs {
            let (area, after) = rest.split_vertically(each);
            run(&area, cpus, scheduler, machine, course)?;
            rest = after;
        }
        root.present()?;
    }
    Ok(text)
}

fn cpu_height(machine: &Machine) -> u32 {
    (CPUS / machine.cpus.len() as u32).clamp(LEAST_CPU, CPU)
}

/// One run: its name, three panels, their keys.
fn run(area: &Area<'_>, cpus: u32, scheduler: &str, machine: &Machine, course: &Course) -> Done {
    let (name, panels) = area.split_vertically(NAME);
    name.draw(&Text::new(
        scheduler,
        (LEFT as i32, 6),
        ("sans-serif", 17).into_font().style(FontStyle::Bold),
    ))?;
    let (panels, keys) = panels.split_horizontally(WIDTH - KEYS);
    let (frequency, rest) = panels.split_vertically(CURVES);
    let (utilization, rest) = rest.split_vertically(CURVES);
    let (residency, _) = rest.split_vertically(cpus);
    frequencies(&frequency, machine, course)?;
    utilizations(&utilization, machine, course)?;
    residencies(&residency, machine, course)?;
    key(&keys, machine, course)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Steps of the clock of each domain.
fn frequencies(area: &Area<'_>, machine: &Machine, course: &Course) -> Done {
    let opps = machine.freq_domains.iter().flat_map(|domain| &domain.opps);
    let top = opps.map(|opp| opp.khz).max().unwrap_or(0) / 1000;
    let time = seconds(course.time.start)..seconds(course.time.end);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .y_label_area_size(LEFT - 8)
        .build_cartesian_2d(time, 0..(top + top / 10) as i32)?;
    (chart.configure_mesh())
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .y_labels(5)
        .y_desc("frequency, MHz")
        .label_style(("sans-serif", 13))
        .draw()?;
    for (number, domain) in machine.freq_domains.iter().enumerate() {
        let Some(cpu) = domain.cpus.first() else {
            continue;
        };
        let mut line = vec![];
        let mut last = None;
        for &(at, khz) in &course.cpus[cpu].khz {
            let (x, mhz) = (seconds(at), (khz / 1000) as i32);
            line.extend(last.map(|before| (x, before)));
            line.push((x, mhz));
            last = Some(mhz);
        }
        line.extend(last.map(|mhz| (seconds(course.time.end), mhz)));
        chart.draw_series(LineSeries::new(line, colour(number).stroke_width(2)))?;
    }
    Ok(())
}

/// `util_avg` of each CPU, in the colour of its domain.
fn utilizations(area: &Area<'_>, machine: &Machine, course: &Course) -> Done {
    let time = seconds(course.time.start)..seconds(course.time.end);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .y_label_area_size(LEFT - 8)
        .build_cartesian_2d(
            time,
            (0..1100).with_key_points(vec![0, 256, 512, 768, 1024]),
        )?;
    (chart.configure_mesh())
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .y_desc("util_avg, of 1024")
        .label_style(("sans-serif", 13))
        .draw()?;
    let piece = course.piece_ns();
    for (cpu, known) in machine.cpus.iter().enumerate() {
        let middle = |index: usize| seconds(course.time.start + piece * index as u64 + piece / 2);
        let line = (course.util(cpu).enumerate()).map(|(at, util)| (middle(at), util as i32));
        let colour = colour(known.freq_domain).mix(0.75);
        chart.draw_series(LineSeries::new(line, colour.stroke_width(1)))?;
    }
    Ok(())
}

/// Who ran on each CPU: a row a CPU, as high as it was busy, and above that its idle states.
fn residencies(area: &Area<'_>, machine: &Machine, course: &Course) -> Done {
    let count = machine.cpus.len() as i32;
    let base = |cpu: i32| (count - 1 - cpu) * ROW;
    let time = seconds(course.time.start)..seconds(course.time.end);
    // Where CPUs are small, not each has room for a label.
    let each = CPU.div_ceil(cpu_height(machine)) as usize;
    let middles = (0..count).step_by(each).map(|cpu| base(cpu) + FULL / 2);
    let middles: Vec<i32> = middles.collect();
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(AXIS - 8)
        .y_label_area_size(LEFT - 8)
        .build_cartesian_2d(time, (0..count * ROW).with_key_points(middles))?;
    (chart.configure_mesh())
        .disable_mesh()
        .x_labels(12)
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| format!("CPU {}", count - 1 - y / ROW))
        .x_desc("simulated time, s")
        .label_style(("sans-serif", 13))
        .draw()?;
    let piece = course.piece_ns();
    let at = |index: usize| seconds(course.time.start + piece * index as u64);
    for cpu in 0..machine.cpus.len() {
        let bottom = base(cpu as i32);
        let pieces: Vec<[u64; USES]> = course.shares(cpu).map(stack).collect();
        let mut from = 0;
        for index in 1..=PIECES {
            if index < PIECES && pieces[index] == pieces[from] {
                continue;
            }
            let mut below = 0;
            for (&above, fill) in pieces[from].iter().zip(FILLS) {
                if above > below {
                    let height = |share: u64| bottom + share as i32 * FULL / 1000;
                    let ends = [(at(from), height(below)), (at(index), height(above))];
                    chart.draw_series([Rectangle::new(ends, fill.filled())])?;
                }
                below = above;
            }
            from = index;
        }
        let line = vec![(at(0), bottom), (at(PIECES), bottom)];
        chart.draw_series(LineSeries::new(line, BLACK.mix(0.3).stroke_width(1)))?;
    }
    Ok(())
}

/// Upper ends of the shares, stacked, in whole steps.
fn stack(shares: [u64; USES]) -> [u64; USES] {
    let mut sum = 0;
    shares.map(|share| {
        sum += share;
        (sum + STEP / 2) / STEP * STEP
    })
}

/// What the colours mean, beside the panels that have them.
fn key(area: &Area<'_>, machine: &Machine, course: &Course) -> Done {
    let style = || ("sans-serif", 14);
    area.draw(&Text::new("clock and util_avg", (4, 12), style()))?;
    for (number, domain) in machine.freq_domains.iter().enumerate() {
        let y = 38 + KEY * number as i32;
        let line = vec![(4, y + 6), (22, y + 6)];
        area.draw(&PathElement::new(line, colour(number).stroke_width(3)))?;
        let cluster = (domain.cpus.first()).map(|cpu| machine.cpus[cpu].cluster);
        let name = cluster.map_or("", |cluster| machine.clusters[cluster].name.as_str());
        let name = format!("{name}: CPU {}", domain.cpus);
        area.draw(&Text::new(name, (28, y), style()))?;
    }
    let top = running_top(machine);
    area.draw(&Text::new("running", (4, top + 8), style()))?;
    for (row, (kind, colour)) in course.kinds.iter().zip(FILLS).enumerate() {
        let y = top + 32 + KEY * row as i32;
        area.draw(&Rectangle::new([(4, y), (20, y + 14)], colour.filled()))?;
        area.draw(&Text::new(kind.as_str(), (28, y), style()))?;
    }
    let top = idle_top(machine, course);
    area.draw(&Text::new("idle", (4, top), style()))?;
    for (line, (depth, name)) in idle_states(machine).into_iter().enumerate() {
        let y = top + 24 + KEY * line as i32;
        let fill = FILLS[KINDS + 1 + depth];
        area.draw(&Rectangle::new([(4, y), (20, y + 14)], fill.filled()))?;
        area.draw(&Rectangle::new([(4, y), (20, y + 14)], BLACK.mix(0.3)))?;
        area.draw(&Text::new(name, (28, y), style()))?;
    }
    Ok(())
}

/// Where the keys of tasks begin: beside the CPUs, or below the clocks if these are many.
fn running_top(machine: &Machine) -> i32 {
    (2 * CURVES as i32).max(38 + KEY * machine.freq_domains.len() as i32)
}

/// Where the keys of idle states begin.
fn idle_top(machine: &Machine, course: &Course) -> i32 {
    running_top(machine) + 40 + KEY * course.kinds.len() as i32
}

/// Where the last key ends.
fn idle_end(machine: &Machine, course: &Course) -> i32 {
    idle_top(machine, course) + 32 + KEY * idle_states(machine).len() as i32
}

/// Depth and name of the idle states of all kinds of core, shallow to deep.
fn idle_states(machine: &Machine) -> BTreeSet<(usize, &str)> {
    (machine.core_types.iter())
        .flat_map(|core| core.idle_states.iter().enumerate())
        .map(|(depth, state)| (depth.min(DEPTHS - 1), state.name.as_str()))
        .collect()
}

fn colour(domain: usize) -> RGBColor {
    DOMAINS[domain % DOMAINS.len()]
}

/// A number without decimals that say nothing.
fn short(value: f64) -> String {
    ((value * 1e6).round() / 1e6).to_string()
}
