/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * views.h - the views of this machine that the policy reads, kept up to date
 *
 * CPU views and task views are those of policy/abi.h. policy/runqueue.h updates them
 * at each event; fair.h updates the order of a CPU's tasks.
 *
 * Rules of locking, and inconsistencies that a reader may see:
 *  - A CPU view and the CPU's fair queue are written under its spin lock. The
 *    kernel calls most operations with the runqueue locked, but a task that the
 *    kernel moves between queues (dispatch, affinity) leaves its old CPU's view
 *    from the new CPU, without the old runqueue's lock. Hence a lock of our own.
 *    Fields that only the CPU's own operations write need the runqueue's lock
 *    alone: curr_is_idle, the running task's part of the fair queue.
 *  - A task view is written by operations on its task, which the kernel calls
 *    with the task's runqueue locked, or, while it sleeps, with its pi_lock
 *    held (select_cpu). No two run at once.
 *  - The waker's fields (flips, recent_used_cpu) and this CPU's avg_scan_cost are written
 *    by select_cpu only, on the CPU where they belong, with interrupts off.
 *  - ttwu_pending and has_idle_cores are single stores without a lock, as in
 *    the kernel: a late reader sees the old value, and two wakers may take one
 *    idle CPU, as there.
 *  - select_cpu reads other CPUs' views without their locks unless it takes a
 *    snapshot, so fields of one view may be a moment apart.
 *  - Between the kernel's move of a queued task and its start on the new CPU,
 *    the old CPU's view still counts it.
 */
#ifndef ALIGHT_LIVE_VIEWS_H
#define ALIGHT_LIVE_VIEWS_H

#include "kernel.h"
#include "policy/runqueue.h"
#include "clamps.h"
#include "fair.h"
#include "machine.h"
#include "cgroup.h"

struct policy_cpu cpus[POLICY_MAX_CPUS];
struct policy_llc llcs[POLICY_MAX_CPUS];
/* Views of the idle tasks, which wake tasks too but have no task storage. */
struct policy_task idle_tasks[POLICY_MAX_CPUS];
struct fair_queue queues[POLICY_MAX_CPUS];
/* Runnable tasks that no other CPU may run. */
u32 pinned[POLICY_MAX_CPUS];
/* A task of this scheduler is current. */
u8 curr_fair[POLICY_MAX_CPUS];
/*
 * Tasks may wait somewhere that another CPU may run. An idle CPU that looks for them
 * clears it if it finds none (rd->overloaded).
 */
u32 overloaded;
/* The CPU whose blocked load a tick decayed last. */
u32 decay_next;

struct view_lock {
	struct bpf_spin_lock lock;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, POLICY_MAX_CPUS);
	__type(key, u32);
	__type(value, struct view_lock);
} locks SEC(".maps");

/* The state of a task. */
struct live_task {
	struct policy_task view;
	struct task_clamps clamps;
	struct fair_entity fair;
	u64 waits_from;		/* when it became runnable or was queued again; 0: it does not wait */
	u32 cpu;		/* the CPU view that counts it */
	u32 ran_on;		/* CPU it ran on last */
	u32 pending_cpu;	/* the CPU whose ttwu_pending is for this task, or POLICY_NONE */
	u32 fresh;		/* never enqueued */
	u8 pinned;		/* counted in pinned[] */
	u8 running;
	u8 reader;		/* counted in `readers` of the queue where it waits */
	u8 unused;
	u32 group;		/* its task group (cgroup.h) */
	u32 counted_group;	/* the group that counts it as runnable */
	u32 patient;		/* the CPU among whose patient tasks it waits, plus one; 0: none */
	u32 better;		/* better_cpu() at the CPU's last dispatch() */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct live_task);
} tasks SEC(".maps");

/* Twice the initial max_idle_balance_cost: the most that avg_idle can be. */
#define AVG_IDLE_MAX_NS	1000000ull

static __always_inline struct policy_cpu *view_of(u32 cpu)
{
	return &cpus[policy_bound(cpu, POLICY_MAX_CPUS)];
}

/* Utilization of @cpu by this scheduler's tasks (cpu_util_cfs). */
static __always_inline u32 view_util(u32 cpu)
{
	const struct policy_cpu *rq = view_of(cpu);
	u32 util = rq->cfs.util_avg > rq->util_est_enqueued ? rq->cfs.util_avg :
							      rq->util_est_enqueued;

	return util < rq->capacity_orig ? util : rq->capacity_orig;
}

static __always_inline struct fair_queue *queue_of(u32 cpu)
{
	return &queues[policy_bound(cpu, POLICY_MAX_CPUS)];
}

static __always_inline u8 *curr_fair_of(u32 cpu)
{
	return &curr_fair[policy_bound(cpu, POLICY_MAX_CPUS)];
}

static __always_inline struct live_task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, NULL, 0);
}

static __always_inline struct view_lock *lock_of(u32 cpu)
{
	return bpf_map_lookup_elem(&locks, &cpu);
}

/* Current frequency of @cpu, 1024 = top. */
static __always_inline u32 freq_scale_of(u32 cpu)
{
	const unsigned long *scale;

	if (!&arch_freq_scale)
		return CAPACITY_SCALE;
	scale = bpf_per_cpu_ptr(&arch_freq_scale, cpu);
	return scale ? (u32)*scale : CAPACITY_SCALE;
}

/*
 * The time of @cpu's runqueue, which is locked: a switch or a wakeup uses one time for
 * all that it does, as in the fair class (rq_clock). A switch that a wakeup requested
 * does not update it (rq_clock_skip_update).
 */
static __always_inline u64 rq_now(u32 cpu)
{
	const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);

	return rq ? rq->clock : scx_bpf_now();
}

/* sched_prio_to_weight, from nice -20 to 19. */
static const u32 nice_weights[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
};

/* Reads the attributes of a task, except its clamps; only while it is not queued. */
static __always_inline void task_read(struct live_task *t, struct task_struct *task)
{
	const struct task_struct___slice *asked = (const void *)task;
	u32 nice = (u32)(task->static_prio - 100);
	struct policy_task *v = &t->view;

	v->weight = nice < 40 ? nice_weights[nice] : FAIR_NICE_0;
	v->class = POLICY_NORMAL;
	if (task->policy == SCHED_BATCH)
		v->class = POLICY_BATCH;
	if (task->policy == SCHED_IDLE) {
		v->class = POLICY_IDLE;
		v->weight = WEIGHT_IDLEPRIO;
	}
	t->fair.slice = base_slice;
	if (bpf_core_field_exists(asked->se.custom_slice) && asked->se.custom_slice)
		t->fair.slice = asked->se.slice;
	if (t->group != ROOT_GROUP && tg_idle(t->group))
		v->class = POLICY_IDLE;
	if (task->flags & PF_EXITING)
		v->flags |= TASK_EXITING;
	v->nr_cpus_allowed = (u32)task->nr_cpus_allowed;
}

/* The wakeup that was on its way has arrived, or never will. */
static __always_inline void pending_end(struct live_task *t)
{
	if (t->pending_cpu == POLICY_NONE)
		return;
	view_of(t->pending_cpu)->ttwu_pending = 0;
	t->pending_cpu = POLICY_NONE;
}

static __always_inline void pending_begin(struct live_task *t, u32 cpu)
{
	pending_end(t);
	view_of(cpu)->ttwu_pending = 1;
	t->pending_cpu = cpu;
}

/* A sleeping task leaves the CPU that its signals belong to. */
static __noinline int view_remove(struct live_task *t)
{
	struct view_lock *l = lock_of(t->cpu);
	struct policy_cpu *rq = view_of(t->cpu);

	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	policy_remove_entity_load_avg(the_params(), rq, &t->view);
	bpf_spin_unlock(&l->lock);
	return 0;
}

/* A task joins the queue of @cpu. */
static __noinline int view_enqueue(struct live_task *t, u32 cpu, u64 now)
{
	const struct policy_params *k = the_params();
	struct view_lock *l = lock_of(cpu);
	struct policy_cpu *rq = view_of(cpu);
	u32 freq = freq_scale_of(cpu), weight = t->view.weight;
	int fair = *curr_fair_of(cpu);

	if (!l)
		return 0;
	t->pinned = t->view.nr_cpus_allowed == 1;
	t->counted_group = t->group;
	tg_joins(t->group, cpu, weight);
	if (t->group != ROOT_GROUP)
		weight = tg_weight(t->group, weight, now);
	bpf_spin_lock(&l->lock);
	rq->freq_scale = freq;
	policy_update_rq_clock(rq, now);
	fair_join(queue_of(cpu), &t->fair, weight, t->cpu == cpu, now);
	pinned[policy_bound(cpu, POLICY_MAX_CPUS)] += t->pinned;
	if (t->fresh)
		policy_post_init_entity_util_avg(k, rq, &t->view);
	clamps_enqueue(k, &t->clamps, &t->view, cpu, rq);
	policy_enqueue_entity(k, rq, &t->view, fair);
	if (policy_clamps_add_up(k))
		policy_clamped_task_joined(k, rq, &t->view);
	bpf_spin_unlock(&l->lock);
	t->fresh = 0;
	t->cpu = cpu;
	if (rq->nr_running > 1 && !overloaded)	/* add_nr_running */
		overloaded = 1;
	return 0;
}

/* A task leaves its queue: it sleeps, its attributes change, or (@moved) it goes to another CPU. */
static __noinline int view_dequeue(struct live_task *t, u64 now, int sleeps, int moved)
{
	const struct policy_params *k = the_params();
	u32 cpu = t->cpu, freq = freq_scale_of(cpu);
	struct view_lock *l = lock_of(cpu);
	struct policy_cpu *rq = view_of(cpu);
	int fair = *curr_fair_of(cpu);

	if (!l)
		return 0;
	tg_leaves(t->counted_group, cpu, t->view.weight);
	bpf_spin_lock(&l->lock);
	rq->freq_scale = freq;
	policy_update_rq_clock(rq, now);
	if (t->running) {
		fair_charge(queue_of(cpu), &t->fair, now);
		fair_stops(queue_of(cpu));
		*curr_fair_of(cpu) = 0;
		fair = 1;
	}
	fair_leave(queue_of(cpu), &t->fair, !sleeps, tick_ns, now);
	pinned[policy_bound(cpu, POLICY_MAX_CPUS)] -= t->pinned;
	clamps_dequeue(k, &t->clamps, cpu, rq);
	if (moved)
		policy_detach_task(k, rq, &t->view, fair);
	else
		policy_dequeue_entity(k, rq, &t->view, t->running, fair, sleeps);
	bpf_spin_unlock(&l->lock);
	t->running = 0;
	return 0;
}

/* A queued task moves to @cpu. When the kernel moves it, it does not report that. */
static __noinline int view_move(struct live_task *t, u32 cpu, u64 now)
{
	view_dequeue(t, now, 0, 1);
	view_enqueue(t, cpu, now);
	return 0;
}

/* A running task may meet other rules than before, for example because its name has changed. */
static __noinline int view_clamps(struct live_task *t, struct task_struct *task)
{
	u32 min = t->view.uclamp_min, max = t->view.uclamp_max, cpu = t->cpu;
	const struct policy_params *k = the_params();
	struct view_lock *l = lock_of(cpu);
	struct policy_cpu *rq = view_of(cpu);

	if (!l)
		return 0;
	clamps_read(&t->clamps, &t->view, task);
	if (min == t->view.uclamp_min && max == t->view.uclamp_max)
		return 0;
	bpf_spin_lock(&l->lock);
	clamps_dequeue(k, &t->clamps, cpu, rq);
	clamps_enqueue(k, &t->clamps, &t->view, cpu, rq);
	if (policy_clamps_add_up(k))
		policy_clamps_changed(k, rq, &t->view);
	bpf_spin_unlock(&l->lock);
	return 0;
}

/*
 * One unit of the sums: a task that starts in less time after the update of its CPU's
 * view has nothing to add (___update_load_sum).
 */
#define PELT_PERIOD_NS	1024

/* Updates the sums of a task that starts, and of its CPU. */
static __noinline int view_set_next(struct live_task *t, u64 now)
{
	u32 cpu = t->cpu, freq = freq_scale_of(cpu);
	struct view_lock *l = lock_of(cpu);
	struct policy_cpu *rq = view_of(cpu);

	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	rq->freq_scale = freq;
	policy_update_rq_clock(rq, now);
	policy_set_next_entity(the_params(), rq, &t->view);
	bpf_spin_unlock(&l->lock);
	return 0;
}

/* A task starts to run on the CPU that counts it. */
static __always_inline void view_start(struct live_task *t, u64 now)
{
	u32 cpu = t->cpu;
	struct policy_cpu *rq = view_of(cpu);

	if (now - rq->clock >= PELT_PERIOD_NS)
		view_set_next(t, now);
	rq->curr_is_idle = 0;
	fair_starts(queue_of(cpu), &t->fair, t->view.class == POLICY_IDLE, now);
	queue_of(cpu)->curr_pinned = t->pinned;
	*curr_fair_of(cpu) = 1;
	t->running = 1;
}

/*
 * A task goes on or stops (but stays queued) on the CPU that counts it. Returns whether its
 * turn is over, if others wait.
 */
static __noinline int view_run(struct live_task *t, u64 now, int stops)
{
	u32 cpu = t->cpu, freq = freq_scale_of(cpu), weight = 0;
	struct view_lock *l = lock_of(cpu);
	struct policy_cpu *rq = view_of(cpu);
	struct fair_queue *q = queue_of(cpu);
	int over = 0;

	if (stops && t->group != ROOT_GROUP)
		weight = tg_weight(t->group, t->view.weight, now);
	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	rq->freq_scale = freq;
	policy_update_rq_clock(rq, now);
	policy_update_curr(the_params(), rq, &t->view);
	over = fair_charge(q, &t->fair, now);
	if (weight)
		fair_reweigh(q, &t->fair, weight, tick_ns, now);
	bpf_spin_unlock(&l->lock);
	if (stops) {
		fair_stops(q);
		t->running = 0;
		*curr_fair_of(cpu) = 0;
	}
	return over;
}

/* A running task yields. */
static __noinline int view_yield(struct live_task *t, u64 now)
{
	struct view_lock *l = lock_of(t->cpu);
	struct fair_queue *q = queue_of(t->cpu);

	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	fair_yield(q, &t->fair, now);
	bpf_spin_unlock(&l->lock);
	return 0;
}

/* @cpu begins (@idle) or ends to run its idle task. */
static __noinline int view_idle(u32 cpu, u64 now, int idle)
{
	u32 freq = freq_scale_of(cpu);
	struct view_lock *l = lock_of(cpu);
	struct policy_cpu *rq = view_of(cpu);

	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	rq->freq_scale = freq;
	policy_update_rq_clock(rq, now);
	if (idle) {
		policy_update_idle_rq_clock_pelt(rq, 0);
		rq->idle_stamp = now;
	} else {
		queue_of(cpu)->curr_from = now;		/* a task has the CPU since then: taken() */
		if (rq->idle_stamp) {
			policy_update_avg_idle(rq, now - rq->idle_stamp, AVG_IDLE_MAX_NS);
			rq->idle_stamp = 0;
		}
	}
	rq->curr_is_idle = (u8)idle;
	bpf_spin_unlock(&l->lock);
	return 0;
}

/* After this time another class is not expected to give the CPU back soon. */
#define TAKEN_NS	16000000ull

/* Has @cpu idled for longer than @ns? */
static __always_inline int idle_for(u32 cpu, u64 now, u64 ns)
{
	const struct policy_cpu *rq = view_of(cpu);

	return rq->curr_is_idle && rq->idle_stamp && (s64)(now - rq->idle_stamp) > (s64)ns;
}

/*
 * May tasks that wait for @cpu wait forever? So it is if another class has had the CPU for long,
 * if it is offline, or if it has idled for long and not fetched the tasks that were sent there.
 */
static __always_inline int taken(u32 cpu, u64 now)
{
	const struct fair_queue *q = queue_of(cpu);

	if (view_of(cpu)->offline || idle_for(cpu, now, TAKEN_NS))
		return 1;
	return !q->curr_weight && !view_of(cpu)->curr_is_idle &&
	       (s64)(now - q->curr_from) > (s64)TAKEN_NS;
}

/* Updates the signals of a CPU on which nothing happens. */
static __noinline int view_refresh(u32 cpu, u64 now)
{
	struct policy_cpu *rq = view_of(cpu);
	struct view_lock *l = lock_of(cpu);
	int fair = *curr_fair_of(cpu);

	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	if ((s64)(now - rq->clock) > 0) {
		policy_update_rq_clock(rq, now);
		policy_update_cfs_rq_load_avg(the_params(), rq, fair);
		policy_update_rq_runnable_avg(the_params(), rq);
	}
	bpf_spin_unlock(&l->lock);
	return 0;
}

/*
 * The load that sleepers left on an idle CPU decays, though nothing happens
 * there (update_blocked_averages() in nohz balancing). One CPU a call, which is returned.
 */
static __always_inline u32 view_decay_one(u64 now)
{
	u32 cpu = decay_next + 1 < topology.nr_cpus ? decay_next + 1 : 0;

	decay_next = cpu;
	if (view_of(cpu)->curr_is_idle)
		view_refresh(cpu, now);
	return cpu;
}

#endif
