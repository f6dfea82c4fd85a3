// SPDX-License-Identifier: GPL-2.0-only
//! The picture of the front: for each machine and workload the settings by two objectives, the
//! first beside each other one. SVG; the same answer gives the same bytes.
//!
//! A filled circle is on the front, a pale one by nothing that is certain, an empty one is not, a
//! cross breaks a constraint. Bars are the intervals. With a base both axes are percent of it, and the base is the square at 0.

use std::error::Error;
use std::ops::Range;

use alight_compare::report::number;
use alight_sim::{AtFault, Fault};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::answer::{Answer, Candidate, PlaceAnswer};
use crate::report::short_name;

type Done = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Panel<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

const PANEL: (u32, u32) = (540, 420);
const TITLE: u32 = 56;
const NAME: u32 = 26;
/// Colours that the colour-blind can tell apart (Okabe and Ito).
const FRONT: RGBColor = RGBColor(0, 114, 178);
const OTHER: RGBColor = RGBColor(120, 120, 120);
const BROKEN: RGBColor = RGBColor(213, 94, 0);

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum NoPicture {
    /// One objective has no front.
    #[error("a picture of the front needs two objectives or more, and the sweep has {0}")]
    Objectives(usize),
    /// No setting has two numbers.
    #[error("the sweep has no setting that could be drawn yet")]
    Nothing,
    /// The drawing library failed.
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
}

impl AtFault for NoPicture {
    fn fault(&self) -> Fault {
        match self {
            NoPicture::Objectives(_) | NoPicture::Nothing => Fault::Input,
            // A fault of this program, not of its input.
            NoPicture::Drawing(_) => Fault::Host,
        }
    }
}

/// A setting in a panel.
struct Dot<'a> {
    candidate: &'a Candidate,
    label: String,
    x: Extent,
    y: Extent,
}

/// A value with the ends of its interval.
#[derive(Clone, Copy)]
struct Extent {
    at: f64,
    low: f64,
    high: f64,
}

/// Draws the front of every machine and workload.
///
/// # Errors
/// Fewer than two objectives, nothing to draw, and of drawing.
pub fn draw(answer: &Answer) -> Result<String, NoPicture> {
    let pairs = answer.objectives.len().saturating_sub(1);
    if pairs == 0 {
        return Err(NoPicture::Objectives(answer.objectives.len()));
    }
    let places: Vec<&PlaceAnswer> = (answer.places.iter())
        .filter(|place| (1..=pairs).any(|other| !dots(answer, place, other).is_empty()))
        .collect();
    if places.is_empty() {
        return Err(NoPicture::Nothing);
    }
    let size = (
        PANEL.0 * pairs as u32,
        TITLE + (NAME + PANEL.1) * places.len() as u32,
    );
    let mut text = String::new();
    drawn(answer, &places, size, &mut text)
        .map_err(|error| NoPicture::Drawing(error.to_string()))?;
    Ok(text)
}

fn drawn(answer: &Answer, places: &[&PlaceAnswer], size: (u32, u32), text: &mut String) -> Done {
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let title = match answer.title.as_str() {
        "" => "The front of the sweep",
        title => title,
    };
    root.draw(&Text::new(title, (12, 8), ("sans-serif", 19)))?;
    let key = "filled: on the front (pale: not certain); empty: off it; cross: breaks a constraint; \
               bars: intervals";
    root.draw(&Text::new(key, (12, 33), ("sans-serif", 14)))?;
    let (_, mut rest) = root.split_vertically(TITLE);
    for place in places {
        let (area, after) = rest.split_vertically(NAME + PANEL.1);
        let name = format!("{}, {}", place.machine, alight_text::cell(&place.workload));
        let font = ("sans-serif", 15).into_font().style(FontStyle::Bold);
        area.draw(&Text::new(name, (12, 6), font))?;
        let (_, panels) = area.split_vertically(NAME);
        let columns = answer.objectives.len() - 1;
        for (index, panel) in panels.split_evenly((1, columns)).iter().enumerate() {
            draw_panel(panel, answer, place, index + 1)?;
        }
        rest = after;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(area: &Area<'_>, answer: &Answer, place: &PlaceAnswer, other: usize) -> Done {
    let dots = dots(answer, place, other);
    let mut panel = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(
            range(dots.iter().map(|dot| dot.x)),
            range(dots.iter().map(|dot| dot.y)),
        )?;
    (panel.configure_mesh())
        .x_desc(axis(answer, 0))
        .y_desc(axis(answer, other))
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|value| number::short(*value))
        .y_label_formatter(&|value| number::short(*value))
        .light_line_style(WHITE)
        .label_style(("sans-serif", 13))
        .draw()?;
    for dot in &dots {
        draw_dot(&mut panel, dot)?;
    }
    Ok(())
}

fn draw_dot(panel: &mut Panel<'_, '_>, dot: &Dot<'_>) -> Done {
    let Dot {
        x, y, candidate, ..
    } = dot;
    let colour = match (candidate.feasible, candidate.on_front) {
        (false, _) => BROKEN,
        (true, true) => FRONT,
        (true, false) => OTHER,
    };
    let pale = colour.mix(0.35);
    panel.draw_series([
        PathElement::new(vec![(x.low, y.at), (x.high, y.at)], pale),
        PathElement::new(vec![(x.at, y.low), (x.at, y.high)], pale),
    ])?;
    let at = (x.at, y.at);
    let empty = colour.stroke_width(1);
    let filled = match candidate.front_certain {
        true => colour.filled(),
        false => pale.filled(),
    };
    match (candidate.setting, candidate.feasible, candidate.on_front) {
        (_, false, _) => panel.draw_series([Cross::new(at, 5, empty)]).map(drop)?,
        (0, _, on_front) => {
            let square = EmptyElement::at(at)
                + Rectangle::new([(-5, -5), (5, 5)], if on_front { filled } else { empty });
            panel.draw_series([square]).map(drop)?;
        }
        (_, _, true) => panel.draw_series([Circle::new(at, 5, filled)]).map(drop)?,
        (_, _, false) => panel.draw_series([Circle::new(at, 5, empty)]).map(drop)?,
    }
    let font = ("sans-serif", 13).into_font().color(&colour);
    let label = EmptyElement::at(at) + Text::new(dot.label.clone(), (8, -14), font);
    panel.draw_series([label])?;
    Ok(())
}

/// The settings that have both numbers.
fn dots<'a>(answer: &'a Answer, place: &'a PlaceAnswer, other: usize) -> Vec<Dot<'a>> {
    let dot = |candidate: &'a Candidate| {
        Some(Dot {
            x: extent(answer, candidate, 0)?,
            y: extent(answer, candidate, other)?,
            label: label(answer, candidate),
            candidate,
        })
    };
    place.candidates.iter().filter_map(dot).collect()
}

/// Percent from the base, else the mean.
fn extent(answer: &Answer, candidate: &Candidate, objective: usize) -> Option<Extent> {
    let measured = candidate.objectives[objective].as_ref()?;
    let (at, half) = match (&measured.delta, answer.base.is_empty()) {
        (Some(delta), _) => (delta.delta_percent?, delta.half_width_percent()),
        (None, false) => (0.0, None),
        (None, true) => (measured.mean, measured.half_width),
    };
    let half = half.unwrap_or(0.0);
    Some(Extent {
        at,
        low: at - half,
        high: at + half,
    })
}

/// The values of the tunables, `base`, or the name of the scheduler.
fn label(answer: &Answer, candidate: &Candidate) -> String {
    if candidate.setting == 0 {
        return "base".to_owned();
    }
    let name = short_name(answer, &candidate.scheduler);
    match name.split_once('=') {
        Some((_, value)) => value.to_owned(),
        None => name.to_owned(),
    }
}

fn axis(answer: &Answer, objective: usize) -> String {
    let metric = &answer.objectives[objective].metric;
    match (answer.base.as_str(), answer.units[objective].as_str()) {
        ("", "") => metric.clone(),
        ("", unit) => format!("{metric}, {unit}"),
        (base, _) => format!("{metric}, % from {base}"),
    }
}

/// All values, most of their intervals, and some room for labels. A long interval does not make the
/// points one.
fn range(extents: impl Iterator<Item = Extent> + Clone) -> Range<f64> {
    let fold = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), at| {
            (low.min(at), high.max(at))
        })
    };
    let points = fold(&mut extents.clone().map(|extent| extent.at));
    let ends = fold(&mut extents.flat_map(|extent| [extent.low, extent.high]));
    let width = (points.1 - points.0).max(1e-9 * points.1.abs()).max(1e-9);
    let low = ends.0.max(points.0 - width);
    let high = ends.1.min(points.1 + width);
    low - 0.08 * width..high + 0.2 * width
}

#[cfg(test)]
mod tests;
