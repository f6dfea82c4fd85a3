/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uclamp_sum.h - feature uclamp-sum: clamped utilizations of a queue's tasks add up
 *
 * "sched: uclamp sum aggregation", RFC, October 2023, on 6.6-rc, its v2 of
 * February 2024, and "uclamp sum aggregation" v2, March 2025. The kernel clamps the
 * utilization of a queue by the largest clamps of its tasks. This feature clamps the
 * utilization of each task by itself, and adds the results up. This file keeps the
 * sums; uclamp.h and energy_aware.h use them for placement.
 *
 * The sum itself (AGGREGATE_SUM, AGGREGATE_SUM_AT_ONCE):
 *
 *	task	pelt.uclamp	while queued util_avg within the clamps, set when
 *				util_avg is averaged and when it joins; while not
 *				queued it decays to 0
 *	queue	cfs.uclamp	sum of these over the queued tasks, 0 without any
 *		root_cfs_util_uclamp
 *				the same, but it falls as PELT decays: it includes
 *				what has left the queue and has not decayed yet
 *
 * A task that wakes on another CPU or exits is subtracted from root_cfs_util_uclamp at
 * the next update of its old queue. With AGGREGATE_SUM_AT_ONCE it is subtracted at
 * once, and added to root_cfs_util_uclamp of its new queue.
 *
 * The bias (AGGREGATE_BIAS): PELT decays by itself, and only the difference is kept:
 *
 *	task	pelt.uclamp	util_avg within the clamps less util_avg
 *		util_est_uclamp	the estimate within the clamps
 *	queue	cfs.uclamp	sum over the queued tasks
 *		util_est_uclamp	sum over the runnable tasks
 *
 * When a task with a negative bias leaves but does not move to another CPU, the loss of
 * the bias would raise the queue's utilization. Instead the bias is subtracted from
 * util_avg of task and queue.
 * With uclamp_factor an upper clamp is raised if another task of the queue gets more
 * for its weight.
 */
#ifndef ALIGHT_UCLAMP_SUM_H
#define ALIGHT_UCLAMP_SUM_H

#include "average.h"

/* Are sums or biases kept? */
static __always_inline int policy_clamps_add_up(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, aggregate) != AGGREGATE_MAX;
}

/* Are sums kept? They replace util_avg wherever the kernel has task_util(). */
static __always_inline int policy_clamps_are_summed(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM ||
	       POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM_AT_ONCE;
}

static __always_inline int policy_clamps_are_biases(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_BIAS;
}

/* The utilization of a task from which its estimate is made (task_util). */
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

/* PELT decay of @value down to @goal over @n periods; a higher @goal is reached at once. */
static inline u32 policy_decay_toward(u32 value, u32 goal, u64 n)
{
	if (value <= goal)
		return goal;
	return n ? goal + (u32)policy_decay_load(value - goal, n) : value;
}

/* Updates the clamped utilization of a queued task after its util_avg. */
static inline void policy_update_util_uclamp(struct policy_cpu *rq, struct policy_task *t)
{
	s32 now = (s32)policy_clamp(t->pelt.util_avg, t->uclamp_min, t->uclamp_max);

	rq->cfs.uclamp += now - t->pelt.uclamp;
	t->pelt.uclamp = now;
}

/* Inverse of a weight as in the kernel's table: 2^32 / weight, rounded (sched_prio_to_wmult). */
static inline u64 policy_inverse_weight(u32 weight)
{
	return ((1ull << 32) + weight / 2) / (weight ? weight : 1);
}

/*
 * The upper clamp @hi of @t, raised so that @t gets no less for its weight than the
 * task of the queue that gets most. The kernel takes the weight of the nice value, which
 * for SCHED_IDLE is not the weight with which the task runs.
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

/* Updates the bias after the task's util_avg (util_bias_update). 1024 is no upper clamp. */
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

/* The averages of @t have been updated, after @n periods. */
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
 * @n periods have ended for the queue. (The RFC's v2 does not call the governor if this
 * sum stays the same. Here the governor is called, because the other readers of the
 * queue's signals need the call.)
 */
policy_noinline void policy_clamped_queue_follows(struct policy_cpu *rq, u64 n)
{
	rq->root_cfs_util_uclamp = policy_decay_toward(rq->root_cfs_util_uclamp,
						       (u32)rq->cfs.uclamp, n);
}

/* Subtracts what left by wake migration from the sum (update_cfs_rq_load_avg). */
policy_noinline void policy_clamped_removed(struct policy_cpu *rq)
{
	rq->root_cfs_util_uclamp = policy_max(policy_sub_positive(rq->root_cfs_util_uclamp,
								  rq->root_cfs_util_uclamp_removed),
					      (u32)rq->cfs.uclamp);
	rq->root_cfs_util_uclamp_removed = 0;
}

/* A sleeper, decayed up to now, leaves its queue by wake migration. */
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
 * @t is enqueued with the clamped utilization that it had after decay
 * (enqueue_entity). @attached: its signals joined the queue at this enqueue.
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
 * The last step of an enqueue (end of enqueue_task_fair): from now on the task counts
 * as its clamps say. The governor has been called for the enqueue already; if this
 * returns true it must be called again.
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
 * The clamps of a queued task have changed (sched_setattr): it leaves and joins at
 * once. True: the governor must be called.
 */
static inline int policy_clamps_changed(const struct policy_params *k, struct policy_cpu *rq,
					struct policy_task *t)
{
	if (policy_clamps_are_biases(k))
		policy_clamped_task_leaves(k, rq, t, 0);
	return policy_clamped_task_joined(k, rq, t);
}

/* ---- reading ---- */

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

/* Clamped utilization of a queue (root_cfs_util, root_cfs_util_uclamp). */
static __always_inline u32 policy_cfs_util_uclamp(const struct policy_params *k,
						  const struct policy_cpu *rq)
{
	s32 util;

	if (!policy_clamps_are_biases(k))
		return rq->root_cfs_util_uclamp;
	util = (s32)rq->cfs.util_avg + rq->cfs.uclamp;
	return util > 0 ? (u32)util : 0;
}

/* Is the CPU held below what its tasks could use (uclamp_rq_is_capped)? Not used with biases. */
static __always_inline int policy_uclamp_rq_is_capped(const struct policy_params *k,
						      const struct policy_cpu *rq)
{
	return rq->root_cfs_util_uclamp < CAPACITY_SCALE &&
	       rq->cfs.util_avg > rq->root_cfs_util_uclamp + k->cap_margin;
}

/*
 * @util, or the time that tasks waited for the CPU too if that is more. Clamps reduce the
 * waiting time by the same proportion as utilization; on a capped CPU it does not count.
 */
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
 * Clamped utilization of a CPU (cpu_util_cfs, cpu_util_cfs_uclamp). @boost: the value
 * that selects a frequency, from 6.5 on with the time that tasks waited.
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
