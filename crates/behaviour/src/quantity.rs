// SPDX-License-Identifier: GPL-2.0-only
//! What is compared between a kernel and the model, and how near is near
//! enough: written down before the first comparison, each with its reason.

/// How far the model may be from the kernel: the larger of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Percent of the kernel's figure.
    pub percent: f64,
    /// In the quantity's own unit.
    pub absolute: f64,
}

/// How one kind of quantity is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// lower_snake, unit last; a number may follow for one of several.
    pub name: &'static str,
    /// `us`, `s`, `percent`, or empty for counts a second.
    pub unit: &'static str,
    /// How near is near enough.
    pub tolerance: Tolerance,
    /// Events that a figure must be made of, to say anything.
    pub least_samples: u64,
    /// Why this tolerance.
    pub reason: &'static str,
}

const fn rule(
    name: &'static str,
    unit: &'static str,
    percent: f64,
    absolute: f64,
    least_samples: u64,
    reason: &'static str,
) -> Rule {
    Rule {
        name,
        unit,
        tolerance: Tolerance { percent, absolute },
        least_samples,
        reason,
    }
}

const CHAIN: &str = "the order of sleeps and wakeups decides it, and costs only shift that order; \
     100 events at random have a standard error of 10 %";
const SHARE: &str = "a share of one half among 400 events has a standard error of 2.5 points";
const CHANCE: &str = "a coincidence of busy CPUs makes each of them: 100 events have a standard error of \
     10 %, and they come in bursts";
const PATHS: &str = "a micro-benchmark repeats one kernel path, and a workload takes other branches of it: \
     about a quarter. 3 us: an interrupt during the path";
const TAIL: &str =
    "a coincidence of several things makes the few events of a tail; 2000 events have 20 beyond it";
const SLICES: &str = "the tick or a sleep ends it: both are rules of the model, and kernel paths lengthen it. \
     3 us: an interrupt during it";

/// The kinds of quantities, in the order of reports.
pub const RULES: [Rule; 19] = [
    rule("elapsed_s", "s", 20.0, 0.0, 100, PATHS),
    rule("context_switches_per_s", "", 10.0, 1.0, 100, CHAIN),
    rule("still_runnable_percent", "percent", 0.0, 5.0, 400, SHARE),
    rule("wakeups_per_s", "", 10.0, 1.0, 100, CHAIN),
    rule("migrations_per_s", "", 25.0, 1.0, 100, CHANCE),
    rule(
        "wakeups_to_previous_percent",
        "percent",
        0.0,
        5.0,
        400,
        SHARE,
    ),
    rule("wakeups_to_waker_percent", "percent", 0.0, 5.0, 400, SHARE),
    rule("wakeups_to_other_percent", "percent", 0.0, 5.0, 400, SHARE),
    rule("wakeups_to_idle_percent", "percent", 0.0, 5.0, 400, SHARE),
    rule("wakeup_latency_p50_us", "us", 25.0, 3.0, 100, PATHS),
    rule("wakeup_latency_p95_us", "us", 25.0, 3.0, 400, PATHS),
    rule("wakeup_latency_p99_us", "us", 40.0, 3.0, 2000, TAIL),
    rule("run_delay_p50_us", "us", 25.0, 3.0, 100, PATHS),
    rule("run_delay_p95_us", "us", 25.0, 3.0, 400, PATHS),
    rule("run_delay_p99_us", "us", 40.0, 3.0, 2000, TAIL),
    rule("slice_p50_us", "us", 20.0, 3.0, 100, SLICES),
    rule("slice_p95_us", "us", 20.0, 3.0, 400, SLICES),
    rule(
        RESIDENCY,
        "percent",
        0.0,
        5.0,
        100,
        "CPUs are ranked by how busy they are, because chance decides which CPU is first; a slice more \
         or less is a few points",
    ),
    rule(
        NICE_SHARE,
        "percent",
        0.0,
        2.0,
        100,
        "the weights are exact; the slices at the two ends make the rest",
    ),
];

/// Share of the window that a CPU runs the workload; the busiest is 1.
pub const RESIDENCY: &str = "residency_percent_of_cpu";
/// Share of the workload's CPU time that tasks of one nice value get.
pub const NICE_SHARE: &str = "cpu_share_percent_of_nice";

/// The rule of this name.
///
/// # Panics
/// If there is none: names are constants of this module.
pub fn rule_of(name: &str) -> &'static Rule {
    let found = RULES.iter().find(|rule| rule.name == name);
    found.unwrap_or_else(|| panic!("no rule is named {name}"))
}

/// A figure, and of how many events it is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// In the rule's unit.
    pub value: f64,
    /// Events.
    pub samples: u64,
}

/// A figure of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Runs {
    /// That of the run in the middle; of an even number, the upper of the two there.
    pub median: Measurement,
    /// The smallest.
    pub from: f64,
    /// The largest.
    pub to: f64,
}

impl Runs {
    /// Where some runs have it and others do not, it is no figure of theirs.
    fn of(runs: &[Option<Measurement>]) -> Option<Self> {
        let mut figures = runs.iter().copied().collect::<Option<Vec<Measurement>>>()?;
        figures.sort_by(|a, b| a.value.total_cmp(&b.value));
        Some(Runs {
            median: *figures.get(figures.len() / 2)?,
            from: figures.first()?.value,
            to: figures.last()?.value,
        })
    }

    /// Does a run of the one lie between runs of the other?
    fn meet(&self, other: &Runs) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// What became of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Within the tolerance.
    Agree,
    /// Outside of it, and no run of the one side is where those of the other are.
    Disagree,
    /// It does not exist on one side, such as a choice among one CPU.
    NotMeasured,
    /// Too few events, or the runs of both sides lie among each other, farther apart than the tolerance.
    TooFew,
}

impl Agreement {
    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Agreement::Agree => "agree",
            Agreement::Disagree => "disagree",
            Agreement::NotMeasured => "not_measured",
            Agreement::TooFew => "too_few",
        }
    }
}

/// One quantity of one workload, on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// How it is judged.
    pub rule: &'static Rule,
    /// Which one, where there are several of a kind: a CPU's rank, a nice value.
    pub of: Option<i32>,
    /// The kernel's runs.
    pub kernel: Option<Runs>,
    /// The model's runs.
    pub model: Option<Runs>,
    /// What became of it.
    pub verdict: Agreement,
}

impl Quantity {
    /// Judges the figures of the kernel's runs, one a recording, against those of the model's, one a seed.
    pub fn judge(
        rule: &'static Rule,
        of: Option<i32>,
        kernel: &[Option<Measurement>],
        model: &[Option<Measurement>],
    ) -> Self {
        let (kernel, model) = (Runs::of(kernel), Runs::of(model));
        let verdict = match (kernel, model) {
            (Some(kernel), Some(model)) => verdict(rule, kernel, model),
            _ => Agreement::NotMeasured,
        };
        Quantity {
            rule,
            of,
            kernel,
            model,
            verdict,
        }
    }

    /// Its name, with which one of its kind it is.
    pub fn name(&self) -> String {
        match self.of {
            None => self.rule.name.to_owned(),
            Some(of) => format!("{}_{of}", self.rule.name),
        }
    }
}

fn verdict(rule: &Rule, kernel: Runs, model: Runs) -> Agreement {
    let Tolerance { percent, absolute } = rule.tolerance;
    let allowed = (kernel.median.value.abs() * percent / 100.0).max(absolute);
    // A count of nothing on one side alone is a difference, not a lack of samples.
    if kernel.median.samples.max(model.median.samples) < rule.least_samples {
        return Agreement::TooFew;
    }
    if (kernel.median.value - model.median.value).abs() <= allowed {
        return Agreement::Agree;
    }
    // Runs that lie among those of the other side cannot be told from them by so few: five and five
    // that do not meet differ by the rank test of Mann and Whitney (p = 0.008), one and five by none.
    if kernel.meet(&model) {
        return Agreement::TooFew;
    }
    Agreement::Disagree
}

#[cfg(test)]
mod tests;
