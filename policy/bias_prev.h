/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bias_prev.h - feature bias-prev: prefer the previous CPU to another idle CPU
 *
 * "sched/fair: Introduce WAKEUP_BIAS_PREV to reduce migrations", RFC, October
 * 2023, on 6.5.5. A search near the target (idle_sibling.h, idle_scan.h)
 *
 *	first	takes the previous CPU if it shares the target's LLC and is idle or
 *		has room, and does not try it again;
 *	last	takes it, instead of the target, if nothing idle was found.
 *
 * The three forms of the policy differ in what "has room" means:
 *
 *	RFC	the util_est of its tasks leaves a quarter of its capacity free;
 *	September 2023
 *		it is hardly loaded; this also counts where the base tries the
 *		previous CPU, and where wake_affine.h chooses the target;
 *	UTIL_FITS_CAPACITY v2, the successor
 *		the wakee fits beside its tasks; this counts for the target and the
 *		recent CPU too.
 *
 * In all forms the CPU must be big enough where capacities differ. The wakee
 * sleeps, so that no queue's util_est includes it.
 */
#ifndef ALIGHT_BIAS_PREV_H
#define ALIGHT_BIAS_PREV_H

#include "asym_capacity.h"
#include "group.h"
#include "pack.h"

#define POLICY_ALMOST_IDLE_LOAD	47	/* LOAD_AVG_MAX / 1000 */

/* The util_est of its tasks leaves enough of @cpu free (spare_capacity_cpu). */
static __always_inline int policy_spare_capacity_cpu(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	return (u64)rq->util_est_enqueued * 1024 <= (u64)rq->capacity_orig *
	       (1024 - c->k->bias_spare);
}

/* @cpu is the previous CPU and hardly loaded without the wakee (almost_idle_cpu). */
static __always_inline int policy_almost_idle_cpu(const struct policy_ctx *c, u32 cpu)
{
	return POLICY_FEATURE_RULE(c->k, room) == ROOM_ALMOST_IDLE && cpu == c->prev_cpu &&
	       policy_cpu_load_without(c, cpu) <= POLICY_ALMOST_IDLE_LOAD;
}

/* Capacity of @cpu that other classes and limits leave now (scale_rt_capacity). */
static inline u32 policy_scale_rt_capacity(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 max = c->k->pressure == PRESSURE_AVERAGE ? policy_actual_cpu_capacity(c, cpu) :
						       rq->capacity_orig;
	u32 used = (u32)rq->rt_util + rq->dl_util;

	if (c->k->pressure == PRESSURE_THERMAL)
		used += rq->hw_load_avg;
	if (rq->irq_util >= max || used >= max)
		return 1;
	return (u32)((u64)(max - used) * (max - rq->irq_util) / max);
}

/* The wakee fits beside the tasks of @cpu (task_fits_remaining_cpu_capacity). */
static __always_inline int policy_fits_remaining_capacity(const struct policy_ctx *c, u32 cpu)
{
	return policy_fits_capacity(policy_cpu_at(c, cpu)->util_est_enqueued +
				    policy_wakee_util_est(c),
				    policy_scale_rt_capacity(c, cpu));
}

/* May a search take @cpu as a single candidate although it is busy? */
static inline int policy_has_room(const struct policy_ctx *c, u32 cpu)
{
	switch (POLICY_FEATURE_RULE(c->k, room)) {
	case ROOM_ALMOST_IDLE:
		return policy_almost_idle_cpu(c, cpu);
	case ROOM_FITS:
		return policy_fits_remaining_capacity(c, cpu);
	default:
		return 0;
	}
}

/* Does the previous CPU end the search at once: big enough, and idle or with room? */
static inline int policy_prev_answers(const struct policy_ctx *c, u32 target)
{
	u32 prev = c->prev_cpu;

	if ((prev != target && !policy_cpus_share_cache(c, prev, target)) ||
	    !policy_may_return(c, prev))
		return 0;
	return (policy_try_idle(c, STEP_BIAS_PREV, prev) ||
		(POLICY_FEATURE_RULE(c->k, room) == ROOM_SPARE ?
			 policy_spare_capacity_cpu(c, prev) :
			 policy_has_room(c, prev))) &&
	       policy_asym_fits_cpu(c, STEP_BIAS_PREV, prev);
}

static __always_inline int policy_bias_first(const struct policy_ctx *c, u32 target)
{
	return POLICY_FEATURE_RULE(c->k, bias_prev) && policy_prev_answers(c, target);
}

/* Is the previous CPU, not the target, the answer of a search that found nothing? */
static __always_inline int policy_bias_last(const struct policy_ctx *c, u32 target)
{
	return POLICY_FEATURE_RULE(c->k, bias_prev) && c->prev_cpu != target &&
	       policy_cpus_share_cache(c, c->prev_cpu, target) && policy_may_return(c, c->prev_cpu);
}

/* End of a search that found nothing. */
static inline u32 policy_nothing_idle(const struct policy_ctx *c, u32 target)
{
	if (policy_bias_last(c, target))
		return policy_take(c, STEP_BIAS_LAST, c->prev_cpu);
	return policy_take(c, STEP_TARGET_BUSY, target);
}

#endif
