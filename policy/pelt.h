/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pelt.h - per-entity load tracking, the kernel's integers
 *
 * A signal is a geometric sum over periods of 1024 units (a unit is 1024 ns),
 * halved every 32 periods. First the arithmetic of one signal set, then what
 * a runqueue does with its own set and its tasks' (kernel/sched/pelt.c and the
 * load-tracking part of fair.c, Linux 5.1 and later), then util_est, then the
 * form of Linux 3.8 to 3.11.
 */
#ifndef ALIGHT_PELT_H
#define ALIGHT_PELT_H

#include "mask.h"

#define PELT_PERIOD	1024u
#define PELT_MAX	47742u			/* limit of the sum with period weight 1024 */
#define PELT_MIN_DIV	(PELT_MAX - PELT_PERIOD)	/* what closed periods contribute at most */

/* 2^32 * y^i, y^32 = 1/2 */
static const u32 pelt_inv[32] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb,
	0xdbfbb796, 0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9,
	0xbd08a39e, 0xb8fbaf46, 0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9,
	0xa2704302, 0x9ef5325f, 0x9b8d39b9, 0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a,
	0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
};

/* (v * f) >> 32 in 96 bits */
static __always_inline u64 pelt_scale(u64 v, u64 f)
{
#if defined(__SIZEOF_INT128__) && !defined(__bpf__)
	return (u64)(((unsigned __int128)v * f) >> 32);
#else
	/* v is split so that neither product overflows */
	return (v >> 32) * f + (((v & 0xffffffff) * f) >> 32);
#endif
}

/* v * y^n; 0 once nothing is left. */
static inline u64 pelt_decay(u64 v, u64 n)
{
	if (n > 2016)
		return 0;
	return pelt_scale(v >> n / 32, pelt_inv[n % 32]);
}

/*
 * Add the time since the last update, held at load weight @load, @runnable
 * tasks and @running 0 or 1. True if a period ended: then averages are due.
 * Expanded where it is called: most callers know what they add.
 * kernel: ___update_load_sum()
 */
static __always_inline int pelt_accumulate(struct policy_pelt *a, u64 now, u64 load, u64 runnable,
					   u64 running)
{
	s64 passed = (s64)(now - a->last);
	u64 units, d, n;

	if (passed < 1024) {		/* less than a unit */
		if (passed < 0)
			a->last = now;
		return 0;
	}
	units = (u64)passed >> 10;
	a->last += units << 10;		/* the rest of a unit counts next time */
	if (!load)
		runnable = running = 0;

	d = units + a->part;
	n = d / PELT_PERIOD;
	if (n) {
		/* pelt_decay() of five values by the same n */
		const u32 left = n <= 2016, shift = left ? n / 32 : 0;
		const u64 f = left ? pelt_inv[n % 32] : 0;

		a->load_sum = pelt_scale(a->load_sum >> shift, f);
		a->run_sum = pelt_scale(a->run_sum >> shift, f);
		a->util_sum = (u32)(((u64)a->util_sum >> shift) * f >> 32);	/* the shift may be 63 */
		d %= PELT_PERIOD;
		/* the rest of the old period, full ones, the open one */
		units = (((u64)(PELT_PERIOD - a->part) >> shift) * f >> 32) +
			(PELT_MAX - (((u64)PELT_MAX >> shift) * f >> 32) - PELT_PERIOD) + d;
	}
	a->part = (u32)d;
	a->load_sum += load * units;
	a->run_sum += (runnable * units) << 10;
	a->util_sum += (u32)((running * units) << 10);
	return n != 0;
}

/* kernel: ___update_load_avg(); the divider is never below PELT_MIN_DIV. */
static __always_inline void pelt_average(struct policy_pelt *a, u64 weight)
{
	u32 div = PELT_MIN_DIV + (a->part & (PELT_PERIOD - 1));

	a->load_avg = (u32)(weight * a->load_sum / div);
	a->run_avg = (u32)(a->run_sum / div);
	a->util_avg = a->util_sum / div;
}

static __always_inline u32 sub_floor0(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

static __always_inline u64 sub_floor0_64(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/*
 * The sum of a queue whose average is @avg, after something left it. "Cut" is
 * max_t(u32, sum, avg * PELT_MIN_DIVIDER) into 64 bits: a queue of a weight
 * from 90000 on forgets most of its load, and one of 90 tasks what is runnable.
 */
static __always_inline u64 pelt_bound(const struct policy_params *k, u64 sum, u32 avg)
{
	u64 least = (u64)avg * PELT_MIN_DIV;

	if (k->sums == SUMS_FREE)
		return sum;
	if (k->sums == SUMS_CUT) {
		sum = (u32)sum;
		least = (u32)least;
	}
	return sum > least ? sum : least;
}

/* Take @avg and @sum of load from @q (dequeue_load_avg). */
static __always_inline void pelt_load_leaves(const struct policy_params *k, struct policy_pelt *q,
					     u32 avg, u64 sum)
{
	q->load_avg = sub_floor0(q->load_avg, avg);
	q->load_sum = pelt_bound(k, sub_floor0_64(q->load_sum, sum), q->load_avg);
}

/* Add @avg and @sum of load to @q (enqueue_load_avg). */
static __always_inline void pelt_load_joins(const struct policy_params *k, struct policy_pelt *q,
					    u32 avg, u64 sum)
{
	q->load_avg += avg;
	q->load_sum += sum;
	if (k->sums == SUMS_BOUNDED_JOIN)
		q->load_sum = pelt_bound(k, q->load_sum, q->load_avg);
}

/* Take averages and sums of @gone from @q. */
static __always_inline void pelt_subtract(const struct policy_params *k, struct policy_pelt *q,
					  const struct policy_pelt *gone)
{
	pelt_load_leaves(k, q, gone->load_avg, gone->load_sum);
	q->run_avg = sub_floor0(q->run_avg, gone->run_avg);
	q->run_sum = pelt_bound(k, sub_floor0_64(q->run_sum, gone->run_sum), q->run_avg);
	q->util_avg = sub_floor0(q->util_avg, gone->util_avg);
	q->util_sum = (u32)pelt_bound(k, sub_floor0(q->util_sum, gone->util_sum), q->util_avg);
}

/* ---- clocks of a runqueue (update_rq_clock_pelt, _update_idle_rq_clock_pelt) ---- */

/* Never 0: a task of which the last update was at 0 is not attached to a queue. */
static __always_inline u64 pelt_now(const struct policy_cpu *rq)
{
	u64 now = rq->clock_pelt - rq->lost_idle;

	return now ? now : 1;
}

/* Bring the clocks to @now. PELT time runs slower on a small or slowed CPU. */
static inline void rq_clock(struct policy_cpu *rq, u64 now)
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
 * If the CPU looked fully busy the gap was not idle time and is lost instead.
 * @others: util_sum of the real-time and the deadline class.
 */
static inline void rq_clock_idle(struct policy_cpu *rq, u32 others)
{
	const u32 full = ((PELT_MAX - PELT_PERIOD) << 10) - PELT_MAX;

	if (rq->cfs.util_sum + others >= full)
		rq->lost_idle += rq->clock - rq->clock_pelt;
	rq->clock_pelt = rq->clock;
}

/* ---- the root queue and its tasks ---- */

/*
 * Up to 5.6 a queue tracks the load of its queued tasks (runnable_load_avg),
 * later the number of them that want to run (runnable_avg). One sum serves
 * both, in units of 1/1024 of load here. kernel 5.4: enqueue_runnable_load_avg(),
 * dequeue_runnable_load_avg().
 */
static __always_inline int keeps_queued_load(const struct policy_params *k)
{
	return k->load == LOAD_RUNNABLE;
}

policy_apart void queued_load_add(struct policy_cpu *rq, const struct policy_task *t)
{
	rq->runnable_load += t->pelt.load_avg;
	rq->cfs.run_sum += (t->weight * t->pelt.load_sum) << 10;
}

policy_apart void queued_load_sub(struct policy_cpu *rq, const struct policy_task *t)
{
	rq->runnable_load = sub_floor0(rq->runnable_load, t->pelt.load_avg);
	rq->cfs.run_sum = sub_floor0_64(rq->cfs.run_sum, (t->weight * t->pelt.load_sum) << 10);
}

/* The queue's averages are new: that of the queued load is no runnable_avg. */
policy_apart void queued_load_average(struct policy_cpu *rq)
{
	u32 div = PELT_MIN_DIV + (rq->cfs.part & (PELT_PERIOD - 1));

	rq->runnable_load = (u32)((rq->cfs.run_sum >> 10) / div);
	rq->cfs.run_avg = 0;
}

/* Take what left by wake migration; only its averages are known. */
policy_apart void queue_take_removed(const struct policy_params *k, struct policy_cpu *rq)
{
	u32 div = PELT_MIN_DIV + rq->cfs.part;
	const struct policy_pelt gone = {
		.load_sum = (u64)rq->removed_load * div,
		.run_sum = keeps_queued_load(k) ? 0 : (u64)rq->removed_run * div,
		.util_sum = rq->removed_util * div,
		.load_avg = rq->removed_load,
		.run_avg = keeps_queued_load(k) ? 0 : rq->removed_run,
		.util_avg = rq->removed_util,
	};

	pelt_subtract(k, &rq->cfs, &gone);
	rq->removed_util = rq->removed_load = rq->removed_run = rq->removed = 0;
}

/* kernel: update_cfs_rq_load_avg(). True if its utilization may have changed. */
static __always_inline int queue_refresh(const struct policy_params *k, struct policy_cpu *rq,
					 int running)
{
	int changed = 0;

	if (rq->removed_util | rq->removed_load | rq->removed_run | rq->removed) {
		queue_take_removed(k, rq);
		changed = 1;
	}
	if (pelt_accumulate(&rq->cfs, pelt_now(rq), rq->weight,
			    keeps_queued_load(k) ? rq->weight :
						 (u64)rq->h_nr_running - rq->h_nr_delayed,
			    running)) {
		pelt_average(&rq->cfs, 1);
		if (keeps_queued_load(k))
			queued_load_average(rq);
		changed = 1;
	}
	return changed;
}

static __always_inline void task_accumulate(struct policy_task *t, u64 now, u64 queued,
					    u64 running)
{
	if (pelt_accumulate(&t->pelt, now, queued, queued, running)) {
		pelt_average(&t->pelt, t->weight);
		t->flags &= ~TASK_EST_UNCHANGED;
	}
}

/* kernel: attach_entity_load_avg() */
policy_apart void task_attach(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t)
{
	u32 div = PELT_MIN_DIV + rq->cfs.part;
	struct policy_pelt *a = &t->pelt;

	a->last = rq->cfs.last ? rq->cfs.last : 1;	/* see pelt_now() */
	a->part = rq->cfs.part;
	a->util_sum = a->util_avg * div;
	a->run_sum = (u64)a->run_avg * div;
	a->load_sum = t->weight ? (u64)a->load_avg * div / t->weight : 0;
	if (!a->load_sum)
		a->load_sum = 1;
	pelt_load_joins(k, &rq->cfs, a->load_avg, t->weight * a->load_sum);
	if (!keeps_queued_load(k)) {
		rq->cfs.run_avg += a->run_avg;
		rq->cfs.run_sum += a->run_sum;
	}
	rq->cfs.util_avg += a->util_avg;
	rq->cfs.util_sum += a->util_sum;
}

/* kernel: detach_entity_load_avg() */
static inline void task_detach(const struct policy_params *k, struct policy_cpu *rq,
			       struct policy_task *t)
{
	struct policy_pelt gone = t->pelt;

	gone.load_sum *= t->weight;	/* a queue's load_sum is weighted, a task's is not */
	if (keeps_queued_load(k)) {
		gone.run_avg = 0;
		gone.run_sum = 0;
	}
	pelt_subtract(k, &rq->cfs, &gone);
}

/*
 * Give a task of this queue another weight (reweight_entity). Its own load
 * follows from its sum; the caller keeps rq->weight if it is queued.
 */
static inline void task_reweight(const struct policy_params *k, struct policy_cpu *rq,
				 struct policy_task *t, u32 weight)
{
	const int queued = keeps_queued_load(k) && t->flags & TASK_ON_RQ;
	u64 sum = t->weight * t->pelt.load_sum;
	u32 div = PELT_MIN_DIV + (t->pelt.part & (PELT_PERIOD - 1));

	if (queued)
		queued_load_sub(rq, t);
	pelt_load_leaves(k, &rq->cfs, t->pelt.load_avg, sum);
	t->weight = weight;
	t->pelt.load_avg = (u32)(weight * t->pelt.load_sum / div);
	pelt_load_joins(k, &rq->cfs, t->pelt.load_avg, weight * t->pelt.load_sum);
	if (queued)
		queued_load_add(rq, t);
}

/*
 * Decay a sleeping task up to the last update of the queue it still belongs
 * to. That does not make its util_est stale (__update_load_avg_blocked_se).
 */
static inline void task_sync(const struct policy_cpu *rq, struct policy_task *t)
{
	if (t->pelt.last && pelt_accumulate(&t->pelt, rq->cfs.last, 0, 0, 0))
		pelt_average(&t->pelt, t->weight);
}

/* A sleeper leaves its queue from afar (remove_entity_load_avg). */
static inline void task_remove(struct policy_cpu *rq, struct policy_task *t)
{
	if (!t->pelt.last)
		return;
	task_sync(rq, t);
	rq->removed_util += t->pelt.util_avg;
	rq->removed_load += t->pelt.load_avg;
	rq->removed_run += t->pelt.run_avg;
	rq->removed = 1;
	t->pelt.last = 0;
}

/*
 * Update a task and its queue (update_load_avg). @queued: it is on the queue;
 * @running: it is current; @curr_fair: a fair task is current.
 */
static __always_inline int task_refresh(const struct policy_params *k, struct policy_cpu *rq,
					struct policy_task *t, u64 queued, u64 running,
					int curr_fair)
{
	int changed;

	if (t->pelt.last)
		task_accumulate(t, pelt_now(rq), queued, running);
	changed = queue_refresh(k, rq, curr_fair);
	if (!t->pelt.last) {
		task_attach(k, rq, t);
		changed = 1;
	}
	return changed;
}

/* Utilization of a task at its first enqueue (post_init_entity_util_avg). */
static inline void task_init_util(const struct policy_params *k, const struct policy_cpu *rq,
				  struct policy_task *t)
{
	/* The share took the weight in the finer unit of 64-bit kernels, its divisor did not. */
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
	t->pelt.run_avg = t->pelt.util_avg;
}

/* ---- util_est: what a task needed when it ran last (4.17 - 6.7: a pair) ---- */

static __always_inline u32 task_est(const struct policy_params *k, const struct policy_task *t)
{
	u32 est = t->est_ewma > t->est_enqueued ? t->est_ewma : t->est_enqueued;

	/* The flag UTIL_AVG_UNCHANGED was bit 0 of the value and came along. */
	return k->est_lsb ? est | 1 : est;
}

static __always_inline u32 task_util_est(const struct policy_params *k,
					 const struct policy_task *t)
{
	u32 est = task_est(k, t);

	return t->pelt.util_avg > est ? t->pelt.util_avg : est;
}

static __always_inline void est_enqueue(const struct policy_params *k, struct policy_cpu *rq,
					const struct policy_task *t)
{
	rq->est_enqueued += task_est(k, t);
}

/* 6.8: a single value, which a task that waited for its CPU does not lower (util_est_update). */
static inline void est_update_single(struct policy_task *t)
{
	const u32 margin = CAPACITY_SCALE / 100;
	u32 util = t->pelt.util_avg, est = t->est_ewma;

	if (est <= util)
		t->est_ewma = util;
	else if (est - util >= margin && util + margin >= t->pelt.run_avg)
		t->est_ewma = (4 * est - (est - util)) >> 2;
	t->flags |= TASK_EST_UNCHANGED;
}

/* @t went to sleep if @sleeps; its averages are up to date (util_est_dequeue, util_est_update). */
static inline void est_dequeue(const struct policy_params *k, struct policy_cpu *rq,
			       struct policy_task *t, int sleeps)
{
	const u32 margin = CAPACITY_SCALE / 100;
	u32 util = k->est_lsb ? t->pelt.util_avg | 1 : t->pelt.util_avg;
	s64 gap = (s64)util - (s64)t->est_ewma;

	rq->est_enqueued = sub_floor0(rq->est_enqueued, task_est(k, t));
	if (!sleeps || t->flags & TASK_EST_UNCHANGED || k->est_none)
		return;
	if (k->est_single) {
		est_update_single(t);
		return;
	}
	if (gap > 0 && !k->est_slow_up) {
		t->est_ewma = util;
	} else if (gap < (s64)margin && gap > -(s64)margin) {
		s64 moved = (s64)t->est_enqueued - (s64)util;

		if (!k->est_keeps_last || (moved < (s64)margin && moved > -(s64)margin))
			return;
	} else if (t->pelt.util_avg > rq->capacity_orig) {
		return;
	} else {
		t->est_ewma = (u32)((4 * (s64)t->est_ewma + gap) >> 2);
	}
	t->est_enqueued = util;
	t->flags |= TASK_EST_UNCHANGED;
}

/* ---- Linux 3.8 to 3.11: sums of runnable time and of all time ---- */

/* Contribution of n full periods, 1024 * (y + y^2 + ... + y^n) rounded each step. */
static inline u32 pelt13_full(u64 n)
{
	static const u32 sum[64] = {	/* a power of two, for the verifier; 33 of them count */
		0, 1002, 1982, 2941, 3880, 4798, 5697, 6576, 7437, 8279, 9103, 9909, 10698,
		11470, 12226, 12966, 13690, 14398, 15091, 15769, 16433, 17082, 17718, 18340,
		18949, 19545, 20128, 20698, 21256, 21802, 22336, 22859, 23371,
	};
	u32 c = 0, i;

	if (n <= 32)
		return sum[policy_bound((u32)n, 64)];
	if (n >= 345)
		return PELT_MAX;
	policy_for(i, 0, 11) {		/* 344 / 32 halvings at most */
		if (n <= 32)
			break;
		c = c / 2 + sum[32];
		n -= 32;
	}
	return (u32)pelt_decay(c, n) + sum[policy_bound(n > 32 ? 32 : (u32)n, 64)];
}

/* kernel 3.9: __update_entity_runnable_avg(); a rest below one unit is dropped. */
policy_apart void pelt13_update(struct policy_pelt13 *a, u64 now, int runnable)
{
	u64 d = now - a->last, n;
	u32 w;

	if ((s64)d < 0) {
		a->last = now;
		return;
	}
	d >>= 10;
	if (!d)
		return;
	a->last = now;

	w = a->period % PELT_PERIOD;
	if (d + w >= PELT_PERIOD) {
		w = PELT_PERIOD - w;
		a->period += w;
		if (runnable)
			a->sum += w;
		d -= w;
		n = d / PELT_PERIOD;
		d %= PELT_PERIOD;
		a->sum = (u32)pelt_decay(a->sum, n + 1);
		a->period = (u32)pelt_decay(a->period, n + 1);
		w = pelt13_full(n);
		a->period += w;
		if (runnable)
			a->sum += w;
	}
	a->period += (u32)d;
	if (runnable)
		a->sum += (u32)d;
}

/* Are these signals kept? For pack.h only. */
static __always_inline int keeps_pelt13(const struct policy_params *k)
{
	return k->pack != PACK_NONE && !k->pack_pelt;
}

/* Bring a queue's own pair up to its clock (update_rq_runnable_avg). */
static inline void rq_update13(const struct policy_params *k, struct policy_cpu *rq)
{
	if (keeps_pelt13(k))
		pelt13_update(&rq->pelt13, rq->clock, rq->nr_running != 0);
}

/* And a task's (update_entity_load_avg). A new one begins with the present time. */
static inline void task_update13(const struct policy_params *k, const struct policy_cpu *rq,
				 struct policy_task *t, int runnable)
{
	if (!keeps_pelt13(k))
		return;
	if (!t->pelt13.last && !t->pelt13.period)
		t->pelt13.last = rq->clock;
	pelt13_update(&t->pelt13, rq->clock, runnable);
}

#endif
