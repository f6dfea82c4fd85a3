// SPDX-License-Identifier: GPL-2.0-only
/*
 * alight.bpf.c - a sched_ext scheduler that places tasks by policy/select.h
 *
 * select_cpu	chooses a CPU by the policy (decide.h)
 * enqueue	starts a task at once, or puts it in the queue of the chosen CPU (queue.h)
 * dispatch	picks the next task of a CPU by EEVDF (fair.h), or takes one from elsewhere
 * tick		ends turns, and moves tasks to where there is room (balance.h)
 * the others	keep the views of CPUs and tasks (views.h), and count (stats.h)
 *
 * Differences from fair.c: the decision does not know the capacity that other classes
 * take (balance.h does, roughly), nor capacity pressure. nr_running counts this
 * scheduler's tasks only; a CPU that runs a real-time task is not idle nevertheless.
 */
#include "kernel.h"
#include "policy/select.h"
#include "policy/runqueue.h"
#include "views.h"
#include "stats.h"
#include "exit.h"
#include "decide.h"
#include "capacity.h"
#include "sis_util.h"
#include "cpuperf.h"
#include "packing.h"
#include "queue.h"
#include "balance.h"
#include "dump.h"

char _license[] SEC("license") = "GPL";

/* How often a CPU came or went; the loader then updates the domains. */
u32 hotplugs;

/* The order keeps little on the stack across the decision, which needs almost all of it. */
SEC("struct_ops/alight_select_cpu")
s32 BPF_PROG(alight_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct live_task *t = task_of(p);
	struct policy_task *waker;
	u32 cpu, kind;
	struct work *w;

	if (!t)
		return prev_cpu;
	task_read(t, p);
	clamps_read_apart(&t->clamps, &t->view, p);
	t->view.prev_cpu = (u32)prev_cpu;
	w = bpf_map_lookup_elem(&works, &only);
	if (!w)
		return prev_cpu;
	allowed_read(&w->allowed, p);
	waker = waker_view(bpf_get_smp_processor_id());
	kind = wake_flags & SCX(scx_wake_flags, SCX_WAKE_FORK) ? KIND_FORK : KIND_WAKE;
	if (verify) {
		struct decision *d =
			decision_begin(w, &t->view, waker, kind,
				       !!(wake_flags & SCX(scx_wake_flags, SCX_WAKE_SYNC)));

		if (!d)
			return prev_cpu;
		cpu = decide(&d->wakee_after, &d->waker_after, d->now, d->kind, d->sync);
		decision_end(w, &t->view, waker);
	} else {
		cpu = decide(&t->view, waker, scx_bpf_now(), kind,
			     !!(wake_flags & SCX(scx_wake_flags, SCX_WAKE_SYNC)));
	}
	count_decision(bpf_get_smp_processor_id(), &w->answer);
	pending_begin(t, cpu);
	return (s32)cpu;
}

/* @p begins to wait for @cpu or to run there, after sleep or a change of its attributes. */
static __always_inline void joins(struct task_struct *p, struct live_task *t, u32 cpu, u64 now)
{
	pending_end(t);
	task_read(t, p);
	clamps_read(&t->clamps, &t->view, p);
	if (t->cpu != cpu)
		view_remove(t);
	view_enqueue(t, cpu, now);
	energy_enqueued(cpu);
	if (cpuperf_heard(cpu))
		cpuperf_update(cpu, 0);
}

/*
 * The running task @p leaves its queue. Does it go to sleep, or are its attributes
 * changed? A change that it makes itself on its way to sleep, as in
 * migrate_disable_switch(), counts as sleep.
 */
static __always_inline int falls_asleep(struct task_struct *p)
{
	return p->__state && (struct task_struct *)bpf_get_current_task() == p;
}

SEC("struct_ops/alight_enqueue")
void BPF_PROG(alight_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct live_task *t = task_of(p);
	u32 cpu = (u32)scx_bpf_task_cpu(p), better = POLICY_NONE;
	u64 now = rq_now(cpu);
	int woken = !!(enq_flags & SCX(scx_enq_flags, SCX_ENQ_WAKEUP));

	if (!t) {
		insert_local(p, enq_flags);
		return;
	}
	if (!t->waits_from)
		t->waits_from = now;
	/* It waited already, and its attributes have changed. */
	if (t->view.flags & TASK_ON_RQ && (enq_flags & ENQUEUE_RESTORE || t->cpu != cpu)) {
		patient_ends(t);
		view_dequeue(t, now, 0, t->cpu != cpu);
	}
	if (!(t->view.flags & TASK_ON_RQ))
		joins(p, t, cpu, now);
	else if (enq_flags & SCX(scx_enq_flags, SCX_ENQ_LAST))
		better = t->better;
	else
		better = better_cpu(p, t);
	if (better != POLICY_NONE && may_run(p, better) && !here_is_off()) {
		count_sent(t, better);
		queue_send(p, t, better, now, enq_flags);
		return;
	}
	if (queue_start(p, t, cpu, woken, now, enq_flags))
		return;
	queue_insert(p, t, cpu, now, enq_flags);
	/* Another class has the CPU for an unknown time. */
	if (!queue_of(cpu)->curr_weight && !energy_decides())
		spread(cpu, p);
}

SEC("struct_ops/alight_dispatch")
void BPF_PROG(alight_dispatch, s32 cpu, struct task_struct *prev__nullable)
{
	struct task_struct *prev = prev__nullable;
	u32 better = POLICY_NONE;
	struct live_task *t = NULL;
	u64 now = 0;

	if (own_queues() && balance_take((u32)cpu))
		return;
	if (prev && prev->scx.flags & SCX(scx_ent_flags, SCX_TASK_QUEUED))
		t = task_of(prev);
	if (t || queue_of((u32)cpu)->patient)	/* the time is needed */
		now = rq_now((u32)cpu);
	if (t) {
		view_run(t, now, 0);
		better = t->better = better_cpu(prev, t);
	}
	/* A task that must go elsewhere does not go on here. */
	if (own_queues() && queue_waits((u32)cpu, t) &&
	    queue_next((u32)cpu, now, better == POLICY_NONE ? t : NULL))
		return;
	if (t) {
		/* It goes on, or enqueue() gets it with SCX_ENQ_LAST and sends it. */
		if (better == POLICY_NONE)
			set_slice(prev, TURN_NS);
		return;
	}
	if (!own_queues() || (!energy_decides() && pull((u32)cpu)))
		return;
	/* pull() found nothing, but had the runqueue unlocked: tasks may wait now. */
	if (queue_waits((u32)cpu, NULL))
		queue_next((u32)cpu, rq_now((u32)cpu), NULL);
}

SEC("struct_ops/alight_tick")
void BPF_PROG(alight_tick, struct task_struct *p)
{
	struct live_task *t = task_of(p);
	u32 cpu;
	u64 now;
	int over;

	if (!t || !(t->view.flags & TASK_ON_RQ))
		return;
	cpu = t->cpu;
	now = rq_now(cpu);
	over = view_run(t, now, 0);
	if (nr_rules)
		view_clamps(t, p);
	remind(view_decay_one(now), now);
	tg_refresh_one(now);
	energy_tick(cpu, now);
	sis_util_tick(cpu, now);
	if (cpuperf_heard(cpu))
		cpuperf_update(cpu, 1);
	capacity_tick(cpu);
	if (view_of(cpu)->offline) {
		set_slice(p, OFFLINE_NS);
		return;
	}
	over = over && view_of(cpu)->nr_running > 1;
	if (!energy_decides()) {
		spread(cpu, NULL);
		over |= balance_tick(cpu, now);
	}
	if (over || better_cpu(p, t) != POLICY_NONE)
		set_slice(p, 0);
}

SEC("struct_ops/alight_yield")
bool BPF_PROG(alight_yield, struct task_struct *from, struct task_struct *to__nullable)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct live_task *t;

	if (to__nullable)	/* sched_yield() only, as EEVDF without NEXT_BUDDY */
		return 0;
	stats_of(cpu)->yields++;
	if (view_of(cpu)->nr_running == 1)	/* there is no task to yield to */
		return 0;
	t = task_of(from);
	if (t && t->view.flags & TASK_ON_RQ)
		view_yield(t, scx_bpf_now());
	set_slice(from, 0);
	return 0;
}

/* ---- what happens to tasks and CPUs ---- */

SEC("struct_ops/alight_running")
void BPF_PROG(alight_running, struct task_struct *p)
{
	struct live_task *t = task_of(p);
	u32 cpu = (u32)scx_bpf_task_cpu(p);
	u64 now = rq_now(cpu);

	if (!t)
		return;
	if (view_of(cpu)->offline)
		set_slice(p, OFFLINE_NS);
	pending_end(t);
	patient_ends(t);
	if (!(t->view.flags & TASK_ON_RQ))	/* the kernel did not call enqueue() */
		joins(p, t, cpu, now);
	else if (t->cpu != cpu)			/* moved since it was enqueued */
		view_move(t, cpu, now);
	view_start(t, now);
	if (now <= t->waits_from)	/* the runqueue's clock stood still: see rq_now() */
		now = scx_bpf_now();
	count_run(cpu, t->waits_from && now > t->waits_from ? now - t->waits_from : 0);
	if (t->ran_on != cpu && t->ran_on != POLICY_NONE)
		count_move(cpu, t->ran_on);
	t->ran_on = cpu;
	t->waits_from = 0;
}

SEC("struct_ops/alight_stopping")
void BPF_PROG(alight_stopping, struct task_struct *p, bool runnable)
{
	struct live_task *t = task_of(p);
	u64 now;

	if (!t || !(t->view.flags & TASK_ON_RQ))
		return;
	now = rq_now(t->cpu);
	if (!runnable) {
		view_dequeue(t, now, falls_asleep(p), 0);
		return;
	}
	view_run(t, now, 1);
	/* Another class takes the CPU. Without slice the task waits where other CPUs find it. */
	if (p->scx.slice && own_queues())
		set_slice(p, 0);
}

/* If all threads of this CPU's core idle, the scan for a whole core may succeed again. */
static __noinline int note_idle_core(u32 cpu)
{
	const struct policy_place *place = &places[policy_bound(cpu, POLICY_MAX_CPUS)];
	const struct policy_domain *core;
	u32 sibling = 0, nr = topology.nr_cpus, n;

	if (place->smt_domain == POLICY_NONE)
		return 0;
	core = &domains[policy_bound(place->smt_domain, POLICY_MAX_DOMAINS)];
	bpf_for(n, 0, 8) {		/* SMT8 at most */
		sibling = policy_mask_next_and(&core->span, &core->span, sibling, nr);
		if (sibling >= nr)
			break;
		if (!view_of(sibling)->curr_is_idle)
			return 0;
		sibling++;
	}
	llcs[policy_bound(place->shared, POLICY_MAX_CPUS)].has_idle_cores = 1;
	return 0;
}

SEC("struct_ops/alight_update_idle")
void BPF_PROG(alight_update_idle, s32 cpu, bool idle)
{
	view_idle((u32)cpu, rq_now((u32)cpu), idle);
	if (idle && cpuperf_heard((u32)cpu))
		cpuperf_update((u32)cpu, 1);
	if (idle && topology.smt)
		note_idle_core((u32)cpu);
}

/*
 * A CPU goes offline: the kernel does not call dispatch() for it any more. So the tasks
 * that wait go to its local queue, from which the kernel moves them to other CPUs.
 */
SEC("struct_ops/alight_cpu_offline")
void BPF_PROG(alight_cpu_offline, s32 cpu)
{
	if ((u32)cpu >= topology.nr_cpus)
		return;
	set_online((u32)cpu, 0);
	hotplugs++;
	overloaded = 1;
	queue_hand_over((u32)cpu, (u32)cpu);
	queue_hand_over(patient_queue((u32)cpu), (u32)cpu);
}

SEC("struct_ops/alight_cpu_online")
void BPF_PROG(alight_cpu_online, s32 cpu)
{
	if ((u32)cpu >= topology.nr_cpus)
		return;
	set_online((u32)cpu, 1);
	hotplugs++;
}

/* ---- begin and end of tasks and of the scheduler ---- */

/*
 * A forked task begins with the flips of its parent, the current task: the kernel
 * copies them with the rest of the task (dup_task_struct).
 */
static __always_inline void inherit_flips(struct policy_task *child)
{
	const struct live_task *parent = task_of(bpf_get_current_task_btf());

	if (!parent)
		return;
	child->wakee_flips = parent->view.wakee_flips;
	child->wakee_flip_decay_ts = parent->view.wakee_flip_decay_ts;
	child->last_wakee = parent->view.last_wakee;
}

SEC("struct_ops.s/alight_init_task")
s32 BPF_PROG(alight_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct live_task *t = bpf_task_storage_get(&tasks, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		return -ENOMEM;
	t->group = group_of(args->cgroup);
	t->view.id = (u32)p->pid;
	t->view.last_wakee = POLICY_NONE;
	if (args->fork)
		inherit_flips(&t->view);
	t->view.uclamp_max = CAPACITY_SCALE;
	t->view.prev_cpu = t->view.recent_used_cpu = t->cpu = (u32)scx_bpf_task_cpu(p);
	t->pending_cpu = POLICY_NONE;
	t->ran_on = POLICY_NONE;
	t->fresh = 1;
	t->fair.fresh = 1;
	task_read(t, p);
	clamps_read(&t->clamps, &t->view, p);
	return 0;
}

/* The task leaves this scheduler: it ends, or changes to another class. */
SEC("struct_ops/alight_disable")
void BPF_PROG(alight_disable, struct task_struct *p)
{
	struct live_task *t = task_of(p);

	if (!t)
		return;
	pending_end(t);
	patient_ends(t);
	if (t->view.flags & TASK_ON_RQ)
		view_dequeue(t, scx_bpf_now(), 0, 0);
	view_remove(t);
	t->waits_from = 0;
}

/* ---- task groups ---- */

SEC("struct_ops.s/alight_cgroup_init")
s32 BPF_PROG(alight_cgroup_init, struct cgroup *cgrp, struct scx_cgroup_init_args *args)
{
	const struct cgroup *parent = BPF_CORE_READ(cgrp, self.parent, cgroup);

	if (parent)
		tg_set_idle(tg_add(cgroup_id(cgrp), group_of(parent), weight_from_cgroup(args->weight)),
			    cgroup_is_idle(cgrp));
	return 0;
}

SEC("struct_ops.s/alight_cgroup_exit")
void BPF_PROG(alight_cgroup_exit, struct cgroup *cgrp)
{
	tg_remove(cgrp);
}

SEC("struct_ops/alight_cgroup_move")
void BPF_PROG(alight_cgroup_move, struct task_struct *p, struct cgroup *from, struct cgroup *to)
{
	struct live_task *t = task_of(p);

	if (t)
		t->group = group_of(to);
}

SEC("struct_ops/alight_cgroup_set_weight")
void BPF_PROG(alight_cgroup_set_weight, struct cgroup *cgrp, u32 weight)
{
	tg_reweigh(group_of(cgrp), weight_from_cgroup(weight));
}

/* cpu.idle; from 6.19 on. */
SEC("struct_ops/alight_cgroup_set_idle")
void BPF_PROG(alight_cgroup_set_idle, struct cgroup *cgrp, bool idle)
{
	tg_set_idle(group_of(cgrp), idle);
}

/* Creates two queues for each CPU. */
SEC("struct_ops.s/alight_init")
s32 BPF_PROG(alight_init)
{
	const struct cpumask *there = scx_bpf_get_online_cpumask();
	u32 cpu;
	s32 err;

	cpuperf_begin();
	nr_offline = topology.nr_cpus;
	bpf_for(cpu, 0, topology.nr_cpus)
		set_online(cpu, bpf_cpumask_test_cpu(cpu, there));
	scx_bpf_put_cpumask(there);
	if (!own_queues())
		return 0;
	bpf_for(cpu, 0, topology.nr_cpus) {
		err = scx_bpf_create_dsq(cpu, -1);
		if (!err)
			err = scx_bpf_create_dsq(patient_queue(cpu), -1);
		if (err)
			return err;
	}
	return turns_begin();
}

SEC("struct_ops/alight_dump_cpu")
void BPF_PROG(alight_dump_cpu, struct scx_dump_ctx *context, s32 cpu, bool idle)
{
	if ((u32)cpu < topology.nr_cpus)
		dump_view((u32)cpu, idle);
}

SEC("struct_ops/alight_exit")
void BPF_PROG(alight_exit, struct scx_exit_info *info)
{
	exit_record(info);
}

/*
 * Finds CPUs that are idle when the scheduler starts, because the kernel reports only
 * changes between idle and busy. The loader runs it once. If an idle CPU gets a task at
 * the same time, its view is corrected when the task starts.
 */
SEC("syscall")
int find_idle_cpus(void *unused)
{
	u64 now = scx_bpf_now();
	u32 cpu;

	bpf_for(cpu, 0, topology.nr_cpus) {
		const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);

		if (rq && rq->curr == rq->idle && !view_of(cpu)->curr_is_idle)
			view_idle(cpu, now, 1);
	}
	return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops alight_ops = {
	.select_cpu = (void *)alight_select_cpu,
	.enqueue = (void *)alight_enqueue,
	.dispatch = (void *)alight_dispatch,
	.tick = (void *)alight_tick,
	.yield = (void *)alight_yield,
	.running = (void *)alight_running,
	.stopping = (void *)alight_stopping,
	.update_idle = (void *)alight_update_idle,
	.cpu_online = (void *)alight_cpu_online,
	.cpu_offline = (void *)alight_cpu_offline,
	.cgroup_init = (void *)alight_cgroup_init,
	.cgroup_exit = (void *)alight_cgroup_exit,
	.cgroup_move = (void *)alight_cgroup_move,
	.cgroup_set_weight = (void *)alight_cgroup_set_weight,
	.cgroup_set_idle = (void *)alight_cgroup_set_idle,
	.init_task = (void *)alight_init_task,
	.disable = (void *)alight_disable,
	.init = (void *)alight_init,
	.dump_cpu = (void *)alight_dump_cpu,
	.exit = (void *)alight_exit,
	.flags = SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING | SCX_OPS_ENQ_MIGRATION_DISABLED,
	.name = "alight",
};
