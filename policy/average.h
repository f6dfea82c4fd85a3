/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * average.h - the arithmetic of one set of load-tracking signals (PELT)
 *
 * A signal is a geometric sum over periods of 1024 units (a unit is 1024 ns),
 * halved every 32 periods. All integers equal those of the kernel
 * (kernel/sched/pelt.c of Linux 5.1 and later).
 */
#ifndef ALIGHT_AVERAGE_H
#define ALIGHT_AVERAGE_H

#include "mask.h"
#include "params.h"

#define PELT_PERIOD	1024u
#define LOAD_AVG_MAX	47742u	/* limit of the sum with period weight 1024 */
/* The most that the closed periods contribute. */
#define PELT_MIN_DIVIDER	(LOAD_AVG_MAX - PELT_PERIOD)

/* 2^32 * y^i, y^32 = 1/2 */
static const u32 policy_runnable_avg_yN_inv[32] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb,
	0xdbfbb796, 0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9,
	0xbd08a39e, 0xb8fbaf46, 0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9,
	0xa2704302, 0x9ef5325f, 0x9b8d39b9, 0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a,
	0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
};

/* (v * f) >> 32 in 96 bits */
static __always_inline u64 policy_mul_u64_shr32(u64 v, u64 f)
{
#if defined(__SIZEOF_INT128__) && !defined(__bpf__)
	return (u64)(((unsigned __int128)v * f) >> 32);
#else
	/* v is split so that neither product overflows */
	return (v >> 32) * f + (((v & 0xffffffff) * f) >> 32);
#endif
}

/* v * y^n; 0 once nothing is left. */
static inline u64 policy_decay_load(u64 v, u64 n)
{
	if (n > 2016)
		return 0;
	return policy_mul_u64_shr32(v >> n / 32, policy_runnable_avg_yN_inv[n % 32]);
}

/*
 * Add the time since the last update at load weight @load, with @runnable tasks and
 * @running 0 or 1. Returns how many periods ended; if any did, the averages must be
 * updated. Always inline, because most callers pass constants.
 * kernel: ___update_load_sum()
 */
static __always_inline u64 policy_pelt_update_sum(struct policy_pelt *a, u64 now, u64 load,
						  u64 runnable, u64 running)
{
	s64 passed = (s64)(now - a->last_update_time);
	u64 units, d, n;

	if (passed < 1024) {		/* less than a unit */
		if (passed < 0)
			a->last_update_time = now;
		return 0;
	}
	units = (u64)passed >> 10;
	a->last_update_time += units << 10;		/* the rest of a unit counts next time */
	if (!load)
		runnable = running = 0;

	d = units + a->period_contrib;
	n = d / PELT_PERIOD;
	if (n) {
		/* policy_decay_load() of five values by the same n */
		const u32 left = n <= 2016, shift = left ? n / 32 : 0;
		const u64 f = left ? policy_runnable_avg_yN_inv[n % 32] : 0;

		a->load_sum = policy_mul_u64_shr32(a->load_sum >> shift, f);
		a->runnable_sum = policy_mul_u64_shr32(a->runnable_sum >> shift, f);
		a->util_sum = (u32)(((u64)a->util_sum >> shift) * f >> 32);	/* the shift may be 63 */
		d %= PELT_PERIOD;
		/* the rest of the old period, full ones, the open one */
		units = (((u64)(PELT_PERIOD - a->period_contrib) >> shift) * f >> 32) +
			(LOAD_AVG_MAX - (((u64)LOAD_AVG_MAX >> shift) * f >> 32) - PELT_PERIOD) + d;
	}
	a->period_contrib = (u32)d;
	a->load_sum += load * units;
	a->runnable_sum += (runnable * units) << 10;
	a->util_sum += (u32)((running * units) << 10);
	return n;
}

/* kernel: ___update_load_avg(); the divider is never below PELT_MIN_DIVIDER. */
static __always_inline void policy_pelt_update_avg(struct policy_pelt *a, u64 weight)
{
	u32 div = PELT_MIN_DIVIDER + (a->period_contrib & (PELT_PERIOD - 1));

	a->load_avg = (u32)(weight * a->load_sum / div);
	a->runnable_avg = (u32)(a->runnable_sum / div);
	a->util_avg = a->util_sum / div;
}

static __always_inline u32 policy_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static __always_inline u32 policy_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static __always_inline u32 policy_sub_positive(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

static __always_inline u64 policy_sub_positive_64(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/*
 * The sum of a queue after something left it; @avg is the average that is left.
 * SUMS_CUT is max_t(u32, sum, avg * PELT_MIN_DIVIDER), stored in 64 bits: a queue
 * whose weight is 90000 or more loses most of its load_sum, and a queue of 90 tasks
 * most of its runnable_sum.
 */
static __always_inline u64 policy_pelt_bound_sum(const struct policy_params *k, u64 sum, u32 avg)
{
	u64 least = (u64)avg * PELT_MIN_DIVIDER;

	if (k->sums == SUMS_FREE)
		return sum;
	if (k->sums == SUMS_CUT) {
		sum = (u32)sum;
		least = (u32)least;
	}
	return sum > least ? sum : least;
}

/* Are sums recomputed from the averages that are left (5.10.262, 5.15.215)? */
static __always_inline int policy_sums_are_averaged(const struct policy_params *k)
{
	return k->sums >= SUMS_AVERAGED;
}

/* The sum that @avg stands for, @contrib units into the open period (get_pelt_divider). */
static __always_inline u64 policy_pelt_sum_of(u32 avg, u32 contrib)
{
	return (u64)avg * (PELT_MIN_DIVIDER + contrib);
}

/*
 * Subtract @avg and @sum of load from @q (dequeue_load_avg). @contrib: period_contrib
 * of what leaves, from which SUMS_AVERAGED recomputes the sum.
 */
static __always_inline void policy_dequeue_load_avg(const struct policy_params *k,
						    struct policy_pelt *q, u32 avg, u64 sum,
						    u32 contrib)
{
	q->load_avg = policy_sub_positive(q->load_avg, avg);
	if (policy_sums_are_averaged(k)) {
		q->load_sum = k->sums == SUMS_AVERAGED ? policy_pelt_sum_of(q->load_avg, contrib) :
							 policy_sub_positive_64(q->load_sum, sum);
		return;
	}
	q->load_sum = policy_pelt_bound_sum(k, policy_sub_positive_64(q->load_sum, sum),
					    q->load_avg);
}

/* Add @avg and @sum of load to @q (enqueue_load_avg). */
static __always_inline void policy_enqueue_load_avg(const struct policy_params *k,
						    struct policy_pelt *q, u32 avg, u64 sum)
{
	q->load_avg += avg;
	q->load_sum += sum;
	if (k->sums == SUMS_BOUNDED_JOIN)
		q->load_sum = policy_pelt_bound_sum(k, q->load_sum, q->load_avg);
}

/*
 * Subtract the averages of @gone from @q, and recompute sums from what is left. If a
 * task detaches itself, util_sum is recomputed (detach_entity_load_avg). If it was
 * @removed, load_sum is recomputed, and util_sum loses the sum of @gone down to a bound
 * (update_cfs_rq_load_avg).
 */
policy_noinline void policy_pelt_follow(struct policy_pelt *q, const struct policy_pelt *gone,
					int removed)
{
	u64 least;

	q->runnable_avg = policy_sub_positive(q->runnable_avg, gone->runnable_avg);
	q->runnable_sum = policy_pelt_sum_of(q->runnable_avg, q->period_contrib);
	q->util_avg = policy_sub_positive(q->util_avg, gone->util_avg);
	if (!removed) {
		q->util_sum = (u32)policy_pelt_sum_of(q->util_avg, q->period_contrib);
		return;
	}
	q->load_sum = policy_pelt_sum_of(q->load_avg, q->period_contrib);
	least = (u64)q->util_avg * PELT_MIN_DIVIDER;
	q->util_sum = policy_max(policy_sub_positive(q->util_sum, gone->util_sum), (u32)least);
}

/* Subtract averages and sums of @gone from @q. @removed: it left by wake migration. */
static __always_inline void policy_pelt_subtract(const struct policy_params *k,
						 struct policy_pelt *q,
						 const struct policy_pelt *gone, int removed)
{
	policy_dequeue_load_avg(k, q, gone->load_avg, gone->load_sum, q->period_contrib);
	if (policy_sums_are_averaged(k)) {
		policy_pelt_follow(q, gone, removed);
		return;
	}
	q->runnable_avg = policy_sub_positive(q->runnable_avg, gone->runnable_avg);
	q->runnable_sum = policy_pelt_bound_sum(k,
						policy_sub_positive_64(q->runnable_sum,
								       gone->runnable_sum),
						q->runnable_avg);
	q->util_avg = policy_sub_positive(q->util_avg, gone->util_avg);
	q->util_sum = (u32)policy_pelt_bound_sum(k,
						 policy_sub_positive(q->util_sum, gone->util_sum),
						 q->util_avg);
}

#endif
