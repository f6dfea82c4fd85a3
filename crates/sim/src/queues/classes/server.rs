// SPDX-License-Identifier: GPL-2.0-only
//! The fair server of Linux 6.12 and later (`kernel/sched/deadline.c`, the comment
//! before `dl_server_start()`): each CPU has a SCHED_DEADLINE entity that runs fair tasks for
//! 50 ms of each second, even if real-time tasks never sleep.
//!
//! The server is deferred: it waits until only its runtime is left before its deadline (zero
//! laxity). Until then, time that fair tasks run and idle time count as served. The server
//! precedes real-time tasks only if its runtime was not served by then.
//!
//! The bandwidth of the server is in use from the arrival of a fair task until the 0-lag time
//! after the server stops. It is 51 of 1024 in the demand for frequency (`running_bw`), whatever
//! the capacity of the CPU. An idle CPU keeps that demand for about a second, until the server's
//! timer finds that no fair task came.
//!
//! Not modelled: tasks of SCHED_DEADLINE look for CPUs without a running server. With governors
//! other than schedutil, the servers' timers are not modelled in runs that have fair tasks only.

use super::dl::{BW_SHIFT, before, to_ratio, zero_lag};
use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::world::state::DEADLINE;

/// `sched_init_dl_servers`, ns.
const RUNTIME: i64 = 50_000_000;
const PERIOD: u64 = 1_000_000_000;
/// Its bandwidth (`dl_bw`).
const BANDWIDTH: u64 = ((RUNTIME as u64) << BW_SHIFT) / PERIOD;
/// The shortest time by which a timer is put off (`dl_server_min_res`), ns.
const MIN_RESOLUTION: i64 = 1_000_000;

/// The state of a server; the letters are those of the kernel's comment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// A: no fair task came since it was stopped.
    #[default]
    Init,
    /// B: it waits until only its runtime is left. C, `idle`: only idle time has passed
    /// in this period.
    Waits { idle: bool },
    /// D: it precedes real-time tasks.
    Runs,
    /// E: it has served its runtime and waits for its next period.
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
    /// Since when the idle task has been current, if it is.
    idle_since: Option<u64>,
    /// Its bandwidth is in use.
    counted: bool,
    /// It is stopped and counts up to its 0-lag time (`dl_non_contending`).
    non_contending: bool,
    /// `inactive_timer` is pending.
    inactive_pending: bool,
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

    /// The time from which it has no claim to bandwidth, if it is stopped.
    fn zero_lag(&self) -> i64 {
        zero_lag(self.deadline, self.runtime, (PERIOD, RUNTIME as u64))
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

impl Queues<'_> {
    /// Bandwidth in use by the server of `cpu`.
    pub(super) fn server_bandwidth(&self, cpu: usize) -> u64 {
        match self.classes.servers.get(cpu) {
            Some(server) if server.counted => BANDWIDTH,
            _ => 0,
        }
    }

    /// Starts a timer of the server of `cpu` on `on`.
    fn start_server_timer(&mut self, on: usize, cpu: usize, which: usize, at: u64) {
        let first = self.tasks.len() + self.classes.server_timers();
        let timer = first + which * self.classes.servers.len() + cpu;
        let world = self.world();
        let c = &mut world.cpus[on];
        c.timers.insert(&mut world.nodes, timer as u32, at);
        if !c.phase.holds_interrupts() {
            self.queue.advance(on, at);
        }
    }

    /// Starts the timer that the server of `cpu` waits for; if its time is past the server runs.
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
        self.start_server_timer(cpu, cpu, REPLENISH, at);
    }

    /// Fair tasks of `cpu` precede real-time ones from now on.
    fn server_runs(&mut self, cpu: usize) {
        self.classes.servers[cpu].state = State::Runs;
        self.class_present(cpu, DEADLINE, true);
        let curr = self.cpus[cpu].curr;
        let dl = curr != NONE && self.is_dl(curr);
        if !dl || before(self.classes.servers[cpu].deadline, self.deadline(curr)) {
            self.cpus[cpu].need_resched = true;
        }
    }

    /// The server no longer precedes real-time tasks.
    fn server_steps_down(&mut self, cpu: usize) {
        let some = self.classes.dl_busy.contains(cpu as u32);
        self.class_present(cpu, DEADLINE, some);
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
            // It overran its deadline too: a new period begins, and it waits for the deadline of
            // that. `dl_defer_running` stays set, so the server is not deferred then
            // (`update_curr_dl_se`).
            if before(self.classes.servers[cpu].deadline, now) {
                self.classes.servers[cpu].new_period(now);
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

    /// What is wrong with the server of `cpu`.
    pub fn server_check(&self, cpu: usize) -> Option<String> {
        let server = self.classes.servers.get(cpu)?;
        let counts = server.state != State::Init || server.non_contending;
        (counts != server.counted).then(|| {
            let (state, counted) = (server.state, server.counted);
            format!("CPU {cpu}: the server in {state:?} counts its bandwidth: {counted}")
        })
    }

    /// Does the server of `cpu` precede its real-time tasks?
    pub(super) fn is_served(&self, cpu: usize) -> bool {
        let server = self.classes.servers.get(cpu);
        server.is_some_and(|server| server.state == State::Runs)
    }

    /// A fair task came to `cpu`, which had none (`dl_server_start`).
    pub fn server_start(&mut self, cpu: usize) {
        let now = self.rq_time(cpu);
        let idle_until = self.clock_task(cpu);
        let Some(server) = self.classes.servers.get_mut(cpu) else {
            return;
        };
        match &mut server.state {
            // Idle time before the start is not charged to it (`update_curr_idle`).
            State::Init => server.idle_since = server.idle_since.map(|_| idle_until),
            State::Waits { idle } => return *idle = false,
            State::Runs | State::Served => return,
        }
        self.server_contends(cpu);
        let server = &mut self.classes.servers[cpu];
        // `update_dl_entity`. A deadline of 0 is past: kernels have been up for longer than a
        // period when a workload begins.
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

    /// The bandwidth of the server counts on `cpu` (`task_contending`). If it exceeds all lower
    /// clamps, the frequency changes without waiting for the rate limit (`ignore_dl_rate_limit`).
    fn server_contends(&mut self, cpu: usize) {
        let server = &mut self.classes.servers[cpu];
        server.non_contending = false;
        if std::mem::replace(&mut server.counted, true) {
            return;
        }
        let least = self.least_performance(cpu);
        self.show_bandwidth(cpu);
        match u32::from(self.core.cpus[cpu].dl_bandwidth) > least {
            true => self.cpufreq_hurries(cpu),
            false => self.cpufreq_update(cpu),
        }
    }

    /// The bandwidth counts until the 0-lag time (`task_non_contending`), when a timer on `on`
    /// expires.
    fn server_contends_no_more(&mut self, on: usize, cpu: usize) {
        let server = &mut self.classes.servers[cpu];
        let at = server.zero_lag();
        if at <= self.power.now as i64 {
            return self.server_uncounted(cpu);
        }
        server.non_contending = true;
        if !std::mem::replace(&mut server.inactive_pending, true) {
            self.start_server_timer(on, cpu, INACTIVE, at as u64);
        }
    }

    /// `sub_running_bw`
    fn server_uncounted(&mut self, cpu: usize) {
        let server = &mut self.classes.servers[cpu];
        server.non_contending = false;
        if std::mem::take(&mut server.counted) {
            self.show_bandwidth(cpu);
            // An offline CPU has no governor.
            if self.hotplug.online.contains(cpu as u32) {
                self.cpufreq_update(cpu);
            }
        }
    }

    /// `inactive_task_timer`. A server that was started and stopped again meanwhile has a
    /// later 0-lag time: the timer is started again.
    fn server_zero_lag_comes(&mut self, by: usize, cpu: usize) {
        self.classes.servers[cpu].inactive_pending = false;
        if self.classes.servers[cpu].non_contending {
            self.server_contends_no_more(by, cpu);
        }
    }

    /// Timer number `timer` of the servers expires on `by`.
    pub(super) fn server_timer(&mut self, by: usize, timer: usize) {
        let servers = self.classes.servers.len();
        match timer / servers {
            REPLENISH => self.server_period(by, timer % servers),
            _ => self.server_zero_lag_comes(by, timer % servers),
        }
    }

    /// `dl_server_stop`
    fn server_stop(&mut self, cpu: usize) {
        let server = &mut self.classes.servers[cpu];
        if std::mem::take(&mut server.state) != State::Init {
            self.server_steps_down(cpu);
            self.server_contends_no_more(cpu, cpu);
        }
    }

    /// `cpu` goes offline: stops its server.
    pub fn server_offline(&mut self, cpu: usize) {
        self.server_stop(cpu);
        self.classes.servers[cpu].idle_since = None;
    }

    /// `dl_server_timer` of `cpu`, on `by`.
    fn server_period(&mut self, by: usize, cpu: usize) {
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
        // A server that has not waited until its zero laxity waits for it now.
        let zero_laxity = server.deadline.wrapping_add_signed(-server.runtime);
        if !server.ran && before(now, zero_laxity) {
            server.state = State::Waits { idle: false };
            return self.server_waits(cpu);
        }
        self.server_runs(cpu);
        self.kick(by, cpu);
    }

    /// Charges what runs on `cpu`, if that is a fair task or nothing.
    fn server_charge(&mut self, cpu: usize) {
        self.update_curr(cpu);
        let now = self.clock_task(cpu);
        if let Some(since) = &mut self.classes.servers[cpu].idle_since {
            let idle = now - std::mem::replace(since, now);
            // A task that has just come ends the idleness, but the idle time is charged
            // (`idle_rq`).
            let rq = &self.core.cpus[cpu];
            let nobody = rq.nr_running == 0 && rq.ttwu_pending == 0;
            self.server_update(cpu, idle, nobody);
        }
    }

    /// The idle task becomes current on `cpu`, or something else does.
    pub fn server_idles(&mut self, cpu: usize, idle: bool) {
        if self.classes.servers.is_empty() {
            return;
        }
        self.server_charge(cpu);
        self.classes.servers[cpu].idle_since = idle.then_some(self.clock_task(cpu));
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
}

/// The timers of a server.
const REPLENISH: usize = 0;
const INACTIVE: usize = 1;
