/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_workload.h - what the recorder of a workload hands to its loader
 *
 * An event has the layout of the file (crates/recording/src/workload/event.rs), 32 bytes. Each CPU
 * writes its events into a ring of its own, which the loader reads in place. Facts of a task are
 * longer and rare, and go through a ring buffer of BPF. Little-endian.
 */
#ifndef ALIGHT_LIVE_RECORD_WORKLOAD_H
#define ALIGHT_LIVE_RECORD_WORKLOAD_H

#include "policy/types.h"

/* Words of a mask of CPUs. */
#define WORKLOAD_MASK_WORDS	16
/* Slots of a CPU's ring that stay free for interrupts during the writing of an event. */
#define WORKLOAD_SPARE		64
/* The most events of a wakeup until its task is queued, the waking included. */
#define WORKLOAD_WAKEUP_EVENTS	4

enum workload_state {
	WORKLOAD_OFF,
	WORKLOAD_WATCHING,	/* births, ends and changes of tasks only */
	WORKLOAD_RECORDING,
	WORKLOAD_HALTED,	/* a ring was full: all events are lost until the loader has emptied it */
};

enum workload_kind {
	WORKLOAD_SWITCH,
	WORKLOAD_WAKING,
	WORKLOAD_WAKEUP,
	WORKLOAD_WAKEUP_NEW,
	WORKLOAD_MIGRATE,
	WORKLOAD_FORK,
	WORKLOAD_EXIT,
	WORKLOAD_YIELD,
	WORKLOAD_INTERRUPT_BEGIN,
	WORKLOAD_INTERRUPT_END,
	WORKLOAD_FREQUENCY,
	WORKLOAD_IDLE,
	WORKLOAD_CALL_BEGIN,
	WORKLOAD_CALL_END,
};

/* Flags of a switch: how the task leaves. */
enum workload_left {
	WORKLOAD_RUNNABLE,
	WORKLOAD_PREEMPTED,
	WORKLOAD_ASLEEP,
	WORKLOAD_BLOCKED,
	WORKLOAD_DEAD,
};

/* Flags of a waking: a context, and whether it is synchronous. */
#define WORKLOAD_FROM_HARDIRQ		0x01
#define WORKLOAD_FROM_SOFTIRQ		0x02
#define WORKLOAD_SYNC			0x08
#define WORKLOAD_SYNC_UNKNOWN		0x40
#define WORKLOAD_CONTEXT_UNKNOWN	0x80

/* Flags of an interrupt. */
enum workload_interrupt {
	WORKLOAD_HRTIMER,
	WORKLOAD_TIMER,
	WORKLOAD_DEVICE,
	WORKLOAD_SOFTIRQ,
	WORKLOAD_TICK,
};

struct workload_event {
	u64 time;	/* CLOCK_MONOTONIC, ns; written last: 0 while the rest is not there yet */
	u32 pid;
	u32 other;
	u16 cpu;
	u8 kind;
	u8 flags;
	u16 prio;
	u16 extra;
	u64 value;
};

/* One per CPU, a cache line each. */
struct workload_cpu {
	u64 head;	/* slots taken so far */
	u64 tail;	/* slots that the loader has emptied */
	u64 lost;	/* events of this CPU that were not written */
	u64 waking;	/* the slot of the last waking, counted as head is */
	u64 unused[4];
};

/* struct workload_fact, has */
#define WORKLOAD_HAS_GROUP	(1u << 0)	/* cgroup, autogroup */
#define WORKLOAD_HAS_CLAMPS	(1u << 1)
#define WORKLOAD_HAS_SLICE	(1u << 2)	/* slice, which the task asked for */
#define WORKLOAD_HAS_START	(1u << 3)	/* state, util_avg */
#define WORKLOAD_HAS_VRUNTIME	(1u << 4)
#define WORKLOAD_HAS_VLAG	(1u << 5)
#define WORKLOAD_KERNEL		(1u << 6)	/* a kernel thread */
#define WORKLOAD_WHOLE_PROCESS	(1u << 7)	/* its group is that of all threads of tgid */

struct workload_fact {
	u64 time;
	u64 cgroup;		/* kernfs: the inode number of the group's directory */
	u64 autogroup;		/* 0: it is in none */
	u64 slice;
	u64 dl_period;
	u64 dl_deadline;
	s64 vruntime;		/* minus that of its queue */
	s64 vlag;
	u64 util_stale;		/* age of util_avg, ns */
	u32 has;
	u32 pid;
	u32 tgid;
	u32 parent;		/* the process that it is a child of */
	u32 policy;
	s32 nice;
	u32 rt_priority;
	u32 uclamp_min;
	u32 uclamp_max;
	u32 cpu;
	u32 state;		/* __state */
	u32 on_cpu;
	u32 util_avg;
	u32 wakee_flips;
	char comm[16];
	u64 affinity[WORKLOAD_MASK_WORDS];
};

#endif
