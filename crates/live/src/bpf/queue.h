/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - the tasks that wait for a CPU, and which of them is next
 *
 * Each CPU has two queues, both ordered by deadline (fair.h). The second is for
 * patient tasks: they are so light among those of the CPU that their deadline may
 * be further away than the kernel lets a task wait (30 s, then it ends the
 * scheduler). They compete by deadline with the others, and now and then one of
 * them is served by age, so that none waits much longer than PATIENCE_NS.
 *
 * A task that was preempted inside an RCU read section is served by age too, but
 * sooner (READER_PATIENCE_NS): all memory to be freed waits for it, and from 7.2
 * the kernel ends the scheduler when that has lasted for 21 s.
 *
 * On kernels without scx_bpf_create_dsq tasks wait in the kernel's own queues, one
 * per CPU, in the order of arrival. A task that has had its turn goes to an idle CPU
 * if there is one, because CPUs cannot pull.
 */
#ifndef ALIGHT_LIVE_QUEUE_H
#define ALIGHT_LIVE_QUEUE_H

#include "kernel_has.h"
#include "stats.h"
#include "turn.h"
#include "views.h"

/* The slice, after which the kernel calls dispatch(). Ticks and turn.h end turns before. */
#define TURN_NS		100000000ull

/*
 * The slice of a task on an offline CPU, which must not end. The kernel calls no operation there,
 * and when a slice ends with no other task to run it puts the task aside for good:
 * put_prev_task_scx() with SCX_OPS_ENQ_LAST, do_enqueue_task()'s local path.
 */
#define OFFLINE_NS	3600000000000ull

#define PATIENCE_NS	4000000000ull
/* The same for preempted RCU readers. Each service costs the other tasks a turn of a tick. */
#define READER_PATIENCE_NS	100000000ull
/* Nice 15: lighter tasks are always patient, because a queue may get heavier after they came. */
#define PATIENT_WEIGHT	36

/* The number of the patient queue of @cpu; that of its other queue is the CPU's number. */
static __always_inline u64 patient_queue(u32 cpu)
{
	return POLICY_MAX_CPUS + (u64)cpu;
}

/*
 * Does this program count in @p's migration_disabled? With preemptible RCU, a program that runs
 * in the context of @p is an RCU reader itself and counts there. Without, it does not count since
 * 6.18 (__bpf_prog_enter(), rcu_read_lock_dont_migrate()).
 */
static __always_inline int reads_for_us(const struct task_struct *p)
{
	return bpf_core_field_exists(p->rcu_read_lock_nesting) && bpf_get_current_task_btf() == p;
}

/*
 * May the kernel run @p on its present CPU only? A false positive only pins the task; a false
 * negative ends the scheduler.
 */
static __always_inline int stays(const struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 || p->migration_disabled > reads_for_us(p);
}

/* Is @p, which does not run any more, inside an RCU read section? */
static __always_inline int is_reader(const struct task_struct *p)
{
	return bpf_core_field_exists(p->rcu_read_lock_nesting) &&
	       p->rcu_read_lock_nesting > reads_for_us(p);
}

static __always_inline void set_slice(struct task_struct *p, u64 slice)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice);
	else
		p->scx.slice = slice;
}

/* The number of this scheduler's tasks that wait for @cpu and that other CPUs may run. */
static __always_inline u32 waiting_on(u32 cpu)
{
	const struct fair_queue *q = queue_of(cpu);
	u32 stay = pinned[policy_bound(cpu, POLICY_MAX_CPUS)];
	u32 running = q->curr_weight && !q->curr_pinned, nr = view_of(cpu)->nr_running;

	return nr > stay + running ? nr - stay - running : 0;
}

static __always_inline void insert_local(struct task_struct *p, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL), TURN_NS, enq_flags);
}

/* @t no longer waits among the patient tasks: it runs, or leaves. */
static __always_inline void patient_ends(struct live_task *t)
{
	if (!t->patient)
		return;
	__sync_fetch_and_add(&queue_of(t->patient - 1)->patient, -1);
	if (t->reader)
		__sync_fetch_and_add(&queue_of(t->patient - 1)->readers, -1);
	t->patient = t->reader = 0;
}

/* Is @t so light among the tasks of @cpu that its deadline may be more than @patience away? */
static __always_inline int is_patient(const struct live_task *t, u32 cpu, u64 patience)
{
	u64 weight = t->fair.weight;

	return weight < PATIENT_WEIGHT ||
	       t->fair.slice * queue_of(cpu)->weight > patience * weight;
}

/* @t begins to wait among the patient tasks of @cpu, if it does not yet. */
static __always_inline void patient_begins(struct live_task *t, u32 cpu, int reader, u64 now)
{
	struct fair_queue *q = queue_of(cpu);

	if (!q->patient)
		q->patient_served = now;
	if (!t->patient) {
		t->patient = cpu + 1;
		__sync_fetch_and_add(&q->patient, 1);
	}
	if (reader && !t->reader) {
		t->reader = 1;
		__sync_fetch_and_add(&q->readers, 1);
	}
}

/* @p waits for its turn on @cpu. */
static __always_inline void queue_insert(struct task_struct *p, struct live_task *t, u32 cpu,
					 u64 now, u64 enq_flags)
{
	int reader = is_reader(p);
	u64 queue = cpu;

	if (!own_queues()) {
		scx_bpf_dsq_insert(p, SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL), tick_ns, enq_flags);
		stats_of(cpu)->queued++;
		return;
	}
	if (is_patient(t, cpu, reader ? READER_PATIENCE_NS : PATIENCE_NS)) {
		queue = patient_queue(cpu);
		patient_begins(t, cpu, reader, now);
		stats_of(cpu)->patient++;
	} else {
		stats_of(cpu)->queued++;
	}
	scx_bpf_dsq_insert_vtime(p, queue, TURN_NS, t->fair.deadline, enq_flags);
}

/*
 * Makes @cpu look for a task again when the caller's insertion is done: that happens after
 * enqueue() returns, and kicks happen after it. SCX_KICK_IDLE is not used: it skips a CPU that
 * is not idle at the call, but that CPU may look for the last time before the insertion.
 */
static __always_inline void look_again(u32 cpu)
{
	if (can_kick() && !here_is_off())
		scx_bpf_kick_cpu((s32)cpu, 0);
}

/*
 * @p, which is queued here, waits for its turn on @cpu instead; if @cpu idles, its turn is at once.
 *
 * It does not go to the local queue of @cpu: an insertion there from enqueue() is deferred. Up to
 * 7.0 that insertion survives a change of the affinity meanwhile, and if the CPU is not allowed
 * then, the kernel ends the scheduler ("target CPU not allowed", process_ddsp_deferred_locals()).
 * Kernels on which there is only the local queue have the fix (clear_direct_dispatch()).
 */
static __always_inline void queue_send(struct task_struct *p, struct live_task *t, u32 cpu,
				       u64 now, u64 enq_flags)
{
	if (!own_queues() || !can_kick()) {
		pending_begin(t, cpu);
		scx_bpf_dsq_insert(p, SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | cpu, TURN_NS,
				   enq_flags);
		return;
	}
	view_move(t, cpu, now);		/* a task that waits in a queue is counted there: queue_waits() */
	if (view_of(cpu)->offline)	/* it went after it was chosen: idle CPUs take what waits there */
		overloaded = 1;
	scx_bpf_dsq_insert_vtime(p, cpu, TURN_NS, t->fair.deadline, enq_flags);
	look_again(cpu);
}

/* Does a task wait for @cpu, besides @current, which may go on there? */
static __always_inline int queue_waits(u32 cpu, const struct live_task *current)
{
	return view_of(cpu)->nr_running > !!current;
}

/* Reads the deadline of the first task of @queue; returns 0 if there is none. */
static __noinline int queue_deadline(u64 queue, u64 *deadline)
{
	struct task_struct *first = NULL;
	struct bpf_iter_scx_dsq it;

	if (peek_works()) {
		first = scx_bpf_dsq_peek(queue);
		if (first)
			*deadline = first->scx.dsq_vtime;
		return !!first;
	}
	if (!bpf_ksym_exists(bpf_iter_scx_dsq_new))
		return 0;
	if (!bpf_iter_scx_dsq_new(&it, queue, 0))
		first = bpf_iter_scx_dsq_next(&it);
	if (first)
		*deadline = first->scx.dsq_vtime;
	bpf_iter_scx_dsq_destroy(&it);
	return !!first;
}

/*
 * Does a task wait for @cpu that would run before @t, which has just been woken? Then @t does
 * not preempt the running task (wakeup_preempt_fair: the pick must be the woken task).
 */
static __noinline int queue_prefers(u32 cpu, const struct live_task *t, u64 now)
{
	struct task_struct *first;
	struct live_task *other;
	u64 deadline = 0;

	/* Two are the running and the woken task. Without queues of our own there is no order. */
	if (!own_queues() || view_of(cpu)->nr_running <= 2)
		return 0;
	if (!peek_works())
		return queue_deadline(cpu, &deadline) && (s64)(deadline - t->fair.deadline) < 0;
	first = scx_bpf_dsq_peek(cpu);
	if (!first || (s64)(first->scx.dsq_vtime - t->fair.deadline) >= 0)
		return 0;
	other = task_of(first);
	return !other || fair_eligible(queue_of(cpu), &other->fair, now);
}

/*
 * Starts @p at once, if it need not wait for its turn on @cpu: on an idle CPU, in place of a
 * SCHED_IDLE task, or of another task if fair_preempts() says so. Returns whether it does.
 */
static __always_inline int queue_start(struct task_struct *p, struct live_task *t, u32 cpu,
				       int woken, u64 now, u64 enq_flags)
{
	const struct fair_queue *q = queue_of(cpu);
	struct cpu_stats *s = stats_of(cpu);

	if (view_of(cpu)->curr_is_idle || enq_flags & SCX(scx_enq_flags, SCX_ENQ_LAST)) {
		s->direct++;
		insert_local(p, enq_flags);
		/* The idle task is picked already, and no one else makes @cpu look again. */
		if (enq_flags & SCX(scx_enq_flags, SCX_ENQ_LAST))
			look_again(cpu);
		return 1;
	}
	if (!woken || !q->curr_weight || t->view.class == POLICY_IDLE)
		return 0;
	if (q->curr_idle) {
		s->preempted_idle++;
	} else if (t->view.class == POLICY_NORMAL && fair_preempts(q, &t->fair, now) &&
		   !queue_prefers(cpu, t, now)) {
		s->preempted++;
	} else {
		turn_awaited(cpu, now);
		return 0;
	}
	insert_local(p, enq_flags | SCX(scx_enq_flags, SCX_ENQ_PREEMPT));
	return 1;
}

/* Is it time to serve a patient task by age? */
static __always_inline int patience_ends(const struct fair_queue *q, u32 nr, u64 now)
{
	u64 waited = now - q->patient_served;

	return nr && (waited > PATIENCE_NS / nr || (q->readers && waited > READER_PATIENCE_NS));
}

/*
 * Moves the next of @cpu's waiting tasks to it (pick_eevdf()). @current: the task that runs and
 * may go on, or NULL; it goes on if its deadline is earlier and it is eligible.
 *
 * Unlike pick_eevdf(), this does not skip waiting tasks that are not eligible, because the queue
 * has no second order. Among tasks of one weight and slice, the one of the earliest deadline is
 * nearly always eligible (against_live.rs counts).
 */
static __noinline int queue_pick(u32 cpu, u64 now, const struct live_task *current)
{
	struct fair_queue *q = queue_of(cpu);
	u64 first = cpu, second = patient_queue(cpu), earliest = 0, patient = 0;
	u32 nr = q->patient;

	if (patience_ends(q, nr, now)) {
		q->patient_served = now;
		if (scx_bpf_dsq_move_to_local(second))
			return 1;
	}
	if (!queue_deadline(first, &earliest)) {
		if (!nr || !queue_deadline(second, &earliest))
			return 0;
		first = second;
	} else if (nr && queue_deadline(second, &patient) && (s64)(patient - earliest) < 0) {
		earliest = patient;
		second = first;
		first = patient_queue(cpu);
	}
	if (current && fair_eligible(q, &current->fair, now) &&
	    (s64)(current->fair.deadline - earliest) < 0)
		return 0;
	return scx_bpf_dsq_move_to_local(first) ||
	       (nr && scx_bpf_dsq_move_to_local(second));
}

/* The same, with a short way for the usual case: the first task of the queue. */
static __always_inline int queue_next(u32 cpu, u64 now, const struct live_task *current)
{
	if (!current && !queue_of(cpu)->patient)
		return scx_bpf_dsq_move_to_local(cpu);
	return queue_pick(cpu, now, current);
}

/* Moves a task that waits for @cpu to the CPU that executes this. */
static __always_inline int queue_take(u32 cpu)
{
	return scx_bpf_dsq_move_to_local(cpu) ||
	       (queue_of(cpu)->patient && scx_bpf_dsq_move_to_local(patient_queue(cpu)));
}

/* Moves all tasks of @queue to @cpu's local queue, from which the kernel moves them elsewhere. */
static __always_inline void queue_hand_over(u64 queue, u32 cpu)
{
	u64 local = SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | cpu;
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;

	if (!bpf_iter_scx_dsq_new(&it, queue, 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it)))
			scx_bpf_dsq_move(&it, p, local, 0);
	}
	bpf_iter_scx_dsq_destroy(&it);
}

#endif
