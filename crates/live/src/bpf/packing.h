/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packing.h - pack=full in the balancing of this scheduler
 *
 * Which CPUs take part depends on their activity; the loader computes it a few times a
 * second (alight_policy::pack::Follow) and writes the buddies. This file has the rest;
 * letters are those of docs/policies/pack.md. A CPU that takes no part pulls nothing (d),
 * and is not woken for tasks. Its tasks are sent to its buddy while that is not full (g),
 * at the latest when their turn ends.
 */
#ifndef ALIGHT_LIVE_PACKING_H
#define ALIGHT_LIVE_PACKING_H

#include "kernel.h"
#include "policy/pack.h"
#include "views.h"

static __always_inline int packs(void)
{
	return the_params()->pack == PACK_FULL;
}

/* May @cpu take tasks from others, and be woken for them? */
static __always_inline int takes_tasks(u32 cpu)
{
	return !packs() || policy_takes_part(view_of(cpu), cpu);
}

/* The CPU to which the tasks of @cpu must go; POLICY_NONE: they may stay. */
static __always_inline u32 packs_on(u32 cpu)
{
	const struct policy_cpu *rq = view_of(cpu);
	struct policy_pack_share share;

	if (!packs() || policy_takes_part(rq, cpu) || rq->buddy >= topology.nr_cpus)
		return POLICY_NONE;
	share = policy_cpu_share(the_params(), view_of(rq->buddy));
	if (share.whole && share.part * 1024 >= share.whole * 1000)
		return POLICY_NONE;
	return rq->buddy;
}

/* Updates the signals of all CPUs for the loader; on idle CPUs nothing else updates them. */
SEC("syscall")
int refresh_signals(void *unused)
{
	u64 now = scx_bpf_now();
	u32 cpu;

	bpf_for(cpu, 0, topology.nr_cpus)
		view_refresh(cpu, now);
	return 0;
}

#endif
