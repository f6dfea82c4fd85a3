/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle_sibling.h - an idle CPU near the target, 4.8 to 5.10 (kernel 5.5: select_idle_sibling())
 *
 *	1. the target, 2. the previous CPU if it shares the target's LLC,
 *	3. the recently used CPU likewise: first that is idle or runs SCHED_IDLE only;
 *	4. a whole idle core of the LLC, 5. an idle CPU of the LLC within a budget,
 *	6. an idle sibling of the target;
 *	7. the target.
 *
 * Features: bias_prev.h comes before 1 and before 7, and adds to what 1 to 3
 * take; the scan of asym_capacity.h answers in the place of 4 to 7.
 */
#ifndef ALIGHT_IDLE_SIBLING_H
#define ALIGHT_IDLE_SIBLING_H

#include "bias_prev.h"

/*
 * May this candidate be taken: idle, or with room by bias_prev.h, and big enough
 * where that is asked before the scan? Says by which step.
 */
static __always_inline u32 try_candidate(const struct policy_ctx *c, u32 step, u32 cpu)
{
	if (!try_idle(c, step, cpu)) {
		if (!has_room(c, cpu))
			return STEP_NONE;
		step = STEP_BIAS_ROOM;
	}
	return candidate_fits(c, step, cpu) ? step : STEP_NONE;
}

/* A core all of whose threads are idle (select_idle_core). */
static inline u32 idle_core_scan(const struct policy_ctx *c, const struct policy_domain *llc,
				 u32 target)
{
	u32 nr = c->topo->nr_cpus, n, i;
	struct ring r = ring_from(target);
	struct policy_llc *shared = llc_at(c, llc->llc);
	int near = (int)policy_forget((u32)same_llc(c, target, c->this_cpu));

	if (!shared->has_idle_cores)
		return POLICY_NONE;
	policy_for(i, 0, POLICY_MASK_WORDS)
		c->scratch->cores.w[policy_bound(i, POLICY_MASK_WORDS)] = ~0ull;

	policy_for(n, 0, POLICY_MAX_CPUS) {
		const struct policy_domain *core;
		u32 first, sibling, idle = policy_forget(1), s;

		first = ring_next(&r, &llc->span, c->allowed, nr);
		if (first >= nr)
			break;
		if (!mask_test(&c->scratch->cores, first))	/* its core was looked at */
			continue;
		if (place_at(c, first)->smt_domain == POLICY_NONE) {
			count_look(c, near);
			if (cpu_idle(c, first))
				return first;
			note(c, STEP_IDLE_CORE, first, VERDICT_CORE_BUSY, 0);
			continue;
		}
		core = domain_at(c, place_at(c, first)->smt_domain);
		sibling = 0;
		policy_for(s, 0, 8) {			/* SMT8 at most */
			sibling = mask_next_and(&core->span, &core->span, sibling, nr);
			if (sibling >= nr)
				break;
			mask_clear(&c->scratch->cores, sibling);
			count_look(c, near);
			if (!cpu_idle(c, sibling))
				idle = 0;
			sibling++;
		}
		if (idle)
			return first;
		note(c, STEP_IDLE_CORE, first, VERDICT_CORE_BUSY, 0);
	}
	shared->has_idle_cores = 0;
	return POLICY_NONE;
}

/* How many CPUs a scan may cost, by how long this CPU is idle as a rule (SIS_PROP). */
static inline u32 scan_budget(const struct policy_ctx *c, u32 llc_weight)
{
	const struct policy_cpu *here = cpu_at(c, c->this_cpu);
	u64 cost = here->scan_cost + 1;
	u64 span_idle = (u64)llc_weight * (here->avg_idle / 512);

	if (!c->k->sis_prop)
		return POLICY_NONE;
	if (!cost || span_idle <= 4 * cost)
		return 4;
	span_idle /= cost;
	return span_idle < POLICY_NONE ? (u32)span_idle : POLICY_NONE;
}

/*
 * An idle CPU of the LLC (select_idle_cpu). Where SCHED_IDLE CPUs come last,
 * the first one met answers only when the budget ends the scan: a scan that
 * saw every CPU forgets it, as 5.4 and 5.5 do.
 */
static inline u32 llc_scan(const struct policy_ctx *c, const struct policy_domain *llc, u32 target)
{
	struct policy_cpu *here = cpu_at(c, c->this_cpu);
	u32 nr = c->topo->nr_cpus, found = policy_forget(POLICY_NONE), n;
	u32 kept = policy_forget(POLICY_NONE), looked = 0;
	u32 budget = policy_forget(scan_budget(c, llc->weight));
	int near = (int)policy_forget((u32)same_llc(c, target, c->this_cpu));
	struct ring r = ring_from(target);

	if (place_at(c, c->this_cpu)->llc_domain == POLICY_NONE)
		return POLICY_NONE;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = ring_next(&r, &llc->span, &llc->span, nr);

		if (cpu >= nr)
			break;
		if (--budget == 0) {
			c->answer->cut = 1;
			return kept;
		}
		looked++;
		if (!mask_test(c->allowed, cpu)) {
			note(c, STEP_LLC_SCAN, cpu, VERDICT_NOT_ALLOWED, 0);
			continue;
		}
		count_look(c, near);
		if (cpu_idle(c, cpu) || (c->k->sched_idle != SCHED_IDLE_LAST && cpu_sched_idle(c, cpu))) {
			found = cpu;
			break;
		}
		if (kept == POLICY_NONE && cpu_sched_idle(c, cpu)) {
			kept = cpu;
			note(c, STEP_LLC_SCAN, cpu, VERDICT_LATER, 0);
		} else {
			note(c, STEP_LLC_SCAN, cpu, VERDICT_BUSY, cpu_at(c, cpu)->nr_running);
		}
	}
	/* avg += (sample - avg) / 8, rounded to 0 as the kernel's signed division does */
	{
		u64 sample = (u64)looked * c->k->scan_cpu_ns;

		if (sample >= here->scan_cost)
			here->scan_cost += (sample - here->scan_cost) / 8;
		else
			here->scan_cost -= (here->scan_cost - sample) / 8;
	}
	return found;
}

/* An idle thread of the target's core (select_idle_smt). */
static inline u32 smt_scan(const struct policy_ctx *c, u32 target)
{
	u32 nr = c->topo->nr_cpus, kept = policy_forget(POLICY_NONE), cpu = 0, n;
	int near = (int)policy_forget((u32)same_llc(c, target, c->this_cpu));
	const struct policy_domain *core;

	if (place_at(c, target)->smt_domain == POLICY_NONE)
		return POLICY_NONE;
	core = domain_at(c, place_at(c, target)->smt_domain);
	policy_for(n, 0, 8) {
		cpu = mask_next_and(&core->span, c->allowed, cpu, nr);
		if (cpu >= nr)
			break;
		count_look(c, near);
		if (cpu_idle(c, cpu) || (c->k->sched_idle != SCHED_IDLE_LAST && cpu_sched_idle(c, cpu)))
			return cpu;
		if (kept == POLICY_NONE && cpu_sched_idle(c, cpu))
			kept = cpu;
		note(c, STEP_SMT_SCAN, cpu, VERDICT_BUSY, cpu_at(c, cpu)->nr_running);
		cpu++;
	}
	return kept;
}

policy_part u32 idle_sibling(const struct policy_ctx *c, u32 target)
{
	u32 prev = c->prev_cpu, recent = c->p->recent_cpu, cpu, step;
	const struct policy_domain *llc;

	if (FEATURE_RULE(c->k, room) == ROOM_FITS ||
	    (c->k->asym != ASYM_IGNORED && !FEATURE_RULE(c->k, asym_at_once) && c->topo->asym))
		wakee_sync(c);
	if (bias_first(c, target))
		return take(c, STEP_BIAS_PREV, prev);

	step = policy_forget(try_candidate(c, STEP_TARGET_IDLE, target));
	if (step)
		return take(c, step, target);

	if (!FEATURE_RULE(c->k, bias_prev) && prev != target && same_llc(c, prev, target) &&
	    may_return(c, prev)) {
		step = policy_forget(try_candidate(c, STEP_PREV_IDLE, prev));
		if (step)
			return take(c, step, prev);
	}

	if (recent != prev && recent != target && recent < c->topo->nr_cpus &&
	    same_llc(c, recent, target) && mask_test(c->allowed, recent)) {
		step = policy_forget(try_candidate(c, STEP_RECENT_IDLE, recent));
		if (step) {
			c->p->recent_cpu = prev;
			return take(c, step, recent);
		}
	}

	if (!FEATURE_RULE(c->k, asym_at_once) && asym_acts(c, target))
		return asym_search(c, target);

	if (place_at(c, target)->llc_domain == POLICY_NONE)
		return nothing_idle(c, target);
	llc = domain_at(c, place_at(c, target)->llc_domain);
	if (c->topo->smt) {
		cpu = idle_core_scan(c, llc, target);
		if (cpu != POLICY_NONE)
			return take(c, STEP_IDLE_CORE, cpu);
	}
	cpu = llc_scan(c, llc, target);
	if (cpu != POLICY_NONE)
		return take(c, STEP_LLC_SCAN, cpu);
	if (c->topo->smt) {
		cpu = smt_scan(c, target);
		if (cpu != POLICY_NONE)
			return take(c, STEP_SMT_SCAN, cpu);
	}
	return nothing_idle(c, target);
}

#endif
