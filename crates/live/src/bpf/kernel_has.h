/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_has.h - tests for what the running kernel supports
 */
#ifndef ALIGHT_LIVE_KERNEL_HAS_H
#define ALIGHT_LIVE_KERNEL_HAS_H

#include "kernel.h"

extern int LINUX_KERNEL_VERSION __kconfig;

/* Can each CPU have queues of its own? */
static __always_inline int own_queues(void)
{
	return bpf_ksym_exists(scx_bpf_create_dsq);
}

/* Can a CPU be told to look for a task? */
static __always_inline int can_kick(void)
{
	return bpf_ksym_exists(scx_bpf_kick_cpu);
}

/*
 * Is the executing CPU offline already? Then it must not defer work to an interrupt (irq_work),
 * as kicks and timers do. After smpcfd_dying_cpu() no such interrupt comes any more, but the CPU
 * still wakes the task that takes it down. Deferred work would stay in the CPU's list, and
 * irq_work_queue() requests no interrupt while that list is not empty: all work that the CPU
 * defers after it comes back would be lost.
 */
static __noinline int here_is_off(void)
{
	const struct cpumask *there = scx_bpf_get_online_cpumask();
	int off = !bpf_cpumask_test_cpu(bpf_get_smp_processor_id(), there);

	scx_bpf_put_cpumask(there);
	return off;
}

/* Before 7.1 the function may return a task that has left (kernel/sched/ext.c, first_task). */
static __always_inline int peek_works(void)
{
	return LINUX_KERNEL_VERSION >= KERNEL_VERSION(7, 1, 0) && bpf_ksym_exists(scx_bpf_dsq_peek);
}

#endif
