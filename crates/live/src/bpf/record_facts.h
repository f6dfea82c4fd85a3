/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_facts.h - what the recorder of a workload reads of a task
 *
 * Offsets are relocated when the program is loaded (CO-RE). Fields that only some kernels have are
 * tested for first; `has` says which of them were there.
 */
#ifndef ALIGHT_LIVE_RECORD_FACTS_H
#define ALIGHT_LIVE_RECORD_FACTS_H

#include "kernel.h"
#include "record_workload.h"

struct thread_info___cpu {
	u32 cpu;
} KERNEL_TYPE;

struct sched_avg___facts {
	u64 last_update_time;
	unsigned long util_avg;
} KERNEL_TYPE;

struct cfs_rq___facts {
	u64 min_vruntime;	/* up to 6.18; backports of 6.19's change lack it too */
	struct sched_avg___facts avg;
} KERNEL_TYPE;

struct cfs_rq___zero {
	u64 zero_vruntime;
} KERNEL_TYPE;

struct sched_entity___facts {
	u64 vruntime;
	struct cfs_rq___facts *cfs_rq;
	struct sched_avg___facts avg;
} KERNEL_TYPE;

struct sched_entity___eevdf {
	s64 vlag;
	u64 slice;
	unsigned char custom_slice;
} KERNEL_TYPE;

struct sched_dl_entity___facts {
	u64 dl_runtime;
	u64 dl_deadline;
	u64 dl_period;
} KERNEL_TYPE;

struct autogroup___facts {
	struct task_group *tg;
	unsigned long id;
} KERNEL_TYPE;

struct signal_struct___facts {
	struct autogroup___facts *autogroup;
} KERNEL_TYPE;

struct cgroup___facts {
	struct kernfs_node *kn;
} KERNEL_TYPE;

struct cgroup_subsys_state___facts {
	struct cgroup___facts *cgroup;
} KERNEL_TYPE;

struct css_set___facts {
	struct cgroup_subsys_state___facts *subsys[1];
} KERNEL_TYPE;

struct task_struct___facts {
	struct thread_info___cpu thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int wakee_flips;
	int prio;
	int static_prio;
	unsigned int rt_priority;
	unsigned int policy;
	struct sched_entity___facts se;
	struct sched_dl_entity___facts dl;
	struct task_group *sched_task_group;
	struct uclamp_se uclamp_req[2];
	struct cpumask cpus_mask;
	int exit_state;
	int pid;
	int tgid;
	struct task_struct___facts *real_parent;
	char comm[16];
	struct css_set___facts *cgroups;
	struct signal_struct___facts *signal;
} KERNEL_TYPE;

/* On some kernels on_cpu is a byte. */
struct task_struct___on_cpu {
	int on_cpu;
} KERNEL_TYPE;

struct task_struct___on_cpu_byte {
	unsigned char on_cpu;
} KERNEL_TYPE;

struct task_struct___eevdf {
	struct sched_entity___eevdf se;
} KERNEL_TYPE;

static __always_inline bool on_cpu(const struct task_struct *p)
{
	if (bpf_core_field_size(((struct task_struct___on_cpu *)0)->on_cpu) == 4)
		return !!BPF_CORE_READ((const struct task_struct___on_cpu *)p, on_cpu);
	return !!BPF_CORE_READ((const struct task_struct___on_cpu_byte *)p, on_cpu);
}

/* Reads the directory of its group of the cpu controller, and the autogroup if in effect. */
static __always_inline void read_group(struct workload_fact *f, const struct task_struct___facts *p)
{
	struct css_set___facts *set = BPF_CORE_READ(p, cgroups);
	struct cgroup_subsys_state___facts *css = NULL;
	struct autogroup___facts *group;
	u64 at;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, cpu_cgrp_id))
		return;
	at = (u64)set + bpf_core_field_offset(struct css_set___facts, subsys) +
	     bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id) * sizeof(void *);
	bpf_probe_read_kernel(&css, sizeof(css), (void *)at);
	if (!css)
		return;
	f->cgroup = BPF_CORE_READ(css, cgroup, kn, id);
	f->has |= WORKLOAD_HAS_GROUP;
	if (!bpf_core_field_exists(((struct signal_struct___facts *)0)->autogroup))
		return;
	group = BPF_CORE_READ(p, signal, autogroup);
	if (group && BPF_CORE_READ(group, tg) == BPF_CORE_READ(p, sched_task_group))
		f->autogroup = BPF_CORE_READ(group, id);
}

static __always_inline void read_attributes(struct workload_fact *f,
					    const struct task_struct___facts *p)
{
	const struct task_struct___eevdf *e = (const void *)p;

	f->policy = BPF_CORE_READ(p, policy);
	f->nice = BPF_CORE_READ(p, static_prio) - 120;
	f->rt_priority = BPF_CORE_READ(p, rt_priority);
	if (bpf_core_field_exists(p->uclamp_req)) {
		f->uclamp_min = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[0].value);
		f->uclamp_max = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[1].value);
		f->has |= WORKLOAD_HAS_CLAMPS;
	}
	if (f->policy == SCHED_DEADLINE) {
		f->slice = BPF_CORE_READ(p, dl.dl_runtime);
		f->dl_deadline = BPF_CORE_READ(p, dl.dl_deadline);
		f->dl_period = BPF_CORE_READ(p, dl.dl_period);
		f->has |= WORKLOAD_HAS_SLICE;
	} else if (bpf_core_field_exists(e->se.custom_slice) &&
		   BPF_CORE_READ(e, se.custom_slice)) {
		f->slice = BPF_CORE_READ(e, se.slice);
		f->has |= WORKLOAD_HAS_SLICE;
	}
	bpf_core_read(f->affinity, sizeof(f->affinity), &p->cpus_mask);
}

/* Reads what counts at the start of a recording only, because it changes all the time. */
static __always_inline void read_start(struct workload_fact *f, const struct task_struct___facts *p)
{
	const struct task_struct___eevdf *e = (const void *)p;
	struct cfs_rq___facts *queue = BPF_CORE_READ(p, se.cfs_rq);
	u64 updated = BPF_CORE_READ(p, se.avg.last_update_time);
	u64 queue_updated = 0, base = 0;

	f->state = BPF_CORE_READ(p, __state);
	f->on_cpu = on_cpu((const void *)p);
	f->cpu = BPF_CORE_READ(p, thread_info.cpu);
	f->util_avg = BPF_CORE_READ(p, se.avg.util_avg);
	f->has |= WORKLOAD_HAS_START;
	if (!queue)
		return;
	queue_updated = BPF_CORE_READ(queue, avg.last_update_time);
	if (queue_updated > updated && updated)
		f->util_stale = queue_updated - updated;
	if (bpf_core_field_exists(queue->min_vruntime)) {
		base = BPF_CORE_READ(queue, min_vruntime);
	} else {
		const struct cfs_rq___zero *zero = (const void *)queue;

		if (!bpf_core_field_exists(zero->zero_vruntime))
			return;
		base = BPF_CORE_READ(zero, zero_vruntime);
	}
	f->vruntime = (s64)(BPF_CORE_READ(p, se.vruntime) - base);
	f->has |= WORKLOAD_HAS_VRUNTIME;
	if (bpf_core_field_exists(e->se.vlag)) {
		f->vlag = BPF_CORE_READ(e, se.vlag);
		f->has |= WORKLOAD_HAS_VLAG;
	}
}

/* Reads all that does not change by itself. The caller has zeroed @f. */
static __always_inline void read_task(struct workload_fact *f, const struct task_struct *task)
{
	const struct task_struct___facts *p = (const void *)task;

	f->pid = BPF_CORE_READ(p, pid);
	f->tgid = BPF_CORE_READ(p, tgid);
	f->parent = BPF_CORE_READ(p, real_parent, tgid);
	f->cpu = BPF_CORE_READ(p, thread_info.cpu);
	f->wakee_flips = BPF_CORE_READ(p, wakee_flips);
	if (BPF_CORE_READ(p, flags) & PF_KTHREAD)
		f->has |= WORKLOAD_KERNEL;
	bpf_core_read(f->comm, sizeof(f->comm), &p->comm);
	read_attributes(f, p);
	read_group(f, p);
}

#endif
