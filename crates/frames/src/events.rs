// SPDX-License-Identifier: GPL-2.0-only
//! The events of a trace, and the table of each kind of them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::table::Table;
use crate::{NoTable, tasks};

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happened {
    /// When, ns.
    pub time: u64,
    /// On which CPU; of [`What::Frequency`] and [`What::Idle`] of which CPU.
    pub cpu: u32,
    /// What.
    pub what: What,
}

/// What happened, with the fields of the tracepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields are the tracepoints' own; what is special of them stands at the variant"
)]
pub enum What {
    /// `sched_switch`; `state` is `prev_state`, with the numbers of Linux 4.14 and later.
    Switch {
        prev: u32,
        prev_prio: i32,
        state: u32,
        next: u32,
        next_prio: i32,
    },
    /// `sched_waking`.
    Waking(Woken),
    /// `sched_wakeup`.
    Wakeup(Woken),
    /// `sched_wakeup_new`.
    WakeupNew(Woken),
    /// `sched_migrate_task`.
    Migrate {
        pid: u32,
        prio: i32,
        from: u32,
        to: u32,
    },
    /// `cpu_idle`; `None`: the CPU leaves idle.
    Idle { state: Option<u32> },
    /// `cpu_frequency`.
    Frequency { khz: u32 },
    /// `sched_process_fork`.
    Fork { parent: u32, child: u32 },
    /// `sched_process_exit`.
    Exit { pid: u32 },
    /// `print`; `text` is a place in [`Trace::texts`].
    Print { text: u32 },
    /// `alight_decision`; `step` is a place in [`Trace::texts`].
    Decision {
        pid: u32,
        prev_cpu: u32,
        chosen: u32,
        step: u32,
        scanned: u32,
    },
    /// `nr_running` of the CPU.
    NrRunning { value: u32 },
    /// Capacity of the CPU that is left for the fair class.
    Capacity { value: u32 },
    /// Load tracking of a task was updated (`sched_pelt_se`, `sched_util_est_se`).
    Task {
        pid: u32,
        util: u32,
        load: u32,
        enqueued: u32,
        ewma: u32,
    },
    /// The same of the CPU's fair run queue (`sched_pelt_cfs`).
    Queue { util: u32, load: u32 },
}

/// The fields of a wakeup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Woken {
    /// The task that is woken.
    pub pid: u32,
    /// Its priority.
    pub prio: i32,
    /// `target_cpu`: of `sched_waking` the CPU where it ran before, else the one that was chosen.
    pub target: u32,
}

/// What is known beside the events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Names of tasks by thread id; the last name of each.
    pub comms: BTreeMap<u32, String>,
    /// `cpu_capacity` of each CPU, 1024 is the largest; its length is the number of CPUs.
    pub capacities: Vec<u32>,
}

/// A trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// What happened, in the order of time.
    pub events: Vec<Happened>,
    /// Texts that events refer to.
    pub texts: Vec<String>,
    /// Names and capacities.
    pub known: Known,
    /// First and last time, ns.
    pub window: Range<u64>,
    /// Kinds of events that the source cannot tell, each with a sentence that says what follows; an
    /// empty table of these would be a lie.
    pub untold: BTreeMap<&'static str, String>,
}

/// The kinds of events: a name, and the columns beside `Time` and `__cpu`.
pub const EVENTS: [&str; 16] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "sched_process_exit",
    "cpu_idle",
    "cpu_frequency",
    "print",
    "alight_decision",
    "alight_nr_running",
    "alight_capacity",
    "sched_pelt_se",
    "sched_pelt_cfs",
    "sched_util_est_se",
];

impl Trace {
    /// The name of a task; that of the idle task is `swapper`, and an unknown one has none.
    pub fn comm(&self, pid: u32) -> &str {
        match self.known.comms.get(&pid) {
            Some(comm) => comm,
            None if pid == 0 => "swapper",
            None => "",
        }
    }

    /// Refuses what the source of the trace cannot tell.
    ///
    /// # Errors
    /// The source has no such events.
    pub fn needs(&self, event: &'static str) -> Result<(), NoTable> {
        match self.untold.get(event) {
            None => Ok(()),
            Some(why) => Err(NoTable(format!("the trace has no event `{event}`: {why}"))),
        }
    }

    /// The kinds of events that the source can tell.
    pub fn available(&self) -> Vec<&'static str> {
        let told = EVENTS
            .iter()
            .filter(|name| !self.untold.contains_key(*name));
        told.copied().collect()
    }

    /// `df_event`: all events of one kind, with the fields of the tracepoint. Pids and CPUs are
    /// numbers, times ns, frequencies kHz.
    ///
    /// # Errors
    /// An unknown kind, or one that the source cannot tell.
    pub fn event(&self, name: &str) -> Result<Table, NoTable> {
        let Some(name) = EVENTS.into_iter().find(|known| *known == name) else {
            let known = EVENTS.join(", ");
            return Err(NoTable(format!("no event `{name}`; expected {known}")));
        };
        self.needs(name)?;
        Ok(match name {
            "sched_switch" => self.switches(),
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => self.wakeups(name),
            "sched_migrate_task" => self.migrations(),
            "sched_process_fork" => self.forks(),
            "sched_process_exit" => self.exits(),
            "cpu_idle" | "cpu_frequency" => self.states(name),
            "print" => self.prints(),
            "alight_decision" => self.decisions(),
            "alight_nr_running" | "alight_capacity" => self.counters(name),
            "sched_pelt_cfs" => self.queues(),
            signal => self.signals(signal),
        })
    }

    /// The rows of one kind.
    pub(crate) fn rows<T>(&self, row: impl Fn(&What) -> Option<T>) -> Vec<(u64, u32, T)> {
        let one = |event: &Happened| Some((event.time, event.cpu, row(&event.what)?));
        self.events.iter().filter_map(one).collect()
    }

    fn comms<'a>(&'a self, pids: impl Iterator<Item = u32> + 'a) -> impl Iterator<Item = &'a str> {
        pids.map(|pid| self.comm(pid))
    }

    fn switches(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Switch {
                prev,
                prev_prio,
                state,
                next,
                next_prio,
            } => Some((prev, prev_prio, state, next, next_prio)),
            _ => None,
        });
        let of = || rows.iter().map(|(_, _, row)| row);
        begin(&rows)
            .text("prev_comm", self.comms(of().map(|row| row.0)))
            .int("prev_pid", of().map(|row| row.0))
            .int("prev_prio", of().map(|row| row.1))
            .int("prev_state", of().map(|row| row.2))
            .text("next_comm", self.comms(of().map(|row| row.3)))
            .int("next_pid", of().map(|row| row.3))
            .int("next_prio", of().map(|row| row.4))
    }

    fn wakeups(&self, name: &str) -> Table {
        let rows = self.rows(|what| match (*what, name) {
            (What::Waking(woken), "sched_waking")
            | (What::Wakeup(woken), "sched_wakeup")
            | (What::WakeupNew(woken), "sched_wakeup_new") => Some(woken),
            _ => None,
        });
        let of = || rows.iter().map(|(_, _, row)| row);
        begin(&rows)
            .text("comm", self.comms(of().map(|row| row.pid)))
            .int("pid", of().map(|row| row.pid))
            .int("prio", of().map(|row| row.prio))
            .int("target_cpu", of().map(|row| row.target))
    }

    fn migrations(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Migrate {
                pid,
                prio,
                from,
                to,
            } => Some((pid, prio, from, to)),
            _ => None,
        });
        let of = || rows.iter().map(|(_, _, row)| row);
        begin(&rows)
            .text("comm", self.comms(of().map(|row| row.0)))
            .int("pid", of().map(|row| row.0))
            .int("prio", of().map(|row| row.1))
            .int("orig_cpu", of().map(|row| row.2))
            .int("dest_cpu", of().map(|row| row.3))
    }

    fn forks(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Fork { parent, child } => Some((parent, child)),
            _ => None,
        });
        let of = || rows.iter().map(|(_, _, row)| row);
        begin(&rows)
            .text("parent_comm", self.comms(of().map(|row| row.0)))
            .int("parent_pid", of().map(|row| row.0))
            .text("child_comm", self.comms(of().map(|row| row.1)))
            .int("child_pid", of().map(|row| row.1))
    }

    fn exits(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Exit { pid } => Some(pid),
            _ => None,
        });
        let pids = || rows.iter().map(|(_, _, pid)| *pid);
        begin(&rows)
            .text("comm", self.comms(pids()))
            .int("pid", pids())
    }

    /// `cpu_idle` and `cpu_frequency`, whose fields have the same names.
    fn states(&self, name: &str) -> Table {
        /// Leaving idle, as the tracepoint writes it.
        const EXIT: u32 = u32::MAX;
        let rows = self.rows(|what| match (*what, name) {
            (What::Idle { state }, "cpu_idle") => Some(state.unwrap_or(EXIT)),
            (What::Frequency { khz }, "cpu_frequency") => Some(khz),
            _ => None,
        });
        begin(&rows)
            .int("cpu_id", rows.iter().map(|(_, cpu, _)| *cpu))
            .int("state", rows.iter().map(|(_, _, state)| *state))
    }

    fn prints(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Print { text } => Some(text),
            _ => None,
        });
        let texts = rows.iter().map(|(_, _, text)| &self.texts[*text as usize]);
        begin(&rows).text("buf", texts)
    }

    fn decisions(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Decision {
                pid,
                prev_cpu,
                chosen,
                step,
                scanned,
            } => Some((pid, prev_cpu, chosen, step, scanned)),
            _ => None,
        });
        let of = || rows.iter().map(|(_, _, row)| row);
        begin(&rows)
            .text("comm", self.comms(of().map(|row| row.0)))
            .int("pid", of().map(|row| row.0))
            .int("prev_cpu", of().map(|row| row.1))
            .int("cpu", of().map(|row| row.2))
            .text("step", of().map(|row| &self.texts[row.3 as usize]))
            .int("scanned", of().map(|row| row.4))
    }

    fn counters(&self, name: &str) -> Table {
        let rows = self.rows(|what| match (*what, name) {
            (What::NrRunning { value }, "alight_nr_running")
            | (What::Capacity { value }, "alight_capacity") => Some(value),
            _ => None,
        });
        let label = name.trim_start_matches("alight_");
        begin(&rows)
            .int("cpu", rows.iter().map(|(_, cpu, _)| *cpu))
            .int(label, rows.iter().map(|(_, _, value)| *value))
    }

    fn queues(&self) -> Table {
        let rows = self.rows(|what| match *what {
            What::Queue { util, load } => Some((util, load)),
            _ => None,
        });
        begin(&rows)
            .int("cpu", rows.iter().map(|(_, cpu, _)| *cpu))
            .int("load", rows.iter().map(|(_, _, row)| row.1))
            .int("util", rows.iter().map(|(_, _, row)| row.0))
    }

    fn signals(&self, name: &str) -> Table {
        let rows = self.rows(|what| match *what {
            What::Task {
                pid,
                util,
                load,
                enqueued,
                ewma,
            } => Some((pid, util, load, enqueued, ewma)),
            _ => None,
        });
        let of = || rows.iter().map(|(_, _, row)| row);
        let table = begin(&rows)
            .int("cpu", rows.iter().map(|(_, cpu, _)| *cpu))
            .text("comm", self.comms(of().map(|row| row.0)))
            .int("pid", of().map(|row| row.0));
        match name {
            "sched_pelt_se" => table
                .int("load", of().map(|row| row.2))
                .int("util", of().map(|row| row.1)),
            _ => table
                .int("enqueued", of().map(|row| row.3))
                .int("ewma", of().map(|row| row.4)),
        }
    }

    /// Tasks that a table of tasks has: those with an event, but for the idle task.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = tasks::states_of(self, None)
            .iter()
            .map(|state| state.pid)
            .collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }
}

/// A table of events, with their times and CPUs.
fn begin<T>(rows: &[(u64, u32, T)]) -> Table {
    let times = rows.iter().map(|(time, _, _)| *time);
    Table::timed(times).int("__cpu", rows.iter().map(|(_, cpu, _)| *cpu))
}

#[cfg(test)]
mod tests;
