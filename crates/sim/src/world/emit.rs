// SPDX-License-Identifier: GPL-2.0-only
//! The event stream: each event enters the run's hash, and the trace if there is one.

use crate::base::timeline::NONE;
use crate::world::World;
use crate::world::cost::OpCost;
use alight_policy::{Answer, STEPS, abi::class};
use alight_trace::{BaseAnswer, Called, CpuCounter, Detail, Event, Interrupt, Signals, TaskRef};

/// Thread id of the first task; lower ids are the kernel's own.
pub(crate) const FIRST_PID: u32 = 1000;

/// Kinds of events in the hash.
enum Tag {
    Switch = 1,
    Waking,
    Wakeup,
    WakeupNew,
    Migrate,
    Idle,
    Frequency,
    Exit,
    Hotplug,
}

impl World<'_> {
    #[inline]
    fn mix(&mut self, tag: Tag, cpu: usize, a: u32, b: u32) {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let words = [
            self.now << 4 | tag as u64,
            (cpu as u64) << 52 ^ u64::from(a) << 26 ^ u64::from(b),
        ];
        for word in words {
            self.hash = (self.hash.rotate_left(23) ^ word).wrapping_mul(K);
        }
    }

    /// A switch enters the hash.
    #[inline]
    pub fn mix_switch(&mut self, cpu: usize, prev: u32, next: u32) {
        self.mix(Tag::Switch, cpu, prev, next);
    }

    #[inline]
    pub fn emit(&mut self, cpu: usize, event: Event<'_>) {
        self.emit_reached(cpu, self.reached(cpu), event);
    }

    /// Tells the sink an event that `cpu` comes to at `reached`.
    #[inline]
    pub fn emit_reached(&mut self, cpu: usize, reached: u64, event: Event<'_>) {
        if let Some(sink) = self.out.sink.as_deref_mut()
            && self.out.error.is_none()
            && let Err(error) = sink.event_reached(self.now, reached, cpu as u32, event)
        {
            self.out.error = Some(error);
            self.end_now();
        }
    }

    pub fn trace_counters(&mut self, cpu: usize) {
        let view = &self.core.cpus[cpu];
        let values = [
            (CpuCounter::UtilAvg, u64::from(view.cfs.util_avg)),
            (CpuCounter::NrRunning, u64::from(view.nr_running)),
        ];
        for (counter, value) in values {
            self.emit(cpu, Event::CpuCounter { counter, value });
        }
    }

    /// Tells the sink a detail, if it wants details.
    #[cold]
    pub fn detail(&mut self, cpu: usize, detail: Detail) {
        if let Some(sink) = self.out.sink.as_deref_mut()
            && self.detailed
            && self.out.error.is_none()
            && let Err(error) = sink.detail(self.now, cpu as u32, detail)
        {
            self.out.error = Some(error);
            self.end_now();
        }
    }

    /// `cpu` comes to an interrupt that was due at `due_ns`; `None`: to the end of the interrupt.
    #[inline]
    pub fn trace_interrupt(&mut self, cpu: usize, interrupt: Interrupt, due_ns: Option<u64>) {
        if self.detailed {
            let reached_ns = self.reached(cpu);
            let detail = Detail::Interrupt {
                interrupt,
                due_ns,
                reached_ns,
            };
            self.detail(cpu, detail);
        }
    }

    /// `cpu` enters idle state `state`; `None`: it leaves its idle state.
    #[inline]
    pub fn trace_idle(&mut self, cpu: usize, state: Option<u32>) {
        self.mix(Tag::Idle, cpu, state.unwrap_or(NONE), 0);
        if self.tracing {
            let event = state.map_or(Event::IdleExit, |state| Event::IdleEnter { state });
            self.emit(cpu, event);
        }
    }

    /// `cpu` executes at its rate from now on.
    #[inline]
    pub fn trace_rate(&mut self, cpu: usize) {
        if self.detailed {
            let rate = self.cpus[cpu].rate;
            self.detail(cpu, Detail::Speed { rate });
        }
    }

    /// `cpu` is out of its idle state.
    #[inline]
    pub fn trace_executes(&mut self, cpu: usize) {
        if self.detailed {
            self.detail(cpu, Detail::Executes);
        }
    }

    pub fn trace_frequency(&mut self, cpu: usize, khz: u32) {
        self.mix(Tag::Frequency, cpu, khz, 0);
        if self.tracing {
            self.emit(cpu, Event::Frequency { khz });
        }
    }

    /// A CPU went offline or came back. Only the hash gets it: Linux has no scheduler event for it.
    pub fn trace_hotplug(&mut self, cpu: usize, online: bool) {
        self.mix(Tag::Hotplug, cpu, online.into(), 0);
    }

    /// The signals of a fair task on `cpu` were updated; `sleeps`: it was the last update before a
    /// sleep.
    #[inline]
    pub fn sample(&mut self, cpu: usize, task: u32, sleeps: bool) {
        if self.sampling {
            self.emit_signals(cpu, task, sleeps);
        }
    }

    #[cold]
    fn emit_signals(&mut self, cpu: usize, task: u32, sleeps: bool) {
        let view = &self.views[task as usize];
        let queue = &self.core.cpus[cpu].cfs;
        let signals = Signals {
            task: self.task_ref(task),
            util_avg: view.pelt.util_avg,
            load_avg: view.pelt.load_avg,
            util_est_enqueued: view.util_est_enqueued,
            util_est_ewma: view.util_est_ewma,
            queue_util_avg: queue.util_avg,
            queue_load_avg: queue.load_avg,
            sleeps,
        };
        let world = self.world();
        if let Some(sink) = world.out.sink.as_deref_mut()
            && world.out.error.is_none()
            && let Err(error) = sink.signals(world.now, cpu as u32, &signals)
        {
            self.out.error = Some(error);
            self.end_now();
        }
    }

    /// A task as in traces; [`NONE`] is the idle task.
    pub fn task_ref(&self, task: u32) -> TaskRef {
        match self.tasks.get(task as usize) {
            None => TaskRef { pid: 0, prio: 120 },
            Some(t) => TaskRef {
                pid: FIRST_PID + task,
                prio: match self.rt_prio(task) {
                    Some(prio) => prio,
                    None => match self.views[task as usize].class {
                        class::IDLE => 120,
                        _ => 120 + i32::from(t.nice),
                    },
                },
            },
        }
    }

    #[inline]
    pub fn trace_waking(&mut self, cpu: usize, task: u32, target: usize, sync: bool) {
        self.mix(Tag::Waking, cpu, task, target as u32);
        if self.tracing {
            let task = self.task_ref(task);
            self.emit(
                cpu,
                Event::Waking {
                    task,
                    target_cpu: target as u32,
                },
            );
            let by = self.out.waker;
            self.detail(cpu, Detail::Waking { task, by, sync });
        }
    }

    /// The current task of `cpu` yields.
    #[inline]
    pub fn trace_yield(&mut self, cpu: usize) {
        if self.detailed {
            let detail = Detail::Yield {
                task: self.task_ref(self.cpus[cpu].curr),
                work: self.costs(cpu).ops[OpCost::Yield as usize],
            };
            self.detail(cpu, detail);
        }
    }

    /// `cpu` has done its part of the wakeup of `task`.
    #[inline]
    pub fn trace_woken(&mut self, cpu: usize, task: u32) {
        if self.detailed {
            let (task, reached_ns) = (self.task_ref(task), self.reached(cpu));
            self.detail(cpu, Detail::Woken { task, reached_ns });
        }
    }

    /// `prev` on `cpu` calls the scheduler, which switches to another task.
    #[inline]
    pub fn trace_schedule(&mut self, cpu: usize, prev: u32) {
        if self.detailed && prev != NONE {
            let (task, reached_ns) = (self.task_ref(prev), self.reached(cpu));
            self.detail(cpu, Detail::Schedule { task, reached_ns });
        }
    }

    /// The current task of `cpu` begins a system call.
    #[inline]
    pub fn trace_call_begin(&mut self, cpu: usize, call: Called) {
        if self.detailed {
            let detail = Detail::CallBegin {
                task: self.task_ref(self.cpus[cpu].curr),
                call,
                reached_ns: self.reached(cpu),
            };
            self.detail(cpu, detail);
        }
    }

    /// The call that `trace_call_begin` told of the current task of `cpu` ends.
    #[inline]
    pub fn trace_call_return(&mut self, cpu: usize, result: u32) {
        if self.detailed {
            let detail = Detail::CallEnd {
                task: self.task_ref(self.cpus[cpu].curr),
                bytes: result,
                reached_ns: self.reached(cpu),
            };
            self.detail(cpu, detail);
        }
    }

    /// The current task of `cpu` adopts the attributes with index `attributes`.
    pub fn trace_attributes(&mut self, cpu: usize, attributes: u32) {
        if self.detailed {
            let task = self.task_ref(self.cpus[cpu].curr);
            self.detail(cpu, Detail::Attributes { task, attributes });
        }
    }

    /// `cpu` has queued the woken task on `target`, whose clock it read at `reached`.
    #[inline]
    pub fn trace_wakeup(&mut self, cpu: usize, reached: u64, target: usize, task: u32) {
        self.mix(Tag::Wakeup, target, task, 0);
        if self.tracing {
            let event = Event::Wakeup {
                task: self.task_ref(task),
                target_cpu: target as u32,
            };
            self.emit_reached(cpu, reached, event);
        }
    }

    pub fn trace_wakeup_new(&mut self, cpu: usize, task: u32, target: usize) {
        self.mix(Tag::WakeupNew, cpu, task, target as u32);
        if self.tracing {
            let task = self.task_ref(task);
            self.emit(
                cpu,
                Event::WakeupNew {
                    task,
                    target_cpu: target as u32,
                },
            );
        }
    }

    /// `cpu` changes the task's CPU (`set_task_cpu`).
    #[inline(always)]
    pub fn trace_migrate(&mut self, cpu: usize, task: u32, dest: usize) {
        let orig = self.views[task as usize].prev_cpu;
        if orig as usize == dest {
            return;
        }
        self.views[task as usize].prev_cpu = dest as u32;
        self.tasks[task as usize].last_run = 0;
        let distance = self.counting.distances.between(orig as usize, dest);
        self.stats.migrations.0[distance] += 1;
        self.mix(Tag::Migrate, dest, task, orig);
        if self.tracing {
            let task = self.task_ref(task);
            let event = Event::Migrate {
                task,
                orig_cpu: orig,
                dest_cpu: dest as u32,
            };
            self.emit(cpu, event);
        }
    }

    #[inline]
    pub fn trace_decision(&mut self, cpu: usize, task: u32, answer: &Answer) {
        if self.tracing {
            let event = Event::Decision {
                task: self.task_ref(task),
                prev_cpu: self.views[task as usize].prev_cpu,
                cpu: self.sent_to(answer.cpu, task),
                step: STEPS[answer.step as usize].0,
                scanned: answer.looked_near + answer.looked_far + answer.summed,
            };
            self.emit(cpu, event);
        }
    }

    /// The answer of the base to the decision that was told last.
    pub fn trace_base(&mut self, cpu: usize, task: u32, answer: &Answer, because: &[&'static str]) {
        let answer = BaseAnswer {
            task: self.task_ref(task),
            cpu: answer.cpu,
            step: STEPS[answer.step as usize].0,
            because,
        };
        let world = self.world();
        if let Some(sink) = world.out.sink.as_deref_mut()
            && world.out.error.is_none()
            && let Err(error) = sink.base_answer(world.now, cpu as u32, &answer)
        {
            self.out.error = Some(error);
            self.end_now();
        }
    }

    pub fn trace_fork(&mut self, cpu: usize, parent: usize, child: u32) {
        if self.tracing {
            let parent = if parent < self.tasks.len() {
                parent as u32
            } else {
                NONE
            };
            let (parent, child) = (self.task_ref(parent), self.task_ref(child));
            self.emit(cpu, Event::Fork { parent, child });
        }
    }

    pub fn trace_exit(&mut self, cpu: usize, task: u32) {
        self.mix(Tag::Exit, cpu, task, 0);
        if self.tracing {
            let task = self.task_ref(task);
            self.emit(cpu, Event::Exit { task });
        }
    }
}

#[cfg(test)]
mod tests;
