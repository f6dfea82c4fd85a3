// SPDX-License-Identifier: GPL-2.0-only
//! A machine, a state and a wakeup, to be asked: which CPU, because of which step?

use alight_policy::sound::Views;
use alight_policy::topology::{Description, build};
use alight_policy::{
    AFFINE, Answer, Core, Kind, Mask, NONE, STEPS, Scheduler, Task, VERDICTS, Waker, Wakeup,
};

pub const MS: u64 = 1_000_000;

/// The wakee has id 2 and the waker id 1; they have woken nobody else lately.
pub struct World {
    pub core: Core,
    pub wakee: Task,
    pub waker: Task,
    pub allowed: Mask,
    pub this: u32,
    pub sync: bool,
    pub kind: Kind,
    pub flags: u32,
    pub now: u64,
}

impl World {
    /// All CPUs idle and used to it, so that no scan is cut; CPU 0 wakes a task of CPU 0.
    pub fn new(machine: &Description, scheduler: &str) -> Self {
        let params = Scheduler::parse(scheduler).unwrap().params;
        let mut core = build(machine, &params).unwrap();
        for cpu in &mut core.cpus {
            cpu.avg_idle = MS;
            cpu.idle_stamp = 1;
        }
        World {
            allowed: (0..core.topology.nr_cpus).collect(),
            wakee: Task {
                id: 2,
                nr_cpus_allowed: core.topology.nr_cpus,
                ..Task::default()
            },
            waker: Task {
                id: 1,
                last_wakee: 2,
                ..Task::default()
            },
            core,
            this: 0,
            sync: false,
            kind: Kind::Wake,
            flags: 0,
            now: MS,
        }
    }

    /// The same CPUs with other domains.
    pub fn reshape(&mut self, change: impl FnOnce(&mut Views)) {
        let mut views = self.core.views();
        change(&mut views);
        let new = Core::of_views(views, self.core.params).expect("sound views");
        let was = std::mem::replace(&mut self.core, new);
        (self.core.cpus, self.core.llcs, self.core.root) = (was.cpus, was.llcs, was.root);
    }

    /// `this` wakes a task that ran on `prev`.
    pub fn wakes(&mut self, this: u32, prev: u32) -> &mut Self {
        (self.this, self.wakee.prev_cpu, self.kind) = (this, prev, Kind::Wake);
        self
    }

    /// `this` forks: a new task, without history.
    pub fn forks(&mut self, this: u32) -> &mut Self {
        (self.this, self.wakee.prev_cpu, self.kind) = (this, this, Kind::Fork);
        self
    }

    pub fn sync(&mut self) -> &mut Self {
        self.sync = true;
        self
    }

    pub fn allow(&mut self, cpus: impl IntoIterator<Item = u32>) -> &mut Self {
        self.allowed = cpus.into_iter().collect();
        self.wakee.nr_cpus_allowed = self.allowed.len();
        self
    }

    pub fn util(&mut self, util: u32) -> &mut Self {
        self.wakee.pelt.util_avg = util;
        self
    }

    pub fn flips(&mut self, waker: u32, wakee: u32) -> &mut Self {
        (self.waker.wakee_flips, self.wakee.wakee_flips) = (waker, wakee);
        self
    }

    /// These CPUs run a normal task each.
    pub fn busy(&mut self, cpus: impl IntoIterator<Item = u32>) -> &mut Self {
        for cpu in cpus {
            self.runs(cpu, 1);
        }
        self
    }

    /// This CPU has `nr` normal tasks.
    pub fn runs(&mut self, cpu: u32, nr: u32) -> &mut Self {
        let rq = &mut self.core.cpus[cpu as usize];
        (rq.nr_running, rq.h_nr_running, rq.h_nr_idle) = (nr, nr, 0);
        rq.curr_is_idle = u8::from(nr == 0);
        rq.idle_stamp = u64::from(nr == 0);
        self
    }

    /// These CPUs run a `SCHED_IDLE` task each.
    pub fn sched_idle(&mut self, cpus: impl IntoIterator<Item = u32>) -> &mut Self {
        for cpu in cpus {
            self.runs(cpu, 1);
            self.core.cpus[cpu as usize].h_nr_idle = 1;
        }
        self
    }

    /// These CPUs run a real-time task each.
    pub fn realtime(&mut self, cpus: impl IntoIterator<Item = u32>) -> &mut Self {
        for cpu in cpus {
            self.runs(cpu, 1);
            self.core.cpus[cpu as usize].h_nr_running = 0;
        }
        self
    }

    pub fn load(&mut self, cpu: u32, load: u32) -> &mut Self {
        self.core.cpus[cpu as usize].cfs.load_avg = load;
        self
    }

    /// Utilization of the fair tasks of these CPUs.
    pub fn used(&mut self, cpus: impl IntoIterator<Item = u32>, util: u32) -> &mut Self {
        for cpu in cpus {
            self.core.cpus[cpu as usize].cfs.util_avg = util;
        }
        self
    }

    /// What real-time tasks and interrupts leave of a CPU.
    pub fn capacity(&mut self, cpu: u32, capacity: u32) -> &mut Self {
        self.core.cpus[cpu as usize].capacity = capacity;
        self
    }

    /// Depth of the idle state in ns (NONE if unknown) and when it was entered.
    pub fn idles(&mut self, cpu: u32, exit_latency: u32, since: u64) -> &mut Self {
        self.runs(cpu, 0);
        let rq = &mut self.core.cpus[cpu as usize];
        (rq.exit_latency, rq.idle_stamp) = (exit_latency, since);
        self
    }

    /// Clamps of the wakee; from now on somebody uses clamps.
    pub fn clamp(&mut self, min: u32, max: u32) -> &mut Self {
        (self.wakee.uclamp_min, self.wakee.uclamp_max) = (min, max);
        self.core.root.uclamp_used = 1;
        self
    }

    /// How many CPUs a scan of each cache may look at, by utilization.
    pub fn worth(&mut self, nr_idle_scan: u32) -> &mut Self {
        self.core
            .llcs
            .iter_mut()
            .for_each(|l| l.nr_idle_scan = nr_idle_scan);
        self
    }

    /// The wakee's recently used CPU.
    pub fn recent(&mut self, cpu: u32) -> &mut Self {
        self.wakee.recent_used_cpu = cpu;
        self
    }

    /// Is a core of each cache believed to be idle?
    pub fn idle_cores(&mut self, known: bool) -> &mut Self {
        self.core
            .llcs
            .iter_mut()
            .for_each(|l| l.has_idle_cores = known.into());
        self
    }

    /// Asks; the state changes as a decision changes it.
    pub fn ask(&mut self) -> Answer {
        self.core.select(Wakeup {
            task: &mut self.wakee,
            allowed: &self.allowed,
            waker: Waker {
                cpu: self.this,
                task: &mut self.waker,
                sync: self.sync,
            },
            kind: self.kind,
            flags: self.flags,
            now: self.now,
        })
    }

    /// Asks, and wants this CPU because of this step.
    #[track_caller]
    pub fn expect(&mut self, cpu: u32, step: &str) -> Answer {
        let explained = self.explain();
        let answer = self.ask();
        let found = (answer.cpu, STEPS[answer.step as usize].0);
        assert_eq!(found, (cpu, step), "{explained}");
        answer
    }

    /// Asks, and wants this target for this reason.
    #[track_caller]
    pub fn expect_target(&mut self, target: u32, affine: &str) -> Answer {
        let explained = self.explain();
        let answer = self.ask();
        let found = (answer.target, AFFINE[answer.affine as usize].0);
        assert_eq!(found, (target, affine), "{explained}");
        answer
    }

    /// What a decision would look at, one line a candidate; changes nothing.
    pub fn explain(&self) -> String {
        let mut notes = Vec::with_capacity(4096);
        let (mut core, mut wakee, mut waker) = (self.core.clone(), self.wakee, self.waker);
        let answer = core.explain(
            Wakeup {
                task: &mut wakee,
                allowed: &self.allowed,
                waker: Waker {
                    cpu: self.this,
                    task: &mut waker,
                    sync: self.sync,
                },
                kind: self.kind,
                flags: self.flags,
                now: self.now,
            },
            &mut notes,
        );
        let mut text = format!(
            "{:?}: CPU {} wakes a task of CPU {}; target {} ({})",
            self.kind,
            self.this,
            self.wakee.prev_cpu,
            answer.target,
            AFFINE[answer.affine as usize].0
        );
        for note in &notes {
            let step = STEPS[note.step as usize].0;
            let verdict = VERDICTS[note.verdict as usize];
            text += &format!("\n  {step}: CPU {} {verdict} ({})", note.cpu, note.value);
        }
        text
    }
}

/// No recently used CPU.
pub const NO_CPU: u32 = NONE;
