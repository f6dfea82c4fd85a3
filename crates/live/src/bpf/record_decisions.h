/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_decisions.h - one call of select_task_rq_fair() as it is recorded
 *
 * The kernel's own values in the kernel's own units, as they were when the
 * function was entered, and what it returned. A record is a struct wakeup, then
 * nr_cpus CPUs as they were at the entry, then those that had changed at the
 * exit, as they were then; if WAKEUP_DOMAINS is set, zeroes up to 2 * RECORD_CPUS
 * CPUs and the scheduling domains of RECORD_CPUS. Little-endian, whole words of
 * 64 bits, no padding. A field that a kernel does not have is 0, except where said.
 */
#ifndef ALIGHT_LIVE_RECORD_DECISIONS_H
#define ALIGHT_LIVE_RECORD_DECISIONS_H

#include "policy/types.h"

#define RECORD_CPUS	64	/* a mask of CPUs is one word */
#define RECORD_LEVELS	5

struct wakeup_task {
	u64 last_update_time;		/* se.avg */
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib;
	u32 load_avg;
	u32 runnable_avg;
	u32 util_avg;
	u32 util_est;			/* with its flag; up to 6.7 util_est.enqueued */
	u32 util_est_ewma;		/* up to 6.7 */
	u32 weight;			/* se.load.weight, 1024 at nice 0 */
	u64 flip_decay;			/* wakee_flip_decay_ts, jiffies */
	u32 wakee_flips;
	u32 pid;
	s32 recent_used_cpu;
	s32 nr_cpus_allowed;
	u32 policy;
	u32 flags;			/* PF_* */
	u32 on_rq;
	u32 depth;			/* task groups above it */
	u16 uclamp_min;			/* effective if active, else requested */
	u16 uclamp_max;
	u16 uclamp_active;
	u16 unused;
	u64 queue_last_update;		/* of its cfs_rq */
	u64 queue_load_avg;
	u64 h_load;			/* load of its cfs_rq as the root sees it, */
	u64 h_load_stamp;		/* and when that was computed, jiffies */
};

struct wakeup_cpu {
	u8 curr_is_idle;
	u8 ttwu_pending;
	u8 online;
	u8 uclamp_idle;			/* UCLAMP_FLAG_IDLE */
	u16 nr_running;
	u16 h_nr_queued;		/* fair tasks, delayed ones too */
	u16 h_nr_runnable;		/* before 6.13 the same */
	u16 h_nr_idle;
	u16 rt_nr_running;
	u16 nr_idle_scan;		/* of its LLC domain; 65535: not shared */
	u32 load_avg;			/* root cfs_rq */
	u32 runnable_avg;
	u32 util_avg;
	u32 util_est;
	u64 last_update_time;
	u16 capacity;
	u16 capacity_orig;
	u16 rt_util;
	u16 dl_util;
	u16 hw_load_avg;		/* thermal_load_avg() before 6.10 */
	u16 hw_pressure;		/* thermal_pressure before 6.10 */
	u16 cpufreq_pressure;
	u16 dl_bandwidth;
	u16 uclamp_min;
	u16 uclamp_max;
	u32 exit_latency;		/* of the idle state it is in, us; ~0: none */
	u64 idle_stamp;
	/* The last word is not watched for changes: the function itself writes has_idle_cores. */
	u16 asym_idle_scan;		/* nr_idle_scan of the asym domain; 65535: not shared */
	u16 has_idle_cores;
	u32 unused;
};

/* A domain of one CPU, and the group of it that holds the CPU. */
struct wakeup_domain {
	u64 span;			/* 0: no further level */
	u64 group_span;
	u32 flags;
	u32 weight;
	u32 imbalance_pct;
	u32 imb_numa_nr;
	u32 group_weight;
	u32 group_flags;
	u32 capacity;			/* sgc */
	u32 min_capacity;
	u32 max_capacity;
	u32 imbalance;
};

/* struct wakeup, flags */
#define WAKEUP_DOMAINS		(1u << 0)	/* domains are in the record */
#define WAKEUP_SAME_WAKEE	(1u << 1)	/* the waker's last wakee was this one */
#define WAKEUP_OVERUTILIZED	(1u << 2)
#define WAKEUP_UCLAMP_USED	(1u << 3)
#define WAKEUP_ENERGY		(1u << 4)	/* the root domain has performance domains */
#define WAKEUP_SMT		(1u << 5)	/* sched_smt_present */
#define WAKEUP_ASYM		(1u << 6)	/* sched_asym_cpucapacity */
#define WAKEUP_CLUSTER		(1u << 7)	/* sched_cluster_active */
#define WAKEUP_CONTEXT		(1u << 8)	/* the next bit is valid; else see preempt_count, by version */
#define WAKEUP_INTERRUPT	(1u << 9)	/* !in_task(): an interrupt wakes */

struct wakeup {
	u64 clock;			/* ns */
	u64 jiffies;
	u32 this_cpu;
	u32 prev_cpu;
	u32 task_cpu;			/* of the wakee */
	u32 wake_flags;			/* WF_* */
	s32 answer;
	u32 flags;			/* WAKEUP_* */
	u64 allowed;			/* cpus_ptr */
	u64 changed;			/* CPUs that had changed at the exit; they follow */
	u32 nr_cpus;
	u32 llc_size;			/* sd_llc_size of this_cpu */
	u32 preempt_count;		/* says whether an interrupt wakes */
	u16 exit_flags;			/* the flags as they were at the exit */
	u16 exit_ticks;			/* jiffies from the entry to the exit */
	struct wakeup_task wakee;
	struct wakeup_task waker;
	u64 avg_idle;			/* of this_cpu, ns */
	u64 avg_scan_cost;		/* of its LLC domain, ns; up to 6.4 */
};

#endif
