// SPDX-License-Identifier: GPL-2.0-only
//! The picture.

use crate::view::{Sort, Table, View};
use alight_stats::text::{self, percent, rate, time};
use alight_stats::{DISTANCES, histogram};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Row, Sparkline};

/// Lines of the upper part.
const SUMMARY_LINES: u16 = 5;
/// Lines of the histogram, with its frame.
const HISTOGRAM_LINES: u16 = 6;

/// Draws the view into a frame of any size.
pub fn draw(frame: &mut Frame<'_>, view: &View) {
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(SUMMARY_LINES),
        Constraint::Length(HISTOGRAM_LINES),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .split(frame.area());
    frame.render_widget(title(view), areas[0]);
    frame.render_widget(summary(view), areas[1]);
    delays(frame, view, areas[2]);
    table(frame, view, areas[3]);
    let keys = "q quit  s sort  c steps/CPUs  t since start/now  up, down scroll";
    frame.render_widget(Line::from(keys).dim(), areas[4]);
}

fn title(view: &View) -> Line<'static> {
    if let Some(trouble) = &view.trouble {
        return Line::from(text::printable(trouble)).fg(Color::Red);
    }
    let shown = view.shown();
    Line::from(format!(
        "{}  up {} s  {} of {} CPUs used{}",
        text::printable(&shown.scheduler),
        view.uptime_ns() / 1_000_000_000,
        text::used_cpus(shown),
        shown.cpus.len(),
        if view.total {
            "  (since its start)"
        } else {
            ""
        },
    ))
    .bold()
}

fn summary(view: &View) -> Paragraph<'static> {
    let shown = view.shown();
    let totals = &shown.totals;
    let every = |count| format!("{}/s", rate(count, shown.uptime_ns));
    let moved: Vec<String> = (DISTANCES.iter().zip(totals.moved))
        .map(|((name, _), count)| format!("{name} {}", percent(count, totals.runs)))
        .collect();
    let lines = [
        format!(
            "decisions {}  found idle {}  looked at {} CPUs",
            every(totals.decisions),
            percent(totals.found_idle, totals.decisions),
            text::mean_scan(totals),
        ),
        format!(
            "runs {}  delay p50 {}  p99 {}  max {}",
            every(totals.runs),
            time(totals.delay(500)),
            time(totals.delay(990)),
            time(totals.delay_max_ns),
        ),
        format!("moved {}", moved.join("  ")),
        format!(
            "direct {}  queued {}  preempted {}  SCHED_IDLE thrown off {}",
            every(totals.direct),
            every(totals.queued.saturating_add(totals.patient)),
            every(totals.preempted),
            every(totals.preempted_idle),
        ),
        format!(
            "pulled idle {}  at tick {}  misfit {}  spread {}  packed {}",
            every(totals.pulled_idle),
            every(totals.pulled_balance),
            every(totals.misfit),
            every(totals.spread),
            every(totals.packed),
        ),
    ];
    Paragraph::new(lines.map(Line::from).to_vec())
}

/// The run delays, two columns a bucket, from the first bucket that was ever met to the last.
fn delays(frame: &mut Frame<'_>, view: &View, area: ratatui::layout::Rect) {
    let buckets = &view.shown().totals.delays;
    let first = buckets.iter().position(|&count| count > 0).unwrap_or(0);
    let last = buckets.iter().rposition(|&count| count > 0).unwrap_or(0);
    let range = format!(
        " run delay, from {} to {}, each bar twice the one before ",
        time(*histogram::values(first, buckets.len()).start()),
        time(*histogram::values(last, buckets.len()).end()),
    );
    let bars = buckets[first..=last].iter().flat_map(|&count| [count; 2]);
    let sparkline = Sparkline::default()
        .block(Block::bordered().title(range))
        .style(Style::new().fg(Color::Cyan))
        .data(bars.collect::<Vec<u64>>());
    frame.render_widget(sparkline, area);
}

fn table(frame: &mut Frame<'_>, view: &View, area: ratatui::layout::Rect) {
    let rows = view.rows();
    let columns = view.columns();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        let widest = cells.chain([columns[column].len()]).max().unwrap_or(0);
        Constraint::Length(u16::try_from(widest).unwrap_or(u16::MAX))
    };
    // The last column gives way: words may be cut, figures may not.
    let figures = (0..columns.len() - 1).map(width);
    let widths: Vec<Constraint> = figures.chain([Constraint::Fill(1)]).collect();
    let name = match view.table {
        Table::Steps => "steps that answered",
        Table::Cpus => "CPUs",
    };
    let order = match view.sort {
        Sort::Count => "by count",
        Sort::Place => "in their order",
    };
    let shown = rows.into_iter().skip(view.first).map(Row::new);
    let table = ratatui::widgets::Table::new(shown, widths)
        .header(Row::new(columns.to_vec()).bold())
        .column_spacing(2)
        .block(Block::bordered().title(format!(" {name}, {order} ")));
    frame.render_widget(table, area);
}

#[cfg(test)]
mod tests;
