/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * energy.h - the energy model, and whether placement goes by it
 *
 * policy/energy_aware.h decides while there is an energy model and no CPU is
 * overutilized. As in fair.c a CPU is found overutilized where its utilization
 * may have risen, when a task joins its queue and at the tick, and only a look
 * at all CPUs clears it again: there at an attempt to balance the topmost
 * domain, here at a tick, not more often than that domain's interval, which is
 * a millisecond a CPU. While energy decides nobody takes tasks from others'
 * queues: a CPU that is left idle is so for a reason.
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

/* When a tick may look at all CPUs again. */
u64 overutilized_next;

/* Does energy decide now? */
static __always_inline int energy_decides(void)
{
	return energy_model && !overutilized;
}

/*
 * The utilization of a CPU does not fit it (cpu_overutilized()): from 6.1 on
 * within its clamps, of which from 7.2 on only the upper one counts.
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
		/* While energy decides nobody would take what waits behind another class. */
		if (cpu_overutilized(i) || (view_of(i)->nr_running && taken(i, now)))
			found = 1;
	}
	overutilized = found;
	return 0;
}

#endif
