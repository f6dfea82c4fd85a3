/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * candidate.h - tests of a CPU that all searches share, and how results are recorded
 */
#ifndef ALIGHT_CANDIDATE_H
#define ALIGHT_CANDIDATE_H

#include "ctx.h"
#include "pelt.h"

/* Current task is the idle task, nothing queued, no remote wakeup under way (available_idle_cpu). */
static __always_inline int policy_available_idle_cpu(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	return rq->curr_is_idle && !rq->nr_running && !rq->ttwu_pending;
}

/* May this wakee take a CPU because it runs SCHED_IDLE only? (choose_sched_idle_rq) */
static __always_inline int policy_sched_idle_counts(const struct policy_ctx *c)
{
	return c->k->sched_idle != SCHED_IDLE_BUSY &&
	       !(c->k->sched_idle == SCHED_IDLE_NORMAL && c->p->class == POLICY_IDLE);
}

/* Runs SCHED_IDLE tasks only (sched_idle_cpu). */
static __always_inline int policy_sched_idle_cpu(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	return rq->nr_running && rq->nr_running == rq->h_nr_idle && policy_sched_idle_counts(c);
}

static __always_inline int policy_cpu_avail(const struct policy_ctx *c, u32 cpu)
{
	return policy_available_idle_cpu(c, cpu) || policy_sched_idle_cpu(c, cpu);
}

/* Load of a CPU as this base counts it (cpu_load, cpu_runnable_load, weighted_cpuload). */
static __always_inline u32 policy_cpu_load(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);

	if (c->k->load == LOAD_WEIGHT)
		return rq->weight;
	return c->k->load == LOAD_RUNNABLE ? rq->runnable_load_avg : rq->cfs.load_avg;
}

/* Utilization fits a capacity with 20 % to spare (fits_capacity). */
static __always_inline int policy_fits_capacity(u32 util, u32 capacity)
{
	return (u64)util * 1280 < (u64)capacity * 1024;
}

/* uclamp-sum: do clamped sums replace utilization? Only once a clamp has been requested. */
static __always_inline int policy_sums_count(const struct policy_ctx *c)
{
	return policy_clamps_are_summed(c->k) && c->root.uclamp_used;
}

/* uclamp-sum: are biases added to utilization? Only once a clamp has been requested. */
static __always_inline int policy_biases_count(const struct policy_ctx *c)
{
	return policy_clamps_are_biases(c->k) && c->root.uclamp_used;
}

/* uclamp-sum: estimated utilization, clamped (task_util_est, task_util_est_uclamp). */
static __always_inline u32 policy_wakee_util_est_uclamp(const struct policy_ctx *c)
{
	return policy_task_util_est_uclamp(c->k, c->p);
}

/* Estimated utilization that the wakee adds to a CPU. */
static __always_inline u32 policy_wakee_util_est(const struct policy_ctx *c)
{
	return policy_sums_count(c) ? policy_wakee_util_est_uclamp(c) :
				      policy_task_util_est(c->k, c->p);
}

/* Estimated utilization, from 5.6 within the task's clamps (uclamp_task_util). */
static __always_inline u32 policy_uclamp_task_util(const struct policy_ctx *c)
{
	u32 util = policy_task_util_est(c->k, c->p);

	if (policy_sums_count(c) || policy_biases_count(c))
		return policy_wakee_util_est_uclamp(c);
	if (c->k->fit == FIT_PLAIN)
		return util;
	if (util < c->p->uclamp_min)
		util = c->p->uclamp_min;
	return util > c->p->uclamp_max ? c->p->uclamp_max : util;
}

/* Bring the sleeping wakee's signals up to its old queue's last update (sync_entity_load_avg). */
static __always_inline void policy_wakee_sync(const struct policy_ctx *c)
{
	policy_sync_entity_load_avg(c->k, policy_cpu_at(c, c->prev_cpu), c->p);
}

/* Record the verdict on @cpu; @value: what was compared. */
static __always_inline void policy_note(const struct policy_ctx *c, u32 step, u32 cpu, u32 verdict,
					u32 value)
{
	c->answer->verdicts[verdict]++;
#ifndef __bpf__
	if (c->notes && c->notes->nr < c->notes->max) {
		struct policy_note *n = &c->notes->note[c->notes->nr++];

		n->cpu = cpu;
		n->step = step;
		n->verdict = verdict;
		n->value = value;
	}
#endif
}

/* Count a CPU whose runqueue was read. @near: it shares the waking CPU's LLC, which costs less. */
static __always_inline void policy_count_look(const struct policy_ctx *c, int near)
{
	if (near)
		c->answer->looked_near++;
	else
		c->answer->looked_far++;
}

static __always_inline void policy_looked_at(const struct policy_ctx *c, u32 cpu)
{
	policy_count_look(c, policy_cpus_share_cache(c, cpu, c->this_cpu));
}

/* Is this single candidate idle? The look is counted; a busy candidate is noted. */
static inline int policy_try_idle(const struct policy_ctx *c, u32 step, u32 cpu)
{
	policy_looked_at(c, cpu);
	if (policy_cpu_avail(c, cpu))
		return 1;
	policy_note(c, step, cpu, VERDICT_BUSY, policy_cpu_at(c, cpu)->nr_running);
	return 0;
}

/* End a search with @cpu, which @step found. */
static __always_inline u32 policy_take(const struct policy_ctx *c, u32 step, u32 cpu)
{
	c->answer->step = step;
	c->answer->found_idle = policy_cpu_avail(c, cpu);
	policy_note(c, step, cpu, VERDICT_TAKEN, policy_cpu_at(c, cpu)->capacity);
	return cpu;
}

#endif
