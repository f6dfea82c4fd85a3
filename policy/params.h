/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - what a scheduler is: its features, the rules of its base kernel
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

/* What a CPU that runs SCHED_IDLE only is worth (policy_params.sched_idle). */
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
	ASYM_CORES,			/* 7.2: and its core be idle, within a budget */
	ASYM_FIRST,			/* 5.7: the first that fits the clamped estimate */
};

/* What makes a busy CPU acceptable (policy_params.room). */
enum policy_room_rule {
	ROOM_NONE,			/* nothing */
	ROOM_SPARE,			/* the previous CPU, if enough of its capacity is not spoken for */
	ROOM_ALMOST_IDLE,		/* the previous CPU, if hardly loaded */
	ROOM_FITS,			/* target, previous, recent CPU, if the wakee fits beside the others */
};

/* How tasks are packed on few power domains (policy_params.pack). */
enum policy_pack_rule {
	PACK_NONE,			/* not at all */
	PACK_DEFAULT,			/* light tasks, on the buddy of their CPU */
	PACK_FULL,			/* and all others, on as few CPUs as their activity needs */
};

/* What it means to fit a CPU (policy_params.fit). */
enum policy_fit_rule {
	FIT_CLAMPED,			/* 5.6 - 6.0, their last updates apart: the clamped estimate */
	FIT_PLAIN,			/* up to 5.5: the estimate */
	FIT_CLAMPS,			/* 6.1: estimate and clamps each for itself (util_fits_cpu) */
	FIT_CLAMPS_ALL,			/* 5.10.262, 5.15.215: the same as a yes or no (util_fits_cpu) */
};

/* What limits leave of a CPU's capacity (policy_params.pressure). */
enum policy_pressure_rule {
	PRESSURE_NONE,			/* up to 5.6 */
	PRESSURE_THERMAL,		/* 5.7 - 6.9: the present thermal pressure */
	PRESSURE_AVERAGE,		/* 6.10: average hardware pressure, or the frequency limit */
};

/* How a wakeup saves energy (policy_params.eas). */
enum policy_eas_rule {
	EAS_NONE,			/* up to 4.20 */
	EAS_SIXTEENTH,			/* 5.0 - 5.10: must save a 16th of all energy */
	EAS_DELTA,			/* 6.0: any less than on the previous CPU */
	EAS_SIXTEENTH_OF_SOME,		/* 5.15: a 16th of what sets with a candidate cost */
};

/* Does the wait for a CPU count as utilization (policy_params.util_boost)? */
enum policy_boost_rule {
	BOOST_NONE,			/* up to 6.4 */
	BOOST_QUEUE,			/* 6.5: the queue's runnable_avg, wakee or not */
	BOOST_TASK,			/* 6.12 (.118): with the wakee moved */
};

/* What performance a utilization asks for (policy_params.performance). */
enum policy_performance_rule {
	PERFORMANCE_FREQUENCY,		/* 5.0 - 5.10: a quarter more frequency */
	PERFORMANCE_UTIL,		/* 5.11 - 6.7: a quarter more of the clamped utilization */
	PERFORMANCE_CLAMPED,		/* 6.8: a quarter more, clamped then */
};

/* In which unit the energy model has power (policy_params.em_power). */
enum policy_em_power_rule {
	POWER_UW,			/* 6.0: uW */
	POWER_MW,			/* 5.0 - 5.9: whole mW */
	POWER_MW_SCALED,		/* 5.10.262, 5.15.215: whole mW, times 1000 (em_scale_power) */
};

/*
 * What becomes of a queue's sums when signals leave it (policy_params.sums).
 * They may not fall below what its averages stand for, average * PELT_MIN_DIVIDER.
 */
enum policy_sums_rule {
	SUMS_BOUNDED,			/* just that */
	SUMS_FREE,			/* 5.4: no bound */
	SUMS_CUT,			/* 6.1 - 6.18: taken in 32 bits, to which the sums are cut */
	SUMS_BOUNDED_JOIN,		/* 7.0: holds for the load too when load joins */
	/* These come last (policy_sums_are_averaged): */
	SUMS_AVERAGED,			/* 5.15.215: what is left of the average, times the divider */
	SUMS_AVERAGED_BUT_LOAD,		/* 5.10.262: the same, but a task takes its own sum of load */
};

/* How a queue is treated by the clamps of its tasks (policy_params.aggregate). */
enum policy_aggregate_rule {
	AGGREGATE_MAX,			/* 5.3: by the largest of them */
	AGGREGATE_SUM,			/* uclamp-sum: clamped utilizations add up (RFC, 2023) */
	AGGREGATE_SUM_AT_ONCE,		/* and come and go with a migrating task (RFC v2, 2024) */
	AGGREGATE_BIAS,			/* what clamping changes adds up, util_avg stays (2024) */
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
 * What a scheduler is: the rules of its base kernel, its features, their
 * tunables. Read-only while it runs: BPF places it in .rodata, so that the
 * verifier removes the branches that a scheduler does not have. A rule names
 * the kernels that have it; scheduler.rs says which base has which.
 */
struct policy_params {
	u64 features;			/* FEATURE_* */
	u32 wake_cap;			/* 4.7 - 5.6: small CPUs refuse big tasks, BALANCE_WAKE below asymmetry */
	u32 sis_prop;			/* 4.13 - 5.19: scan budget by idle time */
	u32 sched_idle;			/* enum policy_sched_idle_rule */
	u32 idlest_load_inverted;	/* 5.5 - 5.6: avg_load left 0 for busy groups */
	u32 est_lsb;			/* 4.17 - 5.12: an estimate always has bit 0 set */
	u32 scan_cpu_ns;		/* time one scanned CPU takes, feeds avg_scan_cost */
	u32 idlest_weight_unset;	/* 5.5: groups compared at fork, exec, slow wakeup weigh 0 CPUs */
	u32 fork_util_inflated;		/* 4.7 - 6.9: the share of a new task counts 1024 times */

	/* before the search */
	u32 wake_wide;			/* 3.12: wakers of many do not pull */
	u32 current_cpu;		/* 6.6: a waker may ask for its own CPU */
	u32 eas;			/* enum policy_eas_rule */
	u32 load;			/* enum policy_load_rule */
	u32 affine_balanced;		/* up to 4.13: pull if that balances loads, idle or not */
	u32 affine_prev_idle;		/* 5.11: an idle previous CPU is the target whatever the loads */
	u32 exit_is_sync;		/* up to 4.13: an exiting waker counts as one that will sleep */
	u32 delayed_dequeue;		/* 6.12: sleepers may stay queued, and do not count as running */
	u32 walk_all;			/* up to 4.15: the walk over domains goes on without the flag ... */
	u32 search_if_affine;		/* ... and only a wakeup that may pull looks for an idle CPU */

	/* the search */
	u32 sibling;			/* enum policy_sibling_rule */
	u32 recent_none;		/* up to 4.14: no recently used CPU */
	u32 recent_always;		/* 5.13: each search makes the previous CPU the recent one */
	u32 recent_by_prev;		/* 5.13 - 5.19: and asks whether the task may use that one */
	u32 kthread_stacks;		/* 5.6: what a per-CPU kthread wakes may join it */
	u32 sis_util;			/* 5.19: scan budget by utilization */
	u32 cluster_scan;		/* 6.7: the target's cluster before the rest of the LLC */
	u32 empty_scan_tells_nothing;	/* 7.1: no idle core found does not mean none if none is allowed */
	u32 smt_beyond_domain;		/* up to 5.5, and 6.5: threads of a core count outside the domain too */
	u32 lean_scan;			/* 5.6: no budget goes to forbidden CPUs, a busy thread ends the look at a core */
	u32 scan_needs_llc;		/* up to 5.19: the waker's CPU must share a cache, too */
	u32 asym;			/* enum policy_asym_rule */
	u32 asym_from_next;		/* 6.5: the scan for a CPU that fits begins after the target */
	u32 asym_at_once;		/* that scan answers alone, before any single candidate */
	u32 asym_hog;			/* who fits nowhere takes the first idle CPU of the largest capacity_orig */
	u32 bias_prev;			/* the previous CPU is tried first, and answers if nothing is idle */
	u32 room;			/* enum policy_room_rule */
	u32 bias_spare;			/* capacity that ROOM_SPARE wants free, of 1024 */
	u32 pack;			/* enum policy_pack_rule */
	u32 pack_pelt;			/* by the signals of Linux 4.x and later, not those of 2013 */
	u32 pack_at_wake;		/* a task is light by its load at the wakeup, not when it fell asleep */
	u32 pack_light;			/* below this share of a CPU, in percent, a task is light */
	u32 pack_level;			/* full: how full CPUs are to be, in percent; 0: all take part */
	u32 pack_by_level;		/* full: a CPU above that asks for help, a new task needs no idle CPU (v5) */
	u32 sched_idle_balance;		/* 5.7: for balancing, a CPU that runs SCHED_IDLE only is idle */
	u32 fit;			/* enum policy_fit_rule */
	u32 pressure;			/* enum policy_pressure_rule */

	/* energy */
	u32 util_boost;			/* enum policy_boost_rule */
	u32 performance;		/* enum policy_performance_rule */
	u32 state_by_performance;	/* 6.9: an operating point is chosen by performance, not frequency */
	u32 skip_inefficient;		/* 5.16: never one that costs no less than a faster one */
	u32 em_power;			/* enum policy_em_power_rule */

	/* fork and exec */
	u32 idlest;			/* enum policy_idlest_rule */
	u32 idlest_tie_util;		/* 5.7: of as many idle CPUs the less used group */
	u32 idlest_runnable;		/* 5.7: waiting tasks make a group full */
	u32 idlest_misfit_cpus;		/* 5.7: a group is a misfit if no CPU of it fits */
	u32 idlest_numa_imbalance;	/* enum policy_idlest_numa_rule */
	u32 idlest_allowed_only;	/* 6.12, stable 5.10 to 6.1: CPUs outside the affinity do not count */
	u32 idlest_eas_spares;		/* 7.1: no group is overloaded while there is an energy model */

	/* utilization estimate */
	u32 est_none;			/* up to 4.16: none */
	u32 est_slow_up;		/* 4.17 - 5.4: an estimate rises by quarters too */
	u32 est_keeps_last;		/* 5.13 - 6.7: the last activation is kept when the average stays */
	u32 est_single;			/* 6.8: an estimate is one value */
	u32 est_held;			/* 6.8 - 6.16: utilization above the CPU's capacity lowers no such value */
	u32 est_early;			/* 6.12 - 7.0.13, 7.1 - 7.1.4: made before the averages are brought up to date */

	/* load tracking */
	u32 sums;			/* enum policy_sums_rule */
	u32 aggregate;			/* enum policy_aggregate_rule */
	u32 same_weight_ends;		/* 7.3: a weight that is the same already changes no load */
	u32 uclamp_factor;		/* an upper clamp yields to what others of the queue get (2025) */
	u32 cap_margin;			/* utilization beyond the clamped sum that makes a CPU capped */

	/* domains */
	u32 cache_pct;			/* imbalance_pct of a cache ... */
	u32 package_pct;		/* ... and of what lies above */
	u32 asym_partial;		/* 5.14: a domain of two capacities is asymmetric, if not of all */
	u32 cluster_level;		/* 5.16: clusters are a level */
	u32 shared_by_asym;		/* 7.2: an asymmetric domain has the search state, not the LLC */
	u32 unlike_spread;		/* 7.3: tasks are spread over groups of unlike CPUs too */
};

/*
 * A rule that features alone set: 0 without. The host's core is compiled a second
 * time with POLICY_PLAIN, where none can be on and the compiler leaves out what
 * they would do; that core serves schedulers without features.
 */
#ifdef POLICY_PLAIN
#define POLICY_FEATURE_RULE(k, rule)	((void)(k), 0)
#else
#define POLICY_FEATURE_RULE(k, rule)	((k)->rule)
#endif

#endif
