/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wake_affine.h - pull the wakee to its waker, or leave it where it was
 *
 * Three questions before the search: does this waker wake so many that pulling
 * them all would pile them up (wide), are the CPUs too small for the task
 * (wake_cap, 4.7 - 5.6), and which of the two CPUs should the search start at
 * (affine). kernel 5.5: record_wakee(), wake_wide(), wake_cap(), wake_affine().
 */
#ifndef ALIGHT_WAKE_AFFINE_H
#define ALIGHT_WAKE_AFFINE_H

#include "candidate.h"

#define FLIP_DECAY_NS	1000000000ull	/* flips halve after a second */

static inline void record_wakee(const struct policy_ctx *c)
{
	struct policy_task *cur = c->cur;

	if (c->now > cur->flip_stamp + FLIP_DECAY_NS) {
		cur->flips >>= 1;
		cur->flip_stamp = c->now;
	}
	if (cur->last_wakee != c->p->id) {
		cur->last_wakee = c->p->id;
		cur->flips++;
	}
}

/* Waker and wakee switch partners so often that one LLC would not hold them all. */
static inline int wide(const struct policy_ctx *c)
{
	u32 a = c->cur->flips, b = c->p->flips;
	u32 most = a > b ? a : b, least = a > b ? b : a;
	u32 d = place_at(c, c->this_cpu)->llc_domain;
	u32 factor = d == POLICY_NONE ? 1 : domain_at(c, d)->weight;

	return least >= factor && most >= least * factor;
}

/* The task does not fit the smaller of its two CPUs, and that one is not nearly the biggest. */
static inline int wake_cap(const struct policy_ctx *c)
{
	u32 a = cpu_at(c, c->this_cpu)->capacity_orig;
	u32 b = cpu_at(c, c->prev_cpu)->capacity_orig;
	u32 least = a < b ? a : b, most = c->topo->max_capacity;

	if (!c->topo->asym || most - least < most >> 3)
		return 0;
	wakee_sync(c);
	return !fits(task_need(c), least);
}

/* May the wakee be pulled to this CPU at all? Notes why not. */
static inline int affine_wanted(const struct policy_ctx *c)
{
	if (wide(c))
		c->answer->affine = AFFINE_WIDE;
	else if (c->k->wake_cap && wake_cap(c))
		c->answer->affine = AFFINE_CAP;
	else if (!mask_test(c->allowed, c->this_cpu))
		c->answer->affine = AFFINE_NOT_ALLOWED;
	else
		return 1;
	return 0;
}

/* The waker says that it will sleep, and will not exit instead. */
static __always_inline int waker_sleeps(const struct policy_ctx *c)
{
	return c->sync && !(c->cur->flags & TASK_EXITING);
}

/* Would this CPU, with the wakee, be less loaded than the previous one was? */
static inline int affine_weight(const struct policy_ctx *c, const struct policy_domain *d)
{
	const struct policy_cpu *here = cpu_at(c, c->this_cpu);
	const struct policy_cpu *there = cpu_at(c, c->prev_cpu);
	s64 here_load = here->cfs.load_avg, there_load = there->cfs.load_avg;
	s64 load = c->p->pelt.load_avg;

	if (waker_sleeps(c)) {
		s64 waker = c->cur->pelt.load_avg;

		if (waker > here_load)
			return 1;
		here_load -= waker;
	}
	here_load = (here_load + load) * 100 * (s64)there->capacity;
	there_load = (there_load - load) * (s64)(100 + (d->imbalance_pct - 100) / 2) *
		     (s64)here->capacity;
	return here_load < there_load + (waker_sleeps(c) ? 1 : 0);
}

/* The CPU at which the search starts: this one or the previous one. */
static inline u32 affine(const struct policy_ctx *c, const struct policy_domain *d)
{
	struct policy_answer *a = c->answer;

	if (cpu_idle(c, c->this_cpu) && same_llc(c, c->this_cpu, c->prev_cpu)) {
		if (cpu_idle(c, c->prev_cpu)) {
			a->affine = AFFINE_PREV_IDLE;
			return c->prev_cpu;
		}
		a->affine = AFFINE_THIS_IDLE;
		return c->this_cpu;
	}
	if (waker_sleeps(c) && cpu_at(c, c->this_cpu)->nr_running == 1) {
		a->affine = AFFINE_SYNC;
		return c->this_cpu;
	}
	if (affine_weight(c, d)) {
		a->affine = AFFINE_WEIGHT_THIS;
		return c->this_cpu;
	}
	a->affine = AFFINE_WEIGHT_PREV;
	return c->prev_cpu;
}

#endif
