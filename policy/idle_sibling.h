/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle_sibling.h - an idle CPU near the target, 4.8 to 5.10 (kernel 5.5: select_idle_sibling())
 *
 *	1. the target, 2. the previous CPU if it shares the target's LLC, 3. the
 *	   recently used CPU if it does: the first that is idle or runs SCHED_IDLE only;
 *	   from 5.6, before 3, the previous CPU if the waker is a per-CPU kernel thread
 *	   there, which did work for the wakee;
 *	4. a whole idle core of the LLC, 5. an idle CPU of the LLC within a budget,
 *	6. an idle sibling of the target;
 *	7. the target.
 *
 * Features: bias_prev.h comes before 1 and before 7, and lets 1 to 3 take more CPUs;
 * the scan of asym_capacity.h replaces 4 to 7.
 */
#ifndef ALIGHT_IDLE_SIBLING_H
#define ALIGHT_IDLE_SIBLING_H

#include "bias_prev.h"

/*
 * The step by which this single candidate is taken, or STEP_NONE. It must be idle or
 * have room (bias_prev.h), and be big enough if single candidates are tested for that.
 */
static __always_inline u32 policy_try_candidate(const struct policy_ctx *c, u32 step, u32 cpu)
{
	if (!policy_try_idle(c, step, cpu)) {
		if (!policy_has_room(c, cpu))
			return STEP_NONE;
		step = STEP_BIAS_ROOM;
	}
	return policy_asym_fits_cpu(c, step, cpu) ? step : STEP_NONE;
}

/* The waker is a kernel thread bound to the previous CPU, alone there, and not interrupted. */
static inline int policy_kthread_hands_back(const struct policy_ctx *c)
{
	return c->k->kthread_stacks && c->cur->flags & TASK_KTHREAD &&
	       c->cur->nr_cpus_allowed == 1 &&
	       !(c->flags & WAKE_INTERRUPT) && c->prev_cpu == c->this_cpu &&
	       policy_cpu_at(c, c->this_cpu)->nr_running <= 1 &&
	       policy_asym_fits_cpu(c, STEP_KTHREAD_PREV, c->prev_cpu);
}

/* First CPU found whose core has only idle threads (select_idle_core). */
static inline u32 policy_idle_core_scan(const struct policy_ctx *c, const struct policy_domain *llc,
					u32 target)
{
	u32 nr = c->topo->nr_cpus, n, i;
	struct policy_ring r = policy_ring_from(target);
	struct policy_llc *shared = policy_llc_at(c, llc->llc);
	int near = (int)policy_hide((u32)policy_cpus_share_cache(c, target, c->this_cpu));

	if (!shared->has_idle_cores)
		return POLICY_NONE;
	policy_for(i, 0, POLICY_MASK_WORDS)
		c->scratch->cores.w[policy_bound(i, POLICY_MASK_WORDS)] = ~0ull;

	policy_for(n, 0, POLICY_MAX_CPUS) {
		const struct policy_domain *core;
		u32 first, sibling, idle = policy_hide(1), s;

		first = policy_ring_next(&r, &llc->span, c->allowed, nr);
		if (first >= nr)
			break;
		if (!policy_mask_test(&c->scratch->cores, first))	/* its core was looked at */
			continue;
		if (policy_place_at(c, first)->smt_domain == POLICY_NONE) {
			policy_count_look(c, near);
			if (policy_available_idle_cpu(c, first))
				return first;
			policy_note(c, STEP_IDLE_CORE, first, VERDICT_CORE_BUSY, 0);
			continue;
		}
		core = policy_domain_at(c, policy_place_at(c, first)->smt_domain);
		sibling = 0;
		policy_for(s, 0, 8) {			/* SMT8 at most */
			sibling = policy_mask_next_and(&core->span, &core->span, sibling, nr);
			if (sibling >= nr)
				break;
			policy_mask_clear(&c->scratch->cores, sibling);
			if (idle || !c->k->lean_scan) {
				policy_count_look(c, near);
				if (!policy_available_idle_cpu(c, sibling))
					idle = 0;
			}
			sibling++;
		}
		if (idle)
			return first;
		policy_note(c, STEP_IDLE_CORE, first, VERDICT_CORE_BUSY, 0);
	}
	shared->has_idle_cores = 0;
	return POLICY_NONE;
}

/* How many CPUs a scan may look at, by the mean idle time of this CPU (SIS_PROP). */
static inline u32 policy_scan_budget(const struct policy_ctx *c, u32 llc_weight)
{
	const struct policy_cpu *here = policy_cpu_at(c, c->this_cpu);
	u64 cost = here->avg_scan_cost + 1;
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
static inline u32 policy_llc_scan(const struct policy_ctx *c, const struct policy_domain *llc,
				  u32 target)
{
	struct policy_cpu *here = policy_cpu_at(c, c->this_cpu);
	u32 nr = c->topo->nr_cpus, found = policy_hide(POLICY_NONE), n;
	u32 kept = policy_hide(POLICY_NONE), looked = 0;
	u32 budget = policy_hide(policy_scan_budget(c, llc->weight));
	int near = (int)policy_hide((u32)policy_cpus_share_cache(c, target, c->this_cpu));
	struct policy_ring r = policy_ring_from(target);
	const struct policy_mask *counted = c->k->lean_scan ? c->allowed : &llc->span;

	if (c->k->scan_needs_llc && policy_place_at(c, c->this_cpu)->llc_domain == POLICY_NONE)
		return POLICY_NONE;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = policy_ring_next(&r, &llc->span, counted, nr);

		if (cpu >= nr)
			break;
		if (--budget == 0) {
			c->answer->cut = 1;
			return kept;
		}
		looked++;
		if (!policy_mask_test(c->allowed, cpu)) {
			policy_note(c, STEP_LLC_SCAN, cpu, VERDICT_NOT_ALLOWED, 0);
			continue;
		}
		policy_count_look(c, near);
		if (policy_available_idle_cpu(c, cpu) ||
		    (c->k->sched_idle != SCHED_IDLE_LAST && policy_sched_idle_cpu(c, cpu))) {
			found = cpu;
			break;
		}
		if (kept == POLICY_NONE && policy_sched_idle_cpu(c, cpu)) {
			kept = cpu;
			policy_note(c, STEP_LLC_SCAN, cpu, VERDICT_LATER, 0);
		} else {
			policy_note(c, STEP_LLC_SCAN, cpu, VERDICT_BUSY,
				    policy_cpu_at(c, cpu)->nr_running);
		}
	}
	/* avg += (sample - avg) / 8, rounded towards 0 as the kernel's signed division does */
	{
		u64 sample = (u64)looked * c->k->scan_cpu_ns;

		if (sample >= here->avg_scan_cost)
			here->avg_scan_cost += (sample - here->avg_scan_cost) / 8;
		else
			here->avg_scan_cost -= (here->avg_scan_cost - sample) / 8;
	}
	return found;
}

/* An idle thread of the target's core (select_idle_smt). */
static inline u32 policy_smt_scan(const struct policy_ctx *c, const struct policy_domain *llc,
				  u32 target)
{
	u32 nr = c->topo->nr_cpus, kept = policy_hide(POLICY_NONE), cpu = 0, n;
	int near = (int)policy_hide((u32)policy_cpus_share_cache(c, target, c->this_cpu));
	const struct policy_domain *core;

	if (policy_place_at(c, target)->smt_domain == POLICY_NONE)
		return POLICY_NONE;
	core = policy_domain_at(c, policy_place_at(c, target)->smt_domain);
	policy_for(n, 0, 8) {
		cpu = policy_mask_next_and(&core->span, c->allowed, cpu, nr);
		if (cpu >= nr)
			break;
		if (!c->k->smt_beyond_domain && !policy_mask_test(&llc->span, cpu)) {
			cpu++;
			continue;
		}
		policy_count_look(c, near);
		if (policy_available_idle_cpu(c, cpu) ||
		    (c->k->sched_idle != SCHED_IDLE_LAST && policy_sched_idle_cpu(c, cpu)))
			return cpu;
		if (kept == POLICY_NONE && policy_sched_idle_cpu(c, cpu))
			kept = cpu;
		policy_note(c, STEP_SMT_SCAN, cpu, VERDICT_BUSY, policy_cpu_at(c, cpu)->nr_running);
		cpu++;
	}
	return kept;
}

policy_subprog u32 policy_idle_sibling(const struct policy_ctx *c, u32 target)
{
	u32 prev = c->prev_cpu, recent = c->p->recent_used_cpu, cpu, step;
	const struct policy_domain *llc;

	if (POLICY_FEATURE_RULE(c->k, room) == ROOM_FITS ||
	    (c->k->asym != ASYM_IGNORED && !POLICY_FEATURE_RULE(c->k, asym_at_once) &&
	     c->topo->asym))
		policy_wakee_sync(c);
	if (policy_bias_first(c, target))
		return policy_take(c, STEP_BIAS_PREV, prev);

	step = policy_hide(policy_try_candidate(c, STEP_TARGET_IDLE, target));
	if (step)
		return policy_take(c, step, target);

	if (!POLICY_FEATURE_RULE(c->k, bias_prev) && prev != target &&
	    policy_cpus_share_cache(c, prev, target) &&
	    policy_may_return(c, prev)) {
		step = policy_hide(policy_try_candidate(c, STEP_PREV_IDLE, prev));
		if (step)
			return policy_take(c, step, prev);
	}

	if (policy_kthread_hands_back(c))
		return policy_take(c, STEP_KTHREAD_PREV, prev);

	if (recent != prev && recent != target && recent < c->topo->nr_cpus &&
	    policy_cpus_share_cache(c, recent, target) && policy_mask_test(c->allowed, recent)) {
		step = policy_hide(policy_try_candidate(c, STEP_RECENT_IDLE, recent));
		if (step) {
			c->p->recent_used_cpu = prev;
			return policy_take(c, step, recent);
		}
	}

	if (!POLICY_FEATURE_RULE(c->k, asym_at_once) && policy_asym_acts(c, target))
		return policy_asym_search(c, target);

	if (policy_place_at(c, target)->llc_domain == POLICY_NONE)
		return policy_nothing_idle(c, target);
	llc = policy_domain_at(c, policy_place_at(c, target)->llc_domain);
	if (c->topo->smt) {
		cpu = policy_idle_core_scan(c, llc, target);
		if (cpu != POLICY_NONE)
			return policy_take(c, STEP_IDLE_CORE, cpu);
	}
	cpu = policy_llc_scan(c, llc, target);
	if (cpu != POLICY_NONE)
		return policy_take(c, STEP_LLC_SCAN, cpu);
	if (c->topo->smt) {
		cpu = policy_smt_scan(c, llc, target);
		if (cpu != POLICY_NONE)
			return policy_take(c, STEP_SMT_SCAN, cpu);
	}
	return policy_nothing_idle(c, target);
}

#endif
