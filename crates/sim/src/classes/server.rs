// SPDX-License-Identifier: GPL-2.0-only
//! The fair server of Linux 6.12 and later (`kernel/sched/deadline.c`, the comment
//! before `dl_server_start()`): each CPU has an entity of SCHED_DEADLINE that runs fair
//! tasks, 50 ms of each second, so that real-time tasks that never sleep leave
//! them that much.
//!
//! It is deferred: it waits until only its runtime is left before its deadline, and all
//! time that fair tasks run anyhow, and idle time, counts as served meanwhile. Only
//! if they were not served until then does it go before real-time tasks.
//!
//! Left out: the bandwidth of an active server in the demand for frequency
//! (`running_bw`: 51 of 1024 while fair tasks are queued), and that tasks of
//! SCHED_DEADLINE look for CPUs without a running server.

use super::DEADLINE;
use super::dl::{BW_SHIFT, before, to_ratio};
use crate::state::{Phase, Sim};
use crate::timeline::NONE;

/// `sched_init_dl_servers`, ns.
const RUNTIME: i64 = 50_000_000;
const PERIOD: u64 = 1_000_000_000;
/// A timer is not put off for less than that (`dl_server_min_res`), ns.
const MIN_RESOLUTION: i64 = 1_000_000;

/// Letters are those of the kernel's comment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// A: no fair task came since it was stopped.
    #[default]
    Init,
    /// B: waits until only its runtime is left. `idle`, C: only idle time has passed
    /// in this period.
    Waits { idle: bool },
    /// D: goes before real-time tasks.
    Runs,
    /// E: has served its runtime, waits for its next period.
    Served,
}

/// The server of a CPU (`rq->fair_server`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Server {
    state: State,
    deadline: u64,
    runtime: i64,
    /// It ran since it last waited (`dl_defer_running`).
    ran: bool,
    timer_pending: bool,
    /// The idle task is current since then, if it is.
    idle_since: Option<u64>,
}

impl Server {
    fn new_period(&mut self, now: u64) {
        (self.deadline, self.runtime) = (now + PERIOD, RUNTIME);
    }

    /// `dl_entity_overflow`
    fn overflows(&self, now: u64) -> bool {
        let left = (PERIOD as i64 >> 10).wrapping_mul(self.runtime >> 10);
        let until = self.deadline.wrapping_sub(now) >> 10;
        before(until.wrapping_mul(RUNTIME as u64 >> 10), left as u64)
    }

    /// When its timer is to expire, if it waits for one.
    fn timer_at(&self) -> Option<u64> {
        match self.state {
            State::Init | State::Runs => None,
            State::Waits { .. } => Some(self.deadline.wrapping_add_signed(-self.runtime)),
            State::Served => Some(self.deadline),
        }
    }
}

impl Sim<'_> {
    /// A fair task came to `cpu`, which had none (`dl_server_start`).
    pub fn server_start(&mut self, cpu: usize) {
        let now = self.core.cpus[cpu].clock;
        let idle_until = self.now;
        let Some(server) = self.classes.servers.get_mut(cpu) else {
            return;
        };
        match &mut server.state {
            // It does not pay for what was idle before (`update_curr_idle`).
            State::Init => server.idle_since = server.idle_since.map(|_| idle_until),
            State::Waits { idle } => return *idle = false,
            State::Runs | State::Served => return,
        }
        // `update_dl_entity`
        // Kernels have run for longer than a period when a workload begins.
        let missed = server.deadline == 0 || before(server.deadline, now);
        if missed || server.overflows(now) {
            if server.ran && !missed {
                let density = to_ratio(PERIOD, RUNTIME as u64);
                server.runtime = ((density * (server.deadline - now)) >> BW_SHIFT) as i64;
            } else {
                server.ran = false;
                server.new_period(now);
            }
        }
        if server.ran {
            self.server_runs(cpu);
        } else {
            server.state = State::Waits { idle: false };
            self.server_waits(cpu);
        }
    }

    /// Awaits what the server of `cpu` waits for, or does not if that is past.
    fn server_waits(&mut self, cpu: usize) {
        let Some(at) = self.classes.servers[cpu].timer_at() else {
            return;
        };
        if before(at, self.now) {
            return self.server_runs(cpu);
        }
        if std::mem::replace(&mut self.classes.servers[cpu].timer_pending, true) {
            return;
        }
        let timer = self.tasks.len() + self.classes.server_timers() + cpu;
        let c = &mut self.cpus[cpu];
        c.timers.insert(&mut self.nodes, timer as u32, at);
        if c.phase != Phase::Waking {
            self.queue.advance(cpu, at);
        }
    }

    /// Fair tasks of `cpu` go before real-time ones from now on.
    fn server_runs(&mut self, cpu: usize) {
        self.classes.servers[cpu].state = State::Runs;
        self.class_present(cpu, DEADLINE, true);
        let curr = self.cpus[cpu].curr;
        let dl = curr != NONE && self.is_dl(curr);
        if !dl || before(self.classes.servers[cpu].deadline, self.deadline(curr)) {
            self.cpus[cpu].need_resched = true;
        }
    }

    /// It goes before real-time tasks no more.
    fn server_steps_down(&mut self, cpu: usize) {
        let some = self.classes.dl_busy.contains(cpu as u32);
        self.class_present(cpu, DEADLINE, some);
    }

    /// `dl_server_stop`
    fn server_stop(&mut self, cpu: usize) {
        self.classes.servers[cpu].state = State::Init;
        self.server_steps_down(cpu);
    }

    /// `cpu` goes off.
    pub(super) fn server_offline(&mut self, cpu: usize) {
        if !self.classes.servers.is_empty() {
            self.server_stop(cpu);
            self.classes.servers[cpu].idle_since = None;
        }
    }

    /// A fair task ran for `delta` ns on `cpu`, or nothing did (`dl_server_update`,
    /// `dl_server_update_idle`).
    pub fn server_update(&mut self, cpu: usize, delta: u64, idle: bool) {
        let now = self.now;
        let Some(server) = self.classes.servers.get_mut(cpu) else {
            return;
        };
        let only_idle = match &mut server.state {
            State::Init => return,
            State::Waits { idle: only_idle } => {
                *only_idle &= idle;
                *only_idle
            }
            State::Runs | State::Served => false,
        };
        server.runtime -= delta as i64;
        if server.runtime > 0 {
            return;
        }
        if server.state == State::Runs {
            server.state = State::Served;
            self.server_steps_down(cpu);
            self.cpus[cpu].need_resched = true;
            if before(self.classes.servers[cpu].deadline, now) {
                let server = &mut self.classes.servers[cpu];
                server.new_period(now);
                server.state = State::Waits { idle: false };
            }
            return self.server_waits(cpu);
        }
        if only_idle && idle {
            server.runtime = 0;
            return;
        }
        server.ran = false;
        server.new_period(now);
        server.state = State::Waits { idle };
        self.server_waits(cpu);
    }

    /// `dl_server_timer` of `cpu`, on `by`.
    pub(super) fn server_timer(&mut self, by: usize, cpu: usize) {
        self.classes.servers[cpu].timer_pending = false;
        let Some(at) = self.classes.servers[cpu].timer_at() else {
            return;
        };
        if at > self.now {
            // It was put off, or stopped and started again, since the timer was set.
            return self.server_waits(cpu);
        }
        self.clock(cpu);
        self.server_charge(cpu);
        let now = self.now;
        let server = &mut self.classes.servers[cpu];
        match server.state {
            State::Init | State::Runs => return,
            State::Waits { idle: true } => return self.server_stop(cpu),
            State::Waits { idle: false } => {
                let zero_laxity = server.deadline.wrapping_add_signed(-server.runtime);
                if (now as i64) < zero_laxity as i64 - MIN_RESOLUTION {
                    return self.server_waits(cpu);
                }
                server.ran = true;
                if server.overflows(now) {
                    server.new_period(now);
                }
            }
            State::Served => {}
        }
        // `replenish_dl_entity`
        while server.runtime <= 0 {
            server.deadline += PERIOD;
            server.runtime += RUNTIME;
        }
        if before(server.deadline, now) {
            server.new_period(now);
        }
        self.server_runs(cpu);
        self.kick(by, cpu);
    }

    /// Charges what runs on `cpu`, if that is a fair task or nothing.
    fn server_charge(&mut self, cpu: usize) {
        self.update_curr(cpu);
        let now = self.now;
        if let Some(since) = &mut self.classes.servers[cpu].idle_since {
            let idle = now - std::mem::replace(since, now);
            // Who just came ends the idleness, though it is paid for (`idle_rq`).
            let rq = &self.core.cpus[cpu];
            let nobody = rq.nr_running == 0 && rq.wakeup_pending == 0;
            self.server_update(cpu, idle, nobody);
        }
    }

    /// The idle task becomes current on `cpu`, or something else does.
    pub fn server_idles(&mut self, cpu: usize, idle: bool) {
        if self.classes.servers.is_empty() {
            return;
        }
        self.server_charge(cpu);
        self.classes.servers[cpu].idle_since = idle.then_some(self.now);
    }

    /// The fair task that the server of `cpu` runs, or [`NONE`] if it is not its
    /// turn; `stays`: the current task is a fair one and stays (`__pick_task_dl`).
    pub(super) fn pick_served(&mut self, cpu: usize, stays: bool) -> u32 {
        let Some(server) = self.classes.servers.get(cpu) else {
            return NONE;
        };
        if server.state != State::Runs {
            return NONE;
        }
        let first = match self.classes.dl_busy.contains(cpu as u32) {
            true => self.pick_dl(cpu),
            false => NONE,
        };
        if first != NONE && !before(server.deadline, self.deadline(first)) {
            return NONE;
        }
        let task = self.pick_fair(cpu, stays);
        if task == NONE {
            self.server_stop(cpu);
        }
        task
    }

    /// Does the server of `cpu` go before its real-time tasks?
    pub(super) fn is_served(&self, cpu: usize) -> bool {
        let server = self.classes.servers.get(cpu);
        server.is_some_and(|server| server.state == State::Runs)
    }
}
