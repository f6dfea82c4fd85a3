// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_decisions.bpf.c - records what select_task_rq_fair() saw and what it returned
 *
 * At its entry the state of the wakee, the waker and every CPU is copied into a
 * buffer of the waking CPU; at its exit the answer is added, and the CPUs that
 * have changed as they are now, and the buffer goes to the ring buffer.
 * Interrupts are off between the two, so a CPU has one wakeup under way at most.
 * Other CPUs run on while the copies are made and while the function searches:
 * it saw each CPU as it was at some time between the two copies. Hence what
 * changes most is copied last at the entry and first at the exit.
 *
 * The function is called only for tasks that may use more than one CPU.
 */
#include "kernel_fair.h"
#include "record_decisions.h"
#include "record_reads.h"

char _license[] SEC("license") = "GPL";

/* Set by the loader before the program is loaded. */
const volatile u32 nr_cpus;

/*
 * Bits of preempt_count that are set in a hard interrupt only: 7.3 moved them up by 8. Learned where
 * timers expire; 0: not yet.
 */
u32 hardirq_bits;

/* A wakeup with the domains of all CPUs has been written. */
u32 domains_written;

struct record {
	struct wakeup wakeup;
	struct wakeup_cpu cpu[2 * RECORD_CPUS];	/* at the entry, then at the exit */
	struct wakeup_domain domain[RECORD_CPUS][RECORD_LEVELS];
};

/* One a CPU; the loader sets the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct record);
} buffers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* set by the loader */
} wakeups SEC(".maps");

struct counts {
	u64 entered;
	u64 written;
	u64 ring_full;
	u64 exit_without_entry;
	u64 forks;
	u64 execs;
	u64 syncs;
	u64 interrupts;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counts);
} counts SEC(".maps");

/* ---- the copy ---- */

static __always_inline void copy_task(struct wakeup_task *t, struct task_struct *task, bool direct)
{
	struct sched_avg___pair *pair = (void *)&task->se.avg;
	struct cfs_rq *queue = MEMBER(direct, task, se.cfs_rq);

	t->last_update_time = MEMBER(direct, task, se.avg.last_update_time);
	t->load_sum = MEMBER(direct, task, se.avg.load_sum);
	t->runnable_sum = MEMBER(direct, task, se.avg.runnable_sum);
	t->util_sum = MEMBER(direct, task, se.avg.util_sum);
	t->period_contrib = MEMBER(direct, task, se.avg.period_contrib);
	t->load_avg = MEMBER(direct, task, se.avg.load_avg);
	t->runnable_avg = MEMBER(direct, task, se.avg.runnable_avg);
	t->util_avg = MEMBER(direct, task, se.avg.util_avg);
	if (bpf_core_field_exists(pair->util_est.enqueued)) {
		t->util_est = MEMBER(direct, pair, util_est.enqueued);
		t->util_est_ewma = MEMBER(direct, pair, util_est.ewma);
	} else {
		t->util_est = MEMBER(direct, task, se.avg.util_est);
		t->util_est_ewma = 0;
	}
	t->weight = MEMBER(direct, task, se.load.weight) >> 10;
	t->flip_decay = MEMBER(direct, task, wakee_flip_decay_ts);
	t->wakee_flips = MEMBER(direct, task, wakee_flips);
	t->pid = MEMBER(direct, task, pid);
	t->recent_used_cpu = MEMBER(direct, task, recent_used_cpu);
	t->nr_cpus_allowed = MEMBER(direct, task, nr_cpus_allowed);
	t->policy = MEMBER(direct, task, policy);
	t->flags = MEMBER(direct, task, flags);
	t->on_rq = MEMBER(direct, task, on_rq);
	t->depth = MEMBER(direct, task, se.depth);
	t->uclamp_min = 0;
	t->uclamp_max = 1024;
	t->uclamp_active = 0;
	t->unused = 0;
	if (bpf_core_field_exists(task->uclamp)) {
		t->uclamp_active = BPF_CORE_READ_BITFIELD(task, uclamp[0].active);
		if (t->uclamp_active)
			t->uclamp_min = BPF_CORE_READ_BITFIELD(task, uclamp[0].value);
		else
			t->uclamp_min = BPF_CORE_READ_BITFIELD(task, uclamp_req[0].value);
		if (BPF_CORE_READ_BITFIELD(task, uclamp[1].active))
			t->uclamp_max = BPF_CORE_READ_BITFIELD(task, uclamp[1].value);
		else
			t->uclamp_max = BPF_CORE_READ_BITFIELD(task, uclamp_req[1].value);
	}
	t->queue_last_update = MEMBER(direct, queue, avg.last_update_time);
	t->queue_load_avg = MEMBER(direct, queue, avg.load_avg);
	t->h_load = MEMBER(direct, queue, h_load);
	t->h_load_stamp = MEMBER(direct, queue, last_h_load_update);
}

static __always_inline u16 idle_scan_of(struct sched_domain *sd)
{
	struct sched_domain_shared *shared = sd ? BPF_CORE_READ(sd, shared) : NULL;

	if (!shared || !bpf_core_field_exists(shared->nr_idle_scan))
		return 0xffff;
	return BPF_CORE_READ(shared, nr_idle_scan);
}

#define RQ(member)	MEMBER(typed(), rq, member)

static __always_inline void copy_load(struct wakeup_cpu *c, struct rq *rq)
{
	struct sched_avg___pair *pair = (void *)&rq->cfs.avg;

	c->load_avg = RQ(cfs.avg.load_avg);
	c->runnable_avg = RQ(cfs.avg.runnable_avg);
	c->util_avg = RQ(cfs.avg.util_avg);
	if (bpf_core_field_exists(pair->util_est.enqueued))
		c->util_est = MEMBER(typed(), pair, util_est.enqueued);
	else
		c->util_est = RQ(cfs.avg.util_est);
	c->last_update_time = RQ(cfs.avg.last_update_time);
	c->rt_util = RQ(avg_rt.util_avg);
	c->dl_util = RQ(avg_dl.util_avg);
	c->dl_bandwidth = RQ(dl.running_bw) * 1024 >> DL_BW_SHIFT;
	if (bpf_core_field_exists(rq->avg_hw))
		c->hw_load_avg = RQ(avg_hw.load_avg);
	else if (bpf_core_field_exists(rq->avg_thermal))
		c->hw_load_avg = RQ(avg_thermal.load_avg);
	else
		c->hw_load_avg = 0;
}

static __always_inline void copy_counts(struct wakeup_cpu *c, struct rq *rq)
{
	struct cpuidle_state *idle = RQ(idle_state);

	c->curr_is_idle = RQ(curr) == RQ(idle);
	c->ttwu_pending = !!RQ(ttwu_pending);
	c->online = !!RQ(online);
	c->nr_running = RQ(nr_running);
	/* Each is tested by itself: updates of 6.12 have the first two. */
	c->h_nr_queued = bpf_core_field_exists(rq->cfs.h_nr_queued) ? RQ(cfs.h_nr_queued)
								     : RQ(cfs.h_nr_running);
	c->h_nr_runnable = bpf_core_field_exists(rq->cfs.h_nr_runnable) ? RQ(cfs.h_nr_runnable)
									 : c->h_nr_queued;
	c->h_nr_idle = bpf_core_field_exists(rq->cfs.h_nr_idle) ? RQ(cfs.h_nr_idle)
								 : RQ(cfs.idle_h_nr_running);
	c->rt_nr_running = RQ(rt.rt_nr_running);
	c->exit_latency = idle ? MEMBER(typed(), idle, exit_latency) : ~0u;
	c->idle_stamp = RQ(idle_stamp);
}

static __always_inline void copy_limits(struct wakeup_cpu *c, struct rq *rq, u32 cpu)
{
	c->capacity = RQ(cpu_capacity);
	if (bpf_core_field_exists(rq->cpu_capacity_orig))
		c->capacity_orig = RQ(cpu_capacity_orig);
	else
		c->capacity_orig = PER_CPU(unsigned long, cpu_scale, cpu, 1024);
	c->hw_pressure = &hw_pressure ? PER_CPU(unsigned long, hw_pressure, cpu, 0)
				      : PER_CPU(unsigned long, thermal_pressure, cpu, 0);
	c->cpufreq_pressure = PER_CPU(unsigned long, cpufreq_pressure, cpu, 0);
	c->uclamp_min = 0;
	c->uclamp_max = 1024;
	c->uclamp_idle = 0;
	if (bpf_core_field_exists(rq->uclamp)) {
		c->uclamp_min = RQ(uclamp[0].value);
		c->uclamp_max = RQ(uclamp[1].value);
		c->uclamp_idle = !!(RQ(uclamp_flags) & UCLAMP_FLAG_IDLE);
	}
}

/*
 * Functions that are not inlined return whether they failed, and callers test that. If no caller
 * read the result, clang would leave any value in its register, maybe a pointer, and the verifier
 * would refuse that.
 */

/* Copies what changes with ticks and balancing. */
static __noinline int copy_slow(struct wakeup_cpu *c, u32 cpu)
{
	struct rq *rq = rq_of(cpu);
	struct sched_domain_shared *shared;
	struct sched_domain *asym;

	if (!c || !rq)
		return -1;
	copy_load(c, rq);
	copy_limits(c, rq, cpu);
	c->nr_idle_scan = idle_scan_of(PER_CPU(struct sched_domain *, sd_llc, cpu, NULL));
	asym = PER_CPU(struct sched_domain *, sd_asym_cpucapacity, cpu, NULL);
	c->asym_idle_scan = asym ? idle_scan_of(asym) : 0xffff;
	shared = &sd_balance_shared || address.sd_balance_shared
		? PER_CPU(struct sched_domain_shared *, sd_balance_shared, cpu, NULL)
		: PER_CPU(struct sched_domain_shared *, sd_llc_shared, cpu, NULL);
	c->has_idle_cores = shared ? !!BPF_CORE_READ(shared, has_idle_cores) : 0;
	c->unused = 0;
	return 0;
}

/* Copies what changes with every task that comes or goes: at the entry last, at the exit first. */
static __noinline int copy_fast(struct wakeup_cpu *c, u32 cpu)
{
	struct rq *rq = rq_of(cpu);

	if (!c || !rq)
		return -1;
	copy_counts(c, rq);
	return 0;
}

/* Copies what SIS_PROP reads to limit the search of the waking CPU. */
static __noinline int copy_budget(struct wakeup *w, u32 cpu)
{
	struct sched_domain *sd = PER_CPU(struct sched_domain *, sd_llc, cpu, NULL);
	struct rq *rq = rq_of(cpu);

	if (!w || !rq)
		return -1;
	w->avg_idle = RQ(avg_idle);
	w->avg_scan_cost = sd && bpf_core_field_exists(sd->avg_scan_cost)
		? BPF_CORE_READ(sd, avg_scan_cost) : 0;
	return 0;
}

static __noinline int copy_domains(struct wakeup_domain *d, u32 cpu)
{
	struct rq *rq = rq_of(cpu);
	struct sched_domain *sd;
	u32 level;

	if (!d || !rq)
		return -1;
	sd = RQ(sd);
	for (level = 0; level < RECORD_LEVELS; level++, d++) {
		struct sched_group_capacity *sgc;
		struct sched_group *group;

		d->span = 0;
		if (!sd)
			continue;
		group = BPF_CORE_READ(sd, groups);
		sgc = BPF_CORE_READ(group, sgc);
		/* sched_domain_span(): the mask lies behind the structure. */
		bpf_probe_read_kernel(&d->span, sizeof(d->span),
				      (void *)sd + bpf_core_type_size(struct sched_domain));
		bpf_core_read(&d->group_span, sizeof(d->group_span), &group->cpumask);
		d->flags = BPF_CORE_READ(sd, flags);
		d->weight = BPF_CORE_READ(sd, span_weight);
		d->imbalance_pct = BPF_CORE_READ(sd, imbalance_pct);
		d->imb_numa_nr = bpf_core_field_exists(sd->imb_numa_nr)
			? BPF_CORE_READ(sd, imb_numa_nr) : 0;
		d->group_weight = BPF_CORE_READ(group, group_weight);
		d->group_flags = bpf_core_field_exists(group->flags) ? BPF_CORE_READ(group, flags)
								     : 0;
		d->capacity = BPF_CORE_READ(sgc, capacity);
		d->min_capacity = BPF_CORE_READ(sgc, min_capacity);
		d->max_capacity = BPF_CORE_READ(sgc, max_capacity);
		d->imbalance = BPF_CORE_READ(sgc, imbalance);
		sd = BPF_CORE_READ(sd, parent);
	}
	return 0;
}

#define WATCHED_WORDS	(sizeof(struct wakeup_cpu) / sizeof(u64) - 1)

#define exit_of(r, i)	(&(r)->cpu[((i) + nr_cpus) & (2 * RECORD_CPUS - 1)])

/* Copies all CPUs again and keeps those that have changed since the entry. */
static __noinline u64 copy_exits(struct record *r)
{
	u32 cpu, word, kept = 0;
	u64 changed = 0;

	if (!r)
		return 0;
	for (cpu = 0; cpu < RECORD_CPUS && cpu < nr_cpus; cpu++) {
		if (copy_fast(exit_of(r, cpu), cpu))
			return 0;
	}
	for (cpu = 0; cpu < RECORD_CPUS && cpu < nr_cpus; cpu++) {
		if (copy_slow(exit_of(r, cpu), cpu))
			return 0;
	}
	for (cpu = 0; cpu < RECORD_CPUS && cpu < nr_cpus; cpu++) {
		const u64 *before = (const u64 *)&r->cpu[cpu];
		const u64 *after = (const u64 *)exit_of(r, cpu);
		u64 differs = 0;

		for (word = 0; word < WATCHED_WORDS; word++)
			differs |= before[word] ^ after[word];
		if (!differs)
			continue;
		changed |= 1ull << cpu;
		*exit_of(r, kept) = *exit_of(r, cpu);
		kept++;
	}
	return changed;
}

static __always_inline u32 nr_bits(u64 mask)
{
	u32 cpu, nr = 0;

	for (cpu = 0; cpu < RECORD_CPUS; cpu++)
		nr += mask >> cpu & 1;
	return nr;
}

static __always_inline u32 flags_of(struct task_struct *wakee, struct task_struct *current,
				    struct rq *here, u32 preempt_count)
{
	u32 flags = 0;

	if (MEMBER(current_is_typed(), current, last_wakee) == wakee)
		flags |= WAKEUP_SAME_WAKEE;
	if (here) {
		const struct root_domain *rd = MEMBER(typed(), here, rd);

		if (overutilized(rd))
			flags |= WAKEUP_OVERUTILIZED;
		if (BPF_CORE_READ(rd, pd))
			flags |= WAKEUP_ENERGY;
	}
	if (key_enabled(address.sched_uclamp_used))
		flags |= WAKEUP_UCLAMP_USED;
	if (key_enabled(address.sched_smt_present))
		flags |= WAKEUP_SMT;
	if (key_enabled(address.sched_asym_cpucapacity))
		flags |= WAKEUP_ASYM;
	if (key_enabled(address.sched_cluster_active))
		flags |= WAKEUP_CLUSTER;
	if (hardirq_bits)
		flags |= WAKEUP_CONTEXT;
	if (preempt_count & (hardirq_bits | SERVING_SOFTIRQ))
		flags |= WAKEUP_INTERRUPT;
	return flags;
}

/*
 * Timers expire in hard interrupts, and some in soft ones. The count of hard interrupts has four
 * bits: 16 to 19, or 24 to 27 on kernels where bits 16 to 19 have another meaning and may be set
 * in a task.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(timer_expires)
{
	u32 count = preempt_count_now(current_task(), bpf_get_smp_processor_id());
	u32 bits = 0;

	if (count & 0x0f000000)
		bits = 0x0f000000;
	else if (count & 0x000f0000)
		bits = 0x000f0000;
	if (bits > hardirq_bits)
		hardirq_bits = bits;
	return 0;
}

/* ---- the two ends of the function ---- */

static __always_inline struct counts *counts_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

SEC("fentry/select_task_rq_fair")
int BPF_PROG(select_entered, struct task_struct *wakee, int prev_cpu)
{
	struct task_struct *current = current_task();
	u32 wake_flags = wake_flags_of(ctx);
	u32 this_cpu = bpf_get_smp_processor_id(), i;
	struct record *r = bpf_map_lookup_elem(&buffers, &this_cpu);
	struct counts *count = counts_here();
	struct wakeup *w;

	if (!r || !count)
		return 0;
	count->entered++;
	count->forks += !!(wake_flags & WF_FORK);
	count->execs += !!(wake_flags & WF_EXEC);
	count->syncs += !!(wake_flags & WF_SYNC);
	w = &r->wakeup;
	w->clock = bpf_ktime_get_ns();
	w->jiffies = bpf_jiffies64();
	w->this_cpu = this_cpu;
	w->prev_cpu = prev_cpu;
	w->task_cpu = cpu_of(wakee);
	w->wake_flags = wake_flags;
	w->allowed = wakee->cpus_ptr->bits[0];
	w->nr_cpus = nr_cpus;
	w->llc_size = PER_CPU(int, sd_llc_size, this_cpu, 0);
	w->preempt_count = preempt_count_now(current, this_cpu);
	w->answer = -1;
	copy_task(&w->wakee, wakee, 1);
	copy_task(&w->waker, current, current_is_typed());
	w->flags = flags_of(wakee, current, rq_of(this_cpu), w->preempt_count);
	count->interrupts += !!(w->flags & WAKEUP_INTERRUPT);
	if (copy_budget(w, this_cpu))
		goto failed;
	for (i = 0; i < RECORD_CPUS && i < nr_cpus; i++) {
		if (copy_slow(&r->cpu[i], i))
			goto failed;
	}
	if (!domains_written || wake_flags & (WF_EXEC | WF_FORK)) {
		w->flags |= WAKEUP_DOMAINS;
		for (i = 0; i < RECORD_CPUS && i < nr_cpus; i++) {
			if (copy_domains(r->domain[i], i))
				goto failed;
		}
	}
	for (i = 0; i < RECORD_CPUS && i < nr_cpus; i++) {
		if (copy_fast(&r->cpu[i], i))
			goto failed;
	}
	return 0;
failed:
	w->clock = 0;
	return 0;
}

SEC("fexit/select_task_rq_fair")
int BPF_PROG(select_left, struct task_struct *wakee)
{
	struct task_struct *current = current_task();
	int answer = answer_of(ctx);
	u32 this_cpu = bpf_get_smp_processor_id(), size;
	struct record *r = bpf_map_lookup_elem(&buffers, &this_cpu);
	struct counts *count = counts_here();
	struct wakeup *w;

	if (!r || !count)
		return 0;
	w = &r->wakeup;
	if (!w->clock || w->wakee.pid != wakee->pid) {
		count->exit_without_entry++;
		return 0;
	}
	w->changed = copy_exits(r);
	w->exit_flags = (u16)flags_of(wakee, current, rq_of(this_cpu), w->preempt_count);
	w->exit_ticks = (u16)(bpf_jiffies64() - w->jiffies);
	w->answer = answer;
	size = nr_cpus + nr_bits(w->changed);
	if (size > 2 * RECORD_CPUS)
		return 0;
	size = sizeof(*w) + size * sizeof(struct wakeup_cpu);
	if (w->flags & WAKEUP_DOMAINS)
		size = sizeof(*r);
	if (bpf_ringbuf_output(&wakeups, r, size, BPF_RB_NO_WAKEUP)) {
		count->ring_full++;
	} else {
		count->written++;
		if (w->flags & WAKEUP_DOMAINS)
			domains_written = 1;
	}
	w->clock = 0;
	return 0;
}
