/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpuperf.h - tells schedutil the utilization from which it chooses frequencies
 *
 * schedutil uses the value that is set here as the utilization of the fair class
 * (sugov_get_util(): rq->scx.cpuperf_target in place of cpu_util_cfs_boost()), in
 * units of capacity. It adds a quarter of headroom, other classes, and the clamps
 * that the kernel knows. If a scheduler never sets a value, it assumes full
 * utilization.
 *
 * The kernel updates frequencies when a task joins or leaves, at the tick, and when
 * the CPU goes idle. So does this file. The CPU's runqueue is locked then, and only
 * the value of that CPU may be set. It is set only if it has changed: by CPUPERF_STEP
 * or more, at the tick and on idle by anything.
 */
#ifndef ALIGHT_LIVE_CPUPERF_H
#define ALIGHT_LIVE_CPUPERF_H

#include "kernel.h"
#include "root.h"
#include "views.h"

/* Not in every Debian kernel. */
void scx_bpf_cpuperf_set(s32 cpu, u32 perf) __ksym __weak;
/* The hook of a CPU's governor that uses utilization; NULL: none. */
struct update_util_data {
	void *func;
} KERNEL_TYPE;
extern struct update_util_data *const cpufreq_update_util_data __ksym __weak;

/* The least change of utilization that is reported between ticks: 1/32 of the biggest CPU. */
#define CPUPERF_STEP	32

/* The value that was set last, plus one; 0: none yet. */
u32 cpuperf_told[POLICY_MAX_CPUS];

/* Read by the loader: the kernel has scx_bpf_cpuperf_set(). */
u32 cpuperf_offered;

static __always_inline void cpuperf_begin(void)
{
	cpuperf_offered = bpf_ksym_exists(scx_bpf_cpuperf_set);
}

/* The utilization from which a frequency is chosen (cpu_util_cfs_boost()). */
static __always_inline u32 cpuperf_util(const struct policy_params *k, const struct policy_cpu *rq)
{
	u32 util = rq->cfs.util_avg, runnable = rq->cfs.runnable_avg;

	if (policy_clamps_add_up(k))
		return policy_cpu_util_cfs_uclamp(k, rq, 1);
	if (k->util_boost != BOOST_NONE && runnable > util)
		util = runnable;
	if (rq->util_est_enqueued > util)
		util = rq->util_est_enqueued;
	return util < rq->capacity_orig ? util : rq->capacity_orig;
}

/* The same within the clamps of the queue. schedutil adds a quarter, hence the four fifths. */
static __always_inline u32 cpuperf_clamped(const struct policy_params *k,
					   const struct policy_cpu *rq, u32 util)
{
	u32 lo = rq->uclamp_min, hi = rq->uclamp_max;

	if (!root_now().uclamp_used || policy_clamps_add_up(k) || rq->uclamp_idle)
		return util;
	if (lo >= CAPACITY_SCALE)
		return CAPACITY_SCALE;
	if (hi < CAPACITY_SCALE && util > hi * 4 / 5)
		util = hi * 4 / 5;
	return util > lo * 4 / 5 ? util : lo * 4 / 5;
}

/* Does a governor use the value of @cpu? */
static __always_inline int cpuperf_heard(u32 cpu)
{
	struct update_util_data *const *governor;

	if (!bpf_ksym_exists(scx_bpf_cpuperf_set))
		return 0;
	if (!&cpufreq_update_util_data)
		return 1;
	governor = bpf_per_cpu_ptr(&cpufreq_update_util_data, cpu);
	return governor && *governor;
}

/* The utilization of @cpu may have changed. Its runqueue is locked, and cpuperf_heard(). */
static __noinline int cpuperf_update(u32 cpu, u32 tick)
{
	const struct policy_params *k = the_params();
	const struct policy_cpu *rq = view_of(cpu);
	u32 *told = &cpuperf_told[policy_bound(cpu, POLICY_MAX_CPUS)];
	u32 wants, moved;

	wants = cpuperf_clamped(k, rq, cpuperf_util(k, rq));
	if (wants > CAPACITY_SCALE)
		wants = CAPACITY_SCALE;
	moved = *told > wants ? *told - wants - 1 : wants + 1 - *told;
	if (*told && moved < (tick ? 1 : CPUPERF_STEP))
		return 0;
	*told = wants + 1;
	scx_bpf_cpuperf_set((s32)cpu, wants);
	return 0;
}

#endif
