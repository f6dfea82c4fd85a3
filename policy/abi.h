/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi.h - the structures and numbers that the policy shares with its callers
 *
 * A world (the simulator, a live scheduler) keeps the views of tasks, CPUs and
 * the machine up to date in place. The policy reads them, and writes only what
 * the kernel's own wakeup path writes: the wakee's signals, the waker's flips,
 * recent CPUs, the idle-core flag and the scan cost. The input of a decision is
 * a struct policy_ctx, its result a struct policy_answer.
 *
 * Rust has the same structures in crates/policy/src/abi.rs, and a test compares
 * them field by field. The rules of a scheduler are in params.h.
 *
 * The files of this directory build for the host and for BPF: no libc, no
 * allocation, no recursion, no floating point, no unbounded loop, no division
 * by a value that can be 0, no shift by the operand's width or more. Functions,
 * structures and macros with arguments have the prefix policy_, so that the files
 * compile beside vmlinux.h; after the prefix most have the kernel's name.
 *
 * Units: time in ns; utilization and capacity in 1/1024 of the biggest CPU at
 * its top frequency; load in units of nice-0 weight 1024.
 */
#ifndef ALIGHT_ABI_H
#define ALIGHT_ABI_H

#include "types.h"

/* Limits. They are powers of two, so that in BPF a mask bounds an index (policy_bound). */
#define POLICY_MAX_CPUS		1024
#define POLICY_MASK_WORDS	(POLICY_MAX_CPUS / 64)
#define POLICY_MAX_LEVELS	8	/* domains above one CPU */
#define POLICY_MAX_DOMAINS	2048	/* a tree over 1024 CPUs */
#define POLICY_MAX_GROUPS	4096	/* children of all domains */
#define POLICY_MAX_PERF_DOMAINS	16	/* sets of CPUs that share a frequency, for EAS */
#define POLICY_MAX_PERF_STATES	64	/* operating points of one such set */

#define POLICY_NONE		0xffffffffu	/* no CPU, domain, group, task */
#define CAPACITY_SCALE		1024u

struct policy_mask {
	u64 w[POLICY_MASK_WORDS];
};

/* One set of PELT signals (struct sched_avg). */
struct policy_pelt {
	u64 last_update_time;		/* PELT time of the last update */
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib;		/* units elapsed in the open period, 0..1023 */
	u32 load_avg;
	u32 runnable_avg;
	u32 util_avg;
	s32 uclamp;		/* uclamp-sum: clamped util_avg, or its difference to util_avg (uclamp_sum.h) */
};

/* Load tracking of Linux 3.8 to 3.11 (struct sched_avg there). */
struct policy_pelt13 {
	u64 last_runnable_update;
	u32 runnable_avg_sum;
	u32 runnable_avg_period;
};

enum policy_class {
	POLICY_NORMAL,
	POLICY_BATCH,
	POLICY_IDLE,		/* SCHED_IDLE */
};

#define TASK_EXITING		(1u << 0)	/* PF_EXITING */
#define TASK_EST_UNCHANGED	(1u << 1)	/* UTIL_AVG_UNCHANGED: no update since util_est was stored */
#define TASK_ON_RQ		(1u << 2)
#define TASK_KTHREAD		(1u << 3)	/* PF_KTHREAD */
#define TASK_JUST_ATTACHED	(1u << 4)	/* uclamp-sum: its signals joined the queue at this enqueue */

/* What a policy may know of a task. */
struct policy_task {
	struct policy_pelt pelt;
	struct policy_pelt13 pelt13;
	u64 wakee_flip_decay_ts;	/* when wakee_flips was halved last */
	u32 wakee_flips;		/* how often it woke a task other than last_wakee */
	u32 last_wakee;			/* id of the task woken last */
	u32 id;
	u32 weight;			/* 1024 at nice 0 */
	u32 util_est_enqueued;		/* util_est: utilization at the last sleep; 6.8 and later: 0 */
	u32 util_est_ewma;		/* util_est: moving average; 6.8 and later: the whole estimate */
	u32 uclamp_min;			/* effective clamps, 0..1024: request, group and system limits */
	u32 uclamp_max;
	u32 prev_cpu;			/* CPU it ran on last (task_cpu) */
	u32 recent_used_cpu;
	u32 nr_cpus_allowed;
	u32 class;			/* enum policy_class */
	u32 flags;			/* TASK_* */
	u32 util_est_uclamp;		/* uclamp-sum: util_est within the clamps */
};

/* What a policy may know of a CPU's runqueue. Fields that every search reads come first. */
struct policy_cpu {
	u8 curr_is_idle;		/* the idle task is current */
	u8 ttwu_pending;		/* a remote wakeup is on its way (wake list) */
	u8 offline;
	u8 uclamp_idle;			/* UCLAMP_FLAG_IDLE: no clamped task queued, clamps are stale */
	u32 nr_running;			/* all classes, current included */
	u32 h_nr_running;		/* fair tasks, current included */
	u32 h_nr_idle;			/* SCHED_IDLE ones among them */
	u32 weight;			/* sum of weights queued, current included */
	u32 util_est_enqueued;		/* sum of util_est of runnable tasks */
	u32 capacity_orig;
	u32 capacity;			/* left for the fair class, >= 1 */
	u32 freq_scale;			/* current / top frequency, 1024 = top */
	u32 exit_latency;		/* of the idle state it is in, ns; POLICY_NONE if unknown */
	u64 clock;			/* rq clock */
	u64 clock_pelt;			/* scaled by capacity and frequency */
	u64 lost_idle_time;
	struct policy_pelt cfs;		/* root cfs_rq */
	u64 idle_stamp;			/* when it went idle, 0 while busy */
	u64 avg_idle;			/* mean idle length, the newidle and scan budget */
	u64 avg_scan_cost;		/* of its LLC domain */
	u32 removed_util;		/* what left by wake migration, subtracted at the next update */
	u32 removed_load;
	u32 removed_runnable;
	u32 runnable_load_avg;		/* of the queued tasks, up to 5.6 */
	struct policy_pelt13 pelt13;
	/* Other classes, limits and clamps, for capacity tests and EAS. Unit as capacity_orig. */
	u16 rt_nr_running;
	u16 h_nr_delayed;		/* asleep, but still queued (delayed dequeue, 6.12) */
	u16 rt_util;			/* avg_rt.util_avg */
	u16 dl_util;			/* avg_dl.util_avg */
	u16 irq_util;			/* avg_irq.util_avg */
	u16 dl_bandwidth;		/* cpu_bw_dl() */
	u16 hw_pressure;		/* capacity taken now: arch_scale_{thermal,hw}_pressure() */
	u16 hw_load_avg;		/* its average: {thermal,hw}_load_avg() */
	u16 cpufreq_pressure;		/* capacity above the cpufreq policy's top frequency, 6.10 */
	u16 uclamp_min;			/* clamps of the queue: the largest of its tasks' */
	u16 uclamp_max;
	u16 removed_nr;			/* 1: a task left by wake migration, even if its averages are 0 */
	u32 buddy;			/* pack: the CPU to pack on, itself if it takes part; POLICY_NONE: none */
	u32 max_uclamp_factor_owner;	/* uclamp-sum: id of the task with max_uclamp_factor, or POLICY_NONE */
	/* uclamp-sum; cfs.uclamp is the sum over the queued tasks */
	u64 max_uclamp_factor;		/* largest clamped utilization per weight */
	u32 root_cfs_util_uclamp;	/* the sum, which falls as PELT decays */
	u32 root_cfs_util_uclamp_removed;	/* the part of it that left by wake migration */
	u32 util_est_uclamp;		/* sum of util_est_uclamp of runnable tasks */
	u16 capacity_inverted;		/* 5.10.262, 5.15.215: capacity under limits if a smaller CPU has more, else 0 */
	u16 unused;
};

/* Flags of a domain (SD_*). */
#define DOMAIN_WAKE_AFFINE	(1u << 0)
#define DOMAIN_BALANCE_WAKE	(1u << 1)
#define DOMAIN_BALANCE_FORK	(1u << 2)
#define DOMAIN_BALANCE_EXEC	(1u << 3)
#define DOMAIN_NEWIDLE		(1u << 4)
#define DOMAIN_SHARE_LLC	(1u << 5)	/* SD_SHARE_PKG_RESOURCES */
#define DOMAIN_SMT		(1u << 6)	/* SD_SHARE_CPUCAPACITY */
#define DOMAIN_ASYM		(1u << 7)	/* SD_ASYM_CPUCAPACITY */
#define DOMAIN_PREFER_SIBLING	(1u << 8)
#define DOMAIN_NUMA		(1u << 9)
#define DOMAIN_CLUSTER		(1u << 10)	/* SD_CLUSTER: CPUs that share an L2 or an L3 tag */
#define DOMAIN_ASYM_FULL	(1u << 11)	/* SD_ASYM_CPUCAPACITY_FULL: it has CPUs of all capacities */
#define DOMAIN_SHARE_POWERDOMAIN (1u << 12)	/* its groups cannot be power gated independently */
#define DOMAIN_ASYM_PACKING	(1u << 13)	/* SD_ASYM_PACKING: balancing follows the priorities of its CPUs */

/* A scheduling domain, shared by the CPUs whose domain has this span. */
struct policy_domain {
	struct policy_mask span;
	u32 flags;			/* DOMAIN_* */
	u32 weight;			/* CPUs in the span */
	u32 imbalance_pct;
	u32 first_group;		/* its groups: a contiguous run, in CPU order */
	u32 nr_groups;
	u32 llc;			/* number of its LLC if it is the domain of one, else POLICY_NONE */
	u32 imb_numa_nr;		/* tasks a node may run before they spread, 5.18 */
	u32 unused;
};

/* A group of a domain: a child domain or a single CPU. */
struct policy_group {
	u32 child;			/* domain, or POLICY_NONE: the single CPU */
	u32 cpu;			/* its first CPU */
	u32 weight;			/* CPUs */
	u32 capacity;			/* sum of the CPUs' capacity (sgc) */
	u32 min_capacity;
	u32 max_capacity;
	u32 imbalance;			/* a lower level failed because of affinity */
	u32 unused;
};

/* Where a CPU sits. */
struct policy_place {
	u32 llc;			/* equal for CPUs that share a cache (cpus_share_cache) */
	u32 llc_domain;			/* sd_llc, POLICY_NONE if it has none */
	u32 asym_domain;		/* sd_asym_cpucapacity, or POLICY_NONE */
	u32 smt_domain;			/* its core if it has SMT siblings, else POLICY_NONE */
	u32 shared;			/* index of the policy_llc of its searches (sd_balance_shared) */
	u32 share;			/* equal for CPUs of a cluster, else of an LLC (cpus_share_resources) */
	u32 cluster_domain;		/* its cluster inside the LLC, or POLICY_NONE */
	u32 node;
	u32 nr_domains;
	u32 domain[POLICY_MAX_LEVELS];	/* small to large */
	u32 group[POLICY_MAX_LEVELS];	/* its own group in each */
};

/* State shared by the CPUs of one LLC, or in 7.2 of one asymmetric domain (sched_domain_shared). */
struct policy_llc {
	u32 has_idle_cores;
	u32 nr_busy;
	u32 nr_idle_scan;		/* CPUs that a scan may look at, by utilization (SIS_UTIL) */
	u32 unused;
};

/* Facts of the root domain. */
struct policy_topology {
	u32 nr_cpus;			/* 1..POLICY_MAX_CPUS */
	u32 nr_domains;
	u32 nr_groups;
	u32 max_capacity;		/* biggest capacity_orig */
	u32 asym;			/* CPUs differ in capacity (sched_asym_cpucapacity) */
	u32 smt;			/* some core has more than one thread */
	u32 cluster;			/* some LLC consists of clusters (sched_cluster_active) */
	u32 unused;
};

#define STATE_INEFFICIENT	(1u << 0)	/* EM_PERF_STATE_INEFFICIENT: a faster one costs no more */

/* One operating point of a performance domain (em_perf_state). */
struct policy_perf_state {
	u64 cost;			/* energy per unit of utilization, in the unit of the base */
	u32 performance;		/* capacity at this point, 1..1024 */
	u32 frequency;			/* kHz */
	u32 flags;			/* STATE_* */
	u32 unused;
};

/*
 * CPUs that share a frequency, with the cost of their operating points. The
 * domains are in the order of the kernel's list, which begins with the one that
 * build_perf_domains() adds last. Of equally cheap CPUs, that of the first wins.
 */
struct policy_perf_domain {
	struct policy_mask span;
	u32 nr_states;			/* 1..POLICY_MAX_PERF_STATES, rising in performance */
	u32 first_state;		/* lowest and highest that the frequency limits allow */
	u32 last_state;
	u32 unused;
	struct policy_perf_state state[POLICY_MAX_PERF_STATES];
};

/* The state of the root domain that changes at run time. */
struct policy_root {
	u32 overutilized;		/* some CPU is overutilized: EAS is not used */
	u32 uclamp_used;		/* a clamp has been requested (sched_uclamp_used) */
};

/* The step of the search that gave the answer. */
enum policy_step {
	STEP_NONE,
	STEP_PINNED,			/* affinity leaves one CPU */
	STEP_TARGET_IDLE,		/* idle_sibling 1: target idle */
	STEP_PREV_IDLE,			/* idle_sibling 2: previous CPU idle, same LLC */
	STEP_RECENT_IDLE,		/* idle_sibling 4: recently used CPU idle */
	STEP_IDLE_CORE,			/* a whole core idle */
	STEP_LLC_SCAN,			/* an idle CPU of the LLC */
	STEP_SMT_SCAN,			/* an idle sibling of the target */
	STEP_TARGET_BUSY,		/* nothing idle found: the target */
	STEP_ASYM_FITS,			/* asym scan: idle and the task fits */
	STEP_ASYM_BIGGEST,		/* asym scan: idle, fits nowhere, biggest capacity */
	STEP_ASYM_TARGET,		/* asym scan: nothing idle, the target */
	STEP_SLOW_IDLE,			/* slow path: shallowest idle CPU of the idlest group */
	STEP_SLOW_SCHED_IDLE,		/* slow path: a sched_idle CPU */
	STEP_SLOW_LEAST_LOADED,		/* slow path: least loaded CPU */
	STEP_SLOW_LOCAL,		/* slow path: no better group, stay with this CPU */
	STEP_SLOW_PREV,			/* slow path: the domain holds no allowed CPU */
	STEP_NO_SEARCH,			/* fork or exec without a balancing domain: previous CPU */
	STEP_FALLBACK,			/* the search ended outside the affinity: an allowed CPU */
	STEP_CURRENT_CPU,		/* the waker asked for its own CPU (WF_CURRENT_CPU) */
	STEP_KTHREAD_PREV,		/* idle_sibling 3: woken by a kthread of the previous CPU */
	STEP_PREV_SMT,			/* an idle sibling of the previous CPU */
	STEP_CLUSTER_SCAN,		/* an idle CPU of the target's cluster */
	STEP_PREV_FAR,			/* nothing else idle: previous CPU, idle in another cluster */
	STEP_RECENT_FAR,		/* nothing else idle: recent CPU, idle in another cluster */
	STEP_IDLE_GROUP,		/* up to 4.7: a group of the LLC whose CPUs are all idle */
	STEP_ASYM_MIN_CLAMP,		/* asym scan: fits but for its lower clamp */
	STEP_EAS_PREV,			/* EAS: nothing saves energy, the previous CPU */
	STEP_EAS_SAVES,			/* EAS: least energy */
	STEP_EAS_FITS,			/* EAS: meets more of the task's need than the previous CPU */
	STEP_BIAS_PREV,			/* bias-prev: the previous CPU, idle or with capacity to spare */
	STEP_BIAS_ROOM,			/* bias-prev: busy, but nearly idle or with room for the wakee */
	STEP_BIAS_LAST,			/* bias-prev: nothing is idle, the previous CPU */
	STEP_PACK_BUDDY,		/* pack: a light task, its CPU's buddy is not busy */
	STEP_PACK_FULL,			/* pack: the buddy, which is not full */
	STEP_PACK_NEAR,			/* pack: a new task, an idle CPU near the buddy */
	POLICY_NR_STEPS,
};

/* How the target of the search was chosen. */
enum policy_affine {
	/* No choice between the two CPUs: */
	AFFINE_NONE,			/* not asked, or no domain spans both CPUs */
	AFFINE_WIDE,			/* refused: the waker wakes too many (wake_wide) */
	AFFINE_WAKE_CAP,			/* refused: too small a CPU for the task (wake_cap) */
	AFFINE_NOT_ALLOWED,		/* refused: the waking CPU is not allowed */
	/* A choice: */
	AFFINE_SAME,			/* waking CPU and previous CPU are the same */
	AFFINE_THIS_IDLE,		/* waking CPU idle and cache shared */
	AFFINE_PREV_IDLE,		/* as above, but the previous CPU is idle too */
	AFFINE_SYNC,			/* the waker is about to sleep */
	AFFINE_WEIGHT_THIS,		/* less load on the waking CPU */
	AFFINE_WEIGHT_PREV,		/* less load on the previous CPU */
	AFFINE_PREV_ALONE,		/* previous CPU idle; waking CPU busy or in another LLC */
	POLICY_NR_AFFINE,
};

/* The verdict on one candidate. */
enum policy_verdict {
	VERDICT_TAKEN,
	VERDICT_NOT_ALLOWED,
	VERDICT_BUSY,
	VERDICT_NOT_SHARED,		/* other LLC than the target */
	VERDICT_TOO_SMALL,		/* idle, but the task does not fit */
	VERDICT_CORE_BUSY,		/* a sibling is busy */
	VERDICT_LATER,			/* acceptable, kept in case nothing better comes */
	VERDICT_LESS_SPARE,		/* EAS: another CPU of its frequency domain has more room */
	VERDICT_MORE_ENERGY,		/* EAS: costs more energy */
	VERDICT_NOT_PACKING,		/* pack: the CPU takes no part, or the wakee is not light */
	POLICY_NR_VERDICTS,
};

/* Answer and reason of one selection. */
struct policy_answer {
	u32 cpu;
	u32 target;			/* where the search began */
	u32 step;			/* enum policy_step */
	u32 affine;			/* enum policy_affine */
	u32 slow;			/* the slow path was taken */
	u32 found_idle;			/* the answer is an idle or sched_idle CPU */
	u32 looked_near;		/* CPUs tested that share the waking CPU's LLC */
	u32 looked_far;			/* CPUs tested elsewhere */
	u32 summed;			/* CPUs summed for group statistics */
	u32 cut;			/* a scan used up its budget */
	u32 verdicts[POLICY_NR_VERDICTS];
};

/* One line of an explanation. */
struct policy_note {
	u32 cpu;
	u32 step;
	u32 verdict;
	u32 value;			/* what was compared: capacity, load or latency */
};

/* A list of notes that explain a decision; used by the host only. */
struct policy_notes {
	struct policy_note *note;
	u32 nr;
	u32 max;
};

enum policy_kind {
	KIND_WAKE = DOMAIN_BALANCE_WAKE,
	KIND_FORK = DOMAIN_BALANCE_FORK,
	KIND_EXEC = DOMAIN_BALANCE_EXEC,
};

#define WAKE_INTERRUPT		(1u << 0)	/* from an interrupt, not by the waker: !in_task() */
#define WAKE_CURRENT_CPU	(1u << 1)	/* WF_CURRENT_CPU, 6.6 */
#define WAKE_PACKED		(1u << 31)	/* search only CPUs that take part in packing (pack.h) */

/* The input of one decision: the task, and all that the policy may read. */
struct policy_ctx {
	const struct policy_params *k;
	const struct policy_topology *topo;
	const struct policy_domain *domain;
	const struct policy_place *place;
	struct policy_group *group;
	struct policy_llc *llc;
	struct policy_cpu *cpu;
	struct policy_task *p;		/* wakee */
	struct policy_task *cur;	/* waker: current task of this_cpu */
	const struct policy_mask *allowed;
	const struct policy_mask *all_allowed;	/* `allowed` as the caller gave it: packing narrows `allowed` */
	const struct policy_perf_domain *perf;	/* nr_perf of them */
	struct policy_scratch *scratch;
	struct policy_answer *answer;
	struct policy_notes *notes;	/* NULL: no explanation wanted */
	u64 now;
	u32 this_cpu;
	u32 prev_cpu;
	u32 kind;			/* enum policy_kind */
	u32 sync;			/* WF_SYNC: the waker says that it will sleep */
	u32 flags;			/* WAKE_* */
	u32 nr_perf;			/* 0: no energy model, or EAS is off */
	struct policy_root root;
};

#endif
