/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packing.h - pack=full where this scheduler balances
 *
 * Which CPUs take part follows their activity; the loader finds it out a few
 * times a second (alight_policy::pack::Follow) and writes the buddies. Here, by
 * the letters of docs/policies/pack.md: a CPU that takes no part pulls nothing
 * (d), and is not woken to; what runs or waits there is sent to its buddy while
 * that is not full (g), at the latest when its turn ends.
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

/* Where what @cpu has is to go; POLICY_NONE: it may stay. */
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

/* The signals of all CPUs up to now, for the loader; those of idle CPUs stand still by themselves. */
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
