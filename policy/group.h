/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * group.h - the CPUs of a group, and the signals of a CPU without the wakee
 *
 * At wakeup the sleeping wakee still counts in the signals of the CPU that it ran
 * on last; at exec it still runs there. kernel 5.5:
 * cpu_load_without(), cpu_util_without(), idle_cpu_without(); 5.7:
 * cpu_runnable_without().
 */
#ifndef ALIGHT_GROUP_H
#define ALIGHT_GROUP_H

#include "pack.h"
#include "uclamp.h"

/* Next CPU of a group, from @from on. A group is the span of its child, or a single CPU. */
static __always_inline u32 policy_group_next_cpu(const struct policy_ctx *c,
						 const struct policy_group *g, u32 from)
{
	const struct policy_mask *span;

	if (g->child == POLICY_NONE)
		return from <= g->cpu ? g->cpu : c->topo->nr_cpus;
	span = &policy_domain_at(c, g->child)->span;
	return policy_mask_next_and(span, span, from, c->topo->nr_cpus);
}

static inline int policy_group_allowed(const struct policy_ctx *c, const struct policy_group *g)
{
	if (g->child == POLICY_NONE)
		return policy_mask_test(c->allowed, g->cpu);
	return policy_mask_intersects(&policy_domain_at(c, g->child)->span, c->allowed,
				      c->topo->nr_cpus);
}

static inline int policy_group_contains(const struct policy_ctx *c, const struct policy_group *g,
					u32 cpu)
{
	if (g->child == POLICY_NONE)
		return g->cpu == cpu;
	return policy_mask_test(&policy_domain_at(c, g->child)->span, cpu);
}

/*
 * Capacity of a group. At a wakeup in full packing a CPU that takes no part counts
 * as 1, so that the slow path finds it loaded as soon as it has a task.
 */
static inline u32 policy_group_capacity(const struct policy_ctx *c, const struct policy_group *g)
{
	u32 nr = c->topo->nr_cpus, cpu = 0, capacity = 0, n;

	if (!policy_packs_fully(c) || c->kind != KIND_WAKE)
		return g->capacity;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = policy_group_next_cpu(c, g, cpu);
		if (cpu >= nr)
			break;
		capacity += policy_takes_part(policy_cpu_at(c, cpu), cpu) ?
			policy_cpu_at(c, cpu)->capacity : 1;
		cpu++;
	}
	return capacity ? capacity : 1;
}

/* Does the wakee still count in this CPU's signals? */
static __always_inline int policy_wakee_counts(const struct policy_ctx *c, u32 cpu)
{
	return cpu == c->prev_cpu && c->p->pelt.last_update_time;
}

static inline u32 policy_cpu_load_without(const struct policy_ctx *c, u32 cpu)
{
	u32 load = policy_cpu_load(c, cpu);

	return policy_wakee_counts(c, cpu) ? policy_sub_positive(load, c->p->pelt.load_avg) : load;
}

static inline u32 policy_cpu_runnable_without(const struct policy_ctx *c, u32 cpu)
{
	u32 runnable = policy_cpu_at(c, cpu)->cfs.runnable_avg;

	return policy_wakee_counts(c, cpu) ?
	       policy_sub_positive(runnable, c->p->pelt.runnable_avg) :
					     runnable;
}

/* Is the wakee queued here? At exec it runs here; at fork and wakeup it does not. */
static __always_inline u32 policy_wakee_queued(const struct policy_ctx *c, u32 cpu)
{
	return policy_wakee_counts(c, cpu) && c->p->flags & TASK_ON_RQ;
}

static inline u32 policy_cpu_util_without(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 util = rq->cfs.util_avg, mine = c->p->pelt.util_avg, est = rq->util_est_enqueued;

	if (policy_sums_count(c)) {
		util = policy_cfs_util_uclamp(c->k, rq);
		mine = policy_task_util_uclamp(c->k, c->p);
	}
	if (policy_wakee_counts(c, cpu))
		util = policy_sub_positive(util, mine);
	if (policy_wakee_queued(c, cpu))
		est = policy_sub_positive(est, policy_task_est(c->k, c->p));
	if (util < est)
		util = est;
	return util < rq->capacity_orig ? util : rq->capacity_orig;
}

/* Number of tasks, all classes, without the wakee. */
static __always_inline u32 policy_nr_running_without(const struct policy_ctx *c, u32 cpu)
{
	return policy_sub_positive(policy_cpu_at(c, cpu)->nr_running, policy_wakee_queued(c, cpu));
}

static __always_inline int policy_idle_cpu_without(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	return !policy_nr_running_without(c, cpu) && !rq->ttwu_pending &&
	       (rq->curr_is_idle || policy_wakee_queued(c, cpu));
}

#endif
