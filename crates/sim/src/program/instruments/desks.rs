// SPDX-License-Identifier: GPL-2.0-only
//! Desks, where tasks wait for an answer or leave a request without waiting, and somebody serves: the
//! way in which the threads of schbench wait for each other, two futexes and a list without a lock.

use crate::program::Programs;
use crate::program::effect::Effect;
use crate::program::sync::Word;
use crate::world::state::Call;

/// Tasks that wait for an answer, requests that were left, and who serves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desk {
    /// Task, and the stamp that it wants the answer's time in; the latest comes last.
    callers: Vec<(u32, u32)>,
    /// The same of those that were gathered.
    gathered: Vec<(u32, u32)>,
    /// Requests that were left, and those of them that were gathered.
    left: u32,
    taken: u32,
    /// Requests that were left since the last gathering.
    pending: u32,
    /// Who serves, if it sleeps.
    server: Option<u32>,
    /// Where whoever attends wants the time of what was left last.
    stamp: Option<u32>,
    closed: bool,
}

impl Desk {
    /// Makes room for so many callers: the loop does not allocate.
    pub fn reserve(&mut self, tasks: usize) {
        self.callers.reserve_exact(tasks);
        self.gathered.reserve_exact(tasks);
    }
}

impl Programs<'_> {
    /// The current task of `cpu` queues, wakes the server if that sleeps, and waits.
    pub fn call(&mut self, cpu: usize, desk: u32, stamp: u32) -> Effect {
        let caller = self.cpus[cpu].curr;
        if self.tasks[caller as usize].call == Call::Out {
            let state = &mut self.instruments.desks[desk as usize];
            if state.closed {
                return Effect::Done;
            }
            state.callers.push((caller, stamp));
            self.wake_server(cpu, desk);
        }
        self.futex_wait(cpu, Word::Caller(caller))
    }

    pub fn close(&mut self, cpu: usize, desk: u32) -> Effect {
        self.instruments.desks[desk as usize].closed = true;
        self.wake_server(cpu, desk);
        Effect::Done
    }

    fn wake_server(&mut self, cpu: usize, desk: u32) {
        if let Some(server) = self.instruments.desks[desk as usize].server.take() {
            self.futex_wake(cpu, Word::Desk(desk), server);
        }
    }

    /// Wakes all callers; the answer's time is that at which the list was taken.
    pub fn serve(&mut self, cpu: usize, id: u32, done: u32) -> Effect {
        let server = self.cpus[cpu].curr;
        let desk = &mut self.instruments.desks[id as usize];
        match self.balancer.tasks[server as usize].call {
            Call::Out if !desk.callers.is_empty() => {}
            Call::Out if desk.closed => return Effect::Jump(done),
            Call::Out => {
                desk.server = Some(server);
                return self.futex_wait(cpu, Word::Desk(id));
            }
            _ => {
                return match self.futex_wait(cpu, Word::Desk(id)) {
                    Effect::Done => self.serve(cpu, id, done),
                    effect => effect,
                };
            }
        }
        while let Some((caller, stamp)) = self.instruments.desks[id as usize].callers.pop() {
            self.instruments.stamps[stamp as usize] = self.now;
            self.futex_wake(cpu, Word::Caller(caller), caller);
        }
        Effect::Done
    }

    /// Waits until somebody or something is at the desk, or it is closed.
    pub fn attend(&mut self, cpu: usize, id: u32, stamp: u32) -> Effect {
        let server = self.cpus[cpu].curr;
        if self.tasks[server as usize].call == Call::Out {
            self.instruments.stamps[stamp as usize] = self.now;
            let desk = &mut self.instruments.desks[id as usize];
            desk.stamp = Some(stamp);
            if desk.closed || desk.left != 0 || !desk.callers.is_empty() {
                return Effect::Done;
            }
            desk.server = Some(server);
        }
        self.futex_wait(cpu, Word::Desk(id))
    }

    /// Takes all callers and all requests out of the queue.
    pub fn gather(&mut self, id: u32, none: u32) -> Effect {
        let desk = &mut self.instruments.desks[id as usize];
        desk.gathered.append(&mut desk.callers);
        desk.taken += std::mem::take(&mut desk.left);
        desk.pending = 0;
        match desk.gathered.is_empty() && desk.taken == 0 {
            true => Effect::Jump(none),
            false => Effect::Done,
        }
    }

    /// Wakes the next caller that was gathered, last come first served.
    pub fn answer(&mut self, cpu: usize, id: u32, last: u32) -> Effect {
        let desk = &mut self.instruments.desks[id as usize];
        if let Some((caller, stamp)) = desk.gathered.pop() {
            self.instruments.stamps[stamp as usize] = self.now;
            self.futex_wake(cpu, Word::Caller(caller), caller);
        }
        match self.instruments.desks[id as usize].gathered.is_empty() {
            true => Effect::Jump(last),
            false => Effect::Done,
        }
    }

    /// Leaves a request; false: there are too many.
    pub fn leave_request(&mut self, cpu: usize, id: u32, limit: u32) -> bool {
        let now = self.now;
        let desk = &mut self.instruments.desks[id as usize];
        if desk.pending > limit {
            return false;
        }
        desk.pending += 1;
        desk.left += 1;
        if let Some(stamp) = desk.stamp {
            self.instruments.stamps[stamp as usize] = now;
        }
        self.wake_server(cpu, id);
        true
    }

    /// Takes the next request of those that were gathered.
    pub fn unqueue(&mut self, id: u32, none: u32) -> Effect {
        let desk = &mut self.instruments.desks[id as usize];
        match desk.taken.checked_sub(1) {
            Some(rest) => {
                desk.taken = rest;
                Effect::Done
            }
            None => Effect::Jump(none),
        }
    }
}
