/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_pelt.h - one load-tracking event as it is recorded
 *
 * The layout is that of the record kind pelt.event/1 (crates/verify reads it):
 * little-endian, no padding. An event is one call of a kernel function that
 * changes signals, with its arguments, the state before and the state after.
 * Entities and queues are told apart by their addresses.
 */
#ifndef ALIGHT_RECORD_PELT_H
#define ALIGHT_RECORD_PELT_H

#include "policy/types.h"

/* What happened; "first" and "second" are the two signal sets of an event. */
enum pelt_op {
	PELT_SE,		/* __update_load_avg_se: first = entity */
	PELT_BLOCKED,		/* __update_load_avg_blocked_se: first = entity */
	PELT_CFS,		/* __update_load_avg_cfs_rq: first = queue */
	PELT_RT,		/* update_rt_rq_load_avg: first = rq->avg_rt */
	PELT_DL,		/* update_dl_rq_load_avg: first = rq->avg_dl */
	PELT_HW,		/* update_hw_load_avg: first = rq->avg_hw */
	PELT_ATTACH,		/* attach_entity_load_avg: first = entity, second = queue */
	PELT_DETACH,		/* detach_entity_load_avg: first = entity, second = queue */
	PELT_REWEIGHT,		/* reweight_entity: first = entity, second = queue; runnable = new weight */
	PELT_REMOVE,		/* remove_entity_load_avg: first = entity; removed of its queue */
	PELT_INIT,		/* init_entity_runnable_average: first = entity, after only */
	PELT_FIRST,		/* post_init_entity_util_avg: first = entity, second = queue */
	PELT_MIGRATE,		/* migrate_task_rq_fair has returned: first = entity, after only */
	PELT_RETIME,		/* set_task_rq_fair has returned: first = entity, after only */
	PELT_UNHOOKED_SE,	/* pelt_se_tp outside of the above: first = entity, after only */
	PELT_UNHOOKED_CFS,	/* pelt_cfs_tp outside of the above: first = queue, after only */
	PELT_UNHOOKED_RT,	/* pelt_rt_tp outside of update_rt_rq_load_avg, which was inlined */
	PELT_UNHOOKED_DL,
	PELT_UNHOOKED_HW,
	PELT_EST_SE,		/* dequeue_task_fair: before = at its entry; after = when the estimate
				 * is stored (PELT_TRACED), or at its exit if none is */
	PELT_EST_ENQUEUE,	/* sched_util_est_cfs_tp in enqueue_task_fair: second = queue */
	PELT_EST_DEQUEUE,	/* the same in dequeue_task_fair */
	PELT_CLOCK,		/* update_rq_clock */
	PELT_IDLE,		/* set_next_task_idle */
};

#define PELT_TRACED	(1u << 0)	/* the tracepoint fired within the call */
#define PELT_GROUP	(1u << 1)	/* the entity stands for a group */
#define PELT_ROOT	(1u << 2)	/* the queue is its CPU's root queue */
#define PELT_NO_BEFORE	(1u << 3)	/* the program at the call's entry was skipped */
#define PELT_SLEEP	(1u << 4)	/* PELT_EST_SE: the task goes to sleep */
#define PELT_CURR_IDLE	(1u << 5)	/* PELT_CLOCK: the idle task was current */
#define PELT_NO_AFTER	(1u << 6)	/* the program at its exit was skipped: no state, no result */
#define PELT_NO_TRACE	(1u << 7)	/* the program of the tracepoint was skipped */

/* struct sched_avg, wide enough for all kernels. */
struct pelt_avg {
	u64 last_update_time;
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib;
	u64 load_avg;
	u64 runnable_avg;
	u32 util_avg;
	u32 est;		/* util_est, util_est.enqueued; with the flag */
	u32 ewma;		/* util_est.ewma up to 6.7, else 0 */
	u32 unused;
};

struct pelt_event {
	u32 op;
	u32 flags;
	u32 cpu;		/* the CPU of the queue, clock or signal */
	u32 pid;		/* of the entity's task, 0 for groups */
	u64 first;		/* address of the entity; of the queue where first is one */
	u64 queue;		/* address of the entity's queue */
	u64 now;		/* PELT time given to the function */
	u64 load;		/* weight, load */
	u64 runnable;
	u32 running;
	s32 result;		/* what the function returned */
	u32 capacity;		/* of the CPU, where it matters */
	u32 freq;		/* current over top frequency, 1024 = top */
};

/* The events' bodies, after struct pelt_event. */
struct pelt_one {
	struct pelt_event e;
	struct pelt_avg before, after;
	u32 removed_nr;		/* of the queue, when the function began */
	u32 unused;
	u64 removed_load, removed_util, removed_runnable;
};

struct pelt_two {
	struct pelt_event e;
	struct pelt_avg before, after;
	struct pelt_avg queue_before, queue_after;
};

struct pelt_clocks {
	u64 clock;
	u64 clock_task;
	u64 clock_pelt;
	u64 lost_idle_time;
};

struct pelt_tick {
	struct pelt_event e;
	struct pelt_clocks before, after;
	u32 cfs_util_sum;
	u32 rt_util_sum;
	u32 dl_util_sum;
	u32 unused;
};

#endif
