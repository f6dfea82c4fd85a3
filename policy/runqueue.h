/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runqueue.h - updates a CPU's view when tasks are enqueued, run and leave
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

static inline int policy_enqueue_entity(const struct policy_params *k, struct policy_cpu *rq,
					struct policy_task *t, int curr_fair)
{
	const int attached = !t->pelt.last_update_time;
	int changed = policy_update_load_avg(k, rq, t, 0, 0, curr_fair);

	policy_update_rq_runnable_avg(k, rq);
	policy_update_task_runnable_avg(k, rq, t, 0);
	if (policy_keeps_runnable_load(k))
		policy_enqueue_runnable_load_avg(rq, t);
	rq->weight += t->weight;
	rq->nr_running++;
	rq->h_nr_running++;
	rq->h_nr_idle += t->class == POLICY_IDLE;
	t->flags |= TASK_ON_RQ;
	policy_util_est_enqueue(k, rq, t);
	if (policy_clamps_add_up(k))
		policy_clamped_task_joins(k, rq, t, attached);
	return changed;
}

/*
 * @running: it is the current task; @sleeps: it goes to sleep; @moves: it goes to
 * another CPU.
 * Always inline: a BPF function takes five arguments at most.
 */
static __always_inline int policy_leave_entity(const struct policy_params *k, struct policy_cpu *rq,
					       struct policy_task *t, int running, int curr_fair,
					       int sleeps, int moves)
{
	int changed;

	if (k->est_early)
		policy_util_est_dequeue(k, rq, t, sleeps);
	changed = policy_update_load_avg(k, rq, t, 1, (u64)running, curr_fair);
	policy_update_rq_runnable_avg(k, rq);
	policy_update_task_runnable_avg(k, rq, t, 1);
	if (policy_keeps_runnable_load(k))
		policy_dequeue_runnable_load_avg(rq, t);
	rq->weight -= t->weight;
	rq->nr_running--;
	rq->h_nr_running--;
	rq->h_nr_idle -= t->class == POLICY_IDLE;
	t->flags &= ~TASK_ON_RQ;
	if (!k->est_early)
		policy_util_est_dequeue(k, rq, t, sleeps);
	if (policy_clamps_add_up(k))
		policy_clamped_task_leaves(k, rq, t, moves);
	return changed;
}

/* @running: it is the current task; @sleeps: it goes to sleep. */
static __always_inline int policy_dequeue_entity(const struct policy_params *k,
						 struct policy_cpu *rq, struct policy_task *t,
						 int running, int curr_fair, int sleeps)
{
	return policy_leave_entity(k, rq, t, running, curr_fair, sleeps, 0);
}

/* A queued task is about to run. */
static inline int policy_set_next_entity(const struct policy_params *k, struct policy_cpu *rq,
					 struct policy_task *t)
{
	policy_update_task_runnable_avg(k, rq, t, 1);
	return policy_update_load_avg(k, rq, t, 1, 0, 0);
}

/* The current task runs on, or stops running and stays queued. */
static inline int policy_update_curr(const struct policy_params *k, struct policy_cpu *rq,
				     struct policy_task *t)
{
	policy_update_rq_runnable_avg(k, rq);
	policy_update_task_runnable_avg(k, rq, t, 1);
	return policy_update_load_avg(k, rq, t, 1, 1, 1);
}

/* A queued task leaves for another CPU (load balance): its signals go along. */
static inline void policy_detach_task(const struct policy_params *k, struct policy_cpu *rq,
				      struct policy_task *t, int curr_fair)
{
	policy_leave_entity(k, rq, t, 0, curr_fair, 0, 1);
	policy_detach_entity_load_avg(k, rq, t);
	t->pelt.last_update_time = 0;
}

/*
 * Delayed dequeue (6.12): a task that goes to sleep after it got more than its share
 * stays queued, with its weight, until it is picked or woken. Meanwhile it is not
 * runnable (se_runnable), and its estimate does not count. The estimate is made before
 * the averages are updated up to 6.18 (dequeue_task_fair), and after that update in
 * later kernels (UPDATE_UTIL_EST of update_load_avg); policy_leave_entity() does the same.
 */
static inline int policy_set_delayed(const struct policy_params *k, struct policy_cpu *rq,
				     struct policy_task *t)
{
	int changed;

	if (k->est_early)
		policy_util_est_dequeue(k, rq, t, 1);
	changed = policy_update_load_avg(k, rq, t, 1, 1, 1);
	policy_update_task_runnable_avg(k, rq, t, 1);
	if (!k->est_early)
		policy_util_est_dequeue(k, rq, t, 1);
	rq->h_nr_delayed++;
	return changed;
}

static inline int policy_update_delayed(const struct policy_params *k, struct policy_cpu *rq,
					struct policy_task *t, int curr_fair)
{
	policy_update_load_avg_se(k, rq, t, 1, 0, 0);
	return policy_update_cfs_rq_load_avg(k, rq, curr_fair);
}

/* A delayed task was woken before it was picked (requeue_delayed_entity). */
static inline int policy_requeue_delayed_entity(const struct policy_params *k,
						struct policy_cpu *rq, struct policy_task *t,
						int curr_fair)
{
	int changed = policy_update_delayed(k, rq, t, curr_fair);

	policy_update_task_runnable_avg(k, rq, t, 0);
	rq->h_nr_delayed--;
	policy_util_est_enqueue(k, rq, t);
	return changed;
}

/* A delayed task was picked: it leaves the queue. */
static inline int policy_dequeue_delayed(const struct policy_params *k, struct policy_cpu *rq,
					 struct policy_task *t, int curr_fair)
{
	int changed = policy_update_delayed(k, rq, t, curr_fair);

	policy_update_rq_runnable_avg(k, rq);
	rq->weight -= t->weight;
	rq->nr_running--;
	rq->h_nr_running--;
	rq->h_nr_delayed--;
	rq->h_nr_idle -= t->class == POLICY_IDLE;
	t->flags &= ~TASK_ON_RQ;
	if (policy_clamps_add_up(k))
		policy_clamped_task_leaves(k, rq, t, 0);
	return changed;
}

/* An idle phase of @idle_ns ended: updates avg_idle, to at most @max (update_avg in ttwu). */
static inline void policy_update_avg_idle(struct policy_cpu *rq, u64 idle_ns, u64 max)
{
	s64 diff = (s64)idle_ns - (s64)rq->avg_idle;

	rq->avg_idle += (u64)(diff >> 3);
	if (rq->avg_idle > max)
		rq->avg_idle = max;
}

#endif
