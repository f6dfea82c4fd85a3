// SPDX-License-Identifier: GPL-2.0-only
//! The section `global`: settings of the whole file (`parse_global()`).

use super::super::json::{Kind, Member, Value};
use super::super::model::Global;
use super::fields::{self, Fields};
use super::{Reader, attributes};
use crate::diagnostic::{Place, Refusal, Severity, nearest};
use crate::program::{Calibration, Policy};

const NS_PER_S: u64 = 1_000_000_000;
const DEFAULT_MEM_BUFFER: i32 = 4 << 20;
const GLOBAL_KEYS: &[&str] = &[
    "duration",
    "gnuplot",
    "default_policy",
    "calibration",
    "log_size",
    "logdir",
    "log_basename",
    "ftrace",
    "lock_pages",
    "pi_enabled",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
];
const FTRACE_CATEGORIES: &[&str] = &["main", "task", "loop", "event", "stats", "none"];

impl Reader<'_> {
    pub(super) fn global(&mut self, value: Option<&Value>, root: Place) -> Result<Global, Refusal> {
        let mut global = Global {
            duration_ns: None,
            default_policy: Policy::Normal,
            calibration: Calibration::Cpu(0),
            mem_buffer_size: DEFAULT_MEM_BUFFER as u64,
            cumulative_slack: false,
        };
        let Some(value) = value.filter(|v| v.kind != Kind::Null) else {
            self.remarks.note(
                root,
                "there is no `global`: the run has no time limit, and work is in time of CPU0 at \
                 its top frequency",
            );
            return Ok(global);
        };
        // rt-app looks keys up in whatever it finds here, and finds none if it is no object.
        let members: &[Member] = match &value.kind {
            Kind::Object(members) => members,
            _ => &[],
        };
        self.note_ignored(members, &[GLOBAL_KEYS], "`global`");
        let fields = Fields::new(members, self.mode);
        let duration = fields.int("duration", -1, self.remarks)?;
        if duration < -1 {
            let place = fields.get("duration").map_or(value.place, |v| v.place);
            self.remarks.warn(
                place,
                format!(
                    "`duration` is {duration} s, which rt-app takes for no limit; write -1 if \
                    you want that"
                ),
            );
        }
        global.duration_ns = u64::try_from(duration)
            .ok()
            .filter(|s| *s > 0)
            .map(|s| s * NS_PER_S);
        if let Some(name) = fields.string("default_policy")? {
            global.default_policy = attributes::policy(name.text, name.place)?;
        }
        global.calibration = self.calibration(&fields, value.place)?;
        let size = fields.int("mem_buffer_size", DEFAULT_MEM_BUFFER, self.remarks)?;
        global.mem_buffer_size = u64::try_from(size).unwrap_or(0);
        global.cumulative_slack = fields.boolean("cumulative_slack", false)?;
        self.settings_without_effect(&fields)?;
        Ok(global)
    }

    fn calibration(&mut self, fields: &Fields, at: Place) -> Result<Calibration, Refusal> {
        let Some(value) = fields.get("calibration").filter(|v| v.kind != Kind::Null) else {
            self.remarks.note(
                at,
                "no `calibration` is given: work is in time of CPU0 at its top frequency",
            );
            return Ok(Calibration::Cpu(0));
        };
        match &value.kind {
            Kind::Int(0) => {
                self.remarks.note(
                    value.place,
                    "with 0 ns per loop rt-app calibrates CPU0: work is in time of CPU0 at its \
                     top frequency",
                );
                Ok(Calibration::Cpu(0))
            }
            Kind::Int(ns) if *ns < 0 => Err(Refusal::new(
                value.place,
                format!(
                    "`calibration` is {ns} ns per loop; rt-app then does no work or never ends; \
                     write \"CPU0\", or a positive number"
                ),
            )),
            Kind::Int(ns) => {
                self.remarks.note(
                    value.place,
                    format!(
                        "{ns} ns per loop is a property of one board; here work is in time of one \
                         of the biggest CPUs at its top frequency"
                    ),
                );
                Ok(Calibration::Biggest)
            }
            Kind::String(text) => match calibration_cpu(text) {
                Some(cpu) => Ok(Calibration::Cpu(cpu)),
                None => Err(Refusal::new(
                    value.place,
                    format!("`{text}` is no CPU; write `CPU` and a number, as in \"CPU0\""),
                )),
            },
            other => Err(Refusal::new(
                value.place,
                format!(
                    "found {}, expected a CPU as in \"CPU0\", or ns per loop",
                    other.describe()
                ),
            )),
        }
    }

    /// Settings that have a type to be checked and no effect in a simulation.
    fn settings_without_effect(&mut self, fields: &Fields) -> Result<(), Refusal> {
        for key in ["gnuplot", "lock_pages"] {
            fields.boolean(key, false)?;
        }
        for key in ["logdir", "log_basename", "io_device"] {
            fields.string(key)?;
        }
        if fields.boolean("pi_enabled", false)? {
            let place = fields
                .get("pi_enabled")
                .map_or(Place::default(), |v| v.place);
            self.remarks.leave_out(
                Severity::Warning,
                place,
                "priority inheritance is not modelled: mutexes have none",
            );
        }
        if let Some(value) = fields.get("log_size")
            && !matches!(value.kind, Kind::Int(_) | Kind::String(_) | Kind::Null)
        {
            return Err(fields::mismatch("log_size", value, "MB or a string"));
        }
        ftrace(fields)
    }
}

/// The number in `CPU3`; `sscanf` looks at nothing behind it, and takes `CPU` for CPU0.
fn calibration_cpu(text: &str) -> Option<u32> {
    let number = text.strip_prefix("CPU")?;
    if number.is_empty() {
        return Some(0);
    }
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn ftrace(fields: &Fields) -> Result<(), Refusal> {
    let Some(value) = fields.get("ftrace") else {
        return Ok(());
    };
    if matches!(value.kind, Kind::Bool(_)) {
        return Ok(());
    }
    let Some(list) = fields.string("ftrace")? else {
        return Ok(());
    };
    let categories = list.text.split(',').filter(|c| !c.is_empty());
    for category in categories {
        if !FTRACE_CATEGORIES.contains(&category) {
            return Err(Refusal::new(
                list.place,
                format!(
                    "`{category}` is no category of ftrace events; the nearest: {}",
                    nearest(category, FTRACE_CATEGORIES.iter().copied())
                ),
            ));
        }
    }
    Ok(())
}
