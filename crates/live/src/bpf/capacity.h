/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capacity.h - notices that the kernel has changed capacities
 *
 * Capacities at the top frequency (arch_scale_cpu_capacity()) change while a
 * machine runs: when a cpufreq driver is loaded and its top frequencies count, or
 * when firmware reports others. A CPU that runs a task checks its own at the tick;
 * the loader does the rest, because groups, domains and energy model change too.
 */
#ifndef ALIGHT_LIVE_CAPACITY_H
#define ALIGHT_LIVE_CAPACITY_H

#include "kernel.h"
#include "views.h"

/* Capacities (drivers/base/arch_topology.c); not on x86. */
extern const unsigned long cpu_scale __ksym __weak;

/* Set by the loader before the program is loaded: capacities are from a machine file. */
const volatile bool capacities_told;

/* Read by the loader: some capacity differs from the views. */
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
