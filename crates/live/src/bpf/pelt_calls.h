/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pelt_calls.h - for record_pelt.bpf.c: the calls that are under way on each CPU,
 * and how an event gets to the loader
 */
#ifndef ALIGHT_LIVE_PELT_CALLS_H
#define ALIGHT_LIVE_PELT_CALLS_H

#include "kernel.h"
#include "record_pelt.h"

/* A flag of bpf_ringbuf_output(): the loader polls. Waking it would add to the recording. */
#define BPF_RB_NO_WAKEUP	1

/* Set by the loader once all is attached. */
volatile bool recording;

/* An entity's last steps: `blocked` may be a part of `remove`. */
struct leaving {
	struct pelt_one blocked;
	struct pelt_one remove;
};

/* Calls that are under way on a CPU, one of each kind. */
struct calls {
	struct pelt_one update;		/* with interrupts off: these do not nest */
	struct leaving quiet;		/* likewise */
	struct leaving open;		/* with interrupts on */
	struct pelt_two move;		/* attach, detach, reweight, first */
	struct pelt_tick tick;
	u32 tracing;			/* pelt_se_tp's program is at work */
	/* dequeue_task_fair, enqueue_task_fair */
	u64 task;
	u32 task_op;
	u32 task_flags;
	u32 task_traced;
	u32 task_delayed;
	struct pelt_avg task_before;
	struct pelt_two estimate;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} under_way SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);	/* the loader sets it */
} events SEC(".maps");

/* Events that found the ring full, and calls of pelt_irq_tp, which no Debian kernel has. */
u64 ring_full;
u64 irq_traced;

static __always_inline void write_down(const void *event, u32 bytes)
{
	if (bpf_ringbuf_output(&events, (void *)event, bytes, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&ring_full, 1);
}

/* Room for an event that no other program writes to. */
static __always_inline struct pelt_one *reserve(void)
{
	struct pelt_one *u = bpf_ringbuf_reserve(&events, sizeof(*u), 0);

	if (!u)
		__sync_fetch_and_add(&ring_full, 1);
	return u;
}

static __always_inline void submit(struct pelt_one *u)
{
	bpf_ringbuf_submit(u, BPF_RB_NO_WAKEUP);
}

/* The calls of this CPU, for programs that may run with interrupts on or within another call. */
static __always_inline struct calls *calls_as_they_are(void)
{
	u32 zero = 0;

	return recording ? bpf_map_lookup_elem(&under_way, &zero) : NULL;
}

/* Marks and records a call whose exit was skipped. */
static __noinline int seen_by_half(struct pelt_one *u)
{
	if (!u)
		return 0;
	u->e.flags |= PELT_NO_AFTER;
	write_down(u, sizeof(*u));
	u->e.first = 0;
	return 0;
}

/* If the call in slot @u is not of entity @first (0: none), it has ended, its exit skipped. */
static __always_inline void no_other_than(u64 first, struct pelt_one *u)
{
	if (u->e.first && u->e.first != first)
		seen_by_half(u);
}

/*
 * For programs that run with interrupts off and not within another call: no call with
 * interrupts off can be under way now.
 */
static __always_inline struct calls *calls(void)
{
	struct calls *c = calls_as_they_are();

	if (c) {
		no_other_than(0, &c->quiet.blocked);
		no_other_than(0, &c->quiet.remove);
	}
	return c;
}

#endif
