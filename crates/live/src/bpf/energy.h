/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * energy.h - the energy model, and whether placement uses it
 *
 * policy/energy_aware.h decides while there is an energy model and no CPU is
 * overutilized. As in fair.c, a CPU is tested when its utilization may have risen: when
 * a task joins its queue, and at the tick. Only a test of all CPUs clears `overutilized`
 * again: in fair.c when the topmost domain is balanced; here at a tick, at most once in
 * that domain's interval, which is one millisecond per CPU. While energy decides, CPUs
 * take no tasks from the queues of others: a CPU is then left idle on purpose.
 */
#ifndef ALIGHT_LIVE_ENERGY_H
#define ALIGHT_LIVE_ENERGY_H

#include "kernel.h"
#include "policy/uclamp.h"
#include "root.h"
#include "views.h"

/* Set by the loader before the program is loaded: there is an energy model. */
const volatile bool energy_model;

/* The model; the loader writes it. */
struct policy_perf_domain perf[POLICY_MAX_PERF_DOMAINS];
u32 nr_perf;

/* When a tick may test all CPUs again. */
u64 overutilized_next;

/* Does energy decide now? */
static __always_inline int energy_decides(void)
{
	return energy_model && !overutilized;
}

/*
 * The utilization of a CPU does not fit it (cpu_overutilized()). From 6.1 on, and in the
 * last updates of 5.10 and 5.15, it is tested with its clamps. The lower one is left out
 * from 6.12 on, kernels do so from 7.1 on; it changes no answer here.
 */
static __noinline u32 cpu_overutilized(u32 cpu)
{
	const struct policy_params *k = the_params();
	struct policy_ctx c = { .k = k, .cpu = cpus, .root = root_now() };
	const struct policy_cpu *rq = view_of(cpu);
	u32 util = view_util(cpu);

	if (policy_clamps_add_up(k))
		return !policy_clamped_fits_cpu(&c, util, policy_cpu_util_cfs_uclamp(k, rq, 0),
						cpu);
	if (policy_clamps_fit(k))
		return !policy_util_fits_cpu(&c, util, k->state_by_performance ? 0 : rq->uclamp_min,
					     rq->uclamp_max, cpu);
	return !policy_fits_capacity(util, rq->capacity);
}

/* A task joined the queue of @cpu. */
static __always_inline void energy_enqueued(u32 cpu)
{
	if (energy_model && !overutilized && cpu_overutilized(cpu))
		overutilized = 1;
}

/* A tick on @cpu. */
static __noinline int energy_tick(u32 cpu, u64 now)
{
	u32 found = policy_hide(0), i;

	if (!energy_model)
		return 0;
	if ((s64)(now - overutilized_next) < 0) {
		energy_enqueued(cpu);
		return 0;
	}
	overutilized_next = now + topology.nr_cpus * 1000000ull;
	bpf_for(i, 0, topology.nr_cpus) {
		found = policy_hide(found);
		/* While energy decides, no CPU would take tasks that wait behind another class. */
		if (cpu_overutilized(i) || (view_of(i)->nr_running && taken(i, now)))
			found = 1;
	}
	overutilized = found;
	return 0;
}

#endif
