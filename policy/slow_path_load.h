/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow_path_load.h - the idlest group by load, up to 5.4
 *
 * 3.x: the group of the least load per capacity, unless the local one is about
 * as good. 4.9 to 5.4: the group with the CPU of the most spare capacity, unless
 * the local one has enough; this step is skipped at fork, because a new task has no
 * utilization yet. Then the group of the least load of queued tasks; where these
 * loads are close, of the least load with blocked tasks. kernel 3.9, 5.4:
 * find_idlest_group().
 */
#ifndef ALIGHT_SLOW_PATH_LOAD_H
#define ALIGHT_SLOW_PATH_LOAD_H

#include "group.h"

static inline void policy_group_load_sum(const struct policy_ctx *c, const struct policy_group *g,
					 struct policy_group_load *result)
{
	u32 nr = c->topo->nr_cpus, spare = policy_hide(0), cpu = 0, n;
	struct policy_group_load sum = { .group = POLICY_NONE };
	u64 queued = 0, avg = 0;

	policy_for(n, 0, POLICY_MAX_CPUS) {
		const struct policy_cpu *rq;
		u32 room;

		cpu = policy_hide(policy_group_next_cpu(c, g, cpu));
		spare = policy_hide(spare);
		if (cpu >= nr)
			break;
		rq = policy_cpu_at(c, cpu);
		queued += policy_cpu_load(c, cpu);
		avg += rq->cfs.load_avg;
		room = policy_sub_positive(rq->capacity, policy_cpu_util_without(c, cpu));
		if (room > spare)
			spare = room;
		c->answer->summed++;
		cpu++;
	}
	sum.spare = spare;
	if (g->capacity) {
		u32 capacity = policy_group_capacity(c, g);

		sum.queued = (u32)(queued * CAPACITY_SCALE / capacity);
		sum.avg = (u32)(avg * CAPACITY_SCALE / capacity);
	}
	*result = sum;
}

/* 3.x: the least loaded group; POLICY_NONE: the local group is about as little loaded. */
static inline u32 policy_least_load(const struct policy_domain *d,
				    const struct policy_group_load *local,
				    const struct policy_group_load *least)
{
	u64 margin = 100 + (d->imbalance_pct - 100) / 2;

	if (least->group == POLICY_NONE || 100 * (u64)local->queued < margin * least->queued)
		return POLICY_NONE;
	return least->group;
}

/* 4.9 to 5.4: the group by spare capacity, then by load; POLICY_NONE: the local group. */
static inline u32 policy_most_spare_or_least_load(const struct policy_ctx *c,
						  const struct policy_domain *d,
						  const struct policy_group_load *local,
						  const struct policy_group_load *least,
						  const struct policy_group_load *roomiest)
{
	u64 margin = 100 + (d->imbalance_pct - 100) / 2;
	u64 slack = CAPACITY_SCALE * (u64)(d->imbalance_pct - 100) / 100;
	u32 need = c->p->pelt.util_avg / 2;

	if (c->kind != KIND_FORK) {
		if (local->spare > need && margin * local->spare > 100 * (u64)roomiest->spare)
			return POLICY_NONE;
		if (roomiest->spare > need)
			return roomiest->group;
	}
	if (least->group == POLICY_NONE)
		return POLICY_NONE;
	if (d->flags & DOMAIN_NUMA && least->queued + slack >= local->queued)
		return POLICY_NONE;
	/* Without a local group the kernel's local load is ULONG_MAX, and the sum wraps around. */
	if (local->group == POLICY_NONE ? least->queued >= slack :
					  least->queued > local->queued + slack)
		return POLICY_NONE;
	if (local->queued < least->queued + slack &&
	    100 * (u64)local->avg < margin * least->avg)
		return POLICY_NONE;
	return least->group;
}

/* Updates @least, the least loaded group so far, if @g is less loaded. */
static inline void policy_keep_least(const struct policy_ctx *c, const struct policy_domain *d,
				     const struct policy_group_load *g,
				     struct policy_group_load *least)
{
	u64 margin = 100 + (d->imbalance_pct - 100) / 2;
	u64 slack = CAPACITY_SCALE * (u64)(d->imbalance_pct - 100) / 100;
	int none = least->group == POLICY_NONE;

	if (c->k->idlest == IDLEST_LOAD) {
		if (none || g->queued < least->queued)
			*least = *g;
		return;
	}
	if (none || least->queued > g->queued + slack) {
		*least = *g;
	} else if (g->queued < least->queued + slack && 100 * (u64)least->avg > margin * g->avg) {
		least->avg = g->avg;	/* but not its queued load, as in the kernel */
		least->group = g->group;
	}
}

/* As policy_find_idlest_group(): the group to go to, or POLICY_NONE to stay in @own. */
policy_noinline u32 policy_find_idlest_group_by_load(const struct policy_ctx *c,
						     const struct policy_domain *d,
				       u32 own, u32 cpu)
{
	const struct policy_group_load none = { ~0u, ~0u, 0, POLICY_NONE };
	struct policy_group_load *local = &c->scratch->loads.local, *g = &c->scratch->loads.other;
	struct policy_group_load *least = &c->scratch->loads.least;
	struct policy_group_load *roomiest = &c->scratch->loads.roomiest;
	u32 start = own - d->first_group, n;

	*local = *least = *roomiest = none;
	if (c->k->idlest == IDLEST_LOAD)
		local->queued = 0;
	if (start >= d->nr_groups)
		start = 0;
	policy_for(n, 0, d->nr_groups) {
		u32 at = start + n < d->nr_groups ? start + n : start + n - d->nr_groups;
		const struct policy_group *group = policy_group_at(c, d->first_group + at);

		if (!policy_group_allowed(c, group))
			continue;
		policy_group_load_sum(c, group, g);
		g->group = d->first_group + at;
		if (policy_group_contains(c, group, cpu)) {
			*local = *g;
			continue;
		}
		policy_keep_least(c, d, g, least);
		if (g->spare > roomiest->spare)
			*roomiest = *g;
	}
	/* Full packing: a local group that takes no part is left, whatever its load. */
	if (policy_packs_fully(c) && c->flags & WAKE_PACKED && local->group == POLICY_NONE &&
	    !policy_takes_part(policy_cpu_at(c, cpu), cpu))
		return least->group;
	if (c->k->idlest == IDLEST_LOAD)
		return policy_least_load(d, local, least);
	return policy_most_spare_or_least_load(c, d, local, least, roomiest);
}

/* 3.x: the allowed CPU of the least load; of equals this CPU, else the first (find_idlest_cpu). */
policy_noinline u32 policy_find_idlest_cpu_by_load(const struct policy_ctx *c,
						   const struct policy_group *g,
					u32 this_cpu)
{
	u32 nr = c->topo->nr_cpus, best = policy_hide(POLICY_NONE), i = 0, n;
	u32 min_load = policy_hide(POLICY_NONE);

	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 load;

		best = policy_hide(best);
		min_load = policy_hide(min_load);
		i = policy_hide(policy_group_next_cpu(c, g, i));
		if (i >= nr)
			break;
		if (!policy_mask_test(c->allowed, i)) {
			i++;
			continue;
		}
		policy_looked_at(c, i);
		load = policy_cpu_load(c, i);
		if (best == POLICY_NONE || load < min_load ||
		    (load == min_load && i == this_cpu)) {
			min_load = load;
			best = i;
		}
		policy_note(c, STEP_SLOW_LEAST_LOADED, i, VERDICT_LATER, load);
		i++;
	}
	return best == POLICY_NONE ? this_cpu : best;
}

#endif
