/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uclamp_sum.h - feature uclamp-sum: clamped utilizations of a queue's tasks add up
 *
 * "sched: uclamp sum aggregation", RFC, October 2023, on 6.6-rc, its v2 of
 * February 2024, and "uclamp sum aggregation" v2, March 2025. Instead of holding
 * a queue between the largest clamps of its tasks, each task's utilization is
 * clamped by itself, and what the queue needs is the sum. Here is how the sums
 * are kept; what they mean for placement is in uclamp.h and energy_aware.h.
 *
 * The sum itself (AGGREGATE_SUM, AGGREGATE_SUM_AT_ONCE):
 *
 *	task	pelt.uclamp	while queued util_avg within the clamps, set when
 *				util_avg is averaged and when it joins; while not
 *				queued it decays to 0
 *	queue	cfs.uclamp	sum of these over the queued tasks, 0 without any
 *		root_cfs_util_uclamp
 *				the same, but it falls like PELT: over what has left
 *				the queue and is not forgotten yet
 *
 * A task that wakes elsewhere or dies leaves root_cfs_util_uclamp when its old
 * queue is averaged next; with AGGREGATE_SUM_AT_ONCE then and there, and where
 * it comes it adds to root_cfs_util_uclamp.
 *
 * The bias (AGGREGATE_BIAS): PELT itself decays, and only the difference is kept:
 *
 *	task	pelt.uclamp	util_avg within the clamps less util_avg
 *		util_est_uclamp	the estimate within the clamps
 *	queue	cfs.uclamp	sum over the queued tasks
 *		util_est_uclamp	sum over the runnable tasks
 *
 * A negative bias leaves with its task, and would lift the queue: it is taken
 * from util_avg of both instead. With uclamp_factor an upper clamp yields as far
 * as another task of the queue gets more for its weight.
 */
#ifndef ALIGHT_UCLAMP_SUM_H
#define ALIGHT_UCLAMP_SUM_H

#include "average.h"

/* Is anything of this kept? */
static __always_inline int policy_clamps_add_up(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, aggregate) != AGGREGATE_MAX;
}

/* Is it the sum, not the bias? Then it stands for util_avg wherever the kernel has task_util(). */
static __always_inline int policy_clamps_are_summed(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM ||
	       POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM_AT_ONCE;
}

static __always_inline int policy_clamps_are_biases(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_BIAS;
}

/* Utilization as a task's estimate is made of it (task_util). */
static __always_inline u32 policy_task_util(const struct policy_params *k,
					    const struct policy_task *t)
{
	return policy_clamps_are_summed(k) ? (u32)t->pelt.uclamp : t->pelt.util_avg;
}

static __always_inline u32 policy_clamp(u32 value, u32 lo, u32 hi)
{
	if (value < lo)
		value = lo;
	return value < hi ? value : hi;
}

/* PELT decay of @value to @goal over @n periods; it rises at once. */
static inline u32 policy_decay_toward(u32 value, u32 goal, u64 n)
{
	if (value <= goal)
		return goal;
	return n ? goal + (u32)policy_decay_load(value - goal, n) : value;
}

/* The queued task's sum follows its util_avg. */
static inline void policy_update_util_uclamp(struct policy_cpu *rq, struct policy_task *t)
{
	s32 now = (s32)policy_clamp(t->pelt.util_avg, t->uclamp_min, t->uclamp_max);

	rq->cfs.uclamp += now - t->pelt.uclamp;
	t->pelt.uclamp = now;
}

/* What a weight divides by, the kernel's table: 2^32 / weight, rounded (sched_prio_to_wmult). */
static inline u64 policy_inverse_weight(u32 weight)
{
	return ((1ull << 32) + weight / 2) / (weight ? weight : 1);
}

/*
 * The upper clamp that @t may have beside others: not so low that it would get
 * less for its weight than the queue's best does. The kernel takes the weight
 * of the nice value, which for SCHED_IDLE is not what the task runs with.
 */
static inline u32 policy_yielding_max(struct policy_cpu *rq, const struct policy_task *t, u32 hi)
{
	u32 weight = t->class == POLICY_IDLE ? 1024 : t->weight;
	u64 factor = policy_inverse_weight(weight) *
		policy_clamp(t->pelt.util_avg, t->uclamp_min, hi);

	if (rq->max_uclamp_factor_owner == t->id) {
		rq->max_uclamp_factor = factor;
	} else if (factor > rq->max_uclamp_factor) {
		rq->max_uclamp_factor = factor;
		rq->max_uclamp_factor_owner = t->id;
	} else {
		u64 share = (rq->max_uclamp_factor * weight) >> 32;

		return share > hi ? (u32)share : hi;
	}
	return hi;
}

/* The bias follows the task's util_avg (util_bias_update). 1024 is no upper clamp. */
static inline void policy_update_util_bias(const struct policy_params *k, struct policy_cpu *rq,
					   struct policy_task *t)
{
	u32 hi = t->uclamp_max == CAPACITY_SCALE ? ~0u : t->uclamp_max;
	s32 bias;

	if (POLICY_FEATURE_RULE(k, uclamp_factor) && t->flags & TASK_ON_RQ)
		hi = policy_yielding_max(rq, t, hi);
	bias = (s32)(policy_clamp(t->pelt.util_avg, t->uclamp_min, hi) - t->pelt.util_avg);
	if (t->flags & TASK_ON_RQ)
		rq->cfs.uclamp += bias - t->pelt.uclamp;
	t->pelt.uclamp = bias;
}

/* Averages of @t are new after @n periods. */
policy_noinline void policy_clamped_task_follows(const struct policy_params *k,
						 struct policy_cpu *rq, struct policy_task *t,
						 u64 n)
{
	if (policy_clamps_are_biases(k))
		policy_update_util_bias(k, rq, t);
	else if (t->flags & TASK_ON_RQ)
		policy_update_util_uclamp(rq, t);
	else
		t->pelt.uclamp = (s32)policy_decay_toward((u32)t->pelt.uclamp, 0, n);
}

/*
 * @n periods have ended for the queue. (In the RFC's v2 the governor does not
 * hear of a period that leaves this sum as it was; here it does, as everybody
 * else who reads the queue's signals must.)
 */
policy_noinline void policy_clamped_queue_follows(struct policy_cpu *rq, u64 n)
{
	rq->root_cfs_util_uclamp = policy_decay_toward(rq->root_cfs_util_uclamp,
						       (u32)rq->cfs.uclamp, n);
}

/* What left from afar leaves the sum (update_cfs_rq_load_avg). */
policy_noinline void policy_clamped_removed(struct policy_cpu *rq)
{
	rq->root_cfs_util_uclamp = policy_max(policy_sub_positive(rq->root_cfs_util_uclamp,
								  rq->root_cfs_util_uclamp_removed),
					      (u32)rq->cfs.uclamp);
	rq->root_cfs_util_uclamp_removed = 0;
}

/* A sleeper, decayed up to now, leaves its queue from afar. */
policy_noinline void policy_clamped_task_remove(const struct policy_params *k,
						struct policy_cpu *rq, const struct policy_task *t)
{
	if (POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM)
		rq->root_cfs_util_uclamp_removed += (u32)t->pelt.uclamp;
	if (POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM_AT_ONCE)
		rq->root_cfs_util_uclamp = policy_max(policy_sub_positive(rq->root_cfs_util_uclamp,
									  (u32)t->pelt.uclamp),
						      (u32)rq->cfs.uclamp);
}

/*
 * @t is put on the queue, with the clamped utilization it still has
 * (enqueue_entity). @attached: its signals were not this queue's before.
 */
policy_noinline void policy_clamped_task_joins(const struct policy_params *k, struct policy_cpu *rq,
					       struct policy_task *t, int attached)
{
	if (policy_clamps_are_summed(k))
		rq->cfs.uclamp += t->pelt.uclamp;
	if (attached)
		t->flags |= TASK_JUST_ATTACHED;
}

/*
 * Last of all that happens when a task joins (end of enqueue_task_fair): from
 * now on it counts as its clamps say. The governor was told before that it
 * came; it is to hear of it again if this returns true.
 */
static inline int policy_clamped_task_joined(const struct policy_params *k, struct policy_cpu *rq,
					     struct policy_task *t)
{
	const u32 attached = t->flags & TASK_JUST_ATTACHED;

	t->flags &= ~TASK_JUST_ATTACHED;
	if (policy_clamps_are_biases(k)) {
		rq->cfs.uclamp += t->pelt.uclamp;
		return t->pelt.uclamp > 0;
	}
	policy_update_util_uclamp(rq, t);
	if (attached && POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM_AT_ONCE)
		rq->root_cfs_util_uclamp += (u32)t->pelt.uclamp;
	rq->root_cfs_util_uclamp = policy_max(rq->root_cfs_util_uclamp, (u32)rq->cfs.uclamp);
	return 1;
}

/* Take @bias from the utilization of a task or queue (propagate_negative_bias). */
static inline void policy_propagate_negative_bias(struct policy_pelt *a, u32 bias)
{
	u32 div = PELT_MIN_DIVIDER + (a->period_contrib & (PELT_PERIOD - 1));

	a->util_avg = policy_sub_positive(a->util_avg, bias);
	a->util_sum = policy_max(policy_sub_positive(a->util_sum, bias * div),
				 a->util_avg * PELT_MIN_DIVIDER);
}

/* @t, up to date, has left the queue; @moves: to another CPU. */
policy_noinline void policy_clamped_task_leaves(const struct policy_params *k,
						struct policy_cpu *rq, struct policy_task *t,
						int moves)
{
	rq->cfs.uclamp -= t->pelt.uclamp;
	if (policy_clamps_are_biases(k)) {
		if (t->pelt.uclamp < 0 && !moves) {
			u32 bias = (u32)-t->pelt.uclamp;

			t->pelt.uclamp = 0;
			policy_propagate_negative_bias(&t->pelt, bias);
			policy_propagate_negative_bias(&rq->cfs, bias);
		}
		if (rq->max_uclamp_factor_owner == t->id) {
			rq->max_uclamp_factor_owner = POLICY_NONE;
			rq->max_uclamp_factor = 0;
		}
		return;
	}
	if (rq->cfs.uclamp < 0 || !rq->h_nr_running)
		rq->cfs.uclamp = 0;
	if (moves && POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM_AT_ONCE)
		policy_clamped_task_remove(k, rq, t);
}

/*
 * Clamps of a queued task are others now (sched_setattr): it left and joined at
 * once. True if the governor is to hear of it.
 */
static inline int policy_clamps_changed(const struct policy_params *k, struct policy_cpu *rq,
					struct policy_task *t)
{
	if (policy_clamps_are_biases(k))
		policy_clamped_task_leaves(k, rq, t, 0);
	return policy_clamped_task_joined(k, rq, t);
}

/* ---- what is read ---- */

/* Clamped utilization of a task (task_util, later task_util_uclamp). */
static __always_inline u32 policy_task_util_uclamp(const struct policy_params *k,
						   const struct policy_task *t)
{
	s32 util = t->pelt.uclamp;

	if (policy_clamps_are_biases(k)) {
		util += (s32)t->pelt.util_avg;
		return util > 0 ? (u32)util : 0;
	}
	return (u32)util;
}

/* That of a queue (root_cfs_util, root_cfs_util_uclamp). */
static __always_inline u32 policy_cfs_util_uclamp(const struct policy_params *k,
						  const struct policy_cpu *rq)
{
	s32 util;

	if (!policy_clamps_are_biases(k))
		return rq->root_cfs_util_uclamp;
	util = (s32)rq->cfs.util_avg + rq->cfs.uclamp;
	return util > 0 ? (u32)util : 0;
}

/* Is the CPU held below what its tasks could use (uclamp_rq_is_capped)? Nobody asks with biases. */
static __always_inline int policy_uclamp_rq_is_capped(const struct policy_params *k,
						      const struct policy_cpu *rq)
{
	return rq->root_cfs_util_uclamp < CAPACITY_SCALE &&
	       rq->cfs.util_avg > rq->root_cfs_util_uclamp + k->cap_margin;
}

/* The wait for the CPU as utilization, in the proportion that clamping leaves of it. */
static inline u32 policy_boost_uclamp(const struct policy_params *k, const struct policy_cpu *rq,
				      u32 util)
{
	u32 waiting = rq->cfs.runnable_avg;

	if (policy_clamps_are_biases(k))
		waiting = rq->cfs.util_avg ? (u32)((u64)util * waiting / rq->cfs.util_avg) : 0;
	else if (policy_uclamp_rq_is_capped(k, rq))
		return util;
	return policy_max(util, waiting);
}

/*
 * Clamped utilization of a CPU (cpu_util_cfs, cpu_util_cfs_uclamp); @boost: as
 * a frequency is chosen by, from 6.5 on.
 */
static inline u32 policy_cpu_util_cfs_uclamp(const struct policy_params *k,
					     const struct policy_cpu *rq, int boost)
{
	u32 util = policy_cfs_util_uclamp(k, rq);

	if (boost && k->util_boost != BOOST_NONE)
		util = policy_boost_uclamp(k, rq, util);
	util = policy_max(util,
			  policy_clamps_are_biases(k) ? rq->util_est_uclamp :
							rq->util_est_enqueued);
	return util < rq->capacity_orig ? util : rq->capacity_orig;
}

#endif
