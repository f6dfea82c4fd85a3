// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_behaviour.bpf.c - records which task runs on which CPU, and when
 *
 * Each of the scheduler's tracepoints gives one event. Nothing is looked up or
 * decided here: the costs of kernel paths are measured with this attached, so its
 * own cost must not depend on what is recorded. Only forks of the workload are
 * told apart, to learn the wakee_flips with which its tasks begin.
 */
#include "kernel.h"
#include "record_behaviour.h"

char _license[] SEC("license") = "GPL";

/* A flag of bpf_ringbuf_submit(): the loader reads when all is over. */
#define BPF_RB_NO_WAKEUP	1

/* include/linux/sched.h; part of what tracing tools rely on. */
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define EXIT_DEAD		0x0010
#define EXIT_ZOMBIE		0x0020
#define TASK_DEAD		0x0080

struct thread_info___cpu {
	u32 cpu;
} KERNEL_TYPE;

/* amd64, 5.10 */
struct task_struct___cpu {
	unsigned int cpu;
} KERNEL_TYPE;

/* Up to 5.13; since then __state. */
struct task_struct___state {
	long state;
} KERNEL_TYPE;

struct task_struct___traced {
	struct thread_info___cpu thread_info;
	unsigned int __state;
	int pid;
	int tgid;
	int prio;
	unsigned int wakee_flips;
} KERNEL_TYPE;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* set by the loader */
} events SEC(".maps");

/* Events that found the ring full. */
u64 ring_full;

/*
 * sched_switch has an argument with the state of the task that leaves (since 5.18; before, it is
 * read from the task). Set by the loader before the program is loaded.
 */
const volatile bool switch_tells_state = 1;

/* The recorder's process, set by itself. */
u32 recorder;
/* The process that it forked last: the workload. */
u32 workload;
/* Whether that has forked, and its wakee_flips at its first fork. */
u32 workload_forked, workload_flips;

static __always_inline u32 pid_of(const struct task_struct *p)
{
	return ((const struct task_struct___traced *)p)->pid;
}

static __always_inline u32 tgid_of(const struct task_struct *p)
{
	return ((const struct task_struct___traced *)p)->tgid;
}

static __always_inline u32 flips_of(const struct task_struct *p)
{
	return ((const struct task_struct___traced *)p)->wakee_flips;
}

static __always_inline u16 prio_of(const struct task_struct *p)
{
	return (u16)((const struct task_struct___traced *)p)->prio;
}

static __always_inline u32 cpu_of(const struct task_struct *p)
{
	const struct task_struct___traced *traced = (const void *)p;

	if (bpf_core_field_exists(traced->thread_info.cpu))
		return traced->thread_info.cpu;
	return ((const struct task_struct___cpu *)p)->cpu;
}

static __always_inline u32 state_of(const struct task_struct *p)
{
	const struct task_struct___traced *traced = (const void *)p;

	if (bpf_core_field_exists(traced->__state))
		return traced->__state;
	return (u32)((const struct task_struct___state *)p)->state;
}

static __always_inline int tell(u8 kind, u8 state, const struct task_struct *p, u32 other,
				u16 other_prio)
{
	struct behaviour_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event) {
		__sync_fetch_and_add(&ring_full, 1);
		return 0;
	}
	event->time = bpf_ktime_get_ns();
	event->pid = pid_of(p);
	event->other = other;
	event->cpu = (u16)bpf_get_smp_processor_id();
	event->kind = kind;
	event->state = state;
	event->prio = prio_of(p);
	event->other_prio = other_prio;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(traced_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u8 state = preempt ? BEHAVIOUR_PREEMPTED : BEHAVIOUR_RUNNABLE;
	u32 prev_state;

	if (switch_tells_state)
		prev_state = (u32)ctx[3];
	else
		prev_state = state_of(prev);

	if (!preempt) {
		if (prev_state & (EXIT_DEAD | EXIT_ZOMBIE | TASK_DEAD))
			state = BEHAVIOUR_DEAD;
		else if (prev_state & TASK_UNINTERRUPTIBLE)
			state = BEHAVIOUR_BLOCKED;
		else if (prev_state)
			state = BEHAVIOUR_ASLEEP;
	}
	return tell(BEHAVIOUR_SWITCH, state, prev, pid_of(next), prio_of(next));
}

SEC("tp_btf/sched_waking")
int BPF_PROG(traced_waking, struct task_struct *p)
{
	return tell(BEHAVIOUR_WAKING, 0, p, cpu_of(p), 0);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(traced_wakeup, struct task_struct *p)
{
	return tell(BEHAVIOUR_WAKEUP, 0, p, cpu_of(p), 0);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(traced_wakeup_new, struct task_struct *p)
{
	return tell(BEHAVIOUR_WAKEUP_NEW, 0, p, cpu_of(p), 0);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(traced_migrate, struct task_struct *p, int dest_cpu)
{
	return tell(BEHAVIOUR_MIGRATE, 0, p, dest_cpu, (u16)cpu_of(p));
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(traced_fork, struct task_struct *parent, struct task_struct *child)
{
	if (tgid_of(parent) == recorder) {
		workload = pid_of(child);
		workload_forked = 0;
	} else if (pid_of(parent) == workload && !workload_forked) {
		workload_forked = 1;
		workload_flips = flips_of(parent);
	}
	return tell(BEHAVIOUR_FORK, 0, parent, pid_of(child), prio_of(child));
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(traced_exit, struct task_struct *p)
{
	return tell(BEHAVIOUR_EXIT, 0, p, 0, 0);
}
