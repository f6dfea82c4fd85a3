// SPDX-License-Identifier: GPL-2.0-only
//! From the JSON tree to the [`model`](super::model): the grammar of rt-app, its defaults, and what it
//! refuses (`rt-app_parse_config.c`).

mod attributes;
mod events;
mod fields;

use super::json::{Kind, Member, Value};
use super::model::{Config, Global, Phase, Task};
use crate::diagnostic::{Place, Refusal, Remarks, Severity, nearest};
use crate::load::Mode;
use crate::program::{Calibration, Policy};
pub(super) use attributes::check as check_sched;
use events::MemoryBuffers;
use fields::Fields;

/// Threads that a file may start; far above what rt-app can start on a stock kernel.
const MAX_THREADS: u64 = 100_000;
const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_US: u64 = 1000;
const DEFAULT_MEM_BUFFER: i32 = 4 << 20;

const TOP_KEYS: &[&str] = &["tasks", "global", "resources"];
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
/// Keys of phases, and of tasks.
const PHASE_KEYS: &[&str] = &[
    "loop",
    "cpus",
    "nodes_membind",
    "policy",
    "priority",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "util_min",
    "util_max",
    "taskgroup",
];
/// Keys of tasks only. The last three are the old names of the `dl-` ones.
const TASK_KEYS: &[&str] = &[
    "instance", "delay", "phases", "runtime", "period", "deadline",
];
const FTRACE_CATEGORIES: &[&str] = &["main", "task", "loop", "event", "stats", "none"];
const RESOURCE_TYPES: &[&str] = &[
    "mutex",
    "signal",
    "wait",
    "broadcast",
    "sync",
    "sleep",
    "run",
    "timer",
];

/// What reading needs to carry along.
struct Reader<'a> {
    mode: Mode,
    remarks: &'a mut Remarks,
    default_policy: Policy,
    mem_buffer_size: u64,
    buffers: MemoryBuffers,
}

/// Reads a tree whose keys are unique.
pub(super) fn read(root: &Value, mode: Mode, remarks: &mut Remarks) -> Result<Config, Refusal> {
    let Kind::Object(members) = &root.kind else {
        return Err(Refusal::new(
            root.place,
            format!(
                "found {}, expected an object; write {{ \"tasks\": {{ … }} }}",
                root.kind.describe()
            ),
        ));
    };
    let mut reader = Reader {
        mode,
        remarks,
        default_policy: Policy::Normal,
        mem_buffer_size: DEFAULT_MEM_BUFFER as u64,
        buffers: MemoryBuffers::default(),
    };
    reader.note_ignored(members, &[TOP_KEYS], "the file");
    let top = Fields::new(members, mode);
    let tasks = top.get("tasks").filter(|v| v.kind != Kind::Null);
    let Some(tasks) = tasks else {
        return Err(Refusal::new(
            root.place,
            "the key `tasks` is missing; write { \"tasks\": { \"name\": { … } } }",
        ));
    };
    let global = reader.global(top.get("global"), root.place)?;
    reader.default_policy = global.default_policy;
    reader.mem_buffer_size = global.mem_buffer_size;
    reader.resources(top.get("resources"))?;
    let tasks = reader.tasks(tasks)?;
    Ok(Config { global, tasks })
}

impl Reader<'_> {
    /// Notes each key that rt-app does not look at.
    fn note_ignored(&mut self, members: &[Member], known: &[&[&str]], of: &str) {
        const CERTAINLY_MEANT: f64 = 0.85;
        for member in members {
            let mut names = known.iter().flat_map(|keys| keys.iter().copied());
            if names.clone().any(|name| name == member.key) {
                continue;
            }
            let likely = names.any(|n| strsim::jaro_winkler(n, &member.key) >= CERTAINLY_MEANT);
            let all = known.iter().flat_map(|keys| keys.iter().copied());
            if likely {
                self.remarks.warn(
                    member.place,
                    format!(
                        "the key `{}` of {of} is ignored, as rt-app does; perhaps {} is meant",
                        member.key,
                        nearest(&member.key, all)
                    ),
                );
            } else {
                self.remarks.note(
                    member.place,
                    format!(
                        "the key `{}` of {of} is ignored, as rt-app does",
                        member.key
                    ),
                );
            }
        }
    }

    fn global(&mut self, value: Option<&Value>, root: Place) -> Result<Global, Refusal> {
        let mut global = Global {
            duration_ns: None,
            default_policy: Policy::Normal,
            calibration: Calibration::Cpu(0),
            mem_buffer_size: DEFAULT_MEM_BUFFER as u64,
        };
        let Some(value) = value.filter(|v| v.kind != Kind::Null) else {
            self.remarks.note(
                root,
                "there is no `global`: no limit of time, work in time of CPU0 at its top frequency",
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
        let duration = self.at_least(-1, "s (-1 and 0: no limit)", "duration", &fields, -1)?;
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
        self.settings_without_effect(&fields)?;
        Ok(global)
    }

    /// The number of `key`, or `default` without it; refused below `least`, which means nothing.
    fn at_least(
        &mut self,
        least: i32,
        unit: &str,
        key: &'static str,
        fields: &Fields,
        default: i32,
    ) -> Result<i32, Refusal> {
        let found = fields.int(key, default, self.remarks)?;
        if found < least {
            let place = fields.get(key).map_or(Place::default(), |v| v.place);
            return Err(Refusal::new(
                place,
                format!("`{key}` is {found}, expected {least} or more {unit}"),
            ));
        }
        Ok(found)
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
            Kind::Int(ns) => {
                self.remarks.note(
                    value.place,
                    format!(
                        "{ns} ns per loop is a property of one board; here work is in time of a biggest CPU at its top frequency"
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
        for key in ["gnuplot", "lock_pages", "cumulative_slack"] {
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
                "priority inheritance is not modelled: mutexes are plain ones",
            );
        }
        if let Some(value) = fields.get("log_size")
            && !matches!(value.kind, Kind::Int(_) | Kind::String(_) | Kind::Null)
        {
            return Err(fields::mismatch("log_size", value, "MB or a string"));
        }
        ftrace(fields)
    }

    /// The old section that declares mutexes and the like: they need no declaration any more.
    fn resources(&mut self, value: Option<&Value>) -> Result<(), Refusal> {
        let Some(value) = value else {
            return Ok(());
        };
        let Kind::Object(members) = &value.kind else {
            return Ok(());
        };
        for member in members {
            let inner: &[Member] = match &member.value.kind {
                Kind::Object(inner) => inner,
                _ => &[],
            };
            let fields = Fields::new(inner, self.mode);
            if let Some(kind) = fields.string("type")?
                && !RESOURCE_TYPES.contains(&kind.text)
            {
                return Err(Refusal::new(
                    kind.place,
                    format!(
                        "`{}` is no type of resource; the nearest: {}",
                        kind.text,
                        nearest(kind.text, RESOURCE_TYPES.iter().copied())
                    ),
                ));
            }
        }
        self.remarks.note(
            value.place,
            "`resources` need not be declared: tasks name what they use",
        );
        Ok(())
    }

    fn tasks(&mut self, value: &Value) -> Result<Vec<Task>, Refusal> {
        let Kind::Object(members) = &value.kind else {
            return Err(fields::mismatch("tasks", value, "an object of tasks"));
        };
        let mut tasks = Vec::with_capacity(members.len());
        let mut threads = 0;
        for member in members {
            let task = self.task(member)?;
            threads += u64::from(task.instances);
            if threads > MAX_THREADS {
                return Err(Refusal::new(
                    member.place,
                    format!(
                        "up to here {threads} threads start, expected at most {MAX_THREADS}; lower `instance`"
                    ),
                ));
            }
            tasks.push(task);
        }
        if threads == 0 {
            self.remarks
                .warn(value.place, "no thread starts: nothing runs");
        }
        Ok(tasks)
    }

    fn task(&mut self, member: &Member) -> Result<Task, Refusal> {
        let Kind::Object(members) = &member.value.kind else {
            return Err(fields::mismatch(&member.key, &member.value, "an object"));
        };
        let of = format!("the task `{}`", member.key);
        let unknown: Vec<Member> = members
            .iter()
            .filter(|m| !events::is_event(&m.key))
            .cloned()
            .collect();
        self.note_ignored(&unknown, &[PHASE_KEYS, TASK_KEYS, events::EVENTS], &of);
        let fields = Fields::new(members, self.mode);
        let sched = self.task_sched(&fields, member.place)?;
        let taskgroup = self.taskgroup(&fields)?;
        let grouped = taskgroup.is_some();
        let instances = fields.int("instance", 1, self.remarks)?;
        let Ok(instances) = u32::try_from(instances) else {
            let place = fields.get("instance").map_or(member.place, |v| v.place);
            return Err(Refusal::new(
                place,
                format!("`instance` is {instances}, expected 0 (a template to fork) or more"),
            ));
        };
        let delay = self.at_least(0, "us", "delay", &fields, 0)?;
        let mut task = Task {
            name: member.key.clone(),
            place: member.place,
            instances,
            delay_ns: u64::try_from(delay).unwrap_or(0) * NS_PER_US,
            loops: u64::MAX,
            cpus: self.cpus(&fields)?,
            taskgroup,
            sched,
            phases: Vec::new(),
        };
        match fields.get("phases").filter(|v| v.kind != Kind::Null) {
            Some(phases) => self.phases(&mut task, &fields, phases, grouped)?,
            None => self.inline_phase(&mut task, &fields, grouped, member.value.place)?,
        }
        Ok(task)
    }

    fn phases(
        &mut self,
        task: &mut Task,
        fields: &Fields,
        phases: &Value,
        mut taskgroup: bool,
    ) -> Result<(), Refusal> {
        let Kind::Object(members) = &phases.kind else {
            return Err(fields::mismatch("phases", phases, "an object of phases"));
        };
        if members.is_empty() {
            return Err(Refusal::new(
                phases.place,
                "`phases` is empty, and rt-app crashes on that; write a phase or leave `phases` out",
            ));
        }
        for ignored in fields.members().iter().filter(|m| events::is_event(&m.key)) {
            if !TASK_KEYS.contains(&ignored.key.as_str()) {
                self.remarks.warn(
                    ignored.place,
                    format!(
                        "the event `{}` is ignored, because the task has `phases`; put it into one",
                        ignored.key
                    ),
                );
            }
        }
        let mut policy = task.sched.policy;
        for member in members {
            let phase = self.phase(member, &task.name)?;
            let sched_policy = phase.sched.as_ref().and_then(|s| s.policy);
            policy = sched_policy.or(policy);
            taskgroup |= phase.taskgroup.is_some();
            attributes::check_taskgroup(taskgroup, policy, member.place)?;
            task.phases.push(phase);
        }
        let loops = fields.int("loop", -1, self.remarks)?;
        task.loops = u64::try_from(loops).unwrap_or(u64::MAX);
        if loops == 0 {
            let place = fields.get("loop").map_or(task.place, |v| v.place);
            self.remarks.warn(
                place,
                "the task does nothing, because its `loop` is 0; use -1 for ever",
            );
        }
        Ok(())
    }

    fn phase(&mut self, member: &Member, task: &str) -> Result<Phase, Refusal> {
        let Kind::Object(members) = &member.value.kind else {
            return Err(fields::mismatch(&member.key, &member.value, "an object"));
        };
        let of = format!("the phase `{}`", member.key);
        let unknown: Vec<Member> = members
            .iter()
            .filter(|m| !events::is_event(&m.key))
            .cloned()
            .collect();
        self.note_ignored(&unknown, &[PHASE_KEYS, events::EVENTS], &of);
        let fields = Fields::new(members, self.mode);
        Ok(Phase {
            place: member.place,
            loops: self.phase_loops(&fields)?,
            cpus: self.cpus(&fields)?,
            taskgroup: self.taskgroup(&fields)?,
            sched: self.phase_sched(&fields, member.place)?,
            events: self.events(members, member.value.place, task)?,
        })
    }

    /// The task itself is its only phase. Its `loop` is the phase's; without one it goes on for ever.
    fn inline_phase(
        &mut self,
        task: &mut Task,
        fields: &Fields,
        taskgroup: bool,
        place: Place,
    ) -> Result<(), Refusal> {
        let has_loop = fields.get("loop").is_some_and(|v| v.kind != Kind::Null);
        task.loops = if has_loop { 1 } else { u64::MAX };
        attributes::check_taskgroup(taskgroup, task.sched.policy, task.place)?;
        let phase = Phase {
            place: task.place,
            loops: self.phase_loops(fields)?,
            cpus: None,
            taskgroup: None,
            sched: None,
            events: self.events(fields.members(), place, &task.name)?,
        };
        task.phases.push(phase);
        Ok(())
    }

    fn phase_loops(&mut self, fields: &Fields) -> Result<u64, Refusal> {
        let loops = fields.int("loop", 1, self.remarks)?;
        if loops == 0 {
            let place = fields.get("loop").map_or(Place::default(), |v| v.place);
            self.remarks.warn(
                place,
                "a phase with `loop` 0 is repeated for ever by rt-app; write -1 if that is meant",
            );
        }
        Ok(match loops {
            1.. => loops as u64,
            _ => u64::MAX,
        })
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
