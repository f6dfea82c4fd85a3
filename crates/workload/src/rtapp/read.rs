// SPDX-License-Identifier: GPL-2.0-only
//! From the JSON tree to the [`model`](super::model): the grammar of rt-app, its defaults, and what it
//! refuses (`rt-app_parse_config.c`).

mod attributes;
mod events;
mod fields;
mod global;

use super::json::{Kind, Member, Value};
use super::model::{Config, Phase, Task};
use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::load::Mode;
use crate::program::Policy;
pub(super) use attributes::check as check_sched;
use events::MemoryBuffers;
use fields::Fields;

/// Threads that a file may start; far above what rt-app can start on a stock kernel.
const MAX_THREADS: u64 = 100_000;
const NS_PER_US: u64 = 1000;

const TOP_KEYS: &[&str] = &["tasks", "global", "resources"];
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
        mem_buffer_size: 0,
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
            "`resources` is not needed: tasks name the resources that they use",
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
        let delay = fields.int("delay", 0, self.remarks)?;
        if delay < 0 {
            let place = fields.get("delay").map_or(member.place, |v| v.place);
            self.remarks.warn(
                place,
                format!("`delay` is {delay} us, which counts as no delay; rt-app built for 64 bits takes it for 584000 years and never starts the thread: leave it out"),
            );
        }
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
                "rt-app repeats a phase with `loop` 0 for ever; write -1 if you want that",
            );
        }
        Ok(match loops {
            1.. => loops as u64,
            _ => u64::MAX,
        })
    }
}
