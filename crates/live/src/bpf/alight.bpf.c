// SPDX-License-Identifier: GPL-2.0-only
/*
 * alight.bpf.c - a sched_ext scheduler that places tasks by policy/select.h
 *
 * select_cpu	the policy's decision, optionally on a snapshot that is written
 *		down with the answer (the loader replays it on the host)
 * enqueue	the queue of the chosen CPU, ordered by weighted run time
 * dispatch	own queue, else the task that ran, else other CPUs' queues
 * tick		a task that its CPU is too small for moves to an idle bigger one
 * the others	keep the views of CPUs and tasks (views.h)
 *
 * What fair.c does and this does not: wakeup preemption, load balancing other
 * than pulling when idle, group scheduling, capacity taken by other classes,
 * capacity pressure. nr_running counts this scheduler's tasks only; a CPU that
 * runs a real-time task shows as not idle.
 */
#include "policy/model.h"
#include "kernel.h"
#include "policy/select.h"
#include "policy/runqueue.h"
#include "views.h"
#include "stats.h"
#include "decide.h"
#include "capacity.h"
#include "cpuperf.h"

char _license[] SEC("license") = "GPL";

/* How long a task runs before others of its queue do. */
#define SLICE_NS	4000000ull

/* Why the kernel ended the scheduler; read by the loader. */
struct {
	s32 kind;
	s64 code;
	char reason[64];
	char message[256];
} ended;

/* Largest vtime of a task that ran. */
u64 vtime_now;

/* The chosen CPU is idle, or runs SCHED_IDLE tasks only: no need to queue. */
static __always_inline void place_at_once(struct task_struct *p, const struct live_task *t, u32 cpu)
{
	u64 local = SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL);

	if (view_of(cpu)->curr_is_idle)
		scx_bpf_dsq_insert(p, local, SLICE_NS, 0);
	else if (t->view.class != POLICY_IDLE)
		scx_bpf_dsq_insert(p, local, SLICE_NS, SCX(scx_enq_flags, SCX_ENQ_PREEMPT));
}

SEC("struct_ops/alight_select_cpu")
s32 BPF_PROG(alight_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	u32 kind = wake_flags & SCX(scx_wake_flags, SCX_WAKE_FORK) ? KIND_FORK : KIND_WAKE;
	u32 sync = !!(wake_flags & SCX(scx_wake_flags, SCX_WAKE_SYNC)), zero = 0, cpu;
	struct policy_task *waker = waker_view(bpf_get_smp_processor_id());
	struct work *w = bpf_map_lookup_elem(&works, &zero);
	struct live_task *t = task_of(p);

	if (!t || !w)
		return prev_cpu;
	task_read(t, p);
	t->view.prev_cpu = (u32)prev_cpu;
	bpf_probe_read_kernel(&w->allowed, mask_bytes, p->cpus_ptr);
	if (verify)
		cpu = decide_verified(w, &t->view, waker, kind, sync);
	else
		cpu = decide(&t->view, waker, scx_bpf_now(), kind, sync);
	count_decision(bpf_get_smp_processor_id(), &w->answer);

	if (w->answer.found_idle)
		place_at_once(p, t, cpu);
	pending_begin(t, cpu);
	return (s32)cpu;
}

/* ---- queues ---- */

/* Is the CPU that @t is on too small for it? (task_fits_capacity) */
static __always_inline int misfit(const struct live_task *t)
{
	return !fits(task_util_est(the_params(), &t->view), view_of(t->cpu)->capacity);
}

/* The biggest idle CPU that @p may use, bigger than the one it is on; POLICY_NONE if there is none. */
static __noinline u32 bigger_idle_cpu(struct task_struct *p, struct live_task *t)
{
	u32 best = POLICY_NONE, most = view_of(t->cpu)->capacity, zero = 0, i;
	struct work *w = bpf_map_lookup_elem(&works, &zero);

	if (!w || bpf_probe_read_kernel(&w->allowed, mask_bytes, p->cpus_ptr))
		return POLICY_NONE;
	bpf_for(i, 0, topology.nr_cpus) {
		const struct policy_cpu *rq = view_of(i);

		if (!rq->curr_is_idle || rq->nr_running || rq->wakeup_pending ||
		    rq->capacity <= most || !mask_test(&w->allowed, i))
			continue;
		most = rq->capacity;
		best = i;
	}
	return best;
}

/* May the kernel run @p on its present CPU only? */
static __always_inline int stays(const struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 || p->migration_disabled;
}

SEC("struct_ops/alight_enqueue")
void BPF_PROG(alight_enqueue, struct task_struct *p, u64 enq_flags)
{
	const u64 slice = SLICE_NS;
	struct live_task *t = task_of(p);
	u32 cpu = (u32)scx_bpf_task_cpu(p), bigger;
	u64 least;

	if (t && topology.asym && !stays(p) && !(enq_flags & SCX(scx_enq_flags, SCX_ENQ_WAKEUP)) &&
	    misfit(t)) {
		bigger = bigger_idle_cpu(p, t);
		if (bigger != POLICY_NONE) {
			pending_begin(t, bigger);
			scx_bpf_dsq_insert(p, SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | bigger,
					   slice, enq_flags);
			return;
		}
	}
	/* A pinned kernel thread is waited for by others; the last task has no one to wait for. */
	if (!t || (stays(p) && p->flags & PF_KTHREAD) ||
	    enq_flags & SCX(scx_enq_flags, SCX_ENQ_LAST)) {
		scx_bpf_dsq_insert(p, SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL), slice, enq_flags);
		return;
	}
	if (!bpf_ksym_exists(scx_bpf_create_dsq)) {
		/* No queues of our own: all CPUs take from the kernel's. */
		scx_bpf_dsq_insert(p, stays(p) ? SCX(scx_dsq_id_flags, SCX_DSQ_LOCAL) :
						 SCX(scx_dsq_id_flags, SCX_DSQ_GLOBAL),
				   slice, enq_flags);
		return;
	}
	/* A sleeper may be ahead of the others by one slice, no more. */
	least = vtime_now - SLICE_NS;
	if ((s64)(t->vtime - least) < 0)
		t->vtime = least;
	scx_bpf_dsq_insert_vtime(p, cpu, slice, t->vtime, enq_flags);
}

static __always_inline void set_slice(struct task_struct *p, u64 slice)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice);
	else
		p->scx.slice = slice;
}

/* A task from the queue of another CPU, of this LLC (@near) or of another. */
static __noinline int pull(u32 cpu, int near)
{
	u32 llc = places[policy_bound(cpu, POLICY_MAX_CPUS)].llc, nr = topology.nr_cpus, n;

	bpf_for(n, 1, nr) {
		u32 other = cpu + n < nr ? cpu + n : cpu + n - nr;

		if ((places[policy_bound(other, POLICY_MAX_CPUS)].llc == llc) == near &&
		    scx_bpf_dsq_nr_queued(other) > 0 && scx_bpf_dsq_move_to_local(other))
			return 1;
	}
	return 0;
}

SEC("struct_ops/alight_dispatch")
void BPF_PROG(alight_dispatch, s32 cpu, struct task_struct *prev__nullable)
{
	struct task_struct *prev = prev__nullable;
	struct live_task *t;

	if (!bpf_ksym_exists(scx_bpf_create_dsq))
		return;
	if (scx_bpf_dsq_move_to_local((u64)cpu))
		return;
	if (prev && prev->scx.flags & SCX(scx_ent_flags, SCX_TASK_QUEUED)) {
		/* Alone, it goes on; or, too big for this CPU, it is enqueued elsewhere. */
		t = task_of(prev);
		if (!t || !topology.asym || stays(prev) || !misfit(t) ||
		    bigger_idle_cpu(prev, t) == POLICY_NONE)
			set_slice(prev, SLICE_NS);
		return;
	}
	if (energy_decides())
		return;
	if (!pull((u32)cpu, 1))
		pull((u32)cpu, 0);
}

SEC("struct_ops/alight_tick")
void BPF_PROG(alight_tick, struct task_struct *p)
{
	struct live_task *t = task_of(p);
	u64 now = scx_bpf_now();

	if (!t || !(t->view.flags & TASK_ON_RQ))
		return;
	view_run(t, now, RUN_ON);
	view_decay_one(now);
	energy_tick(t->cpu, now);
	cpuperf_update((u32)scx_bpf_task_cpu(p), 1);
	capacity_tick((u32)scx_bpf_task_cpu(p));
	if (topology.asym && !stays(p) && misfit(t) && bigger_idle_cpu(p, t) != POLICY_NONE)
		set_slice(p, 0);
}

/* ---- what happens to tasks and CPUs ---- */

SEC("struct_ops/alight_runnable")
void BPF_PROG(alight_runnable, struct task_struct *p, u64 enq_flags)
{
	struct live_task *t = task_of(p);
	u32 cpu = (u32)scx_bpf_task_cpu(p);

	if (!t || t->view.flags & TASK_ON_RQ)
		return;
	pending_end(t);
	task_read(t, p);
	if (t->cpu != cpu)
		view_remove(t);
	view_enqueue(t, cpu, scx_bpf_now());
	energy_enqueued(cpu);
	cpuperf_update(cpu, 0);
}

SEC("struct_ops/alight_running")
void BPF_PROG(alight_running, struct task_struct *p)
{
	struct live_task *t = task_of(p);
	u32 cpu = (u32)scx_bpf_task_cpu(p);
	u64 now = scx_bpf_now();

	if (!t || !(t->view.flags & TASK_ON_RQ))
		return;
	pending_end(t);
	if (t->cpu != cpu) {	/* moved since it was enqueued */
		view_dequeue(t, now, 0, 1);
		view_enqueue(t, cpu, now);
	}
	view_run(t, now, RUN_START);
	t->ran_from = now;
	if ((s64)(t->vtime - vtime_now) > 0)
		vtime_now = t->vtime;
}

SEC("struct_ops/alight_stopping")
void BPF_PROG(alight_stopping, struct task_struct *p, bool runnable)
{
	struct live_task *t = task_of(p);
	u64 now = scx_bpf_now();

	if (!t || !(t->view.flags & TASK_ON_RQ))
		return;
	view_run(t, now, RUN_STOP);
	if (now > t->ran_from && t->view.weight)
		t->vtime += (now - t->ran_from) * 1024 / t->view.weight;
}

SEC("struct_ops/alight_quiescent")
void BPF_PROG(alight_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct live_task *t = task_of(p);

	if (!t || !(t->view.flags & TASK_ON_RQ))
		return;
	view_dequeue(t, scx_bpf_now(), !!(deq_flags & DEQUEUE_SLEEP), 0);
}

/* Do all threads of this CPU's core idle? Then the scan for a whole core may succeed again. */
static __noinline int note_idle_core(u32 cpu)
{
	const struct policy_place *place = &places[policy_bound(cpu, POLICY_MAX_CPUS)];
	const struct policy_domain *core;
	u32 sibling = 0, nr = topology.nr_cpus, n;

	if (place->smt_domain == POLICY_NONE)
		return 0;
	core = &domains[policy_bound(place->smt_domain, POLICY_MAX_DOMAINS)];
	bpf_for(n, 0, 8) {		/* SMT8 at most */
		sibling = mask_next_and(&core->span, &core->span, sibling, nr);
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
	view_idle((u32)cpu, scx_bpf_now(), idle);
	if (idle)
		cpuperf_update((u32)cpu, 1);
	if (idle && topology.smt)
		note_idle_core((u32)cpu);
}

/* ---- lives of tasks and of the scheduler ---- */

SEC("struct_ops.s/alight_init_task")
s32 BPF_PROG(alight_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct live_task *t = bpf_task_storage_get(&tasks, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		return -ENOMEM;
	t->view.id = (u32)p->pid;
	t->view.last_wakee = POLICY_NONE;
	t->view.uclamp_max = CAPACITY_SCALE;
	t->view.prev_cpu = t->view.recent_cpu = t->cpu = (u32)scx_bpf_task_cpu(p);
	t->pending_cpu = POLICY_NONE;
	t->vtime = vtime_now;
	t->fresh = 1;
	task_read(t, p);
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
	view_remove(t);
}

/* A queue a CPU; its number is the CPU's. */
SEC("struct_ops.s/alight_init")
s32 BPF_PROG(alight_init)
{
	u32 cpu;
	s32 err;

	cpuperf_begin();
	if (!bpf_ksym_exists(scx_bpf_create_dsq))
		return 0;
	bpf_for(cpu, 0, topology.nr_cpus) {
		err = scx_bpf_create_dsq(cpu, -1);
		if (err)
			return err;
	}
	return 0;
}

SEC("struct_ops/alight_exit")
void BPF_PROG(alight_exit, struct scx_exit_info *info)
{
	ended.code = info->exit_code;
	bpf_probe_read_kernel_str(ended.reason, sizeof(ended.reason), info->reason);
	bpf_probe_read_kernel_str(ended.message, sizeof(ended.message), info->msg);
	ended.kind = info->kind;
}

/*
 * The kernel reports only changes between idle and busy. CPUs that are idle
 * when the scheduler starts are found by this, which the loader runs once. An
 * idle CPU that just now gets a task corrects itself when the task starts.
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
	.runnable = (void *)alight_runnable,
	.running = (void *)alight_running,
	.stopping = (void *)alight_stopping,
	.quiescent = (void *)alight_quiescent,
	.update_idle = (void *)alight_update_idle,
	.init_task = (void *)alight_init_task,
	.disable = (void *)alight_disable,
	.init = (void *)alight_init,
	.exit = (void *)alight_exit,
	.flags = SCX_OPS_ENQ_LAST,
	.name = "alight",
};
