// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_pelt.bpf.c - records every change of a load-tracking signal
 *
 * Each kernel function that changes signals is hooked at its entry and its
 * exit. An event holds the arguments, the state before and the state after, so
 * that each event can be made again by itself. The state after one event must be
 * the state before the next event of the same entity. Tracepoints show changes
 * elsewhere: one that fires while no hooked function runs is recorded as an event
 * of its own. So a function that the compiler inlined somewhere is noticed.
 *
 * The load-tracking functions are called across files (pelt.c from fair.c), so
 * none of them can be inlined; of those of fair.c the loader hooks what the
 * kernel's type information has.
 *
 * All hooked functions run with the lock of a runqueue or a task held and
 * interrupts off, except the first and last steps of an entity's life
 * (init_entity_runnable_average, remove_entity_load_avg). There an interrupt may
 * come while a program runs, and call the same functions; the kernel skips a
 * program that is running already (and counts that). So calls with interrupts on
 * have slots of their own, no event is in a slot while it is written out, and
 * skipped programs are marked: PELT_NO_BEFORE, PELT_NO_AFTER, PELT_NO_TRACE.
 */
#include "kernel_pelt.h"
#include "pelt_calls.h"

char _license[] SEC("license") = "GPL";

static __always_inline void describe_queue(struct pelt_event *e, const struct cfs_rq *q)
{
	e->queue = (u64)q;
	e->cpu = (u32)q->rq->cpu;
	if (is_root(q))
		e->flags |= PELT_ROOT;
}

static __always_inline void describe_entity(struct pelt_event *e, const struct sched_entity *se)
{
	e->first = (u64)se;
	if (se->my_q)
		e->flags |= PELT_GROUP;
	else
		e->pid = pid_of(se);
}

/* ---- updates of one signal set ---- */

static __always_inline struct pelt_one *begin(struct pelt_one *u, u32 op)
{
	__builtin_memset(u, 0, sizeof(*u));
	u->e.op = op;
	return u;
}

static __always_inline void end(struct pelt_one *u, u64 first, const struct sched_avg *avg, int result)
{
	if (u->e.first != first)	/* recording began within the call */
		return;
	u->e.result = result;
	read_avg(&u->after, avg);
	write_down(u, sizeof(*u));
	u->e.first = 0;
}

SEC("fentry/__update_load_avg_se")
int BPF_PROG(se_begin, u64 now, struct cfs_rq *q, struct sched_entity *se)
{
	struct calls *c = calls();
	struct pelt_one *u;

	if (!c)
		return 0;
	u = begin(&c->update, PELT_SE);
	describe_entity(&u->e, se);
	describe_queue(&u->e, q);
	u->e.now = now;
	u->e.load = weight_of(&se->load);
	u->e.runnable = runnable_of(se);
	u->e.running = (u32)(q->curr == se) | on_rq(se) << 1;
	read_avg(&u->before, &se->avg);
	return 0;
}

/* Marks a call whose tracepoint's program was skipped: an interrupt came while it was running. */
static __always_inline void look_for_trace(struct pelt_one *u, const struct calls *c, int result)
{
	if (result && c->tracing && !(u->e.flags & PELT_TRACED))
		u->e.flags |= PELT_NO_TRACE;
}

SEC("fexit/__update_load_avg_se")
int BPF_PROG(se_end, u64 now, struct cfs_rq *q, struct sched_entity *se, int result)
{
	struct calls *c = calls();

	if (!c)
		return 0;
	look_for_trace(&c->update, c, result);
	end(&c->update, (u64)se, &se->avg, result);
	return 0;
}

/*
 * The slots for a call with @se. @blocked, @remove: the entity whose call with interrupts
 * off may be under way in that slot, or NULL.
 */
static __always_inline struct leaving *leaving(struct calls *c, const struct sched_entity *se,
					       const struct sched_entity *blocked,
					       const struct sched_entity *remove)
{
	if (is_open(se))
		return &c->open;
	no_other_than((u64)blocked, &c->quiet.blocked);
	no_other_than((u64)remove, &c->quiet.remove);
	return &c->quiet;
}

static __always_inline void begin_leaving(struct pelt_one *u, u32 op, const struct sched_entity *se)
{
	begin(u, op);
	describe_entity(&u->e, se);
	describe_queue(&u->e, se->cfs_rq);
	u->e.load = weight_of(&se->load);
	read_avg(&u->before, &se->avg);
}

/*
 * The event of a call that ends, in memory of its own. Between the two reads of the
 * slot an interrupt may have begun another call there.
 */
static __always_inline struct pelt_one *end_leaving(struct pelt_one *slot, u32 op,
						    const struct sched_entity *se)
{
	volatile u64 *first = &slot->e.first;
	bool own = *first == (u64)se;
	struct pelt_one *u = reserve();

	if (u && own)
		*u = *slot;
	barrier();
	own = own && *first == (u64)se;
	if (own)
		*first = 0;
	if (u && !own) {
		begin(u, op);
		u->e.flags = PELT_NO_BEFORE;
		describe_entity(&u->e, se);
		describe_queue(&u->e, se->cfs_rq);
		u->e.load = weight_of(&se->load);
	}
	if (u)
		read_avg(&u->after, &se->avg);
	return u;
}

SEC("fentry/__update_load_avg_blocked_se")
int BPF_PROG(blocked_begin, u64 now, struct sched_entity *se)
{
	struct calls *c = calls_as_they_are();
	struct leaving *l;

	if (!c)
		return 0;
	l = leaving(c, se, NULL, se);
	begin_leaving(&l->blocked, PELT_BLOCKED, se);
	l->blocked.e.now = now;
	return 0;
}

SEC("fexit/__update_load_avg_blocked_se")
int BPF_PROG(blocked_end, u64 now, struct sched_entity *se, int result)
{
	struct calls *c = calls_as_they_are();
	struct pelt_one *u;

	if (!c)
		return 0;
	u = end_leaving(&leaving(c, se, se, se)->blocked, PELT_BLOCKED, se);
	if (!u)
		return 0;
	u->e.result = result;
	look_for_trace(u, c, result);
	submit(u);
	return 0;
}

SEC("fentry/__update_load_avg_cfs_rq")
int BPF_PROG(cfs_begin, u64 now, struct cfs_rq *q)
{
	struct calls *c = calls();
	struct pelt_one *u;

	if (!c)
		return 0;
	u = begin(&c->update, PELT_CFS);
	describe_queue(&u->e, q);
	u->e.first = (u64)q;
	u->e.now = now;
	u->e.load = weight_of(&q->load);
	if (bpf_core_field_exists(q->h_nr_runnable))
		u->e.runnable = q->h_nr_runnable;
	else
		u->e.runnable = ((struct cfs_rq___all *)q)->h_nr_running;
	u->e.running = q->curr != NULL;
	u->removed_nr = (u32)q->removed.nr;
	u->removed_load = q->removed.load_avg;
	u->removed_util = q->removed.util_avg;
	u->removed_runnable = q->removed.runnable_avg;
	read_avg(&u->before, &q->avg);
	return 0;
}

SEC("fexit/__update_load_avg_cfs_rq")
int BPF_PROG(cfs_end, u64 now, struct cfs_rq *q, int result)
{
	struct calls *c = calls();

	if (c)
		end(&c->update, (u64)q, &q->avg, result);
	return 0;
}

static __always_inline void begin_class(struct calls *c, u32 op, u64 now, const struct rq___pelt *rq,
					u64 load, const struct sched_avg *avg)
{
	struct pelt_one *u = begin(&c->update, op);

	u->e.first = (u64)avg;
	u->e.cpu = (u32)rq->cpu;
	u->e.now = now;
	u->e.load = load;
	u->e.runnable = load;
	u->e.running = (u32)load;
	read_avg(&u->before, avg);
}

SEC("fentry/update_rt_rq_load_avg")
int BPF_PROG(rt_begin, u64 now, struct rq___pelt *rq, int running)
{
	struct calls *c = calls();

	if (c)
		begin_class(c, PELT_RT, now, rq, (u64)running, &rq->avg_rt);
	return 0;
}

SEC("fexit/update_rt_rq_load_avg")
int BPF_PROG(rt_end, u64 now, struct rq___pelt *rq, int running, int result)
{
	struct calls *c = calls();

	if (c)
		end(&c->update, (u64)&rq->avg_rt, &rq->avg_rt, result);
	return 0;
}

SEC("fentry/update_dl_rq_load_avg")
int BPF_PROG(dl_begin, u64 now, struct rq___pelt *rq, int running)
{
	struct calls *c = calls();

	if (c)
		begin_class(c, PELT_DL, now, rq, (u64)running, &rq->avg_dl);
	return 0;
}

SEC("fexit/update_dl_rq_load_avg")
int BPF_PROG(dl_end, u64 now, struct rq___pelt *rq, int running, int result)
{
	struct calls *c = calls();

	if (c)
		end(&c->update, (u64)&rq->avg_dl, &rq->avg_dl, result);
	return 0;
}

SEC("?fentry/update_hw_load_avg")
int BPF_PROG(hw_begin, u64 now, struct rq___pelt *rq, u64 capacity)
{
	struct rq___hw *hw = (void *)rq;
	struct calls *c = calls();

	if (c)
		begin_class(c, PELT_HW, now, rq, capacity, &hw->avg_hw);
	return 0;
}

SEC("?fexit/update_hw_load_avg")
int BPF_PROG(hw_end, u64 now, struct rq___pelt *rq, u64 capacity, int result)
{
	struct rq___hw *hw = (void *)rq;
	struct calls *c = calls();

	if (c)
		end(&c->update, (u64)&hw->avg_hw, &hw->avg_hw, result);
	return 0;
}

/* ---- changes of an entity and its queue together ---- */

static __always_inline void begin_move(struct calls *c, u32 op, struct cfs_rq *q,
				       struct sched_entity *se)
{
	struct pelt_two *m = &c->move;

	__builtin_memset(m, 0, sizeof(*m));
	m->e.op = op;
	describe_entity(&m->e, se);
	describe_queue(&m->e, q);
	m->e.load = weight_of(&se->load);
	read_avg(&m->before, &se->avg);
	read_avg(&m->queue_before, &q->avg);
}

static __always_inline void end_move(struct calls *c, struct cfs_rq *q, struct sched_entity *se)
{
	struct pelt_two *m = &c->move;

	if (m->e.first != (u64)se)
		return;
	m->e.runnable = weight_of(&se->load);
	read_avg(&m->after, &se->avg);
	read_avg(&m->queue_after, &q->avg);
	write_down(m, sizeof(*m));
	m->e.first = 0;
}

/* post_init_entity_util_avg() attaches the task at its end: a part of PELT_FIRST. */
static __always_inline bool is_part_of_first(const struct calls *c, const struct sched_entity *se)
{
	return c->move.e.op == PELT_FIRST && c->move.e.first == (u64)se;
}

SEC("?fentry/attach_entity_load_avg")
int BPF_PROG(attach_begin, struct cfs_rq *q, struct sched_entity *se)
{
	struct calls *c = calls();

	if (c && !is_part_of_first(c, se))
		begin_move(c, PELT_ATTACH, q, se);
	return 0;
}

SEC("?fexit/attach_entity_load_avg")
int BPF_PROG(attach_end, struct cfs_rq *q, struct sched_entity *se)
{
	struct calls *c = calls();

	if (c && !is_part_of_first(c, se))
		end_move(c, q, se);
	return 0;
}

SEC("?fentry/detach_entity_load_avg")
int BPF_PROG(detach_begin, struct cfs_rq *q, struct sched_entity *se)
{
	struct calls *c = calls();

	if (c)
		begin_move(c, PELT_DETACH, q, se);
	return 0;
}

SEC("?fexit/detach_entity_load_avg")
int BPF_PROG(detach_end, struct cfs_rq *q, struct sched_entity *se)
{
	struct calls *c = calls();

	if (c)
		end_move(c, q, se);
	return 0;
}

SEC("?fentry/reweight_entity")
int BPF_PROG(reweight_begin, struct cfs_rq *q, struct sched_entity *se, unsigned long weight)
{
	struct calls *c = calls();

	if (c)
		begin_move(c, PELT_REWEIGHT, q, se);
	return 0;
}

SEC("?fexit/reweight_entity")
int BPF_PROG(reweight_end, struct cfs_rq *q, struct sched_entity *se, unsigned long weight)
{
	struct calls *c = calls();

	if (c)
		end_move(c, q, se);
	return 0;
}

SEC("fentry/post_init_entity_util_avg")
int BPF_PROG(first_begin, struct task_struct___pelt *p)
{
	struct calls *c = calls();

	if (!c)
		return 0;
	begin_move(c, PELT_FIRST, p->se.cfs_rq, &p->se);
	c->move.e.capacity = capacity_of(c->move.e.cpu);
	return 0;
}

SEC("fexit/post_init_entity_util_avg")
int BPF_PROG(first_end, struct task_struct___pelt *p)
{
	struct calls *c = calls();

	if (c)
		end_move(c, p->se.cfs_rq, &p->se);
	return 0;
}

/* ---- leaving a queue without its lock ---- */

SEC("?fentry/remove_entity_load_avg")
int BPF_PROG(remove_begin, struct sched_entity *se)
{
	struct calls *c = calls_as_they_are();

	if (c)
		begin_leaving(&leaving(c, se, NULL, NULL)->remove, PELT_REMOVE, se);
	return 0;
}

SEC("?fexit/remove_entity_load_avg")
int BPF_PROG(remove_end, struct sched_entity *se)
{
	struct calls *c = calls_as_they_are();
	struct leaving *l;
	struct pelt_one *r;
	struct cfs_rq *q;

	if (!c)
		return 0;
	l = leaving(c, se, NULL, se);
	if (l->blocked.e.first == (u64)se)
		seen_by_half(&l->blocked);	/* it was a part of this call */
	r = end_leaving(&l->remove, PELT_REMOVE, se);
	if (!r)
		return 0;
	q = se->cfs_rq;
	r->removed_nr = (u32)q->removed.nr;
	r->removed_load = q->removed.load_avg;
	r->removed_util = q->removed.util_avg;
	r->removed_runnable = q->removed.runnable_avg;
	submit(r);
	return 0;
}

/* ---- functions that set a state: the state after them ---- */

static __always_inline void state_of_entity(u32 op, const struct sched_entity *se)
{
	struct pelt_one *u = reserve();

	if (!u)
		return;
	begin(u, op);
	describe_entity(&u->e, se);
	u->e.queue = (u64)se->cfs_rq;
	u->e.load = weight_of(&se->load);
	read_avg(&u->after, &se->avg);
	submit(u);
}

/* At fork interrupts are on. */
SEC("fexit/init_entity_runnable_average")
int BPF_PROG(entity_is_new, struct sched_entity *se)
{
	if (calls_as_they_are())
		state_of_entity(PELT_INIT, se);
	return 0;
}

SEC("?fexit/migrate_task_rq_fair")
int BPF_PROG(task_migrated, struct task_struct___pelt *p, int new_cpu)
{
	if (calls())
		state_of_entity(PELT_MIGRATE, &p->se);
	return 0;
}

SEC("?fexit/set_task_rq_fair")
int BPF_PROG(entity_retimed, struct sched_entity *se, struct cfs_rq *prev, struct cfs_rq *next)
{
	if (calls())
		state_of_entity(PELT_RETIME, se);
	return 0;
}

/*
 * ---- tracepoints: within a hooked function they confirm it, elsewhere they are events ----
 *
 * The type information of 5.10 has none of them: its events are not confirmed.
 */

static __always_inline bool confirms(struct pelt_one *u, u64 first)
{
	if (u->e.first != first)
		return 0;
	u->e.flags |= PELT_TRACED;
	return 1;
}

/* Runs within a call, which may be one with interrupts on. */
SEC("?tp_btf/pelt_se_tp")
int BPF_PROG(se_traced, struct sched_entity *se)
{
	struct calls *c = calls_as_they_are();

	if (!c)
		return 0;
	c->tracing = 1;
	barrier();
	if (!confirms(&c->update, (u64)se) && !confirms(&leaving(c, se, se, se)->blocked, (u64)se))
		state_of_entity(PELT_UNHOOKED_SE, se);
	barrier();
	c->tracing = 0;
	return 0;
}

SEC("?tp_btf/pelt_cfs_tp")
int BPF_PROG(cfs_traced, struct cfs_rq *q)
{
	struct calls *c = calls();
	struct pelt_one *u;

	if (!c || confirms(&c->update, (u64)q))
		return 0;
	if (c->move.e.first && c->move.e.queue == (u64)q) {
		c->move.e.flags |= PELT_TRACED;
		return 0;
	}
	u = begin(&c->update, PELT_UNHOOKED_CFS);
	describe_queue(&u->e, q);
	u->e.first = (u64)q;
	read_avg(&u->after, &q->avg);
	write_down(u, sizeof(*u));
	u->e.first = 0;
	return 0;
}

static __always_inline void class_traced(u32 op, const struct rq___pelt *rq, const struct sched_avg *avg)
{
	struct calls *c = calls();
	struct pelt_one *u;

	if (!c || confirms(&c->update, (u64)avg))
		return;
	u = begin(&c->update, op);
	u->e.cpu = (u32)rq->cpu;
	u->e.first = (u64)avg;
	u->e.now = rq->clock_pelt - rq->lost_idle_time;
	read_avg(&u->after, avg);
	write_down(u, sizeof(*u));
	u->e.first = 0;
}

SEC("?tp_btf/pelt_rt_tp")
int BPF_PROG(rt_traced, struct rq___pelt *rq)
{
	class_traced(PELT_UNHOOKED_RT, rq, &rq->avg_rt);
	return 0;
}

SEC("?tp_btf/pelt_dl_tp")
int BPF_PROG(dl_traced, struct rq___pelt *rq)
{
	class_traced(PELT_UNHOOKED_DL, rq, &rq->avg_dl);
	return 0;
}

SEC("?tp_btf/pelt_hw_tp")
int BPF_PROG(hw_traced, struct rq___pelt *rq)
{
	struct rq___hw *hw = (void *)rq;

	if (bpf_core_field_exists(hw->avg_hw))
		class_traced(PELT_UNHOOKED_HW, rq, &hw->avg_hw);
	return 0;
}

SEC("?tp_btf/pelt_irq_tp")
int BPF_PROG(irq_is_traced, struct rq___pelt *rq)
{
	if (recording)
		__sync_fetch_and_add(&irq_traced, 1);
	return 0;
}

/* ---- util_est ---- */

/* DEQUEUE_SLEEP of kernel/sched/sched.h */
#define DEQUEUE_SLEEP_FLAG	0x01

static __always_inline void begin_task(struct calls *c, u32 op, struct task_struct___pelt *p, int flags)
{
	c->task = (u64)&p->se;
	c->task_op = op;
	c->task_flags = (u32)flags;
	c->task_traced = 0;
	c->task_delayed = delayed(&p->se);
	read_avg(&c->task_before, &p->se.avg);
}

SEC("fentry/enqueue_task_fair")
int BPF_PROG(enqueue_begin, struct rq___pelt *rq, struct task_struct___pelt *p, int flags)
{
	struct calls *c = calls();

	if (c)
		begin_task(c, PELT_EST_ENQUEUE, p, flags);
	return 0;
}

SEC("fexit/enqueue_task_fair")
int BPF_PROG(enqueue_end, struct rq___pelt *rq, struct task_struct___pelt *p, int flags)
{
	struct calls *c = calls();

	if (c)
		c->task = 0;
	return 0;
}

SEC("fentry/dequeue_task_fair")
int BPF_PROG(dequeue_begin, struct rq___pelt *rq, struct task_struct___pelt *p, int flags)
{
	struct calls *c = calls();

	if (c)
		begin_task(c, PELT_EST_DEQUEUE, p, flags);
	return 0;
}

static __always_inline void task_estimate(struct calls *c, struct rq___pelt *rq,
					  const struct sched_entity *se, u32 flags)
{
	struct pelt_two *m = &c->estimate;

	__builtin_memset(m, 0, sizeof(*m));
	m->e.op = PELT_EST_SE;
	m->e.flags = flags;
	if (c->task_flags & DEQUEUE_SLEEP_FLAG)
		m->e.flags |= PELT_SLEEP;
	describe_entity(&m->e, se);
	m->e.queue = (u64)&rq->cfs;
	m->e.cpu = (u32)rq->cpu;
	m->e.capacity = capacity_of(m->e.cpu);
	m->before = c->task_before;
	read_avg(&m->after, &se->avg);
	write_down(m, sizeof(*m));
	m->e.first = 0;
}

/*
 * The tracepoint records an estimate when it is stored; this records a dequeue that
 * stored none. A task that was delayed when its dequeue began may be gone by now
 * (DEQUEUE_DELAYED, whose value differs by kernel); it updated nothing.
 */
SEC("fexit/dequeue_task_fair")
int BPF_PROG(dequeue_end, struct rq___pelt *rq, struct task_struct___pelt *p, int flags)
{
	struct calls *c = calls();

	if (!c || c->task != (u64)&p->se)
		return 0;
	c->task = 0;
	if (!c->task_traced && !c->task_delayed)
		task_estimate(c, rq, &p->se, 0);
	return 0;
}

SEC("?tp_btf/sched_util_est_se_tp")
int BPF_PROG(est_se_traced, struct sched_entity *se)
{
	struct calls *c = calls();

	if (!c || c->task != (u64)se)
		return 0;
	c->task_traced = 1;
	task_estimate(c, se->cfs_rq->rq, se, PELT_TRACED);
	return 0;
}

SEC("?tp_btf/sched_util_est_cfs_tp")
int BPF_PROG(est_cfs_traced, struct cfs_rq *q)
{
	struct calls *c = calls();
	struct pelt_one *u;

	if (!c || !c->task)
		return 0;
	u = begin(&c->update, c->task_op);
	describe_queue(&u->e, q);
	u->e.first = c->task;
	u->before = c->task_before;
	read_avg(&u->after, &q->avg);
	write_down(u, sizeof(*u));
	u->e.first = 0;
	return 0;
}

/* ---- clocks ---- */

static __always_inline void read_clocks(struct pelt_clocks *to, const struct rq___pelt *rq)
{
	to->clock = rq->clock;
	to->clock_task = rq->clock_task;
	to->clock_pelt = rq->clock_pelt;
	to->lost_idle_time = rq->lost_idle_time;
}

static __always_inline void begin_tick(struct calls *c, u32 op, struct rq___pelt *rq)
{
	struct pelt_tick *t = &c->tick;

	__builtin_memset(t, 0, sizeof(*t));
	t->e.op = op;
	t->e.first = (u64)rq;
	t->e.cpu = (u32)rq->cpu;
	if (rq->curr == rq->idle)
		t->e.flags |= PELT_CURR_IDLE;
	t->e.capacity = capacity_of(t->e.cpu);
	t->e.freq = freq_of(t->e.cpu);
	t->cfs_util_sum = rq->cfs.avg.util_sum;
	t->rt_util_sum = rq->avg_rt.util_sum;
	t->dl_util_sum = rq->avg_dl.util_sum;
	read_clocks(&t->before, rq);
}

static __always_inline void end_tick(struct calls *c, struct rq___pelt *rq)
{
	struct pelt_tick *t = &c->tick;

	if (t->e.first != (u64)rq)
		return;
	read_clocks(&t->after, rq);
	if (t->after.clock_pelt != t->before.clock_pelt || t->after.clock != t->before.clock ||
	    t->after.lost_idle_time != t->before.lost_idle_time)
		write_down(t, sizeof(*t));
	t->e.first = 0;
}

SEC("fentry/update_rq_clock")
int BPF_PROG(clock_begin, struct rq___pelt *rq)
{
	struct calls *c = calls();

	if (c)
		begin_tick(c, PELT_CLOCK, rq);
	return 0;
}

SEC("fexit/update_rq_clock")
int BPF_PROG(clock_end, struct rq___pelt *rq)
{
	struct calls *c = calls();

	if (c)
		end_tick(c, rq);
	return 0;
}

SEC("fentry/set_next_task_idle")
int BPF_PROG(idle_begin, struct rq___pelt *rq)
{
	struct calls *c = calls();

	if (c)
		begin_tick(c, PELT_IDLE, rq);
	return 0;
}

SEC("fexit/set_next_task_idle")
int BPF_PROG(idle_end, struct rq___pelt *rq)
{
	struct calls *c = calls();

	if (c)
		end_tick(c, rq);
	return 0;
}
