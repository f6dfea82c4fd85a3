// SPDX-License-Identifier: GPL-2.0-only
//! The resolved machine, which a simulation reads. Every index is dense. Every quantity is an integer
//! with its unit in its name. People write the TOML form (`schema.rs`); this is the result after all
//! defaults are applied.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::cpuset::CpuSet;

/// The first release, major and minor, that has the sched feature HRTICK on by default
/// (kernel/sched/features.h of 7.1.13). That older ones have it off says nothing of a machine.
pub const HRTICK_SINCE: (u32, u32) = (7, 1);

/// A machine, complete and checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Name as typed after `-m`.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// Timer tick frequency (`CONFIG_HZ`), in Hz.
    pub hz: u32,
    /// Kernels that end slices by timers where they can do so on this machine (sched feature HRTICK, on
    /// by default from [`HRTICK_SINCE`] on with CONFIG_HRTIMER_REARM_DEFERRED, which x86 has) do so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hrtick: bool,
    /// Time in interrupts is not the tasks' (`CONFIG_IRQ_TIME_ACCOUNTING`; arm64's defconfig and
    /// Android's have it, Debian's kernels have not).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub irq_time_accounting: bool,
    /// All CPUs take turns at one processor, as those of a guest whose emulator has one thread: of those
    /// that execute each gets an equal part of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_processor: bool,
    /// cpufreq governor used unless a run asks for another.
    pub governor: Governor,
    /// cpuidle governor used unless a run asks for another; `None`: the one that the
    /// kernel rates highest, menu.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_governor: Option<IdleGovernor>,
    /// The priorities of its CPUs; `None`: all are alike, or the kernel has none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itmt: Option<Itmt>,
    /// Logical CPUs, index = CPU number.
    pub cpus: Vec<Cpu>,
    /// Core types, referred to by [`Cpu::core_type`].
    pub core_types: Vec<CoreType>,
    /// CPUs that share one clock (cpufreq policies), referred to by [`Cpu::freq_domain`].
    pub freq_domains: Vec<FreqDomain>,
    /// CPUs that share a cluster power domain, referred to by [`Cpu::cluster`].
    pub clusters: Vec<Cluster>,
    /// Scheduling levels from the smallest to the largest; levels that would
    /// equal their child are already removed, per CPU, by the consumer.
    pub levels: Vec<MachineLevel>,
    /// NUMA distance matrix (`node_distance`), row-major `nodes * nodes`; `[10]` for one node.
    pub numa_distance: Vec<u32>,
    /// Number of LLCs per node tolerated as imbalance (`imb_numa_nr`), 0 if unused.
    pub imb_numa_nr: u32,
    /// Tasks are not spread to nodes farther than this (`node_reclaim_distance`).
    pub reclaim_distance: u32,
    /// Working set and memory costs common to the machine.
    pub memory: MemoryCosts,
}

/// The CPUs of an x86 machine in the order in which the firmware ranks their cores: balancing fills
/// those with the higher priority first (ITMT, `SD_ASYM_PACKING`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Itmt {
    /// Who tells the scheduler.
    pub driver: ItmtDriver,
    /// Of each CPU, above 0; the higher is preferred. The figures have no unit.
    pub priority: Vec<u32>,
}

/// The cpufreq driver that ranks the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItmtDriver {
    /// By `highest_perf` of CPPC (drivers/cpufreq/intel_pstate.c, `intel_pstate_set_itmt_prio`).
    IntelPstate,
    /// By the preferred-core ranking (drivers/cpufreq/amd-pstate.c, `amd_pstate_init_prefcore`).
    AmdPstate,
}

impl ItmtDriver {
    /// All drivers.
    pub const ALL: [Self; 2] = [Self::IntelPstate, Self::AmdPstate];

    /// As in a machine file.
    pub fn name(self) -> &'static str {
        match self {
            Self::IntelPstate => "intel_pstate",
            Self::AmdPstate => "amd_pstate",
        }
    }
}

/// One logical CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Index into [`Machine::core_types`].
    pub core_type: usize,
    /// Index into [`Machine::freq_domains`].
    pub freq_domain: usize,
    /// Index into [`Machine::clusters`].
    pub cluster: usize,
    /// Physical core: CPUs with the same number are SMT siblings.
    pub core: usize,
    /// Last-level cache of the hardware: CPUs with the same number share it.
    /// What the scheduler takes for one (`sd_llc`) is the `MC` level, which a
    /// machine file may state to differ.
    pub llc: usize,
    /// NUMA node.
    pub node: usize,
    /// Capacity at the top frequency, the biggest CPU of the machine is 1024 (`cpu_capacity`): what
    /// the scheduler sees.
    pub capacity_orig: u32,
    /// Speed at the top frequency, the fastest CPU of the machine is 1024, where the file states it
    /// apart from the capacity: see [`Cpu::speed`].
    #[serde(rename = "speed", skip_serializing_if = "Option::is_none")]
    pub stated_speed: Option<u32>,
}

impl Cpu {
    /// What the CPU gets done in a ns at its top frequency; the fastest CPU of the machine 1024. The
    /// scheduler does not see it.
    pub fn speed(&self) -> u32 {
        self.stated_speed.unwrap_or(self.capacity_orig)
    }

    /// What it gets done in a ns at an operating point of this capacity: so much less than at the top
    /// as the capacity is. At least 1.
    pub fn speed_at(&self, capacity: u32) -> u32 {
        let scaled = match self.stated_speed {
            Some(speed) => {
                u64::from(capacity) * u64::from(speed) / u64::from(self.capacity_orig.max(1))
            }
            None => capacity.into(),
        };
        scaled.clamp(1, u32::MAX.into()) as u32
    }
}

/// A kind of core: its idle states and what kernel paths cost on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoreType {
    /// For instance `Cortex-A53`.
    pub name: String,
    /// Idle states from the shallowest (WFI or POLL) to the deepest.
    pub idle_states: Vec<IdleState>,
    /// Kernel path costs at the top frequency of this core.
    pub costs: Costs,
    /// L2 (private or per-core share) in bytes: bounds a cache refill.
    pub l2_bytes: u64,
    /// Speed of a thread while another one of its core executes, percent of its speed alone; 100: they do
    /// not slow each other, or are alone on their cores. Three and more share what two get done.
    pub smt_percent: u32,
}

/// One idle state of a core type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdleState {
    /// For instance `WFI`, `cpu-sleep`, `cluster-sleep`.
    pub name: String,
    /// Entry latency, ns.
    pub entry_ns: u64,
    /// Time from the wake event to the first instruction once entry is complete, ns.
    pub exit_ns: u64,
    /// Latency that cpuidle plans with (`exit_latency`), ns: the device tree's
    /// `wakeup-latency-us`, without one entry plus exit.
    pub wakeup_ns: u64,
    /// Target residency, ns.
    pub residency_ns: u64,
    /// Power of the core in this state, uW.
    pub power_uw: u64,
    /// Who must agree before the state is real.
    pub scope: IdleScope,
    /// The CPU polls `need_resched` in this state: waking it needs no IPI.
    pub polling: bool,
    /// The local timer stops in this state.
    pub timer_stops: bool,
}

/// Scope of an idle state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleScope {
    /// Takes effect for the core alone.
    Core,
    /// Takes effect when all CPUs of the cluster are in it; until then it
    /// counts as the deepest core-scope state. cpuidle chooses it like any other
    /// (PSCI, platform coordinated).
    Cluster,
    /// No state of a CPU: the last CPU of the cluster that enters its deepest
    /// core-scope state chooses it if all sleep for long enough (PSCI,
    /// OS-initiated; `domain-idle-states` of the device tree). The last of the list.
    Domain,
}

/// CPUs sharing one clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FreqDomain {
    /// Member CPUs.
    pub cpus: CpuSet,
    /// Operating points in rising frequency order; at least one.
    pub opps: Vec<Opp>,
    /// Time a frequency change takes, ns.
    pub switch_ns: u64,
    /// The change can be made from the scheduler's context (fast switch).
    pub fast_switch: bool,
    /// cpufreq `transition_delay_us`-based rate limit, ns; `None`: derived by the governor from `switch_ns`.
    pub rate_limit_ns: Option<u64>,
}

/// One operating performance point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Opp {
    /// Frequency, kHz.
    pub khz: u32,
    /// Capacity of a CPU at this point, 1024 = biggest CPU of the machine at its top.
    pub capacity: u32,
    /// Power of one busy core, uW.
    pub core_power_uw: u64,
    /// The same as the kernel's energy model states it, by which tasks are placed, uW.
    pub em_power_uw: u64,
    /// Power of the cluster's shared part while any core is busy, uW.
    pub cluster_power_uw: u64,
}

/// A cluster power domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// For instance `big`; also the name of the power supply in energy reports.
    pub name: String,
    /// Member CPUs.
    pub cpus: CpuSet,
    /// Shared part's power with all cores idle but the cluster not off, uW.
    pub idle_power_uw: u64,
    /// Shared part's power in the cluster-scope idle state, uW.
    pub off_power_uw: u64,
}

/// One scheduling level (`sched_domain_topology_level`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineLevel {
    /// `SMT`, `CLS`, `MC`, `PKG` or `NUMA`.
    pub name: String,
    /// Partition of the CPUs at this level.
    pub spans: Vec<CpuSet>,
    /// Its groups, which are the spans of the level below, can be power gated each for itself: the
    /// kernel clears `SD_SHARE_POWERDOMAIN` here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub power_gated: bool,
}

/// Kernel path costs of a core type at its top frequency, ns. Scaled by the
/// current frequency when charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Costs {
    /// Context switch with pick, without cache effects.
    pub switch_ns: u32,
    /// `sched_yield` that returns to the same task.
    pub yield_ns: u32,
    /// Futex syscall that does not block.
    pub futex_ns: u32,
    /// Uncontended user-space mutex lock or unlock.
    pub mutex_ns: u32,
    /// One pipe write of a small message that does not block.
    pub pipe_ns: u32,
    /// One pipe read, likewise; where a file does not say it, as a write.
    pub pipe_read_ns: u32,
    /// Of a pipe write, how long the task has the pipe's mutex and can be preempted with it, where a
    /// kernel preempts within calls; where a file does not say it, 26 % of the write.
    pub pipe_held_ns: u32,
    /// Of a pipe read, likewise; where a file does not say it, 22 %.
    pub pipe_read_held_ns: u32,
    /// One AF_UNIX socket send of a small message that does not block.
    pub socket_ns: u32,
    /// One AF_UNIX socket receive, likewise; where a file does not say it, as a send.
    pub socket_read_ns: u32,
    /// Fixed part of a wakeup: locks, state, enqueue, preemption check.
    pub wakeup_ns: u32,
    /// Of it, what is done when the queue's clock is read: the waker pays for no more where the woken
    /// task takes its CPU at once; where a file does not say it, 36 %.
    pub wakeup_clock_ns: u32,
    /// Fast path of CPU selection without any scan.
    pub select_ns: u32,
    /// Each CPU tested in a scan, same LLC.
    pub scan_local_ns: u32,
    /// Each CPU tested in a scan, other LLC.
    pub scan_remote_ns: u32,
    /// Each CPU of the domains searched on the slow path.
    pub slow_scan_ns: u32,
    /// Sending an IPI.
    pub ipi_send_ns: u32,
    /// From IPI sent to its handler running, awake target.
    pub ipi_receive_ns: u32,
    /// Appending to a remote wake list (TTWU_QUEUE).
    pub wakelist_ns: u32,
    /// Taking a free runqueue lock.
    pub lock_ns: u32,
    /// Holding it for one enqueue or dequeue.
    pub lock_hold_ns: u32,
    /// Newidle balance attempt, fixed part.
    pub newidle_ns: u32,
    /// Newidle balance, each CPU looked at.
    pub newidle_cpu_ns: u32,
    /// Timer tick handler.
    pub tick_ns: u32,
    /// hrtimer interrupt with its handler.
    pub timer_ns: u32,
    /// Leaving the idle loop: `schedule_idle` up to the switch.
    pub idle_exit_ns: u32,
    /// `fork`/`clone` of a thread, in the parent.
    pub fork_ns: u32,
    /// What the fork of a process takes in the parent beyond [`Costs::fork_ns`]; 0, and not written,
    /// where a file does not tell the two apart.
    #[serde(skip_serializing_if = "is_nothing")]
    pub fork_mm_ns: u32,
    /// What a task that sleeps does for it itself, beyond the call in which it does and the switch;
    /// charged as it runs again. 0, and not written, where a file does not tell it from
    /// [`Costs::wakeup_ns`].
    #[serde(skip_serializing_if = "is_nothing")]
    pub block_ns: u32,
    /// What an AF_UNIX socket send takes more where no message was freed whose memory it can have
    /// ([`MemoryCosts::messages_kept`]). 0, and not written, where a file does not tell it from
    /// [`Costs::socket_ns`].
    #[serde(skip_serializing_if = "is_nothing")]
    pub socket_new_ns: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_nothing(ns: &u32) -> bool {
    *ns == 0
}

/// Costs of moving data, ns per 64-byte line; constant in time (not scaled by frequency).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MemoryCosts {
    /// Line found in the shared last-level cache.
    pub llc_line_ns: u32,
    /// Line in another LLC of the same node.
    pub cross_llc_line_ns: u32,
    /// Line on another node.
    pub cross_node_line_ns: u32,
    /// Line from DRAM.
    pub dram_line_ns: u32,
    /// Memory-level parallelism of a refill: lines in flight.
    pub refill_mlp: u32,
    /// Lines of a pipe or socket and its wait queue that move between writer and reader per message.
    pub channel_lines: u32,
    /// Messages on sockets that each CPU keeps the memory of once they are read, for the next that
    /// it sends (slab caches); 0, and not written, where a file does not say it.
    #[serde(skip_serializing_if = "is_nothing")]
    pub messages_kept: u32,
    /// Working set assumed for a task that states none, bytes.
    pub working_set_bytes: u64,
}

/// cpufreq governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Governor {
    /// Top OPP always.
    Performance,
    /// Lowest OPP always.
    Powersave,
    /// Utilization driven.
    Schedutil,
    /// One speed, written to `scaling_setspeed` of every policy: each runs at its lowest
    /// operating point that is as fast, or at its top one.
    Userspace {
        /// The speed, kHz.
        khz: u32,
    },
}

impl Governor {
    /// The governors that need no speed.
    pub const ALL: [Self; 3] = [Self::Performance, Self::Powersave, Self::Schedutil];

    /// Name as in sysfs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Performance => "performance",
            Self::Powersave => "powersave",
            Self::Schedutil => "schedutil",
            Self::Userspace { .. } => "userspace",
        }
    }
}

/// cpuidle governor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleGovernor {
    /// By the next timer, how much of such times went by, and patterns.
    Menu,
    /// By how often something else came before the next timer (from 5.1 on).
    Teo,
}

impl IdleGovernor {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Menu, Self::Teo];

    /// Name as in sysfs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Menu => "menu",
            Self::Teo => "teo",
        }
    }
}

/// The name; the error says what was expected.
impl FromStr for IdleGovernor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|known| known.name() == text);
        named.ok_or_else(|| format!("valid are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// The name, and for `userspace` the speed: `userspace:850000`.
impl fmt::Display for Governor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Userspace { khz } => write!(f, ":{khz}"),
            _ => Ok(()),
        }
    }
}

/// What [`Display`](fmt::Display) writes; the error says what was expected.
impl FromStr for Governor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(speed) = text.strip_prefix("userspace:") {
            let khz = speed.parse().ok().filter(|&khz| khz != 0);
            return khz.map(|khz| Self::Userspace { khz }).ok_or_else(|| {
                format!(
                    "the speed `{speed}` is not valid; expected a number of kHz, 1 to {}",
                    u32::MAX
                )
            });
        }
        if text == "userspace" {
            return Err("userspace needs a speed in kHz: userspace:800000 for 800 MHz".to_owned());
        }
        let named = Self::ALL.into_iter().find(|known| known.name() == text);
        named.ok_or_else(|| {
            let mut known = Self::ALL.map(Self::name);
            known.sort_by(|a, b| {
                crate::error::similarity(text, b).total_cmp(&crate::error::similarity(text, a))
            });
            format!("the nearest valid: {}, userspace:KHZ", known.join(", "))
        })
    }
}
