/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_behaviour.h - one scheduling event as it is recorded
 *
 * An event has what the tracepoint of the same name has, in 24 bytes, so that
 * recording takes little of the time that is measured. Little-endian.
 */
#ifndef ALIGHT_LIVE_RECORD_BEHAVIOUR_H
#define ALIGHT_LIVE_RECORD_BEHAVIOUR_H

#include "policy/types.h"

enum behaviour_kind {
	BEHAVIOUR_SWITCH,	/* sched_switch: @pid leaves in @state, @other comes */
	BEHAVIOUR_WAKING,	/* sched_waking: @other is the CPU that @pid was on */
	BEHAVIOUR_WAKEUP,	/* sched_wakeup: @other is the CPU that @pid is on now */
	BEHAVIOUR_WAKEUP_NEW,	/* sched_wakeup_new: likewise */
	BEHAVIOUR_MIGRATE,	/* sched_migrate_task: to the CPU @other */
	BEHAVIOUR_FORK,		/* sched_process_fork: @pid has the child @other */
	BEHAVIOUR_EXIT,		/* sched_process_exit */
};

/* How a task leaves a CPU. */
enum behaviour_state {
	BEHAVIOUR_RUNNABLE,	/* it gives way, and is still runnable */
	BEHAVIOUR_PREEMPTED,	/* it is preempted */
	BEHAVIOUR_ASLEEP,
	BEHAVIOUR_BLOCKED,	/* uninterruptible */
	BEHAVIOUR_DEAD,
};

struct behaviour_event {
	u64 time;	/* CLOCK_MONOTONIC, ns */
	u32 pid;
	u32 other;
	u16 cpu;
	u8 kind;
	u8 state;
	u16 prio;	/* of @pid: 120 + nice, or 99 - rt_priority */
	u16 other_prio;	/* of the next, of the child; for sched_migrate_task the CPU before */
};

#endif
