/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * balance.h - moves tasks to CPUs that have room
 *
 *	pull		a CPU without tasks takes one that waits elsewhere, from
 *			near CPUs first (newidle balancing)
 *	spread		a tick on a CPU where tasks wait wakes an idle CPU, which
 *			pulls (nohz_balancer_kick)
 *	misfit		a running task that its CPU is too small for goes to an
 *			idle bigger CPU (check_misfit_status)
 *	packing		tasks of a CPU that takes no part in packing go to its buddy
 *	balance		at some ticks a busy CPU takes a task from a CPU with more
 *			load for its capacity (rebalance_domains), first from one
 *			that another class has. Now and then it takes a task even
 *			if that makes it the fuller of the two, so that all tasks
 *			have a CPU to themselves in turn (nr_balance_failed)
 *
 * Only pull and spread keep CPUs busy; balance keeps turns fair across CPUs.
 * On kernels where CPUs cannot be woken to pull, a task is sent when its turn ends.
 */
#ifndef ALIGHT_LIVE_BALANCE_H
#define ALIGHT_LIVE_BALANCE_H

#include "decide.h"
#include "packing.h"
#include "queue.h"
#include "stats.h"
#include "views.h"

/* How often a busy CPU looks for a busier one; every BALANCE_FAR-th time beyond its cache. */
#define BALANCE_NS	16000000ull
#define BALANCE_FAR	4
/* Interval, per cache, at which a task may move although that does not balance loads. */
#define ROTATE_NS	64000000ull

/* The state of a CPU. CPU numbers here are plus one; 0 is none. */
struct balance {
	u64 at;			/* when it looks again */
	u32 rounds;		/* how often it has looked */
	u32 from;		/* the CPU to take a task from */
	u32 in_vain;		/* it had no task to take last time: left out once */
	u32 unused;
};

struct balance balances[POLICY_MAX_CPUS];
/* When a task of each cache was rotated last (rotates()). */
u64 rotated[POLICY_MAX_CPUS];

static __always_inline struct balance *balance_of(u32 cpu)
{
	return &balances[policy_bound(cpu, POLICY_MAX_CPUS)];
}

static __always_inline int near_cpus(u32 a, u32 b)
{
	return places[policy_bound(a, POLICY_MAX_CPUS)].llc ==
	       places[policy_bound(b, POLICY_MAX_CPUS)].llc;
}

/* Is the CPU that @t is on too small for it? (task_fits_capacity) */
static __always_inline int misfit(const struct live_task *t)
{
	return !task_fits_view(the_params(), &t->view, view_of(t->cpu));
}

/* An idle CPU that no task is on its way to, and that may be woken. */
static __always_inline int is_free(u32 cpu)
{
	const struct policy_cpu *rq = view_of(cpu);

	return rq->curr_is_idle && !rq->nr_running && !rq->ttwu_pending && !rq->offline &&
	       takes_tasks(cpu);
}

/*
 * The biggest idle CPU that @p may use and that has more than @capacity; of equals
 * one in this cache. POLICY_NONE if there is none.
 */
static __noinline u32 free_cpu(struct task_struct *p, u32 here, u32 capacity)
{
	u32 best = POLICY_NONE, most = capacity, i;
	struct work *w = bpf_map_lookup_elem(&works, &only);

	if (!w || bpf_probe_read_kernel(&w->allowed, mask_bytes, p->cpus_ptr))
		return POLICY_NONE;
	bpf_for(i, 0, topology.nr_cpus) {
		u32 has = view_of(i)->capacity;

		best = policy_hide(best);
		most = policy_hide(most);
		if (!is_free(i) || has < most || (has == most && best != POLICY_NONE &&
						  !near_cpus(i, here)) ||
		    has <= capacity || !policy_mask_test(&w->allowed, i))
			continue;
		most = has;
		best = i;
	}
	return best;
}

/* The idle CPU nearest to @here, whatever tasks may use it; POLICY_NONE if there is none. */
static __noinline u32 nearest_free(u32 here)
{
	u32 best = POLICY_NONE, i;

	bpf_for(i, 0, topology.nr_cpus) {
		best = policy_hide(best);
		if (!is_free(i))
			continue;
		best = i;
		if (near_cpus(i, here))
			break;
	}
	return best;
}

/*
 * The CPU with the most load for its capacity among those where tasks wait, except @but;
 * POLICY_NONE if there is none. A CPU that another class has counts as capacity 1
 * (scale_rt_capacity).
 */
static __noinline u32 busiest(u32 here, u32 but, int near, u64 now)
{
	u32 best = POLICY_NONE, load = 0, capacity = 1, i;

	bpf_for(i, 0, topology.nr_cpus) {
		const struct policy_cpu *rq = view_of(i);
		u32 left;

		best = policy_hide(best);
		load = policy_hide(load);
		capacity = policy_hide(capacity);
		if (i == here || i == but || !waiting_on(i) || (near && !near_cpus(i, here)))
			continue;
		left = taken(i, now) ? 1 : rq->capacity;
		if ((u64)rq->weight * capacity <= (u64)load * left)
			continue;
		load = rq->weight;
		capacity = left;
		best = i;
	}
	return best;
}

/* Takes a task that waits for a CPU of this cache (@near), or for any CPU. */
static __noinline int pull_from(u32 cpu, int near)
{
	u32 nr = topology.nr_cpus, most = busiest(cpu, POLICY_NONE, near, scx_bpf_now()), n;

	if (most == POLICY_NONE)
		return 0;
	if (queue_take(most))
		return 1;
	/* Its tasks may not run here; those of other CPUs may. */
	bpf_for(n, 1, nr) {
		u32 other = cpu + n < nr ? cpu + n : cpu + n - nr;

		if (other != most && waiting_on(other) && (!near || near_cpus(cpu, other)) &&
		    queue_take(other))
			return 1;
	}
	return 0;
}

/* @cpu has no task: takes one that waits elsewhere. */
static __noinline int pull(u32 cpu)
{
	if (!overloaded || !takes_tasks(cpu))
		return 0;
	if (pull_from(cpu, 1) || pull_from(cpu, 0)) {
		stats_of(cpu)->pulled_idle++;
		return 1;
	}
	/* If tasks wait that may not run here, other CPUs must look too. */
	if (busiest(cpu, POLICY_NONE, 0, scx_bpf_now()) == POLICY_NONE)
		overloaded = 0;
	return 0;
}

/* Can an idle CPU be woken to take a task that waits for another CPU? */
static __always_inline int idle_cpus_pull(void)
{
	return own_queues() && can_kick();
}

/*
 * @cpu idles although a task has waited for it for long: kicks it again. The first kick can
 * be lost when a CPU comes or goes, because the kernel knows that earlier than the view and
 * puts tasks aside (OFFLINE_NS).
 */
static __always_inline void remind(u32 cpu, u64 now)
{
	const struct policy_cpu *rq = view_of(cpu);

	if (!rq->nr_running || !idle_for(cpu, now, TAKEN_NS))
		return;
	stats_of(cpu)->reminded++;
	look_again(cpu);
}

/*
 * A task waits for @cpu: wakes an idle CPU to take it. @p: the task, or NULL for any.
 */
static __noinline int spread(u32 cpu, struct task_struct *p)
{
	u32 idle;

	if (!idle_cpus_pull() || !waiting_on(cpu))
		return 0;
	if (!overloaded)
		overloaded = 1;
	idle = p ? free_cpu(p, cpu, 0) : nearest_free(cpu);
	if (idle == POLICY_NONE)
		return 0;
	stats_of(cpu)->spread++;
	look_again(idle);
	return 0;
}

/* Would @from still have at least the load of @to after a task of mean weight moved there? */
static __always_inline int worth_moving(u32 from, u32 to, u64 now)
{
	const struct policy_cpu *source = view_of(from), *sink = view_of(to);
	u64 task = source->nr_running ? source->weight / source->nr_running : 0;

	if (taken(from, now))
		return 1;
	return source->nr_running > 1 && (source->weight - task) * sink->capacity >=
					       (sink->weight + task) * source->capacity;
}

/*
 * Is @from fuller than @to, and has no task of this cache been rotated for ROTATE_NS? By
 * rotation two hogs that share a CPU take turns with hogs that have a CPU each.
 */
static __always_inline int rotates(u32 from, u32 to, u64 now)
{
	const struct policy_cpu *source = view_of(from), *sink = view_of(to);
	u32 llc = places[policy_bound(to, POLICY_MAX_CPUS)].llc;
	u64 *last = &rotated[policy_bound(llc, POLICY_MAX_CPUS)];

	if (source->nr_running < 2 || (s64)(now - *last) < (s64)ROTATE_NS ||
	    source->weight * sink->capacity <= sink->weight * source->capacity)
		return 0;
	*last = now;
	return 1;
}

/* At a tick: should @cpu take a task from a busier CPU at its next dispatch()? */
static __noinline int balance_tick(u32 cpu, u64 now)
{
	struct balance *b = balance_of(cpu);
	u32 from;

	if ((s64)(now - b->at) < 0 || !takes_tasks(cpu))
		return 0;
	/*
	 * The random part keeps CPUs from looking in the same tick. It also changes which of two
	 * CPUs looks first: otherwise one CPU would get every rotation of its cache.
	 */
	b->at = now + BALANCE_NS + (u64)(bpf_get_prandom_u32() % 16) * 1000000;
	b->rounds++;
	from = busiest(cpu, b->in_vain - 1, b->rounds % BALANCE_FAR != 0, now);
	b->in_vain = 0;
	if (from == POLICY_NONE || (!worth_moving(from, cpu, now) && !rotates(from, cpu, now)))
		return 0;
	b->from = from + 1;
	return 1;
}

/* Takes the task that balance_tick() decided on. */
static __always_inline int balance_take(u32 cpu)
{
	struct balance *b = balance_of(cpu);
	u32 from = b->from;

	b->from = 0;
	if (!from || !waiting_on(from - 1))
		return 0;
	if (!queue_take(from - 1)) {
		b->in_vain = from;
		return 0;
	}
	stats_of(cpu)->pulled_balance++;
	return 1;
}

/*
 * The CPU to which @p, which runs here or waits after a turn, should go; POLICY_NONE: it
 * stays. At a tick this ends its turn, and it is sent when it is queued again.
 */
static __noinline u32 better_cpu(struct task_struct *p, struct live_task *t)
{
	u32 cpu = t->cpu, buddy = packs_on(cpu);

	if (stays(p))
		return POLICY_NONE;
	if (buddy != POLICY_NONE && may_run(p, buddy))
		return buddy;
	if (topology.asym && misfit(t))
		return free_cpu(p, cpu, view_of(cpu)->capacity);
	if (!idle_cpus_pull() && view_of(cpu)->nr_running > 1)
		return free_cpu(p, cpu, 0);
	return POLICY_NONE;
}

/* @t is sent to @to, by better_cpu(). */
static __always_inline void count_sent(const struct live_task *t, u32 to)
{
	struct cpu_stats *s = stats_of(t->cpu);

	if (packs() && view_of(t->cpu)->buddy == to)
		s->packed++;
	else if (topology.asym && misfit(t))
		s->misfit++;
	else
		s->spread++;
}

#endif
