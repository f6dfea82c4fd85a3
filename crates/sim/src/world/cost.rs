// SPDX-License-Identifier: GPL-2.0-only
//! Costs of kernel paths and data movement.
//!
//! Work is counted in units: 1 ns at capacity 1. A cost in ns at the top frequency of a core is `ns
//! * capacity_orig` units, so a slower clock stretches it. Memory latencies are plain time (stall).

use crate::base::timeline::NONE;
use crate::world::World;
use alight_machine::{Costs, Machine};
use alight_policy::Answer;
use alight_trace::Interrupt;
use alight_workload::program::Op;

/// Kernel path costs of one kind of CPU, in units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuCosts {
    pub switch: u64,
    pub futex: u64,
    pub pipe_held: u64,
    pub pipe_read_held: u64,
    pub wakeup: u64,
    pub wakeup_clock: u64,
    pub select: u64,
    pub scan_local: u64,
    pub scan_remote: u64,
    pub slow_scan: u64,
    pub ipi_send: u64,
    pub ipi_receive: u64,
    pub wakelist: u64,
    pub lock: u64,
    pub lock_hold: u64,
    pub newidle: u64,
    pub newidle_cpu: u64,
    pub tick: u64,
    pub timer: u64,
    pub idle_exit: u64,
    pub fork: u64,
    pub fork_mm: u64,
    pub block: u64,
    pub socket_new: u64,
    /// Costs of operations, indexed by [`OpCost`].
    pub ops: [u64; OpCost::Own as usize],
}

impl CpuCosts {
    pub fn new(costs: &Costs, speed: u32) -> Self {
        let units = |ns: u32| u64::from(ns) * u64::from(speed);
        CpuCosts {
            switch: units(costs.switch_ns),
            futex: units(costs.futex_ns),
            pipe_held: units(costs.pipe_held_ns),
            pipe_read_held: units(costs.pipe_read_held_ns),
            wakeup: units(costs.wakeup_ns),
            wakeup_clock: units(costs.wakeup_clock_ns),
            select: units(costs.select_ns),
            scan_local: units(costs.scan_local_ns),
            scan_remote: units(costs.scan_remote_ns),
            slow_scan: units(costs.slow_scan_ns),
            ipi_send: units(costs.ipi_send_ns),
            ipi_receive: units(costs.ipi_receive_ns),
            wakelist: units(costs.wakelist_ns),
            lock: units(costs.lock_ns),
            lock_hold: units(costs.lock_hold_ns),
            newidle: units(costs.newidle_ns),
            newidle_cpu: units(costs.newidle_cpu_ns),
            tick: units(costs.tick_ns),
            timer: units(costs.timer_ns),
            idle_exit: units(costs.idle_exit_ns),
            fork: units(costs.fork_ns),
            fork_mm: units(costs.fork_mm_ns),
            block: units(costs.block_ns),
            socket_new: units(costs.socket_new_ns),
            // In the order of `OpCost`.
            ops: [
                0,
                costs.pipe_ns,
                costs.pipe_read_ns,
                costs.socket_ns,
                costs.socket_read_ns,
                costs.mutex_ns,
                costs.futex_ns,
                costs.yield_ns,
            ]
            .map(units),
        }
    }

    /// Cost of a CPU selection by the CPUs that it looked at, units.
    #[inline]
    pub fn selection(&self, answer: &Answer) -> u64 {
        self.select
            + u64::from(answer.looked_near) * self.scan_local
            + u64::from(answer.looked_far) * self.scan_remote
            + u64::from(answer.summed) * self.slow_scan
    }
}

/// The kind of an operation's cost, decided when the operation is loaded, so that the event loop
/// need not look at the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum OpCost {
    Free,
    Pipe,
    PipeRead,
    Socket,
    SocketRead,
    Mutex,
    Futex,
    Yield,
    /// Depends on the operation's operands or on the task.
    Own,
}

impl OpCost {
    pub fn of(op: &Op, is_pipe: impl Fn(u32) -> bool) -> Self {
        match op {
            Op::Io { .. } | Op::Poll { .. } => OpCost::Pipe,
            Op::Write { channel, .. } if is_pipe(*channel) => OpCost::Pipe,
            Op::Write { .. } => OpCost::Socket,
            Op::Read { channel, .. } if is_pipe(*channel) => OpCost::PipeRead,
            Op::Read { .. } => OpCost::SocketRead,
            Op::Lock { .. }
            | Op::Unlock { .. }
            | Op::LockIndexed { .. }
            | Op::UnlockIndexed { .. }
            | Op::SemPost { .. }
            | Op::SemWait { .. }
            | Op::Signal { .. }
            | Op::Broadcast { .. }
            | Op::Call { .. }
            | Op::Serve { .. }
            | Op::Close { .. }
            | Op::Attend { .. }
            | Op::Answer { .. }
            | Op::Leave { .. }
            | Op::UnlockCpu
            | Op::Wait { .. }
            | Op::Barrier { .. } => OpCost::Mutex,
            Op::Sleep { .. }
            | Op::Stagger { .. }
            | Op::Timer { .. }
            | Op::SetAttributes { .. }
            | Op::SetAttributesUntil { .. } => OpCost::Futex,
            Op::Yield => OpCost::Yield,
            Op::Exit
            | Op::Retire
            | Op::LoopBegin { .. }
            | Op::LoopEnd { .. }
            | Op::Take { .. }
            | Op::Count { .. }
            | Op::Pass { .. }
            | Op::Mark { .. }
            | Op::Gather { .. }
            | Op::Unqueue { .. }
            | Op::Wake { .. }
            | Op::Await
            | Op::Enter { .. }
            | Op::SleepUntil { .. }
            | Op::SleepFor { .. }
            | Op::Complete { .. }
            | Op::Observe(_) => OpCost::Free,
            Op::Run { .. }
            | Op::RunWall { .. }
            | Op::Memory { .. }
            | Op::Chase { .. }
            | Op::LockCpu
            | Op::Fork { .. }
            | Op::WaitChildren => OpCost::Own,
        }
    }
}

/// Time to transfer a cache line between two CPUs, ns.
#[inline]
pub(crate) fn line_ns(machine: &Machine, from: usize, to: usize) -> u64 {
    let (a, b) = (&machine.cpus[from], &machine.cpus[to]);
    u64::from(if a.llc == b.llc {
        machine.memory.llc_line_ns
    } else if a.node == b.node {
        machine.memory.cross_llc_line_ns
    } else {
        machine.memory.cross_node_line_ns
    })
}

impl World<'_> {
    /// Kernel path costs on `cpu`.
    #[inline]
    pub fn costs(&self, cpu: usize) -> &CpuCosts {
        &self.costs[self.cpus[cpu].costs as usize]
    }

    /// Sets the rate of `cpu` from now on, units per ns.
    pub fn set_rate(&mut self, cpu: usize, rate: u64) {
        self.cpus[cpu].rate = rate;
        self.cpus[cpu].ns_per_unit = (1u64 << 32).div_ceil(rate);
        self.trace_rate(cpu);
    }

    /// Time that `units` take on `cpu` now, ns.
    #[inline]
    pub fn ns(&self, cpu: usize, units: u64) -> u64 {
        ((u128::from(units) * u128::from(self.cpus[cpu].ns_per_unit)) >> 32) as u64
    }

    /// Charges kernel work that is done now on `cpu`, in units.
    #[inline]
    pub fn charge(&mut self, cpu: usize, units: u64) {
        self.cpus[cpu].steal += self.ns(cpu, units);
    }

    /// Charges the two switches to and from a kernel thread that is not a task of the run, for
    /// which the current task of `cpu` makes way.
    pub fn makes_way_for_kernel(&mut self, cpu: usize) {
        self.trace_interrupt(cpu, Interrupt::KernelThread, Some(self.reached(cpu)));
        self.charge(cpu, 2 * self.costs(cpu).switch);
        self.trace_interrupt(cpu, Interrupt::KernelThread, None);
    }

    /// Time at which `cpu` comes to the kernel work that is charged next, ns.
    #[inline]
    pub fn reached(&self, cpu: usize) -> u64 {
        self.now + self.cpus[cpu].steal
    }

    /// Takes the runqueue lock of `target` from `cpu`. Returns the time of waiting and holding, ns.
    #[inline]
    pub fn take_rq_lock(&mut self, cpu: usize, target: usize) -> u64 {
        let at = self.reached(cpu);
        let costs = self.costs(cpu);
        let hold = self.ns(cpu, costs.lock + costs.lock_hold);
        let wait = self.cpus[target].lock.take(at, hold);
        self.count_lock_wait(wait);
        self.cpus[cpu].steal += wait + hold;
        wait + hold
    }

    /// Counts a wait of `wait` ns for a lock (0: the lock was free).
    #[inline]
    pub fn count_lock_wait(&mut self, wait: u64) {
        self.stats.lock_wait_ns += wait;
        self.stats.lock_contended += u64::from(wait != 0);
    }

    /// Brings a task's working set to `cpu`. Lines that are still warm cost nothing; evicted lines
    /// and those in another cache cost a stall by distance.
    #[inline(always)]
    pub fn refill(&mut self, cpu: usize, task: u32) {
        match self.tasks[task as usize].working_set {
            0 => self.tasks[task as usize].cache_cpu = cpu as u32,
            _ => self.refill_set(cpu, task),
        }
    }

    fn refill_set(&mut self, cpu: usize, task: u32) {
        let memory = &self.machine.memory;
        let core = &self.machine.core_types[self.cpus[cpu].core_type as usize];
        let t = &mut self.tasks[task as usize];
        let set = t.working_set.min(core.l2_bytes);
        let (bytes, line) = match t.cache_cpu {
            NONE => (set, u64::from(memory.dram_line_ns)),
            same if same as usize == cpu => {
                let others = self.cpus[cpu].cache_fill - t.cache_mark;
                let room = core.l2_bytes - set;
                (
                    others.saturating_sub(room).min(set),
                    u64::from(memory.llc_line_ns),
                )
            }
            other => (set, line_ns(self.machine, other as usize, cpu)),
        };
        if bytes != 0 {
            let stall = bytes / 64 * line / u64::from(memory.refill_mlp.max(1));
            t.stall += stall;
            self.stats.refill_ns += stall;
            self.cpus[cpu].cache_fill += bytes;
        }
        t.cache_cpu = cpu as u32;
    }

    /// The task leaves `cpu`: later fills of its cache may evict the task's lines.
    #[inline]
    pub fn cache_leave(&mut self, cpu: usize, task: u32) {
        self.tasks[task as usize].cache_mark = self.cpus[cpu].cache_fill;
    }

    /// Time to transfer a channel's lines from the CPU that touched it last, ns.
    #[inline]
    pub fn channel_lines_ns(&self, cpu: usize, last_cpu: u32) -> u64 {
        if last_cpu == NONE || last_cpu as usize == cpu {
            return 0;
        }
        let line = line_ns(self.machine, last_cpu as usize, cpu);
        u64::from(self.machine.memory.channel_lines) * line
    }
}

#[cfg(test)]
mod tests;
