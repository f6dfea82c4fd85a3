// SPDX-License-Identifier: GPL-2.0-only
//! CPUs that go offline and come back online (`kernel/cpu.c`, `sched_cpu_deactivate()`,
//! `sched_cpu_activate()` and their callees).
//!
//! A CPU that goes offline is first taken out of the scheduling domains, which are rebuilt
//! without it. Then each of its tasks moves to the CPU that `select_fallback_rq()` chooses, and
//! its timers move to the first CPU. It rests in its deepest idle state until it comes back. Then
//! the domains are rebuilt with it, and it idles: only the balancer and wakeups bring it tasks.
//!
//! The kernel takes milliseconds for either, mostly in waiting for grace periods. Here both take
//! no time: no task runs on a CPU that is going offline. A task whose affinity has no online CPU
//! left may run anywhere from then on (`do_set_cpus_allowed(cpu_possible_mask)`): no base
//! restores the affinity of tasks in the root cpuset.

use crate::balance::Balancer;
use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::kernel::tunables::Tunables;
use crate::kernel::views::views;
use crate::program::Programs;
use crate::queues::Queues;
use crate::world::World;
use crate::world::state::{Life, Phase};
use alight_policy::abi::rule;

impl World<'_> {
    /// What is wrong with `cpu` if it is offline, for the invariants.
    pub fn hotplug_check(&self, cpu: usize) -> Option<String> {
        if self.hotplug.online.contains(cpu as u32) {
            return None;
        }
        let (c, view) = (&self.cpus[cpu], &self.core.cpus[cpu]);
        let quiet = c.phase == Phase::Idle
            && c.tick_at == NEVER
            && c.ipi_at == NEVER
            && c.timers.first_at() == NEVER
            && view.nr_running == 0
            && c.wake_list.head == NONE;
        let alone = self.core.places[cpu].nr_domains == 0;
        let task = (self.tasks.iter()).position(|task| {
            task.cpu as usize == cpu && matches!(task.life, Life::Runnable | Life::Waking)
        });
        match (quiet && alone, task) {
            (_, Some(task)) => Some(format!("task {task} is on CPU {cpu}, which is offline")),
            (false, None) => Some(format!("CPU {cpu} is offline but not at rest")),
            (true, None) => None,
        }
    }
}

impl Queues<'_> {
    /// Moves all tasks, in the order in which they would have run (`migrate_tasks`).
    fn move_tasks_away(&mut self, cpu: usize) {
        loop {
            let task = self.pick_next(cpu, false);
            if task == NONE {
                break;
            }
            self.hotplug.moved += 1;
            let to = self.fallback_cpu(cpu, task);
            if self.is_rt(task) {
                self.dequeue_rt(cpu, task);
                self.clock(to);
                self.trace_migrate(cpu, task, to);
                self.enqueue_rt(to, task, false);
                self.check_preempt(to, task);
            } else {
                self.detach_task(cpu, task);
                self.attach_task(cpu, to, task);
            }
            if self.cpus[to].need_resched {
                self.kick(cpu, to);
            }
        }
    }

    /// `cpu` has nothing left to do: it is offline from now on, or once it has left the idle state
    /// that it was in (`play_dead`).
    fn rest_dead(&mut self, cpu: usize) {
        let world = self.world();
        let c = &mut world.cpus[cpu];
        let work = match c.phase {
            Phase::Running => 0,
            _ => c.end.saturating_sub(world.now),
        };
        let was_idle = c.phase != Phase::Running;
        c.phase = Phase::Idle;
        (c.need_resched, c.resched_lazy, c.gives_way) = (false, false, false);
        c.balance_kicked = false;
        (c.steal, c.before_switch) = (0, NEVER);
        (c.tick_at, c.ipi_at, c.hrtick_at) = (NEVER, NEVER, NEVER);
        self.thread_rests(cpu);
        if was_idle {
            self.idle_left(cpu, false);
        } else {
            self.clock_goes_idle(cpu);
        }
        self.idle_dead(cpu, work);
        self.arm(cpu);
    }
}

impl Balancer<'_> {
    /// `cpu` comes online, unless it is already.
    pub fn cpu_up(&mut self, cpu: usize) {
        if self.hotplug.online.contains(cpu as u32) {
            return;
        }
        self.hotplug.online.insert(cpu as u32);
        let world = self.world();
        let stats = &mut world.cpus[cpu].stats;
        stats.offline_ns += world.now - stats.offline_since;
        self.clock(cpu);
        self.cpufreq_cpus_changed(cpu);
        self.online_changed(self.hotplug.online.len() as usize);
        if self.has_classes() {
            self.rt_online(cpu);
        }
        // The thread that brought it up has just gone to sleep.
        self.core.cpus[cpu].idle_stamp = self.now.max(1);
        let now = self.now;
        let out = self.idle_leave(cpu, now);
        self.idle_forgotten(cpu);
        self.cpus[cpu].steal = out - self.now;
        self.settle(cpu);
        self.arm(cpu);
        self.trace_hotplug(cpu, true);
    }

    /// Rebuilds the domains over the online CPUs, and updates the tunables that depend on their
    /// number. `counted`: number of online CPUs when the queues last read it (`rq_online_fair`,
    /// `rq_offline_fair`); a CPU that goes offline is still counted then.
    fn online_changed(&mut self, counted: usize) {
        let (params, online) = (self.core.params, self.hotplug.online);
        let new = views(self.machine, self.kernel, &params, online);
        let new = new.expect("a part of a machine that could be built");
        if self.core.params.pack != rule::PACK_NONE {
            for (kept, built) in self.core.cpus.iter_mut().zip(new.cpus.iter()) {
                kept.buddy = built.buddy;
            }
        }
        // SAFETY: as the core before, see `Builder::finish`.
        self.core.rebuilt(unsafe { new.stored() });
        self.tunables = Tunables {
            hrtick: self.tunables.hrtick,
            ..Tunables::new(self.kernel, counted, self.tunables.tick)
        };
        self.balance_rebuild();
        let governor = self.hotplug.governor;
        self.energy_model_init(governor);
    }
}

impl Programs<'_> {
    /// The current task of `cpu` gives way to the stopper and waits.
    fn stop_executing(&mut self, cpu: usize) {
        match self.cpus[cpu].phase {
            Phase::Running => {
                let task = self.cpus[cpu].curr;
                self.update_curr(cpu);
                self.trace_schedule(cpu, task);
                let state = self.leave_current(cpu, task, true);
                self.leave_groups(cpu);
                self.trace_switch(cpu, task, state, NONE);
            }
            // It is stopped like a CPU that executes.
            Phase::Searching => {
                let (task, state) = self.search_ends(cpu);
                self.trace_switch(cpu, task, state, NONE);
                self.cpus[cpu].phase = Phase::Running;
            }
            // An idle CPU is woken to be stopped.
            Phase::Idle => {
                let now = self.now;
                self.cpus[cpu].end = self.idle_leave(cpu, now);
            }
            Phase::Waking => {}
        }
    }
}

impl Sim<'_> {
    /// `cpu` goes offline, unless it is already.
    pub fn cpu_down(&mut self, cpu: usize) {
        if !self.hotplug.online.contains(cpu as u32) {
            return;
        }
        // EBUSY: the admitted deadline tasks need it.
        if self.dl_needs(cpu) {
            self.hotplug.refused += 1;
            return;
        }
        let before = self.hotplug.online.len();
        self.clock(cpu);
        // Tasks on its wake list join the queue, and leave with the others
        // (`sched_ttwu_pending`).
        self.run_wake_list(cpu);
        self.nohz_leave(cpu);
        self.hotplug.online.remove(cpu as u32);
        self.cpus[cpu].stats.offline_since = self.now;
        self.online_changed(before as usize);
        if self.has_servers() {
            self.server_offline(cpu);
        }
        if self.has_classes() {
            self.rt_offline(cpu);
        }
        self.stop_executing(cpu);
        self.move_tasks_away(cpu);
        if self.has_classes() {
            self.move_throttled_away(cpu);
        }
        self.groups_offline(cpu);
        self.move_timers_away(cpu);
        self.rest_dead(cpu);
        self.cpufreq_cpus_changed(cpu);
        self.trace_hotplug(cpu, false);
    }

    /// Moves the timers of `cpu` to the first CPU that is left (`hrtimers_cpu_dying`).
    fn move_timers_away(&mut self, cpu: usize) {
        let first = self.hotplug.online.iter().next();
        let to = first.expect("one is online") as usize;
        while self.cpus[cpu].timers.first_at() != NEVER {
            let at = self.cpus[cpu].timers.first_at().max(self.now);
            let world = self.world();
            let timer = world.cpus[cpu].timers.pop(&mut world.nodes);
            if let Some(task) = self.tasks.get_mut(timer as usize) {
                task.cpu = to as u32;
            }
            let world = self.world();
            world.cpus[to].timers.insert(&mut world.nodes, timer, at);
        }
        self.move_interrupts_away(cpu, to);
        self.arm(to);
    }
}

#[cfg(test)]
mod tests;
