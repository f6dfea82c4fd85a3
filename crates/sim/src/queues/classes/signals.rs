// SPDX-License-Identifier: GPL-2.0-only
//! Time that real-time tasks take, averaged, and the capacity that they and
//! interrupts leave to fair tasks.

use crate::kernel::RtSignal;
use crate::queues::Queues;
use alight_policy::abi::rule;
use alight_policy::pelt;

/// Half of `sysctl_sched_time_avg`: before 4.19 the average is halved this often, ns.
const WINDOW: u64 = 500_000_000;

impl Queues<'_> {
    /// Brings `avg_rt` up to date; `running`: a real-time task was current
    /// (`update_rt_rq_load_avg`). True if it may have changed.
    pub(super) fn rt_signal(&mut self, cpu: usize, running: bool) -> bool {
        if self.kernel.rt.signal != RtSignal::Pelt {
            return false;
        }
        let view = &mut self.power.core.cpus[cpu];
        let avg = &mut self.classes.cpus[cpu].avg;
        let (now, r) = (view.clock_pelt - view.lost_idle_time, u64::from(running));
        let changed = pelt::accumulate(avg, now, r, r, r);
        if changed {
            pelt::average(avg, 1);
            view.rt_util = avg.util_avg as u16;
        }
        changed
    }

    /// The same for `avg_dl` (`update_dl_rq_load_avg`).
    pub(super) fn dl_signal(&mut self, cpu: usize, running: bool) -> bool {
        let view = &mut self.power.core.cpus[cpu];
        let avg = &mut self.classes.dl[cpu].avg;
        let (now, r) = (view.clock_pelt - view.lost_idle_time, u64::from(running));
        let changed = pelt::accumulate(avg, now, r, r, r);
        if changed {
            pelt::average(avg, 1);
            view.dl_util = avg.util_avg as u16;
        }
        changed
    }

    /// Updates both signals when the blocked load of `cpu` is updated
    /// (`__update_blocked_others`); true if one changed.
    pub fn rt_refresh(&mut self, cpu: usize) -> bool {
        let curr = self.cpus[cpu].curr;
        let dl = self.is_dl(curr);
        let changed = self.rt_signal(cpu, self.is_rt(curr) && !dl);
        self.classes.dl_used && self.dl_signal(cpu, dl) | changed || changed
    }

    /// Adds `delta` to the average of kernels before 4.19 (`sched_rt_avg_update`).
    pub fn rt_window(&mut self, cpu: usize, delta: u64) {
        if self.kernel.rt.signal == RtSignal::Window {
            self.age_window(cpu);
            self.classes.cpus[cpu].window += delta;
        }
    }

    /// `sched_avg_update`.
    fn age_window(&mut self, cpu: usize) {
        let now = self.rq_time(cpu);
        let q = &mut self.classes.cpus[cpu];
        while now - q.window_at > WINDOW {
            q.window_at += WINDOW;
            q.window /= 2;
        }
    }

    /// What is left of the capacity of `cpu` for fair tasks (`scale_rt_capacity`).
    pub fn scale_rt_capacity(&mut self, cpu: usize) {
        let max = u64::from(self.core.cpus[cpu].capacity_orig);
        let left = match self.kernel.rt.signal {
            RtSignal::Pelt => {
                let view = &self.core.cpus[cpu];
                let irq = u64::from(view.irq_util);
                let used = u64::from(view.rt_util) + u64::from(view.dl_util);
                let lacking = match self.core.params.pressure {
                    rule::PRESSURE_THERMAL => view.hw_load_avg,
                    rule::PRESSURE_AVERAGE => view.hw_load_avg.max(view.cpufreq_pressure),
                    _ => 0,
                };
                let free = max.saturating_sub(used + u64::from(lacking));
                // `scale_irq_capacity`
                free * max.saturating_sub(irq) / max
            }
            RtSignal::Window => (max * self.left_by_rt(cpu)) >> 10,
        };
        self.core.cpus[cpu].capacity = left.max(1) as u32;
    }

    /// Time that real-time tasks and interrupts leave on `cpu`, of 1024, before 4.19
    /// (`scale_rt_power`).
    pub fn left_by_rt(&mut self, cpu: usize) -> u64 {
        if !self.classes.used && !self.has_irq_time() {
            return 1024;
        }
        self.age_window(cpu);
        let q = &self.classes.cpus[cpu];
        let total = WINDOW + self.rq_time(cpu) - q.window_at;
        total.saturating_sub(q.window) / (total >> 10)
    }

    /// `util_sum` of the classes above the fair one, which counts when `cpu` goes idle.
    pub fn rt_util_sum(&self, cpu: usize) -> u32 {
        if !self.classes.used {
            return 0;
        }
        let dl = self.classes.dl.get(cpu).map_or(0, |dl| dl.avg.util_sum);
        self.classes.cpus[cpu].avg.util_sum + dl
    }
}
