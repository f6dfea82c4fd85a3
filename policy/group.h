/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * group.h - the CPUs of a group, and what a CPU carries without the wakee
 *
 * A wakee that sleeps still counts in the signals of the CPU it ran on last;
 * one that changes its program still runs there. kernel 5.5:
 * cpu_load_without(), cpu_util_without(), idle_cpu_without(); 5.7:
 * cpu_runnable_without().
 */
#ifndef ALIGHT_GROUP_H
#define ALIGHT_GROUP_H

#include "pack.h"
#include "uclamp.h"

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

/*
 * Capacity of a group. At a wakeup in full packing a CPU that takes no part has
 * next to none, so that the slow path finds it loaded as soon as it has a task.
 */
static inline u32 group_capacity(const struct policy_ctx *c, const struct policy_group *g)
{
	u32 nr = c->topo->nr_cpus, cpu = 0, capacity = 0, n;

	if (!packs_fully(c) || c->kind != KIND_WAKE)
		return g->capacity;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = group_next_cpu(c, g, cpu);
		if (cpu >= nr)
			break;
		capacity += takes_part(cpu_at(c, cpu), cpu) ? cpu_at(c, cpu)->capacity : 1;
		cpu++;
	}
	return capacity ? capacity : 1;
}

/* Does the wakee still count in this CPU's signals? */
static __always_inline int wakee_counts(const struct policy_ctx *c, u32 cpu)
{
	return cpu == c->prev_cpu && c->p->pelt.last;
}

static inline u32 load_without(const struct policy_ctx *c, u32 cpu)
{
	u32 load = cpu_load(c, cpu);

	return wakee_counts(c, cpu) ? sub_floor0(load, c->p->pelt.load_avg) : load;
}

static inline u32 runnable_without(const struct policy_ctx *c, u32 cpu)
{
	u32 runnable = cpu_at(c, cpu)->cfs.run_avg;

	return wakee_counts(c, cpu) ? sub_floor0(runnable, c->p->pelt.run_avg) : runnable;
}

/* Is the wakee queued here? At exec it runs here; at fork and wakeup it does not. */
static __always_inline u32 wakee_queued(const struct policy_ctx *c, u32 cpu)
{
	return wakee_counts(c, cpu) && c->p->flags & TASK_ON_RQ;
}

static inline u32 util_without(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = cpu_at(c, cpu);
	u32 util = rq->cfs.util_avg, mine = c->p->pelt.util_avg, est = rq->est_enqueued;

	if (sums_count(c)) {
		util = queue_clamped(c->k, rq);
		mine = task_clamped(c->k, c->p);
	}
	if (wakee_counts(c, cpu))
		util = sub_floor0(util, mine);
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

#endif
