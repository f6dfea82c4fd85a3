// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_workload.bpf.c - records what a workload does, to be replayed
 *
 * Each tracepoint of the scheduler, of interrupts, clocks and idle states gives one event. What is
 * known of a task is recorded when the task is forked and when that changes. An event takes no
 * lock: its CPU takes a slot of its own ring, fills it, and writes the time last.
 *
 * When a ring is full, all CPUs stop writing until the loader has emptied the rings and read all
 * tasks again. A recording thus consists of windows, and no event is missing within one.
 */
#include "record_calls.h"
#include "record_context.h"
#include "record_facts.h"
#include "record_hooks.h"
#include "record_probes.h"
#include "record_rings.h"

char _license[] SEC("license") = "GPL";

/* include/linux/sched.h; part of what tracing tools rely on. */
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define EXIT_DEAD		0x0010
#define EXIT_ZOMBIE		0x0020
#define TASK_DEAD		0x0080
#define PWR_EVENT_EXIT		(~0u)	/* include/trace/events/power.h */

struct hrtimer {
	void *function;
} KERNEL_TYPE;

struct timer_list {
	void *function;
} KERNEL_TYPE;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL_TYPE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL_TYPE;

/* The tick's function: up to 6.8, and since. */
extern const void tick_sched_timer __ksym __weak;
extern const void tick_nohz_handler __ksym __weak;

/* The fact that all_tasks() writes next; one reader lists the tasks at a time. */
struct workload_fact listed;

/* ---- the scheduler ---- */

SEC("tp_btf/sched_switch")
int BPF_PROG(traced_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	u8 left = preempt ? WORKLOAD_PREEMPTED : WORKLOAD_RUNNABLE;

	if (!preempt) {
		if (prev_state & (EXIT_DEAD | EXIT_ZOMBIE | TASK_DEAD))
			left = WORKLOAD_DEAD;
		else if (prev_state & TASK_UNINTERRUPTIBLE)
			left = WORKLOAD_BLOCKED;
		else if (prev_state)
			left = WORKLOAD_ASLEEP;
	}
	return tell(WORKLOAD_SWITCH, left, pid_of(prev), pid_of(next), prio_of(prev), prio_of(next),
		    0);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(traced_waking, struct task_struct *p)
{
	struct workload_event *event;
	struct workload_cpu *c;
	u64 time;
	u32 cpu;

	event = begin(WORKLOAD_RECORDING, &time);
	c = here(&cpu);
	if (!event || !c)
		return 0;
	c->waking = c->head - 1;
	event->pid = pid_of(p);
	event->other = pid_of(bpf_get_current_task_btf());
	event->kind = WORKLOAD_WAKING;
	event->flags = context_now() | WORKLOAD_SYNC_UNKNOWN;
	event->prio = prio_of(p);
	event->extra = (u16)cpu_of(p);
	event->value = 0;
	return finish(event, time);
}

/* Not called for tasks that may run on one CPU only, nor for a task that is still queued. */
SEC("fentry/select_task_rq_fair")
int BPF_PROG(called_select, struct task_struct *p, int prev_cpu, int wake_flags)
{
	return add_sync(pid_of(p), wake_flags);
}

SEC("fentry/select_task_rq_scx")
int BPF_PROG(called_select_ext, struct task_struct *p, int prev_cpu, int wake_flags)
{
	return add_sync(pid_of(p), wake_flags);
}

/* Runs on the CPU of the task's queue, which need not be the waker's. */
SEC("fentry/wakeup_preempt")
int BPF_PROG(called_preempt, struct rq *rq, struct task_struct *p, int wake_flags)
{
	return add_sync(pid_of(p), wake_flags);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(traced_wakeup, struct task_struct *p)
{
	return tell(WORKLOAD_WAKEUP, 0, pid_of(p), 0, prio_of(p), (u16)cpu_of(p), 0);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(traced_wakeup_new, struct task_struct *p)
{
	return tell(WORKLOAD_WAKEUP_NEW, 0, pid_of(p), 0, prio_of(p), (u16)cpu_of(p), 0);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(traced_migrate, struct task_struct *p, int dest_cpu)
{
	return tell(WORKLOAD_MIGRATE, 0, pid_of(p), cpu_of(p), prio_of(p), (u16)dest_cpu, 0);
}

SEC("fentry/do_sched_yield")
int BPF_PROG(called_yield)
{
	return yields();
}

/* ---- interrupts, clocks, idle states ---- */

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(traced_hrtimer, struct hrtimer *timer)
{
	const void *function = timer->function;
	u8 kind = WORKLOAD_HRTIMER;

	learn_hardirq_bits();
	if (function && (function == &tick_sched_timer || function == &tick_nohz_handler)) {
		kind = WORKLOAD_TICK;
		function = NULL;
	}
	return tell(WORKLOAD_INTERRUPT_BEGIN, kind, 0, 0, 0, 0, (u64)function);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(traced_hrtimer_end)
{
	return tell(WORKLOAD_INTERRUPT_END, WORKLOAD_HRTIMER, 0, 0, 0, 0, 0);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(traced_timer, struct timer_list *timer)
{
	return tell(WORKLOAD_INTERRUPT_BEGIN, WORKLOAD_TIMER, 0, 0, 0, 0, (u64)timer->function);
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(traced_timer_end)
{
	return tell(WORKLOAD_INTERRUPT_END, WORKLOAD_TIMER, 0, 0, 0, 0, 0);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(traced_irq, int irq)
{
	return tell(WORKLOAD_INTERRUPT_BEGIN, WORKLOAD_DEVICE, 0, 0, 0, 0, (u32)irq);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(traced_irq_end, int irq)
{
	return tell(WORKLOAD_INTERRUPT_END, WORKLOAD_DEVICE, 0, 0, 0, 0, (u32)irq);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(traced_softirq, unsigned int vector)
{
	return tell(WORKLOAD_INTERRUPT_BEGIN, WORKLOAD_SOFTIRQ, 0, 0, 0, 0, vector);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(traced_softirq_end, unsigned int vector)
{
	return tell(WORKLOAD_INTERRUPT_END, WORKLOAD_SOFTIRQ, 0, 0, 0, 0, vector);
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(traced_frequency, unsigned int khz, unsigned int cpu)
{
	return tell(WORKLOAD_FREQUENCY, 0, 0, 0, 0, (u16)cpu, khz);
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(traced_idle, unsigned int idle_state)
{
	return tell(WORKLOAD_IDLE, 0, 0, 0, 0, 0,
		    idle_state == PWR_EVENT_EXIT ? 0 : (u64)idle_state + 1);
}

/* ---- tasks: their births, ends and changes ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(traced_fork, struct task_struct *parent, struct task_struct *child)
{
	know(child, NULL, 0);
	call_forked(tgid_of(parent), pid_of(parent), pid_of(child));
	return tell_from(WORKLOAD_WATCHING, WORKLOAD_FORK, 0, pid_of(parent), pid_of(child), 0, 0,
			 0);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(traced_exit, struct task_struct *p)
{
	call_exited(pid_of(p));
	return tell_from(WORKLOAD_WATCHING, WORKLOAD_EXIT, 0, pid_of(p), 0, 0, 0, 0);
}

SEC("tp_btf/task_rename")
int BPF_PROG(traced_rename, struct task_struct *p, const char *comm)
{
	return know(p, comm, 0);
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(traced_attach, struct cgroup *to, const char *path, struct task_struct *p,
	     bool threadgroup)
{
	return know(p, NULL, threadgroup ? WORKLOAD_WHOLE_PROCESS : 0);
}

SEC("fexit/__sched_setscheduler")
int BPF_PROG(called_setscheduler, struct task_struct *p)
{
	return know(p, NULL, 0);
}

SEC("fexit/set_user_nice")
int BPF_PROG(called_nice, struct task_struct *p)
{
	return know(p, NULL, 0);
}

SEC("fexit/__set_cpus_allowed_ptr_locked")
int BPF_PROG(called_affinity, struct task_struct *p)
{
	return know(p, NULL, 0);
}

/* setsid() */
SEC("fexit/sched_autogroup_create_attach")
int BPF_PROG(called_autogroup, struct task_struct *p)
{
	return know(p, NULL, WORKLOAD_WHOLE_PROCESS);
}

/* Lists all tasks. */
SEC("iter/task")
int all_tasks(struct bpf_iter__task *context)
{
	struct task_struct *p = context->task;

	if (!p || ((struct task_struct___facts *)p)->exit_state)
		return 0;
	__builtin_memset(&listed, 0, sizeof(listed));
	listed.time = bpf_ktime_get_ns();
	read_task(&listed, p);
	read_start(&listed, (const void *)p);
	bpf_seq_write(context->meta->seq, &listed, sizeof(listed));
	return 0;
}
