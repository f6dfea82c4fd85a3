// SPDX-License-Identifier: GPL-2.0-only
//! A CPU and a task that runs on it alone, for the tests of load tracking.

use alight_policy::{Cpu, Params, Scheduler, Task, rq};

pub fn linux_5_5() -> Params {
    Scheduler::parse("linux-5.5").unwrap().params
}

/// A CPU and one task that runs on it alone.
pub struct Duo {
    pub k: Params,
    pub cpu: Cpu,
    pub task: Task,
    pub now: u64,
}

impl Duo {
    pub fn new(cpu: Cpu) -> Self {
        Duo {
            k: linux_5_5(),
            cpu,
            task: Task::default(),
            now: 0,
        }
    }

    pub fn wait(&mut self, ns: u64) {
        self.now += ns;
        rq::clock(&mut self.cpu, self.now);
    }

    pub fn wake(&mut self) {
        rq::clock(&mut self.cpu, self.now);
        rq::enqueue(&self.k, &mut self.cpu, &mut self.task, false);
        rq::set_next(&self.k, &mut self.cpu, &mut self.task);
        self.cpu.curr_is_idle = 0;
    }

    pub fn sleep(&mut self) {
        rq::clock(&mut self.cpu, self.now);
        rq::dequeue(&self.k, &mut self.cpu, &mut self.task, true, true, true);
        rq::clock_idle(&mut self.cpu, 0);
        self.cpu.curr_is_idle = 1;
    }

    pub fn run_for(&mut self, ns: u64) {
        self.wake();
        self.wait(ns);
        self.sleep();
    }

    /// Lowest and highest utilization of a periodic task once it is steady,
    /// read where it falls asleep and where it has just woken.
    pub fn steady(&mut self, run: u64, period: u64) -> (u32, u32) {
        let (mut low, mut high) = (u32::MAX, 0);
        for n in 0..300 {
            self.wake();
            let woken = self.task.pelt.util_avg;
            self.wait(run);
            self.sleep();
            let slept = self.task.pelt.util_avg;
            self.wait(period - run);
            if n >= 200 {
                low = low.min(woken);
                high = high.max(slept);
            }
        }
        (low, high)
    }
}
