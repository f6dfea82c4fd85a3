/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runqueue.h - what tasks that come, run and go do to a CPU's view
 *
 * Each function is one event of a fair task's life. The caller has brought the
 * clock up to date (rq_clock); curr_fair says whether a fair task is current.
 * Each returns true if the queue's utilization may have changed, which is when
 * the kernel calls the frequency governor. kernel 5.5: enqueue_entity(),
 * dequeue_entity(), set_next_entity(), put_prev_entity(), entity_tick().
 */
#ifndef ALIGHT_RUNQUEUE_H
#define ALIGHT_RUNQUEUE_H

#include "pelt.h"

static inline int rq_enqueue(const struct policy_params *k, struct policy_cpu *rq,
			     struct policy_task *t, int curr_fair)
{
	const int attached = !t->pelt.last;
	int changed = task_refresh(k, rq, t, 0, 0, curr_fair);

	rq_update13(k, rq);
	task_update13(k, rq, t, 0);
	if (keeps_queued_load(k))
		queued_load_add(rq, t);
	rq->weight += t->weight;
	rq->nr_running++;
	rq->h_nr_running++;
	rq->h_nr_idle += t->class == POLICY_IDLE;
	t->flags |= TASK_ON_RQ;
	est_enqueue(k, rq, t);
	if (clamps_add_up(k))
		clamped_task_joins(k, rq, t, attached);
	return changed;
}

/*
 * @running: it is the current task; @sleeps: it goes to sleep, not elsewhere;
 * @moves: it goes to another CPU.
 * Always inline: a BPF function takes five arguments at most.
 */
static __always_inline int rq_leave(const struct policy_params *k, struct policy_cpu *rq,
				    struct policy_task *t, int running, int curr_fair, int sleeps,
				    int moves)
{
	int changed = task_refresh(k, rq, t, 1, (u64)running, curr_fair);

	rq_update13(k, rq);
	task_update13(k, rq, t, 1);
	if (keeps_queued_load(k))
		queued_load_sub(rq, t);
	rq->weight -= t->weight;
	rq->nr_running--;
	rq->h_nr_running--;
	rq->h_nr_idle -= t->class == POLICY_IDLE;
	t->flags &= ~TASK_ON_RQ;
	est_dequeue(k, rq, t, sleeps);
	if (clamps_add_up(k))
		clamped_task_leaves(k, rq, t, moves);
	return changed;
}

/* @running: it is the current task; @sleeps: it goes to sleep. */
static __always_inline int rq_dequeue(const struct policy_params *k, struct policy_cpu *rq,
				      struct policy_task *t, int running, int curr_fair, int sleeps)
{
	return rq_leave(k, rq, t, running, curr_fair, sleeps, 0);
}

/* A queued task is about to run. */
static inline int rq_set_next(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t)
{
	task_update13(k, rq, t, 1);
	return task_refresh(k, rq, t, 1, 0, 0);
}

/* The current task runs on, or stops running and stays queued. */
static inline int rq_update_curr(const struct policy_params *k, struct policy_cpu *rq,
				 struct policy_task *t)
{
	rq_update13(k, rq);
	task_update13(k, rq, t, 1);
	return task_refresh(k, rq, t, 1, 1, 1);
}

/* A queued task leaves for another CPU (load balance): its signals go along. */
static inline void rq_detach(const struct policy_params *k, struct policy_cpu *rq,
			     struct policy_task *t, int curr_fair)
{
	rq_leave(k, rq, t, 0, curr_fair, 0, 1);
	task_detach(k, rq, t);
	t->pelt.last = 0;
}

/*
 * Delayed dequeue (6.12): a task that sleeps though it got more than its share
 * stays queued, with its weight, until it is picked or woken. It is not
 * runnable meanwhile (se_runnable), and its estimate counts no more.
 */
static inline int rq_delay(const struct policy_params *k, struct policy_cpu *rq,
			   struct policy_task *t)
{
	int changed = task_refresh(k, rq, t, 1, 1, 1);

	task_update13(k, rq, t, 1);
	est_dequeue(k, rq, t, 1);
	rq->h_nr_delayed++;
	return changed;
}

static inline int delayed_refresh(const struct policy_params *k, struct policy_cpu *rq,
				  struct policy_task *t, int curr_fair)
{
	task_accumulate(k, rq, t, 1, 0, 0);
	return queue_refresh(k, rq, curr_fair);
}

/* It was woken before it was picked (requeue_delayed_entity). */
static inline int rq_requeue(const struct policy_params *k, struct policy_cpu *rq,
			     struct policy_task *t, int curr_fair)
{
	int changed = delayed_refresh(k, rq, t, curr_fair);

	task_update13(k, rq, t, 0);
	rq->h_nr_delayed--;
	est_enqueue(k, rq, t);
	return changed;
}

/* It was picked: now it leaves. */
static inline int rq_dequeue_delayed(const struct policy_params *k, struct policy_cpu *rq,
				     struct policy_task *t, int curr_fair)
{
	int changed = delayed_refresh(k, rq, t, curr_fair);

	rq_update13(k, rq);
	rq->weight -= t->weight;
	rq->nr_running--;
	rq->h_nr_running--;
	rq->h_nr_delayed--;
	rq->h_nr_idle -= t->class == POLICY_IDLE;
	t->flags &= ~TASK_ON_RQ;
	if (clamps_add_up(k))
		clamped_task_leaves(k, rq, t, 0);
	return changed;
}

/* End of an idle phase of length @idle_ns: its moving average, at most @max (update_avg in ttwu). */
static inline void rq_idle_end(struct policy_cpu *rq, u64 idle_ns, u64 max)
{
	s64 diff = (s64)idle_ns - (s64)rq->avg_idle;

	rq->avg_idle += (u64)(diff >> 3);
	if (rq->avg_idle > max)
		rq->avg_idle = max;
}

#endif
