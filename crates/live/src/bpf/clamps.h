/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clamps.h - utilization clamps of tasks and queues
 *
 * A task has the clamps of the kernel, if that has any (CONFIG_UCLAMP_TASK). A rule
 * can replace each of the two (rules.h). The clamps of a queue are the largest of
 * its tasks' (policy/uclamp_max.h), unless the scheduler sums them. As in the kernel,
 * clamps cost nothing until one has been requested (sched_uclamp_used); tasks that
 * are queued at that moment are counted from their next enqueue on.
 */
#ifndef ALIGHT_LIVE_CLAMPS_H
#define ALIGHT_LIVE_CLAMPS_H

#include "kernel.h"
#include "policy/candidate.h"
#include "policy/uclamp_max.h"
#include "rules.h"

/* A clamp has been requested. */
u32 clamps_used;

struct policy_uclamp_rq queue_clamps[POLICY_MAX_CPUS];

/* The clamps of a task. */
struct task_clamps {
	struct task_rules rules;
	u16 counted;		/* it is in its queue's counts, with these: */
	u16 counted_min;
	u16 counted_max;
	u16 unused;
};

/* Can there be clamps at all? The verifier knows it, and removes the code for clamps if not. */
static __always_inline int clamps_possible(void)
{
	const struct task_struct *task = NULL;

	return nr_rules || bpf_core_field_exists(task->uclamp);
}

/* Do clamps count now? */
static __always_inline u32 clamps_count(const struct policy_params *k)
{
	/* uclamp-sum keeps its sums from the start. */
	return policy_clamps_add_up(k) || (clamps_possible() && clamps_used);
}

/* Reads the task's clamps as they are now. */
static __always_inline void clamps_read(struct task_clamps *s, struct policy_task *v,
					struct task_struct *task)
{
	u32 min = 0, max = CAPACITY_SCALE;

	if (!clamps_possible())
		return;
	if (bpf_core_field_exists(task->uclamp)) {
		min = (u32)BPF_CORE_READ_BITFIELD(task, uclamp[0].value);
		max = (u32)BPF_CORE_READ_BITFIELD(task, uclamp[1].value);
		/* Effective values are all 0 until clamps are used (sched_uclamp_used). */
		if (!max)
			max = (u32)BPF_CORE_READ_BITFIELD(task, uclamp_req[1].value);
	}
	if (nr_rules) {
		rules_read(&s->rules, task);
		if (s->rules.uclamp_min != RULE_NO_CLAMP)
			min = s->rules.uclamp_min;
		if (s->rules.uclamp_max != RULE_NO_CLAMP)
			max = s->rules.uclamp_max;
	}
	/* The lower clamp is at most the upper one, as in groups (cpu_util_update_eff). */
	v->uclamp_min = min < max ? min : max;
	v->uclamp_max = max;
	/* Real-time tasks do not count here: they have a lower clamp without a request. */
	if (!clamps_used && (min || max != CAPACITY_SCALE) && task->policy != SCHED_FIFO &&
	    task->policy != SCHED_RR)
		clamps_used = 1;
}

/* The same, not inlined: for a caller in the deepest call chain, whose frame has no room. */
static __noinline int clamps_read_apart(struct task_clamps *s, struct policy_task *v,
					struct task_struct *task)
{
	clamps_read(s, v, task);
	return 0;
}

/* The task is about to join the queue of @cpu, whose view is locked (uclamp_rq_inc). */
static __always_inline void clamps_enqueue(const struct policy_params *k, struct task_clamps *s,
					   const struct policy_task *v, u32 cpu,
					   struct policy_cpu *rq)
{
	if (policy_clamps_add_up(k) || !clamps_possible() || !clamps_used)
		return;
	s->counted = 1;
	s->counted_min = (u16)v->uclamp_min;
	s->counted_max = (u16)v->uclamp_max;
	policy_uclamp_rq_inc(&queue_clamps[policy_bound(cpu, POLICY_MAX_CPUS)], rq, v->uclamp_min,
			     v->uclamp_max);
}

/* The task leaves that queue (uclamp_rq_dec). */
static __always_inline void clamps_dequeue(const struct policy_params *k, struct task_clamps *s,
					   u32 cpu, struct policy_cpu *rq)
{
	if (policy_clamps_add_up(k) || !clamps_possible() || !s->counted)
		return;
	s->counted = 0;
	policy_uclamp_rq_dec(&queue_clamps[policy_bound(cpu, POLICY_MAX_CPUS)], rq, s->counted_min,
			     s->counted_max);
}

/* Does the task fit this CPU, by the rule of its base? (task_fits_cpu, earlier task_fits_capacity) */
static __always_inline int task_fits_view(const struct policy_params *k,
					  const struct policy_task *v, const struct policy_cpu *rq)
{
	u32 util = policy_task_util_est(k, v), max = v->uclamp_max, min = v->uclamp_min;

	if (policy_clamps_add_up(k) || !clamps_possible() || !clamps_used || k->fit == FIT_PLAIN)
		return policy_fits_capacity(util, rq->capacity);
	if (k->fit == FIT_CLAMPED)
		return policy_fits_capacity(policy_clamp(util, min, max), rq->capacity);
	/* util_fits_cpu(): a task capped within the CPU's capacity fits, but 1024 is no cap. */
	if (!policy_fits_capacity(util, rq->capacity) &&
	    (max > rq->capacity_orig || max == CAPACITY_SCALE))
		return 0;
	return util >= min || min <= rq->capacity_orig;
}

#endif
