/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capacity.h - notices that the kernel changed its mind about capacities
 *
 * Capacities at the top frequency (arch_scale_cpu_capacity()) change while a
 * machine runs: when a cpufreq driver comes and its top frequencies weigh in, or
 * firmware says otherwise. A CPU that runs a task looks at its own at the tick;
 * the loader does the rest, for groups, domains and energy model change as well.
 */
#ifndef ALIGHT_LIVE_CAPACITY_H
#define ALIGHT_LIVE_CAPACITY_H

#include "kernel.h"
#include "views.h"

/* Capacities (drivers/base/arch_topology.c); not on x86. */
extern const unsigned long cpu_scale __ksym __weak;

/* Set by the loader before the program is loaded: capacities are a machine file's. */
const volatile bool capacities_told;

/* Read by the loader: some capacity is not what the views say. */
u32 capacities_changed;

/* A tick on @cpu. */
static __always_inline void capacity_tick(u32 cpu)
{
	const unsigned long *scale;

	if (capacities_told || !&cpu_scale)
		return;
	scale = bpf_per_cpu_ptr(&cpu_scale, cpu);
	if (scale && *scale != view_of(cpu)->capacity_orig)
		capacities_changed = 1;
}

#endif
