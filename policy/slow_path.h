/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow_path.h - the idlest CPU of the idlest group, level by level
 *
 * Fork and exec, and wakeups where a domain carries BALANCE_WAKE (asymmetric
 * machines before 5.7). Here: the walk downwards (find_idlest_cpu) and the
 * choice in a group (find_idlest_group_cpu). Which group: slow_path_class.h
 * from 5.5 on, slow_path_load.h before.
 */
#ifndef ALIGHT_SLOW_PATH_H
#define ALIGHT_SLOW_PATH_H

#include "slow_path_class.h"
#include "slow_path_load.h"

/* The CPU of the group that wakes soonest or is least loaded. */
policy_part u32 idlest_in_group(const struct policy_ctx *c, const struct policy_group *g, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, i = 0, n;
	u32 shallowest = policy_forget(POLICY_NONE), sched_idle = policy_forget(POLICY_NONE);
	u32 min_latency = policy_forget(POLICY_NONE), min_load = policy_forget(POLICY_NONE);
	u32 least = cpu;
	u64 latest = 0;

	if (c->k->idlest == IDLEST_LOAD)
		return least_loaded_in_group(c, g, cpu);
	if (g->weight == 1)
		return g->cpu;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		const struct policy_cpu *rq;

		shallowest = policy_forget(shallowest);
		sched_idle = policy_forget(sched_idle);
		least = policy_forget(least);
		i = policy_forget(group_next_cpu(c, g, i));
		if (i >= nr)
			break;
		if (!mask_test(c->allowed, i)) {
			i++;
			continue;
		}
		rq = cpu_at(c, i);
		looked_at(c, i);
		if (c->k->sched_idle != SCHED_IDLE_LAST && cpu_sched_idle(c, i)) {
			return i;
		} else if (cpu_idle(c, i)) {
			/* Shallowest state; of equals, or if unknown, the cache last warm. */
			u32 latency = rq->exit_latency;

			if (latency < min_latency ||
			    ((latency == min_latency || latency == POLICY_NONE) &&
			     rq->idle_stamp > latest)) {
				if (latency < min_latency)
					min_latency = latency;
				latest = rq->idle_stamp;
				shallowest = i;
			}
			note(c, STEP_SLOW_IDLE, i, VERDICT_LATER, latency);
		} else if (shallowest == POLICY_NONE && sched_idle == POLICY_NONE) {
			if (cpu_sched_idle(c, i)) {
				sched_idle = i;
			} else if (cpu_load(c, i) < min_load) {
				min_load = cpu_load(c, i);
				least = i;
			}
			note(c, STEP_SLOW_LEAST_LOADED, i, VERDICT_BUSY, cpu_load(c, i));
		}
		i++;
	}
	if (shallowest != POLICY_NONE)
		return shallowest;
	return sched_idle != POLICY_NONE ? sched_idle : least;
}

/* Which step of the slow path does this answer stand for? */
static inline u32 slow_step(const struct policy_ctx *c, u32 cpu)
{
	if (cpu_idle(c, cpu))
		return STEP_SLOW_IDLE;
	return cpu_sched_idle(c, cpu) ? STEP_SLOW_SCHED_IDLE : STEP_SLOW_LEAST_LOADED;
}

/* Highest level of @cpu that spans fewer than @weight CPUs, or -1. */
static inline s32 level_below(const struct policy_ctx *c, u32 cpu, u32 weight)
{
	const struct policy_place *place = place_at(c, cpu);
	s32 below = (s32)policy_forget((u32)-1);
	u32 l;

	policy_for(l, 0, POLICY_MAX_LEVELS) {
		u32 i = policy_bound(l, POLICY_MAX_LEVELS);

		if (l >= place->nr_domains || domain_at(c, place->domain[i])->weight >= weight)
			break;
		below = (s32)l;
	}
	return below;
}

/* Search downwards from domain level @level of this CPU, @top. */
policy_apart u32 slow_path(const struct policy_ctx *c, u32 level)
{
	u32 cpu = c->this_cpu, moved = 0, n;
	const struct policy_domain *d;
	s32 l = (s32)level;

	d = domain_at(c, place_at(c, cpu)->domain[policy_bound(level, POLICY_MAX_LEVELS)]);
	if (!mask_intersects(&d->span, c->allowed, c->topo->nr_cpus))
		return take(c, STEP_SLOW_PREV, c->prev_cpu);
	if (c->kind != KIND_FORK && c->k->idlest != IDLEST_LOAD)
		wakee_sync(c);

	/* Each step goes down a level, of this CPU's domains or of a new CPU's. */
	policy_for(n, 0, POLICY_MAX_LEVELS) {
		u32 g, idlest;

		cpu = policy_forget(cpu);
		moved = policy_forget(moved);
		l = (s32)policy_forget((u32)l);
		if (l < 0)
			break;
		g = policy_bound((u32)l, POLICY_MAX_LEVELS);
		d = domain_at(c, place_at(c, cpu)->domain[g]);
		l--;
		if (!(d->flags & c->kind))
			continue;
		if (c->k->idlest != IDLEST_CLASS)
			g = policy_forget(idlest_group_by_load(c, d, place_at(c, cpu)->group[g],
							       cpu));
		else
			g = policy_forget(idlest_group(c, d, place_at(c, cpu)->group[g], cpu));
		if (g == POLICY_NONE)
			continue;
		idlest = policy_forget(idlest_in_group(c, group_at(c, g), cpu));
		if (idlest == cpu)
			continue;
		cpu = idlest;
		moved = 1;
		l = level_below(c, cpu, d->weight);
	}
	if (!moved)
		return take(c, STEP_SLOW_LOCAL, cpu);
	return take(c, slow_step(c, cpu), cpu);
}

#endif
