/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wake_affine.h - pull the wakee to its waker, or leave it where it was
 *
 * Three tests come before the search: does this waker wake so many tasks that pulling
 * them would overload its LLC (wide), is a CPU too small for the task (wake_cap,
 * 4.7 - 5.6), and at which of the two CPUs does the search start (affine). kernel 5.5:
 * record_wakee(), wake_wide(), wake_cap(), wake_affine(); rules of policy_params stand
 * for the differences of other kernels.
 */
#ifndef ALIGHT_WAKE_AFFINE_H
#define ALIGHT_WAKE_AFFINE_H

#include "bias_prev.h"

#define POLICY_FLIP_DECAY_NS	1000000000ull	/* flips halve after a second */

static inline void policy_record_wakee(const struct policy_ctx *c)
{
	struct policy_task *cur = c->cur;

	if (c->now > cur->wakee_flip_decay_ts + POLICY_FLIP_DECAY_NS) {
		cur->wakee_flips >>= 1;
		cur->wakee_flip_decay_ts = c->now;
	}
	if (cur->last_wakee != c->p->id) {
		cur->last_wakee = c->p->id;
		cur->wakee_flips++;
	}
}

/* Waker and wakee switch partners so often that one LLC would not hold them all. */
static inline int policy_wake_wide(const struct policy_ctx *c)
{
	u32 a = c->cur->wakee_flips, b = c->p->wakee_flips;
	u32 most = a > b ? a : b, least = a > b ? b : a;
	u32 d = policy_place_at(c, c->this_cpu)->llc_domain;
	u32 factor = d == POLICY_NONE ? 1 : policy_domain_at(c, d)->weight;

	return least >= factor && most >= least * factor;
}

/* The task does not fit the smaller of the two CPUs, which has not nearly the biggest capacity. */
static inline int policy_wake_cap(const struct policy_ctx *c)
{
	u32 a = policy_cpu_at(c, c->this_cpu)->capacity_orig;
	u32 b = policy_cpu_at(c, c->prev_cpu)->capacity_orig;
	u32 least = a < b ? a : b, most = c->topo->max_capacity;

	if (!c->topo->asym || most - least < most >> 3)
		return 0;
	policy_wakee_sync(c);
	return !policy_fits_capacity(policy_uclamp_task_util(c), least);
}

/* May the wakee be pulled to this CPU at all? Notes why not. */
static inline int policy_want_affine(const struct policy_ctx *c)
{
	if (c->k->wake_wide && policy_wake_wide(c))
		c->answer->affine = AFFINE_WIDE;
	else if (c->k->wake_cap && policy_wake_cap(c))
		c->answer->affine = AFFINE_WAKE_CAP;
	else if (!policy_mask_test(c->allowed, c->this_cpu))
		c->answer->affine = AFFINE_NOT_ALLOWED;
	else
		return 1;
	return 0;
}

/* The waker says that it will sleep, and will not exit instead. */
static __always_inline int policy_waker_sleeps(const struct policy_ctx *c)
{
	return c->sync && (c->k->exit_is_sync || !(c->cur->flags & TASK_EXITING));
}

/* The waker is all that runs on this CPU. */
static __always_inline int policy_waker_alone(const struct policy_ctx *c)
{
	const struct policy_cpu *here = policy_cpu_at(c, c->this_cpu);
	u32 delayed = c->k->delayed_dequeue ? here->h_nr_delayed : 0;

	return here->nr_running - delayed == 1;
}

/* Would this CPU with the wakee be less loaded than the previous CPU without it? */
static inline int policy_wake_affine_weight(const struct policy_ctx *c,
					    const struct policy_domain *d)
{
	const struct policy_cpu *here = policy_cpu_at(c, c->this_cpu);
	const struct policy_cpu *there = policy_cpu_at(c, c->prev_cpu);
	s64 here_load = policy_cpu_load(c, c->this_cpu),
		there_load = policy_cpu_load(c, c->prev_cpu);
	s64 load = c->p->pelt.load_avg;

	if (policy_waker_sleeps(c)) {
		s64 waker = c->cur->pelt.load_avg;

		if (waker > here_load)
			return 1;
		here_load -= waker;
	}
	here_load = (here_load + load) * 100 * (s64)there->capacity;
	there_load = (there_load - load) * (s64)(100 + (d->imbalance_pct - 100) / 2) *
		     (s64)here->capacity;
	return here_load < there_load + (policy_waker_sleeps(c) ? 1 : 0);
}

/*
 * Up to 4.13 one comparison of loads decides, whether CPUs are idle or not: pull if the
 * wakee balances the two loads, or if both together are at most the mean load of a task
 * here.
 */
policy_noinline u32 policy_wake_affine_balanced(const struct policy_ctx *c,
						const struct policy_domain *d)
{
	const struct policy_cpu *here = policy_cpu_at(c, c->this_cpu);
	const struct policy_cpu *there = policy_cpu_at(c, c->prev_cpu);
	s64 here_load = policy_cpu_load(c, c->this_cpu),
		there_load = policy_cpu_load(c, c->prev_cpu);
	s64 load = c->p->weight;
	s64 per_task = here->nr_running ? here->weight / here->nr_running : 0;
	int balanced = 1;

	if (policy_waker_sleeps(c))
		here_load -= c->cur->weight;
	if (here_load > 0)
		balanced = 100 * (s64)there->capacity * (here_load + load) <=
			   (s64)(100 + (d->imbalance_pct - 100) / 2) * (s64)here->capacity *
				   there_load;
	if (policy_waker_sleeps(c) && balanced) {
		c->answer->affine = AFFINE_SYNC;
		return c->this_cpu;
	}
	if (balanced || (here_load <= there_load && here_load + there_load <= per_task)) {
		c->answer->affine = AFFINE_WEIGHT_THIS;
		return c->this_cpu;
	}
	c->answer->affine = AFFINE_WEIGHT_PREV;
	return c->prev_cpu;
}

/* The CPU at which the search starts: this one or the previous one. */
static inline u32 policy_wake_affine(const struct policy_ctx *c, const struct policy_domain *d)
{
	struct policy_answer *a = c->answer;

	if (c->k->affine_balanced)
		return policy_wake_affine_balanced(c, d);
	if (policy_available_idle_cpu(c, c->this_cpu) &&
	    policy_cpus_share_cache(c, c->this_cpu, c->prev_cpu)) {
		if (policy_available_idle_cpu(c, c->prev_cpu)) {
			a->affine = AFFINE_PREV_IDLE;
			return c->prev_cpu;
		}
		a->affine = AFFINE_THIS_IDLE;
		return c->this_cpu;
	}
	if (policy_waker_sleeps(c) && policy_waker_alone(c)) {
		a->affine = AFFINE_SYNC;
		return c->this_cpu;
	}
	if (c->k->affine_prev_idle &&
	    (policy_available_idle_cpu(c, c->prev_cpu) || policy_almost_idle_cpu(c, c->prev_cpu))) {
		a->affine = AFFINE_PREV_ALONE;
		return c->prev_cpu;
	}
	if (policy_wake_affine_weight(c, d)) {
		a->affine = AFFINE_WEIGHT_THIS;
		return c->this_cpu;
	}
	a->affine = AFFINE_WEIGHT_PREV;
	return c->prev_cpu;
}

#endif
