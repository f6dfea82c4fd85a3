// SPDX-License-Identifier: GPL-2.0-only
//! Lets time pass in a run under test. The invariants are checked after every event.

use crate::dispatch::Sim;

impl Sim<'_> {
    /// Lets time pass until `time`, including the events at `time`.
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

    /// Runtime of `task`, ns.
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
