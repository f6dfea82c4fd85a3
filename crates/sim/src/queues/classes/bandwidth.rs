// SPDX-License-Identifier: GPL-2.0-only
//! Throttling of real-time tasks (`sched_rt_runtime_us`, `sched_rt_period_us`): by default they
//! may run for 950 ms of each second on each CPU. A CPU whose tasks have used that up does not
//! run them until the period ends.

use crate::kernel::Throttle;
use crate::kernel::sysctl::RtLimit;
use crate::queues::Queues;

/// The limit, and the period's timer (`struct rt_bandwidth`).
#[derive(Debug)]
pub(super) struct Bandwidth {
    limit: RtLimit,
    /// The limit throttles tasks.
    throttles: bool,
    active: bool,
    /// When it expires next.
    at: u64,
}

impl Bandwidth {
    pub fn new(limit: RtLimit, rule: Throttle) -> Self {
        Bandwidth {
            limit,
            throttles: limit.throttles(rule),
            active: false,
            at: 0,
        }
    }

    /// `rt_runtime` of a CPU, ns. Without a limit it is not used.
    pub fn runtime(&self) -> u64 {
        self.limit.runtime.unwrap_or(self.limit.period)
    }

    /// The limit that SCHED_DEADLINE is admitted by.
    pub fn limit(&self) -> RtLimit {
        self.limit
    }
}

impl Queues<'_> {
    /// A real-time task joined `cpu`: the period timer runs as long as there are such tasks
    /// (`start_rt_bandwidth`). It runs on the CPU of the first one.
    pub(super) fn start_bandwidth(&mut self, cpu: usize) {
        if self.classes.bandwidth.active || !self.classes.bandwidth.throttles {
            return;
        }
        self.classes.bandwidth.active = true;
        self.period_in(cpu, self.now + self.classes.bandwidth.limit.period);
    }

    fn period_in(&mut self, cpu: usize, at: u64) {
        self.classes.bandwidth.at = at;
        let timer = self.tasks.len() as u32;
        let world = self.world();
        world.cpus[cpu].timers.insert(&mut world.nodes, timer, at);
        if !self.cpus[cpu].phase.holds_interrupts() {
            self.queue.advance(cpu, at);
        }
    }

    /// `cpu` came back (`__enable_runtime`).
    pub(super) fn enable_runtime(&mut self, cpu: usize) {
        let runtime = self.classes.bandwidth.runtime();
        let q = &mut self.classes.cpus[cpu];
        (q.runtime, q.time, q.throttled) = (runtime, 0, false);
    }

    /// Time of SCHED_DEADLINE counts too while the period timer runs, or up to the limit
    /// (`sched_rt_bandwidth_account`, up to 6.8).
    pub(super) fn charge_rt_time(&mut self, cpu: usize, delta: u64) {
        let q = &mut self.classes.cpus[cpu];
        let counts = self.classes.bandwidth.active || q.time < q.runtime;
        if self.classes.bandwidth.throttles && counts {
            q.time += delta;
        }
    }

    /// Takes a share of the runtime that each other CPU has left in this period
    /// (`do_balance_runtime`, RT_RUNTIME_SHARE). It is given back only when a CPU goes offline.
    fn borrow_runtime(&mut self, cpu: usize) {
        let online = self.hotplug.online;
        let nr = u64::from(online.len());
        let period = self.classes.bandwidth.limit.period;
        let q = &self.classes.cpus[cpu];
        if self.kernel.rt.throttle != Throttle::Shared || q.time <= q.runtime {
            return;
        }
        let others = online.iter().map(|other| other as usize);
        for other in others.filter(|&other| other != cpu) {
            let room = period.saturating_sub(self.classes.cpus[cpu].runtime);
            let from = &mut self.classes.cpus[other];
            let share = from.runtime.saturating_sub(from.time) / nr;
            let taken = share.min(room);
            from.runtime -= taken;
            self.classes.cpus[cpu].runtime += taken;
            if taken == room {
                break;
            }
        }
    }

    /// A period ends (`do_sched_rt_period_timer`): subtracts the limit from the time of each CPU.
    /// Throttled CPUs that are below the limit again may run.
    pub fn rt_period(&mut self, by: usize) {
        let mut idle = true;
        let period = self.classes.bandwidth.limit.period;
        let periods = (self.now - self.classes.bandwidth.at) / period + 1;
        for cpu in 0..self.cpus.len() {
            if !self.hotplug.online.contains(cpu as u32) {
                continue;
            }
            if self.classes.cpus[cpu].throttled {
                self.borrow_runtime(cpu);
            }
            let q = &mut self.classes.cpus[cpu];
            q.time -= q.time.min(periods * q.runtime);
            idle &= q.time == 0 && q.nr == 0;
            if q.throttled && q.time < q.runtime {
                q.throttled = false;
                self.unthrottled(by, cpu);
            }
        }
        if idle {
            self.classes.bandwidth.active = false;
        } else {
            let period = self.classes.bandwidth.at + periods * period;
            self.period_in(by, period);
        }
    }

    /// `sched_rt_rq_enqueue`.
    fn unthrottled(&mut self, by: usize, cpu: usize) {
        self.clock(cpu);
        self.count_rt(cpu);
        if self.highest_prio(cpu) < self.prio(self.cpus[cpu].curr) {
            self.cpus[cpu].need_resched = true;
            self.kick(by, cpu);
        }
    }

    /// Adds `delta` ns to the time run; true if the class has to leave the CPU
    /// (`sched_rt_runtime_exceeded`).
    pub(super) fn charge_bandwidth(&mut self, cpu: usize, delta: u64) -> bool {
        if !self.classes.bandwidth.throttles {
            return false;
        }
        let period = self.classes.bandwidth.limit.period;
        let q = &mut self.classes.cpus[cpu];
        q.time += delta;
        if q.throttled {
            return true;
        }
        if q.runtime >= period || q.time <= q.runtime {
            return false;
        }
        self.borrow_runtime(cpu);
        let q = &mut self.classes.cpus[cpu];
        if q.time <= q.runtime {
            return false;
        }
        q.throttled = true;
        self.count_rt(cpu);
        true
    }

    /// `cpu` goes offline: it gives back the runtime that it borrowed, or takes back what it
    /// lent. Its tasks are no longer throttled, so that they can leave (`__disable_runtime`).
    pub(super) fn disable_runtime(&mut self, cpu: usize) {
        let runtime = self.classes.bandwidth.runtime();
        let online = self.hotplug.online;
        for other in online.iter().map(|other| other as usize) {
            let own = self.classes.cpus[cpu].runtime;
            let from = &mut self.classes.cpus[other];
            let moved = match own < runtime {
                true => from.runtime.min(runtime - own),
                false => 0,
            };
            from.runtime -= moved;
            from.runtime += own.saturating_sub(runtime);
            self.classes.cpus[cpu].runtime = own.min(runtime) + moved;
        }
        let unlimited = self.classes.bandwidth.limit.period;
        let q = &mut self.classes.cpus[cpu];
        // RUNTIME_INF
        (q.runtime, q.throttled) = (unlimited, false);
        self.count_rt(cpu);
    }
}
