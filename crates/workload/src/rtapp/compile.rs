// SPDX-License-Identifier: GPL-2.0-only
//! From the [`model`](super::model) to a [`Workload`]: threads, what they share, and their programs.
//!
//! Threads that are not forked meet at a barrier first, which fixes the origin of delays and timers.

mod attributes;
mod definition;
mod resources;
mod thread;

use super::model::{Action, Config, Task};
use crate::check::MAX_COMM;
use crate::diagnostic::{Refusal, Remarks, nearest};
use crate::measures::{latency_measures, lifetime_s, log_measures};
use crate::program::{
    Attributes, Better, Measure, MeasureSource, Op, Program, ProgramId, TaskId, TaskSpec, Workload,
};
use definition::Definition;
use resources::Resources;
use std::collections::{BTreeMap, VecDeque};
use thread::Inherited;

/// Threads that one task may be forked into (`FORKS_LIMIT` of rt-app).
const MAX_FORKS: u32 = 1024;
/// Instructions of all programs together: loops that fork are unrolled.
const MAX_OPS: usize = 8 << 20;

/// Compiles a file.
pub(super) fn compile(
    name: &str,
    config: &Config,
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let mut compiler = Compiler::new(name, config, remarks)?;
    compiler.add_threads();
    compiler.add_programs()?;
    compiler.add_measures();
    Ok(compiler.finish())
}

struct Compiler<'a> {
    config: &'a Config,
    remarks: &'a mut Remarks,
    workload: Workload,
    resources: Resources,
    definitions: Vec<Definition>,
    /// Threads whose program is still to be compiled.
    pending: VecDeque<Pending>,
    /// Programs that several threads can share.
    shared: BTreeMap<(usize, Inherited), ProgramId>,
    /// How often each task was forked.
    forks: BTreeMap<String, u32>,
    ops: usize,
}

struct Pending {
    thread: TaskId,
    /// Index into [`Config::tasks`].
    definition: usize,
    inherited: Inherited,
}

impl<'a> Compiler<'a> {
    fn new(name: &str, config: &'a Config, remarks: &'a mut Remarks) -> Result<Self, Refusal> {
        check_fork_targets(config)?;
        let mut workload = Workload::empty(name);
        workload.duration_ns = config.global.duration_ns;
        workload.calibration = config.global.calibration;
        let resources = Resources::new(config)?;
        let definitions = definition::all(config, remarks)?;
        let histograms = definitions.iter().filter(|d| d.histogram.is_some());
        workload.histograms = vec![String::new(); histograms.count()];
        workload.counters = definitions.len() as u32;
        workload.logs = definitions.len() as u32;
        Ok(Compiler {
            config,
            remarks,
            workload,
            resources,
            definitions,
            pending: VecDeque::new(),
            shared: BTreeMap::new(),
            forks: BTreeMap::new(),
            ops: 0,
        })
    }

    /// Adds the threads that start by themselves, in the order of the file.
    fn add_threads(&mut self) {
        let threads = self.config.tasks.iter().map(|it| it.instances as usize);
        self.workload.tasks.reserve_exact(threads.sum());
        for (definition, task) in self.config.tasks.iter().enumerate() {
            for _ in 0..task.instances {
                let suffix = format!("-{}", self.workload.tasks.len());
                self.add_thread(definition, &suffix, Some(0), Inherited::default());
            }
        }
    }

    fn add_thread(
        &mut self,
        definition: usize,
        suffix: &str,
        start_ns: Option<u64>,
        inherited: Inherited,
    ) -> TaskId {
        let config = self.config;
        let task = &config.tasks[definition];
        let thread = self.workload.tasks.len() as TaskId;
        let spec = TaskSpec {
            comm: self.comm(task, suffix),
            program: 0,
            attributes: Attributes {
                affinity: inherited.affinity.clone(),
                ..Attributes::default()
            },
            start_ns,
            process: 0,
            working_set_bytes: self.definitions[definition].working_set_bytes,
            begins: None,
        };
        self.workload.tasks.push(spec);
        self.pending.push_back(Pending {
            thread,
            definition,
            inherited,
        });
        thread
    }

    /// Name and suffix, the name shortened so that both fit. (Linux would refuse the whole name, and
    /// all such threads would be called `rt-app`.)
    fn comm(&mut self, task: &Task, suffix: &str) -> String {
        let room = MAX_COMM.saturating_sub(suffix.len());
        let mut end = task.name.len().min(room);
        while !task.name.is_char_boundary(end) {
            end -= 1;
        }
        let comm = format!("{}{suffix}", &task.name[..end]);
        if end < task.name.len() {
            self.remarks.note(
                task.place,
                format!(
                    "`{}{suffix}` is longer than the {MAX_COMM} bytes of a comm; it is shortened to `{comm}` (a kernel would keep `rt-app`)",
                    task.name
                ),
            );
        }
        comm
    }

    /// Compiles the programs of all threads; those that fork add threads on the way.
    fn add_programs(&mut self) -> Result<(), Refusal> {
        while let Some(pending) = self.pending.pop_front() {
            let program = self.program_of(&pending)?;
            self.workload.tasks[pending.thread as usize].program = program;
        }
        Ok(())
    }

    fn program_of(&mut self, pending: &Pending) -> Result<ProgramId, Refusal> {
        let key = (pending.definition, pending.inherited.clone());
        if let Some(program) = self.shared.get(&key) {
            return Ok(*program);
        }
        let program = self.thread_program(pending.definition, &pending.inherited)?;
        let id = self.workload.add_program(program);
        if !self.definitions[pending.definition].forks {
            self.shared.insert(key, id);
        }
        Ok(id)
    }

    /// Adds a thread of the task `name`. `None` if it was forked too often.
    fn fork(&mut self, name: &str, inherited: Inherited) -> Option<TaskId> {
        let count = self.forks.entry(name.to_owned()).or_insert(0);
        if *count == MAX_FORKS {
            return None;
        }
        let number = *count;
        *count += 1;
        let definition = self.config.tasks.iter().position(|t| t.name == name)?;
        let suffix = format!("-{}-{number:04}", self.workload.tasks.len());
        Some(self.add_thread(definition, &suffix, None, inherited))
    }

    /// How long it took, if it comes to its end. Per task: latency of its timers, how many loops its
    /// threads did, what rt-app logs of them; if its phases change the CPUs that it may use, when
    /// they had all gone to another cluster; if it has clamps, how much of their time they had a CPU
    /// of the greatest capacity.
    fn add_measures(&mut self) {
        if !self.workload.tasks.is_empty() && !self.workload.programs.iter().any(never_ends) {
            self.workload.measures.push(lifetime_s());
        }
        let mut names = BTreeMap::new();
        let mut first = 0;
        for (at, task) in self.config.tasks.iter().enumerate() {
            let name = unique_metric_name(&task.name, &mut names);
            let count = task.instances;
            if count > 0 && task.changes_cpus() {
                self.workload.measures.push(Measure {
                    name: format!("{name}_left_cluster_ms"),
                    unit: "ms",
                    better: Some(Better::Lower),
                    source: MeasureSource::LeftCluster { first, count },
                });
            }
            if count > 0 && task.has_clamps() {
                self.workload.measures.push(Measure {
                    name: format!("{name}_on_biggest_percent"),
                    unit: "percent",
                    better: None,
                    source: MeasureSource::OnBiggest { first, count },
                });
            }
            first += count;
            let definition = &self.definitions[at];
            if let Some(histogram) = definition.histogram {
                let latency = format!("{name}_wakeup_latency");
                let measures = latency_measures(&latency, histogram);
                self.workload.measures.extend(measures);
                self.workload.histograms[histogram as usize] = latency;
            }
            self.workload.measures.push(Measure {
                name: format!("{name}_loops"),
                unit: "",
                better: Some(Better::Higher),
                source: MeasureSource::Counter {
                    counter: definition.counter,
                },
            });
            let waits = definition.histogram.is_some();
            let logged = log_measures(&name, definition.log, definition.computes, waits);
            self.workload.measures.extend(logged);
        }
    }

    fn finish(mut self) -> Workload {
        self.workload.mutexes = self.resources.mutexes();
        self.workload.conditions = self.resources.conditions();
        self.workload.semaphores = self.resources.semaphores();
        let own = self.config.tasks.iter().map(|t| t.instances).sum();
        self.workload.barriers = self.resources.barriers(own);
        self.workload.names = self.resources.names();
        self.workload
    }
}

/// rt-app finds out when it comes to the fork, and ends.
fn check_fork_targets(config: &Config) -> Result<(), Refusal> {
    let names: Vec<&str> = config.tasks.iter().map(|t| t.name.as_str()).collect();
    for event in config.events() {
        if let Action::Fork { task } = &event.action
            && !names.contains(&task.as_str())
        {
            return Err(Refusal::new(
                event.place,
                format!(
                    "`fork` names the task `{task}`, which does not exist; the nearest: {}",
                    nearest(task, names.iter().copied())
                ),
            ));
        }
    }
    Ok(())
}

/// Whether a loop of the program goes on for ever.
fn never_ends(program: &Program) -> bool {
    let endless = |op: &Op| {
        matches!(
            op,
            Op::LoopBegin {
                count: u64::MAX,
                ..
            }
        )
    };
    program.ops.iter().any(endless)
}

/// The name in lower_snake, with a number if another task has the same.
fn unique_metric_name(name: &str, taken: &mut BTreeMap<String, u32>) -> String {
    let snake: String = name
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '_',
        })
        .collect();
    let snake = if snake.is_empty() {
        "task".to_owned()
    } else {
        snake
    };
    let mut candidate = snake.clone();
    while taken.contains_key(&candidate) {
        let count = taken.entry(snake.clone()).or_insert(1);
        *count += 1;
        candidate = format!("{snake}_{count}");
    }
    taken.insert(candidate.clone(), 1);
    candidate
}

impl Config {
    /// All events, in the order of the file.
    fn events(&self) -> impl Iterator<Item = &super::model::Event> {
        let phases = self.tasks.iter().flat_map(|task| &task.phases);
        phases.flat_map(|phase| &phase.events)
    }
}
