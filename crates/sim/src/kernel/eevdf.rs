// SPDX-License-Identifier: GPL-2.0-only
//! What differs between kernels in EEVDF: in whose queue a task stands and where, how long
//! it is left alone, whom a wakeup preempts, what becomes of sleepers.
//!
//! Read in kernel/sched/fair.c of 6.6.87, 6.8.0, 6.12.118, 6.18.15, 7.0.14, 7.2.13 and 7.3.4. A
//! stable series has fixes of later releases, so that 6.12.118 yields as 6.18 does, for example.

use super::Division;

/// The rules of EEVDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Eevdf {
    /// `sysctl_sched_base_slice`, ns; scales.
    pub base_slice_ns: u64,
    /// Shortest and longest slice that a task may ask for by sched_setattr(), ns. `None`: all
    /// have the base slice, groups too (up to 6.11).
    pub custom_slice_ns: Option<(u64, u64)>,
    /// `__calc_delta`.
    pub division: Division,
    /// A timer ends a turn where the machine's kernel can afford one (sched feature HRTICK).
    pub hrtick: bool,
    pub levels: Levels,
    pub lag_limit: LagLimit,
    /// The first turn of a new task is half a slice. Up to 6.8 that was computed in
    /// `task_fork_fair`, and forgotten as the task was placed again at its first wakeup
    /// (`wake_up_new_task` without ENQUEUE_INITIAL; read in 6.6.87 and 6.8.0, 6.12.118 has it).
    pub new_gets_half: bool,
    pub moved_deadline: MovedDeadline,
    pub protection: Protection,
    /// Who runs on with another weight is protected as if it was switched to (`set_next_entity`
    /// up to 6.18; from 6.19 on only the first pick protects).
    pub reweighted_is_protected: bool,
    pub wakeup: WakeupTest,
    /// A SCHED_IDLE task that another preempts keeps its protection if it is still there
    /// when the switch comes (read in 6.6.87; `cancel_protect_slice` in 6.12.118).
    pub idle_keeps_protection: bool,
    pub yields: Yields,
    pub buddies: Buddies,
    pub sleepers: Sleepers,
    /// The part of a group that has no task on a CPU keeps its weight there
    /// (`update_cfs_group`; not in 6.6.87 and 6.8.0). Else it shrinks, and its lag grows.
    pub empty_group_keeps_weight: bool,
}

/// In whose queue the tasks of groups stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Levels {
    /// Each group has a queue of its tasks on a CPU, and stands in the CPU's itself (up to 7.2).
    Nested,
    /// A CPU has one queue, of all its tasks, each with the weight that its group leaves it
    /// there. Groups have weights, signals and counts only (`__enqueue_entity`,
    /// `__calc_prop_weight`; 7.3).
    Flat,
}

/// How much a task can be owed, or owe (`entity_lag`), as time that it would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LagLimit {
    /// Two of its slices, and a tick at least (6.6 to 6.18).
    TwoSlices,
    /// The longest slice on the queue and a tick (from 6.19 on).
    LongestSlice,
}

/// The deadline of a task that leaves its queue without going to sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MovedDeadline {
    /// It begins another turn where it comes to (up to 6.11).
    Anew,
    /// It takes the rest of its turn along (PLACE_REL_DEADLINE). Another weight does not
    /// change that rest (read in 6.12.118).
    Kept,
    /// The same, in the virtual time of its new weight (`rescale_entity`; read in 7.2.13).
    Rescaled,
}

/// How long the current task is left alone (RUN_TO_PARITY, `protect_slice`), as long as
/// it is eligible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    /// While it has the deadline that it was switched to with. Another weight gives it another
    /// one, so that protection ends (6.6 to 6.16).
    ThisDeadline,
    /// Up to a virtual time: its deadline, or the end of the shortest slice that somebody
    /// waits for (`vprot`, from 6.17 on).
    UpTo,
}

/// When a woken task preempts the current one, and when one whose protection has ended
/// gives way without a wakeup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeupTest {
    /// If it is the one to run next; the current one gives way at its deadline (up to 6.11).
    Pick,
    /// The same. But an eligible task with a shorter slice ends protection first if its deadline is
    /// the earlier one, or the current task is not eligible (`do_preempt_short`); who is neither
    /// protected nor eligible gives way (`did_preempt_short`; 6.12 to 6.16).
    ShortEndsProtection,
    /// A shorter slice is reason to pass over protection, and to cut it to one such slice from
    /// now if the woken task is not picked; who is not protected gives way. A sleeper that would
    /// be picked stays queued, and the woken task waits (6.17 and 6.18.15).
    ShortCutsProtection,
    /// The same. But whoever is not picked cuts protection to a slice from now; a new task waits;
    /// and sleepers leave that would be picked (6.19 to 7.2. The last came with ac8e69e69363 of
    /// 7.1, which 7.0.14 has).
    ShortPassesProtection,
    /// Whoever is told to wait cuts protection to a slice from where the current task would stand
    /// if it were not ahead of the mean. A shorter slice preempts as soon as it is eligible, and is
    /// next then. Each preemption ends protection, and a pending one does not end the test.
    /// Where a shorter slice waits, a task that is switched to is protected until it is not
    /// eligible (`update_protect_slice`, `set_short_buddy`, `set_protect_slice`; 7.3).
    ShortIsNext,
}

/// What sched_yield() does (`yield_task_fair`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Yields {
    /// The deadline comes a slice later (up to 6.17).
    Deadline,
    /// If it is eligible, the task gives up the rest of its turn as if it had run
    /// (from 6.18 on; 6.12.118 and the last updates of Ubuntu's 6.8 have it).
    Turn,
}

/// When a buddy goes first (`cfs_rq->next`): the group of a task that slept within its turn, and
/// in 7.3 a woken task with a short slice. NEXT_BUDDY is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buddies {
    /// Never: NEXT_BUDDY is asked (6.6 to 6.12, before PICK_BUDDY).
    Ignored,
    /// If eligible, at switches (PICK_BUDDY in `pick_next_entity`).
    AtSwitches,
    /// And where a wakeup asks who is next (in `__pick_eevdf`, 6.19 and 7.0).
    InAllPicks,
    /// The same, as long as the wakeup heeds protection (in `pick_eevdf`, from 7.1 on).
    InPicks,
}

/// What becomes of a task that goes to sleep in debt (DELAY_DEQUEUE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleepers {
    /// It leaves, and keeps its debt (up to 6.11).
    Leave,
    /// It stays queued until its turn comes, or it is woken; what it gained beyond its debt
    /// meanwhile is taken away: a woken one is placed at the mean then (DELAY_ZERO in
    /// `requeue_delayed_entity`, which does not charge the current task before; 6.12 to 7.0).
    PayDebt,
    /// And its debt does not grow; it is placed again whenever its lag is not what its place
    /// says (`update_entity_lag`, from 7.1 on).
    PayDebtOnly,
}

/// 6.6.87.
pub(crate) const EEVDF_6_6: Eevdf = Eevdf {
    base_slice_ns: 750_000,
    custom_slice_ns: None,
    division: Division::Inverse,
    hrtick: false,
    levels: Levels::Nested,
    lag_limit: LagLimit::TwoSlices,
    new_gets_half: false,
    moved_deadline: MovedDeadline::Anew,
    protection: Protection::ThisDeadline,
    reweighted_is_protected: true,
    wakeup: WakeupTest::Pick,
    idle_keeps_protection: true,
    yields: Yields::Deadline,
    buddies: Buddies::Ignored,
    sleepers: Sleepers::Leave,
    empty_group_keeps_weight: false,
};

/// 6.8.0-151 of Ubuntu, which is 6.8.12 with fixes of 6.12.y.
pub(crate) const EEVDF_6_8: Eevdf = Eevdf {
    base_slice_ns: 700_000,
    idle_keeps_protection: false,
    yields: Yields::Turn,
    buddies: Buddies::AtSwitches,
    ..EEVDF_6_6
};

/// 6.12.118.
pub(crate) const EEVDF_6_12: Eevdf = Eevdf {
    custom_slice_ns: Some((100_000, 100_000_000)),
    new_gets_half: true,
    moved_deadline: MovedDeadline::Kept,
    wakeup: WakeupTest::ShortEndsProtection,
    sleepers: Sleepers::PayDebt,
    empty_group_keeps_weight: true,
    ..EEVDF_6_8
};

/// 6.18.15.
pub(crate) const EEVDF_6_18: Eevdf = Eevdf {
    moved_deadline: MovedDeadline::Rescaled,
    protection: Protection::UpTo,
    wakeup: WakeupTest::ShortCutsProtection,
    ..EEVDF_6_12
};

/// 7.0.14.
pub(crate) const EEVDF_7_0: Eevdf = Eevdf {
    lag_limit: LagLimit::LongestSlice,
    reweighted_is_protected: false,
    wakeup: WakeupTest::ShortPassesProtection,
    buddies: Buddies::InAllPicks,
    ..EEVDF_6_18
};

/// 7.2.13.
pub(crate) const EEVDF_7_2: Eevdf = Eevdf {
    division: Division::Exact,
    hrtick: true,
    buddies: Buddies::InPicks,
    sleepers: Sleepers::PayDebtOnly,
    ..EEVDF_7_0
};

/// 7.3.4.
pub(crate) const EEVDF_7_3: Eevdf = Eevdf {
    levels: Levels::Flat,
    wakeup: WakeupTest::ShortIsNext,
    ..EEVDF_7_2
};
