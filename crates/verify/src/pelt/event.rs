// SPDX-License-Identifier: GPL-2.0-only
//! One event as the recorder writes it down (`crates/live/src/bpf/record_pelt.h`).

use alight_policy::Pelt;

/// What happened, in the order of `enum pelt_op`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Se,
    Blocked,
    Cfs,
    Rt,
    Dl,
    Hw,
    Attach,
    Detach,
    Reweight,
    Remove,
    Init,
    First,
    Migrate,
    Retime,
    UnhookedSe,
    UnhookedCfs,
    UnhookedRt,
    UnhookedDl,
    UnhookedHw,
    EstTask,
    EstEnqueue,
    EstDequeue,
    Clock,
    Idle,
}

const OPS: [Op; 24] = [
    Op::Se,
    Op::Blocked,
    Op::Cfs,
    Op::Rt,
    Op::Dl,
    Op::Hw,
    Op::Attach,
    Op::Detach,
    Op::Reweight,
    Op::Remove,
    Op::Init,
    Op::First,
    Op::Migrate,
    Op::Retime,
    Op::UnhookedSe,
    Op::UnhookedCfs,
    Op::UnhookedRt,
    Op::UnhookedDl,
    Op::UnhookedHw,
    Op::EstTask,
    Op::EstEnqueue,
    Op::EstDequeue,
    Op::Clock,
    Op::Idle,
];

impl Op {
    /// The kernel function, as a user of a report knows it.
    pub fn name(self) -> &'static str {
        match self {
            Op::Se => "__update_load_avg_se",
            Op::Blocked => "__update_load_avg_blocked_se",
            Op::Cfs => "__update_load_avg_cfs_rq",
            Op::Rt => "update_rt_rq_load_avg",
            Op::Dl => "update_dl_rq_load_avg",
            Op::Hw => "update_hw_load_avg",
            Op::Attach => "attach_entity_load_avg",
            Op::Detach => "detach_entity_load_avg",
            Op::Reweight => "reweight_entity",
            Op::Remove => "remove_entity_load_avg",
            Op::Init => "init_entity_runnable_average",
            Op::First => "post_init_entity_util_avg",
            Op::Migrate => "migrate_task_rq_fair",
            Op::Retime => "set_task_rq_fair",
            Op::UnhookedSe => "pelt_se_tp elsewhere",
            Op::UnhookedCfs => "pelt_cfs_tp elsewhere",
            Op::UnhookedRt => "pelt_rt_tp elsewhere",
            Op::UnhookedDl => "pelt_dl_tp elsewhere",
            Op::UnhookedHw => "pelt_hw_tp elsewhere",
            Op::EstTask => "util_est_update",
            Op::EstEnqueue => "util_est_enqueue",
            Op::EstDequeue => "util_est_dequeue",
            Op::Clock => "update_rq_clock",
            Op::Idle => "set_next_task_idle",
        }
    }
}

/// Bits of [`PeltEvent::flags`].
pub mod flag {
    /// The tracepoint fired within the call.
    pub const TRACED: u32 = 1 << 0;
    /// The entity stands for a group.
    pub const GROUP: u32 = 1 << 1;
    /// The queue is its CPU's root queue.
    pub const ROOT: u32 = 1 << 2;
    /// The recorder did not see the call begin.
    pub const NO_BEFORE: u32 = 1 << 3;
    /// The task goes to sleep.
    pub const SLEEP: u32 = 1 << 4;
    /// The idle task was current.
    pub const CURR_IDLE: u32 = 1 << 5;
    /// The recorder did not see the call end: there is no state after it, and no result.
    pub const NO_AFTER: u32 = 1 << 6;
    /// The recorder could not hear the tracepoint.
    pub const NO_TRACE: u32 = 1 << 7;
}

/// `UTIL_AVG_UNCHANGED` since 5.13.
pub const EST_UNCHANGED: u32 = 1 << 31;

/// `struct sched_avg`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Avg {
    pub last_update_time: u64,
    pub load_sum: u64,
    pub runnable_sum: u64,
    pub util_sum: u32,
    pub period_contrib: u32,
    pub load_avg: u64,
    pub runnable_avg: u64,
    pub util_avg: u32,
    pub est: u32,
    pub ewma: u32,
}

impl Avg {
    /// The fields by the kernel's names.
    pub fn fields(&self) -> [(&'static str, u64); 10] {
        [
            ("last_update_time", self.last_update_time),
            ("period_contrib", self.period_contrib.into()),
            ("load_sum", self.load_sum),
            ("runnable_sum", self.runnable_sum),
            ("util_sum", self.util_sum.into()),
            ("load_avg", self.load_avg),
            ("runnable_avg", self.runnable_avg),
            ("util_avg", self.util_avg.into()),
            ("util_est", self.est.into()),
            ("util_est.ewma", self.ewma.into()),
        ]
    }

    /// As the core has it. The core keeps averages in 32 bits; an average beyond
    /// them cannot come out equal.
    pub fn pelt(&self) -> Pelt {
        Pelt {
            last_update_time: self.last_update_time,
            load_sum: self.load_sum,
            runnable_sum: self.runnable_sum,
            util_sum: self.util_sum,
            period_contrib: self.period_contrib,
            load_avg: self.load_avg as u32,
            runnable_avg: self.runnable_avg as u32,
            util_avg: self.util_avg,
            ..Pelt::default()
        }
    }

    /// These estimates with the signals of the core.
    pub fn with(self, pelt: &Pelt) -> Self {
        Avg {
            last_update_time: pelt.last_update_time,
            load_sum: pelt.load_sum,
            runnable_sum: pelt.runnable_sum,
            util_sum: pelt.util_sum,
            period_contrib: pelt.period_contrib,
            load_avg: pelt.load_avg.into(),
            runnable_avg: pelt.runnable_avg.into(),
            util_avg: pelt.util_avg,
            ..self
        }
    }
}

/// Averages that were removed from a queue from afar (`cfs_rq.removed`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Entities.
    pub nr: i64,
    pub load: i64,
    pub util: i64,
    pub runnable: i64,
}

impl Removed {
    /// The averages that are in `before` and no longer in `after`, which somebody took.
    pub fn between(before: &Avg, after: &Avg) -> Self {
        Removed {
            nr: 1,
            load: before.load_avg as i64 - after.load_avg as i64,
            util: i64::from(before.util_avg) - i64::from(after.util_avg),
            runnable: before.runnable_avg as i64 - after.runnable_avg as i64,
        }
    }

    /// Was more taken than the averages before and `after` tell? Subtractions end at 0.
    pub fn may_be_more(&self, after: &Avg) -> bool {
        after.load_avg == 0 || after.util_avg == 0 || after.runnable_avg == 0
    }

    /// More than there was `before`, of what nothing is left in `after`.
    pub fn where_empty_more(&self, before: &Avg, after: &Avg) -> Self {
        let more = |taken, before: u64, after| {
            if after == 0 {
                2 * before as i64 + 1
            } else {
                taken
            }
        };
        Removed {
            nr: self.nr,
            load: more(self.load, before.load_avg, after.load_avg),
            util: more(self.util, before.util_avg.into(), after.util_avg.into()),
            runnable: more(self.runnable, before.runnable_avg, after.runnable_avg),
        }
    }

    pub fn with(&self, more: &Removed) -> Self {
        Removed {
            nr: self.nr + more.nr,
            load: self.load + more.load,
            util: self.util + more.util,
            runnable: self.runnable + more.runnable,
        }
    }

    pub fn without(&self, less: &Removed) -> Self {
        Removed {
            nr: self.nr - less.nr,
            load: self.load - less.load,
            util: self.util - less.util,
            runnable: self.runnable - less.runnable,
        }
    }

    pub fn is_negative(&self) -> bool {
        self.load < 0 || self.util < 0 || self.runnable < 0
    }
}

/// Clocks of a runqueue, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clocks {
    pub clock: u64,
    pub clock_task: u64,
    pub clock_pelt: u64,
    pub lost_idle_time: u64,
}

impl Clocks {
    /// The fields by the kernel's names.
    pub fn fields(&self) -> [(&'static str, u64); 4] {
        [
            ("clock", self.clock),
            ("clock_task", self.clock_task),
            ("clock_pelt", self.clock_pelt),
            ("lost_idle_time", self.lost_idle_time),
        ]
    }
}

/// States before and after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    One {
        before: Avg,
        after: Avg,
        removed: Removed,
    },
    Two {
        before: Avg,
        after: Avg,
        queue_before: Avg,
        queue_after: Avg,
    },
    Tick {
        before: Clocks,
        after: Clocks,
        util_sums: [u32; 3],
    },
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeltEvent {
    pub op: Op,
    pub flags: u32,
    pub cpu: u32,
    pub pid: u32,
    pub first: u64,
    pub queue: u64,
    pub now: u64,
    pub load: u64,
    pub runnable: u64,
    pub running: u32,
    pub result: i32,
    pub capacity: u32,
    pub freq: u32,
    pub body: Body,
}

impl PeltEvent {
    /// Reads a record.
    ///
    /// # Errors
    /// What was found instead of an event.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut from = Cursor { bytes, at: 0 };
        let number = from.u32();
        let Some(op) = OPS.get(number as usize).copied() else {
            return Err(format!("no operation has the number {number}"));
        };
        let mut event = PeltEvent {
            op,
            flags: from.u32(),
            cpu: from.u32(),
            pid: from.u32(),
            first: from.u64(),
            queue: from.u64(),
            now: from.u64(),
            load: from.u64(),
            runnable: from.u64(),
            running: from.u32(),
            result: from.u32() as i32,
            capacity: from.u32(),
            freq: from.u32(),
            body: Body::One {
                before: Avg::default(),
                after: Avg::default(),
                removed: Removed::default(),
            },
        };
        event.body = match op {
            Op::Clock | Op::Idle => {
                let (before, after) = (from.clocks(), from.clocks());
                let util_sums = [from.u32(), from.u32(), from.u32()];
                from.u32();
                Body::Tick {
                    before,
                    after,
                    util_sums,
                }
            }
            Op::Attach | Op::Detach | Op::Reweight | Op::First | Op::EstTask => Body::Two {
                before: from.avg(),
                after: from.avg(),
                queue_before: from.avg(),
                queue_after: from.avg(),
            },
            _ => {
                let (before, after) = (from.avg(), from.avg());
                let removed = Removed {
                    nr: from.u64() as u32 as i64, // and padding
                    load: from.u64() as i64,
                    util: from.u64() as i64,
                    runnable: from.u64() as i64,
                };
                Body::One {
                    before,
                    after,
                    removed,
                }
            }
        };
        if from.at == bytes.len() {
            Ok(event)
        } else {
            let (name, expected, found) = (op.name(), from.at, bytes.len());
            Err(format!("{name}: expected {expected} bytes, found {found}"))
        }
    }
}

/// Little-endian numbers, one after the other; 0 beyond the end, which the length tells.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let field = self.bytes.get(self.at..self.at + N);
        self.at += N;
        field.map_or([0; N], |field| field.try_into().expect("N bytes"))
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn avg(&mut self) -> Avg {
        let avg = Avg {
            last_update_time: self.u64(),
            load_sum: self.u64(),
            runnable_sum: self.u64(),
            util_sum: self.u32(),
            period_contrib: self.u32(),
            load_avg: self.u64(),
            runnable_avg: self.u64(),
            util_avg: self.u32(),
            est: self.u32(),
            ewma: self.u32(),
        };
        self.u32();
        avg
    }

    fn clocks(&mut self) -> Clocks {
        Clocks {
            clock: self.u64(),
            clock_task: self.u64(),
            clock_pelt: self.u64(),
            lost_idle_time: self.u64(),
        }
    }
}

#[cfg(test)]
mod tests;
