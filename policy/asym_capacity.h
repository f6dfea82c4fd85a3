/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * asym_capacity.h - feature asym-capacity: an idle CPU that is big enough
 *
 * "sched/fair: Capacity aware wakeup rework", v4, February 2020 (merged in
 * 5.7). On a machine whose CPUs differ in capacity a wakeup scans the smallest
 * domain that shows all capacities for an idle CPU where the task fits. The
 * feature also clears the parameter wake_cap: with it go the refusal to pull
 * and the BALANCE_WAKE flag, hence the slow path at wakeup.
 *
 *	1. in ring order from the target: the first idle CPU where the task fits;
 *	2. else the idle CPU of the largest current capacity, the first met of equals;
 *	3. else the target, even if the task does not fit it.
 *
 * Inside a cpuset whose CPUs are all equal there is no such domain, and the
 * symmetric search of idle_sibling.h answers.
 */
#ifndef ALIGHT_ASYM_CAPACITY_H
#define ALIGHT_ASYM_CAPACITY_H

#include "candidate.h"

static __always_inline int asym_capacity_acts(const struct policy_ctx *c, u32 target)
{
	return (c->k->features & FEATURE_ASYM_CAPACITY) && c->topo->asym &&
	       place_at(c, target)->asym_domain != POLICY_NONE;
}

policy_apart u32 asym_scan(const struct policy_ctx *c, u32 target)
{
	const struct policy_domain *d = domain_at(c, place_at(c, target)->asym_domain);
	u32 nr = c->topo->nr_cpus, best = policy_forget(POLICY_NONE), n;
	u32 best_capacity = policy_forget(0), need;
	struct ring r = ring_from(target);

	wakee_sync(c);
	need = task_need(c);
	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = ring_next(&r, &d->span, c->allowed, nr), capacity;

		if (cpu >= nr)
			break;
		looked_at(c, cpu);
		capacity = cpu_at(c, cpu)->capacity;
		if (!cpu_avail(c, cpu)) {
			note(c, STEP_ASYM_FITS, cpu, VERDICT_BUSY, capacity);
			continue;
		}
		if (fits(need, capacity))
			return take(c, STEP_ASYM_FITS, cpu);
		note(c, STEP_ASYM_FITS, cpu, VERDICT_TOO_SMALL, capacity);
		if (capacity > best_capacity) {
			best = cpu;
			best_capacity = capacity;
		}
	}
	if (best != POLICY_NONE)
		return take(c, STEP_ASYM_BIGGEST, best);
	return take(c, STEP_ASYM_TARGET, target);
}

#endif
