/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * decide.h - the policy's decision for a wakeup
 *
 * With `verify` it is made on a snapshot, which is recorded with the answer; the
 * loader makes the decision again on the host.
 */
#ifndef ALIGHT_LIVE_DECIDE_H
#define ALIGHT_LIVE_DECIDE_H

#include "kernel.h"
#include "policy/select.h"
#include "energy.h"
#include "record.h"
#include "root.h"
#include "stats.h"
#include "views.h"

/* Set by the loader before the program is loaded. */
const volatile bool verify;		/* decide on snapshots and record them */
const volatile u32 nr_llcs;
const volatile u32 mask_bytes;		/* of a CPU mask of this machine, whole u64s */

/* Working memory of one decision. */
struct work {
	struct policy_mask allowed;
	struct policy_scratch scratch;
	struct policy_answer answer;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct work);
} works SEC(".maps");

/* The key of that map, not on the stack. */
static const u32 only = 0;

/* Snapshot of all views for one decision, before and after it. */
struct snapshot {
	struct decision decision;
	struct policy_llc llcs_before[POLICY_MAX_CPUS];
	struct policy_llc llcs[POLICY_MAX_CPUS];
	struct policy_cpu cpus_before[POLICY_MAX_CPUS];
	struct policy_cpu cpus[POLICY_MAX_CPUS];
};

/*
 * One per CPU if `verify` is set; the loader sets the number. This is no per-CPU map,
 * because values of those are limited to 32 KiB.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct snapshot);
} snapshots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* set by the loader */
} decisions SEC(".maps");

/* The CPUs that are online, and how many are not. */
struct policy_mask online;
u32 nr_offline;

/* @cpu comes online (@is) or goes offline. */
static __noinline int set_online(u32 cpu, int is)
{
	u64 *word = &online.w[policy_bound(cpu / 64, POLICY_MASK_WORDS)], bit = 1ull << (cpu % 64);

	view_of(cpu)->offline = !is;
	if (!!(*word & bit) == is)
		return 0;
	*word ^= bit;
	nr_offline += is ? -1 : 1;
	return 0;
}

/* The online CPUs on which the kernel lets @p run. Its mask may hold offline CPUs. */
static __noinline int allowed_read(struct policy_mask *allowed, const struct task_struct *p)
{
	u32 i, words = mask_bytes / sizeof(u64);
	int err = bpf_probe_read_kernel(allowed, mask_bytes, p->cpus_ptr);

	if (!nr_offline)
		return err;
	bpf_for(i, 0, words)
		allowed->w[policy_bound(i, POLICY_MASK_WORDS)] &=
			online.w[policy_bound(i, POLICY_MASK_WORDS)];
	return err;
}

/* Does the kernel let @p run on @cpu? */
static __noinline int may_run(const struct task_struct *p, u32 cpu)
{
	u64 word;

	return !bpf_probe_read_kernel(&word, sizeof(word), &p->cpus_ptr->bits[cpu / 64]) &&
	       word >> (cpu % 64) & 1 && !view_of(cpu)->offline;
}

/* The view of the waking CPU's current task. */
static __always_inline struct policy_task *waker_view(u32 cpu)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct live_task *t = current->pid ? task_of(current) : NULL;

	return t ? &t->view : &idle_tasks[policy_bound(cpu, POLICY_MAX_CPUS)];
}

/*
 * Makes the decision. The CPU's struct work has the allowed CPUs, and gets the answer.
 * The function is global, so that the verifier follows it once for all tasks. It is
 * flattened, because its frame and its callees' share 512 bytes.
 */
__attribute__((noinline, flatten)) u32 decide(struct policy_task *wakee __arg_nonnull,
					      struct policy_task *waker __arg_nonnull, u64 now,
					      u32 kind, u32 sync)
{
	u32 zero = 0, this_cpu = bpf_get_smp_processor_id();
	struct work *w = bpf_map_lookup_elem(&works, &zero);
	struct snapshot *s = bpf_map_lookup_elem(&snapshots, verify ? &this_cpu : &zero);
	struct policy_ctx c = {
		.k = the_params(),
		.topo = CONSTANT(struct policy_topology, topology),
		.domain = domains,
		.place = places,
		.group = groups,
		.llc = llcs,
		.cpu = cpus,
		.perf = perf,
		.p = wakee,
		.cur = waker,
		.now = now,
		.this_cpu = this_cpu,
		.prev_cpu = wakee->prev_cpu,
		.kind = kind,
		.sync = sync,
	};

	if (!w || !s)
		return wakee->prev_cpu;
	c.root = verify ? s->decision.root : root_now();
	c.nr_perf = energy_model ? nr_perf : 0;
	c.allowed = &w->allowed;
	c.scratch = &w->scratch;
	c.answer = &w->answer;
	if (verify) {
		c.llc = s->llcs;
		c.cpu = s->cpus;
	}
	return policy_select(&c);
}

/* Takes the snapshot to decide on. */
static __noinline int snapshot_begin(struct snapshot *s)
{
	u32 i;

	bpf_for(i, 0, topology.nr_cpus) {
		u32 cpu = policy_bound(i, POLICY_MAX_CPUS);
		struct view_lock *l = lock_of(cpu);

		if (!l)
			break;
		bpf_spin_lock(&l->lock);
		s->cpus_before[cpu] = cpus[cpu];
		bpf_spin_unlock(&l->lock);
		s->cpus[cpu] = s->cpus_before[cpu];
	}
	bpf_for(i, 0, nr_llcs) {
		u32 llc = policy_bound(i, POLICY_MAX_CPUS);

		s->llcs[llc] = s->llcs_before[llc] = llcs[llc];
	}
	return 0;
}

/* Records a decision: its input, the answer and what it changed. */
static __noinline int snapshot_write(struct snapshot *s)
{
	u32 llc_bytes = nr_llcs * sizeof(struct policy_llc);
	u32 cpu_bytes = topology.nr_cpus * sizeof(struct policy_cpu);
	u32 at = sizeof(s->decision);
	struct bpf_dynptr record;

	if (bpf_ringbuf_reserve_dynptr(&decisions, at + 2 * llc_bytes + cpu_bytes, 0, &record)) {
		stats_of(s->decision.this_cpu)->lost++;
	} else {
		bpf_dynptr_write(&record, 0, &s->decision, at, 0);
		bpf_dynptr_write(&record, at, s->llcs_before, llc_bytes, 0);
		at += llc_bytes;
		bpf_dynptr_write(&record, at, s->llcs, llc_bytes, 0);
		at += llc_bytes;
		bpf_dynptr_write(&record, at, s->cpus_before, cpu_bytes, 0);
	}
	bpf_ringbuf_submit_dynptr(&record, 0);
	return 0;
}

/* Copies what the policy wrote into the snapshot to the views. */
static __noinline int snapshot_apply(const struct snapshot *s, struct policy_task *wakee,
				     struct policy_task *waker)
{
	u32 here = policy_bound(s->decision.this_cpu, POLICY_MAX_CPUS), i;

	wakee->pelt = s->decision.wakee_after.pelt;
	wakee->flags = s->decision.wakee_after.flags;
	wakee->recent_used_cpu = s->decision.wakee_after.recent_used_cpu;
	waker->wakee_flips = s->decision.waker_after.wakee_flips;
	waker->wakee_flip_decay_ts = s->decision.waker_after.wakee_flip_decay_ts;
	waker->last_wakee = s->decision.waker_after.last_wakee;
	waker->recent_used_cpu = s->decision.waker_after.recent_used_cpu;
	cpus[here].avg_scan_cost = s->cpus[here].avg_scan_cost;
	bpf_for(i, 0, nr_llcs) {
		u32 llc = policy_bound(i, POLICY_MAX_CPUS);

		if (!s->llcs[llc].has_idle_cores)
			llcs[llc].has_idle_cores = 0;
	}
	return 0;
}

/*
 * Begins a decision that is recorded: stores its input, with a snapshot to decide on.
 * Begin and end are functions of their own, which leave nothing on the stack while the
 * policy decides.
 */
static __noinline struct decision *decision_begin(const struct work *w, const struct policy_task *wakee,
						  const struct policy_task *waker, u32 kind,
						  u32 sync)
{
	u32 this_cpu = bpf_get_smp_processor_id();
	struct snapshot *s = bpf_map_lookup_elem(&snapshots, &this_cpu);
	struct decision *d;

	if (!s)
		return NULL;
	d = &s->decision;
	snapshot_begin(s);
	d->now = scx_bpf_now();
	d->this_cpu = this_cpu;
	d->kind = kind;
	d->sync = sync;
	d->nr_llcs = nr_llcs;
	d->nr_cpus = topology.nr_cpus;
	d->root = root_now();
	d->allowed = w->allowed;
	d->wakee = *wakee;
	d->wakee_after = *wakee;
	d->waker = *waker;
	d->waker_after = *waker;
	return d;
}

/* Ends it: records it with its answer, then applies it to the views. */
static __noinline int decision_end(const struct work *w, struct policy_task *wakee,
				   struct policy_task *waker)
{
	u32 this_cpu = bpf_get_smp_processor_id();
	struct snapshot *s = bpf_map_lookup_elem(&snapshots, &this_cpu);

	if (!s)
		return 0;
	s->decision.answer = w->answer;
	s->decision.here_after = s->cpus[policy_bound(this_cpu, POLICY_MAX_CPUS)];
	snapshot_write(s);
	snapshot_apply(s, wakee, waker);
	return 0;
}

#endif
