/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_context.h - the context of a call: a task, a hard interrupt or a soft interrupt
 */
#ifndef ALIGHT_LIVE_RECORD_CONTEXT_H
#define ALIGHT_LIVE_RECORD_CONTEXT_H

#include "kernel.h"
#include "record_workload.h"

#define SERVING_SOFTIRQ	0x100	/* include/linux/preempt.h, SOFTIRQ_OFFSET */

/* arm64 keeps the preemption count in the task. */
struct thread_info___count {
	u64 preempt_count;
} KERNEL_TYPE;

struct task_struct___count {
	struct thread_info___count thread_info;
} KERNEL_TYPE;

/* With CONFIG_PREEMPT_RT softirqs are counted apart. */
struct task_struct___realtime {
	int softirq_disable_cnt;
} KERNEL_TYPE;

/* amd64, 6.2 to 6.14 */
struct pcpu_hot {
	int preempt_count;
} KERNEL_TYPE;

extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

/* Bits of preempt_count that count hard interrupts, learned where one expires a timer. */
u32 hardirq_bits;

static __always_inline u32 preempt_count_now(void)
{
	const struct task_struct___count *current = (void *)bpf_get_current_task_btf();

	if (bpf_core_field_exists(current->thread_info.preempt_count))
		return (u32)current->thread_info.preempt_count;
	if (&__preempt_count)
		return *(const u32 *)bpf_this_cpu_ptr(&__preempt_count);
	if (&pcpu_hot)
		return ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return 0;
}

static __always_inline u32 softirq_count_now(u32 preempt_count)
{
	const struct task_struct___realtime *current = (void *)bpf_get_current_task_btf();

	if (bpf_core_field_exists(current->softirq_disable_cnt))
		return current->softirq_disable_cnt;
	return preempt_count;
}

/* The context as flags of a waking. */
static __always_inline u8 context_now(void)
{
	u32 count = preempt_count_now();

	if (!hardirq_bits)
		return WORKLOAD_CONTEXT_UNKNOWN;
	if (count & hardirq_bits)
		return WORKLOAD_FROM_HARDIRQ;
	if (softirq_count_now(count) & SERVING_SOFTIRQ)
		return WORKLOAD_FROM_SOFTIRQ;
	return 0;
}

/*
 * The bits of preempt_count that count hard interrupts differ between kernels (7.3 moved them up
 * by 8). Timers expire in a hard interrupt: the highest of bits 16 to 27 that is set then is the
 * lowest of the four bits.
 */
static __always_inline void learn_hardirq_bits(void)
{
	u32 count, bit;

	if (hardirq_bits)
		return;
	count = preempt_count_now() & 0x0fff0000;
	bit = count & 0x0f000000 ? 0x01000000 : 0x00010000;
	if (count)
		hardirq_bits = bit * 0xf;
}

#endif
