/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_reads.h - how the recorder of decisions reads what differs between kernels
 *
 * If the type information has the per-CPU variables, and the kernel has the helper that returns
 * the current task with its type (5.11), members are read directly. If not (Debian's 5.10), the
 * loader looks up addresses and a helper copies each member.
 */
#ifndef ALIGHT_LIVE_RECORD_READS_H
#define ALIGHT_LIVE_RECORD_READS_H

#include "kernel_fair.h"

/* Set by the loader before the program is loaded. */
const volatile struct addresses address;
/*
 * Before 5.11 the function gets the reason of the call in a parameter of its own, sd_flag, with
 * these values. 0: the reason is in wake_flags.
 */
const volatile u32 sd_balance_exec, sd_balance_fork;

static __always_inline u32 key_enabled(u64 key)
{
	u32 count = 0;

	if (key)
		bpf_probe_read_kernel(&count, sizeof(count), (void *)key);
	return count;
}

/*
 * The type information has the per-CPU variables: memory behind their pointers can be read
 * directly. Set by the loader, because no verifier knows that an address is not 0.
 */
const volatile bool typed_variables;

static __always_inline bool typed(void)
{
	return typed_variables;
}

/* A member of what @from points to: read directly if @direct, else copied by a helper. */
#define MEMBER(direct, from, member) ({						\
	typeof((from)->member) __member;					\
	if (direct)								\
		__member = (from)->member;					\
	else									\
		bpf_core_read(&__member, sizeof(__member), &(from)->member);	\
	__member;								\
})

static __always_inline const void *address_on(u64 variable, u32 cpu)
{
	u64 offset = 0;

	if (!variable)
		return NULL;
	bpf_probe_read_kernel(&offset, sizeof(offset), (void *)(address.__per_cpu_offset + cpu * 8ull));
	return (void *)(variable + offset);
}

/* A per-CPU variable of @cpu, or @otherwise where the kernel does not have it. */
#define PER_CPU(type, variable, cpu, otherwise) ({				\
	type __value = (otherwise);						\
	if (&(variable)) {							\
		type const *__at = bpf_per_cpu_ptr(&(variable), cpu);		\
		if (__at)							\
			__value = *__at;					\
	} else if (address.variable) {						\
		bpf_probe_read_kernel(&__value, sizeof(__value),		\
				      address_on(address.variable, cpu));	\
	}									\
	__value;								\
})

static __always_inline struct rq *rq_of(u32 cpu)
{
	if (typed())
		return (struct rq *)bpf_per_cpu_ptr(&runqueues, cpu);
	return (struct rq *)address_on(address.runqueues, cpu);
}

/* Does the kernel have the helper whose result can be read directly (since 5.11)? */
static __always_inline bool current_is_typed(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
}

static __always_inline struct task_struct *current_task(void)
{
	if (current_is_typed())
		return bpf_get_current_task_btf();
	return (struct task_struct *)bpf_get_current_task();
}

static __always_inline u32 preempt_count_now(struct task_struct *current, u32 cpu)
{
	struct thread_info___arm64 *info = (void *)&current->thread_info;

	if (bpf_core_field_exists(info->preempt_count))
		return (u32)MEMBER(current_is_typed(), info, preempt_count);
	if (&pcpu_hot) {
		const struct pcpu_hot *hot = bpf_this_cpu_ptr(&pcpu_hot);

		return (u32)hot->preempt_count;
	}
	return (u32)PER_CPU(int, __preempt_count, cpu, 0);
}

static __always_inline u32 cpu_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return ((struct task_struct___cpu *)task)->cpu;
}

static __always_inline bool overutilized(const struct root_domain *rd)
{
	if (bpf_core_field_size(rd->overutilized) == sizeof(bool))
		return BPF_CORE_READ(rd, overutilized);
	return !!BPF_CORE_READ((const struct root_domain___int *)rd, overutilized);
}

/*
 * An argument of the function; the value that it returned follows the last argument. It is in
 * assembly, because clang makes one read of two alternative ones, at an offset that the verifier
 * does not follow.
 */
#define ARGUMENT(arguments, number) ({						\
	u64 __argument;								\
	asm volatile("%0 = *(u64 *)(%1 + %2)"					\
		     : "=r"(__argument)						\
		     : "r"(arguments), "i"((number) * 8));			\
	__argument;								\
})

/* The wake flags as they are since 5.11. */
static __always_inline u32 wake_flags_of(const unsigned long long *arguments)
{
	u32 flags = 0;

	if (!sd_balance_exec)
		return (u32)ARGUMENT(arguments, 2);
	if (ARGUMENT(arguments, 2) & sd_balance_exec)
		flags |= WF_EXEC;
	if (ARGUMENT(arguments, 2) & sd_balance_fork)
		flags |= WF_FORK;
	if (ARGUMENT(arguments, 3) & WF_SYNC_BEFORE_5_11)
		flags |= WF_SYNC;
	return flags;
}

/* The value that the function returned. */
static __always_inline int answer_of(const unsigned long long *arguments)
{
	return sd_balance_exec ? (int)ARGUMENT(arguments, 4) : (int)ARGUMENT(arguments, 3);
}

#endif
