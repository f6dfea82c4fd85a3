// SPDX-License-Identifier: GPL-2.0-only
//! Whatever stands in the public views, a question gets an answer: one of the machine's CPUs.
//! What the core does beyond its memory on the way is found where it is built with sanitizers
//! (`tests/sanitize.sh`).

use crate::common::states::schedulers::combinations;
use crate::common::states::{Numbers, Scene, Wanted};
use alight_policy::{Cpu, Llc, Mask, NONE, Params, Root, STEPS, Task, rq};

/// Numbers without rule, of which small ones and the largest are frequent.
struct Noise(Numbers);

/// Structures of whole numbers only.
trait Plain: Copy {}
impl Plain for Cpu {}
impl Plain for Llc {}
impl Plain for Task {}
impl Plain for Params {}
impl Plain for Root {}
impl Plain for Mask {}

impl Noise {
    fn number(&mut self) -> u32 {
        match self.0.below(8) {
            0 => 0,
            1 => NONE,
            2 => 1 << self.0.below(32),
            3 | 4 => self.0.below(8),
            5 => self.0.below(4096),
            _ => self.0.below(u32::MAX),
        }
    }

    fn long(&mut self) -> u64 {
        u64::from(self.number()) << self.0.below(33)
    }

    /// Anything at all.
    fn fill<T: Plain>(&mut self, it: &mut T) {
        let at = std::ptr::from_mut(it).cast::<u32>();
        for word in 0..size_of::<T>() / 4 {
            let number = self.number();
            // SAFETY: within `it`, which consists of whole numbers: any bytes are a value.
            unsafe { at.add(word).write_unaligned(number) };
        }
    }

    /// The scene's views hold anything.
    fn fill_scene(&mut self, scene: &mut Scene) {
        let core = &mut scene.core;
        core.cpus.iter_mut().for_each(|cpu| self.fill(cpu));
        core.llcs.iter_mut().for_each(|llc| self.fill(llc));
        self.fill(&mut core.root);
        if self.0.one_in(4) {
            self.fill(&mut core.params);
        }
        for group in 0..core.groups.len() {
            let [sum, least, most] = [(); 3].map(|()| self.number());
            core.set_group_capacity(group, sum, least, most);
            core.set_group_imbalance(group, self.number());
        }
        for domain in 0..core.domains.len() {
            let [flags, pct, numa] = [(); 3].map(|()| self.number());
            core.set_domain(domain, flags, pct, numa);
        }
        let [smt, asym, cluster] = [(); 3].map(|()| self.number());
        core.set_keys(smt, asym, cluster);
        let mut perf = core.perf.clone();
        for state in perf.iter_mut().flat_map(|domain| &mut domain.state) {
            state.cost = self.long();
            state.performance = self.number();
            state.frequency = self.number();
            state.flags = self.number();
        }
        core.set_perf(perf).expect("of the same CPUs");
        let prev = scene.wakee.prev_cpu;
        self.fill(&mut scene.wakee);
        self.fill(&mut scene.waker);
        scene.wakee.prev_cpu = prev;
        self.fill(&mut scene.allowed);
        scene.flags = self.number();
        scene.now = self.long();
    }
}

#[test]
fn any_state_has_an_answer() {
    for (number, scheduler) in (0..).zip(combinations()) {
        for machine in 0..4 {
            let mut scene = Scene::new(&scheduler, 7, machine, Wanted::anything(200));
            let mut noise = Noise(Numbers::of(7, &[number, machine]));
            for question in 0..16 {
                scene.next();
                let mut asked = scene.clone();
                noise.fill_scene(&mut asked);
                let answer = match question % 2 {
                    0 => asked.ask(),
                    _ => asked.explain().0,
                };
                let place = format!("{}, machine {machine}, {question}", scheduler.name);
                assert!(
                    answer.cpu < asked.core.topology.nr_cpus,
                    "{place}: {answer:?}"
                );
                assert!((answer.step as usize) < STEPS.len(), "{place}: {answer:?}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "CPU")]
fn a_cpu_that_there_is_not_is_no_question() {
    let scheduler = &combinations()[0];
    let mut scene = Scene::new(scheduler, 1, 1, Wanted::anything(8));
    scene.next();
    scene.wakee.prev_cpu = scene.core.topology.nr_cpus;
    scene.ask();
}

#[test]
#[should_panic(expected = "views")]
fn nor_are_views_of_too_few_cpus() {
    let scheduler = &combinations()[0];
    let mut scene = Scene::new(scheduler, 1, 1, Wanted::anything(8));
    scene.next();
    scene.core.cpus = Box::default();
    scene.ask();
}

/// What tasks do to a CPU's view is arithmetic: it has a result whatever stood there.
#[test]
fn any_view_can_be_kept() {
    for (number, scheduler) in (0..).zip(combinations()) {
        let (k, mut noise) = (scheduler.params, Noise(Numbers::of(8, &[number])));
        for _ in 0..50 {
            let (mut cpu, mut task) = (Cpu::default(), Task::default());
            noise.fill(&mut cpu);
            noise.fill(&mut task);
            let [a, b] = [(); 2].map(|()| noise.0.one_in(2));
            let (time, weight) = (noise.long(), noise.number());
            rq::clock(&mut cpu, time);
            rq::enqueue(&k, &mut cpu, &mut task, a);
            rq::set_next(&k, &mut cpu, &mut task);
            rq::update_curr(&k, &mut cpu, &mut task);
            rq::reweight(&k, &mut cpu, &mut task, weight);
            rq::clamped_joined(&k, &mut cpu, &mut task);
            rq::clamps_changed(&k, &mut cpu, &mut task);
            rq::delay(&k, &mut cpu, &mut task);
            rq::requeue(&k, &mut cpu, &mut task, a);
            rq::dequeue(&k, &mut cpu, &mut task, b, a, b);
            rq::decay(&k, &mut cpu, &mut task, time);
            rq::remove(&k, &mut cpu, &mut task);
            rq::refresh(&k, &mut cpu, a);
            rq::attach_signals(&k, &mut cpu, &mut task);
            rq::detach(&k, &mut cpu, &mut task, b);
            rq::init_util(&k, &cpu, &mut task);
            rq::dequeue_delayed(&k, &mut cpu, &mut task, b);
            rq::update13(&k, &mut cpu);
            rq::util_est(&k, &task);
            rq::clamped_est(&k, &task);
            rq::idle_end(&mut cpu, time, noise.long());
            rq::clock_idle(&mut cpu, weight);
            rq::cpu_util_clamped(&k, &cpu, a);
            alight_policy::pack::share(&k, &cpu);
            alight_policy::nr_idle_scan(time, weight, noise.number());
        }
    }
}
