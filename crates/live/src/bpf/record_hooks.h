/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_hooks.h - what the recorder of a workload does at the kernel's functions
 *
 * It is the same for both kinds of hooks: entries and exits, or breakpoints (record_probes.h).
 */
#ifndef ALIGHT_LIVE_RECORD_HOOKS_H
#define ALIGHT_LIVE_RECORD_HOOKS_H

#include "record_rings.h"

/* A flag of bpf_ringbuf_submit(): the loader polls. */
#define BPF_RB_NO_WAKEUP	1

#define WF_SYNC			0x10	/* kernel/sched/sched.h, since 5.10 */

/* Facts that found their ring full. */
u64 facts_lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* set by the loader */
} facts SEC(".maps");

/*
 * Adds WF_SYNC to the waking of task @pid, because the tracepoint does not have it. Interrupts are
 * off from the tracepoint to here, so the waking is one of the last events of this CPU; if it is
 * not, another CPU began the wakeup.
 *
 * A hook of try_to_wake_up() would have the flags from the start. But most of its calls find no
 * task to wake (14 of 15 with hackbench over pipes), and a hook there was nearly the whole cost of
 * the recorder.
 */
static __always_inline int add_sync(u32 pid, int wake_flags)
{
	struct workload_event *event;
	struct workload_cpu *c;
	u32 cpu, slot;

	if (state != WORKLOAD_RECORDING)
		return 0;
	c = here(&cpu);
	if (!c || c->head - c->waking > WORKLOAD_WAKEUP_EVENTS)
		return 0;
	slot = cpu * slots + ((u32)c->waking & (slots - 1));
	event = bpf_map_lookup_elem(&events, &slot);
	if (!event || event->kind != WORKLOAD_WAKING || event->pid != pid)
		return 0;
	event->flags &= (u8)~WORKLOAD_SYNC_UNKNOWN;
	if (wake_flags & WF_SYNC)
		event->flags |= WORKLOAD_SYNC;
	return 0;
}

static __always_inline int yields(void)
{
	return tell(WORKLOAD_YIELD, 0, pid_of(bpf_get_current_task_btf()), 0, 0, 0, 0);
}

/* Records what is known of @p from now on; @comm: its new name, if it is about to change. */
static __always_inline int know(const struct task_struct *p, const char *comm, u32 has)
{
	struct workload_fact *fact;

	if (state != WORKLOAD_WATCHING && state != WORKLOAD_RECORDING)
		return 0;
	fact = bpf_ringbuf_reserve(&facts, sizeof(*fact), 0);
	if (!fact) {
		state = WORKLOAD_HALTED;
		__sync_fetch_and_add(&facts_lost, 1);
		return 0;
	}
	__builtin_memset(fact, 0, sizeof(*fact));
	fact->time = bpf_ktime_get_ns();
	fact->has = has;
	read_task(fact, p);
	if (comm)
		bpf_probe_read_kernel_str(fact->comm, sizeof(fact->comm), comm);
	bpf_ringbuf_submit(fact, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
