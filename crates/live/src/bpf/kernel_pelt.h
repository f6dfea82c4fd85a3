/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_pelt.h - the types of the kernel's load tracking, by version, and functions
 * that read their fields, for record_pelt.bpf.c
 */
#ifndef ALIGHT_LIVE_KERNEL_PELT_H
#define ALIGHT_LIVE_KERNEL_PELT_H

#include "policy/abi.h"
#include "kernel.h"
#include "record_pelt.h"

struct load_weight {
	unsigned long weight;
} KERNEL_TYPE;

struct util_est {
	unsigned int enqueued;
	unsigned int ewma;
} KERNEL_TYPE;

/* Up to 6.7 util_est is a pair. */
struct sched_avg___pair {
	struct util_est util_est;
} KERNEL_TYPE;

struct sched_avg {
	u64 last_update_time;
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib;
	unsigned long load_avg;
	unsigned long runnable_avg;
	unsigned long util_avg;
	unsigned int util_est;
} KERNEL_TYPE;

/* Up to 6.10 on_rq is an int. */
struct sched_entity___wide {
	unsigned int on_rq;
} KERNEL_TYPE;

struct sched_entity {
	struct load_weight load;
	unsigned char on_rq;
	unsigned char sched_delayed;
	struct cfs_rq *cfs_rq;
	struct cfs_rq *my_q;
	unsigned long runnable_weight;
	struct sched_avg avg;
} KERNEL_TYPE;

struct cfs_rq {
	struct load_weight load;
	unsigned int h_nr_runnable;
	struct sched_entity *curr;
	struct sched_avg avg;
	struct {
		int nr;
		unsigned long load_avg;
		unsigned long util_avg;
		unsigned long runnable_avg;
	} removed;
	struct rq___pelt *rq;
} KERNEL_TYPE;

/* Up to 6.13. */
struct cfs_rq___all {
	unsigned int h_nr_running;
} KERNEL_TYPE;

struct rq___pelt {
	u64 clock;
	u64 clock_task;
	u64 clock_pelt;
	unsigned long lost_idle_time;
	struct cfs_rq cfs;
	struct sched_avg avg_rt;
	struct sched_avg avg_dl;
	struct task_struct *curr;
	struct task_struct *idle;
	int cpu;
} KERNEL_TYPE;

struct rq___hw {
	struct sched_avg avg_hw;
} KERNEL_TYPE;

/* Up to 5.13; since then __state. */
struct task_struct___state {
	long state;
} KERNEL_TYPE;

struct task_struct___pelt {
	unsigned int __state;
	struct sched_entity se;
	int pid;
} KERNEL_TYPE;

/* include/linux/sched.h; part of what tracing tools rely on. */
#define TASK_DEAD	0x0080

/* arm64; on x86 all CPUs of a guest have 1024. */
extern const unsigned long cpu_scale __ksym __weak;

static __always_inline void read_avg(struct pelt_avg *to, const struct sched_avg *a)
{
	to->last_update_time = a->last_update_time;
	to->load_sum = a->load_sum;
	to->runnable_sum = a->runnable_sum;
	to->util_sum = a->util_sum;
	to->period_contrib = a->period_contrib;
	to->load_avg = a->load_avg;
	to->runnable_avg = a->runnable_avg;
	to->util_avg = (u32)a->util_avg;
	to->unused = 0;
	if (bpf_core_field_exists(((struct sched_avg___pair *)0)->util_est.ewma)) {
		const struct sched_avg___pair *pair = (const void *)a;

		to->est = pair->util_est.enqueued;
		to->ewma = pair->util_est.ewma;
	} else {
		to->est = a->util_est;
		to->ewma = 0;
	}
}

/* scale_load_down() of 64-bit kernels. */
static __always_inline u64 weight_of(const struct load_weight *w)
{
	u64 weight = w->weight;

	if (!weight)
		return 0;
	weight >>= 10;
	return weight < 2 ? 2 : weight;
}

static __always_inline u32 on_rq(const struct sched_entity *se)
{
	if (bpf_core_field_size(((struct sched_entity *)0)->on_rq) == 4)
		return !!((const struct sched_entity___wide *)se)->on_rq;
	return !!se->on_rq;
}

static __always_inline bool delayed(const struct sched_entity *se)
{
	return bpf_core_field_exists(((struct sched_entity *)0)->sched_delayed) &&
	       se->sched_delayed;
}

/* se_runnable() */
static __always_inline u64 runnable_of(const struct sched_entity *se)
{
	if (delayed(se))
		return 0;
	return se->my_q ? se->runnable_weight : on_rq(se);
}

static __always_inline u32 pid_of(const struct sched_entity *se)
{
	u64 task = (u64)se - bpf_core_field_offset(struct task_struct___pelt, se);
	s32 pid = 0;

	bpf_probe_read_kernel(&pid, sizeof(pid),
			      (void *)(task + bpf_core_field_offset(struct task_struct___pelt, pid)));
	return (u32)pid;
}

/*
 * Does @se leave with interrupts on? A task that has died (task_dead_fair) and a group's
 * entity (unregister_fair_sched_group) do.
 */
static __always_inline bool is_open(const struct sched_entity *se)
{
	u64 task = (u64)se - bpf_core_field_offset(struct task_struct___pelt, se);
	u32 state = 0;
	u64 at;

	if (se->my_q)
		return 1;
	if (bpf_core_field_exists(((struct task_struct___pelt *)0)->__state))
		at = bpf_core_field_offset(struct task_struct___pelt, __state);
	else
		at = bpf_core_field_offset(struct task_struct___state, state);
	bpf_probe_read_kernel(&state, sizeof(state), (void *)(task + at));
	return state & TASK_DEAD;
}

static __always_inline bool is_root(const struct cfs_rq *q)
{
	return (u64)q->rq + bpf_core_field_offset(struct rq___pelt, cfs) == (u64)q;
}

static __always_inline u32 capacity_of(u32 cpu)
{
	if (bpf_ksym_exists(&cpu_scale)) {
		const unsigned long *scale = bpf_per_cpu_ptr(&cpu_scale, cpu);

		if (scale)
			return (u32)*scale;
	}
	return CAPACITY_SCALE;
}

static __always_inline u32 freq_of(u32 cpu)
{
	if (bpf_ksym_exists(&arch_freq_scale)) {
		const unsigned long *scale = bpf_per_cpu_ptr(&arch_freq_scale, cpu);

		if (scale)
			return (u32)*scale;
	}
	return CAPACITY_SCALE;
}

#endif
