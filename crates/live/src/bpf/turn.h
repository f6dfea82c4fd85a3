/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn.h - ends a turn when it is over, not at a tick, if a task waits
 *
 * The kernel looks at a task's slice at ticks only. A task that wakes and may
 * not run at once would wait for the first tick after the running one has had
 * its slice, 4 ms more at 250 Hz; fair.c has a timer for it (hrtick_start_fair(),
 * on by default in 7.2). Here a CPU's timer starts when a woken task has to wait,
 * and goes on from turn to turn as long as a task waits.
 */
#ifndef ALIGHT_LIVE_TURN_H
#define ALIGHT_LIVE_TURN_H

#include "kernel_has.h"
#include "stats.h"
#include "views.h"

/* A shorter timer would hardly fire sooner. After a turn ended, the next task runs by then. */
#define TURN_LEAST_NS	50000ull

/* A longer timer would keep out shorter ones that are needed meanwhile; ticks end such turns. */
#define TURN_MOST_NS	20000000ull

struct turn {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, POLICY_MAX_CPUS);
	__type(key, u32);
	__type(value, struct turn);
} turns SEC(".maps");

/* When the timer of a CPU is due. If that is past, no timer runs, or it was lost. */
u64 turn_due[POLICY_MAX_CPUS];

static __always_inline u64 *turn_due_of(u32 cpu)
{
	return &turn_due[policy_bound(cpu, POLICY_MAX_CPUS)];
}

/* With PREEMPT_RT, where a spinlock is a mutex, programs may not have timers. */
struct spinlock___rt {
	struct rt_mutex_base {
		int unused;
	} lock;
} __attribute__((preserve_access_index));

static __always_inline int timers_work(void)
{
	return !bpf_core_field_exists(((struct spinlock___rt *)0)->lock);
}

/* Do timers end turns? Where tasks wait in the order of arrival, or kicks are missing, ticks do. */
static __always_inline int turns_timed(void)
{
	return own_queues() && can_kick() && timers_work();
}

/*
 * Starts the timer of @cpu for the rest of the running task's turn. If nothing is left,
 * the turn ends now, and the timer is for the next turn. It is called under the
 * runqueue's lock, and by the timer without it: then what it reads may be a moment old.
 */
static __noinline int turn_time(struct turn *t, u32 cpu, u64 now)
{
	u64 rest = fair_turn_rest(queue_of(cpu), now);

	if (here_is_off())
		return 0;	/* a tick ends the turn */
	if (!rest) {
		stats_of(bpf_get_smp_processor_id())->timed++;
		scx_bpf_kick_cpu((s32)cpu, SCX(scx_kick_flags, SCX_KICK_PREEMPT));
	}
	if (rest > TURN_MOST_NS)
		return 0;
	if (rest < TURN_LEAST_NS)
		rest = TURN_LEAST_NS;
	*turn_due_of(cpu) = now + rest;
	/* On some kernels it needs memory, and can fail. */
	if (bpf_timer_start(&t->timer, rest, 0))
		*turn_due_of(cpu) = 0;
	return 0;
}

/* The timer of @cpu. */
static int turn_ends(void *map, u32 *cpu, struct turn *t)
{
	*turn_due_of(*cpu) = 0;
	if (view_of(*cpu)->offline)	/* its task goes on: OFFLINE_NS */
		return 0;
	if (queue_of(*cpu)->curr_weight && view_of(*cpu)->nr_running > 1)
		turn_time(t, *cpu, scx_bpf_now());
	return 0;
}

static __noinline int turn_begin(u32 cpu, u64 now)
{
	struct turn *t = bpf_map_lookup_elem(&turns, &cpu);

	if (t)
		turn_time(t, cpu, now);
	return 0;
}

/* A woken task waits for @cpu, where another task of this scheduler runs. */
static __always_inline void turn_awaited(u32 cpu, u64 now)
{
	if (turns_timed() && (s64)(now - *turn_due_of(cpu)) >= 0)
		turn_begin(cpu, now);
}

static __noinline int turns_begin(void)
{
	struct turn *t;
	int err = 0;
	u32 cpu;

	if (!turns_timed())
		return 0;
	bpf_for(cpu, 0, topology.nr_cpus) {
		t = bpf_map_lookup_elem(&turns, &cpu);
		if (!t)
			break;
		err = bpf_timer_init(&t->timer, &turns, CLOCK_MONOTONIC);
		if (!err)
			err = bpf_timer_set_callback(&t->timer, turn_ends);
		if (err)
			break;
	}
	return err;
}

#endif
