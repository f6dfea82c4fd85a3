/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - what defines a scheduler: its features and the rules of its base kernel
 */
#ifndef ALIGHT_PARAMS_H
#define ALIGHT_PARAMS_H

#include "types.h"

/* Features of a scheduler: policies that can be added to a base. */
#define FEATURE_ASYM_CAPACITY	(1ull << 0)
#define FEATURE_SCHED_IDLE	(1ull << 1)
#define FEATURE_BIAS_PREV	(1ull << 2)
#define FEATURE_PACK		(1ull << 3)
#define FEATURE_UCLAMP_SUM	(1ull << 4)

/* What the load of a CPU is (policy_params.load). */
enum policy_load_rule {
	LOAD_AVG,			/* 5.5: load_avg, blocked tasks included */
	LOAD_RUNNABLE,			/* 4.x - 5.4: runnable_load_avg, queued tasks only */
	LOAD_WEIGHT,			/* 3.x: weight of the queued tasks (load index 0) */
};

/* How a search treats a CPU that runs SCHED_IDLE tasks only (policy_params.sched_idle). */
enum policy_sched_idle_rule {
	SCHED_IDLE_AVAIL,		/* 5.6: as good as idle */
	SCHED_IDLE_LAST,		/* 5.4 - 5.5: scans take it if nothing is idle */
	SCHED_IDLE_BUSY,		/* up to 5.3: busy like any other */
	SCHED_IDLE_NORMAL,		/* 7.1: as good as idle, but not for a SCHED_IDLE task */
};

/* How an idle CPU near the target is found (policy_params.sibling). */
enum policy_sibling_rule {
	SIBLING_SEPARATE,		/* 4.8 - 5.10: a core, then a CPU, then a thread of the target */
	SIBLING_GROUPS,			/* up to 4.7: a group below the LLC, all idle */
	SIBLING_ONE_SCAN,		/* 5.12: a thread of the previous CPU, then one scan for all */
};

/* Whether a scan heeds capacities (policy_params.asym). */
enum policy_asym_rule {
	ASYM_IGNORED,			/* up to 5.6, unless the feature is added */
	ASYM_FITS,			/* 5.10: every candidate must fit, clamps included */
	ASYM_CORES,			/* 7.2: the same, idle cores first, within a budget */
	ASYM_FIRST,			/* 5.7: the first that fits the clamped estimate */
};

/* What makes a busy CPU acceptable (policy_params.room). */
enum policy_room_rule {
	ROOM_NONE,			/* nothing */
	ROOM_SPARE,			/* the previous CPU, if util_est leaves enough of its capacity */
	ROOM_ALMOST_IDLE,		/* the previous CPU, if hardly loaded */
	ROOM_FITS,			/* target, previous, recent CPU, if the wakee fits beside the others */
};

/* How tasks are packed on few power domains (policy_params.pack). */
enum policy_pack_rule {
	PACK_NONE,			/* not at all */
	PACK_DEFAULT,			/* light tasks, on the buddy of their CPU */
	PACK_FULL,			/* all tasks, on as few CPUs as their activity needs */
};

/* How a task is tested against a CPU's capacity (policy_params.fit). */
enum policy_fit_rule {
	FIT_CLAMPED,			/* 5.6 - 6.0, but for the last 5.10 and 5.15: the clamped estimate */
	FIT_PLAIN,			/* up to 5.5: the estimate */
	FIT_CLAMPS,			/* 6.1: estimate and clamps are tested separately (util_fits_cpu) */
	FIT_CLAMPS_ALL,			/* 5.10.262, 5.15.215: the same, but boolean (util_fits_cpu) */
};

/* Which limits reduce a CPU's capacity (policy_params.pressure). */
enum policy_pressure_rule {
	PRESSURE_NONE,			/* up to 5.6 */
	PRESSURE_THERMAL,		/* 5.7 - 6.9: the present thermal pressure */
	PRESSURE_AVERAGE,		/* 6.10: average hardware pressure, or the frequency limit */
};

/* How much energy another CPU must save (policy_params.eas). */
enum policy_eas_rule {
	EAS_NONE,			/* up to 4.20: no EAS */
	EAS_SIXTEENTH,			/* 5.0 - 5.10: must save a 16th of all energy */
	EAS_DELTA,			/* 6.0: any saving over the previous CPU is enough */
	EAS_SIXTEENTH_OF_SOME,		/* 5.15: a 16th of the energy of the sets that have a candidate */
};

/* Does the wait for a CPU count as utilization (policy_params.util_boost)? */
enum policy_boost_rule {
	BOOST_NONE,			/* up to 6.4 */
	BOOST_QUEUE,			/* 6.5: the queue's runnable_avg, before the wakee is moved */
	BOOST_TASK,			/* 6.12 (.118): runnable_avg with the wakee moved */
};

/* The performance that a utilization requests (policy_params.performance). */
enum policy_performance_rule {
	PERFORMANCE_FREQUENCY,		/* 5.0 - 5.10: a quarter more frequency */
	PERFORMANCE_UTIL,		/* 5.11 - 6.7: a quarter more of the clamped utilization */
	PERFORMANCE_CLAMPED,		/* 6.8: a quarter more, then clamped */
};

/* The unit of power in the energy model (policy_params.em_power). */
enum policy_em_power_rule {
	POWER_UW,			/* 6.0: uW */
	POWER_MW,			/* 5.0 - 5.9: whole mW */
	POWER_MW_SCALED,		/* 5.10.262, 5.15.215: whole mW, times 1000 (em_scale_power) */
};

/*
 * How a queue's sums change when signals leave it (policy_params.sums). The bound
 * is average * PELT_MIN_DIVIDER: a sum must not fall below what its average stands for.
 */
enum policy_sums_rule {
	SUMS_BOUNDED,			/* the bound holds */
	SUMS_FREE,			/* 5.4: no bound */
	SUMS_CUT,			/* 6.1 - 6.18: it is computed in 32 bits, to which sums are cut */
	SUMS_BOUNDED_JOIN,		/* 7.0: the bound holds for load_sum when load joins, too */
	/* The next two must be last, policy_sums_are_averaged() relies on it: */
	SUMS_AVERAGED,			/* 5.15.215: a sum is the average that is left, times the divider */
	SUMS_AVERAGED_BUT_LOAD,		/* 5.10.262: the same, but load_sum loses the task's own load_sum */
};

/* How the clamps of its tasks apply to a queue (policy_params.aggregate). */
enum policy_aggregate_rule {
	AGGREGATE_MAX,			/* 5.3: the largest of them apply */
	AGGREGATE_SUM,			/* uclamp-sum: clamped utilizations add up (RFC, 2023) */
	AGGREGATE_SUM_AT_ONCE,		/* and move with a migrating task at once (RFC v2, 2024) */
	AGGREGATE_BIAS,			/* the changes by clamping add up, util_avg is kept (2024) */
};

/* When a new task stays on its node though another has more idle CPUs (policy_params.idlest_numa_imbalance). */
enum policy_idlest_numa_rule {
	NUMA_IDLE_CPU,			/* 5.5 - 5.10: while the node has an idle CPU */
	NUMA_IMB_NR,			/* 5.18: up to imb_numa_nr tasks, if they are nearly even */
	NUMA_QUARTER,			/* 5.15: below as many tasks as a quarter of its CPUs */
};

/* How groups are compared at fork and exec (policy_params.idlest). */
enum policy_idlest_rule {
	IDLEST_CLASS,			/* 5.5: by how full they are */
	IDLEST_SPARE,			/* 4.9 - 5.4: by spare capacity, then by load */
	IDLEST_LOAD,			/* 3.x: by load */
};

/*
 * The definition of a scheduler: the rules of its base kernel, its features and
 * their tunables. It is constant while the scheduler runs: BPF has it in .rodata,
 * so that the verifier removes the branches of other schedulers. The comment of a
 * rule names the kernels that have it. crates/policy/src/bases/table.rs sets the
 * rules of each base.
 */
struct policy_params {
	u64 features;			/* FEATURE_* */
	u32 wake_cap;			/* 4.7 - 5.6: small CPUs refuse big tasks; BALANCE_WAKE up to asym level */
	u32 sis_prop;			/* 4.13 - 5.19: scan budget by idle time */
	u32 sched_idle;			/* enum policy_sched_idle_rule */
	u32 idlest_load_inverted;	/* 5.5 - 5.6: avg_load left 0 for busy groups */
	u32 est_lsb;			/* 4.17 - 5.12: an estimate always has bit 0 set */
	u32 scan_cpu_ns;		/* time to scan one CPU, feeds avg_scan_cost */
	u32 idlest_weight_unset;	/* 5.5: group_weight is 0 at fork, exec and slow wakeup */
	u32 fork_util_inflated;		/* 4.7 - 6.9: a new task's share is 1024 times too large */

	/* before the search */
	u32 wake_wide;			/* 3.12: a waker of many tasks does not pull */
	u32 current_cpu;		/* 6.6: a waker may ask for its own CPU */
	u32 eas;			/* enum policy_eas_rule */
	u32 load;			/* enum policy_load_rule */
	u32 affine_balanced;		/* up to 4.13: pull if that balances loads, idle or not */
	u32 affine_prev_idle;		/* 5.11: an idle previous CPU is the target whatever the loads */
	u32 exit_is_sync;		/* up to 4.13: an exiting waker counts as one that will sleep */
	u32 delayed_dequeue;		/* 6.12: sleepers may stay queued, and do not count as running */
	u32 walk_all;			/* up to 4.15: the walk over domains passes one without the flag ... */
	u32 search_if_affine;		/* ... and only a wakeup that may pull searches for an idle CPU */

	/* the search */
	u32 sibling;			/* enum policy_sibling_rule */
	u32 recent_none;		/* up to 4.14: no recently used CPU */
	u32 recent_always;		/* 5.13: each search makes the previous CPU the recent one */
	u32 recent_by_prev;		/* 5.13 - 5.19: its affinity test is of the previous CPU instead */
	u32 kthread_stacks;		/* 5.6: the wakee of a per-CPU kthread may run on the kthread's CPU */
	u32 sis_util;			/* 5.19: scan budget by utilization */
	u32 cluster_scan;		/* 6.7: the target's cluster before the rest of the LLC */
	u32 empty_scan_tells_nothing;	/* 7.1: has_idle_cores stays if the scan had no allowed CPU */
	u32 smt_beyond_domain;		/* up to 5.5, and 6.5: threads outside the LLC domain count too */
	u32 lean_scan;			/* 5.6: forbidden CPUs cost no budget, a busy thread ends its core */
	u32 scan_needs_llc;		/* up to 5.19: no scan if the waking CPU has no LLC domain */
	u32 asym;			/* enum policy_asym_rule */
	u32 asym_from_next;		/* 6.5: the scan for a CPU that fits begins after the target */
	u32 asym_at_once;		/* that scan decides alone; no single candidate is tried before it */
	u32 asym_hog;			/* a task that fits nowhere takes the first idle CPU of max_capacity */
	u32 bias_prev;			/* the previous CPU is tried first, and answers if nothing is idle */
	u32 room;			/* enum policy_room_rule */
	u32 bias_spare;			/* share of capacity that ROOM_SPARE wants free, of 1024 */
	u32 pack;			/* enum policy_pack_rule */
	u32 pack_pelt;			/* pack uses the signals of Linux 4.x and later, not those of 2013 */
	u32 pack_at_wake;		/* a task is light by its load at the wakeup, not when it fell asleep */
	u32 pack_light;			/* below this share of a CPU, in percent, a task is light */
	u32 pack_level;			/* full: how far CPUs are filled, in percent; 0: all CPUs take part */
	u32 pack_by_level;		/* full: CPUs above pack_level ask for help, new tasks need no idle CPU (v5) */
	u32 sched_idle_balance;		/* 5.7: for balancing, a CPU that runs SCHED_IDLE only is idle */
	u32 fit;			/* enum policy_fit_rule */
	u32 pressure;			/* enum policy_pressure_rule */

	/* energy */
	u32 util_boost;			/* enum policy_boost_rule */
	u32 performance;		/* enum policy_performance_rule */
	u32 state_by_performance;	/* 6.9: an operating point is chosen by performance, not frequency */
	u32 skip_inefficient;		/* 5.16: points that cost as much as a faster one are skipped */
	u32 em_power;			/* enum policy_em_power_rule */

	/* fork and exec */
	u32 idlest;			/* enum policy_idlest_rule */
	u32 idlest_tie_util;		/* 5.7: of two groups with as many idle CPUs, the less utilized */
	u32 idlest_runnable;		/* 5.7: waiting tasks make a group full */
	u32 idlest_misfit_cpus;		/* 5.7: a group is a misfit if no CPU of it fits */
	u32 idlest_numa_imbalance;	/* enum policy_idlest_numa_rule */
	u32 idlest_allowed_only;	/* 6.12, stable 5.10 to 6.1: CPUs outside the affinity do not count */
	u32 idlest_eas_spares;		/* 7.1: no group is overloaded while there is an energy model */

	/* utilization estimate */
	u32 est_none;			/* up to 4.16: none */
	u32 est_slow_up;		/* 4.17 - 5.4: an estimate rises by quarters too */
	u32 est_keeps_last;		/* 5.13 - 6.7: the last value is stored even if the average stays */
	u32 est_single;			/* 6.8: an estimate is one value */
	u32 est_held;			/* 6.8 - 6.16: util_avg above capacity_orig does not lower it */
	u32 est_early;			/* 6.12 - 7.0.13, 7.1 - 7.1.4: made before the averages are updated */

	/* load tracking */
	u32 sums;			/* enum policy_sums_rule */
	u32 aggregate;			/* enum policy_aggregate_rule */
	u32 same_weight_ends;		/* 7.3: reweight to the same weight changes nothing */
	u32 uclamp_factor;		/* an upper clamp rises to the share of others in the queue (2025) */
	u32 cap_margin;			/* utilization beyond the clamped sum that makes a CPU capped */

	/* domains */
	u32 cache_pct;			/* imbalance_pct of a cache ... */
	u32 package_pct;		/* ... and of what lies above */
	u32 asym_partial;		/* 5.14: a domain with some of the capacities is asymmetric, too */
	u32 cluster_level;		/* 5.16: clusters are a level */
	u32 shared_by_asym;		/* 7.2: an asymmetric domain has the search state, not the LLC */
	u32 unlike_spread;		/* 7.3: tasks are spread over groups of unlike CPUs too */
};

/*
 * Reads a rule that only features set; without features it is 0. The host's core
 * is compiled a second time with POLICY_PLAIN, for schedulers without features:
 * there the compiler removes the code of all features.
 */
#ifdef POLICY_PLAIN
#define POLICY_FEATURE_RULE(k, rule)	((void)(k), 0)
#else
#define POLICY_FEATURE_RULE(k, rule)	((k)->rule)
#endif

#endif
