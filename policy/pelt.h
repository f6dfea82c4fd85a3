/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pelt.h - per-entity load tracking, the kernel's integers
 *
 * How a runqueue updates its own signals (average.h) and those of its tasks
 * (kernel/sched/pelt.c and the load-tracking part of fair.c, Linux 5.1 and
 * later); then util_est; then load tracking of Linux 3.8 to 3.11.
 */
#ifndef ALIGHT_PELT_H
#define ALIGHT_PELT_H

#include "uclamp_sum.h"

/* ---- clocks of a runqueue (update_rq_clock_pelt, _update_idle_rq_clock_pelt) ---- */

/* Never 0: last_update_time 0 means that a task is not attached to a queue. */
static __always_inline u64 policy_rq_clock_pelt(const struct policy_cpu *rq)
{
	u64 now = rq->clock_pelt - rq->lost_idle_time;

	return now ? now : 1;
}

/* Bring the clocks to @now. PELT time runs slower on a small or slowed CPU. */
static inline void policy_update_rq_clock(struct policy_cpu *rq, u64 now)
{
	u64 d = now - rq->clock;

	if ((s64)d <= 0)
		return;
	rq->clock = now;
	if (rq->curr_is_idle) {
		rq->clock_pelt = now;
		return;
	}
	d = (d * rq->capacity_orig) >> 10;
	rq->clock_pelt += (d * rq->freq_scale) >> 10;
}

/*
 * The CPU is about to run its idle task: PELT time catches up with real time.
 * If the CPU looked fully busy, the gap was no idle time: lost_idle_time keeps it.
 * @others: util_sum of the real-time and the deadline class.
 */
static inline void policy_update_idle_rq_clock_pelt(struct policy_cpu *rq, u32 others)
{
	const u32 full = ((LOAD_AVG_MAX - PELT_PERIOD) << 10) - LOAD_AVG_MAX;

	if (rq->cfs.util_sum + others >= full)
		rq->lost_idle_time += rq->clock - rq->clock_pelt;
	rq->clock_pelt = rq->clock;
}

/* ---- the root queue and its tasks ---- */

/*
 * Up to 5.6 a queue tracks the load of its queued tasks (runnable_load_avg),
 * later the number of its runnable tasks (runnable_avg). Here runnable_sum serves
 * both; a sum of load is in units of 1/1024. kernel 5.4:
 * enqueue_runnable_load_avg(), dequeue_runnable_load_avg().
 */
static __always_inline int policy_keeps_runnable_load(const struct policy_params *k)
{
	return k->load == LOAD_RUNNABLE;
}

policy_noinline void policy_enqueue_runnable_load_avg(struct policy_cpu *rq,
						      const struct policy_task *t)
{
	rq->runnable_load_avg += t->pelt.load_avg;
	rq->cfs.runnable_sum += (t->weight * t->pelt.load_sum) << 10;
}

policy_noinline void policy_dequeue_runnable_load_avg(struct policy_cpu *rq,
						      const struct policy_task *t)
{
	rq->runnable_load_avg = policy_sub_positive(rq->runnable_load_avg, t->pelt.load_avg);
	rq->cfs.runnable_sum = policy_sub_positive_64(rq->cfs.runnable_sum,
						      (t->weight * t->pelt.load_sum) << 10);
}

/* After an update of the queue's averages: its runnable_sum is one of load, not of tasks. */
policy_noinline void policy_update_runnable_load_avg(struct policy_cpu *rq)
{
	u32 div = PELT_MIN_DIVIDER + (rq->cfs.period_contrib & (PELT_PERIOD - 1));

	rq->runnable_load_avg = (u32)((rq->cfs.runnable_sum >> 10) / div);
	rq->cfs.runnable_avg = 0;
}

/* Subtract what left by wake migration; only its averages are known. */
policy_noinline void policy_subtract_removed(const struct policy_params *k, struct policy_cpu *rq)
{
	u32 div = PELT_MIN_DIVIDER + rq->cfs.period_contrib;
	const struct policy_pelt gone = {
		.load_sum = (u64)rq->removed_load * div,
		.runnable_sum = policy_keeps_runnable_load(k) ? 0 : (u64)rq->removed_runnable * div,
		.util_sum = rq->removed_util * div,
		.load_avg = rq->removed_load,
		.runnable_avg = policy_keeps_runnable_load(k) ? 0 : rq->removed_runnable,
		.util_avg = rq->removed_util,
	};

	policy_pelt_subtract(k, &rq->cfs, &gone, 1);
	rq->removed_util = rq->removed_load = rq->removed_runnable = rq->removed_nr = 0;
	if (POLICY_FEATURE_RULE(k, aggregate) == AGGREGATE_SUM)
		policy_clamped_removed(rq);
}

/* kernel: update_cfs_rq_load_avg(). True if its utilization may have changed. */
static __always_inline int policy_update_cfs_rq_load_avg(const struct policy_params *k,
							 struct policy_cpu *rq, int running)
{
	int changed = 0;
	u64 n;

	if (rq->removed_nr) {
		policy_subtract_removed(k, rq);
		changed = 1;
	}
	n = policy_pelt_update_sum(&rq->cfs, policy_rq_clock_pelt(rq), rq->weight,
				   policy_keeps_runnable_load(k) ? rq->weight :
						 (u64)rq->h_nr_running - rq->h_nr_delayed,
				   running);
	if (n) {
		policy_pelt_update_avg(&rq->cfs, 1);
		if (policy_keeps_runnable_load(k))
			policy_update_runnable_load_avg(rq);
	}
	if (policy_clamps_are_summed(k))
		policy_clamped_queue_follows(rq, n);
	return changed | (n != 0);
}

/* @queued, @runnable, @running: each 0 or 1 (__update_load_avg_se). */
static __always_inline void policy_update_load_avg_se(const struct policy_params *k,
						      struct policy_cpu *rq, struct policy_task *t,
						      u64 queued, u64 runnable, u64 running)
{
	u64 n = policy_pelt_update_sum(&t->pelt, policy_rq_clock_pelt(rq), queued, runnable,
				       running);

	if (n) {
		policy_pelt_update_avg(&t->pelt, t->weight);
		t->flags &= ~TASK_EST_UNCHANGED;
		if (policy_clamps_add_up(k))
			policy_clamped_task_follows(k, rq, t, n);
	}
}

/* kernel: attach_entity_load_avg() */
policy_noinline void policy_attach_entity_load_avg(const struct policy_params *k,
						   struct policy_cpu *rq, struct policy_task *t)
{
	u32 div = PELT_MIN_DIVIDER + rq->cfs.period_contrib;
	struct policy_pelt *a = &t->pelt;

	a->last_update_time = rq->cfs.last_update_time ? rq->cfs.last_update_time : 1;	/* see policy_rq_clock_pelt() */
	a->period_contrib = rq->cfs.period_contrib;
	a->util_sum = a->util_avg * div;
	a->runnable_sum = (u64)a->runnable_avg * div;
	a->load_sum = t->weight ? (u64)a->load_avg * div / t->weight : 0;
	if (!a->load_sum)
		a->load_sum = 1;
	policy_enqueue_load_avg(k, &rq->cfs, a->load_avg, t->weight * a->load_sum);
	if (!policy_keeps_runnable_load(k)) {
		rq->cfs.runnable_avg += a->runnable_avg;
		rq->cfs.runnable_sum += a->runnable_sum;
	}
	rq->cfs.util_avg += a->util_avg;
	rq->cfs.util_sum += a->util_sum;
}

/* kernel: detach_entity_load_avg() */
static inline void policy_detach_entity_load_avg(const struct policy_params *k,
						 struct policy_cpu *rq, struct policy_task *t)
{
	struct policy_pelt gone = t->pelt;

	gone.load_sum *= t->weight;	/* a queue's load_sum is weighted, a task's is not */
	if (policy_keeps_runnable_load(k)) {
		gone.runnable_avg = 0;
		gone.runnable_sum = 0;
	}
	policy_pelt_subtract(k, &rq->cfs, &gone, 0);
}

/*
 * Give a task of this queue another weight (reweight_entity). Its load_avg is
 * recomputed from its load_sum. If it is queued, the caller updates rq->weight.
 */
static inline void policy_reweight_entity(const struct policy_params *k, struct policy_cpu *rq,
					  struct policy_task *t, u32 weight)
{
	const int queued = policy_keeps_runnable_load(k) && t->flags & TASK_ON_RQ;
	u64 sum = t->weight * t->pelt.load_sum;
	u32 div = PELT_MIN_DIVIDER + (t->pelt.period_contrib & (PELT_PERIOD - 1));

	if (k->same_weight_ends && t->weight == weight)
		return;
	if (queued)
		policy_dequeue_runnable_load_avg(rq, t);
	policy_dequeue_load_avg(k, &rq->cfs, t->pelt.load_avg, sum,
				t->pelt.period_contrib & (PELT_PERIOD - 1));
	t->weight = weight;
	t->pelt.load_avg = (u32)(weight * t->pelt.load_sum / div);
	policy_enqueue_load_avg(k, &rq->cfs, t->pelt.load_avg, weight * t->pelt.load_sum);
	if (queued)
		policy_enqueue_runnable_load_avg(rq, t);
}

/*
 * Decay a sleeping task that still belongs to this queue up to @until of the queue's
 * PELT time. TASK_EST_UNCHANGED stays set (__update_load_avg_blocked_se).
 */
static inline void policy_update_load_avg_blocked_se(const struct policy_params *k,
						     struct policy_cpu *rq, struct policy_task *t,
						     u64 until)
{
	u64 n = policy_pelt_update_sum(&t->pelt, until, 0, 0, 0);

	if (n) {
		policy_pelt_update_avg(&t->pelt, t->weight);
		if (policy_clamps_add_up(k))
			policy_clamped_task_follows(k, rq, t, n);
	}
}

/* Decay a sleeping task up to the last update of its queue (sync_entity_load_avg). */
static inline void policy_sync_entity_load_avg(const struct policy_params *k, struct policy_cpu *rq,
					       struct policy_task *t)
{
	if (t->pelt.last_update_time)
		policy_update_load_avg_blocked_se(k, rq, t, rq->cfs.last_update_time);
}

/* A sleeper leaves by wake migration, its queue subtracts it later (remove_entity_load_avg). */
static inline void policy_remove_entity_load_avg(const struct policy_params *k,
						 struct policy_cpu *rq, struct policy_task *t)
{
	if (!t->pelt.last_update_time)
		return;
	policy_sync_entity_load_avg(k, rq, t);
	if (policy_clamps_are_summed(k))
		policy_clamped_task_remove(k, rq, t);
	rq->removed_util += t->pelt.util_avg;
	rq->removed_load += t->pelt.load_avg;
	rq->removed_runnable += t->pelt.runnable_avg;
	rq->removed_nr = 1;
	t->pelt.last_update_time = 0;
}

/*
 * Update a task and its queue (update_load_avg). @queued: it is on the queue;
 * @running: it is current; @curr_fair: a fair task is current.
 */
static __always_inline int policy_update_load_avg(const struct policy_params *k,
						  struct policy_cpu *rq, struct policy_task *t,
						  u64 queued, u64 running, int curr_fair)
{
	int changed;

	if (t->pelt.last_update_time)
		policy_update_load_avg_se(k, rq, t, queued, queued, running);
	changed = policy_update_cfs_rq_load_avg(k, rq, curr_fair);
	if (!t->pelt.last_update_time) {
		policy_attach_entity_load_avg(k, rq, t);
		changed = 1;
	}
	return changed;
}

/* Utilization of a task at its first enqueue (post_init_entity_util_avg). */
static inline void policy_post_init_entity_util_avg(const struct policy_params *k,
						    const struct policy_cpu *rq,
						    struct policy_task *t)
{
	/* The kernel scaled the weight by 1024 (64 bit), but not the load that it divides by. */
	u64 weight = k->fork_util_inflated ? (u64)t->weight << 10 : t->weight;
	s64 room = ((s64)rq->capacity_orig - (s64)rq->cfs.util_avg) >> 1;
	u64 u;

	t->pelt.load_avg = t->weight;
	if (room > 0) {
		u = (u64)room;
		if (rq->cfs.util_avg) {
			u64 share = (u64)rq->cfs.util_avg * weight /
				    ((u64)rq->cfs.load_avg + 1);

			if (share < u)
				u = share;
		}
		t->pelt.util_avg = (u32)u;
	}
	t->pelt.runnable_avg = t->pelt.util_avg;
	if (policy_clamps_are_summed(k))
		t->pelt.uclamp = (s32)t->pelt.util_avg;
}

/* ---- util_est: what a task needed when it ran last (4.17 - 6.7: a pair) ---- */

static __always_inline u32 policy_task_est(const struct policy_params *k,
					   const struct policy_task *t)
{
	u32 est = t->util_est_ewma > t->util_est_enqueued ? t->util_est_ewma : t->util_est_enqueued;

	/* The flag UTIL_AVG_UNCHANGED was bit 0 of the value, and was not masked out. */
	return k->est_lsb ? est | 1 : est;
}

static __always_inline u32 policy_task_util_est(const struct policy_params *k,
						const struct policy_task *t)
{
	u32 est = policy_task_est(k, t);

	return t->pelt.util_avg > est ? t->pelt.util_avg : est;
}

/* uclamp-sum: the same, clamped (task_util_est, later task_util_est_uclamp). */
static __always_inline u32 policy_task_util_est_uclamp(const struct policy_params *k,
						       const struct policy_task *t)
{
	return policy_max(policy_task_util_uclamp(k, t),
			  policy_clamps_are_biases(k) ? t->util_est_uclamp : policy_task_est(k, t));
}

static __always_inline void policy_util_est_enqueue(const struct policy_params *k,
						    struct policy_cpu *rq,
						    const struct policy_task *t)
{
	rq->util_est_enqueued += policy_task_est(k, t);
	if (policy_clamps_are_biases(k))
		rq->util_est_uclamp += t->util_est_uclamp;
}

/* Recompute the clamped estimate after the estimate. */
static __always_inline void policy_util_est_clamp(const struct policy_params *k,
						  struct policy_task *t)
{
	if (policy_clamps_are_biases(k))
		t->util_est_uclamp = policy_clamp(policy_task_est(k, t), t->uclamp_min,
						  t->uclamp_max);
}

/*
 * 6.8: the estimate is a single value. A task that waited for its CPU does not lower it
 * (util_est_update); with uclamp-sum it is clamped then (RFC v2).
 */
static inline void policy_util_est_update(const struct policy_params *k,
					  const struct policy_cpu *rq, struct policy_task *t)
{
	const u32 margin = CAPACITY_SCALE / 100;
	u32 util = policy_task_util(k, t), est = t->util_est_ewma;

	if (k->est_held && est >= util + margin && util > rq->capacity_orig)
		return;
	if (est <= util)
		t->util_est_ewma = util;
	else if (est - util >= margin && t->pelt.util_avg + margin >= t->pelt.runnable_avg)
		t->util_est_ewma = (4 * est - (est - util)) >> 2;
	else if (est - util >= margin && policy_clamps_are_summed(k))
		t->util_est_ewma = policy_clamp(est, t->uclamp_min, t->uclamp_max);
	policy_util_est_clamp(k, t);
	t->flags |= TASK_EST_UNCHANGED;
}

/*
 * @t leaves the queue; @sleeps: it goes to sleep (util_est_dequeue, util_est_update). Its
 * averages are up to date unless k->est_early is set.
 */
static __always_inline void policy_util_est_dequeue(const struct policy_params *k,
						    struct policy_cpu *rq,
			       struct policy_task *t, int sleeps)
{
	const u32 margin = CAPACITY_SCALE / 100;
	u32 used = policy_task_util(k, t), util = k->est_lsb ? used | 1 : used;
	s64 gap = (s64)util - (s64)t->util_est_ewma;

	rq->util_est_enqueued = policy_sub_positive(rq->util_est_enqueued, policy_task_est(k, t));
	if (policy_clamps_are_biases(k))
		rq->util_est_uclamp = policy_sub_positive(rq->util_est_uclamp, t->util_est_uclamp);
	if (!sleeps || t->flags & TASK_EST_UNCHANGED || k->est_none)
		return;
	if (k->est_single) {
		policy_util_est_update(k, rq, t);
		return;
	}
	if (gap > 0 && !k->est_slow_up) {
		t->util_est_ewma = util;
	} else if (gap < (s64)margin && gap > -(s64)margin) {
		s64 moved = (s64)t->util_est_enqueued - (s64)util;

		if (!k->est_keeps_last || (moved < (s64)margin && moved > -(s64)margin))
			return;
	} else if (used > rq->capacity_orig) {
		return;
	} else {
		t->util_est_ewma = (u32)((4 * (s64)t->util_est_ewma + gap) >> 2);
	}
	t->util_est_enqueued = util;
	policy_util_est_clamp(k, t);
	t->flags |= TASK_EST_UNCHANGED;
}

/* ---- Linux 3.8 to 3.11: sums of runnable time and of all time ---- */

/* Contribution of n full periods, 1024 * (y + y^2 + ... + y^n) rounded each step. */
static inline u32 policy_compute_runnable_contrib(u64 n)
{
	static const u32 sum[64] = {	/* a power of two, for the verifier; 33 are used */
		0, 1002, 1982, 2941, 3880, 4798, 5697, 6576, 7437, 8279, 9103, 9909, 10698,
		11470, 12226, 12966, 13690, 14398, 15091, 15769, 16433, 17082, 17718, 18340,
		18949, 19545, 20128, 20698, 21256, 21802, 22336, 22859, 23371,
	};
	u32 c = 0, i;

	if (n <= 32)
		return sum[policy_bound((u32)n, 64)];
	if (n >= 345)
		return LOAD_AVG_MAX;
	policy_for(i, 0, 11) {		/* 344 / 32 halvings at most */
		if (n <= 32)
			break;
		c = c / 2 + sum[32];
		n -= 32;
	}
	return (u32)policy_decay_load(c, n) + sum[policy_bound(n > 32 ? 32 : (u32)n, 64)];
}

/* kernel 3.9: __update_entity_runnable_avg(); a rest below one unit is dropped. */
policy_noinline void policy_update_entity_runnable_avg(struct policy_pelt13 *a, u64 now,
						       int runnable)
{
	u64 d = now - a->last_runnable_update, n;
	u32 w;

	if ((s64)d < 0) {
		a->last_runnable_update = now;
		return;
	}
	d >>= 10;
	if (!d)
		return;
	a->last_runnable_update = now;

	w = a->runnable_avg_period % PELT_PERIOD;
	if (d + w >= PELT_PERIOD) {
		w = PELT_PERIOD - w;
		a->runnable_avg_period += w;
		if (runnable)
			a->runnable_avg_sum += w;
		d -= w;
		n = d / PELT_PERIOD;
		d %= PELT_PERIOD;
		a->runnable_avg_sum = (u32)policy_decay_load(a->runnable_avg_sum, n + 1);
		a->runnable_avg_period = (u32)policy_decay_load(a->runnable_avg_period, n + 1);
		w = policy_compute_runnable_contrib(n);
		a->runnable_avg_period += w;
		if (runnable)
			a->runnable_avg_sum += w;
	}
	a->runnable_avg_period += (u32)d;
	if (runnable)
		a->runnable_avg_sum += (u32)d;
}

/* Are these signals kept? Only pack.h uses them. */
static __always_inline int policy_keeps_pelt13(const struct policy_params *k)
{
	return POLICY_FEATURE_RULE(k, pack) != PACK_NONE && !POLICY_FEATURE_RULE(k, pack_pelt);
}

/* Bring a queue's own pair up to its clock (update_rq_runnable_avg). */
static inline void policy_update_rq_runnable_avg(const struct policy_params *k,
						 struct policy_cpu *rq)
{
	if (policy_keeps_pelt13(k))
		policy_update_entity_runnable_avg(&rq->pelt13, rq->clock, rq->nr_running != 0);
}

/* Bring a task's pair up to that clock (update_entity_load_avg). A new task begins now. */
static inline void policy_update_task_runnable_avg(const struct policy_params *k,
						   const struct policy_cpu *rq,
						   struct policy_task *t, int runnable)
{
	if (!policy_keeps_pelt13(k))
		return;
	if (!t->pelt13.last_runnable_update && !t->pelt13.runnable_avg_period)
		t->pelt13.last_runnable_update = rq->clock;
	policy_update_entity_runnable_avg(&t->pelt13, rq->clock, runnable);
}

#endif
