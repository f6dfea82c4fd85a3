/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * asym_scan.h - an idle CPU that the wakee fits (kernel 6.1: select_idle_capacity())
 *
 * On a machine whose CPUs differ in capacity, over the smallest domain that
 * shows all of them, in ring order from the target (6.5: from the one after):
 *
 *	1. the first idle CPU that fits the wakee and its clamps;
 *	2. else the best idle one: fits but for the lower clamp, then fits not;
 *	   of equals the larger capacity, of these the first met;
 *	3. else the target.
 *
 * From 7.2, while some core is known to be idle, a CPU of an idle core comes
 * before any other; while none is, a budget bounds the scan.
 */
#ifndef ALIGHT_ASYM_SCAN_H
#define ALIGHT_ASYM_SCAN_H

#include "uclamp.h"

/* Ranks of idle CPUs, lower is better. An idle core is worth RANK_CORE. */
#define RANK_THREAD_FITS	(-2)
#define RANK_CORE		(-3)

/* All other threads of the core are idle. */
static inline int core_idle(const struct policy_ctx *c, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, sibling = 0, n;
	const struct policy_domain *core;

	if (place_at(c, cpu)->smt_domain == POLICY_NONE)
		return 1;
	core = domain_at(c, place_at(c, cpu)->smt_domain);
	policy_for(n, 0, 8) {
		sibling = mask_next_and(&core->span, &core->span, sibling, nr);
		if (sibling >= nr)
			break;
		if (sibling != cpu && !cpu_idle(c, sibling))
			return 0;
		sibling++;
	}
	return 1;
}

/* May a single candidate (target, previous, recent CPU) be taken? (asym_fits_cpu) */
static __always_inline int candidate_fits(const struct policy_ctx *c, u32 step, u32 cpu)
{
	/* What the verifier knows comes first: it walks both sides of all else. */
	if (c->k->asym == ASYM_IGNORED || FEATURE_RULE(c->k, asym_at_once) || !c->topo->asym)
		return 1;
	if (c->k->asym == ASYM_CORES && c->topo->smt && !core_idle(c, cpu)) {
		note(c, step, cpu, VERDICT_CORE_BUSY, 0);
		return 0;
	}
	if (c->k->asym == ASYM_FIRST ? fits(task_need(c), cpu_at(c, cpu)->capacity) :
				       wakee_fit(c, cpu) == FITS)
		return 1;
	note(c, step, cpu, VERDICT_TOO_SMALL, cpu_at(c, cpu)->capacity);
	return 0;
}

/* What a CPU that misses the lower clamp is ranked by: its capacity under limits. */
static __always_inline u32 limited_capacity(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = cpu_at(c, cpu);

	if (c->k->pressure == PRESSURE_THERMAL)
		return sub_floor0(rq->capacity_orig, rq->hw_load_avg);
	return actual_capacity(c, cpu);
}

policy_apart u32 asym_fits_scan(const struct policy_ctx *c, u32 target)
{
	const struct policy_domain *d = domain_at(c, place_at(c, target)->asym_domain);
	struct policy_llc *shared = llc_at(c, place_at(c, target)->shared);
	u32 nr = c->topo->nr_cpus, best = policy_forget(POLICY_NONE), n;
	u32 best_capacity = policy_forget(0), budget = policy_forget(POLICY_NONE);
	int by_cores = c->k->asym == ASYM_CORES;
	int has_core = by_cores && c->topo->smt && shared->has_idle_cores;
	s32 best_rank = 0, best_fit = FITS_NOT;
	struct ring r = ring_from(target + (c->k->asym_from_next ? 1 : 0));

	/* A domain built of nodes overlaps others and has no state of its own. */
	if (by_cores && c->k->sis_util && !(d->flags & DOMAIN_NUMA)) {
		budget = policy_forget(shared->nr_idle_scan + 1);
		if (budget == 1) {
			c->answer->cut = 1;
			return take(c, STEP_ASYM_TARGET, target);
		}
	}
	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = ring_next(&r, &d->span, c->allowed, nr), capacity;
		int preferred;
		s32 fit, rank;

		best = policy_forget(best);
		best_rank = (s32)policy_forget((u32)best_rank);
		best_fit = (s32)policy_forget((u32)best_fit);
		best_capacity = policy_forget(best_capacity);
		budget = policy_forget(budget);
		if (cpu >= nr)
			break;
		preferred = !has_core || core_idle(c, cpu);
		if (!has_core && --budget == 0) {
			c->answer->cut = 1;
			break;
		}
		looked_at(c, cpu);
		capacity = cpu_at(c, cpu)->capacity;
		if (!cpu_avail(c, cpu)) {
			note(c, STEP_ASYM_FITS, cpu, VERDICT_BUSY, capacity);
			continue;
		}
		fit = wakee_fit(c, cpu);
		if (fit == FITS && preferred)
			return take(c, STEP_ASYM_FITS, cpu);
		note(c, STEP_ASYM_FITS, cpu, preferred ? VERDICT_TOO_SMALL : VERDICT_CORE_BUSY,
		     capacity);
		if (fit == FITS_MIN_NOT)
			capacity = limited_capacity(c, cpu);
		rank = fit == FITS ? RANK_THREAD_FITS : fit;
		if (preferred)
			rank += RANK_CORE;
		if (rank < best_rank || (rank == best_rank && capacity > best_capacity)) {
			best = cpu;
			best_rank = rank;
			best_fit = fit;
			best_capacity = capacity;
		}
	}
	if (has_core && best_rank > RANK_CORE)
		shared->has_idle_cores = 0;
	if (best == POLICY_NONE)
		return take(c, STEP_ASYM_TARGET, target);
	if (best_fit == FITS)
		return take(c, STEP_ASYM_FITS, best);
	return take(c, best_fit == FITS_MIN_NOT ? STEP_ASYM_MIN_CLAMP : STEP_ASYM_BIGGEST, best);
}

#endif
