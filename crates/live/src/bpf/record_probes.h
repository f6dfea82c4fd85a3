/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_probes.h - the hooks of the recorder of a workload on kernels without trampolines
 *
 * Programs at entries and exits of functions (fentry, fexit) need direct calls of ftrace, which
 * arm64 has since 6.4. Before, breakpoints (kprobes) give the same, except system calls. The
 * loader takes one or the other.
 */
#ifndef ALIGHT_LIVE_RECORD_PROBES_H
#define ALIGHT_LIVE_RECORD_PROBES_H

#include "record_hooks.h"

/* arm64 */
struct pt_regs___numbered {
	u64 regs[31];
} KERNEL_TYPE;

/* amd64 */
struct pt_regs___named {
	unsigned long di;
	unsigned long si;
	unsigned long dx;
} KERNEL_TYPE;

/* Tasks between entry and exit of a function that changes a task, and the task that it changes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u64);
} changing SEC(".maps");

static __always_inline u64 first_argument(const void *context)
{
	const struct pt_regs___numbered *numbered = context;
	const struct pt_regs___named *named = context;

	if (bpf_core_field_exists(named->di))
		return BPF_CORE_READ(named, di);
	return BPF_CORE_READ(numbered, regs[0]);
}

static __always_inline u64 second_argument(const void *context)
{
	const struct pt_regs___numbered *numbered = context;
	const struct pt_regs___named *named = context;

	if (bpf_core_field_exists(named->di))
		return BPF_CORE_READ(named, si);
	return BPF_CORE_READ(numbered, regs[1]);
}

static __always_inline u64 third_argument(const void *context)
{
	const struct pt_regs___numbered *numbered = context;
	const struct pt_regs___named *named = context;

	if (bpf_core_field_exists(named->di))
		return BPF_CORE_READ(named, dx);
	return BPF_CORE_READ(numbered, regs[2]);
}

static __always_inline u32 pid_at(u64 task)
{
	return BPF_CORE_READ((const struct task_struct___traced *)task, pid);
}

SEC("kprobe/do_sched_yield")
int probed_yield(void *context)
{
	return yields();
}

SEC("kprobe/select_task_rq_fair")
int probed_select(void *context)
{
	return add_sync(pid_at(first_argument(context)), (int)third_argument(context));
}

/* wakeup_preempt() had this name up to 6.6. */
SEC("kprobe/check_preempt_curr")
int probed_preempt(void *context)
{
	return add_sync(pid_at(second_argument(context)), (int)third_argument(context));
}

static __always_inline int change_begins(const void *context)
{
	u32 pid = (u32)bpf_get_current_pid_tgid();
	u64 task = first_argument(context);

	bpf_map_update_elem(&changing, &pid, &task, BPF_ANY);
	return 0;
}

static __always_inline int change_ends(u32 has)
{
	u32 pid = (u32)bpf_get_current_pid_tgid();
	u64 *task = bpf_map_lookup_elem(&changing, &pid);

	if (!task)
		return 0;
	know((const void *)*task, NULL, has);
	bpf_map_delete_elem(&changing, &pid);
	return 0;
}

#define PROBED_CHANGE(name, function, has)	\
SEC("kprobe/" function)				\
int name(void *context)				\
{						\
	return change_begins(context);		\
}						\
						\
SEC("kretprobe/" function)			\
int name##_end(void *context)			\
{						\
	return change_ends(has);		\
}

PROBED_CHANGE(probed_setscheduler, "__sched_setscheduler", 0)
PROBED_CHANGE(probed_nice, "set_user_nice", 0)
PROBED_CHANGE(probed_affinity, "__set_cpus_allowed_ptr_locked", 0)
PROBED_CHANGE(probed_autogroup, "sched_autogroup_create_attach", WORKLOAD_WHOLE_PROCESS)

#endif
