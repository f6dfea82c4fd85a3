/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow_path_class.h - the idlest group by how full it is, from 5.5
 *
 * kernel 5.5: find_idlest_group(), update_sg_wakeup_stats(),
 * update_pick_idlest(), group_classify(); 6.10: sched_balance_find_dst_group().
 */
#ifndef ALIGHT_SLOW_PATH_CLASS_H
#define ALIGHT_SLOW_PATH_CLASS_H

#include "group.h"

#define NUMA_IMBALANCE_MIN	2	/* two tasks that talk may stay on a node */

/* How full a group is, rising (enum group_type). */
enum policy_group_type {
	GROUP_HAS_SPARE,
	GROUP_FULLY_BUSY,
	GROUP_MISFIT,
	GROUP_ASYM_PACKING,
	GROUP_IMBALANCED,
	GROUP_OVERLOADED,
};

/* s->runnable is 0 where waiting tasks make no group full. @spares: no group is overloaded. */
policy_global u32 policy_group_classify(const struct policy_group_stats *s policy_arg_nonnull,
					const struct policy_group *g policy_arg_nonnull, u32 pct,
					int spares)
{
	u64 room = (u64)g->capacity * 100, need = (u64)s->util * pct;
	int waits = (u64)g->capacity * pct < (u64)s->runnable * 100;

	if (!spares && s->nr_running > s->weight && (room < need || waits))
		return GROUP_OVERLOADED;
	if (g->imbalance)
		return GROUP_IMBALANCED;
	if (s->misfit)
		return GROUP_MISFIT;
	if (s->nr_running >= s->weight && (room <= need || waits))
		return GROUP_FULLY_BUSY;
	return GROUP_HAS_SPARE;
}

static inline void policy_update_sg_wakeup_stats(const struct policy_ctx *c,
						 const struct policy_domain *d,
						 const struct policy_group *g,
						 struct policy_group_stats *s)
{
	u32 nr = c->topo->nr_cpus, idle_cpus = policy_hide(0), allowed = policy_hide(0);
	u32 fitting = policy_hide(0), cpu = 0, n;
	int by_cpu = c->k->idlest_misfit_cpus, busy;
	u64 load = 0;

	s->avg_load = 0;
	s->util = s->runnable = s->nr_running = 0;
	s->weight = c->k->idlest_weight_unset ? 0 : (u16)g->weight;
	s->max_capacity = (u16)g->max_capacity;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = policy_hide(policy_group_next_cpu(c, g, cpu));
		if (cpu >= nr)
			break;
		if (c->k->idlest_allowed_only && !policy_mask_test(c->allowed, cpu)) {
			cpu++;
			continue;
		}
		load += policy_cpu_load_without(c, cpu);
		s->util += policy_cpu_util_without(c, cpu);
		s->nr_running += policy_nr_running_without(c, cpu);
		if (c->k->idlest_runnable)
			s->runnable += policy_cpu_runnable_without(c, cpu);
		if (policy_idle_cpu_without(c, cpu))
			idle_cpus++;
		if (c->k->idlest_numa_imbalance == NUMA_IMB_NR &&
		    policy_mask_test(c->allowed, cpu))
			allowed++;
		if (by_cpu && d->flags & DOMAIN_ASYM && policy_task_fits_cpu(c, cpu))
			fitting++;
		c->answer->summed++;
		cpu++;
	}
	s->idle_cpus = (u16)idle_cpus;
	s->allowed = (u16)allowed;
	s->misfit = (d->flags & DOMAIN_ASYM) &&
		    (by_cpu ? !fitting :
			      !policy_fits_capacity(policy_uclamp_task_util(c), g->max_capacity));
	s->type = (u16)policy_group_classify(s, g, d->imbalance_pct,
					     c->k->idlest_eas_spares && c->nr_perf);
	busy = s->type == GROUP_FULLY_BUSY || s->type == GROUP_OVERLOADED;
	if (c->k->idlest_load_inverted)		/* 5.5, 5.6 had the test the wrong way round */
		busy = s->type < GROUP_FULLY_BUSY;
	if (busy && g->capacity)
		s->avg_load = load * CAPACITY_SCALE / policy_group_capacity(c, g);
}

/* Is the group idler than the idlest one so far? */
policy_global int policy_pick_idlest(const struct policy_group_stats *s policy_arg_nonnull,
				     const struct policy_group_stats *idlest policy_arg_nonnull,
				     int tie_util)
{
	if (s->type != idlest->type)
		return s->type < idlest->type;
	switch (s->type) {
	case GROUP_OVERLOADED:
	case GROUP_FULLY_BUSY:
		return s->avg_load < idlest->avg_load;
	case GROUP_MISFIT:
		return s->max_capacity > idlest->max_capacity;
	case GROUP_HAS_SPARE:
		if (tie_util && s->idle_cpus == idlest->idle_cpus)
			return s->util < idlest->util;
		return s->idle_cpus > idlest->idle_cpus;
	default:
		return 0;
	}
}

/*
 * May a node take one more task before tasks spread? (adjust_numa_imbalance; 5.15:
 * allow_numa_imbalance)
 */
static __always_inline int policy_node_may_fill(const struct policy_domain *d,
						const struct policy_group_stats *local,
						const struct policy_group_stats *idlest, int rule)
{
	u32 more = d->imb_numa_nr < local->allowed ? d->imb_numa_nr : local->allowed;
	u32 gap = local->idle_cpus > idlest->idle_cpus ? local->idle_cpus - idlest->idle_cpus :
							 idlest->idle_cpus - local->idle_cpus;

	if (rule == NUMA_IDLE_CPU)
		return local->idle_cpus != 0;
	if (rule == NUMA_QUARTER)
		return local->nr_running + 1 < local->weight >> 2;
	if (!gap)
		return 1;
	return local->nr_running + 1 <= more && gap <= NUMA_IMBALANCE_MIN;
}

/* Is the idlest other group so much better that the task leaves the local one? */
policy_global int policy_group_worth(const struct policy_domain *d policy_arg_nonnull,
				     const struct policy_group_stats *local policy_arg_nonnull,
				     const struct policy_group_stats *idlest policy_arg_nonnull,
				     int numa_rule)
{
	u64 slack = CAPACITY_SCALE * (u64)(d->imbalance_pct - 100) / 100;

	if (local->type != idlest->type)
		return local->type > idlest->type;
	switch (local->type) {
	case GROUP_OVERLOADED:
	case GROUP_FULLY_BUSY:
		if ((d->flags & DOMAIN_NUMA) && idlest->avg_load + slack >= local->avg_load)
			return 0;
		if (idlest->avg_load >= local->avg_load + slack)
			return 0;
		return 100 * local->avg_load > d->imbalance_pct * idlest->avg_load;
	case GROUP_MISFIT:
		return local->max_capacity < idlest->max_capacity;
	case GROUP_HAS_SPARE:
		if (d->flags & DOMAIN_NUMA && policy_node_may_fill(d, local, idlest, numa_rule))
			return 0;
		return local->idle_cpus < idlest->idle_cpus;
	default:
		return 0;
	}
}

/*
 * The group to go to, or POLICY_NONE to stay in @own, the one that holds @cpu.
 * The kernel's ring of groups starts there, so of equals the next one wins.
 */
policy_subprog u32 policy_find_idlest_group(const struct policy_ctx *c,
					    const struct policy_domain *d, u32 own,
			       u32 cpu)
{
	const struct policy_group_stats blank = {}, busiest = { .avg_load = ~0u,
		.type = GROUP_OVERLOADED };
	struct policy_group_stats *local = &c->scratch->groups.local,
		*s = &c->scratch->groups.other;
	struct policy_group_stats *idlest = &c->scratch->groups.idlest;
	u32 best = policy_hide(POLICY_NONE), start = own - d->first_group, n;
	u32 has_local = policy_hide(0);

	if (start >= d->nr_groups)
		start = 0;
	*local = *s = blank;
	*idlest = busiest;
	policy_for(n, 0, d->nr_groups) {
		u32 at = start + n < d->nr_groups ? start + n : start + n - d->nr_groups;
		u32 g = d->first_group + at;
		const struct policy_group *group = policy_group_at(c, g);

		best = policy_hide(best);
		has_local = policy_hide(has_local);
		if (!policy_group_allowed(c, group))
			continue;
		policy_update_sg_wakeup_stats(c, d, group, s);
		if (policy_group_contains(c, group, cpu)) {
			*local = *s;
			has_local = 1;
			continue;
		}
		if (policy_pick_idlest(s, idlest, (int)c->k->idlest_tie_util)) {
			*idlest = *s;
			best = g;
		}
	}
	if (best == POLICY_NONE || !has_local)
		return best;
	return policy_group_worth(d, local, idlest, (int)c->k->idlest_numa_imbalance) ? best :
										   POLICY_NONE;
}

#endif
