/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * asym_capacity.h - feature asym-capacity: an idle CPU that is big enough
 *
 * "sched/fair: Capacity aware wakeup rework", v4, February 2020 (merged in
 * 5.7). On a machine whose CPUs differ in capacity a wakeup scans the smallest
 * domain that has CPUs of all capacities for an idle CPU that the task fits. The
 * feature also clears the parameter wake_cap. That removes the refusal to pull
 * and the BALANCE_WAKE flag, and with the flag the slow path at wakeup.
 *
 *	1. the first idle CPU, in ring order from the target, that the task fits;
 *	   with hog=cap-orig (v3) also one of the largest original capacity, unless
 *	   other classes take much of it;
 *	2. else the idle CPU of the largest current capacity, of equals the first met;
 *	3. else the target, even if the task does not fit it.
 *
 * In a cpuset whose CPUs are all equal there is no such domain, and the symmetric
 * search decides. The scan of later kernels is in asym_scan.h.
 */
#ifndef ALIGHT_ASYM_CAPACITY_H
#define ALIGHT_ASYM_CAPACITY_H

#include "asym_scan.h"

/*
 * Does the scan for capacity decide, with nothing tried after it? With asym_at_once
 * policy_search() tests this, and the searches do not test it again, so that the
 * BPF verifier walks one scan instead of two.
 */
static __always_inline int policy_asym_acts(const struct policy_ctx *c, u32 target)
{
	return c->k->asym != ASYM_IGNORED && c->topo->asym &&
	       policy_place_at(c, target)->asym_domain != POLICY_NONE;
}

/* A CPU of the biggest capacity, most of it left for fair tasks (!check_cpu_capacity()). */
static __always_inline int policy_big_and_free(const struct policy_ctx *c,
					       const struct policy_domain *d, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	return rq->capacity_orig == c->topo->max_capacity &&
	       (u64)rq->capacity * d->imbalance_pct >= (u64)rq->capacity_orig * 100;
}

policy_noinline u32 policy_asym_first_scan(const struct policy_ctx *c, u32 target)
{
	const struct policy_domain *d = policy_domain_at(c,
							 policy_place_at(c, target)->asym_domain);
	u32 nr = c->topo->nr_cpus, best = policy_hide(POLICY_NONE), n;
	u32 best_capacity = policy_hide(0), need;
	struct policy_ring r = policy_ring_from(target);

	policy_wakee_sync(c);
	need = policy_uclamp_task_util(c);
	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = policy_ring_next(&r, &d->span, c->allowed, nr), capacity;

		if (cpu >= nr)
			break;
		policy_looked_at(c, cpu);
		capacity = policy_cpu_at(c, cpu)->capacity;
		if (!policy_cpu_avail(c, cpu)) {
			policy_note(c, STEP_ASYM_FITS, cpu, VERDICT_BUSY, capacity);
			continue;
		}
		if (policy_fits_capacity(need, capacity))
			return policy_take(c, STEP_ASYM_FITS, cpu);
		if (POLICY_FEATURE_RULE(c->k, asym_hog) && policy_big_and_free(c, d, cpu))
			return policy_take(c, STEP_ASYM_BIGGEST, cpu);
		policy_note(c, STEP_ASYM_FITS, cpu, VERDICT_TOO_SMALL, capacity);
		if (capacity > best_capacity) {
			best = cpu;
			best_capacity = capacity;
		}
	}
	if (best != POLICY_NONE)
		return policy_take(c, STEP_ASYM_BIGGEST, best);
	return policy_take(c, STEP_ASYM_TARGET, target);
}

/* The scan that this scheduler has. */
static __always_inline u32 policy_asym_search(const struct policy_ctx *c, u32 target)
{
	if (c->k->asym == ASYM_FIRST)
		return policy_asym_first_scan(c, target);
	return policy_asym_fits_scan(c, target);
}

#endif
