// SPDX-License-Identifier: GPL-2.0-only
//! Runs of one machine over simulated time, side by side, with zoom, pan and cursor locked together.
//!
//! This file has the content and its frame in HTML. `timeline/pack.rs` packs the content,
//! `timeline/summary.rs` says it in short, and the scripts of `js/timeline/` unpack and draw it.

mod pack;
mod summary;

use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use crate::asset::{COMMON, embedded};
use crate::{Asset, Part};

/// Runs to be looked at, each of the same machine.
///
/// Times are nanoseconds of simulated time from the start of a run, below 2^53 (104 days). A CPU, a
/// task, an idle state is meant by its place in the lists of names.
///
/// ```
/// use alight_html::timeline::{Lane, Run, Slice, Timeline};
/// use alight_html::{Page, Part};
///
/// let slice = Slice { start_ns: 0, end_ns: 250_000, task: 0 };
/// let lane = Lane { slices: vec![slice], ..Lane::default() };
/// let run = Run { name: "linux-6.1".into(), end_ns: 500_000, cpus: vec![lane], marks: vec![] };
/// let timeline = Timeline {
///     cpus: vec!["CPU 0".into()],
///     tasks: vec!["hackbench".into()],
///     runs: vec![run],
///     ..Timeline::default()
/// };
/// let html = Page::new("Runs").part("Timelines", &timeline).render();
/// // A browser draws it; without scripts a table says: busy for half of the time.
/// assert!(html.contains("<td class=\"figure\">50.0</td>"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Names of the CPUs, from above to below.
    pub cpus: Vec<String>,
    /// Names of the tasks of all runs. A task has the same colour in all runs.
    pub tasks: Vec<String>,
    /// Names of the idle states, from shallow to deep.
    pub idle_states: Vec<String>,
    /// What each value of a mark says.
    pub columns: Vec<Column>,
    /// Where the time begins that is shown: 0, or later where the runs hold nothing before.
    pub start_ns: u64,
    /// The runs, from left to right.
    pub runs: Vec<Run>,
}

/// A run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Its name: the scheduler's.
    pub name: String,
    /// Its end.
    pub end_ns: u64,
    /// What happened on each CPU, in the order of the names. CPUs without a name are left out.
    pub cpus: Vec<Lane>,
    /// Wakeups, in any order.
    pub marks: Vec<Mark>,
}

/// A CPU in a run. Each list rises in time, and its entries do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lane {
    /// When which task ran.
    pub slices: Vec<Slice>,
    /// When the CPU was idle.
    pub idle: Vec<Idle>,
    /// Changes of its clock.
    pub clocks: Vec<Clock>,
}

/// A task runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// From here.
    pub start_ns: u64,
    /// To here.
    pub end_ns: u64,
    /// Which task.
    pub task: u32,
}

/// A CPU is idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// From here.
    pub start_ns: u64,
    /// To here.
    pub end_ns: u64,
    /// Which idle state.
    pub state: u32,
}

/// A CPU changes its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// When.
    pub at_ns: u64,
    /// The frequency from then on, kHz.
    pub khz: u32,
}

/// A wakeup. A click on it shows its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at_ns: u64,
    /// The CPU that was chosen. A mark on a CPU without a name is left out.
    pub cpu: u32,
    /// The task that woke.
    pub task: u32,
    /// A value for each column; [`NONE`] where there is none.
    pub values: Vec<u32>,
}

/// No value: of a mark, for a column.
pub const NONE: u32 = u32::MAX;

/// How the values of a column are said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// As a number.
    Number {
        /// Of what.
        label: String,
        /// Its unit; may be empty.
        unit: String,
    },
    /// As one of these words.
    Word {
        /// Of what.
        label: String,
        /// The values are places in this list.
        words: Vec<String>,
    },
    /// As the name of a CPU.
    Cpu {
        /// Of which.
        label: String,
    },
    /// As a time, from nanoseconds.
    Nanoseconds {
        /// Of what.
        label: String,
    },
}

impl Column {
    fn json(&self) -> Value {
        match self {
            Column::Number { label, unit } => json!({ "label": label, "unit": unit }),
            Column::Word { label, words } => json!({ "label": label, "words": words }),
            Column::Cpu { label } => json!({ "label": label, "cpu": true }),
            Column::Nanoseconds { label } => json!({ "label": label, "time": true }),
        }
    }
}

const TIMELINE: Asset = Asset {
    // One scope for its files, apart from those of other scripts.
    script: concat!(
        "(() => {\n",
        include_str!("js/timeline/data.js"),
        include_str!("js/timeline/raster.js"),
        include_str!("js/timeline/draw.js"),
        include_str!("js/timeline/panel.js"),
        include_str!("js/timeline/input.js"),
        include_str!("js/timeline/view.js"),
        "})();\n",
    ),
    style: include_str!("css/timeline.css"),
};

/// Buttons: what the script calls them, what stands on them, what they do.
const BUTTONS: [(&str, &str, &str); 8] = [
    ("in", "+", "zoom in"),
    ("out", "−", "zoom out"),
    ("earlier", "◀", "earlier"),
    ("later", "▶", "later"),
    ("all", "all", "show all"),
    ("taller", "↕+", "taller lanes"),
    ("flatter", "↕−", "flatter lanes"),
    ("used", "used CPUs", "used CPUs only"),
];

/// Keys, and what they do.
const KEYS: [(&str, &str); 10] = [
    ("+ −", "zoom at the cursor"),
    ("← →", "pan; with Shift, move the cursor"),
    ("↑ ↓", "the CPU above or below"),
    ("0", "show all"),
    ("Home End", "the start, the end"),
    ("n p", "the next, the previous wakeup on this CPU"),
    ("Enter", "say why: the wakeup that is nearest to the cursor"),
    ("[ ]", "flatter, taller lanes"),
    ("u", "used CPUs only, or all"),
    ("Esc", "close the explanation"),
];

impl Timeline {
    /// Names and sizes: what is not packed.
    fn json(&self) -> Value {
        let runs: Vec<Value> = (self.runs.iter())
            .map(|run| json!({ "name": run.name, "end": run.end_ns }))
            .collect();
        let columns: Vec<Value> = self.columns.iter().map(Column::json).collect();
        json!({ "cpus": self.cpus, "tasks": self.tasks, "idle": self.idle_states,
            "columns": columns, "start": self.start_ns, "runs": runs })
    }

    fn controls() -> Markup {
        html! {
            div.controls {
                @for (action, text, label) in BUTTONS {
                    button type="button" data-action=(action) aria-label=(label) title=(label) { (text) }
                }
                details {
                    summary { "Keys and mouse" }
                    dl {
                        @for (keys, does) in KEYS { dt { (keys) } dd { (does) } }
                        dt { "mouse" }
                        dd { "drag to pan; Ctrl and wheel to zoom, the wheel alone after a click; \
                            click a wakeup, or what it started, to see why" }
                    }
                }
            }
        }
    }
}

impl Part for Timeline {
    fn markup(&self) -> Markup {
        html! {
            div.timeline {
                noscript { (summary::table(self)) }
                div.scripted hidden {
                    (Timeline::controls())
                    div.legend {}
                    div.runs {
                        @for run in &self.runs {
                            figure {
                                figcaption { (run.name) }
                                div.lanes {
                                    div.rows {
                                        canvas tabindex="0" role="application"
                                            aria-roledescription="timeline" aria-label=(run.name) {}
                                    }
                                }
                            }
                        }
                    }
                    p.at role="status" { "Point at a run, or use the keys, to see what runs when." }
                    div.panel hidden {}
                }
                script.head type="application/json" { (PreEscaped(embedded(&self.json()))) }
                script.data type="application/octet-stream" { (pack::packed(self)) }
            }
        }
    }

    fn assets(&self) -> &'static [Asset] {
        &[COMMON, TIMELINE]
    }
}

#[cfg(test)]
mod tests;
