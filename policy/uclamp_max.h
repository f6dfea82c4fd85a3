/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uclamp_max.h - a queue is treated by the largest clamps of its tasks
 *
 * To know the largest when a task leaves, a queue counts its tasks by clamp in
 * a few buckets; a bucket remembers the largest clamp that it saw since it was
 * empty, so that the queue's clamp can stay up to a bucket's width too high. The
 * last task to leave takes its lower clamp with it and leaves its upper one
 * behind, which what comes next disregards (UCLAMP_FLAG_IDLE).
 *
 * kernel 5.3: uclamp_rq_inc_id(), uclamp_rq_dec_id(). CONFIG_UCLAMP_BUCKETS_COUNT
 * is 5 if nobody changes it.
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

/* Of one kind of clamp; a power of two, for the verifier, of which 5 count. */
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

/* A task with @clamp joins a queue whose own is @queue: what that is now. */
static inline u32 policy_uclamp_rq_inc_id(struct policy_uclamp_buckets *c, u32 queue, u32 clamp)
{
	struct policy_uclamp_bucket *b = policy_uclamp_bucket_of(c, clamp);

	if (!b->tasks++ || clamp > b->value)
		b->value = clamp;
	return queue > clamp ? queue : clamp;
}

/* A task with @clamp leaves; POLICY_NONE: it was the last one. */
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

/* One that joined with these clamps leaves. */
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
