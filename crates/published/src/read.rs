// SPDX-License-Identifier: GPL-2.0-only
//! A study's file, `alight.study/1`, and what is wrong with it: everything that it names must
//! exist, so that a mistake shows before anything runs.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use alight_machine::{Governor, IdleGovernor};
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;
use alight_sim::Change;
use alight_workload::{Site, Workload};
use serde::Deserialize;
use toml::Spanned;

use super::error::StudyError;
use super::shape::mistakes;
use super::{Case, CaseLoad, Check, Instead, Part, Published, Row, Study, Unit, library};

/// Name and version of the form, the value of the key `schema`.
pub const SCHEMA: &str = "alight.study/1";

const NS_PER_MS: u64 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: Spanned<String>,
    name: String,
    title: String,
    publication: String,
    #[serde(default)]
    notes: Vec<String>,
    machine: Spanned<String>,
    schedulers: Spanned<Vec<Spanned<String>>>,
    runs: NonZeroU32,
    short_runs: NonZeroU32,
    #[serde(default)]
    beside: Vec<Spanned<String>>,
    #[serde(rename = "case")]
    cases: Spanned<Vec<CaseTable>>,
    #[serde(rename = "row", default)]
    rows: Vec<RowTable>,
    #[serde(rename = "check", default)]
    checks: Vec<CheckTable>,
}

/// A time in ns, stated in ms, at most [`LONGEST_MS`](super::shape::LONGEST_MS).
#[derive(Clone, Copy, Deserialize)]
#[serde(from = "u64")]
struct Time(u64);

impl From<u64> for Time {
    fn from(ms: u64) -> Self {
        Time(ms.saturating_mul(NS_PER_MS))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTable {
    #[serde(default)]
    name: String,
    workloads: Vec<Spanned<String>>,
    short: Option<Vec<Spanned<String>>>,
    sensitivity: Option<Vec<Spanned<String>>>,
    calibration: Option<PartTable>,
    governor: Option<Spanned<String>>,
    idle_governor: Option<Spanned<String>>,
    duration_ms: Option<Time>,
    short_ms: Option<Time>,
    count_from_ms: Option<Time>,
    picture_ms: Option<Spanned<(Time, Time)>>,
    #[serde(default)]
    instead: Vec<InsteadTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartTable {
    window_ms: Spanned<(Time, Time)>,
    runs: NonZeroU32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InsteadTable {
    scheduler: Spanned<String>,
    workloads: Vec<Spanned<String>>,
    short: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowTable {
    case: Option<Spanned<String>>,
    metric: String,
    says: Option<String>,
    before: Option<Published>,
    #[serde(default)]
    after: BTreeMap<Spanned<String>, Published>,
    #[serde(default)]
    calibrates: Option<Spanned<bool>>,
    unit: Option<UnitTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitTable {
    of: Vec<String>,
    case: Option<Spanned<String>>,
    is: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckTable {
    says: Spanned<String>,
    case: Option<Spanned<String>>,
    metric: String,
    scheduler: Spanned<String>,
    relative_to: Option<Spanned<String>>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    #[serde(default)]
    in_short: bool,
}

/// Reads the text of a study's file called `file` in messages.
///
/// # Errors
/// Whatever is wrong with it, with its place.
pub fn parse(file: &str, text: &str) -> Result<Study, StudyError> {
    let reader = Reader {
        file,
        text,
        beside: &[],
        site: None,
    };
    let mistakes = mistakes(text).into_iter();
    let mut mistakes: Vec<StudyError> = mistakes.map(|(at, what)| reader.at(at, &what)).collect();
    match mistakes.len() {
        0 => {}
        1 => return Err(mistakes.remove(0)),
        _ => return Err(StudyError::Several(mistakes)),
    }
    // What has the shape of a study can be read as one.
    let mut read: File = toml::from_str(text)
        .map_err(|error| reader.at(error.span().map_or(0, |span| span.start), error.message()))?;
    if read.schema.get_ref() != SCHEMA {
        let found = read.schema.get_ref();
        let message = format!("schema is `{found}`, this program reads `{SCHEMA}`");
        return Err(reader.wrong(&read.schema, message));
    }
    let beside = std::mem::take(&mut read.beside);
    let machine = alight_machine::load(read.machine.get_ref())
        .map_err(|error| reader.wrong(&read.machine, error))?
        .machine;
    Reader {
        beside: &beside,
        site: Some(alight_sim::site(&machine)),
        ..reader
    }
    .study(read)
}

struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    /// What runs beside the workloads of each case.
    beside: &'t [Spanned<String>],
    /// The machine, once it is loaded.
    site: Option<Site>,
}

impl Reader<'_> {
    fn at(&self, offset: usize, message: &str) -> StudyError {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        StudyError::Written {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            message: message.replace('\n', " "),
        }
    }

    fn wrong<T>(&self, what: &Spanned<T>, message: impl ToString) -> StudyError {
        self.at(what.span().start, &message.to_string())
    }

    fn study(&self, file: File) -> Result<Study, StudyError> {
        let mut schedulers: Vec<Scheduler> = vec![];
        for name in file.schedulers.get_ref() {
            schedulers.push(self.chosen(name, &schedulers)?);
        }
        if schedulers.len() < 2 {
            let message = "a study needs two schedulers or more; the first is the base";
            return Err(self.wrong(&file.schedulers, message));
        }
        if file.rows.is_empty() {
            return Err(self.at(
                0,
                "the study has no row, expected at least one: a row names the \
                metric to report",
            ));
        }
        let cases_at = file.cases.span().start;
        let cases = file.cases.into_inner().into_iter();
        let cases = cases
            .map(|table| self.case(table, &schedulers))
            .collect::<Result<Vec<_>, _>>()?;
        for (index, case) in cases.iter().enumerate() {
            if cases[..index].iter().any(|other| other.name == case.name) {
                let message = format!("two cases are called `{}`, expected a name each", case.name);
                return Err(self.at(cases_at, &message));
            }
        }
        let known = Known {
            reader: self,
            cases: &cases,
            schedulers: &schedulers,
        };
        let rows = file.rows.into_iter().map(|table| known.row(table));
        let rows = rows.collect::<Result<_, _>>()?;
        let checks = file.checks.into_iter().map(|table| known.check(table));
        let checks = checks.collect::<Result<_, _>>()?;
        Ok(Study {
            name: file.name,
            title: file.title,
            publication: file.publication,
            notes: file.notes,
            machine: file.machine.into_inner(),
            schedulers,
            runs: file.runs,
            short_runs: file.short_runs,
            cases,
            rows,
            checks,
        })
    }

    fn case(&self, table: CaseTable, schedulers: &[Scheduler]) -> Result<Case, StudyError> {
        let duration_ns = table.duration_ms.map(|Time(ns)| ns);
        let full = self.extent(&table.workloads, duration_ns)?;
        let other = |commands: Option<&Vec<_>>, duration_ns| match commands {
            Some(commands) => self.extent(commands, duration_ns),
            None => Ok(CaseLoad {
                duration_ns,
                ..full.clone()
            }),
        };
        let short_ns = table.short_ms.map(|Time(ns)| ns);
        let short = other(table.short.as_ref(), short_ns.or(duration_ns))?;
        let moved = other(table.sensitivity.as_ref(), duration_ns)?;
        let part = table.calibration.map(|part| self.part(&part, &full));
        let part = part.transpose()?;
        let instead = (table.instead.into_iter())
            .map(|own| self.instead(own, schedulers, [duration_ns, short_ns.or(duration_ns)]));
        let instead = instead.collect::<Result<_, _>>()?;
        let picture = table.picture_ms.map(|window| self.window(&window));
        let picture = picture.transpose()?;
        Ok(Case {
            name: table.name,
            full,
            short,
            moved,
            part,
            governor: self.parsed::<Governor>(table.governor)?,
            idle_governor: self.parsed::<IdleGovernor>(table.idle_governor)?,
            changes: (table.count_from_ms.into_iter())
                .map(|Time(ns)| Change::count_from(ns))
                .collect(),
            picture,
            instead,
        })
    }

    fn extent(
        &self,
        commands: &[Spanned<String>],
        duration_ns: Option<u64>,
    ) -> Result<CaseLoad, StudyError> {
        let (commands, workloads) = self.workloads(commands)?;
        Ok(CaseLoad {
            commands,
            workloads,
            duration_ns,
        })
    }

    fn part(&self, table: &PartTable, of: &CaseLoad) -> Result<Part, StudyError> {
        let messages = alight_sim::messages(&of.workloads).filter(|all| *all != 0);
        let Some(messages) = messages else {
            let message = "a part needs a workload with a known number of messages, and this case \
                has none";
            return Err(self.wrong(&table.window_ms, message));
        };
        Ok(Part {
            window: self.window(&table.window_ms)?,
            messages,
            runs: table.runs,
        })
    }

    /// From and to, ns.
    fn window(&self, window: &Spanned<(Time, Time)>) -> Result<(u64, u64), StudyError> {
        let (Time(from), Time(to)) = *window.get_ref();
        if from >= to {
            let (from, to) = (from / NS_PER_MS, to / NS_PER_MS);
            let message = format!("the window from {from} to {to} ms is empty");
            return Err(self.wrong(window, message));
        }
        Ok((from, to))
    }

    /// `durations` are the case's, in full and short.
    fn instead(
        &self,
        table: InsteadTable,
        schedulers: &[Scheduler],
        durations: [Option<u64>; 2],
    ) -> Result<Instead, StudyError> {
        let short = table.short.as_ref().unwrap_or(&table.workloads);
        Ok(Instead {
            full: self.extent(&table.workloads, durations[0])?,
            short: self.extent(short, durations[1])?,
            scheduler: self.scheduler(table.scheduler, schedulers)?,
        })
    }

    /// As on the command line: what has no base is over the first of those `before`.
    fn chosen(
        &self,
        name: &Spanned<String>,
        before: &[Scheduler],
    ) -> Result<Scheduler, StudyError> {
        let onto = before.first().map_or(Onto::Newest, Onto::First);
        Scheduler::choose([name.get_ref().as_str()], onto).map_err(|error| self.wrong(name, error))
    }

    /// Schedulers are those of the list `schedulers`, by any of their labels.
    fn scheduler(&self, name: Spanned<String>, known: &[Scheduler]) -> Result<String, StudyError> {
        let chosen = self.chosen(&name, known)?;
        let labelled = known.iter().find(|one| one.name == chosen.name);
        let found = labelled.or_else(|| known.iter().find(|one| one.is_same_run(&chosen)));
        if let Some(found) = found {
            return Ok(found.name.clone());
        }
        let message = format!("`{}` is not among the study's schedulers", name.get_ref());
        Err(self.wrong(&name, message))
    }

    fn parsed<T: std::str::FromStr<Err: ToString>>(
        &self,
        text: Option<Spanned<String>>,
    ) -> Result<Option<T>, StudyError> {
        let parse = |text: Spanned<String>| {
            let parsed = text.get_ref().parse::<T>();
            parsed.map_err(|error| self.wrong(&text, error))
        };
        text.map(parse).transpose()
    }

    fn workloads(
        &self,
        commands: &[Spanned<String>],
    ) -> Result<(Vec<String>, Vec<Workload>), StudyError> {
        let mut read = (vec![], vec![]);
        for command in commands.iter().chain(self.beside) {
            let workload = library::workload(self.file, command.get_ref(), self.site.as_ref())
                .map_err(|error| self.wrong(command, error))?;
            read.0.push(command.get_ref().clone());
            read.1.push(workload);
        }
        Ok(read)
    }
}

/// What rows and checks may name.
struct Known<'a> {
    reader: &'a Reader<'a>,
    cases: &'a [Case],
    schedulers: &'a [Scheduler],
}

impl Known<'_> {
    fn row(&self, table: RowTable) -> Result<Row, StudyError> {
        let case = self.case(table.case)?;
        let unit = |unit: UnitTable| {
            Ok(Unit {
                of: unit.of,
                case: self.case(unit.case)?,
                is: unit.is,
            })
        };
        let calibrates = match &table.calibrates {
            Some(said) if *said.get_ref() && table.before.is_none() => {
                let message = "a row without `before` has no number to calibrate to";
                return Err(self.reader.wrong(said, message));
            }
            said => said.as_ref().is_some_and(|said| *said.get_ref()),
        };
        let mut after = BTreeMap::new();
        for (name, published) in table.after {
            let at = name.span().start;
            let scheduler = self.scheduler(name)?;
            if table.before.is_none() || scheduler == self.schedulers[0].name {
                let message =
                    "`after` states what other schedulers than the base had, beside `before`";
                return Err(self.reader.at(at, message));
            }
            after.insert(scheduler, published);
        }
        Ok(Row {
            case,
            metric: table.metric,
            says: table.says,
            before: table.before,
            after,
            calibrates,
            unit: table.unit.map(unit).transpose()?,
        })
    }

    fn check(&self, table: CheckTable) -> Result<Check, StudyError> {
        if table.at_least.is_none() && table.at_most.is_none() {
            let message = "a check without `at_least` and `at_most` cannot fail";
            return Err(self.reader.wrong(&table.says, message));
        }
        let scheduler = self.scheduler(table.scheduler)?;
        let relative_to = |name: Spanned<String>| {
            let at = name.span().start;
            let other = self.scheduler(name)?;
            if other == scheduler {
                let message = format!("`{other}` relative to itself is always 100 percent");
                return Err(self.reader.at(at, &message));
            }
            Ok(other)
        };
        Ok(Check {
            says: table.says.into_inner(),
            case: self.case(table.case)?,
            metric: table.metric,
            relative_to: table.relative_to.map(relative_to).transpose()?,
            scheduler,
            at_least: table.at_least,
            at_most: table.at_most,
            in_short: table.in_short,
        })
    }

    fn case(&self, name: Option<Spanned<String>>) -> Result<String, StudyError> {
        let Some(name) = name else {
            return Ok(String::new());
        };
        if self.cases.iter().any(|case| case.name == *name.get_ref()) {
            return Ok(name.into_inner());
        }
        let names: Vec<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        let message = format!(
            "no case `{}`; there are {}",
            name.get_ref(),
            names.join(", ")
        );
        Err(self.reader.wrong(&name, message))
    }

    fn scheduler(&self, name: Spanned<String>) -> Result<String, StudyError> {
        self.reader.scheduler(name, self.schedulers)
    }
}
