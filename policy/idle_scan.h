/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle_scan.h - an idle CPU near the target, from 5.12 (kernel 6.1: select_idle_sibling())
 *
 *	1. the target; 2. the previous CPU if it shares the target's LLC;
 *	3. the previous CPU, where a per-CPU kernel thread wakes who gave it work;
 *	4. the recently used CPU if it shares the target's LLC;
 *	5. on asymmetric machines: the scan of asym_scan.h, and nothing after it;
 *	6. a thread of the previous CPU's core, unless a whole core is idle;
 *	7. one scan of the LLC: for a whole idle core if there is one, else for an
 *	   idle CPU within a budget;
 *	8. what 2 and 4 found in another cluster; 9. the target.
 *
 * Feature bias-prev comes before 1 and before 8, and adds to what 1, 2 and 4
 * take (bias_prev.h).
 *
 * 1 to 4 take idle CPUs that the wakee fits. From 6.7, where the LLC consists
 * of clusters, 2 and 4 take CPUs of the target's cluster only, and 7 looks
 * there first.
 */
#ifndef ALIGHT_IDLE_SCAN_H
#define ALIGHT_IDLE_SCAN_H

#include "idle_sibling.h"

/* CPUs are as near as the LLC allows (cpus_share_resources, where clusters matter). */
static __always_inline int near_enough(const struct policy_ctx *c, u32 a, u32 b)
{
	return !c->k->cluster_scan || !c->topo->cluster || place_at(c, a)->share == place_at(c, b)->share;
}

/* The waker is a kernel thread bound to the previous CPU, alone there, and itself at work. */
static inline int kthread_hands_back(const struct policy_ctx *c)
{
	return c->k->kthread_stacks && c->cur->flags & TASK_KTHREAD && c->cur->nr_allowed == 1 &&
	       !(c->flags & WAKE_INTERRUPT) && c->prev_cpu == c->this_cpu &&
	       cpu_at(c, c->this_cpu)->nr_running <= 1 &&
	       candidate_fits(c, STEP_KTHREAD_PREV, c->prev_cpu);
}

/* An idle thread of the previous CPU's core (select_idle_smt). */
static inline u32 prev_smt_scan(const struct policy_ctx *c, const struct policy_domain *llc)
{
	u32 nr = c->topo->nr_cpus, prev = c->prev_cpu, cpu = 0, n;
	const struct policy_domain *core;

	if (place_at(c, prev)->smt_domain == POLICY_NONE)
		return POLICY_NONE;
	core = domain_at(c, place_at(c, prev)->smt_domain);
	policy_for(n, 0, 8) {
		cpu = mask_next_and(&core->span, c->allowed, cpu, nr);
		if (cpu >= nr)
			break;
		if (cpu != prev && (c->k->smt_beyond_domain || mask_test(&llc->span, cpu)) &&
		    try_idle(c, STEP_PREV_SMT, cpu))
			return cpu;
		cpu++;
	}
	return POLICY_NONE;
}

/* State of the scan of an LLC. scratch->cores holds the CPUs of cores not looked at yet. */
struct llc_search {
	u32 target;
	u32 has_core;		/* looking for a whole idle core */
	u32 cluster;		/* domain that is looked at first, or POLICY_NONE */
	u32 budget;
	u32 kept;		/* first thread that would do */
	u32 over;		/* the budget is used up */
};

/* May this thread of a core stand in for it? */
static inline int thread_may_do(const struct policy_ctx *c, const struct policy_domain *llc, u32 cpu)
{
	if (!mask_test(c->allowed, cpu))
		return 0;
	return c->k->smt_beyond_domain ||
	       (mask_test(&llc->span, cpu) && mask_test(&c->scratch->cores, cpu));
}

/* Is the core of @cpu idle? Keeps the first thread that would do otherwise (select_idle_core). */
static inline int whole_core_idle(const struct policy_ctx *c, const struct policy_domain *llc,
				  u32 cpu, struct llc_search *s)
{
	u32 nr = c->topo->nr_cpus, domain = place_at(c, cpu)->smt_domain, sibling = 0, idle = 1, n;
	const struct policy_mask *core = &domain_at(c, domain == POLICY_NONE ? 0 : domain)->span;

	policy_for(n, 0, 8) {
		s->kept = policy_forget(s->kept);
		idle = policy_forget(idle);
		if (domain != POLICY_NONE)
			sibling = mask_next_and(core, core, sibling, nr);
		else
			sibling = n ? nr : cpu;
		if (sibling >= nr)
			break;
		looked_at(c, sibling);
		if (!cpu_idle(c, sibling)) {
			idle = 0;
			if (s->kept != POLICY_NONE)
				break;
			if (cpu_sched_idle(c, sibling) && thread_may_do(c, llc, sibling)) {
				s->kept = sibling;
				break;
			}
		} else if (s->kept == POLICY_NONE && thread_may_do(c, llc, sibling)) {
			s->kept = sibling;
		}
		sibling++;
	}
	return (int)idle;
}

/* The core of @cpu is not looked at again. */
static inline void core_done(const struct policy_ctx *c, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, domain = place_at(c, cpu)->smt_domain, sibling = 0, n;
	const struct policy_mask *core;

	if (domain == POLICY_NONE) {
		mask_clear(&c->scratch->cores, cpu);
		return;
	}
	core = &domain_at(c, domain)->span;
	policy_for(n, 0, 8) {
		sibling = mask_next_and(core, core, sibling, nr);
		if (sibling >= nr)
			break;
		mask_clear(&c->scratch->cores, sibling);
		sibling++;
	}
}

/* Scan a part of the LLC from the CPU after the target: its cluster, or all but that. */
static inline u32 scan_part(const struct policy_ctx *c, const struct policy_domain *llc,
			    int cluster, struct llc_search *s)
{
	u32 done = cluster ? POLICY_NONE : s->cluster, nr = c->topo->nr_cpus, n;
	u32 step = cluster ? STEP_CLUSTER_SCAN : STEP_LLC_SCAN;
	const struct policy_mask *span = cluster ? &domain_at(c, s->cluster)->span : &llc->span;
	struct ring r = ring_from(s->target + 1);

	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = ring_next(&r, span, c->allowed, nr);

		if (cpu >= nr)
			break;
		if (done != POLICY_NONE && mask_test(&domain_at(c, done)->span, cpu))
			continue;
		if (s->has_core) {
			if (!mask_test(&c->scratch->cores, cpu))
				continue;
			if (whole_core_idle(c, llc, cpu, s))
				return cpu;
			note(c, STEP_IDLE_CORE, cpu, VERDICT_CORE_BUSY, 0);
			core_done(c, cpu);
			continue;
		}
		s->budget = policy_forget(s->budget - 1);
		if (s->budget == 0) {
			c->answer->cut = 1;
			s->over = 1;
			return POLICY_NONE;
		}
		if (try_idle(c, step, cpu))
			return cpu;
	}
	return POLICY_NONE;
}

/*
 * How many of the @weight CPUs of a cache are worth a look, by the sum of their
 * utilization: fewer, the more are in use, none from 1 / imbalance_pct on
 * (update_idle_cpu_scan). Who keeps the state says so at times: nr_idle_scan.
 */
static inline u32 idle_scan_worth(u64 util, u32 weight, u32 imbalance_pct)
{
	u64 x = weight ? util / weight : 0;
	u64 used = x * x * imbalance_pct * imbalance_pct / (10000 * 1024);

	return used < 1024 ? (u32)((1024 - used) * weight / 1024) : 0;
}

/* An idle core or CPU of the LLC (select_idle_cpu), taken, or POLICY_NONE. */
policy_part u32 scan_llc(const struct policy_ctx *c, const struct policy_domain *llc, u32 target,
			 u32 has_core)
{
	struct llc_search s = {
		.target = target, .has_core = has_core,
		.cluster = c->k->cluster_scan ? place_at(c, target)->cluster_domain : POLICY_NONE,
		.budget = POLICY_NONE, .kept = POLICY_NONE,
	};
	u32 cpu, i;

	if (c->k->sis_util) {
		s.budget = policy_forget(llc_at(c, llc->llc)->nr_idle_scan + 1);
		if (s.budget == 1) {
			c->answer->cut = 1;
			return POLICY_NONE;
		}
	}
	if (has_core)
		policy_for(i, 0, POLICY_MASK_WORDS)
			c->scratch->cores.w[policy_bound(i, POLICY_MASK_WORDS)] = ~0ull;
	if (s.cluster != POLICY_NONE) {
		cpu = scan_part(c, llc, 1, &s);
		if (cpu != POLICY_NONE)
			return take(c, has_core ? STEP_IDLE_CORE : STEP_CLUSTER_SCAN, cpu);
		if (s.over)
			return POLICY_NONE;
	}
	cpu = scan_part(c, llc, 0, &s);
	if (cpu != POLICY_NONE)
		return take(c, has_core ? STEP_IDLE_CORE : STEP_LLC_SCAN, cpu);
	if (has_core) {
		if (!c->k->empty_scan_tells_nothing ||
		    mask_intersects(&llc->span, c->allowed, c->topo->nr_cpus))
			llc_at(c, place_at(c, target)->shared)->has_idle_cores = 0;
		if (s.kept != POLICY_NONE)
			return take(c, STEP_LLC_SCAN, s.kept);
	}
	return POLICY_NONE;
}

policy_apart u32 idle_scan(const struct policy_ctx *c, u32 target)
{
	u32 prev = c->prev_cpu, recent = c->p->recent_cpu, cpu, step, has_core = 0;
	u32 prev_far = POLICY_NONE, recent_far = POLICY_NONE;
	const struct policy_domain *llc;

	if (FEATURE_RULE(c->k, room) == ROOM_FITS || c->topo->asym)
		wakee_sync(c);
	if (bias_first(c, target))
		return take(c, STEP_BIAS_PREV, prev);

	step = policy_forget(try_candidate(c, STEP_TARGET_IDLE, target));
	if (step)
		return take(c, step, target);

	if (!FEATURE_RULE(c->k, bias_prev) && prev != target && same_llc(c, prev, target) &&
	    may_return(c, prev)) {
		step = policy_forget(try_candidate(c, STEP_PREV_IDLE, prev));
		if (step && near_enough(c, prev, target))
			return take(c, step, prev);
		if (step) {
			note(c, step, prev, VERDICT_LATER, 0);
			prev_far = prev;
		}
	}

	if (kthread_hands_back(c))
		return take(c, STEP_KTHREAD_PREV, prev);

	c->p->recent_cpu = prev;
	if (recent != prev && recent != target && recent < c->topo->nr_cpus &&
	    same_llc(c, recent, target) && mask_test(c->allowed, recent)) {
		step = policy_forget(try_candidate(c, STEP_RECENT_IDLE, recent));
		if (step && near_enough(c, recent, target))
			return take(c, step, recent);
		if (step) {
			note(c, step, recent, VERDICT_LATER, 0);
			recent_far = recent;
		}
	}

	if (!FEATURE_RULE(c->k, asym_at_once) && asym_acts(c, target))
		return asym_search(c, target);

	if (place_at(c, target)->llc_domain == POLICY_NONE)
		return nothing_idle(c, target);
	llc = domain_at(c, place_at(c, target)->llc_domain);
	if (c->topo->smt) {
		has_core = llc_at(c, place_at(c, target)->shared)->has_idle_cores != 0;
		if (!has_core && same_llc(c, prev, target)) {
			cpu = prev_smt_scan(c, llc);
			if (cpu != POLICY_NONE)
				return take(c, STEP_PREV_SMT, cpu);
		}
	}
	cpu = scan_llc(c, llc, target, policy_forget(has_core));
	if (cpu != POLICY_NONE)
		return cpu;
	if (bias_last(c, target))
		return take(c, STEP_BIAS_LAST, prev);
	if (prev_far != POLICY_NONE)
		return take(c, STEP_PREV_FAR, prev_far);
	if (recent_far != POLICY_NONE)
		return take(c, STEP_RECENT_FAR, recent_far);
	return take(c, STEP_TARGET_BUSY, target);
}

#endif
