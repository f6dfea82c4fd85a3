// SPDX-License-Identifier: GPL-2.0-only
//! What the tests of the mechanisms are built on: a machine so plain that every
//! time can be worked out by hand, programs given as lists of operations, and a
//! record of who ran where from when on.
//!
//! The invariants are proved after every event, and no queue's time goes back.

use crate::dispatch::Sim;
use crate::face::api::{Cgroup, Scenario, SystemClamps};
use crate::face::changes::Change;
use crate::face::sysctl::{Sysctl, SysctlName};
use crate::world::Output;
use alight_machine::{
    Cluster, CoreType, Costs, Cpu, CpuSet, FreqDomain, Governor, IdleScope, IdleState, Machine,
    MachineLevel, MemoryCosts, Opp,
};
use alight_policy::Scheduler;
use alight_trace::{Detail, Event, PrevState, Sink, Waker};
use alight_workload::program::{
    Attributes, Calibration, ChannelKind, Deal, Instruments, Names, Op, Program, TaskSpec, Workload,
};

pub(crate) const US: u64 = 1000;
pub(crate) const MS: u64 = 1000 * US;

/// Ticks come every 4 ms.
const HZ: u32 = 250;

/// Equal CPUs of capacity 1024 with one operating point, in caches of
/// `per_cache`; nothing costs anything, and idle CPUs are out at once.
pub(crate) fn machine(cpus: usize, per_cache: usize) -> Machine {
    let span = |first: usize, nr: usize| -> CpuSet { (first..first + nr).collect() };
    let caches = (0..cpus).step_by(per_cache);
    let mut levels = vec![MachineLevel {
        name: "MC".into(),
        spans: caches.map(|first| span(first, per_cache)).collect(),
        power_gated: false,
    }];
    if per_cache < cpus {
        levels.push(MachineLevel {
            name: "PKG".into(),
            spans: vec![span(0, cpus)],
            power_gated: false,
        });
    }
    // What does not matter here is as on some machine without NUMA.
    let base = Machine::load("ca9x4").expect("built in");
    Machine {
        name: "plain".into(),
        hz: HZ,
        governor: Governor::Performance,
        cpus: (0..cpus)
            .map(|cpu| Cpu {
                core_type: 0,
                freq_domain: 0,
                cluster: 0,
                core: cpu,
                llc: cpu / per_cache,
                node: 0,
                capacity_orig: 1024,
                stated_speed: None,
            })
            .collect(),
        core_types: vec![CoreType {
            name: "plain".into(),
            idle_states: vec![IdleState {
                name: "WFI".into(),
                entry_ns: 0,
                exit_ns: 0,
                wakeup_ns: 0,
                residency_ns: 0,
                power_uw: 0,
                scope: IdleScope::Core,
                polling: false,
                timer_stops: false,
            }],
            costs: Costs::default(),
            l2_bytes: 1 << 20,
            smt_percent: 100,
        }],
        freq_domains: vec![FreqDomain {
            cpus: span(0, cpus),
            opps: vec![Opp {
                khz: 1_000_000,
                capacity: 1024,
                core_power_uw: 0,
                cluster_power_uw: 0,
            }],
            switch_ns: 0,
            fast_switch: true,
            rate_limit_ns: None,
        }],
        clusters: vec![Cluster {
            name: "plain".into(),
            cpus: span(0, cpus),
            idle_power_uw: 0,
            off_power_uw: 0,
        }],
        levels,
        memory: MemoryCosts::default(),
        ..base
    }
}

/// As [`machine`], of one cache; the first half of the CPUs has half the
/// capacity of the others and takes an eighth of the power.
pub(crate) fn big_little(cpus: usize) -> Machine {
    let mut machine = machine(cpus, cpus);
    let half = cpus / 2;
    let domain = |cpus: std::ops::Range<usize>, khz, capacity, core_power_uw| FreqDomain {
        cpus: cpus.collect(),
        opps: vec![Opp {
            khz,
            capacity,
            core_power_uw,
            cluster_power_uw: 0,
        }],
        ..machine.freq_domains[0].clone()
    };
    machine.freq_domains = vec![
        domain(0..half, 1_000_000, 512, 100_000),
        domain(half..cpus, 2_000_000, 1024, 800_000),
    ];
    for (index, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.freq_domain = usize::from(index >= half);
        cpu.capacity_orig = if index < half { 512 } else { 1024 };
    }
    machine
}

/// A task of the workload under test.
#[derive(Clone)]
pub(crate) struct Given {
    pub ops: Vec<Op>,
    pub attributes: Attributes,
    pub start_ns: Option<u64>,
}

/// A task that does `ops`, beginning `start_ns` after the others might.
pub(crate) fn task(start_ns: u64, ops: &[Op]) -> Given {
    Given {
        ops: ops.to_vec(),
        attributes: Attributes::default(),
        start_ns: Some(start_ns),
    }
}

/// A task that another one forks.
pub(crate) fn child(ops: &[Op]) -> Given {
    Given {
        start_ns: None,
        ..task(0, ops)
    }
}

impl Given {
    pub fn on(mut self, cpus: &[u32]) -> Self {
        self.attributes.affinity = Some(cpus.to_vec());
        self
    }

    pub fn nice(mut self, nice: i32) -> Self {
        self.attributes.nice = Some(nice);
        self
    }

    /// Asks for a slice of its own, ns.
    pub fn slice(mut self, ns: u64) -> Self {
        self.attributes.slice_ns = Some(ns);
        self
    }

    pub fn policy(mut self, policy: alight_workload::program::Policy) -> Self {
        self.attributes.policy = Some(policy);
        self
    }
}

/// Numbers without end, even and odd in turn.
const EVEN_AND_ODD: Deal = Deal {
    counter: 0,
    modulo: 2,
    limit: u64::MAX,
    until_ns: u64::MAX,
};

/// A workload of these tasks, which are called `t0`, `t1` …; with four of each
/// resource that needs no description.
pub(crate) fn workload(tasks: &[Given]) -> Workload {
    Workload {
        name: "given".into(),
        tasks: tasks
            .iter()
            .zip(0..)
            .map(|(given, program)| TaskSpec {
                comm: format!("t{program}"),
                program,
                attributes: given.attributes.clone(),
                start_ns: given.start_ns,
                process: 0,
                working_set_bytes: None,
                begins: None,
            })
            .collect(),
        programs: tasks
            .iter()
            .map(|given| Program {
                ops: given.ops.clone(),
            })
            .collect(),
        attributes: vec![],
        deals: vec![EVEN_AND_ODD],
        lateness: vec![],
        blocks: None,
        repeats: None,
        channels: vec![],
        barriers: vec![],
        mutexes: 4,
        conditions: 4,
        semaphores: 4,
        counters: 4,
        marks: 4,
        logs: 0,
        names: Names::default(),
        histograms: vec!["a".into(), "b".into()],
        instruments: Instruments::default(),
        measures: vec![],
        report: None,
        duration_ns: None,
        background: false,
        calibration: Calibration::Biggest,
        dma_latency_us: None,
        missing_limit: None,
        left_out: vec![],
    }
}

/// A workload with channels besides.
pub(crate) fn with_channels(kinds: &[ChannelKind], tasks: &[Given]) -> Workload {
    Workload {
        channels: kinds.to_vec(),
        ..workload(tasks)
    }
}

/// Runs `test` on a run that is about to begin: time 0, all CPUs idle. The
/// workload starts at 0 instead of a few ms later, from CPU 0 where it may.
pub(crate) fn begin<R>(
    machine: &Machine,
    workload: &Workload,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    begin_recorded(machine, workload, &mut Record::default(), test)
}

/// As [`begin`], under another base than Linux 5.5.
pub(crate) fn begin_on<R>(
    base: &str,
    machine: &Machine,
    workload: &Workload,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let rules = (base, Governor::Performance);
    begin_under(rules, machine, workload, &mut Record::default(), test)
}

/// As [`begin`]; what happens goes to `record`.
pub(crate) fn begin_recorded<R>(
    machine: &Machine,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let rules = ("linux-5.5", Governor::Performance);
    begin_under(rules, machine, workload, record, test)
}

/// As [`begin_recorded`], under another scheduler and governor.
pub(crate) fn begin_under<R>(
    (scheduler, governor): (&str, Governor),
    machine: &Machine,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    begin_changed(&[], (scheduler, governor), machine, workload, record, test)
}

/// As [`begin_under`], on a machine that changes meanwhile.
pub(crate) fn begin_changed<R>(
    changes: &[Change],
    (scheduler, governor): (&str, Governor),
    machine: &Machine,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let scheduler = Scheduler::parse(scheduler).expect("a scheduler");
    let scenario = Scenario {
        changes,
        ..plain(machine, workload, &scheduler, governor)
    };
    begin_scenario(&scenario, workload, record, test)
}

/// As [`begin_on`] under the base `base`, with groups and sysctls.
pub(crate) fn begin_grouped<R>(
    (groups, sysctls): (&[Cgroup], &[Sysctl]),
    base: &str,
    machine: &Machine,
    workload: &Workload,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let scheduler = Scheduler::parse(base).expect("a scheduler");
    let scenario = Scenario {
        groups,
        sysctls,
        ..plain(machine, workload, &scheduler, Governor::Performance)
    };
    begin_scenario(&scenario, workload, &mut Record::default(), test)
}

/// As [`begin_on`], with sysctls.
pub(crate) fn with_sysctls(
    machine: &Machine,
    workload: &Workload,
    base: &str,
    sysctls: &[Sysctl],
    test: impl FnOnce(&mut Sim),
) {
    begin_grouped((&[], sysctls), base, machine, workload, test);
}

/// What writes these clamps of the system.
pub(crate) fn writing(clamps: SystemClamps) -> Vec<Sysctl> {
    let all = [
        (SysctlName::UtilClampMin, clamps.min),
        (SysctlName::UtilClampMax, clamps.max),
        (SysctlName::UtilClampMinRtDefault, clamps.min_rt_default),
    ];
    let changed = all.into_iter().filter(|(_, value)| *value != 1024);
    let write = |(name, value): (_, u32)| Sysctl {
        name,
        value: value.into(),
    };
    changed.map(write).collect()
}

/// A run on a machine that nothing happens to.
fn plain<'a>(
    machine: &'a Machine,
    workload: &'a Workload,
    scheduler: &'a Scheduler,
    governor: Governor,
) -> Scenario<'a> {
    Scenario {
        governor: Some(governor),
        duration_ns: Some(3600 * 1000 * MS),
        check: true,
        ..Scenario::new(machine, std::slice::from_ref(workload), scheduler)
    }
}

fn begin_scenario<R>(
    scenario: &Scenario<'_>,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let out = Output {
        sink: Some(record),
        error: None,
        waker: Waker::Task,
    };
    match crate::setup::build::build(scenario, out) {
        Ok((mut sim, _)) => {
            start_at_once(&mut sim, workload);
            test(&mut sim)
        }
        Err(error) => panic!("{error}"),
    }
}

/// Takes the noise out of when and where the tasks start.
fn start_at_once(sim: &mut Sim, workload: &Workload) {
    for (task, spec) in (0..).zip(&workload.tasks) {
        let Some(at) = spec.start_ns else { continue };
        let affinity = sim.tasks[task as usize].affinity as usize;
        let first = match spec.begins {
            Some(begins) => begins.cpu,
            None => sim.masks[affinity].iter().next().expect("not empty"),
        };
        let old = sim.tasks[task as usize].cpu as usize;
        let world = sim.world();
        world.cpus[old].timers.remove(&mut world.nodes, task);
        sim.tasks[task as usize].cpu = first;
        sim.tasks[task as usize].timer_point = at;
        sim.views[task as usize].prev_cpu = first;
        let world = sim.world();
        world.cpus[first as usize]
            .timers
            .insert(&mut world.nodes, task, at);
    }
    for cpu in 0..sim.cpus.len() {
        sim.arm(cpu);
    }
}

impl Sim<'_> {
    /// Lets time pass until `time`; what is due then has happened.
    pub(crate) fn until(&mut self, time: u64) {
        let mut min_vruntime: Vec<u64> = self.cpus.iter().map(|c| c.fair.min_vruntime).collect();
        loop {
            let (cpu_time, cpu) = self.queue.first();
            let (freq_time, slot) = self.next_of_machine();
            if cpu_time.min(freq_time) > time {
                break;
            }
            self.now = cpu_time.min(freq_time);
            if cpu_time == self.now {
                self.cpu_event(cpu);
            } else {
                self.machine_event(slot);
            }
            self.check_invariants()
                .unwrap_or_else(|error| panic!("{error}"));
            for (cpu, before) in min_vruntime.iter_mut().enumerate() {
                let now = self.cpus[cpu].fair.min_vruntime;
                assert!(
                    now.wrapping_sub(*before) as i64 >= 0,
                    "min_vruntime of CPU {cpu} went from {before} to {now} at {} ns",
                    self.now
                );
                *before = now;
            }
        }
        self.now = time;
    }

    /// Time that `task` has run, ns.
    pub(crate) fn ran(&mut self, task: usize) -> u64 {
        let cpu = self.tasks[task].cpu as usize;
        self.clock(cpu);
        self.update_curr(cpu);
        if self.curr_is_rt(cpu) {
            self.update_curr_rt(cpu);
        }
        self.tasks[task].sum_exec
    }

    /// First and last passage of mark `id`, ns; it must have been passed.
    pub(crate) fn passed(&self, id: usize) -> (u64, u64) {
        match (self.marks()[id].first, self.marks()[id].last) {
            (Some(first), Some(last)) => (first, last),
            _ => panic!("mark {id} was not passed by {} ns", self.now),
        }
    }
}

/// What the tracepoints said.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// All of them: (time, CPU, which).
    pub all: Vec<(u64, usize, &'static str)>,
    /// (time, CPU, task); `None` is the idle task.
    pub switches: Vec<(u64, usize, Option<usize>)>,
    /// How each task left a CPU.
    pub left: Vec<(usize, PrevState)>,
    /// (time, CPU of the waker, task).
    pub wakings: Vec<(u64, usize, usize)>,
    /// (time, CPU that enqueued it, task).
    pub wakeups: Vec<(u64, usize, usize)>,
    /// What no trace file tells: (time, CPU, what), if it is wanted.
    pub details: Vec<(u64, usize, Detail)>,
    pub wants_details: bool,
    /// When a CPU gets to what happens: (time, tracepoint).
    pub reached: Vec<(u64, &'static str)>,
}

impl Record {
    /// When `task` was switched to, in order: (time, CPU).
    pub fn runs_of(&self, task: usize) -> Vec<(u64, usize)> {
        let of_task = |&&(_, _, next): &&(_, _, Option<usize>)| next == Some(task);
        let switches = self.switches.iter().filter(of_task);
        switches.map(|&(time, cpu, _)| (time, cpu)).collect()
    }

    /// When `task` began to be woken.
    pub fn wakings_of(&self, task: usize) -> Vec<u64> {
        let of_task = |&&(_, _, woken): &&(_, _, usize)| woken == task;
        let wakings = self.wakings.iter().filter(of_task);
        wakings.map(|&(time, ..)| time).collect()
    }
}

impl Sink for Record {
    fn wants_details(&self) -> bool {
        self.wants_details
    }

    fn detail(&mut self, time_ns: u64, cpu: u32, detail: Detail) -> std::io::Result<()> {
        self.details.push((time_ns, cpu as usize, detail));
        Ok(())
    }

    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()> {
        let number = |pid: u32| {
            pid.checked_sub(crate::world::emit::FIRST_PID)
                .map(|n| n as usize)
        };
        let cpu = cpu as usize;
        self.all.push((time_ns, cpu, name(&event)));
        match event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                self.switches.push((time_ns, cpu, number(next.pid)));
                self.left.extend(number(prev.pid).map(|t| (t, prev_state)));
            }
            Event::Waking { task, .. } => {
                self.wakings
                    .extend(number(task.pid).map(|t| (time_ns, cpu, t)));
            }
            Event::Wakeup { task, .. } => {
                self.wakeups
                    .extend(number(task.pid).map(|t| (time_ns, cpu, t)));
            }
            _ => {}
        }
        Ok(())
    }

    fn event_reached(
        &mut self,
        time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Event<'_>,
    ) -> std::io::Result<()> {
        self.reached.push((reached_ns, name(&event)));
        self.event(time_ns, cpu, event)
    }
}

/// The tracepoint that tells of `event`.
fn name(event: &Event<'_>) -> &'static str {
    match event {
        Event::Switch { .. } => "sched_switch",
        Event::Waking { .. } => "sched_waking",
        Event::Wakeup { .. } => "sched_wakeup",
        Event::WakeupNew { .. } => "sched_wakeup_new",
        Event::Migrate { .. } => "sched_migrate_task",
        Event::IdleEnter { .. } => "cpu_idle enter",
        Event::IdleExit => "cpu_idle exit",
        Event::Frequency { .. } => "cpu_frequency",
        Event::Fork { .. } => "sched_process_fork",
        Event::Exit { .. } => "sched_process_exit",
        Event::Print { .. } => "print",
        Event::Decision { .. } => "decision",
        Event::CpuCounter { .. } => "counter",
    }
}
