/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - the statistics of the scheduler, per CPU
 *
 * They are written without atomics: those of decisions by the CPU that decides, with
 * interrupts off; the others with the CPU's runqueue locked, except what its timers
 * count (timed). The loader maps the memory and reads it at any time. All counts grow
 * from the load of the scheduler on. Names are those that the loader prints.
 */
#ifndef ALIGHT_LIVE_STATS_H
#define ALIGHT_LIVE_STATS_H

#include "machine.h"
#include "policy/mask.h"

#define STATS_STEPS		64	/* enum policy_step has fewer */
#define STATS_SCANS		11	/* 1024 CPUs are the most */
#define STATS_DELAYS		40	/* 2^39 ns are 9 minutes, beyond the watchdog's 30 s */

/* Where a task runs next to where it ran last. */
enum moved {
	MOVED_CORE,		/* another thread of the same core */
	MOVED_CACHE,		/* another core at the same last-level cache */
	MOVED_NODE,		/* another cache of the same memory node */
	MOVED_FAR,		/* another memory node */
	MOVED_LEVELS,
};

struct cpu_stats {
	/* Decisions for a waking or new task, made on this CPU. */
	u64 decisions;
	u64 lost;			/* made, but not recorded: the buffer was full */
	u64 steps[STATS_STEPS];		/* by the step that answered: enum policy_step */
	u64 found_idle;			/* the answer was idle, or ran SCHED_IDLE tasks only */
	u64 scanned;			/* CPUs looked at */
	u64 scans[STATS_SCANS];		/* decisions by log2 of CPUs looked at; 0: none or one */

	/* Tasks that started to run on this CPU. */
	u64 runs;
	u64 delay_ns;			/* time from runnable to running */
	u64 delay_max_ns;
	u64 delays[STATS_DELAYS];	/* runs by log2 of it */
	u64 moved[MOVED_LEVELS];	/* ran elsewhere before, by distance */

	/* How these tasks came here. */
	u64 direct;			/* started at once, not queued: the CPU was idle */
	u64 queued;			/* ordered by deadline into the CPU's queue */
	u64 patient;			/* queued by age, too light to be served by deadline in time */
	u64 preempted_idle;		/* a SCHED_IDLE task was preempted for it */
	u64 preempted;			/* another task was, by an earlier deadline */
	u64 pulled_idle;		/* taken from another CPU's queue, for lack of work */
	u64 pulled_balance;		/* taken from a busier CPU's queue at a tick */
	u64 misfit;			/* sent to a bigger CPU while it ran */
	u64 spread;			/* idle CPUs given work of this one, where tasks wait */
	u64 packed;			/* moved to a CPU that takes part in packing */
	u64 yields;
	u64 timed;			/* turns that a timer on this CPU ended, because a task waited */
	u64 reminded;			/* kicks, because it idled though a task had waited for long */
};

struct cpu_stats stats[POLICY_MAX_CPUS];

static __always_inline struct cpu_stats *stats_of(u32 cpu)
{
	return &stats[policy_bound(cpu, POLICY_MAX_CPUS)];
}

/* The highest bit of a number with all lower bits set, by six bits of a product (de Bruijn). */
#define LOG2_PRODUCT	0x03f6eaf2cd271461ull
static const u8 log2_table[64] = {
	0, 58, 1, 59, 47, 53, 2, 60, 39, 48, 27, 54, 33, 42, 3, 61,
	51, 37, 40, 49, 18, 28, 20, 55, 30, 34, 11, 43, 14, 22, 4, 62,
	57, 46, 52, 38, 26, 32, 41, 50, 36, 17, 19, 29, 10, 13, 21, 56,
	45, 25, 31, 35, 16, 9, 12, 44, 24, 15, 8, 23, 7, 6, 5, 63,
};

/* The place of @value in a histogram of @buckets by powers of two. */
static __always_inline u32 log2_bucket(u64 value, u32 buckets)
{
	u32 log;

	value |= value >> 1;
	value |= value >> 2;
	value |= value >> 4;
	value |= value >> 8;
	value |= value >> 16;
	value |= value >> 32;
	log = value ? log2_table[value * LOG2_PRODUCT >> 58] : 0;
	return log < buckets ? log : buckets - 1;
}

/* A decision with @answer was made on @cpu. */
static __noinline int count_decision(u32 cpu, const struct policy_answer *answer)
{
	struct cpu_stats *s = stats_of(cpu);
	u32 scanned = answer->looked_near + answer->looked_far, bucket;

	s->decisions++;
	s->steps[policy_bound(answer->step, STATS_STEPS)]++;
	s->found_idle += !!answer->found_idle;
	s->scanned += scanned;
	bucket = log2_bucket(scanned, STATS_SCANS);
	if (bucket < STATS_SCANS)
		s->scans[bucket]++;
	return 0;
}

/* A task that waited for @delay ns starts on @cpu. */
static __always_inline void count_run(u32 cpu, u64 delay)
{
	struct cpu_stats *s = stats_of(cpu);
	u32 bucket = log2_bucket(delay, STATS_DELAYS);

	s->runs++;
	s->delay_ns += delay;
	if (delay > s->delay_max_ns)
		s->delay_max_ns = delay;
	if (bucket < STATS_DELAYS)
		s->delays[bucket]++;
}

/* It ran on @from before. */
static __always_inline void count_move(u32 cpu, u32 from)
{
	const struct policy_place *here = &places[policy_bound(cpu, POLICY_MAX_CPUS)];
	const struct policy_place *there = &places[policy_bound(from, POLICY_MAX_CPUS)];
	enum moved distance = MOVED_FAR;

	if (here->smt_domain != POLICY_NONE && here->smt_domain == there->smt_domain)
		distance = MOVED_CORE;
	else if (here->llc == there->llc)
		distance = MOVED_CACHE;
	else if (here->node == there->node)
		distance = MOVED_NODE;
	stats_of(cpu)->moved[distance]++;
}

#endif
