/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow_path.h - the idlest CPU of the idlest group, level by level
 *
 * Fork and exec, and wakeups where a domain carries BALANCE_WAKE (asymmetric
 * machines before 5.7). kernel 5.5: find_idlest_cpu(), find_idlest_group(),
 * find_idlest_group_cpu(), update_sg_wakeup_stats().
 */
#ifndef ALIGHT_SLOW_PATH_H
#define ALIGHT_SLOW_PATH_H

#include "candidate.h"

/* How full a group is, rising (enum group_type). */
enum group_type {
	GROUP_HAS_SPARE,
	GROUP_FULLY_BUSY,
	GROUP_MISFIT,
	GROUP_ASYM_PACKING,
	GROUP_IMBALANCED,
	GROUP_OVERLOADED,
};

/* Does the wakee still count in this CPU's signals? */
static __always_inline int wakee_counts(const struct policy_ctx *c, u32 cpu)
{
	return cpu == c->prev_cpu && c->p->pelt.last;
}

static inline u32 load_without(const struct policy_ctx *c, u32 cpu)
{
	u32 load = cpu_at(c, cpu)->cfs.load_avg;

	return wakee_counts(c, cpu) ? sub_floor0(load, c->p->pelt.load_avg) : load;
}

/* Is the wakee queued here? At exec it runs here; at fork and wakeup it does not. */
static __always_inline u32 wakee_queued(const struct policy_ctx *c, u32 cpu)
{
	return wakee_counts(c, cpu) && c->p->flags & TASK_ON_RQ;
}

static inline u32 util_without(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = cpu_at(c, cpu);
	u32 util = rq->cfs.util_avg, est = rq->est_enqueued;

	if (wakee_counts(c, cpu))
		util = sub_floor0(util, c->p->pelt.util_avg);
	if (wakee_queued(c, cpu))
		est = sub_floor0(est, task_est(c->k, c->p));
	if (util < est)
		util = est;
	return util < rq->capacity_orig ? util : rq->capacity_orig;
}

/* Tasks of all classes but the wakee. */
static __always_inline u32 running_without(const struct policy_ctx *c, u32 cpu)
{
	return sub_floor0(cpu_at(c, cpu)->nr_running, wakee_queued(c, cpu));
}

static __always_inline int idle_without(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = cpu_at(c, cpu);

	return !running_without(c, cpu) && !rq->wakeup_pending &&
	       (rq->curr_is_idle || wakee_queued(c, cpu));
}

policy_leaf u32 group_classify(const struct group_stats *s policy_nonnull,
			       const struct policy_group *g policy_nonnull, u32 pct, int misfit)
{
	u64 room = (u64)g->capacity * 100, need = s->util * pct;

	if (s->nr_running > s->weight && room < need)
		return GROUP_OVERLOADED;
	if (g->imbalance)
		return GROUP_IMBALANCED;
	if (misfit)
		return GROUP_MISFIT;
	if (s->nr_running >= s->weight && room <= need)
		return GROUP_FULLY_BUSY;
	return GROUP_HAS_SPARE;
}

/* The CPUs of a group: its child domain's span, or just one. */
static __always_inline u32 group_next_cpu(const struct policy_ctx *c, const struct policy_group *g,
					  u32 from)
{
	const struct policy_mask *span;

	if (g->child == POLICY_NONE)
		return from <= g->cpu ? g->cpu : c->topo->nr_cpus;
	span = &domain_at(c, g->child)->span;
	return mask_next_and(span, span, from, c->topo->nr_cpus);
}

static inline int group_allowed(const struct policy_ctx *c, const struct policy_group *g)
{
	if (g->child == POLICY_NONE)
		return mask_test(c->allowed, g->cpu);
	return mask_intersects(&domain_at(c, g->child)->span, c->allowed, c->topo->nr_cpus);
}

static inline int group_contains(const struct policy_ctx *c, const struct policy_group *g, u32 cpu)
{
	if (g->child == POLICY_NONE)
		return g->cpu == cpu;
	return mask_test(&domain_at(c, g->child)->span, cpu);
}

static inline void group_sum(const struct policy_ctx *c, const struct policy_domain *d,
			     const struct policy_group *g, struct group_stats *s)
{
	u32 nr = c->topo->nr_cpus, idle_cpus = policy_forget(0), cpu = 0, n;
	u64 load = 0;
	int busy;

	s->util = s->avg_load = 0;
	s->nr_running = 0;
	s->weight = c->k->idlest_weight_unset ? 0 : (u16)g->weight;
	s->max_capacity = (u16)g->max_capacity;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = policy_forget(group_next_cpu(c, g, cpu));
		if (cpu >= nr)
			break;
		load += load_without(c, cpu);
		s->util += util_without(c, cpu);
		s->nr_running += running_without(c, cpu);
		if (idle_without(c, cpu))
			idle_cpus++;
		c->answer->summed++;
		cpu++;
	}
	s->idle_cpus = (u16)idle_cpus;
	s->type = (u16)group_classify(s, g, d->imbalance_pct, (d->flags & DOMAIN_ASYM) &&
				      !fits(task_need(c), g->max_capacity));
	busy = s->type == GROUP_FULLY_BUSY || s->type == GROUP_OVERLOADED;
	if (c->k->idlest_load_inverted)		/* 5.5, 5.6 had the test the wrong way round */
		busy = s->type < GROUP_FULLY_BUSY;
	if (busy && g->capacity)
		s->avg_load = load * CAPACITY_SCALE / g->capacity;
}

/* Is the group idler than the idlest one so far? */
policy_leaf int group_idler(const struct group_stats *s policy_nonnull,
			    const struct group_stats *idlest policy_nonnull)
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
		return s->idle_cpus > idlest->idle_cpus;
	default:
		return 0;
	}
}

/* Is the idlest other group worth leaving the local one for? */
policy_leaf int group_worth(const struct policy_domain *d policy_nonnull,
			    const struct group_stats *local policy_nonnull,
			    const struct group_stats *idlest policy_nonnull)
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
		if ((d->flags & DOMAIN_NUMA) && local->idle_cpus)
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
static inline u32 idlest_group(const struct policy_ctx *c, const struct policy_domain *d, u32 own,
			       u32 cpu)
{
	const struct group_stats blank = {}, busiest = { .avg_load = ~0u, .type = GROUP_OVERLOADED };
	struct group_stats *local = &c->scratch->groups.local, *s = &c->scratch->groups.other;
	struct group_stats *idlest = &c->scratch->groups.idlest;
	u32 best = policy_forget(POLICY_NONE), start = own - d->first_group, n;
	u32 has_local = policy_forget(0);

	if (start >= d->nr_groups)
		start = 0;
	*local = *s = blank;
	*idlest = busiest;
	policy_for(n, 0, d->nr_groups) {
		u32 at = start + n < d->nr_groups ? start + n : start + n - d->nr_groups;
		u32 g = d->first_group + at;
		const struct policy_group *group = group_at(c, g);

		best = policy_forget(best);
		has_local = policy_forget(has_local);
		if (!group_allowed(c, group))
			continue;
		group_sum(c, d, group, s);
		if (group_contains(c, group, cpu)) {
			*local = *s;
			has_local = 1;
			continue;
		}
		if (group_idler(s, idlest)) {
			*idlest = *s;
			best = g;
		}
	}
	if (best == POLICY_NONE || !has_local)
		return best;
	return group_worth(d, local, idlest) ? best : POLICY_NONE;
}

/* The CPU of the group that wakes soonest or is least loaded. */
static inline u32 idlest_in_group(const struct policy_ctx *c, const struct policy_group *g, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, i = 0, n;
	u32 shallowest = policy_forget(POLICY_NONE), sched_idle = policy_forget(POLICY_NONE);
	u32 min_latency = policy_forget(POLICY_NONE), min_load = policy_forget(POLICY_NONE);
	u32 least = cpu;
	u64 latest = 0;

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
		if (!c->k->sched_idle_last && cpu_sched_idle(c, i)) {
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
			} else if (rq->cfs.load_avg < min_load) {
				min_load = rq->cfs.load_avg;
				least = i;
			}
			note(c, STEP_SLOW_LEAST_LOADED, i, VERDICT_BUSY, rq->cfs.load_avg);
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
	if (c->kind != KIND_FORK)
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
