/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uclamp.h - does a task fit a CPU, clamps considered
 *
 * Up to 6.0 a clamp replaces the utilization (task_need() in candidate.h).
 * From 6.1 utilization and clamps are questions of their own, and the answer
 * has a third value: all would be well if the CPU reached the lower clamp.
 * kernel 6.1: util_fits_cpu(), task_fits_cpu(); 6.10: get_actual_cpu_capacity().
 * With uclamp-sum the sum of clamped utilizations fits or not; with its biases
 * the third value, from 6.1 on, is for what fits as it is but not as clamped.
 */
#ifndef ALIGHT_UCLAMP_H
#define ALIGHT_UCLAMP_H

#include "candidate.h"

#define FITS		1
#define FITS_NOT	0
#define FITS_MIN_NOT	(-1)	/* but for the lower clamp */

/* What limits leave of a CPU now. */
static __always_inline u32 actual_capacity(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = cpu_at(c, cpu);

	switch (c->k->pressure) {
	case PRESSURE_THERMAL:
		return sub_floor0(rq->capacity_orig, rq->hw_pressure);
	case PRESSURE_AVERAGE:
		return sub_floor0(rq->capacity_orig, rq->hw_load_avg > rq->cpufreq_pressure ?
							     rq->hw_load_avg :
							     rq->cpufreq_pressure);
	default:
		return rq->capacity_orig;
	}
}

/* Does @util with these clamps fit the CPU? FITS*, of which only FITS is a yes. */
static inline s32 util_fits(const struct policy_ctx *c, u32 util, u32 lo, u32 hi, u32 cpu)
{
	const struct policy_cpu *rq = cpu_at(c, cpu);
	s32 fit = fits(util, rq->capacity);

	if (!c->root.uclamp_used)
		return fit;
	/* Capped below what the CPU can give, it fits; but 1024 of 1024 is no cap. */
	if (hi <= rq->capacity_orig &&
	    !(hi == CAPACITY_SCALE && rq->capacity_orig == CAPACITY_SCALE))
		fit = FITS;
	if (lo > hi)
		lo = hi;
	if (fit && util < lo && lo > actual_capacity(c, cpu))
		return FITS_MIN_NOT;
	return fit;
}

/* Does utilization @util, @clamped with biases, fit the CPU? FITS*. */
static __always_inline s32 clamped_fits(const struct policy_ctx *c, u32 util, u32 clamped, u32 cpu)
{
	u32 capacity = cpu_at(c, cpu)->capacity;

	if (fits(clamped, capacity))
		return FITS;
	if (biases_count(c) && c->k->fit == FIT_CLAMPS && fits(util, capacity))
		return FITS_MIN_NOT;
	return FITS_NOT;
}

/* The wakee on @cpu, FITS*. */
static __always_inline s32 wakee_fit(const struct policy_ctx *c, u32 cpu)
{
	if (sums_count(c) || biases_count(c))
		return clamped_fits(c, task_util_est(c->k, c->p), wakee_clamped_est(c), cpu);
	return util_fits(c, task_util_est(c->k, c->p), c->p->uclamp_min, c->p->uclamp_max, cpu);
}

/* Does the wakee fit this CPU, as the base sees it? (task_fits_cpu, task_fits_capacity) */
static inline int wakee_fits(const struct policy_ctx *c, u32 cpu)
{
	if (c->k->fit == FIT_CLAMPS)
		return wakee_fit(c, cpu) == FITS;
	return fits(task_need(c), cpu_at(c, cpu)->capacity);
}

#endif
