// SPDX-License-Identifier: GPL-2.0-only
//! The differences between kernels in load balancing: when a CPU looks for work, which group is the
//! busiest, how much is moved, and which CPU balances for CPUs without a tick.
//!
//! Read in kernel/sched/fair.c and topology.c of 3.9.6 (there also core.c and
//! include/linux/topology.h), 5.4.30, 5.10.223, 5.10.262, 5.15.215, 6.1.192, 6.5.13, 7.1.13 and 7.2.13. A
//! kernel of a long series has fixes of later releases: 6.1 stands for 6.1.192, with fixes that
//! 6.5.13 lacks. If a rule names another release, that release is the first to have it as far as is
//! known; its source was not at hand.

mod rows;

use super::itmt::*;
pub(crate) use rows::*;

/// The rules of load balancing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Balance {
    pub judged: Judged,
    pub interval: Interval,
    /// Delayed sleepers that are still queued count as runnable tasks (`h_nr_queued` in statistics
    /// and tests of 6.12.118; `h_nr_runnable` from 6.14 on).
    pub sleepers_count: bool,
    /// The time that tasks wait can make a group overloaded: `group_runnable` (from 5.7 on).
    pub runnable: bool,
    /// With an energy model a group is overloaded only if one of its CPUs is
    /// overutilized (from 7.1 on, `group_is_overloaded`).
    pub overloaded_if_overutilized: bool,
    /// With equal capacities, a lone task is a misfit on a CPU whose time is taken by other classes
    /// or interrupts (`sched_reduced_capacity`, from 5.19 on).
    pub reduced_is_misfit: bool,
    pub misfit: Misfit,
    pub better_off: BetterOff,
    pub ties: Ties,
    /// A core that runs two fair tasks is a group of its own kind
    /// (`group_smt_balance`, from 6.6 on).
    pub smt_balance: bool,
    pub sibling: Sibling,
    /// A domain inside a cache balances the number of tasks where other domains balance utilization
    /// (from 5.10 on).
    pub cache_counts_tasks: bool,
    /// A fully busy local group whose load is not below that of the busiest group, or not below the
    /// average, pulls nothing (from 5.8 on). Before, the difference wrapped.
    pub full_takes_no_load: bool,
    pub numa_tolerance: NumaTolerance,
    pub source: Source,
    pub detach: Detach,
    pub active: Active,
    pub newidle: Newidle,
    pub nohz: NohzRules,
    /// `should_we_balance` looks for an idle core before an idle CPU (from 6.6 on).
    pub idle_core_balances: bool,
    /// `update_misfit_status`.
    pub misfit_status: MisfitStatus,
    /// `update_sg_lb_stats`.
    pub misfit_counts: MisfitCounts,
    /// When an idle period ends for `rq->avg_idle`.
    pub idle_ends: IdleEnds,
    /// Threads of a process are gathered in one last-level cache (SCHED_CACHE; read in 7.2.13).
    pub gathers_threads: bool,
    /// `None`: priorities of CPUs are not modelled (5.5 and before).
    pub itmt: Option<Itmt>,
}

/// How groups are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// By the weight of their queued tasks per CPU power. Of the present weight and an older
    /// average (`cpu_load[]`) the lower or the higher one counts (read in 3.9.6).
    Index,
    /// By the load of their queued tasks, except for a few kinds of groups (up to 5.4).
    Load,
    /// By kind (`group_type`: how full they are) first (from 5.5 on).
    Kind,
}

/// Time between two balancing attempts (`sd_init`, `get_sd_balance_interval`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    /// `sd->busy_factor`: a busy CPU balances this many times less often.
    pub busy_factor: u64,
    /// The same at levels that span nodes.
    pub busy_factor_nodes: u64,
    /// `sd->min_interval`, `sd->max_interval`.
    pub bounds: Bounds,
    /// The interval is a jiffy shorter, so that levels do not come due together (from 5.10 on).
    pub less_a_jiffy: bool,
    /// Periodic balancing passes its due time on to nohz balancing (up to 5.12).
    pub tells_nohz: bool,
}

/// Smallest and largest interval, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// 1 to 4, for SMT siblings 1 to 2; for nodes as `Weight` (read in 3.9.6).
    ByLevel,
    /// The number of CPUs of the domain, to twice that number.
    Weight,
}

/// Where a misfit task can be pulled to (`update_sd_pick_busiest`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// A group whose biggest CPU has enough capacity for the biggest one of the other group
    /// (`fits_capacity`).
    ToBiggerGroup,
    /// A CPU with noticeably more capacity (`capacity_greater`); `on_idle_core`: its siblings must
    /// be idle, too.
    ToBiggerCpu { on_idle_core: bool },
}

/// When a misfit task makes its group a misfit group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MisfitCounts {
    /// Always; the group is then skipped if the balancing CPU does not help.
    Always,
    /// If the balancing CPU has noticeably more capacity than the group's biggest; else the group
    /// is compared as if it had no misfit (7.3).
    IfHelped,
}

/// A group of bigger CPUs that is at most fully busy is not chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BetterOff {
    /// Tested after it has won the comparison; its capacity is compared with that of the local
    /// group.
    FitsGroup,
    /// Tested after it has won; its capacity is compared with the balancing CPU (read in 5.15.215,
    /// 6.5 and 7.1.13).
    BiggerThanCpu,
    /// Tested before it is compared with the busiest so far (read in 6.1.192 and 7.2).
    BiggerThanCpuFirst,
}

/// How groups of the same kind are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ties {
    /// Of groups with equally many idle CPUs, the one with more tasks is busier (from 5.6 on).
    pub spare_by_tasks: bool,
    /// Of fully busy groups the later one is chosen, unless the earlier is a core with siblings
    /// (from 6.5 on).
    pub full_later: bool,
    /// Of misfit groups with the same load the later one is chosen (up to 6.5).
    pub misfit_later: bool,
    /// A core with siblings and a CPU without are compared by whether the core runs two tasks (from
    /// 6.6 on, `smt_vs_nonsmt_groups`).
    pub mixed_smt: bool,
}

/// How tasks are spread over the groups of a domain (SD_PREFER_SIBLING).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sibling {
    /// One task per group, over the nodes of the lowest level that spans several (SD_CPU_INIT of
    /// the level below; read in 3.9.6).
    Nodes,
    /// By the difference of tasks; the flag of the child domain counts.
    Child,
    /// By the difference of tasks; the flag of the busiest group counts (from 6.5 on).
    Group,
    /// By tasks per core, and only on behalf of an idle CPU (`sibling_imbalance`, from 6.6 on).
    Cores,
}

/// The imbalance between nodes that is tolerated (`adjust_numa_imbalance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumaTolerance {
    /// None.
    None,
    /// Any, if the busiest node runs at most two tasks (read in 5.10.262).
    TwoRun,
    /// Two tasks, if with one task more the local node still has fewer than a quarter of its CPUs
    /// busy (`allow_numa_imbalance`; read in 5.15.215).
    Quarter,
    /// Two tasks, if no more than `imb_numa_nr` run on the local node (from 5.18 on).
    ImbNumaNr,
}

/// Which runqueue tasks are taken from (`find_busiest_queue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// A lone task also stays on a CPU of equal capacity, since `capacity_greater` is the test
    /// (from 5.13 on).
    pub greater_capacity: bool,
    /// A queue without fair tasks is skipped, whatever load is left there (from 5.11 on).
    pub skips_empty: bool,
    /// A comparison by utilization skips queues of one task (read in 5.10.262).
    pub util_of_several: bool,
    /// Utilization includes the time that tasks wait for a CPU (`cpu_util_cfs_boost`, from 6.5 on).
    pub util_boosted: bool,
    /// With unlike capacities, a lone task may also be taken from a CPU that is no smaller: if a
    /// sibling is busy there, or if clusters are a level and both CPUs have the same capacity now
    /// (7.3).
    pub lone_beside_busy: bool,
}

/// Which tasks may be moved (`detach_tasks`, `can_migrate_task`, `task_hot`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detach {
    pub load: DetachLoad,
    /// The tasks that were queued last are moved first, and a task that has run keeps its place in
    /// the order (read in 3.9.6; later the task that ran longest ago goes first).
    pub newest_first: bool,
    /// The size of a task's load is tested before its affinity: a queue of tasks that are too big
    /// counts as pinned (read in 3.9.6).
    pub load_first: bool,
    /// An idle CPU also takes the last task of a queue (read in 3.9.6).
    pub takes_last: bool,
    /// Pinned tasks may go to any CPU of the group, repeatedly, and also on behalf of a newly idle
    /// CPU (read in 3.9.6; later once to each CPU).
    pub tries_all: bool,
    /// The utilization test is also relaxed: utilization is halved with each failure.
    pub util_shifts: bool,
    /// A queue of one task does not count as pinned, whatever its affinity (read in 5.15.215, not
    /// in 5.10.262).
    pub lone_is_not_pinned: bool,
    /// The search goes on past its limit while all tasks are pinned (read in 6.5).
    pub past_pinned: bool,
    /// Threads of a core share its caches: no task is cache-hot between them (from 5.10 on).
    pub cold_among_siblings: bool,
    /// An ineligible task stays at first if the destination has fair tasks
    /// (`task_is_ineligible_on_dst_cpu`, from 6.13 on).
    pub ineligible_stays: bool,
}

/// When the load of a task is too large to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetachLoad {
    /// If half of its weight exceeds the imbalance (read in 3.9.6).
    HalfWeight,
    /// If half of it exceeds the imbalance, for a misfit task, too (up to 5.4).
    Half,
    /// If half of it exceeds the imbalance, unless more than `cache_nice_tries` attempts have
    /// failed.
    HalfUntilFailed,
    /// If the load, halved once per failed attempt, exceeds the imbalance (from 5.11 on; read in
    /// 5.10.262).
    Shifted,
}

/// Pushing a running task (`need_active_balance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Active {
    /// Tasks are pushed off CPUs with little time for them, and misfits off small CPUs, without a
    /// failed attempt before (`voluntary_active_balance`; not in 3.9.6).
    pub voluntary: bool,
    /// A push resets the count of failures (not in 3.9.6).
    pub push_forgets: bool,
    /// After too many failures only an imbalance in tasks leads to a push. The push leaves the
    /// count of failures and the interval unchanged (from 5.13 on).
    pub for_tasks_only: bool,
    /// A failure to move a misfit neither counts as failure nor lengthens the interval (from 6.11
    /// on).
    pub misfit_is_no_failure: bool,
}

/// Balancing on the way to idle (`newidle_balance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Newidle {
    pub gate: Gate,
    pub dice: Dice,
    /// The CPU does not look for work while a task is on its way to it (`ttwu_pending`; read in
    /// 5.15.215, not in 5.10.262).
    pub heeds_pending: bool,
}

/// The condition for newidle balancing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The CPU's mean idle time is at least 0.5 ms. Nothing else is tested, and no cost is
    /// remembered (read in 3.9.6).
    IdleTime,
    /// The CPU's mean idle time is at least 0.5 ms. The cost is that of balancing each domain; it
    /// decays only in periodic balancing.
    MigrationCost,
    /// The CPU's mean idle time is at least the cost of the first domain. The update of blocked
    /// load is part of that cost, and each attempt makes costs decay over time, too (from 5.16 on).
    FirstDomain,
}

/// A domain in which newidle balancing seldom helps is only searched now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dice {
    /// It is always searched.
    None,
    /// With a chance equal to the share of successes among the last attempts (NI_RANDOM; 6.1.192,
    /// 6.12.107).
    BySuccess,
    /// Also more often if it is rarely tried (NI_RATE, from 7.1 on).
    BySuccessAndRate,
}

/// Balancing for CPUs whose tick is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NohzRules {
    pub round: NohzRound,
    /// A misfit is enough for a kick, wherever it runs (`check_misfit_status`; from 6.12 on).
    pub any_misfit: bool,
    /// When a CPU has stopped its tick, the time of the next round is computed again
    /// (`NOHZ_NEXT_KICK`; read in 6.1.192, not in 5.15.215).
    pub next_kick: bool,
    /// The kick goes to a CPU on an idle core, if there is one (`find_new_ilb`, 7.3); else to the
    /// first idle CPU.
    pub on_idle_core: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NohzRound {
    /// The balancing CPU first, then the others by number. Only the first CPU of the set may
    /// balance, if it is idle. There is no blocked load (read in 3.9.6).
    OwnFirst,
    /// By CPU number, the balancing CPU last. Blocked load is updated in each round, and by newidle
    /// balancing for the CPUs that it compares (up to 5.11; read in 5.10.223).
    ByNumber,
    /// In a ring from the balancing CPU on. Blocked load is updated if the kick asks for it (read
    /// in 5.10.262 and 5.15.215).
    Ring,
}

/// Which running task is a misfit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MisfitStatus {
    /// One that does not fit its CPU; its misfit load may be 0.
    Any,
    /// Only if it may run elsewhere; its misfit load is at least 1 (from 5.10 on).
    Movable,
    /// Only if it may run on a CPU with more capacity (`max_allowed_capacity`, from 6.10 on).
    MovableToBigger,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleEnds {
    /// When a task wakes on the CPU. A long period sets the mean to its limit at once (read in
    /// 3.9.6).
    WakeupAtMost,
    /// When a task wakes on the CPU (`ttwu_do_wakeup`). A period that a new or a pulled task ends
    /// goes on until then, even though the CPU is busy.
    Wakeup,
    /// When the CPU switches from the idle task (`put_prev_task_idle`; from 7.0 on).
    Switch,
}
