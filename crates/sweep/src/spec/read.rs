// SPDX-License-Identifier: GPL-2.0-only
//! Reads a sweep's file. All mistakes are told together, each with its place.

use std::num::NonZeroU32;

use alight_ask::Options;
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;

use super::rules::Limit;
use super::{Constraint, Design, FigureFactor, Objective, Runs, Spec};
use crate::document::{At, Document, Mistakes, Section};
use crate::levels::{Levels, Scale};
use crate::template::Template;

/// Name and version of the form, the value of the key `schema`.
pub const SCHEMA: &str = "alight.sweep/1";

/// The most runs of a scheduler in a cell, as of a comparison.
const MOST_RUNS: u64 = 1_000_000;
/// Seeds that SQLite can keep, with room for all runs.
const MOST_SEED: u64 = i64::MAX as u64 - MOST_RUNS;
/// Fewer rows of a design say nothing of how well its indices are known.
const LEAST_SAMPLES: u64 = 16;
/// Points of a Sobol' sequence.
const MOST_SAMPLES: u64 = 1 << 16;
/// Options of runs that a sweep's file states elsewhere.
const ELSEWHERE: [(&str, &str); 3] = [
    ("machine", "`machines` names them"),
    ("workload", "`workloads` names them"),
    ("seed", "the key `seed` stands at the top of the file"),
];

impl Spec {
    /// Reads the text of a sweep's file, called `file` in messages.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, Mistakes> {
        Document::read(file, text, |document, root| spec(document, root, text))
    }
}

fn spec(document: &Document<'_>, root: Section<'_, '_>, text: &str) -> Option<Spec> {
    schema(document, &root)?;
    let title = root.text("title").map(|title| title.value);
    let machines = root.texts("machines");
    let machines = root.required("machines", machines, "machines = [\"rk3588\"]");
    let workloads = root.lists("workloads");
    let example = "workloads = [\"hackbench -g 4\"]";
    let workloads = root.required("workloads", workloads, example);
    let schedulers = schedulers(document, &root);
    let figures: Vec<_> = (root.sections("factor").into_iter())
        .map(|section| figure(document, section))
        .collect();
    let figures: Option<Vec<FigureFactor>> = figures.into_iter().collect();
    let figures = figures.filter(|figures| each_once(document, &root, figures));
    let design = design(document, &root);
    let seed = root.whole("seed", 0..=MOST_SEED);
    let runs = runs(document, &root);
    let options = root
        .section("options")
        .map(|options| options_of(document, &options));
    let objectives = objectives(document, &root);
    let constraints = root.texts("constraints");
    let constraints = constraints.unwrap_or_default().into_iter();
    let constraints: Vec<Option<Constraint>> = constraints
        .map(|text| document.told(text.offset, text.value.parse()))
        .collect();
    let of_base = |constraint: &Constraint| matches!(constraint.limit, Limit::PercentOfBase(_));
    let compared = constraints
        .iter()
        .flatten()
        .find(|constraint| of_base(constraint));
    if let (Some((None, _)), Some(constraint)) = (&schedulers, compared) {
        let message = format!(
            "the constraint `{constraint}` needs a base, and the sweep has none: add the key `base`"
        );
        document.complain(root.place("constraints"), message);
    }
    let matters_percent = root.percentage("matters_percent");
    root.finish();
    let (base, templates) = schedulers?;
    let spec = Spec {
        title: title.unwrap_or_default(),
        machines: machines?.into_iter().map(|name| name.value).collect(),
        workloads: workloads?.into_iter().map(|list| list.value).collect(),
        base,
        templates,
        figures: figures?,
        design: design?,
        seed: seed.unwrap_or(1),
        runs: runs?,
        options: options.unwrap_or_default(),
        objectives: objectives?,
        constraints: constraints.into_iter().collect::<Option<_>>()?,
        matters_percent: matters_percent.unwrap_or(1.0),
        text: text.to_owned(),
    };
    Some(spec)
}

fn schema(document: &Document<'_>, root: &Section<'_, '_>) -> Option<()> {
    let example = format!("schema = \"{SCHEMA}\"");
    let schema = root.text("schema");
    let schema = root.required("schema", schema, &example)?;
    if schema.value != SCHEMA {
        let found = alight_text::cell(&schema.value);
        let message = format!("schema is `{found}`, this program reads `{SCHEMA}`");
        document.complain(schema.offset, message);
        return None;
    }
    Some(())
}

/// The base and the schedulers. Without the key `base` the first is the base, if others follow it
/// and nothing of it varies.
fn schedulers(
    document: &Document<'_>,
    root: &Section<'_, '_>,
) -> Option<(Option<Scheduler>, Vec<Template>)> {
    let stated = root.text("base");
    let texts = root.texts("schedulers");
    let example = "schedulers = [\"bias-prev:spare=0..512 step 64\"]";
    let texts = root.required("schedulers", texts, example);
    let choose = |text: &At<String>| {
        let chosen = Scheduler::choose([text.value.as_str()], Onto::Newest);
        document.told(text.offset, chosen)
    };
    let mut base = match &stated {
        Some(text) => Some(choose(text)?),
        None => None,
    };
    let mut templates: Vec<Template> = vec![];
    let mut complete = true;
    for (index, text) in texts?.into_iter().enumerate() {
        let parsed = Template::parse(&text.value, base.as_ref());
        let Some(template) = document.told(text.offset, parsed) else {
            complete = false;
            continue;
        };
        if templates.iter().any(|other| other.name == template.name) {
            let message = format!("the scheduler `{}` is named twice", template.name);
            document.complain(text.offset, message);
            complete = false;
        }
        if index == 0 && base.is_none() && template.tunables.is_empty() {
            base = document.told(text.offset, template.scheduler(&[]));
        }
        templates.push(template);
    }
    if stated.is_none() && templates.len() > 1 && base.is_some() {
        templates.remove(0);
    } else if stated.is_none() {
        base = None;
    }
    complete.then_some((base, templates))
}

/// `[[factor]]`: a figure of the machines.
fn figure(document: &Document<'_>, section: Section<'_, '_>) -> Option<FigureFactor> {
    let path = section.text("machine");
    let path = section.required("machine", path, "machine = \"memory.llc_line_ns\"");
    let values = section.values("values");
    let times = section.values("times");
    let given = match (values, times) {
        (Some(values), None) => Some((values, Scale::Whole)),
        (None, Some(times)) => Some((times, Scale::Permille)),
        (Some(_), Some(both)) => {
            let message = "a factor has either `values` or `times`, found both";
            document.complain(both.offset, message);
            None
        }
        (None, None) => {
            if !section.has("values") && !section.has("times") {
                let message = "[factor] lacks its values: add `values = \"80..120 step 20\"`, or \
                               `times = [0.5, 1, 2]` for multiples of what the file says";
                document.complain(section.offset, message);
            }
            None
        }
    };
    section.finish();
    let (given, scale) = given?;
    let levels = match &given.value {
        Ok(range) => Levels::range(range, scale),
        Err(list) => Levels::list(list, scale),
    };
    let levels = levels.and_then(|levels| match levels.is_numeric() {
        true => Ok(levels),
        false => Err(format!(
            "`{levels}` are not all numbers that a figure can have"
        )),
    });
    let levels = document.told(given.offset, levels)?;
    Some(FigureFactor {
        path: path?.value,
        times: scale == Scale::Permille,
        levels,
    })
}

fn each_once(document: &Document<'_>, root: &Section<'_, '_>, figures: &[FigureFactor]) -> bool {
    let twice = figures.iter().enumerate().find(|(index, factor)| {
        let mut before = figures[..*index].iter();
        before.any(|other| other.path == factor.path)
    });
    if let Some((_, factor)) = twice {
        let message = format!("two factors are of the figure `{}`", factor.path);
        document.complain(root.place("factor"), message);
    }
    twice.is_none()
}

fn design(document: &Document<'_>, root: &Section<'_, '_>) -> Option<Design> {
    let named = root.text("design");
    let samples = root.whole("samples", LEAST_SAMPLES..=MOST_SAMPLES);
    let trajectories = root.whole("trajectories", 2..=MOST_SAMPLES);
    let design = match named.as_ref().map(|named| named.value.as_str()) {
        None if root.has("design") => return None,
        None | Some("grid") => Design::Grid,
        Some("sobol") => Design::Sobol {
            samples: samples.unwrap_or(64) as u32,
        },
        Some("morris") => Design::Morris {
            trajectories: trajectories.unwrap_or(10) as u32,
        },
        Some(other) => {
            let message = format!("design is `{other}`, expected `grid`, `sobol` or `morris`");
            document.complain(root.place("design"), message);
            return None;
        }
    };
    for (key, belongs) in [("samples", "sobol"), ("trajectories", "morris")] {
        if root.has(key) && design.name() != belongs {
            let message = format!(
                "`{key}` belongs to the design `{belongs}`, and the design is `{}`",
                design.name()
            );
            document.complain(root.place(key), message);
        }
    }
    Some(design)
}

fn runs(document: &Document<'_>, root: &Section<'_, '_>) -> Option<Runs> {
    let runs = root.whole("runs", 1..=MOST_RUNS);
    let runs = runs.and_then(|runs| NonZeroU32::new(runs as u32));
    let Some(until) = root.section("until") else {
        let given = !root.has("runs") || runs.is_some();
        let ten = NonZeroU32::new(10).expect("not zero");
        return given.then_some(Runs::Fixed(runs.unwrap_or(ten)));
    };
    if root.has("runs") {
        let message = "the file has both `runs` and `until`; leave out `runs`, or write its number \
                       as `max_runs`";
        document.complain(root.place("runs"), message);
    }
    let example = "until = { metric = \"elapsed_s\", half_width_percent = 1, max_runs = 80 }";
    let metric = until.text("metric");
    let metric = until.required("metric", metric, example);
    let percent = until.percentage("half_width_percent");
    let percent = until.required("half_width_percent", percent, example);
    let most = until.whole("max_runs", 2..=MOST_RUNS);
    let most = until.required("max_runs", most, example);
    until.finish();
    Some(Runs::Until {
        metric: metric?.value,
        half_width_percent: percent?,
        max_runs: NonZeroU32::new(most? as u32)?,
    })
}

/// Options of runs, each tried.
fn options_of(document: &Document<'_>, section: &Section<'_, '_>) -> Vec<(String, String)> {
    let mut tried = Options::default();
    let mut options = vec![];
    for (name, text) in section.entries() {
        if let Some((_, instead)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            document.complain(text.offset, format!("no option `{name}` here: {instead}"));
            continue;
        }
        let set = tried.set(&name, &text.value);
        if document.told(text.offset, set).is_some() {
            options.push((name, text.value));
        }
    }
    options
}

fn objectives(document: &Document<'_>, root: &Section<'_, '_>) -> Option<Vec<Objective>> {
    let section = root.section("objectives");
    let example = "objectives = { elapsed_s = \"minimise\" }";
    let section = root.required("objectives", section, example)?;
    let entries = section.entries();
    if entries.is_empty() {
        let message = format!("`objectives` is empty, expected like `{example}`");
        document.complain(section.offset, message);
        return None;
    }
    let objective = |(metric, direction): (String, At<String>)| {
        let direction = document.told(direction.offset, direction.value.parse())?;
        Some(Objective { metric, direction })
    };
    let all: Vec<_> = entries.into_iter().map(objective).collect();
    all.into_iter().collect()
}
