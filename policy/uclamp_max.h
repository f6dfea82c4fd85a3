/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uclamp_max.h - the clamps of a queue: the largest clamps of its tasks
 *
 * A queue counts its tasks by clamp in a few buckets, to find the largest clamp when
 * a task leaves. A bucket keeps the largest clamp since it was empty, so that the
 * queue's clamp can be too high by up to a bucket's width. When the last task leaves,
 * the queue's lower clamp becomes 0 and its upper clamp becomes that task's; the next
 * task to join ignores both (UCLAMP_FLAG_IDLE).
 *
 * kernel 5.3: uclamp_rq_inc_id(), uclamp_rq_dec_id(). CONFIG_UCLAMP_BUCKETS_COUNT
 * is 5 by default.
 */
#ifndef ALIGHT_UCLAMP_MAX_H
#define ALIGHT_UCLAMP_MAX_H

#include "mask.h"

#define POLICY_UCLAMP_BUCKETS		5u
#define POLICY_UCLAMP_BUCKET_WIDTH	205u	/* 1024 / 5, rounded to nearest */

struct policy_uclamp_bucket {
	u32 tasks;
	u32 value;	/* largest clamp since the bucket was empty */
};

/* The buckets of one kind of clamp; a power of two, for the verifier; 5 are used. */
struct policy_uclamp_buckets {
	struct policy_uclamp_bucket bucket[8];
};

struct policy_uclamp_rq {
	struct policy_uclamp_buckets min, max;
};

static __always_inline struct policy_uclamp_bucket *
policy_uclamp_bucket_of(struct policy_uclamp_buckets *c, u32 clamp)
{
	u32 n = clamp / POLICY_UCLAMP_BUCKET_WIDTH;

	return &c->bucket[policy_bound(n < POLICY_UCLAMP_BUCKETS ? n : POLICY_UCLAMP_BUCKETS - 1,
				       8)];
}

/* A task with @clamp joins a queue whose clamp is @queue. Returns the queue's new clamp. */
static inline u32 policy_uclamp_rq_inc_id(struct policy_uclamp_buckets *c, u32 queue, u32 clamp)
{
	struct policy_uclamp_bucket *b = policy_uclamp_bucket_of(c, clamp);

	if (!b->tasks++ || clamp > b->value)
		b->value = clamp;
	return queue > clamp ? queue : clamp;
}

/* A task with @clamp leaves. Returns the queue's new clamp; POLICY_NONE: no task is left. */
static inline u32 policy_uclamp_rq_dec_id(struct policy_uclamp_buckets *c, u32 queue, u32 clamp)
{
	struct policy_uclamp_bucket *b = policy_uclamp_bucket_of(c, clamp);
	u32 i;

	if (b->tasks)
		b->tasks--;
	if (b->tasks || b->value < queue)
		return queue;
#pragma unroll
	for (i = POLICY_UCLAMP_BUCKETS; i > 0; i--)
		if (c->bucket[i - 1].tasks)
			return c->bucket[i - 1].value;
	return POLICY_NONE;
}

/* A task with these clamps is about to join the queue. */
static inline void policy_uclamp_rq_inc(struct policy_uclamp_rq *q, struct policy_cpu *rq, u32 min,
					u32 max)
{
	if (rq->uclamp_idle) {
		rq->uclamp_idle = 0;
		rq->uclamp_min = rq->uclamp_max = 0;
	}
	rq->uclamp_min = (u16)policy_uclamp_rq_inc_id(&q->min, rq->uclamp_min, min);
	rq->uclamp_max = (u16)policy_uclamp_rq_inc_id(&q->max, rq->uclamp_max, max);
}

/* A task that joined with these clamps leaves. */
static inline void policy_uclamp_rq_dec(struct policy_uclamp_rq *q, struct policy_cpu *rq, u32 min,
					u32 max)
{
	u32 lower = policy_uclamp_rq_dec_id(&q->min, rq->uclamp_min, min);
	u32 upper = policy_uclamp_rq_dec_id(&q->max, rq->uclamp_max, max);

	rq->uclamp_min = lower == POLICY_NONE ? 0 : (u16)lower;
	rq->uclamp_max = upper == POLICY_NONE ? (u16)max : (u16)upper;
	if (upper == POLICY_NONE)
		rq->uclamp_idle = 1;
}

#endif
