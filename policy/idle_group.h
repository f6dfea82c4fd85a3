/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle_group.h - an idle CPU near the target, up to 4.7 (kernel 3.9: select_idle_sibling())
 *
 *	1. the target, 2. the previous CPU if it shares the target's LLC; each if it
 *	   is idle;
 *	3. from the LLC domain downwards, the groups of each domain in ring order
 *	   from the target's own: the first allowed CPU of a group whose CPUs are
 *	   all idle and which does not hold the target;
 *	4. the target.
 */
#ifndef ALIGHT_IDLE_GROUP_H
#define ALIGHT_IDLE_GROUP_H

#include "slow_path.h"

/* Are all CPUs of the group idle, and is the target not one of them? */
static inline int policy_group_idle(const struct policy_ctx *c, const struct policy_group *g,
				    u32 target)
{
	u32 nr = c->topo->nr_cpus, cpu = 0, n;

	if (policy_group_contains(c, g, target))
		return 0;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = policy_hide(policy_group_next_cpu(c, g, cpu));
		if (cpu >= nr)
			break;
		policy_looked_at(c, cpu);
		if (!policy_may_return(c, cpu)) {
			policy_note(c, STEP_IDLE_GROUP, cpu, VERDICT_NOT_PACKING, 0);
			return 0;
		}
		if (!policy_available_idle_cpu(c, cpu)) {
			policy_note(c, STEP_IDLE_GROUP, cpu, VERDICT_BUSY,
				    policy_cpu_at(c, cpu)->nr_running);
			return 0;
		}
		cpu++;
	}
	return 1;
}

static inline u32 policy_group_first_allowed(const struct policy_ctx *c,
					     const struct policy_group *g)
{
	if (g->child == POLICY_NONE)
		return g->cpu;
	return policy_mask_next_and(&policy_domain_at(c, g->child)->span, c->allowed, 0,
				    c->topo->nr_cpus);
}

/* First allowed CPU of an idle group of this domain; the ring of groups begins with @own. */
static inline u32 policy_idle_group_of(const struct policy_ctx *c, const struct policy_domain *d,
				       u32 own, u32 target)
{
	u32 start = own - d->first_group, n;

	if (start >= d->nr_groups)
		start = 0;
	policy_for(n, 0, d->nr_groups) {
		u32 at = start + n < d->nr_groups ? start + n : start + n - d->nr_groups;
		const struct policy_group *g = policy_group_at(c, d->first_group + at);

		if (policy_group_allowed(c, g) && policy_group_idle(c, g, target))
			return policy_group_first_allowed(c, g);
	}
	return POLICY_NONE;
}

policy_noinline u32 policy_idle_group(const struct policy_ctx *c, u32 target)
{
	const struct policy_place *place = policy_place_at(c, target);
	u32 prev = c->prev_cpu, n;
	s32 l = -1;

	if (policy_try_idle(c, STEP_TARGET_IDLE, target))
		return policy_take(c, STEP_TARGET_IDLE, target);
	if (prev != target && policy_cpus_share_cache(c, prev, target) &&
	    policy_may_return(c, prev) &&
	    policy_try_idle(c, STEP_PREV_IDLE, prev))
		return policy_take(c, STEP_PREV_IDLE, prev);

	policy_for(n, 0, POLICY_MAX_LEVELS) {
		if (n >= place->nr_domains)
			break;
		if (place->domain[policy_bound(n, POLICY_MAX_LEVELS)] == place->llc_domain)
			l = (s32)n;
	}
	policy_for(n, 0, POLICY_MAX_LEVELS) {
		u32 i, cpu;

		l = (s32)policy_hide((u32)l);
		if (l < 0)
			break;
		i = policy_bound((u32)l, POLICY_MAX_LEVELS);
		cpu = policy_idle_group_of(c, policy_domain_at(c, place->domain[i]),
					   place->group[i], target);
		if (cpu != POLICY_NONE)
			return policy_take(c, STEP_IDLE_GROUP, cpu);
		l--;
	}
	return policy_take(c, STEP_TARGET_BUSY, target);
}

#endif
