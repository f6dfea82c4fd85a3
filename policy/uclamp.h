/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uclamp.h - tests whether a task fits a CPU, clamps included
 *
 * Up to 6.0 the clamped utilization is tested (policy_uclamp_task_util() in candidate.h).
 * From 6.1, and in the last updates of 5.10 and 5.15, utilization and clamps are tested
 * separately. From 6.1 the result has a third value: the task fits, but the CPU does not
 * reach its lower clamp.
 * kernel 6.1: util_fits_cpu(), task_fits_cpu(); 6.10: get_actual_cpu_capacity().
 * With uclamp-sum the sum of clamped utilizations is tested. With its biases, from 6.1 on,
 * the third value means that the plain utilization fits and the clamped one does not.
 */
#ifndef ALIGHT_UCLAMP_H
#define ALIGHT_UCLAMP_H

#include "candidate.h"

#define POLICY_FITS		1
#define POLICY_FITS_NOT		0
#define POLICY_FITS_MIN_NOT	(-1)	/* fits but for the lower clamp */

/* Capacity of a CPU under its present limits. */
static __always_inline u32 policy_actual_cpu_capacity(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	switch (c->k->pressure) {
	case PRESSURE_THERMAL:
		return policy_sub_positive(rq->capacity_orig, rq->hw_pressure);
	case PRESSURE_AVERAGE:
		return policy_sub_positive(rq->capacity_orig,
					   rq->hw_load_avg > rq->cpufreq_pressure ?
							     rq->hw_load_avg :
							     rq->cpufreq_pressure);
	default:
		return rq->capacity_orig;
	}
}

/* Are estimate and clamps tested separately? */
static __always_inline int policy_clamps_fit(const struct policy_params *k)
{
	return k->fit == FIT_CLAMPS || k->fit == FIT_CLAMPS_ALL;
}

/*
 * 5.10.262 and 5.15.215 have no third value: a task whose lower clamp is above the
 * capacity under limits does not fit, except on the biggest CPUs. A CPU that limits leave
 * less than a smaller one has is tested with what they leave (cpu_in_capacity_inversion()).
 */
policy_noinline s32 policy_util_fits_cpu_or_not(const struct policy_ctx *c, u32 util, u32 lo,
						u32 hi, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 orig = rq->capacity_orig, reached = policy_actual_cpu_capacity(c, cpu);

	if (rq->capacity_inverted)
		orig = reached = rq->capacity_inverted;
	if (lo > hi)
		lo = hi;
	if (util < lo && orig != CAPACITY_SCALE && lo > reached)
		return POLICY_FITS_NOT;
	if (hi <= orig && !(hi == CAPACITY_SCALE && orig == CAPACITY_SCALE))
		return POLICY_FITS;
	return policy_fits_capacity(util, rq->capacity);
}

/* Does @util with these clamps fit the CPU? Returns POLICY_FITS*; only POLICY_FITS is a yes. */
static inline s32 policy_util_fits_cpu(const struct policy_ctx *c, u32 util, u32 lo, u32 hi,
				       u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	s32 fit = policy_fits_capacity(util, rq->capacity);

	if (!c->root.uclamp_used)
		return fit;
	if (c->k->fit == FIT_CLAMPS_ALL)
		return policy_util_fits_cpu_or_not(c, util, lo, hi, cpu);
	/* A task that is capped within the CPU's capacity fits; but 1024 of 1024 is no cap. */
	if (hi <= rq->capacity_orig &&
	    !(hi == CAPACITY_SCALE && rq->capacity_orig == CAPACITY_SCALE))
		fit = POLICY_FITS;
	if (lo > hi)
		lo = hi;
	if (fit && util < lo && lo > policy_actual_cpu_capacity(c, cpu))
		return POLICY_FITS_MIN_NOT;
	return fit;
}

/* Does utilization @util, with uclamp-sum @clamped, fit the CPU? Returns POLICY_FITS*. */
static __always_inline s32 policy_clamped_fits_cpu(const struct policy_ctx *c, u32 util,
						   u32 clamped, u32 cpu)
{
	u32 capacity = policy_cpu_at(c, cpu)->capacity;

	if (policy_fits_capacity(clamped, capacity))
		return POLICY_FITS;
	if (policy_biases_count(c) && c->k->fit == FIT_CLAMPS &&
	    policy_fits_capacity(util, capacity))
		return POLICY_FITS_MIN_NOT;
	return POLICY_FITS_NOT;
}

/* Does the wakee fit @cpu? Returns POLICY_FITS*. */
static __always_inline s32 policy_wakee_util_fits(const struct policy_ctx *c, u32 cpu)
{
	if (policy_sums_count(c) || policy_biases_count(c))
		return policy_clamped_fits_cpu(c, policy_task_util_est(c->k, c->p),
					       policy_wakee_util_est_uclamp(c), cpu);
	return policy_util_fits_cpu(c, policy_task_util_est(c->k, c->p), c->p->uclamp_min,
				    c->p->uclamp_max, cpu);
}

/* Does the wakee fit this CPU, as the base sees it? (task_fits_cpu, task_fits_capacity) */
static inline int policy_task_fits_cpu(const struct policy_ctx *c, u32 cpu)
{
	if (policy_clamps_fit(c->k))
		return policy_wakee_util_fits(c, cpu) == POLICY_FITS;
	return policy_fits_capacity(policy_uclamp_task_util(c), policy_cpu_at(c, cpu)->capacity);
}

#endif
