/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle_scan.h - an idle CPU near the target, from 5.12 (kernel 6.1: select_idle_sibling())
 *
 *	1. the target; 2. the previous CPU if it shares the target's LLC;
 *	3. the previous CPU, if the waker is a per-CPU kernel thread there, which did
 *	   work for the wakee;
 *	4. the recently used CPU if it shares the target's LLC;
 *	5. on asymmetric machines: the scan of asym_scan.h, and nothing after it;
 *	6. a thread of the previous CPU's core, unless a whole core is idle;
 *	7. one scan of the LLC: for a whole idle core if there is one, else for an
 *	   idle CPU within a budget;
 *	8. what 2 and 4 found in another cluster; 9. the target.
 *
 * Feature bias-prev comes before 1 and before 8, and lets 1, 2 and 4 take more CPUs
 * (bias_prev.h).
 *
 * 1 to 4 take idle CPUs that the wakee fits. Up to 5.19, 4 tests the affinity of the
 * previous CPU instead of the recent one, because recent_used_cpu is overwritten
 * before the test. From 6.7, where the LLC consists of clusters, 2 and 4 take CPUs
 * of the target's cluster only, and 7 scans that cluster first.
 */
#ifndef ALIGHT_IDLE_SCAN_H
#define ALIGHT_IDLE_SCAN_H

#include "idle_sibling.h"

/* Do the CPUs share a cluster (cpus_share_resources)? True where clusters do not count. */
static __always_inline int policy_cpus_share_resources(const struct policy_ctx *c, u32 a, u32 b)
{
	return !c->k->cluster_scan || !c->topo->cluster ||
	       policy_place_at(c, a)->share == policy_place_at(c, b)->share;
}

/* An idle thread of the previous CPU's core (select_idle_smt). */
static inline u32 policy_prev_smt_scan(const struct policy_ctx *c, const struct policy_domain *llc)
{
	u32 nr = c->topo->nr_cpus, prev = c->prev_cpu, cpu = 0, n;
	const struct policy_domain *core;

	if (policy_place_at(c, prev)->smt_domain == POLICY_NONE)
		return POLICY_NONE;
	core = policy_domain_at(c, policy_place_at(c, prev)->smt_domain);
	policy_for(n, 0, 8) {
		cpu = policy_mask_next_and(&core->span, c->allowed, cpu, nr);
		if (cpu >= nr)
			break;
		if (cpu != prev && (c->k->smt_beyond_domain || policy_mask_test(&llc->span, cpu)) &&
		    policy_try_idle(c, STEP_PREV_SMT, cpu))
			return cpu;
		cpu++;
	}
	return POLICY_NONE;
}

/* State of the scan of an LLC. scratch->cores holds the CPUs of cores not looked at yet. */
struct policy_llc_search {
	u32 target;
	u32 has_core;		/* looking for a whole idle core */
	u32 cluster;		/* domain that is looked at first, or POLICY_NONE */
	u32 budget;
	u32 kept;		/* first thread to take if no core is idle */
	u32 over;		/* the budget is used up */
};

/* May this thread be taken if no core is idle? */
static inline int policy_thread_may_do(const struct policy_ctx *c, const struct policy_domain *llc,
				       u32 cpu)
{
	if (!policy_mask_test(c->allowed, cpu))
		return 0;
	return c->k->smt_beyond_domain ||
	       (policy_mask_test(&llc->span, cpu) && policy_mask_test(&c->scratch->cores, cpu));
}

/* Is the core of @cpu idle? Keeps the first thread to take otherwise (select_idle_core). */
static inline int policy_whole_core_idle(const struct policy_ctx *c,
					 const struct policy_domain *llc, u32 cpu,
					 struct policy_llc_search *s)
{
	u32 nr = c->topo->nr_cpus, domain = policy_place_at(c, cpu)->smt_domain, sibling = 0,
		idle = 1, n;
	const struct policy_mask *core = &policy_domain_at(c,
							   domain == POLICY_NONE ? 0 :
										   domain)->span;

	policy_for(n, 0, 8) {
		s->kept = policy_hide(s->kept);
		idle = policy_hide(idle);
		if (domain != POLICY_NONE)
			sibling = policy_mask_next_and(core, core, sibling, nr);
		else
			sibling = n ? nr : cpu;
		if (sibling >= nr)
			break;
		policy_looked_at(c, sibling);
		if (!policy_available_idle_cpu(c, sibling)) {
			idle = 0;
			if (s->kept != POLICY_NONE)
				break;
			if (policy_sched_idle_cpu(c, sibling) &&
			    policy_thread_may_do(c, llc, sibling)) {
				s->kept = sibling;
				break;
			}
		} else if (s->kept == POLICY_NONE && policy_thread_may_do(c, llc, sibling)) {
			s->kept = sibling;
		}
		sibling++;
	}
	return (int)idle;
}

/* Removes the core of @cpu from those not looked at yet. */
static inline void policy_core_done(const struct policy_ctx *c, u32 cpu)
{
	u32 nr = c->topo->nr_cpus, domain = policy_place_at(c, cpu)->smt_domain, sibling = 0, n;
	const struct policy_mask *core;

	if (domain == POLICY_NONE) {
		policy_mask_clear(&c->scratch->cores, cpu);
		return;
	}
	core = &policy_domain_at(c, domain)->span;
	policy_for(n, 0, 8) {
		sibling = policy_mask_next_and(core, core, sibling, nr);
		if (sibling >= nr)
			break;
		policy_mask_clear(&c->scratch->cores, sibling);
		sibling++;
	}
}

/* Scan a part of the LLC from the CPU after the target: @cluster, or all but the cluster. */
static inline u32 policy_scan_part(const struct policy_ctx *c, const struct policy_domain *llc,
				   int cluster, struct policy_llc_search *s)
{
	u32 done = cluster ? POLICY_NONE : s->cluster, nr = c->topo->nr_cpus, n;
	u32 step = cluster ? STEP_CLUSTER_SCAN : STEP_LLC_SCAN;
	const struct policy_mask *span = cluster ? &policy_domain_at(c, s->cluster)->span :
						   &llc->span;
	struct policy_ring r = policy_ring_from(s->target + 1);

	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 cpu = policy_ring_next(&r, span, c->allowed, nr);

		if (cpu >= nr)
			break;
		if (done != POLICY_NONE && policy_mask_test(&policy_domain_at(c, done)->span, cpu))
			continue;
		if (s->has_core) {
			if (!policy_mask_test(&c->scratch->cores, cpu))
				continue;
			if (policy_whole_core_idle(c, llc, cpu, s))
				return cpu;
			policy_note(c, STEP_IDLE_CORE, cpu, VERDICT_CORE_BUSY, 0);
			policy_core_done(c, cpu);
			continue;
		}
		s->budget = policy_hide(s->budget - 1);
		if (s->budget == 0) {
			c->answer->cut = 1;
			s->over = 1;
			return POLICY_NONE;
		}
		if (policy_try_idle(c, step, cpu))
			return cpu;
	}
	return POLICY_NONE;
}

/*
 * How many of the @weight CPUs of a cache a scan may look at (update_idle_cpu_scan).
 * @util: sum of their utilization. The number falls as utilization rises, to 0 where
 * the mean is 100 / imbalance_pct of a CPU. The owner of the views updates nr_idle_scan
 * with it from time to time.
 */
static inline u32 policy_nr_idle_scan(u64 util, u32 weight, u32 imbalance_pct)
{
	u64 x = weight ? util / weight : 0;
	u64 used = x * x * imbalance_pct * imbalance_pct / (10000 * 1024);

	return used < 1024 ? (u32)((1024 - used) * weight / 1024) : 0;
}

/* Takes an idle core or CPU of the LLC, or returns POLICY_NONE (select_idle_cpu). */
policy_subprog u32 policy_scan_llc(const struct policy_ctx *c, const struct policy_domain *llc,
				   u32 target, u32 has_core)
{
	struct policy_llc_search s = {
		.target = target, .has_core = has_core,
		.cluster = c->k->cluster_scan ? policy_place_at(c, target)->cluster_domain :
						POLICY_NONE,
		.budget = POLICY_NONE, .kept = POLICY_NONE,
	};
	u32 cpu, i;

	if (c->k->scan_needs_llc && policy_place_at(c, c->this_cpu)->llc_domain == POLICY_NONE)
		return POLICY_NONE;
	if (c->k->sis_util) {
		s.budget = policy_hide(policy_llc_at(c, llc->llc)->nr_idle_scan + 1);
		if (s.budget == 1) {
			c->answer->cut = 1;
			return POLICY_NONE;
		}
	}
	if (has_core)
		policy_for(i, 0, POLICY_MASK_WORDS)
			c->scratch->cores.w[policy_bound(i, POLICY_MASK_WORDS)] = ~0ull;
	if (s.cluster != POLICY_NONE) {
		cpu = policy_scan_part(c, llc, 1, &s);
		if (cpu != POLICY_NONE)
			return policy_take(c, has_core ? STEP_IDLE_CORE : STEP_CLUSTER_SCAN, cpu);
		if (s.over)
			return POLICY_NONE;
	}
	cpu = policy_scan_part(c, llc, 0, &s);
	if (cpu != POLICY_NONE)
		return policy_take(c, has_core ? STEP_IDLE_CORE : STEP_LLC_SCAN, cpu);
	if (has_core) {
		if (!c->k->empty_scan_tells_nothing ||
		    policy_mask_intersects(&llc->span, c->allowed, c->topo->nr_cpus))
			policy_llc_at(c, policy_place_at(c, target)->shared)->has_idle_cores = 0;
		if (s.kept != POLICY_NONE)
			return policy_take(c, STEP_LLC_SCAN, s.kept);
	}
	return POLICY_NONE;
}

policy_noinline u32 policy_idle_scan(const struct policy_ctx *c, u32 target)
{
	u32 prev = c->prev_cpu, recent = c->p->recent_used_cpu, cpu, step, has_core = 0;
	u32 prev_far = POLICY_NONE, recent_far = POLICY_NONE;
	const struct policy_domain *llc;

	if (POLICY_FEATURE_RULE(c->k, room) == ROOM_FITS || c->topo->asym)
		policy_wakee_sync(c);
	if (policy_bias_first(c, target))
		return policy_take(c, STEP_BIAS_PREV, prev);

	step = policy_hide(policy_try_candidate(c, STEP_TARGET_IDLE, target));
	if (step)
		return policy_take(c, step, target);

	if (!POLICY_FEATURE_RULE(c->k, bias_prev) && prev != target &&
	    policy_cpus_share_cache(c, prev, target) &&
	    policy_may_return(c, prev)) {
		step = policy_hide(policy_try_candidate(c, STEP_PREV_IDLE, prev));
		if (step && policy_cpus_share_resources(c, prev, target))
			return policy_take(c, step, prev);
		if (step) {
			policy_note(c, step, prev, VERDICT_LATER, 0);
			prev_far = prev;
		}
	}

	if (policy_kthread_hands_back(c))
		return policy_take(c, STEP_KTHREAD_PREV, prev);

	c->p->recent_used_cpu = prev;
	if (recent != prev && recent != target && recent < c->topo->nr_cpus &&
	    policy_cpus_share_cache(c, recent, target) &&
	    policy_mask_test(c->allowed, c->k->recent_by_prev ? prev : recent)) {
		step = policy_hide(policy_try_candidate(c, STEP_RECENT_IDLE, recent));
		if (step && policy_cpus_share_resources(c, recent, target))
			return policy_take(c, step, recent);
		if (step) {
			policy_note(c, step, recent, VERDICT_LATER, 0);
			recent_far = recent;
		}
	}

	if (!POLICY_FEATURE_RULE(c->k, asym_at_once) && policy_asym_acts(c, target))
		return policy_asym_search(c, target);

	if (policy_place_at(c, target)->llc_domain == POLICY_NONE)
		return policy_nothing_idle(c, target);
	llc = policy_domain_at(c, policy_place_at(c, target)->llc_domain);
	if (c->topo->smt) {
		has_core = policy_llc_at(c,
					 policy_place_at(c, target)->shared)->has_idle_cores != 0;
		if (!has_core && policy_cpus_share_cache(c, prev, target)) {
			cpu = policy_prev_smt_scan(c, llc);
			if (cpu != POLICY_NONE)
				return policy_take(c, STEP_PREV_SMT, cpu);
		}
	}
	cpu = policy_scan_llc(c, llc, target, policy_hide(has_core));
	if (cpu != POLICY_NONE)
		return cpu;
	if (policy_bias_last(c, target))
		return policy_take(c, STEP_BIAS_LAST, prev);
	if (prev_far != POLICY_NONE)
		return policy_take(c, STEP_PREV_FAR, prev_far);
	if (recent_far != POLICY_NONE)
		return policy_take(c, STEP_RECENT_FAR, recent_far);
	return policy_take(c, STEP_TARGET_BUSY, target);
}

#endif
