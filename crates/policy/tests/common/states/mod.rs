// SPDX-License-Identifier: GPL-2.0-only
//! Random machines, states and wakeups, each named by numbers: what must hold
//! everywhere is asked of them, on the host and in a kernel alike.
//!
//! A [`Scene`] is one machine. It goes from wakeup to wakeup: [`Scene::next`] changes
//! a few CPUs and draws a new wakee, waker and affinity; [`Scene::ask`] decides, and
//! what the decision writes stays. The same seed gives the same scene, on every host.

use alight_policy::abi::{domain_flag, wake_flag};
use alight_policy::topology::build_online;
use alight_policy::{
    Answer, Core, Cpu, Kind, Llc, Mask, NONE, Note, Scheduler, Task, Topology, Waker, Wakeup,
};
use draw::{add_energy_model, affinity, machine, near, occupy, online, pick, task, view_of};

mod draw;
pub mod schedulers;

/// A sequence of numbers (splitmix64).
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of this seed and these names.
    pub fn of(seed: u64, names: &[u64]) -> Self {
        let mut this = Numbers(seed);
        for name in names {
            this = Numbers(this.draw() ^ name.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        this
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// 0..n; n is not 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// Once in `n` times on average.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn among<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// 0..=most, small values and both ends more often.
    pub fn amount(&mut self, most: u32) -> u32 {
        match self.below(8) {
            0 => 0,
            1 => most,
            2 => self.below(most.min(50) + 1),
            _ => ((u64::from(self.below(u32::MAX)) * (u64::from(most) + 1)) >> 32) as u32,
        }
    }

    /// Of a machine: from 1 to `most`, more often few than many.
    pub fn cpus(&mut self, most: u32) -> u32 {
        let most = match self.below(8) {
            0 => most,
            1..=3 => most.min(32),
            _ => most.min(12),
        };
        1 + self.below(most).max(self.below(most))
    }

    /// A time up to about a second, of any order of magnitude, ns.
    fn time(&mut self) -> u64 {
        let bits = self.below(31);
        self.draw() >> 33 >> bits
    }
}

/// What machines are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Most CPUs.
    pub cpus: u32,
    /// Machines of this shape only, with a CPU of the capacity 1024.
    pub shape: Option<Shape>,
    /// All CPUs of one capacity.
    pub equal: bool,
    /// Groups that can be power gated each for itself.
    pub gated: bool,
    /// With an energy model, one machine of two.
    pub energy: bool,
    /// CPUs that run `SCHED_IDLE` tasks only.
    pub sched_idle: bool,
    /// Somebody may have asked for a clamp.
    pub clamps: bool,
}

impl Wanted {
    /// Anything, of at most `cpus` CPUs.
    pub fn anything(cpus: u32) -> Self {
        Wanted {
            cpus,
            shape: None,
            equal: false,
            gated: true,
            energy: true,
            sched_idle: true,
            clamps: true,
        }
    }
}

/// What the search asks of a machine before all else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// CPUs, offline ones included.
    pub cpus: u32,
    /// CPUs of different capacity.
    pub asym: bool,
    /// Cores of several threads.
    pub smt: bool,
    /// Clusters inside a cache, where the base builds them.
    pub cluster: bool,
}

impl Shape {
    /// Of this machine.
    pub fn of(core: &Core) -> Self {
        Shape {
            cpus: core.topology.nr_cpus,
            asym: core.topology.asym != 0,
            smt: core.topology.smt != 0,
            cluster: core.topology.cluster != 0,
        }
    }

    /// Of any machine of this shape whose biggest CPU has the capacity 1024; domains and groups
    /// are not counted.
    pub fn topology(self) -> Topology {
        Topology {
            nr_cpus: self.cpus,
            max_capacity: 1024,
            asym: self.asym.into(),
            smt: self.smt.into(),
            cluster: self.cluster.into(),
            ..Topology::default()
        }
    }

    fn is_of(self, core: &Core) -> bool {
        self == Shape::of(core) && core.topology.max_capacity == 1024
    }
}

/// One machine, and the wakeup that it is asked about.
#[derive(Debug, Clone)]
pub struct Scene {
    pub core: Core,
    pub wakee: Task,
    pub waker: Task,
    pub allowed: Mask,
    pub this: u32,
    pub kind: Kind,
    pub sync: bool,
    pub flags: u32,
    pub now: u64,
    pub online: Mask,
    pub changed: Changed,
    wanted: Wanted,
    /// Few CPUs are idle.
    crowded: bool,
    numbers: Numbers,
}

/// What [`Scene::next`] changed of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    pub cpus: Vec<u32>,
    pub llc: Option<u32>,
    pub group: Option<u32>,
}

/// Most CPUs that change before a wakeup.
pub const MOST_CHANGES: u32 = 4;

impl Scene {
    /// Machine number `number` of `seed` under this scheduler, all CPUs in random states.
    /// It has no wakeup yet.
    pub fn new(scheduler: &Scheduler, seed: u64, number: u64, wanted: Wanted) -> Self {
        let mut r = Numbers::of(seed, &[number]);
        let (machine, online, mut core) = loop {
            let machine = machine(&mut r, wanted);
            let online = online(&mut r, machine.cpus.len() as u32);
            let core = build_online(&machine, &scheduler.params, online).expect("a machine");
            if wanted.shape.is_none_or(|shape| shape.is_of(&core)) {
                break (machine, online, core);
            }
        };
        let nr = core.topology.nr_cpus;
        if wanted.energy && r.one_in(2) {
            add_energy_model(&mut r, &machine, &mut core);
        }
        let mut this = Scene {
            core,
            wakee: Task::default(),
            waker: Task::default(),
            allowed: Mask::EMPTY,
            this: 0,
            kind: Kind::Wake,
            sync: false,
            flags: 0,
            now: 0,
            online,
            changed: Changed::default(),
            wanted,
            crowded: r.one_in(3),
            numbers: r,
        };
        for cpu in 0..nr {
            this.change_cpu(cpu);
        }
        for llc in 0..this.core.llcs.len() as u32 {
            this.change_llc(llc);
        }
        this
    }

    fn nr(&self) -> u32 {
        self.core.topology.nr_cpus
    }

    /// The next wakeup.
    pub fn next(&mut self) {
        self.changed = Changed::default();
        for _ in 0..self.numbers.below(MOST_CHANGES + 1) {
            let cpu = self.numbers.below(self.nr());
            self.change_cpu(cpu);
            self.changed.cpus.push(cpu);
        }
        if self.numbers.one_in(2) {
            let llc = self.numbers.below(self.core.llcs.len() as u32);
            self.change_llc(llc);
            self.changed.llc = Some(llc);
        }
        if self.numbers.one_in(8) && !self.core.groups.is_empty() {
            let group = self.numbers.below(self.core.groups.len() as u32);
            let was = self.core.groups[group as usize].imbalance;
            self.core.set_group_imbalance(group as usize, was ^ 1);
            self.changed.group = Some(group);
        }
        self.core.root.uclamp_used = u32::from(self.wanted.clamps && !self.numbers.one_in(3));
        self.core.root.overutilized = u32::from(self.numbers.one_in(3));
        self.draw_wakeup();
    }

    fn draw_wakeup(&mut self) {
        let (nr, r) = (self.core.topology.nr_cpus, &mut self.numbers);
        self.now = 1_000_000_000 + r.time();
        self.allowed = affinity(r, &self.core, &self.online);
        self.this = pick(r, &self.online, nr);
        self.kind = r.among(&[
            Kind::Wake,
            Kind::Wake,
            Kind::Wake,
            Kind::Wake,
            Kind::Fork,
            Kind::Exec,
        ]);
        self.sync = r.one_in(2);
        self.flags = 0;
        for flag in [wake_flag::INTERRUPT, wake_flag::CURRENT_CPU] {
            if r.one_in(4) {
                self.flags |= flag;
            }
        }
        self.wakee = task(r, nr, 2, self.now);
        self.waker = task(r, nr, 1, self.now);
        self.wakee.nr_cpus_allowed = self.allowed.len();
        self.waker.prev_cpu = self.this;
        if r.one_in(3) {
            self.waker.nr_cpus_allowed = 1;
        }
        // As a rule it ran where it may run, often where it is woken.
        self.wakee.prev_cpu = match r.below(8) {
            0 => r.below(nr),
            1 | 2 if self.allowed.contains(self.this) => self.this,
            3 | 4 => near(r, &self.core, &self.allowed, self.this),
            _ => pick(r, &self.allowed, nr),
        };
        if self.kind == Kind::Fork {
            self.wakee.pelt.last_update_time = 0;
            self.wakee.prev_cpu = self.this;
        }
    }

    fn change_llc(&mut self, llc: u32) {
        let r = &mut self.numbers;
        self.core.llcs[llc as usize] = Llc {
            has_idle_cores: u32::from(!r.one_in(3)),
            nr_busy: r.below(20),
            nr_idle_scan: if r.one_in(3) {
                r.below(3)
            } else {
                r.amount(40)
            },
            unused: 0,
        };
    }

    fn change_cpu(&mut self, cpu: u32) {
        let (wanted, crowded, nr) = (self.wanted, self.crowded, self.nr());
        let has_buddy = self.core.cpus[cpu as usize].buddy != NONE;
        let view = &mut self.core.cpus[cpu as usize];
        let r = &mut self.numbers;
        let orig = view.capacity_orig;
        let buddy = match has_buddy && r.one_in(8) {
            true => r.below(nr),
            false => view.buddy,
        };
        *view = Cpu {
            capacity_orig: orig,
            buddy,
            offline: u8::from(!self.online.contains(cpu)),
            ..view_of(r, orig)
        };
        occupy(r, view, crowded, wanted.sched_idle);
    }

    /// Decides; what the decision writes stays.
    pub fn ask(&mut self) -> Answer {
        self.decide(None)
    }

    /// What a decision would answer and look at; changes nothing.
    pub fn explain(&self) -> (Answer, Vec<Note>) {
        let mut notes = Vec::with_capacity(16 * self.nr() as usize + 64);
        let answer = self.clone().decide(Some(&mut notes));
        (answer, notes)
    }

    fn decide(&mut self, notes: Option<&mut Vec<Note>>) -> Answer {
        let wakeup = Wakeup {
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
        };
        match notes {
            Some(notes) => self.core.explain(wakeup, notes),
            None => self.core.select(wakeup),
        }
    }

    /// The kind as the core numbers it.
    pub fn kind_bit(&self) -> u32 {
        match self.kind {
            Kind::Wake => domain_flag::BALANCE_WAKE,
            Kind::Fork => domain_flag::BALANCE_FORK,
            Kind::Exec => domain_flag::BALANCE_EXEC,
        }
    }
}
