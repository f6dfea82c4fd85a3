// SPDX-License-Identifier: GPL-2.0-only
//! The differences between kernels in EEVDF: the queue and place of a task, how long it is
//! protected, whom a wakeup preempts, and what happens to sleepers.
//!
//! Read in kernel/sched/fair.c of 6.6.87, 6.8.0, 6.12.118, 6.18.15, 7.0.14, 7.1.13, 7.2.13 and
//! 7.3.4. A stable series has fixes of later releases: 6.12.118 yields as 6.18 does, for example.

use super::Division;

/// The rules of EEVDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Eevdf {
    /// `sysctl_sched_base_slice`, ns; scales.
    pub base_slice_ns: u64,
    /// Shortest and longest slice that sched_setattr() accepts, ns. `None`: all tasks and groups
    /// have the base slice (up to 6.11).
    pub custom_slice_ns: Option<(u64, u64)>,
    /// `__calc_delta`.
    pub division: Division,
    /// A timer ends a slice if the machine's kernel enables it (sched feature HRTICK).
    pub hrtick: bool,
    pub levels: Levels,
    pub lag_limit: LagLimit,
    /// The first slice of a new task is half a slice. Up to 6.8 `task_fork_fair` computed it, but
    /// the placement at its first wakeup overwrote it (`wake_up_new_task` without ENQUEUE_INITIAL;
    /// read in 6.6.87 and 6.8.0, 6.12.118 has it).
    pub new_gets_half: bool,
    pub moved_deadline: MovedDeadline,
    pub protection: Protection,
    /// A current task whose weight changes is protected as if the CPU had switched to it
    /// (`set_next_entity` up to 6.18; from 6.19 on only the first pick protects).
    pub reweighted_is_protected: bool,
    pub wakeup: WakeupTest,
    /// A preempted SCHED_IDLE task keeps its protection if the preempting task is gone when the
    /// switch comes (read in 6.6.87; `cancel_protect_slice` in 6.12.118).
    pub idle_keeps_protection: bool,
    pub yields: Yields,
    pub buddies: Buddies,
    pub sleepers: Sleepers,
    /// The entity of a group without tasks on a CPU keeps its weight there (`update_cfs_group`; not
    /// in 6.6.87 and 6.8.0). Else its weight shrinks, and its lag grows.
    pub empty_group_keeps_weight: bool,
}

/// The runqueues of tasks in groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Levels {
    /// Each group has a queue of its tasks on each CPU, and its entity is in the CPU's root queue
    /// (up to 7.2).
    Nested,
    /// A CPU has one queue of all its tasks. Each has the weight that its group leaves it there.
    /// Groups only have weights, signals and counts (`__enqueue_entity`, `__calc_prop_weight`;
    /// 7.3).
    Flat,
}

/// The largest absolute lag (`entity_lag`), as a runtime of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LagLimit {
    /// Two of its slices, at least a tick (6.6 to 6.18).
    TwoSlices,
    /// The longest slice on the queue plus a tick (from 6.19 on).
    LongestSlice,
}

/// The deadline of a task that leaves its queue without going to sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MovedDeadline {
    /// It starts a new slice in the new queue (up to 6.11).
    Anew,
    /// It keeps the rest of its slice (PLACE_REL_DEADLINE). Another weight does not change that
    /// rest (read in 6.12.118).
    Kept,
    /// The same, converted to the virtual time of its new weight (`rescale_entity`; read in
    /// 7.2.13).
    Rescaled,
}

/// How long the current task is protected from preemption while it is eligible (RUN_TO_PARITY,
/// `protect_slice`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    /// While it has the deadline that it had at the switch. A new weight changes the deadline and
    /// so ends protection (6.6 to 6.16).
    ThisDeadline,
    /// Up to a virtual time (`vprot`): its deadline, or the end of the shortest slice among the
    /// waiting tasks (from 6.17 on).
    UpTo,
}

/// When a woken task preempts the current one, and when the current one is preempted without a
/// wakeup after its protection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeupTest {
    /// If it is picked; the current task is preempted at its deadline (up to 6.11).
    Pick,
    /// The same. But an eligible task with a shorter slice first ends protection if its deadline is
    /// earlier or the current task is not eligible (`do_preempt_short`). A current task that is
    /// neither protected nor eligible is preempted (`did_preempt_short`; 6.12 to 6.16).
    ShortEndsProtection,
    /// A shorter slice ignores protection; if the woken task is not picked, it cuts protection to
    /// one such slice from now. A current task without protection is preempted. If a delayed
    /// sleeper would be picked, it stays queued and the woken task waits (6.17 and 6.18.15).
    ShortCutsProtection,
    /// The same, with three changes. Any woken task that is not picked cuts protection to a slice
    /// from now. A new task waits. Delayed sleepers that would be picked leave (6.19 to 7.2. The
    /// last came with ac8e69e69363 of 7.1, which 7.0.14 has).
    ShortPassesProtection,
    /// A woken task that has to wait cuts protection to a slice from the current task's vruntime,
    /// or from the mean if that is earlier. A shorter slice preempts as soon as it is eligible, and
    /// is next then. Each preemption ends protection, and a pending one does not end the test. If a
    /// shorter slice waits, a task that is switched to is protected until it is not eligible
    /// (`update_protect_slice`, `set_short_buddy`, `set_protect_slice`; 7.3).
    ShortIsNext,
}

/// What sched_yield() does (`yield_task_fair`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Yields {
    /// The deadline moves a slice later (up to 6.17).
    Deadline,
    /// An eligible task gives up the rest of its slice as if it had run (from 6.18 on; 6.12.118 and
    /// the last updates of Ubuntu's 6.8 have it).
    Turn,
}

/// When a buddy (`cfs_rq->next`) is picked first: the group of a task that slept within its slice,
/// and in 7.3 a woken task with a short slice. NEXT_BUDDY is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buddies {
    /// Never, since the pick tests NEXT_BUDDY (6.6 to 6.12, before PICK_BUDDY).
    Ignored,
    /// If eligible, at switches (PICK_BUDDY in `pick_next_entity`).
    AtSwitches,
    /// Also where a wakeup asks for the next task (in `__pick_eevdf`, 6.19 and 7.0).
    InAllPicks,
    /// The same, if the wakeup respects protection (in `pick_eevdf`, from 7.1 on).
    InPicks,
}

/// What happens to a task that goes to sleep with negative lag (DELAY_DEQUEUE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleepers {
    /// It is dequeued and keeps its lag (up to 6.11).
    Leave,
    /// It stays queued until it is picked or woken. Lag above 0 is then cut off: a woken task is
    /// placed at the mean (DELAY_ZERO in `requeue_delayed_entity`; 6.12 to 7.0).
    PayDebt,
    /// The same, and its negative lag does not grow. It is placed again whenever its lag and its
    /// place differ (`update_entity_lag`, from 7.1 on).
    PayDebtOnly {
        /// The current task is charged before a woken one is placed (`requeue_delayed_entity`,
        /// 7.2.13; not in 7.1.13 and before). Else the mean lacks what the current task has run
        /// since its last update, and the woken task is placed the further ahead of it.
        charges_curr: bool,
    },
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

/// 7.1.13.
pub(crate) const EEVDF_7_1: Eevdf = Eevdf {
    division: Division::Exact,
    hrtick: true,
    buddies: Buddies::InPicks,
    sleepers: Sleepers::PayDebtOnly {
        charges_curr: false,
    },
    ..EEVDF_7_0
};

/// 7.2.13.
pub(crate) const EEVDF_7_2: Eevdf = Eevdf {
    sleepers: Sleepers::PayDebtOnly { charges_curr: true },
    ..EEVDF_7_1
};

/// 7.3.4.
pub(crate) const EEVDF_7_3: Eevdf = Eevdf {
    levels: Levels::Flat,
    wakeup: WakeupTest::ShortIsNext,
    ..EEVDF_7_2
};
