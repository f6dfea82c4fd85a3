/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_rings.h - where the recorder of a workload writes events
 *
 * Each CPU has a ring of its own, which the loader reads. When one is full, all CPUs stop writing.
 */
#ifndef ALIGHT_LIVE_RECORD_RINGS_H
#define ALIGHT_LIVE_RECORD_RINGS_H

#include "record_facts.h"

struct task_struct___traced {
	struct thread_info___cpu thread_info;
	int pid;
	int tgid;
	int prio;
} KERNEL_TYPE;

/* Slots of a CPU's ring, a power of two; set by the loader before loading. */
const volatile u32 slots = 1;

/* enum workload_state; set by the loader, and here when a ring is full. */
u32 state;
/* slots x CPUs */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct workload_event);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct workload_cpu);
} cpus SEC(".maps");

static __always_inline u32 pid_of(const struct task_struct *p)
{
	return ((const struct task_struct___traced *)p)->pid;
}

static __always_inline u32 tgid_of(const struct task_struct *p)
{
	return ((const struct task_struct___traced *)p)->tgid;
}

static __always_inline u16 prio_of(const struct task_struct *p)
{
	return (u16)((const struct task_struct___traced *)p)->prio;
}

static __always_inline u32 cpu_of(const struct task_struct *p)
{
	return ((const struct task_struct___traced *)p)->thread_info.cpu;
}

static __always_inline struct workload_cpu *here(u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&cpus, cpu);
}

/*
 * Takes a slot for an event of this CPU; NULL while the state is below @least. The caller gives
 * the event's time, which is in @time, to finish().
 */
static __always_inline struct workload_event *begin(u32 least, u64 *time)
{
	struct workload_event *event;
	struct workload_cpu *c;
	u32 cpu, slot;

	if (state < least)
		return NULL;
	c = here(&cpu);
	if (!c)
		return NULL;
	if (state == WORKLOAD_HALTED || c->head - c->tail >= slots - WORKLOAD_SPARE) {
		state = WORKLOAD_HALTED;
		__sync_fetch_and_add(&c->lost, 1);
		return NULL;
	}
	slot = cpu * slots + ((u32)__sync_fetch_and_add(&c->head, 1) & (slots - 1));
	event = bpf_map_lookup_elem(&events, &slot);
	if (event) {
		*time = bpf_ktime_get_ns();
		event->cpu = (u16)cpu;
	}
	return event;
}

static __always_inline int finish(struct workload_event *event, u64 time)
{
	barrier();
	*(volatile u64 *)&event->time = time;
	return 0;
}

static __always_inline int tell_from(u32 least, u8 kind, u8 flags, u32 pid, u32 other, u16 prio,
				     u16 extra, u64 value)
{
	struct workload_event *event;
	u64 time;

	event = begin(least, &time);
	if (!event)
		return 0;
	event->pid = pid;
	event->other = other;
	event->kind = kind;
	event->flags = flags;
	event->prio = prio;
	event->extra = extra;
	event->value = value;
	return finish(event, time);
}

static __always_inline int tell(u8 kind, u8 flags, u32 pid, u32 other, u16 prio, u16 extra,
				u64 value)
{
	return tell_from(WORKLOAD_RECORDING, kind, flags, pid, other, prio, extra, value);
}

#endif
