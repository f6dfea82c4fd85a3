// SPDX-License-Identifier: GPL-2.0-only
/*
 * order.c - src/bpf/fair.h and what src/bpf/queue.h does with it, told what happens
 *
 * The simulator's EEVDF is held against it (crates/sim/src/queues/fair/eevdf/against_live.rs),
 * which writes a line for each event, and what it chose itself. Each question is
 * answered by a line. Time is in ns.
 *
 *	J task weight	wakes and joins
 *	K task		-> does it take the CPU from the running one? (queue_start)
 *	R ns		the running one runs -> has it had its turn?
 *	Y		it yields
 *	W weight	its weight changes
 *	S		it goes to sleep
 *	P task		-> who runs next, and is that one owed time? (queue_pick); then @task runs
 */
#include <stdio.h>

#include "../src/bpf/fair.h"

#define TASKS	16
#define NONE	(-1)

static struct fair_queue q;
static struct fair_entity entities[TASKS];
static int waits[TASKS];	/* since which event; 0: it does not */
static int inserted;
static int curr = NONE;
static u64 now = 1, tick, slice;

/* Of those that wait, the earliest deadline: the order of the queue; of equals the first. */
static int first_of_queue(int but)
{
	int best = NONE;

	for (int i = 0; i < TASKS; i++) {
		s64 later;

		if (!waits[i] || i == but)
			continue;
		later = best == NONE ? -1 : (s64)(entities[i].deadline - entities[best].deadline);
		if (later < 0 || (!later && waits[i] < waits[best]))
			best = i;
	}
	return best;
}

/* queue_pick() */
static int pick(void)
{
	int first = first_of_queue(NONE);

	if (curr == NONE || first == NONE)
		return first == NONE ? curr : first;
	if (fair_eligible(&q, &entities[curr], now) &&
	    (s64)(entities[curr].deadline - entities[first].deadline) < 0)
		return curr;
	return first;
}

/* queue_start(), queue_prefers() */
static int takes_cpu(int task)
{
	int first = first_of_queue(task);

	if (!fair_preempts(&q, &entities[task], now))
		return 0;
	if (first == NONE || (s64)(entities[first].deadline - entities[task].deadline) >= 0)
		return 1;
	return !fair_eligible(&q, &entities[first], now);
}

static void run(int task)
{
	fair_stops(&q);
	if (curr != NONE)
		waits[curr] = ++inserted;
	curr = task;
	waits[task] = 0;
	fair_starts(&q, &entities[task], 0, now);
}

int main(void)
{
	long long number;
	unsigned weight;
	char event;
	int task;

	if (scanf("%llu %llu", (unsigned long long *)&tick, (unsigned long long *)&slice) != 2)
		return 1;
	for (task = 0; task < TASKS; task++)
		entities[task].slice = slice;
	while (scanf(" %c", &event) == 1) {
		switch (event) {
		case 'J':
			if (scanf("%d %u", &task, &weight) != 2)
				return 1;
			fair_join(&q, &entities[task], weight, 1, now);
			waits[task] = ++inserted;
			break;
		case 'K':
			if (scanf("%d", &task) != 1)
				return 1;
			printf("%d\n", takes_cpu(task));
			break;
		case 'R':
			if (scanf("%lld", &number) != 1)
				return 1;
			now += (u64)number;
			printf("%d\n", fair_charge(&q, &entities[curr], now));
			break;
		case 'Y':
			fair_yield(&q, &entities[curr], now);
			break;
		case 'W':
			if (scanf("%u", &weight) != 1)
				return 1;
			fair_reweigh(&q, &entities[curr], weight, tick, now);
			/* It goes on unprotected, if it does (set_next_task_fair: not the first time). */
			fair_starts(&q, &entities[curr], 0, now);
			q.curr_protected = q.curr_vruntime;
			break;
		case 'S':
			fair_stops(&q);
			fair_leave(&q, &entities[curr], 0, tick, now);
			curr = NONE;
			break;
		case 'P':
			if (scanf("%d", &task) != 1)
				return 1;
			number = pick();
			printf("%lld %d\n", number, number != NONE && fair_eligible(&q, &entities[number], now));
			if (task != curr)
				run(task);
			break;
		default:
			return 1;
		}
	}
	return 0;
}
