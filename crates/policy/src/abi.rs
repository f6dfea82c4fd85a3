// SPDX-License-Identifier: GPL-2.0-only
//! The structures of `policy/abi.h` and `policy/params.h`, field by field, and the table of entry
//! points. `check` panics in a build with other sizes; a test of `layout` compares every field with
//! the C headers.

use std::ffi::c_int;

/// "No CPU, domain, group or task".
pub const NONE: u32 = u32::MAX;
/// Most CPUs a mask holds.
pub const MAX_CPUS: usize = 1024;
/// Most domain levels above one CPU.
pub const MAX_LEVELS: usize = 8;
/// Most domains of a machine.
pub const MAX_DOMAINS: usize = 2048;
/// Most groups of a machine.
pub const MAX_GROUPS: usize = 4096;
/// Most performance domains of a machine.
pub const MAX_PERF_DOMAINS: usize = 16;
/// Most operating points of a performance domain.
pub const MAX_PERF_STATES: usize = 64;

/// A CPU mask, CPU 0 in bit 0 of word 0.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mask {
    /// 64 CPUs a word.
    pub w: [u64; MAX_CPUS / 64],
}

/// One set of PELT signals (`struct sched_avg`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pelt {
    /// PELT time of the last update, ns.
    pub last_update_time: u64,
    /// Geometric sum of load.
    pub load_sum: u64,
    /// Geometric sum of runnable time.
    pub runnable_sum: u64,
    /// Geometric sum of running time.
    pub util_sum: u32,
    /// Units of 1024 ns elapsed in the open period.
    pub period_contrib: u32,
    /// Load, 1024 = an always-runnable nice-0 task.
    pub load_avg: u32,
    /// Runnable tasks times 1024.
    pub runnable_avg: u32,
    /// Utilization, 0..=1024.
    pub util_avg: u32,
    /// With `uclamp-sum`, `util_avg_uclamp`: utilization within the clamps (of a queue: their sum
    /// over its queued tasks). With biases, `util_avg_bias`: what clamping adds to `util_avg`.
    pub uclamp: i32,
}

/// Load tracking of Linux 3.8 to 3.11.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pelt13 {
    /// Time of the last update, ns.
    pub last_runnable_update: u64,
    /// Geometric sum of runnable time, in units of 1024 ns.
    pub runnable_avg_sum: u32,
    /// Geometric sum of all time, in units of 1024 ns.
    pub runnable_avg_period: u32,
}

/// Class of a fair task, [`Task::class`].
pub mod class {
    /// `SCHED_NORMAL`.
    pub const NORMAL: u32 = 0;
    /// `SCHED_BATCH`.
    pub const BATCH: u32 = 1;
    /// `SCHED_IDLE`.
    pub const IDLE: u32 = 2;
}

/// Bits of [`Task::flags`].
pub mod task_flag {
    /// `PF_EXITING`.
    pub const EXITING: u32 = 1 << 0;
    /// `util_avg` was not updated since `util_est` was stored (`UTIL_AVG_UNCHANGED`).
    pub const EST_UNCHANGED: u32 = 1 << 1;
    /// On a runqueue.
    pub const ON_RQ: u32 = 1 << 2;
    /// A kernel thread (`PF_KTHREAD`).
    pub const KTHREAD: u32 = 1 << 3;
    /// With `uclamp-sum`: its signals joined the queue at this enqueue.
    pub const JUST_ATTACHED: u32 = 1 << 4;
}

/// What a policy may know of a task.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Its signals.
    pub pelt: Pelt,
    /// Its signals in the form of 2013.
    pub pelt13: Pelt13,
    /// When `wakee_flips` last decayed, ns.
    pub wakee_flip_decay_ts: u64,
    /// How often it woke a task other than `last_wakee`.
    pub wakee_flips: u32,
    /// The task it woke last.
    pub last_wakee: u32,
    /// Its number.
    pub id: u32,
    /// Load weight, 1024 at nice 0.
    pub weight: u32,
    /// `util_est.enqueued`; 0 where the estimate is a single value (6.8 and later).
    pub util_est_enqueued: u32,
    /// `util_est.ewma`; 6.8 and later: `util_est`.
    pub util_est_ewma: u32,
    /// Effective lower clamp: request, group and system limits.
    pub uclamp_min: u32,
    /// Effective upper clamp.
    pub uclamp_max: u32,
    /// CPU it ran on last.
    pub prev_cpu: u32,
    /// CPU that a search tries besides the target and the previous one.
    pub recent_used_cpu: u32,
    /// Number of allowed CPUs.
    pub nr_cpus_allowed: u32,
    /// See [`class`].
    pub class: u32,
    /// See [`task_flag`].
    pub flags: u32,
    /// With the biases of `uclamp-sum`: `util_est` within the clamps.
    pub util_est_uclamp: u32,
}

impl Default for Task {
    /// A nice-0 task without history or clamps.
    fn default() -> Self {
        Task {
            pelt: Pelt::default(),
            pelt13: Pelt13::default(),
            wakee_flip_decay_ts: 0,
            wakee_flips: 0,
            last_wakee: NONE,
            id: 0,
            weight: 1024,
            util_est_enqueued: 0,
            util_est_ewma: 0,
            uclamp_min: 0,
            uclamp_max: 1024,
            prev_cpu: 0,
            recent_used_cpu: NONE,
            nr_cpus_allowed: MAX_CPUS as u32,
            class: class::NORMAL,
            flags: 0,
            util_est_uclamp: 0,
        }
    }
}

/// What a policy may know of a CPU's runqueue. Fields that every search reads come first.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// The idle task is current (0 or 1).
    pub curr_is_idle: u8,
    /// A remote wakeup is on its way (0 or 1).
    pub ttwu_pending: u8,
    /// Not usable (0 or 1).
    pub offline: u8,
    /// No clamped task is queued, so the queue's clamps are stale (`UCLAMP_FLAG_IDLE`; 0 or 1).
    pub uclamp_idle: u8,
    /// Runnable tasks of all classes.
    pub nr_running: u32,
    /// Runnable fair tasks.
    pub h_nr_running: u32,
    /// `SCHED_IDLE` ones among them.
    pub h_nr_idle: u32,
    /// Sum of the weights queued, current included.
    pub weight: u32,
    /// Sum of `util_est` of the runnable tasks.
    pub util_est_enqueued: u32,
    /// Capacity at the top frequency.
    pub capacity_orig: u32,
    /// Capacity left for the fair class.
    pub capacity: u32,
    /// Current over top frequency, 1024 = top.
    pub freq_scale: u32,
    /// Exit latency of the idle state it is in, ns; [`NONE`] if unknown.
    pub exit_latency: u32,
    /// Runqueue clock, ns.
    pub clock: u64,
    /// Clock scaled by capacity and frequency, ns.
    pub clock_pelt: u64,
    /// Time by which `clock_pelt` lagged when a fully busy CPU went idle: it was no idle time, ns.
    pub lost_idle_time: u64,
    /// Signals of the root fair queue.
    pub cfs: Pelt,
    /// When it went idle, 0 while busy, ns.
    pub idle_stamp: u64,
    /// Mean idle length, ns.
    pub avg_idle: u64,
    /// Mean cost of a scan of its LLC domain, ns.
    pub avg_scan_cost: u64,
    /// Utilization that left by wake migration, subtracted at the next update.
    pub removed_util: u32,
    /// Load that left so.
    pub removed_load: u32,
    /// Runnable average that left so.
    pub removed_runnable: u32,
    /// Load of the queued tasks, up to 5.6.
    pub runnable_load_avg: u32,
    /// Signals of the queue in the form of 2013.
    pub pelt13: Pelt13,
    /// Runnable real-time tasks.
    pub rt_nr_running: u16,
    /// Fair tasks that sleep but are still queued (delayed dequeue, 6.12 and later).
    pub h_nr_delayed: u16,
    /// `avg_rt.util_avg`.
    pub rt_util: u16,
    /// `avg_dl.util_avg`.
    pub dl_util: u16,
    /// `avg_irq.util_avg`.
    pub irq_util: u16,
    /// Bandwidth of the deadline tasks (`cpu_bw_dl()`).
    pub dl_bandwidth: u16,
    /// Capacity taken now (`arch_scale_thermal_pressure()`, later `arch_scale_hw_pressure()`).
    pub hw_pressure: u16,
    /// Average of [`Cpu::hw_pressure`] (`thermal_load_avg()`, later `hw_load_avg()`).
    pub hw_load_avg: u16,
    /// Capacity above the cpufreq policy's top frequency (`cpufreq_get_pressure()`, 6.10 and later).
    pub cpufreq_pressure: u16,
    /// Lower clamp of the queue: the largest of its tasks'.
    pub uclamp_min: u16,
    /// Upper clamp of the queue: the largest of its tasks'.
    pub uclamp_max: u16,
    /// A task left by wake migration, even if its averages are 0 (0 or 1).
    pub removed_nr: u16,
    /// Feature pack: the CPU to pack on, itself if it takes part in packing, or [`NONE`].
    pub buddy: u32,
    /// With `uclamp-sum:fix`: the task that has [`Cpu::max_uclamp_factor`], or [`NONE`].
    pub max_uclamp_factor_owner: u32,
    /// With `uclamp-sum:fix`: largest clamped utilization per weight among the queued tasks,
    /// in units of 2^-32.
    pub max_uclamp_factor: u64,
    /// With `uclamp-sum`: sum of the clamped utilizations, which falls as PELT decays.
    pub root_cfs_util_uclamp: u32,
    /// The part of it that left by wake migration.
    pub root_cfs_util_uclamp_removed: u32,
    /// Sum of [`Task::util_est_uclamp`] of the runnable tasks.
    pub util_est_uclamp: u32,
    /// Capacity under limits, if a CPU that is not bigger has more (`cpu_capacity_inverted`, read
    /// in 5.10.262 and 5.15.215); else 0.
    pub capacity_inverted: u16,
    #[doc(hidden)]
    pub unused: u16,
}

impl Default for Cpu {
    /// An idle CPU of full capacity.
    fn default() -> Self {
        Cpu {
            curr_is_idle: 1,
            ttwu_pending: 0,
            offline: 0,
            uclamp_idle: 1,
            nr_running: 0,
            h_nr_running: 0,
            h_nr_idle: 0,
            weight: 0,
            util_est_enqueued: 0,
            capacity_orig: 1024,
            capacity: 1024,
            freq_scale: 1024,
            exit_latency: NONE,
            clock: 0,
            clock_pelt: 0,
            lost_idle_time: 0,
            cfs: Pelt::default(),
            idle_stamp: 0,
            avg_idle: 0,
            avg_scan_cost: 0,
            removed_util: 0,
            removed_load: 0,
            removed_runnable: 0,
            runnable_load_avg: 0,
            pelt13: Pelt13::default(),
            rt_nr_running: 0,
            h_nr_delayed: 0,
            rt_util: 0,
            dl_util: 0,
            irq_util: 0,
            dl_bandwidth: 0,
            hw_pressure: 0,
            hw_load_avg: 0,
            cpufreq_pressure: 0,
            uclamp_min: 0,
            uclamp_max: 1024,
            removed_nr: 0,
            buddy: NONE,
            max_uclamp_factor_owner: NONE,
            max_uclamp_factor: 0,
            root_cfs_util_uclamp: 0,
            root_cfs_util_uclamp_removed: 0,
            util_est_uclamp: 0,
            capacity_inverted: 0,
            unused: 0,
        }
    }
}

/// Bits of [`Domain::flags`].
pub mod domain_flag {
    /// `SD_WAKE_AFFINE`.
    pub const WAKE_AFFINE: u32 = 1 << 0;
    /// `SD_BALANCE_WAKE`.
    pub const BALANCE_WAKE: u32 = 1 << 1;
    /// `SD_BALANCE_FORK`.
    pub const BALANCE_FORK: u32 = 1 << 2;
    /// `SD_BALANCE_EXEC`.
    pub const BALANCE_EXEC: u32 = 1 << 3;
    /// `SD_BALANCE_NEWIDLE`.
    pub const NEWIDLE: u32 = 1 << 4;
    /// `SD_SHARE_PKG_RESOURCES`.
    pub const SHARE_LLC: u32 = 1 << 5;
    /// `SD_SHARE_CPUCAPACITY`.
    pub const SMT: u32 = 1 << 6;
    /// `SD_ASYM_CPUCAPACITY`.
    pub const ASYM: u32 = 1 << 7;
    /// `SD_PREFER_SIBLING`.
    pub const PREFER_SIBLING: u32 = 1 << 8;
    /// `SD_NUMA`.
    pub const NUMA: u32 = 1 << 9;
    /// `SD_CLUSTER`.
    pub const CLUSTER: u32 = 1 << 10;
    /// `SD_ASYM_CPUCAPACITY_FULL`.
    pub const ASYM_FULL: u32 = 1 << 11;
    /// Its groups cannot be power gated independently (`SD_SHARE_POWERDOMAIN`).
    pub const SHARE_POWERDOMAIN: u32 = 1 << 12;
    /// `SD_ASYM_PACKING`: balancing follows the priorities of its CPUs.
    pub const ASYM_PACKING: u32 = 1 << 13;
}

/// A scheduling domain.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domain {
    /// CPUs.
    pub span: Mask,
    /// See [`domain_flag`].
    pub flags: u32,
    /// Number of CPUs.
    pub weight: u32,
    /// Percentage above which two loads differ.
    pub imbalance_pct: u32,
    /// First of its groups.
    pub first_group: u32,
    /// Number of its groups.
    pub nr_groups: u32,
    /// Number of the last-level cache if it is the domain of one, else [`NONE`].
    pub llc: u32,
    /// Tasks that a node may run before they spread (5.18 and later).
    pub imb_numa_nr: u32,
    #[doc(hidden)]
    pub unused: u32,
}

impl Domain {
    /// A domain without groups.
    pub fn new(span: Mask, weight: u32, flags: u32, imbalance_pct: u32) -> Self {
        Domain {
            span,
            flags,
            weight,
            imbalance_pct,
            first_group: 0,
            nr_groups: 0,
            llc: NONE,
            imb_numa_nr: 0,
            unused: 0,
        }
    }
}

/// A group of a domain.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Child domain, or [`NONE`] for a single CPU.
    pub child: u32,
    /// First CPU.
    pub cpu: u32,
    /// Number of CPUs.
    pub weight: u32,
    /// Sum of capacities.
    pub capacity: u32,
    /// Smallest capacity.
    pub min_capacity: u32,
    /// Biggest capacity.
    pub max_capacity: u32,
    /// A lower level failed because of affinity (0 or 1).
    pub imbalance: u32,
    #[doc(hidden)]
    pub unused: u32,
}

impl Group {
    /// A group whose capacity is still to be summed.
    pub fn new(child: u32, cpu: u32, weight: u32) -> Self {
        Group {
            child,
            cpu,
            weight,
            capacity: 0,
            min_capacity: 0,
            max_capacity: 0,
            imbalance: 0,
            unused: 0,
        }
    }
}

/// Where a CPU sits.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Last-level cache number.
    pub llc: u32,
    /// Domain of the LLC, or [`NONE`].
    pub llc_domain: u32,
    /// Lowest domain that has CPUs of all capacities, or [`NONE`].
    pub asym_domain: u32,
    /// Domain of its core, or [`NONE`] without SMT.
    pub smt_domain: u32,
    /// State of its searches (`sd_balance_shared`): an index of [`crate::Core::llcs`].
    pub shared: u32,
    /// Number of its cluster where the LLC has clusters, else of the LLC (`sd_share_id`).
    pub share: u32,
    /// Domain of its cluster inside the LLC, or [`NONE`].
    pub cluster_domain: u32,
    /// NUMA node.
    pub node: u32,
    /// Number of domains.
    pub nr_domains: u32,
    /// Its domains, small to large.
    pub domain: [u32; MAX_LEVELS],
    /// Its own group in each.
    pub group: [u32; MAX_LEVELS],
}

/// State shared by an LLC, or in 7.2 by an asymmetric domain.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Llc {
    /// Some core may be idle (0 or 1).
    pub has_idle_cores: u32,
    /// CPUs whose tick runs.
    pub nr_busy: u32,
    /// CPUs that a search may look at, by utilization (`SIS_UTIL`).
    pub nr_idle_scan: u32,
    #[doc(hidden)]
    pub unused: u32,
}

/// Facts of the root domain.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Topology {
    /// Number of CPUs.
    pub nr_cpus: u32,
    /// Number of domains.
    pub nr_domains: u32,
    /// Number of groups.
    pub nr_groups: u32,
    /// Biggest capacity.
    pub max_capacity: u32,
    /// CPUs differ in capacity (0 or 1).
    pub asym: u32,
    /// Cores have several threads (0 or 1).
    pub smt: u32,
    /// Some LLC consists of clusters (0 or 1).
    pub cluster: u32,
    #[doc(hidden)]
    pub unused: u32,
}

/// One operating point of a performance domain (`struct em_perf_state`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerfState {
    /// Energy per unit of utilization, in the unit of the base; see [`crate::energy`].
    pub cost: u64,
    /// Capacity at this point, 1..=1024.
    pub performance: u32,
    /// Frequency, kHz.
    pub frequency: u32,
    /// See [`state_flag`].
    pub flags: u32,
    #[doc(hidden)]
    pub unused: u32,
}

/// Bits of [`PerfState::flags`].
pub mod state_flag {
    /// A faster point costs no more (`EM_PERF_STATE_INEFFICIENT`).
    pub const INEFFICIENT: u32 = 1 << 0;
}

/// CPUs that share a frequency (`struct perf_domain`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerfDomain {
    /// Its CPUs.
    pub span: Mask,
    /// Number of operating points, 1..=[`MAX_PERF_STATES`].
    pub nr_states: u32,
    /// Lowest point that the frequency limits allow.
    pub first_state: u32,
    /// Highest point that the frequency limits allow.
    pub last_state: u32,
    #[doc(hidden)]
    pub unused: u32,
    /// Its operating points, rising in performance.
    pub state: [PerfState; MAX_PERF_STATES],
}

/// The state of the root domain that changes at run time.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Root {
    /// Some CPU is overutilized: EAS is not used (0 or 1).
    pub overutilized: u32,
    /// A clamp has been requested (`sched_uclamp_used`; 0 or 1).
    pub uclamp_used: u32,
}

/// Bits of [`crate::Wakeup::flags`].
pub mod wake_flag {
    /// From an interrupt or a timer, not by the waker (`!in_task()`).
    pub const INTERRUPT: u32 = 1 << 0;
    /// The waker asks for its own CPU (`WF_CURRENT_CPU`, 6.6 and later).
    pub const CURRENT_CPU: u32 = 1 << 1;
}

/// Declares [`Params`] and the list of its fields.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// Rules of a base kernel, features and tunables. Each rule says which kernels have it.
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct Params {
            $($(#[$doc])* pub $name: $type,)*
        }

        crate::mirror! { Params as "struct policy_params" { $($name),* } }

        impl Params {
            /// All rules 0, no feature.
            pub const NONE: Params = Params { $($name: 0,)* };

            /// Name and value of every field, in the order of `struct policy_params`.
            pub fn fields(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), u64::from(self.$name)),)*]
            }

            /// Gives the field of this name a value. False: there is no such field, or the
            /// value does not fit it.
            #[must_use]
            pub fn set(&mut self, field: &str, value: u64) -> bool {
                match field {
                    $(stringify!($name) => {
                        value.try_into().map(|value| self.$name = value).is_ok()
                    })*
                    _ => false,
                }
            }
        }
    };
}

params! {
    /// Feature bits.
    features: u64,
    /// 4.7 - 5.6: small CPUs refuse big tasks; `BALANCE_WAKE` up to the asymmetric level.
    wake_cap: u32,
    /// 4.13 - 5.19: scan budget by idle time.
    sis_prop: u32,
    /// See [`rule`], `SCHED_IDLE_*`.
    sched_idle: u32,
    /// 5.5 - 5.6: `avg_load` left 0 for busy groups.
    idlest_load_inverted: u32,
    /// 4.17 - 5.12: an estimate always has bit 0 set.
    est_lsb: u32,
    /// Time to scan one CPU, ns; feeds [`Cpu::avg_scan_cost`].
    scan_cpu_ns: u32,
    /// 5.5: `group_weight` is 0 where groups are compared at fork, exec and slow wakeup.
    idlest_weight_unset: u32,
    /// 4.7 - 6.9: a new task's share of utilization is 1024 times too large.
    fork_util_inflated: u32,
    /// 3.12: a waker of many tasks does not pull (`wake_wide`).
    wake_wide: u32,
    /// 6.6: a waker may ask for its own CPU.
    current_cpu: u32,
    /// See [`rule`], `EAS_*`.
    eas: u32,
    /// See [`rule`], `LOAD_*`.
    load: u32,
    /// Up to 4.13: a wakeup pulls if that balances loads, whether CPUs are idle or not.
    affine_balanced: u32,
    /// 5.11: an idle previous CPU is the target, whatever the loads are.
    affine_prev_idle: u32,
    /// Up to 4.13: an exiting waker counts as one that will sleep.
    exit_is_sync: u32,
    /// 6.12: sleepers may stay queued, and do not count as running.
    delayed_dequeue: u32,
    /// Up to 4.15: the walk over domains does not end at one without the flag.
    walk_all: u32,
    /// Up to 4.15: only a wakeup that may pull searches for an idle CPU.
    search_if_affine: u32,
    /// See [`rule`], `SIBLING_*`.
    sibling: u32,
    /// Up to 4.14: no recently used CPU.
    recent_none: u32,
    /// 5.13: each search makes the previous CPU the recent one.
    recent_always: u32,
    /// 5.13 - 5.19: the recent CPU is taken if the task may use the previous CPU.
    recent_by_prev: u32,
    /// 5.6: the wakee of a per-CPU kthread may run on the kthread's CPU.
    kthread_stacks: u32,
    /// 5.19: scan budget by utilization.
    sis_util: u32,
    /// 6.7: the target's cluster before the rest of the LLC.
    cluster_scan: u32,
    /// 7.1: `has_idle_cores` stays set if the scan had no allowed CPU in the LLC.
    empty_scan_tells_nothing: u32,
    /// Up to 5.5, and 6.5: threads of a core count even outside the LLC domain.
    smt_beyond_domain: u32,
    /// 5.6: CPUs that the task may not use cost no budget of a scan, and the scan of a core ends at
    /// its first busy thread.
    lean_scan: u32,
    /// Up to 5.19: there is no scan if the waking CPU has no LLC domain.
    scan_needs_llc: u32,
    /// See [`rule`], `ASYM_*`.
    asym: u32,
    /// 6.5: the scan for a CPU that fits begins after the target.
    asym_from_next: u32,
    /// The scan for a CPU that fits decides alone; no single candidate is tried before it.
    asym_at_once: u32,
    /// A task that fits nowhere takes the first idle CPU of the largest original capacity.
    asym_hog: u32,
    /// The previous CPU is tried before the target, and is the answer if nothing is idle.
    bias_prev: u32,
    /// What makes a busy CPU acceptable; see [`rule`], `ROOM_*`.
    room: u32,
    /// Share of capacity that `ROOM_SPARE` wants free, of 1024.
    bias_spare: u32,
    /// See [`rule`], `PACK_*`.
    pack: u32,
    /// Packing uses the signals of Linux 4.x and later, not those of 2013.
    pack_pelt: u32,
    /// A task is light by its load at the wakeup, not when it fell asleep.
    pack_at_wake: u32,
    /// Below this share of a CPU, in percent, a task is light.
    pack_light: u32,
    /// Full packing: how far CPUs are filled, in percent; 0: all CPUs take part.
    pack_level: u32,
    /// Full packing as in v5: a CPU above [`Params::pack_level`] asks for help, and a new task
    /// needs no idle CPU.
    pack_by_level: u32,
    /// 5.7: balancing treats a CPU that runs `SCHED_IDLE` only as idle.
    sched_idle_balance: u32,
    /// See [`rule`], `FIT_*`.
    fit: u32,
    /// See [`rule`], `PRESSURE_*`.
    pressure: u32,
    /// See [`rule`], `BOOST_*`.
    util_boost: u32,
    /// See [`rule`], `PERFORMANCE_*`.
    performance: u32,
    /// 6.9: an operating point is chosen by performance, not frequency.
    state_by_performance: u32,
    /// 5.16: operating points that cost as much as a faster one are skipped.
    skip_inefficient: u32,
    /// See [`rule`], `POWER_*`.
    em_power: u32,
    /// See [`rule`], `IDLEST_*`.
    idlest: u32,
    /// 5.7: of two groups with as many idle CPUs, the less utilized one is idler.
    idlest_tie_util: u32,
    /// 5.7: waiting tasks make a group full.
    idlest_runnable: u32,
    /// 5.7: a group is a misfit if no CPU of it fits.
    idlest_misfit_cpus: u32,
    /// See [`rule`], `NUMA_*`.
    idlest_numa_imbalance: u32,
    /// 6.12 and stable 5.10, 5.15, 6.1: CPUs outside the affinity do not count.
    idlest_allowed_only: u32,
    /// 7.1: no group is overloaded while there is an energy model.
    idlest_eas_spares: u32,
    /// Up to 4.16: no utilization estimate.
    est_none: u32,
    /// 4.17 - 5.4: a utilization estimate rises by quarters too.
    est_slow_up: u32,
    /// 5.13 - 6.7: `util_est.enqueued` is stored even if `util_est.ewma` stays.
    est_keeps_last: u32,
    /// 6.8: a utilization estimate is one value.
    est_single: u32,
    /// 6.8 - 6.16: utilization above the CPU's capacity does not lower this value.
    est_held: u32,
    /// 6.12 - 7.0.13, 7.1 - 7.1.4: an estimate is made from the averages before they are updated.
    est_early: u32,
    /// See [`rule`], `SUMS_*`.
    sums: u32,
    /// See [`rule`], `AGGREGATE_*`.
    aggregate: u32,
    /// 7.3: `reweight_entity` to the same weight changes nothing.
    same_weight_ends: u32,
    /// With biases: an upper clamp is raised to the share that other tasks of the queue get.
    uclamp_factor: u32,
    /// Utilization beyond the clamped sum that makes a CPU capped.
    cap_margin: u32,
    /// `imbalance_pct` of a domain whose CPUs share a cache.
    cache_pct: u32,
    /// `imbalance_pct` of the domains above.
    package_pct: u32,
    /// 5.14: a domain that has at least two of the capacities is asymmetric.
    asym_partial: u32,
    /// 5.16: clusters are a level.
    cluster_level: u32,
    /// 7.2: an asymmetric domain has the search state, not the LLC.
    shared_by_asym: u32,
    /// 7.3: tasks are spread over groups of unlike CPUs too (`SD_PREFER_SIBLING`).
    unlike_spread: u32,
}

/// Values of the rules in [`Params`] that are not just 0 or 1.
pub mod rule {
    /// 5.5: `load_avg`, blocked tasks included.
    pub const LOAD_AVG: u32 = 0;
    /// 4.x - 5.4: `runnable_load_avg`, queued tasks only.
    pub const LOAD_RUNNABLE: u32 = 1;
    /// 3.x: weight of the queued tasks (load index 0).
    pub const LOAD_WEIGHT: u32 = 2;
    /// 5.6: as good as idle.
    pub const SCHED_IDLE_AVAIL: u32 = 0;
    /// 5.4 - 5.5: scans take it if nothing is idle.
    pub const SCHED_IDLE_LAST: u32 = 1;
    /// Up to 5.3: busy like any other.
    pub const SCHED_IDLE_BUSY: u32 = 2;
    /// 7.1: as good as idle, but not for a `SCHED_IDLE` task.
    pub const SCHED_IDLE_NORMAL: u32 = 3;
    /// 4.8 - 5.10: a core, then a CPU, then a thread of the target.
    pub const SIBLING_SEPARATE: u32 = 0;
    /// Up to 4.7: a group below the LLC, all idle.
    pub const SIBLING_GROUPS: u32 = 1;
    /// 5.12: a thread of the previous CPU, then one scan for all.
    pub const SIBLING_ONE_SCAN: u32 = 2;
    /// Up to 5.6, unless the feature is added.
    pub const ASYM_IGNORED: u32 = 0;
    /// 5.10: every candidate must fit, clamps included.
    pub const ASYM_FITS: u32 = 1;
    /// 7.2: the same, idle cores first, within a budget.
    pub const ASYM_CORES: u32 = 2;
    /// 5.7: the first that fits the clamped estimate.
    pub const ASYM_FIRST: u32 = 3;
    /// Tasks are not packed.
    pub const PACK_NONE: u32 = 0;
    /// Light tasks are packed on the buddy of their CPU.
    pub const PACK_DEFAULT: u32 = 1;
    /// All tasks are packed on as few CPUs as their activity needs.
    pub const PACK_FULL: u32 = 2;
    /// No busy CPU is acceptable.
    pub const ROOM_NONE: u32 = 0;
    /// The previous CPU is, if `util_est` leaves enough of its capacity.
    pub const ROOM_SPARE: u32 = 1;
    /// The previous CPU is, if it is hardly loaded.
    pub const ROOM_ALMOST_IDLE: u32 = 2;
    /// Target, previous and recent CPU are, if the wakee fits beside their tasks.
    pub const ROOM_FITS: u32 = 3;
    /// 5.6 - 6.0, except the last updates of 5.10 and 5.15: the clamped estimate.
    pub const FIT_CLAMPED: u32 = 0;
    /// Up to 5.5: the estimate.
    pub const FIT_PLAIN: u32 = 1;
    /// 6.1: estimate and clamps are tested separately (`util_fits_cpu`).
    pub const FIT_CLAMPS: u32 = 2;
    /// 5.10.262, 5.15.215: the same, with a boolean result (`util_fits_cpu`).
    pub const FIT_CLAMPS_ALL: u32 = 3;
    /// Up to 5.6: none.
    pub const PRESSURE_NONE: u32 = 0;
    /// 5.7 - 6.9: the present thermal pressure.
    pub const PRESSURE_THERMAL: u32 = 1;
    /// 6.10: average hardware pressure, or the frequency limit.
    pub const PRESSURE_AVERAGE: u32 = 2;
    /// Up to 4.20: no EAS.
    pub const EAS_NONE: u32 = 0;
    /// 5.0 - 5.10: must save a 16th of all energy.
    pub const EAS_SIXTEENTH: u32 = 1;
    /// 6.0: any saving over the previous CPU is enough.
    pub const EAS_DELTA: u32 = 2;
    /// 5.15: must save a 16th of the energy of the sets that have a candidate.
    pub const EAS_SIXTEENTH_OF_SOME: u32 = 3;
    /// Up to 6.4: waiting time does not count.
    pub const BOOST_NONE: u32 = 0;
    /// 6.5: the queue's `runnable_avg` counts, before the wakee is moved.
    pub const BOOST_QUEUE: u32 = 1;
    /// 6.12 (.118): `runnable_avg` counts with the wakee moved.
    pub const BOOST_TASK: u32 = 2;
    /// 5.0 - 5.10: a quarter more frequency.
    pub const PERFORMANCE_FREQUENCY: u32 = 0;
    /// 5.11 - 6.7: a quarter more of the clamped utilization.
    pub const PERFORMANCE_UTIL: u32 = 1;
    /// 6.8: a quarter more, then clamped.
    pub const PERFORMANCE_CLAMPED: u32 = 2;
    /// 6.0: power is in uW.
    pub const POWER_UW: u32 = 0;
    /// 5.0 - 5.9: power is in whole mW.
    pub const POWER_MW: u32 = 1;
    /// 5.10.262, 5.15.215: power is in whole mW, times 1000 (`em_scale_power`).
    pub const POWER_MW_SCALED: u32 = 2;
    /// When signals leave a queue, its sums do not fall below what its averages stand for.
    pub const SUMS_BOUNDED: u32 = 0;
    /// 5.4: the sums have no bound.
    pub const SUMS_FREE: u32 = 1;
    /// 6.1 - 6.18: it is computed in 32 bits, to which `load_sum` and `runnable_sum` are cut.
    pub const SUMS_CUT: u32 = 2;
    /// 7.0: the bound also holds for `load_sum` when load joins.
    pub const SUMS_BOUNDED_JOIN: u32 = 3;
    /// 5.15: a sum is the average that is left, times the divider.
    pub const SUMS_AVERAGED: u32 = 4;
    /// 5.10.262: the same, but `load_sum` loses the task's own `load_sum`.
    pub const SUMS_AVERAGED_BUT_LOAD: u32 = 5;
    /// 5.3: the largest clamps of its tasks apply to a queue.
    pub const AGGREGATE_MAX: u32 = 0;
    /// `uclamp-sum`: the clamped utilizations of its tasks add up.
    pub const AGGREGATE_SUM: u32 = 1;
    /// `uclamp-sum`: the same, and a migrating task takes its part along at once.
    pub const AGGREGATE_SUM_AT_ONCE: u32 = 2;
    /// `uclamp-sum`: the changes by clamping add up, beside utilization.
    pub const AGGREGATE_BIAS: u32 = 3;
    /// 5.5 - 5.10: a new task stays on its node while that has an idle CPU.
    pub const NUMA_IDLE_CPU: u32 = 0;
    /// 5.18: it stays up to `imb_numa_nr` tasks on its node, if nodes are nearly even.
    pub const NUMA_IMB_NR: u32 = 1;
    /// 5.15: it stays while fewer tasks run there than a quarter of the node's CPUs.
    pub const NUMA_QUARTER: u32 = 2;
    /// 5.5: groups are compared by how full they are.
    pub const IDLEST_CLASS: u32 = 0;
    /// 4.9 - 5.4: groups are compared by spare capacity, then by load.
    pub const IDLEST_SPARE: u32 = 1;
    /// 3.x: groups are compared by load.
    pub const IDLEST_LOAD: u32 = 2;
}

/// Answer and reason of one selection.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// The CPU.
    pub cpu: u32,
    /// Where the search began.
    pub target: u32,
    /// Which step answered, see [`crate::STEPS`].
    pub step: u32,
    /// How the target was chosen, see [`crate::AFFINE`].
    pub affine: u32,
    /// The slow path was taken (0 or 1).
    pub slow: u32,
    /// The CPU is idle or runs `SCHED_IDLE` only (0 or 1).
    pub found_idle: u32,
    /// CPUs tested in the waking CPU's LLC.
    pub looked_near: u32,
    /// CPUs tested elsewhere.
    pub looked_far: u32,
    /// CPUs summed for group statistics.
    pub summed: u32,
    /// A budget ended a scan (0 or 1).
    pub cut: u32,
    /// Candidates by verdict, see [`crate::VERDICTS`].
    pub verdicts: [u32; 10],
}

/// One line of an explanation.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Note {
    /// The candidate.
    pub cpu: u32,
    /// Step that looked at it.
    pub step: u32,
    /// What was found.
    pub verdict: u32,
    /// What was compared.
    pub value: u32,
}

#[repr(C)]
pub(crate) struct Notes {
    pub note: *mut Note,
    pub nr: u32,
    pub max: u32,
}

/// Working memory of a decision.
#[repr(C)]
pub(crate) struct Scratch([Mask; 2]);

#[repr(C)]
pub(crate) struct Ctx {
    pub k: *const Params,
    pub topo: *const Topology,
    pub domain: *const Domain,
    pub place: *const Place,
    pub group: *mut Group,
    pub llc: *mut Llc,
    pub cpu: *mut Cpu,
    pub p: *mut Task,
    pub cur: *mut Task,
    pub allowed: *const Mask,
    pub all_allowed: *const Mask,
    pub perf: *const PerfDomain,
    pub scratch: *mut Scratch,
    pub answer: *mut Answer,
    pub notes: *mut Notes,
    pub now: u64,
    pub this_cpu: u32,
    pub prev_cpu: u32,
    pub kind: u32,
    pub sync: u32,
    pub flags: u32,
    pub nr_perf: u32,
    pub root: Root,
}

/// The share of time in which a CPU had tasks, as feature pack sees it: part / whole.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// At most [`Share::whole`].
    pub part: u64,
    /// 0 if the CPU has no history.
    pub whole: u64,
}

#[repr(C)]
pub(crate) struct Table {
    pub version: u32,
    pub sizes: [u32; 13],
    pub select: unsafe extern "C" fn(*mut Ctx) -> u32,
    pub update_rq_clock: unsafe extern "C" fn(*mut Cpu, u64),
    pub update_idle_rq_clock_pelt: unsafe extern "C" fn(*mut Cpu, u32),
    pub enqueue_entity: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, c_int) -> c_int,
    pub dequeue_entity:
        unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, c_int, c_int, c_int) -> c_int,
    pub set_next_entity: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task) -> c_int,
    pub update_curr: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task) -> c_int,
    pub detach_task: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, c_int),
    pub update_avg_idle: unsafe extern "C" fn(*mut Cpu, u64, u64),
    pub set_delayed: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task) -> c_int,
    pub requeue_delayed_entity:
        unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, c_int) -> c_int,
    pub dequeue_delayed: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, c_int) -> c_int,
    pub update_cfs_rq_load_avg: unsafe extern "C" fn(*const Params, *mut Cpu, c_int) -> c_int,
    pub remove_entity_load_avg: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task),
    pub attach_entity_load_avg: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task),
    pub detach_entity_load_avg: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task),
    pub reweight_entity: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, u32),
    pub util_est_enqueue: unsafe extern "C" fn(*const Params, *mut Cpu, *const Task),
    pub util_est_dequeue: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, c_int),
    pub post_init_entity_util_avg: unsafe extern "C" fn(*const Params, *const Cpu, *mut Task),
    pub task_util_est: unsafe extern "C" fn(*const Params, *const Task) -> u32,
    pub update_load_avg_blocked_se: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task, u64),
    pub clamped_task_joined: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task) -> c_int,
    pub clamps_changed: unsafe extern "C" fn(*const Params, *mut Cpu, *mut Task) -> c_int,
    pub cpu_util_cfs_uclamp: unsafe extern "C" fn(*const Params, *const Cpu, c_int) -> u32,
    pub task_util_est_uclamp: unsafe extern "C" fn(*const Params, *const Task) -> u32,
    pub nr_idle_scan: unsafe extern "C" fn(u64, u32, u32) -> u32,
    pub decay_load: unsafe extern "C" fn(u64, u64) -> u64,
    pub pelt_update_sum: unsafe extern "C" fn(*mut Pelt, u64, u64, u64, u64) -> c_int,
    pub pelt_update_avg: unsafe extern "C" fn(*mut Pelt, u64),
    pub compute_runnable_contrib: unsafe extern "C" fn(u64) -> u32,
    pub update_entity_runnable_avg: unsafe extern "C" fn(*mut Pelt13, u64, c_int),
    pub update_rq_runnable_avg: unsafe extern "C" fn(*const Params, *mut Cpu),
    pub cpu_share: unsafe extern "C" fn(*const Params, *const Cpu, *mut Share),
}

unsafe extern "C" {
    static alight_policy_table: Table;
    static alight_policy_plain: Table;
}

const VERSION: u32 = 6;

/// The core's entry points.
#[inline]
pub(crate) fn table() -> &'static Table {
    // SAFETY: a constant of the C core, linked statically. [`check`] compares its layout with ours
    // before the first machine is built.
    unsafe { &alight_policy_table }
}

/// The entry points for a scheduler. One without features has the core compiled without them.
#[inline]
pub(crate) fn table_of(k: &Params) -> &'static Table {
    match k.features {
        // SAFETY: as above.
        0 => unsafe { &alight_policy_plain },
        _ => table(),
    }
}

/// Version of the core's entry points, sizes of its structures in bytes, and a fingerprint of
/// their fields. A file that a build with another value wrote cannot be read.
pub fn layouts() -> String {
    let table = table();
    let sizes = table.sizes.map(|size| size.to_string());
    let fields = crate::layout::fingerprint();
    format!(
        "{}: {}, fields {fields:016x}",
        table.version,
        sizes.join(" ")
    )
}

/// Compares the C core's layouts with those of this file.
///
/// # Panics
/// If the core was built from other headers.
pub(crate) fn check() {
    let tables = [table(), table_of(&Params::NONE)];
    assert!(
        tables.iter().all(|table| table.version == VERSION),
        "policy core: version"
    );
    let sizes = [
        size_of::<Params>(),
        size_of::<Topology>(),
        size_of::<Domain>(),
        size_of::<Place>(),
        size_of::<Group>(),
        size_of::<Llc>(),
        size_of::<Cpu>(),
        size_of::<Task>(),
        size_of::<Answer>(),
        size_of::<Ctx>(),
        size_of::<PerfDomain>(),
        size_of::<Root>(),
        size_of::<Note>(),
    ]
    .map(|size| size as u32);
    assert!(
        tables.iter().all(|table| table.sizes == sizes),
        "policy core: structure sizes"
    );
}
