/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * asym_scan.h - an idle CPU that the wakee fits (kernel 6.1: select_idle_capacity())
 *
 * On a machine whose CPUs differ in capacity, the scan walks the smallest domain
 * that has CPUs of all capacities, in ring order from the target (6.5: from the
 * CPU after it), and takes:
 *
 *	1. the first idle CPU that fits the wakee and its clamps;
 *	2. else the best idle CPU: one that fits but for the lower clamp is better
 *	   than one that does not fit; of equals the larger capacity, then the first
 *	   met is better;
 *	3. else the target.
 *
 * From 7.2, while has_idle_cores is set, CPUs of idle cores come before all
 * others; otherwise a budget bounds the scan.
 */
#ifndef ALIGHT_ASYM_SCAN_H
#define ALIGHT_ASYM_SCAN_H

#include "uclamp.h"

/* Ranks of idle CPUs, lower is better. A CPU of an idle core gets POLICY_RANK_CORE added. */
#define POLICY_RANK_THREAD_FITS	(-2)
#define POLICY_RANK_CORE		(-3)

/* All other threads of the core are idle. */
static inline int policy_is_core_idle(const struct policy_ctx *c, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, sibling = 0, n;
	const struct policy_domain *core;

	if (policy_place_at(c, cpu)->smt_domain == POLICY_NONE)
		return 1;
	core = policy_domain_at(c, policy_place_at(c, cpu)->smt_domain);
	policy_for(n, 0, 8) {
		sibling = policy_mask_next_and(&core->span, &core->span, sibling, nr);
		if (sibling >= nr)
			break;
		if (sibling != cpu && !policy_available_idle_cpu(c, sibling))
			return 0;
		sibling++;
	}
	return 1;
}

/* May a single candidate (target, previous, recent CPU) be taken? (asym_fits_cpu) */
static __always_inline int policy_asym_fits_cpu(const struct policy_ctx *c, u32 step, u32 cpu)
{
	/* Tests of constants come first: the verifier walks both sides of all others. */
	if (c->k->asym == ASYM_IGNORED || POLICY_FEATURE_RULE(c->k, asym_at_once) || !c->topo->asym)
		return 1;
	if (c->k->asym == ASYM_CORES && c->topo->smt && !policy_is_core_idle(c, cpu)) {
		policy_note(c, step, cpu, VERDICT_CORE_BUSY, 0);
		return 0;
	}
	if (c->k->asym == ASYM_FIRST ? policy_fits_capacity(policy_uclamp_task_util(c),
							    policy_cpu_at(c, cpu)->capacity) :
				       policy_wakee_util_fits(c, cpu) == POLICY_FITS)
		return 1;
	policy_note(c, step, cpu, VERDICT_TOO_SMALL, policy_cpu_at(c, cpu)->capacity);
	return 0;
}

/* Capacity under limits, by which a CPU that misses the lower clamp is ranked. */
static __always_inline u32 policy_limited_capacity(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	if (c->k->pressure == PRESSURE_THERMAL)
		return policy_sub_positive(rq->capacity_orig, rq->hw_load_avg);
	return policy_actual_cpu_capacity(c, cpu);
}

policy_noinline u32 policy_asym_fits_scan(const struct policy_ctx *c, u32 target)
{
	const struct policy_domain *d = policy_domain_at(c,
							 policy_place_at(c, target)->asym_domain);
	struct policy_llc *shared = policy_llc_at(c, policy_place_at(c, target)->shared);
	u32 nr = c->topo->nr_cpus, best = policy_hide(POLICY_NONE), n;
	u32 best_capacity = policy_hide(0), budget = policy_hide(POLICY_NONE);
	int by_cores = c->k->asym == ASYM_CORES;
	int has_core = by_cores && c->topo->smt && shared->has_idle_cores;
	s32 best_rank = 0, best_fit = POLICY_FITS_NOT;
	struct policy_ring r = policy_ring_from(target + (c->k->asym_from_next ? 1 : 0));

	/* NUMA domains overlap and have no search state of their own. */
	if (by_cores && c->k->sis_util && !(d->flags & DOMAIN_NUMA)) {
		budget = policy_hide(shared->nr_idle_scan + 1);
		if (budget == 1) {
			c->answer->cut = 1;
			return policy_take(c, STEP_ASYM_TARGET, target);
		}
	}
	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = policy_ring_next(&r, &d->span, c->allowed, nr), capacity;
		int preferred;
		s32 fit, rank;

		best = policy_hide(best);
		best_rank = (s32)policy_hide((u32)best_rank);
		best_fit = (s32)policy_hide((u32)best_fit);
		best_capacity = policy_hide(best_capacity);
		budget = policy_hide(budget);
		if (cpu >= nr)
			break;
		preferred = !has_core || policy_is_core_idle(c, cpu);
		if (!has_core && --budget == 0) {
			c->answer->cut = 1;
			break;
		}
		policy_looked_at(c, cpu);
		capacity = policy_cpu_at(c, cpu)->capacity;
		if (!policy_cpu_avail(c, cpu)) {
			policy_note(c, STEP_ASYM_FITS, cpu, VERDICT_BUSY, capacity);
			continue;
		}
		fit = policy_wakee_util_fits(c, cpu);
		if (fit == POLICY_FITS && preferred)
			return policy_take(c, STEP_ASYM_FITS, cpu);
		policy_note(c, STEP_ASYM_FITS, cpu,
			    preferred ? VERDICT_TOO_SMALL : VERDICT_CORE_BUSY, capacity);
		if (fit == POLICY_FITS_MIN_NOT)
			capacity = policy_limited_capacity(c, cpu);
		rank = fit == POLICY_FITS ? POLICY_RANK_THREAD_FITS : fit;
		if (preferred)
			rank += POLICY_RANK_CORE;
		if (rank < best_rank || (rank == best_rank && capacity > best_capacity)) {
			best = cpu;
			best_rank = rank;
			best_fit = fit;
			best_capacity = capacity;
		}
	}
	if (has_core && best_rank > POLICY_RANK_CORE)
		shared->has_idle_cores = 0;
	if (best == POLICY_NONE)
		return policy_take(c, STEP_ASYM_TARGET, target);
	if (best_fit == POLICY_FITS)
		return policy_take(c, STEP_ASYM_FITS, best);
	return policy_take(c,
			   best_fit == POLICY_FITS_MIN_NOT ? STEP_ASYM_MIN_CLAMP :
							     STEP_ASYM_BIGGEST, best);
}

#endif
