/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * select.h - selects the CPU of a waking task (select_task_rq_fair())
 *
 *	pinned task				-> its CPU
 *	the waker asks for its own CPU, 6.6	-> that
 *	feature pack				-> pack.h
 *	energy decides, 5.0			-> energy_aware.h
 *	walk the waking CPU's domains upwards	-> a target (affine), or a domain
 *	    a domain				-> slow_path.h
 *	    a target				-> asym_capacity.h where it answers at once, else
 *						   idle_group.h up to 4.7,
 *						   idle_sibling.h up to 5.10,
 *						   idle_scan.h from 5.12
 *
 * In BPF all functions of a call chain share 512 bytes of stack and 8 frames.
 *
 * A new policy is one header, one line in policy_search(), one FEATURE_* bit.
 */
#ifndef ALIGHT_SELECT_H
#define ALIGHT_SELECT_H

#include "pack.h"
#include "wake_affine.h"
#include "idle_sibling.h"
#include "slow_path.h"
#include "asym_capacity.h"
#include "idle_group.h"
#include "idle_scan.h"
#include "energy_aware.h"

/* The fast path: an idle CPU near the target. */
static inline u32 policy_search(const struct policy_ctx *c, u32 target)
{
	if (POLICY_FEATURE_RULE(c->k, asym_at_once) && policy_asym_acts(c, target))
		return policy_asym_search(c, target);
	if (c->k->sibling == SIBLING_GROUPS)
		return policy_idle_group(c, target);
	if (c->k->sibling == SIBLING_ONE_SCAN)
		return policy_idle_scan(c, target);
	return policy_idle_sibling(c, target);
}

/*
 * Where to start: a target for the fast path, or a domain level for the slow
 * one (returned + 1; 0 means fast).
 */
policy_subprog u32 policy_walk_domains(const struct policy_ctx *c, int want, u32 *target)
{
	const struct policy_place *here = policy_place_at(c, c->this_cpu);
	u32 slow = policy_hide(0), l;

	policy_for(l, 0, POLICY_MAX_LEVELS) {
		const struct policy_domain *d;

		if (l >= here->nr_domains)
			break;
		d = policy_domain_at(c, here->domain[policy_bound(l, POLICY_MAX_LEVELS)]);
		if (want && (d->flags & DOMAIN_WAKE_AFFINE) &&
		    policy_mask_test(&d->span, c->prev_cpu)) {
			if (c->this_cpu != c->prev_cpu)
				*target = policy_wake_affine(c, d);
			else
				c->answer->affine = AFFINE_SAME;
			return 0;
		}
		if (d->flags & c->kind)
			slow = l + 1;
		else if (!want && !c->k->walk_all)
			break;
	}
	return slow;
}

/* The search may end on a CPU that the task must not use (select_fallback_rq). */
policy_noinline u32 policy_select_fallback_rq(const struct policy_ctx *c)
{
	u32 nr = c->topo->nr_cpus, node = policy_place_at(c, c->prev_cpu)->node, cpu = 0, first, n;

	first = policy_mask_next_and(c->allowed, c->allowed, 0, nr);
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = policy_mask_next_and(c->allowed, c->allowed, cpu, nr);
		if (cpu >= nr)
			break;
		if (policy_place_at(c, cpu)->node == node)
			return policy_take(c, STEP_FALLBACK, cpu);
		cpu++;
	}
	return policy_take(c, STEP_FALLBACK, first < nr ? first : c->prev_cpu);
}

/* The CPU that a wakeup takes before any search, or POLICY_NONE. */
static inline u32 policy_choose_at_once(const struct policy_ctx *c)
{
	if (c->k->current_cpu && c->flags & WAKE_CURRENT_CPU &&
	    policy_mask_test(c->allowed, c->this_cpu))
		return policy_take(c, STEP_CURRENT_CPU, c->this_cpu);
	if (POLICY_FEATURE_RULE(c->k, pack) != PACK_NONE) {
		u32 cpu = policy_hide(policy_pack_wake(c));

		if (cpu != POLICY_NONE)
			return cpu;
	}
	if (c->k->eas != EAS_NONE && c->nr_perf && !c->root.overutilized)
		return policy_energy_aware(c);
	return POLICY_NONE;
}

/* Searches from where the walk ended: a domain of the slow path, or a target of the fast one. */
static __always_inline u32 policy_search_from(const struct policy_ctx *c, u32 slow, u32 target)
{
	c->answer->target = target;
	if (slow) {
		c->answer->slow = 1;
		return policy_slow_path(c, slow - 1);
	}
	if (c->kind != KIND_WAKE ||
	    (c->k->search_if_affine && c->answer->affine <= AFFINE_NOT_ALLOWED))
		return policy_take(c, STEP_NO_SEARCH, target);
	return policy_search(c, target);
}

/*
 * Full packing. For a new task, returns an idle CPU near the buddy if there is one.
 * Else, if any allowed CPU takes part, confines the search to such CPUs and sets
 * answer->target to the CPU where it begins.
 */
policy_noinline u32 policy_search_packed(struct policy_ctx *c)
{
	u32 cpu = c->kind == KIND_WAKE ? POLICY_NONE : policy_hide(policy_pack_near(c)), target;

	if (cpu != POLICY_NONE)
		return cpu;
	target = policy_hide(policy_pack_target(c, c->answer->target));
	if (policy_pack_begin(c))
		c->answer->target = target;
	return POLICY_NONE;
}

/* The decision for a task that has a choice. */
static inline u32 policy_choose(struct policy_ctx *c)
{
	u32 target = c->prev_cpu, slow, cpu;
	int want = 0;

	if (c->kind == KIND_WAKE) {
		if (c->k->wake_wide)
			policy_record_wakee(c);
		cpu = policy_hide(policy_choose_at_once(c));
		if (cpu != POLICY_NONE)
			return cpu;
		want = (int)policy_hide((u32)policy_want_affine(c));
	}
	slow = policy_hide(policy_walk_domains(c, want, &target));
	target = policy_hide(target);
	if (policy_packs_fully(c)) {
		c->answer->target = target;
		cpu = policy_hide(policy_search_packed(c));
		if (cpu != POLICY_NONE)
			return cpu;
		target = policy_hide(c->answer->target);
	}
	cpu = policy_search_from(c, slow, target);
	if (policy_packs_fully(c))
		policy_pack_end(c);
	if (!c->answer->slow && want && !c->k->recent_always && !c->k->recent_none)
		c->cur->recent_used_cpu = c->this_cpu;
	return cpu;
}

/* Writes all fields of c->answer; returns the CPU. */
static inline u32 policy_select(struct policy_ctx *c)
{
	const struct policy_answer blank = { .target = c->prev_cpu };
	u32 cpu;

	*c->answer = blank;
	c->all_allowed = c->allowed;
	if (c->p->nr_cpus_allowed == 1) {
		cpu = policy_mask_next_and(c->allowed, c->allowed, 0, c->topo->nr_cpus);
		cpu = policy_take(c, STEP_PINNED, cpu < c->topo->nr_cpus ? cpu : c->prev_cpu);
	} else {
		cpu = policy_choose(c);
		if (!policy_mask_test(c->allowed, cpu))
			cpu = policy_select_fallback_rq(c);
	}
	c->answer->cpu = cpu;
	return cpu;
}

#endif
