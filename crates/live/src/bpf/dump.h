/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - adds this scheduler's view of a CPU to the kernel's debug dump
 *
 * The kernel prints its dump when it ends a scheduler for an error (or on
 * SysRq-D). The dump then has the kernel's state of a CPU beside our view of it:
 * a difference between the two shows the fault.
 */
#ifndef ALIGHT_LIVE_DUMP_H
#define ALIGHT_LIVE_DUMP_H

#include "kernel.h"
#include "queue.h"
#include "views.h"

static __always_inline s32 queue_length(u64 queue)
{
	return bpf_ksym_exists(scx_bpf_dsq_nr_queued) ? scx_bpf_dsq_nr_queued(queue) : -1;
}

/*
 * Prints the view of @cpu, unless it is idle and no task waits there; and its queues, if
 * a task does.
 */
static __always_inline void dump_view(u32 cpu, int idle)
{
	/* Not const: the verifier assumes that a function writes to its arguments. */
	static char view_format[] =
		"view: nr_running=%llu weight=%llu idle=%llu offline=%llu ttwu_pending=%llu pinned=%llu\n";
	static char queue_format[] =
		"queue: waiting=%lld patient=%lld of %llu curr_weight=%llu overloaded=%llu\n";
	const struct fair_queue *q = queue_of(cpu);
	const struct policy_cpu *rq = view_of(cpu);
	u64 data[6];

	if (!bpf_ksym_exists(scx_bpf_dump_bstr) ||
	    (idle && rq->curr_is_idle && !rq->nr_running))
		return;
	data[0] = rq->nr_running;
	data[1] = rq->weight;
	data[2] = rq->curr_is_idle;
	data[3] = rq->offline;
	data[4] = rq->ttwu_pending;
	data[5] = pinned[policy_bound(cpu, POLICY_MAX_CPUS)];
	scx_bpf_dump_bstr(view_format, data, 6 * sizeof(u64));
	data[0] = (u64)queue_length(cpu);
	data[1] = (u64)queue_length(patient_queue(cpu));
	if (!data[0] && !data[1] && !q->patient)
		return;
	data[2] = q->patient;
	data[3] = q->curr_weight;
	data[4] = overloaded;
	scx_bpf_dump_bstr(queue_format, data, 5 * sizeof(u64));
}

#endif
