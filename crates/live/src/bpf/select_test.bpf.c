// SPDX-License-Identifier: GPL-2.0-only
/*
 * select_test.bpf.c - the decision alone, run by BPF_PROG_TEST_RUN
 *
 * The loader writes a machine and a list of questions into the program's
 * variables; one call answers them in order. What a decision writes into CPU
 * views and search states stays for the next one, as in a scheduler. Nothing
 * of the running kernel is read or changed.
 */
#include "kernel.h"
#include "policy/select.h"
#include "select_test.h"

char _license[] SEC("license") = "GPL";

/*
 * Set before the program is loaded, as the scheduler's are: the verifier
 * removes what this scheduler and machines of this kind do not have.
 */
const volatile struct policy_params params;
const volatile struct policy_topology topology;

/* The machine. */
struct policy_domain domains[POLICY_MAX_DOMAINS];
struct policy_group groups[POLICY_MAX_GROUPS];
struct policy_place places[POLICY_MAX_CPUS];
struct policy_cpu cpus[POLICY_MAX_CPUS];
struct policy_llc llcs[POLICY_MAX_CPUS];
u32 nr_llcs;
struct policy_perf_domain perf[POLICY_MAX_PERF_DOMAINS];
u32 nr_perf;

/* The questions. */
struct question questions[MAX_QUESTIONS];
u32 nr_questions;
u32 nr_answered;

struct policy_scratch scratch;

/* A constant of the loader, without the `volatile` that keeps the compiler from folding it. */
#define CONSTANT(type, object) ({				\
	const type *__p = (const type *)&(object);		\
	asm volatile("" : "+r"(__p));				\
	__p;							\
})

/*
 * Answers one question. The function is global, so that the verifier follows it once.
 * It is flattened, because its frame and its callees' share 512 bytes.
 */
__attribute__((noinline, flatten)) u32 decide(struct question *q __arg_nonnull)
{
	struct policy_ctx c = {
		.k = CONSTANT(struct policy_params, params),
		.topo = CONSTANT(struct policy_topology, topology),
		.domain = domains,
		.place = places,
		.group = groups,
		.llc = llcs,
		.cpu = cpus,
		.p = &q->wakee,
		.cur = &q->waker,
		.allowed = &q->allowed,
		.perf = perf,
		.scratch = &scratch,
		.answer = &q->answer,
		.now = q->now,
		.this_cpu = q->this_cpu,
		.prev_cpu = q->wakee.prev_cpu,
		.kind = q->kind,
		.sync = q->sync,
		.flags = q->flags,
		.nr_perf = nr_perf,
		.root = q->root,
	};

	return policy_select(&c);
}

/* Applies the changes of the machine before this question. */
static __noinline int change_machine(const struct question *q)
{
	u32 i;

	bpf_for(i, 0, q->nr_changes) {
		const struct cpu_change *change = &q->changes[policy_bound(i, MAX_CHANGES)];

		cpus[policy_bound(change->cpu, POLICY_MAX_CPUS)] = change->view;
	}
	if (q->llc != POLICY_NONE)
		llcs[policy_bound(q->llc, POLICY_MAX_CPUS)] = q->llc_view;
	if (q->group != POLICY_NONE)
		groups[policy_bound(q->group, POLICY_MAX_GROUPS)].imbalance = q->imbalance;
	return 0;
}

/* One number for all search states; the loader computes the same. */
static __noinline u64 sum_of_states(void)
{
	u64 sum = 0;
	u32 i;

	bpf_for(i, 0, nr_llcs) {
		const struct policy_llc *llc = &llcs[policy_bound(i, POLICY_MAX_CPUS)];

		sum = sum * 31 + llc->has_idle_cores;
		sum = sum * 31 + llc->nr_busy;
		sum = sum * 31 + llc->nr_idle_scan;
	}
	return sum;
}

SEC("syscall")
int answer_questions(void *unused)
{
	u32 i;

	nr_answered = 0;
	bpf_for(i, 0, nr_questions) {
		struct question *q = &questions[policy_bound(i, MAX_QUESTIONS)];

		change_machine(q);
		q->cpu = decide(q);
		q->here = cpus[policy_bound(q->this_cpu, POLICY_MAX_CPUS)];
		q->llc_states = sum_of_states();
		nr_answered++;
	}
	return 0;
}
