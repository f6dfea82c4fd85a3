/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow_path.h - the idlest CPU of the idlest group, level by level
 *
 * For fork and exec, and for wakeups where a domain carries BALANCE_WAKE (asymmetric
 * machines before 5.7). This file has the walk downwards (find_idlest_cpu) and the
 * choice in a group (find_idlest_group_cpu). The group is chosen by
 * slow_path_class.h from 5.5 on, by slow_path_load.h before.
 */
#ifndef ALIGHT_SLOW_PATH_H
#define ALIGHT_SLOW_PATH_H

#include "slow_path_class.h"
#include "slow_path_load.h"

/* The CPU of the group that wakes soonest or is least loaded. */
policy_subprog u32 policy_find_idlest_group_cpu(const struct policy_ctx *c,
						const struct policy_group *g, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, i = 0, n;
	u32 shallowest = policy_hide(POLICY_NONE), sched_idle = policy_hide(POLICY_NONE);
	u32 min_latency = policy_hide(POLICY_NONE), min_load = policy_hide(POLICY_NONE);
	u32 least = cpu;
	u64 latest = 0;

	if (c->k->idlest == IDLEST_LOAD)
		return policy_find_idlest_cpu_by_load(c, g, cpu);
	if (g->weight == 1)
		return g->cpu;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		const struct policy_cpu *rq;

		shallowest = policy_hide(shallowest);
		sched_idle = policy_hide(sched_idle);
		least = policy_hide(least);
		i = policy_hide(policy_group_next_cpu(c, g, i));
		if (i >= nr)
			break;
		if (!policy_mask_test(c->allowed, i)) {
			i++;
			continue;
		}
		rq = policy_cpu_at(c, i);
		policy_looked_at(c, i);
		if (c->k->sched_idle != SCHED_IDLE_LAST && policy_sched_idle_cpu(c, i)) {
			return i;
		} else if (policy_available_idle_cpu(c, i)) {
			/* Shallowest state; of equals, or if unknown, the CPU that idled last. */
			u32 latency = rq->exit_latency;

			if (latency < min_latency ||
			    ((latency == min_latency || latency == POLICY_NONE) &&
			     rq->idle_stamp > latest)) {
				if (latency < min_latency)
					min_latency = latency;
				latest = rq->idle_stamp;
				shallowest = i;
			}
			policy_note(c, STEP_SLOW_IDLE, i, VERDICT_LATER, latency);
		} else if (shallowest == POLICY_NONE && sched_idle == POLICY_NONE) {
			if (policy_sched_idle_cpu(c, i)) {
				sched_idle = i;
			} else if (policy_cpu_load(c, i) < min_load) {
				min_load = policy_cpu_load(c, i);
				least = i;
			}
			policy_note(c, STEP_SLOW_LEAST_LOADED, i, VERDICT_BUSY,
				    policy_cpu_load(c, i));
		}
		i++;
	}
	if (shallowest != POLICY_NONE)
		return shallowest;
	return sched_idle != POLICY_NONE ? sched_idle : least;
}

/* The step of the slow path that @cpu as the answer stands for. */
static inline u32 policy_slow_step(const struct policy_ctx *c, u32 cpu)
{
	if (policy_available_idle_cpu(c, cpu))
		return STEP_SLOW_IDLE;
	return policy_sched_idle_cpu(c, cpu) ? STEP_SLOW_SCHED_IDLE : STEP_SLOW_LEAST_LOADED;
}

/* Highest level of @cpu that spans fewer than @weight CPUs, or -1. */
static inline s32 policy_level_below(const struct policy_ctx *c, u32 cpu, u32 weight)
{
	const struct policy_place *place = policy_place_at(c, cpu);
	s32 below = (s32)policy_hide((u32)-1);
	u32 l;

	policy_for(l, 0, POLICY_MAX_LEVELS) {
		u32 i = policy_bound(l, POLICY_MAX_LEVELS);

		if (l >= place->nr_domains ||
		    policy_domain_at(c, place->domain[i])->weight >= weight)
			break;
		below = (s32)l;
	}
	return below;
}

/* Search downwards from domain level @level of this CPU. */
policy_noinline u32 policy_slow_path(const struct policy_ctx *c, u32 level)
{
	u32 cpu = c->this_cpu, moved = 0, n;
	const struct policy_domain *d;
	s32 l = (s32)level;

	d = policy_domain_at(c,
			     policy_place_at(c,
					     cpu)->domain[policy_bound(level, POLICY_MAX_LEVELS)]);
	if (!policy_mask_intersects(&d->span, c->allowed, c->topo->nr_cpus))
		return policy_take(c, STEP_SLOW_PREV, c->prev_cpu);
	if (c->kind != KIND_FORK && c->k->idlest != IDLEST_LOAD)
		policy_wakee_sync(c);

	/* Each step goes down a level, of this CPU's domains or of a new CPU's. */
	policy_for(n, 0, POLICY_MAX_LEVELS) {
		u32 g, idlest;

		cpu = policy_hide(cpu);
		moved = policy_hide(moved);
		l = (s32)policy_hide((u32)l);
		if (l < 0)
			break;
		g = policy_bound((u32)l, POLICY_MAX_LEVELS);
		d = policy_domain_at(c, policy_place_at(c, cpu)->domain[g]);
		l--;
		if (!(d->flags & c->kind))
			continue;
		if (c->k->idlest != IDLEST_CLASS)
			g = policy_hide(policy_find_idlest_group_by_load(
				c, d, policy_place_at(c, cpu)->group[g], cpu));
		else
			g = policy_hide(policy_find_idlest_group(
				c, d, policy_place_at(c, cpu)->group[g], cpu));
		if (g == POLICY_NONE)
			continue;
		idlest = policy_hide(policy_find_idlest_group_cpu(c, policy_group_at(c, g), cpu));
		if (idlest == cpu)
			continue;
		cpu = idlest;
		moved = 1;
		l = policy_level_below(c, cpu, d->weight);
	}
	if (!moved)
		return policy_take(c, STEP_SLOW_LOCAL, cpu);
	return policy_take(c, policy_slow_step(c, cpu), cpu);
}

#endif
