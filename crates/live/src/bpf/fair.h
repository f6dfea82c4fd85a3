/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fair.h - the order of the tasks of a CPU: EEVDF, as in kernel/sched/fair.c, Linux 7.2
 *
 * A task's vruntime is its time on CPUs over its weight. The weighted mean of the
 * vruntimes of a queue is the queue's virtual time V. A task behind V is owed CPU
 * time (its lag is positive); a task ahead of V has had too much. A task asks for a
 * slice, which it has had by its deadline. The queue is ordered by deadlines. Each
 * function, and the one of fair.c that it follows:
 *
 *	fair_join	place_entity	lag and deadline are kept on the way to the queue
 *	fair_leave	update_entity_lag
 *	fair_reweigh	reweight_entity
 *	fair_charge	update_curr, update_deadline
 *	fair_starts	set_next_entity, set_protect_slice
 *	fair_turn_rest	hrtick_start_fair
 *	fair_preempts	wakeup_preempt_fair, pick_eevdf
 *	fair_yield	yield_task_fair
 *
 * V is computed from an exact sum, because rounding errors would add up on a CPU that
 * never idles. This file calls no helper of the kernel, so that it compiles for the
 * host too, where it is tested.
 *
 * One difference: in fair.c a task that sleeps with negative lag stays queued until the
 * lag is paid (delayed dequeue). Here it leaves; when it comes back to the same CPU, its
 * debt is less by the advance of V meanwhile.
 */
#ifndef ALIGHT_LIVE_FAIR_H
#define ALIGHT_LIVE_FAIR_H

#include "policy/types.h"

#define FAIR_NICE_0	1024
/* Of a SCHED_IDLE task, or of a group with cpu.idle. */
#define WEIGHT_IDLEPRIO	3

/* A queue of tasks, the running one included. Written under the lock of the CPU's view. */
struct fair_queue {
	s64 sum;		/* of weight * (vruntime - zero) */
	u64 weight;		/* sum of the weights */
	u64 zero;		/* a virtual time near V */
	/* The running task, as of its last charge. */
	u64 curr_from;		/* its time; if no task runs, when one ran last or the CPU idled last */
	u64 curr_vruntime;
	u64 curr_deadline;
	u64 curr_protected;	/* it is not preempted until its vruntime gets there */
	u32 curr_weight;	/* 0: no task of this queue runs */
	u32 curr_idle;		/* it is SCHED_IDLE */
	u64 curr_slice;
	u32 curr_pinned;	/* no other CPU may run it */
	/* queue.h: tasks in the patient queue, and when one of them was last served by age. */
	u32 patient;
	u32 readers;		/* of them, tasks preempted inside an RCU read section */
	u64 patient_served;
};

/* The state of a task. */
struct fair_entity {
	u64 vruntime;
	u64 deadline;
	s64 lag;		/* while not queued: V - vruntime when it left */
	u64 ahead;		/* while not queued: deadline - vruntime if it is kept, else 0 */
	u64 left_at;		/* V of the other tasks when it left */
	u64 slice;		/* time that it asks for, ns */
	u32 weight;		/* FAIR_NICE_0 at nice 0 */
	u32 fresh;		/* never queued */
};

/* @time of a task of @weight in virtual time (calc_delta_fair). */
static __always_inline u64 fair_virtual(u64 time, u32 weight)
{
	return weight == FAIR_NICE_0 || !weight ? time : time * FAIR_NICE_0 / weight;
}

/* floor(n / d), without the signed division that BPF lacks; 0 if @d is 0. */
static __always_inline s64 fair_floor(s64 n, u64 d)
{
	if (!d)
		return 0;
	return n < 0 ? -(s64)(((u64)-n + d - 1) / d) : (s64)((u64)n / d);
}

/* n / d towards 0, as the kernel divides lags (div64_long); 0 if @d is 0. */
static __always_inline s64 fair_part(s64 n, u64 d)
{
	if (!d)
		return 0;
	return n < 0 ? -(s64)((u64)-n / d) : (s64)((u64)n / d);
}

/* The virtual time that the running task has run since its last charge. */
static __always_inline u64 fair_uncharged(const struct fair_queue *q, u64 now)
{
	if (!q->curr_weight || now <= q->curr_from)
		return 0;
	return fair_virtual(now - q->curr_from, q->curr_weight);
}

/* V, the queue's virtual time at @now (avg_vruntime after update_curr). */
static __always_inline u64 fair_now(const struct fair_queue *q, u64 now)
{
	s64 uncharged = (s64)(fair_uncharged(q, now) * q->curr_weight);

	return q->zero + (u64)fair_floor(q->sum + uncharged, q->weight);
}

static __always_inline s64 fair_within(s64 lag, s64 most)
{
	return lag > most ? most : lag < -most ? -most : lag;
}

/* Moves the origin of the sum to V, which keeps it small; V stays. */
static __always_inline void fair_rebase(struct fair_queue *q, u64 v)
{
	q->sum -= (s64)(v - q->zero) * (s64)q->weight;
	q->zero = v;
}

/* Has @e had no more than its share? (entity_eligible) */
static __always_inline int fair_eligible(const struct fair_queue *q, const struct fair_entity *e,
					 u64 now)
{
	return (s64)(e->vruntime - fair_now(q, now)) <= 0;
}

/*
 * @e joins @q with the lag that it had when it left. Its weight moves V towards it, so
 * that it is placed at a larger distance from V first. @weight: its weight from now on;
 * @here: it left this queue, not another.
 */
static __always_inline void fair_join(struct fair_queue *q, struct fair_entity *e, u32 weight,
				      int here, u64 now)
{
	u64 v = fair_now(q, now), share;
	s64 lag = e->lag;

	if (weight != e->weight && e->weight)	/* reweight_entity: what it is owed stays */
		lag = fair_part(lag * (s64)e->weight, weight);
	lag = q->weight ? lag + fair_part(lag * (s64)weight, q->weight) : 0;
	if (lag < 0 && here && (s64)(v - e->left_at) > 0) {
		lag += (s64)(v - e->left_at);
		lag = lag < 0 ? lag : 0;
	}
	e->weight = weight;
	e->vruntime = v - (u64)lag;
	share = fair_virtual(e->slice, weight);
	/* A new task starts with half a slice (PLACE_DEADLINE_INITIAL). */
	e->deadline = e->vruntime + (e->ahead ? e->ahead : e->fresh ? share / 2 : share);
	e->ahead = 0;
	e->fresh = 0;
	q->sum += (s64)(e->vruntime - q->zero) * (s64)weight;
	q->weight += weight;
	fair_rebase(q, v);
}

/* @e leaves @q. If it does not go to sleep (@keeps), it keeps its deadline. */
static __always_inline void fair_leave(struct fair_queue *q, struct fair_entity *e, int keeps,
				       u64 tick, u64 now)
{
	u64 v = fair_now(q, now), rest = e->deadline - e->vruntime;

	e->lag = fair_within((s64)(v - e->vruntime),
			     (s64)fair_virtual(e->slice + tick, e->weight));
	e->ahead = keeps && (s64)rest > 0 ? rest : 0;
	q->sum -= (s64)(e->vruntime - q->zero) * (s64)e->weight;
	q->weight -= e->weight;
	if (q->weight) {
		fair_rebase(q, fair_now(q, now));
	} else {
		/* V goes on from here. */
		q->zero = v;
		q->sum = 0;
	}
	e->left_at = q->zero;
}

/* Its group gives the queued @e another weight (reweight_entity). */
static __always_inline void fair_reweigh(struct fair_queue *q, struct fair_entity *e, u32 weight,
					 u64 tick, u64 now)
{
	if (weight == e->weight)
		return;
	fair_leave(q, e, 1, tick, now);
	e->ahead = weight ? e->ahead * e->weight / weight : 0;
	fair_join(q, e, weight, 0, now);
}

static __always_inline void fair_show(struct fair_queue *q, const struct fair_entity *e, u64 now)
{
	q->curr_from = now;
	q->curr_vruntime = e->vruntime;
	q->curr_deadline = e->deadline;
}

/* @e, which is queued, begins to run: it is protected until it has had its slice. */
static __always_inline void fair_starts(struct fair_queue *q, const struct fair_entity *e,
					int idle, u64 now)
{
	fair_show(q, e, now);
	q->curr_protected = e->deadline;
	q->curr_weight = e->weight;
	q->curr_slice = e->slice;
	q->curr_idle = (u32)idle;
}

/* Charges the running task for the time since the last charge; true if it has had its slice. */
static __always_inline int fair_charge(struct fair_queue *q, struct fair_entity *e, u64 now)
{
	u64 ran = now > q->curr_from ? now - q->curr_from : 0, v;
	int expired;

	v = fair_virtual(ran, e->weight);
	e->vruntime += v;
	q->sum += (s64)v * (s64)e->weight;
	expired = (s64)(e->vruntime - e->deadline) >= 0;
	if (expired)
		e->deadline = e->vruntime + fair_virtual(e->slice, e->weight);
	fair_show(q, e, now);
	return expired || (s64)(e->vruntime - q->curr_protected) >= 0;
}

/* Time, ns, until the running task has had its slice. */
static __always_inline u64 fair_turn_rest(const struct fair_queue *q, u64 now)
{
	s64 rest = (s64)(q->curr_deadline - q->curr_vruntime - fair_uncharged(q, now));

	return q->curr_weight && rest > 0 ? (u64)rest * q->curr_weight / FAIR_NICE_0 : 0;
}

static __always_inline void fair_stops(struct fair_queue *q)
{
	q->curr_weight = 0;
}

/*
 * May @e, which has just been woken and joined, run before the running task? A running
 * task that has had more than its share gives way at once. Any other is protected until
 * it has had its slice, unless @e asks for a shorter slice.
 */
static __always_inline int fair_preempts(const struct fair_queue *q, const struct fair_entity *e,
					 u64 now)
{
	u64 vruntime = q->curr_vruntime + fair_uncharged(q, now), deadline = q->curr_deadline;
	u64 v = fair_now(q, now);

	if ((s64)(e->vruntime - v) > 0)
		return 0;
	if ((s64)(vruntime - v) > 0)
		return 1;
	if (e->slice >= q->curr_slice && (s64)(vruntime - q->curr_protected) < 0)
		return 0;
	if ((s64)(vruntime - deadline) >= 0)	/* as it will be when it is charged */
		deadline = vruntime + fair_virtual(q->curr_slice, q->curr_weight);
	return (s64)(e->deadline - deadline) <= 0;
}

/* The running task gives up the rest of its slice, if it is eligible. */
static __always_inline void fair_yield(struct fair_queue *q, struct fair_entity *e, u64 now)
{
	fair_charge(q, e, now);
	if (!fair_eligible(q, e, now) || (s64)(e->deadline - e->vruntime) <= 0)
		return;
	q->sum += (s64)(e->deadline - e->vruntime) * (s64)e->weight;
	e->vruntime = e->deadline;
	e->deadline += fair_virtual(e->slice, e->weight);
	fair_show(q, e, now);
}

#endif
