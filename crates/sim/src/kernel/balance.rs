// SPDX-License-Identifier: GPL-2.0-only
//! What differs between kernels in load balancing: when a CPU looks for work,
//! which group counts as busiest, how much is moved, and who balances for CPUs
//! without a tick.
//!
//! Read in kernel/sched/fair.c and topology.c of 3.9.6 (there also core.c and
//! include/linux/topology.h), 5.4.30, 5.10.223, 5.10.262, 5.15.215, 6.1.192, 6.5.13 and 7.2.13. A kernel of a long series has fixes that later releases
//! brought: 6.1 stands for 6.1.192, with those that 6.5.13 lacks. A release named
//! at a rule that is not one of these is the first to have it as far as is known;
//! its source was not at hand.

mod rows;

use super::itmt::*;
pub(crate) use rows::*;

/// The rules of load balancing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Balance {
    pub judged: Judged,
    pub interval: Interval,
    /// Sleepers that are still queued count as tasks that want to run (`h_nr_queued` in
    /// statistics and tests of 6.12.118; `h_nr_runnable` from 6.14 on).
    pub sleepers_count: bool,
    /// Waiting tasks make a group full: `group_runnable` (from 5.7 on).
    pub runnable: bool,
    /// With an energy model a group is overloaded only if one of its CPUs is
    /// overutilized (from 7.1 on, `group_is_overloaded`).
    pub overloaded_if_overutilized: bool,
    /// Where capacities are alike, a lone task on a CPU whose time others take is
    /// a misfit (`sched_reduced_capacity`, from 5.19 on).
    pub reduced_is_misfit: bool,
    pub misfit: Misfit,
    pub better_off: BetterOff,
    pub ties: Ties,
    /// A core that runs two fair tasks is a group of its own kind
    /// (`group_smt_balance`, from 6.6 on).
    pub smt_balance: bool,
    pub sibling: Sibling,
    /// A domain inside a cache evens out tasks where others fill capacity (from 5.10 on).
    pub cache_counts_tasks: bool,
    /// A fully busy group with no less load than the busiest one, or than the
    /// average, takes none (from 5.8 on); before, the difference wrapped.
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
    /// When an idle phase ends for `rq->avg_idle`.
    pub idle_ends: IdleEnds,
    /// Threads of a process are drawn to one last-level cache (SCHED_CACHE; read in
    /// 7.2.13).
    pub gathers_threads: bool,
    /// `None`: priorities of CPUs are not modelled (5.5 and before).
    pub itmt: Option<Itmt>,
}

/// How groups are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// By the weight of their queued tasks, the lower or the higher of now and of a
    /// while ago (`cpu_load[]`), per CPU power (read in 3.9.6).
    Index,
    /// By the load of their queued tasks, for all kinds but a few (up to 5.4).
    Load,
    /// By how full they are first (from 5.5 on).
    Kind,
}

/// Time between two attempts (`sd_init`, `get_sd_balance_interval`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    /// `sd->busy_factor`: a busy CPU balances this many times less often.
    pub busy_factor: u64,
    /// The same at levels that span nodes.
    pub busy_factor_nodes: u64,
    /// `sd->min_interval`, `sd->max_interval`.
    pub bounds: Bounds,
    /// And a jiffy earlier than that, so that levels do not come due together (from 5.10 on).
    pub less_a_jiffy: bool,
    /// Periodic balancing tells the round over idle CPUs when it is due (up to 5.12).
    pub tells_nohz: bool,
}

/// From where to where an interval goes, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// 1 to 4, of siblings in a core to 2; nodes as later (read in 3.9.6).
    ByLevel,
    /// The CPUs of the domain, to twice as many.
    Weight,
}

/// Whom a misfit task can be pulled to (`update_sd_pick_busiest`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// A group whose biggest CPU the biggest of the other fits.
    ToBiggerGroup,
    /// A CPU with noticeably more capacity (`capacity_greater`); `on_idle_core`:
    /// its siblings must idle too.
    ToBiggerCpu { on_idle_core: bool },
}

/// When a misfit task makes its group one of misfits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MisfitCounts {
    /// Wherever it runs; the group is passed over then, if the balancing CPU is no help.
    Always,
    /// If the balancing CPU has noticeably more capacity than the group's biggest; else the
    /// group is compared as if it had none (7.3).
    IfHelped,
}

/// A group of bigger CPUs where nobody waits is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BetterOff {
    /// If it would have been taken for the busiest; groups are compared.
    FitsGroup,
    /// The same, but compared with the CPU that balances (read in 5.15.215 and 6.5).
    BiggerThanCpu,
    /// Before it is compared with the busiest so far (read in 6.1.192 and 7.2).
    BiggerThanCpuFirst,
}

/// Groups of one kind are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ties {
    /// Of groups with as many idle CPUs the one with more tasks (from 5.6 on).
    pub spare_by_tasks: bool,
    /// Of fully busy groups the later one, unless the earlier is a core with siblings (from 6.5 on).
    pub full_later: bool,
    /// Of misfits with the same load the later one (up to 6.5).
    pub misfit_later: bool,
    /// A core with siblings and a CPU without are compared by whether the core
    /// runs two tasks (from 6.6 on, `smt_vs_nonsmt_groups`).
    pub mixed_smt: bool,
}

/// Tasks are spread over the groups of a domain whose child says so (SD_PREFER_SIBLING).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sibling {
    /// By one task a group; the nodes of the lowest level that spans some (SD_CPU_INIT
    /// of the level below; read in 3.9.6).
    Nodes,
    /// By the difference of tasks; the child domain says so.
    Child,
    /// The same; the busiest group says so (from 6.5 on).
    Group,
    /// By tasks per core, and only on behalf of an idle CPU (`sibling_imbalance`, from 6.6 on).
    Cores,
}

/// Which difference between nodes is left alone (`adjust_numa_imbalance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumaTolerance {
    /// None.
    None,
    /// Any, if the busiest node runs two tasks at most (read in 5.10.262).
    TwoRun,
    /// Two tasks to move, if a task more here leaves fewer than a quarter of the node's
    /// CPUs busy (`allow_numa_imbalance`; read in 5.15.215).
    Quarter,
    /// Two tasks, if no more than `imb_numa_nr` run here (from 5.18 on).
    ImbNumaNr,
}

/// The queue to take from (`find_busiest_queue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// A lone task is not pushed off a CPU of equal capacity either, `capacity_greater`
    /// being the test (from 5.13 on).
    pub greater_capacity: bool,
    /// A queue without fair tasks is passed over, whatever it has left of their load (from 5.11 on).
    pub skips_empty: bool,
    /// Utilization leads past queues of one task (read in 5.10.262).
    pub util_of_several: bool,
    /// And counts the wait for a CPU (`cpu_util_cfs_boost`, from 6.5 on).
    pub util_boosted: bool,
    /// Among unlike CPUs a lone task may be taken from one that is no smaller if a sibling is busy
    /// there, or if clusters are a level and both have as much capacity now (7.3).
    pub lone_beside_busy: bool,
}

/// The tasks that may go (`detach_tasks`, `can_migrate_task`, `task_hot`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detach {
    pub load: DetachLoad,
    /// The tasks that came last go first, and one that has run stays where it is in
    /// the order (read in 3.9.6; later who ran longest ago goes first).
    pub newest_first: bool,
    /// Whether a task's load is too much is asked before whether it may go: a queue
    /// of such tasks counts as pinned (read in 3.9.6).
    pub load_first: bool,
    /// An idle CPU takes the last task of a queue, too (read in 3.9.6).
    pub takes_last: bool,
    /// Pinned tasks may go to any CPU of the group, time and again, and on behalf of a
    /// newly idle CPU, too (read in 3.9.6; later to each CPU once).
    pub tries_all: bool,
    /// Utilization that is too much is halved with each failure, too.
    pub util_shifts: bool,
    /// A queue of one task is not pinned, whatever its affinity (read in 5.15.215, not in 5.10.262).
    pub lone_is_not_pinned: bool,
    /// The search goes on past its limit while all are pinned (read in 6.5).
    pub past_pinned: bool,
    /// Threads of a core share its caches: nothing is hot among them (from 5.10 on).
    pub cold_among_siblings: bool,
    /// A task that got more than its share is left alone at first where there are
    /// fair tasks already (`task_is_ineligible_on_dst_cpu`, from 6.13 on).
    pub ineligible_stays: bool,
}

/// When the load of a task is too much to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetachLoad {
    /// Half of its weight exceeds the imbalance (read in 3.9.6).
    HalfWeight,
    /// Half of it exceeds the imbalance, that of a misfit too (up to 5.4).
    Half,
    /// Half of it exceeds the imbalance, and no more attempts failed than a hot task waits for.
    HalfUntilFailed,
    /// It exceeds the imbalance, halved with each failed attempt (from 5.11 on; read in 5.10.262).
    Shifted,
}

/// Pushing a running task (`need_active_balance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Active {
    /// Tasks are pushed off CPUs with little time for them, and misfits off small
    /// ones, without a failure (`voluntary_active_balance`; not in 3.9.6).
    pub voluntary: bool,
    /// Failures are counted anew after a push (not in 3.9.6).
    pub push_forgets: bool,
    /// After too many failures only where tasks are counted, and without starting
    /// to count failures again or waiting longer (from 5.13 on).
    pub for_tasks_only: bool,
    /// Misfits neither count as failures nor make intervals longer (from 6.11 on).
    pub misfit_is_no_failure: bool,
}

/// Balancing on the way to idle (`newidle_balance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Newidle {
    pub gate: Gate,
    pub dice: Dice,
    /// Nothing is looked for while a task is on its way to the CPU (`ttwu_pending`; read in
    /// 5.15.215, not in 5.10.262).
    pub heeds_pending: bool,
}

/// Is it worth a look?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The CPU idles for 0.5 ms on average; nothing else is asked, and no cost
    /// remembered (read in 3.9.6).
    IdleTime,
    /// The CPU idles for 0.5 ms on average; costs are the balancing of each
    /// domain, and become less by time in periodic balancing only.
    MigrationCost,
    /// The CPU idles for longer than the first domain has cost; blocked load counts as part of that, and each look makes costs
    /// less by time too (from 5.16 on).
    FirstDomain,
}

/// A domain where newidle balancing seldom helps is looked at now and then only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dice {
    /// Always looked at.
    None,
    /// By the share of successes among the last attempts (NI_RANDOM; 6.1.192, 6.12.107).
    BySuccess,
    /// And more often the less often it is tried (NI_RATE, from 7.1 on).
    BySuccessAndRate,
}

/// Balancing for CPUs whose tick is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NohzRules {
    pub round: NohzRound,
    /// A misfit is reason enough for a kick, wherever it runs (`check_misfit_status`; from 6.12 on).
    pub any_misfit: bool,
    /// Once a CPU has stopped its tick it is found out anew when the next round is due
    /// (`NOHZ_NEXT_KICK`; read in 6.1.192, not in 5.15.215).
    pub next_kick: bool,
    /// The CPU that is kicked is one on an idle core, if there is one (`find_new_ilb`,
    /// 7.3), else the first that is idle.
    pub on_idle_core: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NohzRound {
    /// The balancing CPU, which is the first of the set or none, then the others by
    /// number; there is no blocked load (read in 3.9.6).
    OwnFirst,
    /// In order of CPU number, the balancing CPU last; blocked load is refreshed by
    /// all, and by newidle balancing for the CPUs it compares (up to 5.11; read in 5.10.223).
    ByNumber,
    /// Around the ring from the balancing CPU on; blocked load is refreshed if
    /// asked for (read in 5.10.262 and 5.15.215).
    Ring,
}

/// Which running task is a misfit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MisfitStatus {
    /// One that does not fit its CPU, by its load, which may be 0.
    Any,
    /// And may run elsewhere; its load counts as 1 at least (from 5.10 on).
    Movable,
    /// And on a CPU with more capacity (`max_allowed_capacity`, from 6.10 on).
    MovableToBigger,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleEnds {
    /// When a task wakes on the CPU; a long phase makes the mean as long as it can be
    /// at once (read in 3.9.6).
    WakeupAtMost,
    /// When a task wakes on the CPU (`ttwu_do_wakeup`). A phase that a new task ends, or
    /// one that was moved there, goes on until then, though the CPU is busy.
    Wakeup,
    /// When the idle task is switched from (`put_prev_task_idle`; from 7.0 on).
    Switch,
}
