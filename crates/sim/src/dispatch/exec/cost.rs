// SPDX-License-Identifier: GPL-2.0-only
//! The cost of operations before they take effect: work, time that memory takes, wall time.

use crate::base::queue::NEVER;
use crate::program::Programs;
use crate::world::World;
use crate::world::cost::OpCost;
use alight_workload::program::Op;

/// The cost of an operation before it takes effect.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    units: u64,
    stall: u64,
    wall_until: u64,
}

impl World<'_> {
    /// Does rt-app log the operation at `pc`, which has this cost, as `run`?
    fn computes_at(&self, pc: u32, cost: Cost) -> bool {
        match self.ops[pc as usize] {
            Op::Run { .. } => cost.units != 0,
            Op::RunWall { .. } => cost.wall_until > self.now,
            _ => false,
        }
    }

    /// Time to load `bytes` if several lines come at a time.
    fn stream_ns(&self, bytes: u64) -> u64 {
        self.chase_ns(bytes) / u64::from(self.machine.memory.refill_mlp.max(1))
    }

    /// Time to load `bytes` if lines come one after the other.
    fn chase_ns(&self, bytes: u64) -> u64 {
        let line = u64::from(self.machine.memory.dram_line_ns);
        (bytes / 64).saturating_mul(line).min(NEVER)
    }
}

impl Programs<'_> {
    /// Sets the cost of the operation at `pc`; true if that takes time.
    ///
    /// A Run has no effect of its own: it forms one segment with the operation after it, and `pc`
    /// moves to that operation.
    #[inline(always)]
    pub fn begin(&mut self, cpu: usize, task: usize) -> bool {
        let mut cost = self.cost(cpu, task);
        let mut fresh = false;
        if self.tasks[task].logged && self.computes_at(self.tasks[task].pc, cost) {
            self.run_begins(task);
        }
        if matches!(self.ops[self.tasks[task].pc as usize], Op::Run { .. }) {
            match self.skip_loops(task) {
                Op::Run { .. } | Op::RunWall { .. } => fresh = true,
                _ => {
                    let more = self.cost(cpu, task);
                    cost.units = cost.units.saturating_add(more.units);
                    cost.stall += more.stall;
                }
            }
        }
        let t = &mut self.tasks[task];
        t.fresh = fresh;
        t.units = cost.units;
        t.stall = cost.stall;
        t.wall_until = cost.wall_until;
        cost.units != 0
            || cost.stall != 0
            || cost.wall_until > self.now
            || self.cpus[cpu].steal != 0
    }

    /// The time at which the work of the segment that ends now was done. The cost of the operation
    /// at `pc`, which is in the same segment, follows the work.
    pub(super) fn work_ended(&self, cpu: usize, task: usize) -> u64 {
        let t = &self.tasks[task];
        if t.fresh || matches!(self.ops[t.pc as usize], Op::RunWall { .. }) {
            return self.now;
        }
        let behind = self.cost(cpu, task);
        self.now - behind.stall - behind.units.div_ceil(self.cpus[cpu].rate)
    }

    /// The cost of the operation at `pc`.
    #[inline(always)]
    fn cost(&self, cpu: usize, task: usize) -> Cost {
        let pc = self.tasks[task].pc as usize;
        match self.op_costs[pc] {
            OpCost::Own => self.own_cost(cpu, task, self.ops[pc]),
            fixed => Cost {
                units: self.costs(cpu).ops[fixed as usize],
                ..Cost::default()
            },
        }
    }

    /// Does the current task of `cpu` compute, outside the kernel? A system call
    /// is at the end of its segment.
    pub fn in_user_mode(&self, cpu: usize) -> bool {
        let task = self.cpus[cpu].curr as usize;
        let t = &self.tasks[task];
        match self.ops[t.pc as usize] {
            _ if t.fresh => true,
            Op::Run { .. } | Op::RunWall { .. } | Op::Memory { .. } | Op::Chase { .. } => true,
            _ => t.units > self.cost(cpu, task).units,
        }
    }

    #[inline]
    fn own_cost(&self, cpu: usize, task: usize, op: Op) -> Cost {
        match op {
            // Scaled to units of work when the program was loaded.
            Op::Run { ns } => Cost {
                units: ns,
                ..Cost::default()
            },
            Op::RunWall { ns } => Cost {
                wall_until: self.now + ns,
                ..Cost::default()
            },
            Op::Memory { bytes } => Cost {
                stall: self.stream_ns(bytes),
                ..Cost::default()
            },
            Op::Chase { bytes } => Cost {
                stall: self.chase_ns(bytes),
                ..Cost::default()
            },
            Op::Fork { task: child } => {
                let costs = self.costs(cpu);
                let process = self.tasks[child as usize].process != self.tasks[task].process;
                Cost {
                    units: costs.fork + if process { costs.fork_mm } else { 0 },
                    ..Cost::default()
                }
            }
            Op::WaitChildren if self.tasks[task].children != 0 => Cost {
                units: self.costs(cpu).futex,
                ..Cost::default()
            },
            Op::LockCpu => Cost {
                wall_until: match self.spin_ns(cpu, task) {
                    0 => 0,
                    spin => self.now + spin,
                },
                ..Cost::default()
            },
            _ => Cost::default(),
        }
    }
}
