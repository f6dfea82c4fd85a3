// SPDX-License-Identifier: GPL-2.0-only
//! Devices. A device is done at a time that is not known beforehand, not even to idle governors.
//! It then interrupts the CPU to which its interrupt is bound.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::program::effect::Effect;
use crate::world::World;
use alight_trace::{Interrupt, Waker};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The devices that work for tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Devices {
    pub used: bool,
    /// For each busy device: when it is done, its number in the order of beginning, its task, and
    /// the CPU that it interrupts.
    busy: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    begun: u64,
    /// Interrupts that are raised: the CPU, the task, and the time.
    raised: Vec<(usize, u32, u64)>,
}

impl Devices {
    /// For `tasks` tasks: the event loop does not allocate.
    pub fn new(tasks: usize) -> Self {
        Devices {
            used: true,
            busy: BinaryHeap::with_capacity(tasks),
            begun: 0,
            raised: Vec::with_capacity(tasks),
        }
    }

    /// Is an interrupt raised at some CPU?
    #[inline]
    pub fn interrupt(&self) -> bool {
        !self.raised.is_empty()
    }

    /// Slots that they need in the queue of events.
    pub fn slots(&self) -> usize {
        usize::from(self.used)
    }
}

impl World<'_> {
    /// The CPU that a device interrupts: the one that it is bound to or, if that is not online, the
    /// one that the task slept on.
    fn interrupted_cpu(&self, on: u32, task: u32) -> usize {
        let online = &self.hotplug.online;
        let there = |cpu: &u32| (*cpu as usize) < self.cpus.len() && online.contains(*cpu);
        let slept_on = self.tasks[task as usize].cpu;
        let first = online.iter().next().unwrap_or(0);
        let cpu = [on, slept_on].into_iter().find(there);
        cpu.unwrap_or(first) as usize
    }
}

impl Sim<'_> {
    /// The current task of `cpu` sleeps until a device, which takes `ns`, interrupts CPU `on`.
    pub fn complete(&mut self, cpu: usize, task: usize, ns: u64, on: u32) -> Effect {
        self.sleep_current(cpu);
        self.start_device(task, ns, on);
        Effect::DoneAfterSleep
    }

    /// A device begins the work for which `task` sleeps.
    pub(super) fn start_device(&mut self, task: usize, ns: u64, on: u32) {
        let at = (self.now + ns).min(NEVER);
        // No timer expires at that time: it only marks that the sleep ends by itself.
        self.tasks[task].timer_point = at;
        let devices = &mut self.replay.devices;
        devices.begun += 1;
        let device = (at, devices.begun, task as u32, on);
        devices.busy.push(Reverse(device));
        self.await_device();
    }

    /// Schedules the next device. Its slot in the queue of the machine's events is the last.
    fn await_device(&mut self) {
        let slot = self.nr_freq_domains() + self.agenda.slots();
        let first = self.replay.devices.busy.peek();
        let due = first.map_or(NEVER, |Reverse((at, ..))| *at);
        self.await_machine(slot, due);
    }

    /// Raises the interrupts of the devices that are done now.
    pub fn device_event(&mut self) {
        while let Some(&Reverse((at, _, task, on))) = self.replay.devices.busy.peek()
            && at <= self.now
        {
            self.replay.devices.busy.pop();
            let cpu = self.interrupted_cpu(on, task);
            self.raise(cpu, task, at);
        }
        self.await_device();
    }

    fn raise(&mut self, cpu: usize, task: u32, at: u64) {
        self.end_rounds(cpu);
        self.replay.devices.raised.push((cpu, task, at));
        let world = self.world();
        let c = &mut world.cpus[cpu];
        c.ipi_at = c.ipi_at.min(world.now);
        if !c.phase.holds_interrupts() {
            let world = self.world();
            world.queue.advance(cpu, world.now);
        }
    }

    /// Handles the interrupts of devices at `cpu`, in the order in which they were raised.
    pub fn device_interrupts(&mut self, cpu: usize) {
        while let Some((task, due)) = self.take_raised(cpu) {
            self.trace_interrupt(cpu, Interrupt::Device, Some(due));
            let timer = self.costs(cpu).timer;
            self.charge(cpu, timer);
            self.count_interrupt(cpu);
            self.wake_apart(Waker::Device, cpu, task, false);
            self.trace_interrupt(cpu, Interrupt::Device, None);
        }
    }

    fn take_raised(&mut self, cpu: usize) -> Option<(u32, u64)> {
        let raised = &mut self.replay.devices.raised;
        let at = raised.iter().position(|&(on, ..)| on == cpu)?;
        let (_, task, due) = raised.remove(at);
        Some((task, due))
    }

    /// `cpu` goes offline: interrupts raised there are raised at `to`
    /// (`irq_migrate_all_off_this_cpu`).
    pub fn move_interrupts_away(&mut self, cpu: usize, to: usize) {
        while let Some((task, due)) = self.take_raised(cpu) {
            self.raise(to, task, due);
        }
    }
}
