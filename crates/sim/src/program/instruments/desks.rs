// SPDX-License-Identifier: GPL-2.0-only
//! Desks: tasks wait at a desk for an answer, or leave a request without waiting, and a server
//! task serves them. The threads of schbench wait for each other in this way, by two futexes and
//! a list without a lock.

use crate::program::Programs;
use crate::program::effect::Effect;
use crate::program::sync::Word;
use crate::world::state::Call;

/// The tasks that wait for an answer, the requests that were left, and the server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desk {
    /// Each task, and the stamp in which it wants the time of the answer; the latest comes last.
    callers: Vec<(u32, u32)>,
    /// The same for callers that were gathered.
    gathered: Vec<(u32, u32)>,
    /// Number of requests that were left, and of requests that were gathered and are still to do.
    left: u32,
    taken: u32,
    /// Number of requests that were left since the last gathering.
    pending: u32,
    /// The server, if it sleeps.
    server: Option<u32>,
    /// The stamp in which the attending server wants the time of the last request.
    stamp: Option<u32>,
    closed: bool,
}

impl Desk {
    /// Makes room for `tasks` callers: the event loop does not allocate.
    pub fn reserve(&mut self, tasks: usize) {
        self.callers.reserve_exact(tasks);
        self.gathered.reserve_exact(tasks);
    }
}

impl Programs<'_> {
    /// The current task of `cpu` queues, wakes the server if that sleeps, and waits for the answer.
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

    /// Wakes all callers; the time of the answers is the one at which the list was taken.
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

    /// Waits until a caller or a request is at the desk, or it is closed.
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

    /// Wakes the next of the gathered callers, the latest one first.
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

    /// Leaves a request; false if there are too many.
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

    /// Takes the next of the gathered requests.
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
