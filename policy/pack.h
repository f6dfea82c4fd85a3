/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pack.h - feature pack: keep work on as few power domains as possible
 *
 * "sched: packing small tasks" v4, April 2013, on 3.9; v5, October 2013. Every
 * CPU has a buddy: itself if it takes part in packing, another CPU, or none where
 * no group can be power gated alone. Buddies are found when the domains are built
 * (crates/policy/src/pack.rs), and in full mode again at load balance.
 *
 *	wakeup	1. without a buddy the feature does nothing;
 *		2. full mode: the previous CPU's buddy, unless it is full;
 *		3. the buddy, if the wakee is light and the buddy is not busy;
 *		4. the ordinary search (select.h); in full mode it begins at a CPU
 *		   that takes part, and returns only such CPUs.
 *	fork	default mode: the ordinary search; full mode: an idle CPU near the
 *	exec	buddy, because a new task counts as a full load, else as 4; with a
 *		level (v5) as 4.
 *
 * With the signals of 2013 (pelt.h) "light" is about the share of time in which the
 * task was queued, "busy" and "full" about the share in which the CPU had tasks. With
 * the signals of later kernels, which are scaled by capacity, it is runnable_avg and
 * util_avg in units of the CPU's own capacity.
 *
 * In full mode buddies follow the activity of CPUs (pack::Follow).
 */
#ifndef ALIGHT_PACK_H
#define ALIGHT_PACK_H

#include "candidate.h"

/* Is the mode full? */
static __always_inline int policy_packs_fully(const struct policy_ctx *c)
{
	return POLICY_FEATURE_RULE(c->k, pack) == PACK_FULL;
}

/* Does @cpu take part in packing: is it its own buddy, or without one? */
static __always_inline int policy_takes_part(const struct policy_cpu *rq, u32 cpu)
{
	return rq->buddy == cpu || rq->buddy == POLICY_NONE;
}

/* May this search return @cpu? */
static __always_inline int policy_may_return(const struct policy_ctx *c, u32 cpu)
{
	return !policy_packs_fully(c) || !(c->flags & WAKE_PACKED) ||
	       policy_takes_part(policy_cpu_at(c, cpu), cpu);
}

/* A share of time: @part of @whole. */
struct policy_pack_share {
	u64 part;
	u64 whole;
};

/*
 * The share of time in which @rq had tasks. The patch reads sum and period of 2013 without
 * a lock, so that the sum may be newer than the period; the period limits it.
 */
static __always_inline struct policy_pack_share policy_cpu_share(const struct policy_params *k,
								 const struct policy_cpu *rq)
{
	struct policy_pack_share s = { rq->pelt13.runnable_avg_sum,
		rq->pelt13.runnable_avg_period };

	if (POLICY_FEATURE_RULE(k, pack_pelt)) {
		s.part = rq->cfs.util_avg;
		s.whole = rq->capacity_orig;
	}
	if (s.part > s.whole)
		s.part = s.whole;
	return s;
}

/*
 * Was @cpu busy for more than half of its time if it has no task now, a third with one, a
 * quarter with two (is_buddy_busy)?
 */
static __always_inline int policy_pack_busy(const struct policy_ctx *c, u32 cpu)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	struct policy_pack_share s = policy_cpu_share(c->k, rq);

	return s.part > s.whole / ((u64)rq->nr_running + 2);
}

/* Was @cpu busy for all but 2.4 % of its time? A CPU without history was not. */
static __always_inline int policy_pack_full(const struct policy_ctx *c, u32 cpu)
{
	struct policy_pack_share s = policy_cpu_share(c->k, policy_cpu_at(c, cpu));

	return s.whole && s.part * 1024 >= s.whole * 1000;
}

/*
 * Does the wakee take less than pack_light percent of a CPU (is_light_task)? The patch
 * tests this before the wakee's signals decay over its sleep; with pack_at_wake they
 * decay first.
 */
static inline int policy_pack_light(const struct policy_ctx *c)
{
	struct policy_pelt13 a = c->p->pelt13;

	if (POLICY_FEATURE_RULE(c->k, pack_pelt)) {
		if (c->k->pack_at_wake)
			policy_wakee_sync(c);
		return (u64)c->p->pelt.runnable_avg * 100 <
		       (u64)policy_cpu_at(c, c->prev_cpu)->capacity_orig * c->k->pack_light;
	}
	if (c->k->pack_at_wake)
		policy_update_entity_runnable_avg(&a, c->now, 0);
	return (u64)a.runnable_avg_sum * 100 < (u64)a.runnable_avg_period * c->k->pack_light;
}

/* Steps 2 and 3 above, or POLICY_NONE. */
policy_subprog u32 policy_pack_wake(const struct policy_ctx *c)
{
	u32 buddy = policy_cpu_at(c, c->prev_cpu)->buddy;

	if (POLICY_FEATURE_RULE(c->k, pack) == PACK_NONE || buddy >= c->topo->nr_cpus)
		return POLICY_NONE;
	if (!policy_mask_test(c->allowed, buddy)) {
		policy_note(c, STEP_PACK_BUDDY, buddy, VERDICT_NOT_ALLOWED, 0);
		return POLICY_NONE;
	}
	policy_looked_at(c, buddy);
	if (policy_packs_fully(c) && !policy_pack_full(c, buddy))
		return policy_take(c, STEP_PACK_FULL, buddy);
	if (!policy_pack_light(c)) {
		policy_note(c, STEP_PACK_BUDDY, buddy, VERDICT_NOT_PACKING, 0);
		return POLICY_NONE;
	}
	if (!policy_pack_busy(c, buddy))
		return policy_take(c, STEP_PACK_BUDDY, buddy);
	policy_note(c, STEP_PACK_BUDDY, buddy, VERDICT_BUSY, policy_cpu_at(c, buddy)->nr_running);
	return POLICY_NONE;
}

/* The buddy if it idles, else the first idle CPU of its smallest domain that has one. */
policy_noinline u32 policy_pack_near(const struct policy_ctx *c)
{
	u32 nr = c->topo->nr_cpus, buddy = policy_cpu_at(c, c->this_cpu)->buddy, l, n;
	const struct policy_place *place;

	if (POLICY_FEATURE_RULE(c->k, pack_by_level) || buddy >= nr)
		return POLICY_NONE;
	if (policy_mask_test(c->allowed, buddy) && policy_try_idle(c, STEP_PACK_NEAR, buddy))
		return policy_take(c, STEP_PACK_NEAR, buddy);
	place = policy_place_at(c, buddy);
	policy_for(l, 0, POLICY_MAX_LEVELS) {
		const struct policy_domain *d;
		u32 cpu = 0;

		if (l >= place->nr_domains)
			break;
		d = policy_domain_at(c, place->domain[l]);
		if (d->flags & DOMAIN_SMT)
			continue;
		policy_for(n, 0, POLICY_MAX_CPUS) {
			cpu = policy_mask_next_and(&d->span, c->allowed, policy_hide(cpu), nr);
			if (cpu >= nr)
				break;
			if (policy_try_idle(c, STEP_PACK_NEAR, cpu))
				return policy_take(c, STEP_PACK_NEAR, cpu);
			cpu++;
		}
	}
	return POLICY_NONE;
}

/*
 * Where the ordinary search begins in full mode. A wakee that may be pulled is also
 * pulled if its previous CPU takes no part. A target that takes no part is replaced by
 * its buddy.
 */
static inline u32 policy_pack_target(const struct policy_ctx *c, u32 target)
{
	u32 buddy;

	if (c->answer->affine > AFFINE_NOT_ALLOWED &&
	    !policy_takes_part(policy_cpu_at(c, c->prev_cpu), c->prev_cpu))
		target = c->this_cpu;
	buddy = policy_cpu_at(c, target)->buddy;
	if (policy_takes_part(policy_cpu_at(c, target), target) || buddy >= c->topo->nr_cpus ||
	    !policy_mask_test(c->allowed, buddy))
		return target;
	return buddy;
}

/*
 * Confines the search to the allowed CPUs that take part. Returns 0, without confining
 * it, if there are none.
 */
static inline int policy_pack_begin(struct policy_ctx *c)
{
	struct policy_mask *packed = &c->scratch->packed;
	u32 any = policy_hide(0), cpu;

	*packed = *c->allowed;
	policy_for(cpu, 0, c->topo->nr_cpus) {
		if (!policy_takes_part(policy_cpu_at(c, cpu), cpu))
			policy_mask_clear(packed, cpu);
		else if (policy_mask_test(packed, cpu))
			any = policy_hide(1);
	}
	if (!any)
		return 0;
	c->allowed = packed;
	c->flags |= WAKE_PACKED;
	return 1;
}

/* The search is over: it is confined no longer. */
static __always_inline void policy_pack_end(struct policy_ctx *c)
{
	c->allowed = c->all_allowed;
	c->flags &= ~WAKE_PACKED;
}

#endif
