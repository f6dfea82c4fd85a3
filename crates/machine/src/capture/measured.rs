// SPDX-License-Identifier: GPL-2.0-only
//! What was measured beside what the kernel says.

use crate::cpuset::CpuSet;

/// What was measured beside what the kernel says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measured {
    /// Timer tick frequency, Hz; `None`: not known.
    pub hz: Option<u32>,
    /// Release of the running kernel; `None`: not known.
    pub kernel: Option<String>,
    /// The kernel ends slices by timers (sched feature HRTICK). `None`: it does not say, or it is older
    /// than 7.2, whose default says nothing of other kernels on this machine.
    pub hrtick: Option<bool>,
    /// The kernel takes time in interrupts from no task (`CONFIG_IRQ_TIME_ACCOUNTING`).
    pub irq_time_accounting: bool,
    /// All CPUs take turns at one processor.
    pub one_processor: bool,
    /// Kernel path costs by their keys in machine files, ns, at the clock that the CPUs run at: those
    /// of every core type for which `cores` has none.
    pub costs: Vec<(&'static str, u32)>,
    /// Time of a cache line from memory, ns; what is nearer takes no longer.
    pub line_ns: Option<u32>,
    /// Messages on sockets that a CPU keeps the memory of; `None`: not known.
    pub messages_kept: Option<u32>,
    /// What was measured of each core type.
    pub cores: Vec<MeasuredCore>,
    /// Figures of `[memory]` by their keys, in the place of what `line_ns` says.
    pub memory: Vec<(&'static str, Reading)>,
    /// How it was measured, the text of the source; `None`: by micro-benchmarks.
    pub method: Option<String>,
    /// What was not measured, a sentence each.
    pub notes: Vec<String>,
}

/// A figure that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The median of its rounds, in the unit of its key.
    pub value: u32,
    /// The least and the largest round.
    pub spread: [u32; 2],
}

/// What was measured of the CPUs of one core type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeasuredCore {
    /// The CPUs, numbered as in the captured file.
    pub cpus: CpuSet,
    /// Kernel path costs by their keys, ns; empty: [`Measured::costs`] hold.
    pub costs: Vec<(&'static str, Reading)>,
    /// Costs that others contain: they were measured together, and are charged there.
    pub within: Vec<&'static str>,
    /// Speed at which they work, 1024 that of the fastest core type: the file states it where it is
    /// not the kernel's capacity.
    pub speed: Option<Reading>,
    /// Speed of a thread beside another one of its core, percent of its speed alone.
    pub smt_percent: Option<Reading>,
    /// Idle states by name with what leaving them takes, us.
    pub idle_exits: Vec<(String, Reading)>,
    /// Speed at frequencies (kHz), thousandths of that at the highest one.
    pub speed_at: Vec<(u64, Reading)>,
}

impl Measured {
    /// What was measured of the core type of `cpu`.
    pub(super) fn core(&self, cpu: usize) -> Option<&MeasuredCore> {
        self.cores.iter().find(|core| core.cpus.contains(cpu))
    }
}

impl Reading {
    /// As a figure of a machine file, its source that of its section.
    pub(super) fn figure(&self, least: u32) -> String {
        let [low, high] = self.spread.map(|ns| ns.max(least));
        format!(
            "{{ value = {}, spread = [{low}, {high}] }}",
            self.value.max(least)
        )
    }

    /// As a figure with a source of its own.
    pub(super) fn sourced(&self, least: u32) -> String {
        let figure = self.figure(least);
        figure.replace(" }", ", source = \"benchmark\" }")
    }
}
