// SPDX-License-Identifier: GPL-2.0-only
//! What a scenario runs: tasks in phases, as LISA gives them to rt-app, and the
//! programs that they come to.

use alight_machine::Governor;
use alight_workload::program::{
    Attributes, Lateness, LatenessId, Observation, Op, OptionalId, TaskSpec, TimerMode,
    TimerOrigin, Workload,
};
use alight_workload::{Assembler, Mode};
use serde::{Deserialize, Serialize};

use super::platform::Platform;

/// Activation period of LISA's tasks, us (`TASK_PERIOD`).
pub const PERIOD_US: u64 = 16_000;

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What tells it from the other runs of the scenario: `CPU0 at 450000 kHz`.
    pub label: String,
    /// The cpufreq governor.
    pub clock: ClockRule,
    /// Idle states but the shallowest are off (`target.disable_idle_states()`).
    pub shallow_idle: bool,
    /// Load tracking is recorded.
    pub signals: bool,
    /// So many times a random CPU goes off or comes back.
    pub hotplug: u32,
    /// The load.
    pub load: Load,
}

/// A cpufreq governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockRule {
    /// schedutil.
    Schedutil,
    /// performance.
    Performance,
    /// userspace, at this speed.
    Userspace {
        /// kHz.
        khz: u32,
    },
}

/// The load of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Tasks that start together.
    Tasks(Vec<Task>),
    /// A tool's command line, all its tasks on one CPU.
    Tool {
        /// The command.
        command: String,
        /// The CPU.
        cpu: u32,
    },
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its phases, in order.
    pub phases: Vec<Phase>,
}

/// A part of a task's life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Its work.
    pub work: Work,
    /// CPUs it may use; `None`: all.
    pub cpus: Option<Vec<u32>>,
    /// `uclamp_min` and `uclamp_max`, both this.
    pub clamp: Option<u32>,
    /// It is judged; else it only prepares.
    pub asserted: bool,
}

/// The work of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Some work each period.
    Periodic {
        /// Periods.
        loops: u64,
        /// Work, ns on the biggest CPU at its top frequency.
        run_ns: u64,
        /// Period, ns.
        period_ns: u64,
    },
    /// Work without a pause, ns on the biggest CPU at its top frequency.
    Run {
        /// How much.
        ns: u64,
    },
    /// Sleep.
    Sleep {
        /// How long, ns.
        ns: u64,
    },
}

impl Work {
    /// LISA's `PeriodicWload` with its usual period: `util` (0..=1024) for `ms`.
    pub fn periodic(util: f64, ms: u64) -> Self {
        Self::periodic_of(util, ms, PERIOD_US)
    }

    /// The same with any period.
    pub fn periodic_of(util: f64, ms: u64, period_us: u64) -> Self {
        Work::Periodic {
            loops: ms * 1000 / period_us,
            run_ns: (util / 1024.0 * (period_us * 1000) as f64).max(1.0) as u64,
            period_ns: period_us * 1000,
        }
    }

    /// Mean utilization, 0..=1024.
    pub fn mean_util(&self) -> f64 {
        match *self {
            Work::Periodic {
                run_ns, period_ns, ..
            } => run_ns as f64 * 1024.0 / period_ns as f64,
            Work::Run { .. } => 1024.0,
            Work::Sleep { .. } => 0.0,
        }
    }

    /// What `util_avg` reaches at the end of an activation: the mean and PELT's swing above it.
    pub fn peak_util(&self) -> u32 {
        let swing = match *self {
            Work::Periodic {
                run_ns, period_ns, ..
            } => super::pelt::swing_above(run_ns, period_ns),
            _ => 0.0,
        };
        (self.mean_util() + swing).round() as u32
    }

    /// How long it takes if nothing hinders it, ns on the slowest clock of a tenth of the speed.
    fn at_most_ns(&self) -> u64 {
        match *self {
            Work::Periodic {
                loops,
                run_ns,
                period_ns,
            } => loops * period_ns.max(run_ns * 10),
            Work::Run { ns } => ns * 100,
            Work::Sleep { ns } => ns,
        }
    }
}

impl Phase {
    /// A judged phase on all CPUs.
    pub fn new(name: impl Into<String>, work: Work) -> Self {
        Phase {
            name: name.into(),
            work,
            cpus: None,
            clamp: None,
            asserted: true,
        }
    }

    /// On these CPUs only.
    #[must_use]
    pub fn on(mut self, cpus: &[usize]) -> Self {
        self.cpus = Some(cpus.iter().map(|&cpu| cpu as u32).collect());
        self
    }

    /// With both clamps.
    #[must_use]
    pub fn clamped(mut self, clamp: u32) -> Self {
        self.clamp = Some(clamp);
        self
    }

    /// Not judged.
    #[must_use]
    pub fn unjudged(mut self) -> Self {
        self.asserted = false;
        self
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            affinity: self.cpus.clone(),
            lift_affinity: self.cpus.is_none(),
            uclamp_min: self.clamp,
            uclamp_max: self.clamp,
            ..Attributes::default()
        }
    }
}

impl Plan {
    /// Tasks under schedutil.
    pub fn tasks(label: impl Into<String>, tasks: Vec<Task>) -> Self {
        Plan {
            label: label.into(),
            clock: ClockRule::Schedutil,
            shallow_idle: false,
            signals: false,
            hotplug: 0,
            load: Load::Tasks(tasks),
        }
    }

    /// The governor.
    pub fn governor(&self) -> Governor {
        match self.clock {
            ClockRule::Schedutil => Governor::Schedutil,
            ClockRule::Performance => Governor::Performance,
            ClockRule::Userspace { khz } => Governor::Userspace { khz },
        }
    }

    /// Its tasks; none of a tool.
    pub fn of_tasks(&self) -> &[Task] {
        match &self.load {
            Load::Tasks(tasks) => tasks,
            Load::Tool { .. } => &[],
        }
    }

    /// When the run ends at the latest, ns.
    pub fn end_ns(&self) -> u64 {
        let task = |task: &Task| {
            task.phases
                .iter()
                .map(|phase| phase.work.at_most_ns())
                .sum()
        };
        let longest = self.of_tasks().iter().map(task).max();
        longest.unwrap_or(0).max(1_000_000_000) * 2
    }

    /// What the simulator runs.
    ///
    /// # Errors
    /// If the command line is none.
    pub fn workload(&self, platform: &Platform) -> Result<Workload, String> {
        match &self.load {
            Load::Tasks(tasks) => Ok(of_tasks(&self.label, tasks, platform)),
            Load::Tool { command, cpu } => {
                let loaded = Workload::load(command, Mode::default());
                let mut workload = loaded.map_err(|error| error.to_string())?.workload;
                for task in &mut workload.tasks {
                    task.attributes.affinity = Some(vec![*cpu]);
                }
                Ok(workload)
            }
        }
    }
}

/// Tasks that start together. Each phase of each task has a mark, in order; each task has two
/// counters: activations, and those that ended after the next one was due.
fn of_tasks(name: &str, tasks: &[Task], platform: &Platform) -> Workload {
    let mut workload = Workload::empty(name);
    workload.calibration = alight_workload::program::Calibration::Cpu(platform.biggest() as u32);
    workload.barriers = vec![tasks.len() as u32];
    workload.counters = 2 * tasks.len() as u32;
    workload.instruments.stamps = tasks.len() as u32;
    for (index, task) in tasks.iter().enumerate() {
        let program = program(&mut workload, index as u32, task);
        workload.programs.push(program);
        workload.tasks.push(TaskSpec {
            comm: task.name.clone(),
            program: index as u32,
            attributes: Attributes {
                lift_affinity: false,
                ..task.phases[0].attributes()
            },
            start_ns: Some(0),
            process: 0,
            working_set_bytes: None,
            begins: None,
        });
    }
    workload
}

fn program(workload: &mut Workload, task: u32, of: &Task) -> alight_workload::program::Program {
    let mut asm = Assembler::default();
    asm.op(Op::Barrier { barrier: 0 });
    asm.op(Op::Observe(Observation::Stamp { stamp: task }));
    for (at, phase) in of.phases.iter().enumerate() {
        if at != 0 && phase.attributes() != of.phases[at - 1].attributes() {
            workload.attributes.push(phase.attributes());
            asm.op(Op::SetAttributes {
                attributes: workload.attributes.len() as u32 - 1,
            });
        }
        asm.op(Op::Mark {
            mark: workload.marks,
        });
        workload.marks += 1;
        work(workload, &mut asm, task, phase.work);
    }
    asm.finish()
}

fn work(workload: &mut Workload, asm: &mut Assembler, task: u32, work: Work) {
    match work {
        Work::Run { ns } => asm.op(Op::Run { ns }),
        Work::Sleep { ns } => asm.op(Op::Sleep { ns }),
        Work::Periodic {
            loops,
            run_ns,
            period_ns,
        } => {
            let lateness = workload.lateness.len() as LatenessId;
            workload.lateness.push(Lateness {
                limit_ns: period_ns,
                hold_us: 0,
            });
            asm.repeat(loops, |body| {
                body.op(Op::Run { ns: run_ns });
                body.op(Op::Count { counter: 2 * task });
                body.op(Op::Observe(Observation::CountLate {
                    stamp: task,
                    lateness,
                    counter: 2 * task + 1,
                }));
                body.op(Op::Timer {
                    slot: 0,
                    period_ns,
                    mode: TimerMode::Relative,
                    origin: TimerOrigin::TaskStart,
                    histogram: OptionalId::NONE,
                });
                body.op(Op::Observe(Observation::StampTimer {
                    stamp: task,
                    slot: 0,
                }));
            });
        }
    }
}
