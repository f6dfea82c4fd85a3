// SPDX-License-Identifier: GPL-2.0-only
/*
 * fair.c - what src/bpf/fair.h promises, on the host
 *
 * A specification by examples, then random lives of tasks against a reference
 * in 128 bits. Ends with status 0 and the number of checks, or says what broke.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../src/bpf/fair.h"

#define MS	1000000ull
#define TICK	(4 * MS)
#define SLICE	(28 * MS / 10)
#define SCHED_IDLE_WEIGHT 3
#define MAX_TASKS 16

static unsigned long checks;

#define CHECK(condition, ...) do {						\
	checks++;								\
	if (!(condition)) {							\
		printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);		\
		printf(__VA_ARGS__);						\
		printf("\n");							\
		exit(1);							\
	}									\
} while (0)

struct task {
	struct fair_entity e;
	u32 weight;
	u64 ran;
	int queued;
};

static struct task a_task(u32 weight, u64 slice)
{
	struct task t = { .weight = weight };

	t.e.slice = slice;
	t.e.fresh = 1;
	return t;
}

/* Nobody runs when this is called. */
static void join(struct fair_queue *q, struct task *t)
{
	fair_join(q, &t->e, t->weight, 1, 0);
	t->queued = 1;
}

static void leave(struct fair_queue *q, struct task *t, int keeps)
{
	fair_leave(q, &t->e, keeps, TICK, 0);
	t->queued = 0;
}

/* What queue.h does: of those that wait, the earliest deadline. */
static struct task *next(struct task *tasks, int nr)
{
	struct task *best = NULL;

	for (int i = 0; i < nr; i++)
		if (tasks[i].queued &&
		    (!best || (s64)(tasks[i].e.deadline - best->e.deadline) < 0))
			best = &tasks[i];
	return best;
}

static void run(struct fair_queue *q, struct task *t, u64 *now, u64 time)
{
	fair_starts(q, &t->e, 0, *now);
	*now += time;
	t->ran += time;
	fair_charge(q, &t->e, *now);
	fair_stops(q);
}

/* Each hog gets its weight's part of the CPU, to within two turns. */
static void shares_follow_weights(void)
{
	static const u32 cases[][4] = {
		{ 1024, 1024, 1024, 0 },
		{ 1024, 335, 0, 0 },			/* nice 0 and 5 */
		{ 88761, 1024, 15, 0 },			/* nice -20, 0 and 19 */
		{ 1024, SCHED_IDLE_WEIGHT, 0, 0 },
		{ 3072, 512, 512, 0 },			/* groups of weight 300 and 100 */
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct fair_queue q = { 0 };
		struct task tasks[4];
		u64 now = 1, total = 600000 * MS, sum = 0;
		int nr = 0;

		for (; nr < 4 && cases[c][nr]; nr++) {
			tasks[nr] = a_task(cases[c][nr], SLICE);
			join(&q, &tasks[nr]);
			sum += tasks[nr].weight;
		}
		while (now < total)
			run(&q, next(tasks, nr), &now, TICK);
		for (int i = 0; i < nr; i++) {
			s64 owed = (s64)(total / sum * tasks[i].weight);
			s64 off = (s64)tasks[i].ran - owed;
			s64 turn = (s64)(2 * (TICK + SLICE));

			CHECK(off <= turn && off >= -turn, "case %zu task %d: %ld of %ld", c, i,
			      (long)tasks[i].ran, (long)owed);
		}
	}
}

/* Who sleeps a lot is not owed more than a slice and a tick for it when it wakes. */
static void sleep_is_not_saved_up(void)
{
	struct fair_queue q = { 0 };
	struct task hog = a_task(1024, SLICE), sleeper = a_task(1024, SLICE);
	u64 now = 1;

	join(&q, &hog);
	join(&q, &sleeper);
	run(&q, &hog, &now, 20 * MS);
	leave(&q, &sleeper, 0);
	CHECK(sleeper.e.lag > 0 && (u64)sleeper.e.lag <= SLICE + TICK, "%ld", (long)sleeper.e.lag);
	run(&q, &hog, &now, 10000 * MS);
	join(&q, &sleeper);
	leave(&q, &sleeper, 0);
	CHECK((u64)sleeper.e.lag <= SLICE + TICK, "%ld", (long)sleeper.e.lag);
}

/* Who leaves in debt pays it while others run, and is not owed anything for that. */
static void debt_is_paid_while_asleep(void)
{
	struct fair_queue q = { 0 };
	struct task hog = a_task(1024, SLICE), debtor = a_task(1024, SLICE);
	u64 now = 1;

	join(&q, &hog);
	join(&q, &debtor);
	run(&q, &debtor, &now, 4 * MS);
	leave(&q, &debtor, 0);
	CHECK(debtor.e.lag == -(s64)(2 * MS), "%ld", (long)debtor.e.lag);
	run(&q, &hog, &now, MS);
	join(&q, &debtor);
	CHECK(debtor.e.vruntime - hog.e.vruntime == 3 * MS, "%ld",
	      (long)(debtor.e.vruntime - hog.e.vruntime));
	leave(&q, &debtor, 0);
	run(&q, &hog, &now, 100 * MS);
	join(&q, &debtor);
	CHECK(fair_now(&q, 0) == debtor.e.vruntime, "%ld", (long)(fair_now(&q, 0) - debtor.e.vruntime));
}

/* What moves to another CPU keeps its lag and the rest of its slice. */
static void a_move_keeps_lag_and_deadline(void)
{
	struct fair_queue from = { 0 }, to = { .zero = 77777 * MS };
	struct task tasks[3] = { a_task(1024, SLICE), a_task(1024, SLICE), a_task(2048, SLICE) };
	u64 now = 1, rest;
	s64 lag;

	join(&from, &tasks[0]);
	join(&from, &tasks[1]);
	join(&to, &tasks[2]);
	run(&from, &tasks[1], &now, MS);
	lag = (s64)(fair_now(&from, 0) - tasks[1].e.vruntime);
	rest = tasks[1].e.deadline - tasks[1].e.vruntime;
	leave(&from, &tasks[1], 1);
	fair_join(&to, &tasks[1].e, 1024, 0, 0);
	CHECK((s64)(fair_now(&to, 0) - tasks[1].e.vruntime) - lag <= 1 &&
	      (s64)(fair_now(&to, 0) - tasks[1].e.vruntime) - lag >= -1, "lag %ld", (long)lag);
	CHECK(tasks[1].e.deadline - tasks[1].e.vruntime == rest, "rest %lu", (unsigned long)rest);
}

/* When a woken task runs before the running one, whose last tick was just now or long ago. */
static void preemption(int charged)
{
	static const struct {
		const char *name;
		u64 ran, slice;
		s64 lag;
		int preempts;
	} cases[] = {
		{ "the running task has not had its slice", MS, SLICE, 0, 0 },
		{ "nor that, but the woken one is owed time", MS, SLICE, MS, 1 },
		{ "the woken one had too much", MS, SLICE, -(s64)MS, 0 },
		{ "the running task has had its slice", SLICE + MS, SLICE, 0, 1 },
		{ "and the woken one too much", SLICE + MS, SLICE, -(s64)MS, 0 },
		{ "the woken task asks for less", MS, MS / 10, 0, 1 },
		{ "for less, and the running one has not run yet", 0, SLICE - 1, 0, 1 },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct fair_queue q = { 0 };
		struct task curr = a_task(1024, SLICE), woken = a_task(1024, cases[c].slice);
		u64 now = 1;

		curr.e.fresh = 0;
		woken.e.fresh = 0;
		woken.e.lag = cases[c].lag;
		woken.e.weight = 1024;
		join(&q, &curr);
		fair_starts(&q, &curr.e, 0, now);
		now += cases[c].ran;
		if (charged)
			fair_charge(&q, &curr.e, now);
		fair_join(&q, &woken.e, woken.weight, 0, now);
		CHECK(fair_preempts(&q, &woken.e, now) == cases[c].preempts, "%s, charged %d", cases[c].name, charged);
	}
}

/* What is left of a turn is time on the CPU, whatever the task weighs (a virtual ns is up to 87 ns). */
static void a_turn_lasts_a_slice(void)
{
	static const u32 weights[] = { 15, 1024, 88761 };

	for (size_t w = 0; w < sizeof(weights) / sizeof(*weights); w++) {
		struct fair_queue q = { 0 };
		struct task t = a_task(weights[w], SLICE);
		u64 now = 1, rest;

		CHECK(!fair_turn_rest(&q, now), "nobody runs");
		t.e.fresh = 0;
		join(&q, &t);
		fair_starts(&q, &t.e, 0, now);
		for (u64 ran = 0; ran < SLICE; ran += SLICE / 7) {
			rest = fair_turn_rest(&q, now + ran);
			CHECK(rest <= SLICE - ran + 100 && rest + 100 >= SLICE - ran, "%u after %lu: %lu", weights[w], (unsigned long)ran, (unsigned long)rest);
		}
		CHECK(!fair_turn_rest(&q, now + SLICE), "%u: it is over", weights[w]);
		fair_charge(&q, &t.e, now + SLICE / 2);
		rest = fair_turn_rest(&q, now + SLICE / 2);
		CHECK(rest <= SLICE / 2 + 100 && rest + 100 >= SLICE / 2, "%u charged: %lu", weights[w], (unsigned long)rest);
	}
}

/* sched_yield() gives up the rest of the slice, so that the other goes first. */
static void yield_lets_others_first(void)
{
	struct fair_queue q = { 0 };
	struct task tasks[2] = { a_task(1024, SLICE), a_task(1024, SLICE) };
	u64 now = 1;

	join(&q, &tasks[0]);
	join(&q, &tasks[1]);
	fair_starts(&q, &tasks[0].e, 0, now);
	fair_yield(&q, &tasks[0].e, now);
	fair_stops(&q);
	CHECK(next(tasks, 2) == &tasks[1], "the one that yielded goes on");
	CHECK(!fair_eligible(&q, &tasks[0].e, 0), "and is owed time");
}

/* A task is in no hurry for what its group gives it later. */
static void a_new_weight_keeps_what_is_owed(void)
{
	struct fair_queue q = { 0 };
	struct task tasks[2] = { a_task(1024, SLICE), a_task(1024, SLICE) };
	u64 now = 1;
	s64 before, after;

	join(&q, &tasks[0]);
	join(&q, &tasks[1]);
	run(&q, &tasks[0], &now, 2 * MS);
	before = (s64)(fair_now(&q, 0) - tasks[0].e.vruntime) * 1024;
	fair_reweigh(&q, &tasks[0].e, 256, TICK, 0);
	after = (s64)(fair_now(&q, 0) - tasks[0].e.vruntime) * 256;
	CHECK(llabs(before - after) <= 4096, "%ld %ld", (long)before, (long)after);
	CHECK(q.weight == 1024 + 256, "%lu", (unsigned long)q.weight);
}

static u64 random_state;

static u64 random_below(u64 end)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % end;
}

/* The mean of the vruntimes, exactly. */
static u64 mean(const struct task *tasks, int nr, u64 near)
{
	__int128 sum = 0, weight = 0;

	for (int i = 0; i < nr; i++)
		if (tasks[i].queued) {
			sum += (__int128)(s64)(tasks[i].e.vruntime - near) * tasks[i].e.weight;
			weight += tasks[i].e.weight;
		}
	if (!weight)
		return near;
	if (sum < 0)
		sum -= weight - 1;
	return near + (u64)(s64)(sum / weight);
}

/* V is the exact mean after any life of any tasks, for all slices and weights that there are. */
static void virtual_time_is_exact(u64 seed)
{
	static const u32 weights[] = { 2, 3, 15, 335, 1024, 9548, 88761, 102400 };
	struct fair_queue q = { .zero = seed << 32 };
	struct task tasks[MAX_TASKS];
	u64 now = 1;

	random_state = seed;
	for (int i = 0; i < MAX_TASKS; i++)
		tasks[i] = a_task(weights[random_below(8)], MS / 10 + random_below(100 * MS));
	for (int step = 0; step < 4000; step++) {
		struct task *t = &tasks[random_below(MAX_TASKS)];
		u64 before = fair_now(&q, 0);

		if (!t->queued)
			join(&q, t);
		else if (random_below(4) == 0)
			leave(&q, t, (int)random_below(2));
		else if (random_below(8) == 0)
			fair_reweigh(&q, &t->e, weights[random_below(8)], TICK, 0);
		else
			run(&q, t, &now, random_below(10 * MS));
		CHECK(!q.weight || fair_now(&q, 0) == mean(tasks, MAX_TASKS, before),
		      "seed %lu step %d", (unsigned long)seed, step);
	}
}

int main(void)
{
	shares_follow_weights();
	sleep_is_not_saved_up();
	debt_is_paid_while_asleep();
	a_move_keeps_lag_and_deadline();
	preemption(0);
	preemption(1);
	a_turn_lasts_a_slice();
	yield_lets_others_first();
	a_new_weight_keeps_what_is_owed();
	for (u64 seed = 1; seed <= 50; seed++)
		virtual_time_is_exact(seed);
	printf("%lu checks\n", checks);
	return 0;
}
