/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * energy_aware.h - the CPU on which the wakee costs least energy (EAS)
 *
 * kernel 5.0 and later: find_energy_efficient_cpu(). It needs an energy model,
 * CPUs that differ in capacity, and no overutilized CPU.
 *
 *	1. In each set of CPUs that share a frequency, the candidate is the CPU with
 *	   the most spare capacity that the wakee fits. The previous CPU is a
 *	   candidate too.
 *	2. The price of a candidate is the energy of its set with the wakee there,
 *	   minus the energy without the wakee.
 *	3. 6.0: the cheapest candidate wins if it is cheaper than the previous CPU,
 *	   else the previous CPU. A candidate that meets more of the wakee's clamps
 *	   wins whatever its price.
 *	   5.0 to 5.19: the cheapest must save a 16th of the energy of all sets, from
 *	   5.15 on of the sets that have a candidate.
 *
 * The energy of a set is cost * utilization. Its busiest CPU selects the operating
 * point, which has a cost per unit of utilization; the utilization is the sum over
 * its CPUs.
 */
#ifndef ALIGHT_ENERGY_AWARE_H
#define ALIGHT_ENERGY_AWARE_H

#include "uclamp.h"

#define POLICY_NO_ENERGY	(~0ull)

/*
 * A part of the search that is called repeatedly. Its result is in c->scratch: the
 * verifier does not track values there, so that its loops converge.
 */
#ifdef __bpf__
#define policy_energy_subprog	policy_noinline
#else
#define policy_energy_subprog	static inline
#endif

/* Clamps of the wakee; the defaults until a clamp has been requested. */
static __always_inline u32 policy_wakee_uclamp_min(const struct policy_ctx *c)
{
	return c->root.uclamp_used ? c->p->uclamp_min : 0;
}

static __always_inline u32 policy_wakee_uclamp_max(const struct policy_ctx *c)
{
	return c->root.uclamp_used ? c->p->uclamp_max : CAPACITY_SCALE;
}

/*
 * Utilization of @cpu if the wakee were on @dst, or on no CPU if that is POLICY_NONE
 * (cpu_util(), earlier cpu_util_next()). @boost: the value that selects a frequency.
 */
static inline u32 policy_cpu_util_moved(const struct policy_ctx *c, u32 cpu, u32 dst, int boost)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	int comes = cpu == dst && cpu != c->prev_cpu, goes = cpu != dst && cpu == c->prev_cpu;
	u32 util = rq->cfs.util_avg, runnable = rq->cfs.runnable_avg, est = rq->util_est_enqueued;
	u32 mine = c->p->pelt.util_avg;

	if (policy_sums_count(c)) {
		util = policy_cfs_util_uclamp(c->k, rq);
		mine = policy_task_util_uclamp(c->k, c->p);
		boost = boost && !policy_uclamp_rq_is_capped(c->k, rq);
	}
	if (boost && c->k->util_boost == BOOST_QUEUE)
		util = policy_max(util, runnable);
	if (comes) {
		util += mine;
		runnable += c->p->pelt.runnable_avg;
	} else if (goes) {
		util = policy_sub_positive(util, mine);
		runnable = policy_sub_positive(runnable, c->p->pelt.runnable_avg);
	}
	if (boost && c->k->util_boost == BOOST_TASK)
		util = policy_max(util, runnable);
	if (cpu == dst)
		est += policy_task_est(c->k, c->p);
	return policy_min(policy_max(util, est), rq->capacity_orig);
}

/*
 * The same with biases (cpu_util_uclamp()). The wakee's old queue still includes its
 * util_avg, but not its bias.
 */
static inline u32 policy_cpu_util_uclamp_moved(const struct policy_ctx *c, u32 cpu, u32 dst,
					       int boost)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 util = policy_cfs_util_uclamp(c->k, rq), mine = policy_task_util_uclamp(c->k, c->p);
	u32 est = rq->util_est_uclamp;
	s32 bias = c->p->pelt.uclamp;

	if (boost && c->k->util_boost != BOOST_NONE)
		util = policy_boost_uclamp(c->k, rq, util);
	if (cpu == c->prev_cpu) {
		util = bias < 0 ? policy_sub_positive(util, (u32)-bias) : util + (u32)bias;
		if (cpu != dst)
			util = policy_sub_positive(util, mine);
	} else if (cpu == dst) {
		util += mine;
	}
	if (cpu == dst)
		est += c->p->util_est_uclamp;
	return policy_min(policy_max(util, est), rq->capacity_orig);
}

/* Utilization of tasks in the time that interrupts leave (scale_irq_capacity). */
static __always_inline u32 policy_scale_irq_capacity(u32 util, u32 irq, u32 capacity)
{
	return (u32)((u64)util * (capacity - irq) / capacity);
}

/* Busy time of a CPU, all classes (effective_cpu_util, as energy counts it). */
static inline u32 policy_effective_cpu_util(const struct policy_ctx *c, u32 cpu, u32 util)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 scale = rq->capacity_orig, irq = rq->irq_util;

	if (irq >= scale)
		return scale;
	util += (u32)rq->rt_util + rq->dl_util;
	if (util >= scale)
		return scale;
	return policy_min(scale, policy_scale_irq_capacity(util, irq, scale) + irq);
}

/* Clamps of a CPU's queue, with the wakee's if it comes. */
struct policy_uclamps {
	u32 lo;
	u32 hi;
};

/*
 * A queue without clamped tasks has stale clamps, which the wakee's replace. Kernels
 * that do not test estimate and clamps separately still count the stale ones.
 */
static inline struct policy_uclamps policy_uclamp_with(const struct policy_ctx *c, u32 cpu,
						       int comes)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	struct policy_uclamps v = { rq->uclamp_min, rq->uclamp_max };

	if (!comes)
		return v;
	if (rq->uclamp_idle && policy_clamps_fit(c->k)) {
		v.lo = c->p->uclamp_min;
		v.hi = c->p->uclamp_max;
		return v;
	}
	v.lo = policy_max(v.lo, c->p->uclamp_min);
	v.hi = policy_max(v.hi, c->p->uclamp_max);
	return v;
}

/* 5.0 to 6.7: fair and real-time utilization, clamped, plus deadline bandwidth (FREQUENCY_UTIL). */
static inline u32 policy_frequency_util(const struct policy_ctx *c, u32 cpu, u32 util, int comes)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 scale = rq->capacity_orig, irq = rq->irq_util;

	if (!c->root.uclamp_used && rq->rt_nr_running)
		return scale;
	if (irq >= scale)
		return scale;
	util += rq->rt_util;
	if (c->root.uclamp_used && !policy_clamps_add_up(c->k)) {
		struct policy_uclamps v = policy_uclamp_with(c, cpu, comes);

		util = v.lo >= v.hi ? v.lo : policy_max(v.lo, policy_min(util, v.hi));
	}
	if (util + rq->dl_util >= scale)
		return scale;
	return policy_min(scale,
			  policy_scale_irq_capacity(util, irq, scale) + irq + rq->dl_bandwidth);
}

/* From 6.8: a quarter more than the busy time, within clamps (sugov_effective_cpu_perf). */
static inline u32 policy_effective_cpu_perf(const struct policy_ctx *c, u32 cpu, u32 util,
					    int comes)
{
	const struct policy_cpu *rq = policy_cpu_at(c, cpu);
	u32 scale = rq->capacity_orig, irq = rq->irq_util, lo = scale, hi = scale, busy;

	busy = policy_effective_cpu_util(c, cpu, util);
	if (irq < scale) {
		lo = irq + rq->dl_bandwidth;
		if (!c->root.uclamp_used || !policy_clamps_add_up(c->k)) {
			lo = policy_max(lo, rq->uclamp_min);
			hi = policy_min(scale, rq->uclamp_max);
		}
		if (!c->root.uclamp_used && rq->rt_nr_running)
			lo = policy_max(lo, scale);
	}
	if (comes && c->root.uclamp_used && !policy_clamps_add_up(c->k)) {
		lo = policy_max(lo, c->p->uclamp_min);
		hi = rq->uclamp_idle ? c->p->uclamp_max : policy_max(hi, c->p->uclamp_max);
	}
	busy += busy >> 2;
	return policy_max(lo, policy_min(hi, busy));
}

/* Largest demand of a CPU of the set with the wakee on @dst. */
static inline u32 policy_pd_max_util(const struct policy_ctx *c, const struct policy_perf_domain *d,
				     u32 dst)
{
	u32 nr = c->topo->nr_cpus, most = policy_hide(0), cpu = 0, n;

	policy_for(n, 0, POLICY_MAX_CPUS) {
		u32 util, wants;

		most = policy_hide(most);
		cpu = policy_mask_next_and(&d->span, &d->span, cpu, nr);
		if (cpu >= nr)
			break;
		if (!policy_cpu_at(c, cpu)->offline) {
			util = policy_biases_count(c) ?
				       policy_cpu_util_uclamp_moved(c, cpu, dst, 1) :
				       policy_cpu_util_moved(c, cpu, dst, 1);
			wants = c->k->performance == PERFORMANCE_CLAMPED ?
					policy_effective_cpu_perf(c, cpu, util, cpu == dst) :
					policy_frequency_util(c, cpu, util, cpu == dst);
			most = policy_max(most, wants);
			c->answer->summed++;
		}
		cpu++;
	}
	return most;
}

/* Lowest operating point that gives @wants, the highest if none does (em_pd_get_efficient_state). */
static inline const struct policy_perf_state *
policy_pd_efficient_state(const struct policy_ctx *c, const struct policy_perf_domain *d, u64 wants)
{
	u32 i, last = d->last_state;

	policy_for(i, d->first_state, last + 1) {
		const struct policy_perf_state *s =
			&d->state[policy_bound(i, POLICY_MAX_PERF_STATES)];

		if ((c->k->state_by_performance ? s->performance : s->frequency) < wants)
			continue;
		if (c->k->skip_inefficient && s->flags & STATE_INEFFICIENT)
			continue;
		return s;
	}
	return &d->state[policy_bound(last, POLICY_MAX_PERF_STATES)];
}

/*
 * Energy of the set in c->scratch->energy.set with the wakee on @dst, or on no CPU if
 * that is POLICY_NONE (compute_energy).
 */
policy_energy_subprog u64 policy_compute_energy(const struct policy_ctx *c,
						const struct policy_perf_domain *d, u32 dst)
{
	const struct policy_energy_pd *s = &c->scratch->energy.set;
	u32 first = policy_mask_next_and(&d->span, &d->span, 0, c->topo->nr_cpus);
	u64 scale = policy_max(policy_cpu_at(c, first)->capacity_orig, 1);
	u64 top = d->state[policy_bound(d->nr_states - 1, POLICY_MAX_PERF_STATES)].frequency;
	u32 wants = policy_min(policy_pd_max_util(c, d, dst), s->capacity);
	u32 busy = s->busy;

	if (dst != POLICY_NONE)
		busy = policy_min(s->total, busy + s->wakee);
	if (!busy)
		return 0;
	if (c->k->state_by_performance)
		return policy_pd_efficient_state(c, d, wants)->cost * busy;
	if (c->k->performance == PERFORMANCE_FREQUENCY)
		return policy_pd_efficient_state(c, d, (top + (top >> 2)) * wants / scale)->cost *
		       busy / scale;
	if (c->k->performance == PERFORMANCE_UTIL)
		wants = policy_min(wants + (wants >> 2), s->capacity);
	return policy_pd_efficient_state(c, d, top * wants / scale)->cost * busy / scale;
}

/*
 * Utilization that keeps @cpu busy with the wakee on @dst. 5.15 adds the wakee's whole
 * estimate to the utilization without it (compute_energy, util_running).
 */
static inline u32 policy_busy_util(const struct policy_ctx *c, u32 cpu, u32 dst)
{
	if (cpu == dst && c->k->eas == EAS_SIXTEENTH_OF_SOME)
		return policy_cpu_util_moved(c, cpu, POLICY_NONE, 0) + policy_wakee_util_est(c);
	return policy_cpu_util_moved(c, cpu, dst, 0);
}

/* Busy time of the set with the wakee on @dst; @limit bounds the time of each CPU. */
static inline u32 policy_pd_busy_time(const struct policy_ctx *c,
				      const struct policy_perf_domain *d, u32 dst, u32 limit)
{
	u32 nr = c->topo->nr_cpus, busy = policy_hide(0), cpu = 0, n;

	policy_for(n, 0, POLICY_MAX_CPUS) {
		busy = policy_hide(busy);
		cpu = policy_mask_next_and(&d->span, &d->span, cpu, nr);
		if (cpu >= nr)
			break;
		if (!policy_cpu_at(c, cpu)->offline) {
			busy += policy_min(limit,
					   policy_effective_cpu_util(c, cpu,
								     policy_busy_util(c, cpu, dst)));
			c->answer->summed++;
		}
		cpu++;
	}
	return busy;
}

/* Smallest asymmetric domain of this CPU that holds the previous one, or POLICY_NONE. */
static inline u32 policy_energy_domain(const struct policy_ctx *c)
{
	const struct policy_place *here = policy_place_at(c, c->this_cpu);
	u32 found = policy_hide(0), l;

	if (here->asym_domain == POLICY_NONE)
		return POLICY_NONE;
	policy_for(l, 0, POLICY_MAX_LEVELS) {
		u32 domain = here->domain[policy_bound(l, POLICY_MAX_LEVELS)];

		found = policy_hide(found);
		if (l >= here->nr_domains)
			break;
		if (domain == here->asym_domain)
			found = 1;
		if (found && policy_mask_test(&policy_domain_at(c, domain)->span, c->prev_cpu))
			return domain;
	}
	return POLICY_NONE;
}

/* Room for the wakee on a CPU. */
struct policy_energy_room {
	s32 fit;		/* POLICY_FITS* */
	u32 spare;
};

/*
 * @v: clamps of the CPU with the wakee. If the queue's clamps are stale, @v stays as the
 * CPU before it in the set left it, as in the kernel's loop.
 */
static inline struct policy_energy_room policy_energy_room_on(const struct policy_ctx *c, u32 cpu,
							      struct policy_uclamps *v)
{
	u32 util = policy_cpu_util_moved(c, cpu, cpu, 0);
	u32 capacity = policy_cpu_at(c, cpu)->capacity;
	struct policy_energy_room room = { .spare = policy_sub_positive(capacity, util) };

	policy_looked_at(c, cpu);
	if (policy_sums_count(c)) {
		room.fit = policy_clamped_fits_cpu(c, util, util, cpu);
	} else if (policy_biases_count(c)) {
		u32 clamped = policy_cpu_util_uclamp_moved(c, cpu, cpu, 0);

		room.fit = policy_clamped_fits_cpu(c, util, clamped, cpu);
		if (room.fit == POLICY_FITS)
			room.spare = policy_sub_positive(capacity, clamped);
	} else if (policy_clamps_fit(c->k)) {
		if (c->root.uclamp_used && !policy_cpu_at(c, cpu)->uclamp_idle)
			*v = policy_uclamp_with(c, cpu, 1);
		room.fit = policy_util_fits_cpu(c, util, v->lo, v->hi, cpu);
	} else {
		room.fit = policy_fits_capacity(util, capacity);
	}
	if (room.fit == POLICY_FITS_NOT)
		policy_note(c, STEP_EAS_SAVES, cpu, VERDICT_TOO_SMALL, util);
	return room;
}

/* Finds the candidates of one set, in c->scratch->energy.found. */
policy_energy_subprog int policy_pd_candidates(const struct policy_ctx *c, u32 domain,
					       const struct policy_perf_domain *d)
{
	const struct policy_energy_choice none = {
		POLICY_NONE, POLICY_FITS_MIN_NOT, -1, POLICY_FITS_MIN_NOT, -1,
	};
	struct policy_energy_choice *best = &c->scratch->energy.found;
	struct policy_uclamps v = { policy_wakee_uclamp_min(c), policy_wakee_uclamp_max(c) };
	const struct policy_mask *span = &policy_domain_at(c, domain)->span;
	u32 nr = c->topo->nr_cpus, cpu = 0, n;

	*best = none;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		struct policy_energy_room room;

		cpu = policy_mask_next_and(&d->span, span, cpu, nr);
		if (cpu >= nr)
			break;
		if (policy_cpu_at(c, cpu)->offline || !policy_mask_test(c->allowed, cpu)) {
			cpu++;
			continue;
		}
		room = policy_energy_room_on(c, cpu, &v);
		if (room.fit != POLICY_FITS_NOT) {
			if (cpu == c->prev_cpu) {
				best->prev_fit = room.fit;
				best->prev_spare = (s32)room.spare;
			} else if (room.fit > best->fit ||
				   (room.fit == best->fit && (s32)room.spare > best->spare)) {
				best->cpu = cpu;
				best->fit = room.fit;
				best->spare = (s32)room.spare;
			} else {
				policy_note(c, STEP_EAS_SAVES, cpu, VERDICT_LESS_SPARE, room.spare);
			}
		}
		cpu++;
	}
	return 0;
}

/* Fills c->scratch->energy.set: the set without the wakee, and what the wakee adds. */
policy_energy_subprog int policy_pd_without(const struct policy_ctx *c,
					    const struct policy_perf_domain *d)
{
	u32 nr = c->topo->nr_cpus, cpu = 0, n;
	const struct policy_cpu *prev = policy_cpu_at(c, c->prev_cpu);
	struct policy_energy_pd *s = &c->scratch->energy.set;

	s->capacity = s->total = 0;
	policy_for(n, 0, POLICY_MAX_CPUS) {
		cpu = policy_mask_next_and(&d->span, &d->span, cpu, nr);
		if (cpu >= nr)
			break;
		if (!policy_cpu_at(c, cpu)->offline) {
			if (!s->total)	/* the first CPU stands for all */
				s->capacity = policy_actual_cpu_capacity(c, cpu);
			s->total += s->capacity;
		}
		cpu++;
	}
	s->busy = policy_min(s->total, policy_pd_busy_time(c, d, POLICY_NONE, POLICY_NONE));
	s->wakee = prev->irq_util >= prev->capacity_orig ?
			   prev->capacity_orig :
			   policy_scale_irq_capacity(policy_wakee_util_est(c), prev->irq_util,
						     prev->capacity_orig);
	return 0;
}

/* Prices the candidates of one set. False: utilization changed meanwhile, the search ends. */
static inline int policy_pd_price(const struct policy_ctx *c, const struct policy_perf_domain *d)
{
	const struct policy_energy_choice *found = &c->scratch->energy.found;
	const struct policy_energy_pd *s = &c->scratch->energy.set;
	struct policy_energy_best *best = &c->scratch->energy.best;
	u64 without, with;

	policy_pd_without(c, d);
	without = policy_compute_energy(c, d, POLICY_NONE);
	if (found->prev_spare >= 0) {
		with = policy_compute_energy(c, d, c->prev_cpu);
		if (with < without)
			return 0;
		best->prev_delta = with - without;
		best->prev_fit = found->prev_fit;
		best->prev_capacity = s->capacity;
		if (best->prev_delta < best->delta)
			best->delta = best->prev_delta;
	}
	if (found->cpu == POLICY_NONE || found->spare <= found->prev_spare)
		return 1;
	if (found->fit < best->fit ||
	    (found->fit == POLICY_FITS_MIN_NOT && s->capacity <= best->capacity))
		return 1;
	with = policy_compute_energy(c, d, found->cpu);
	if (with < without)
		return 0;
	with -= without;
	if (found->fit == POLICY_FITS && best->fit == POLICY_FITS && with >= best->delta) {
		policy_note(c, STEP_EAS_SAVES, found->cpu, VERDICT_MORE_ENERGY, (u32)with);
		return 1;
	}
	best->delta = with;
	best->cpu = found->cpu;
	best->fit = found->fit;
	best->capacity = s->capacity;
	return 1;
}

/* From 6.0: any saving over the previous CPU is enough. */
static inline u32 policy_least_energy(const struct policy_ctx *c, u32 domain)
{
	const struct policy_energy_choice *found = &c->scratch->energy.found;
	struct policy_energy_best *best = &c->scratch->energy.best;
	u32 n;

	policy_for(n, 0, c->nr_perf) {
		const struct policy_perf_domain *d = policy_perf_at(c, n);

		policy_pd_candidates(c, domain, d);
		if (found->cpu == POLICY_NONE && found->prev_spare < 0)
			continue;
		if (!policy_pd_price(c, d))
			return policy_take(c, STEP_EAS_PREV, c->prev_cpu);
	}
	if (best->cpu != POLICY_NONE) {
		if (best->fit > best->prev_fit || (best->fit == POLICY_FITS_MIN_NOT &&
						   best->capacity > best->prev_capacity))
			return policy_take(c, STEP_EAS_FITS, best->cpu);
		if (best->fit == POLICY_FITS && best->delta < best->prev_delta)
			return policy_take(c, STEP_EAS_SAVES, best->cpu);
	}
	return policy_take(c, STEP_EAS_PREV, c->prev_cpu);
}

/*
 * 5.0 to 5.19: energy of the set with the wakee on @dst; all its CPUs are summed again.
 * In 5.15 the capacity under limits bounds the busy time of each CPU.
 */
static inline u64 policy_whole_energy(const struct policy_ctx *c,
				      const struct policy_perf_domain *d, u32 dst)
{
	u32 first = policy_mask_next_and(&d->span, &d->span, 0, c->topo->nr_cpus);
	struct policy_energy_pd *s = &c->scratch->energy.set;

	s->capacity = c->k->eas == EAS_SIXTEENTH_OF_SOME ? policy_actual_cpu_capacity(c, first) :
							   CAPACITY_SCALE;
	s->total = ~0u;
	s->wakee = 0;
	s->busy = policy_pd_busy_time(c, d, dst, s->capacity);
	return policy_compute_energy(c, d, dst);
}

/* The candidate of this set would cost @delta: keeps it if that is the least so far. */
static inline void policy_keep_cheapest(const struct policy_ctx *c, u64 delta)
{
	const struct policy_energy_choice *found = &c->scratch->energy.found;
	struct policy_energy_best *best = &c->scratch->energy.best;

	if (delta < best->delta) {
		best->delta = delta;
		best->cpu = found->cpu;
	} else {
		policy_note(c, STEP_EAS_SAVES, found->cpu, VERDICT_MORE_ENERGY, (u32)delta);
	}
}

/* 5.0 to 5.10: prices a set. Its energy adds to the base even without a candidate. */
static inline void policy_price_set(const struct policy_ctx *c, u32 domain,
				    const struct policy_perf_domain *d)
{
	const struct policy_energy_choice *found = &c->scratch->energy.found;
	struct policy_energy_best *best = &c->scratch->energy.best;
	u64 without = policy_whole_energy(c, d, POLICY_NONE);

	policy_pd_candidates(c, domain, d);
	best->base += without;
	if (found->prev_spare >= 0) {
		best->prev_delta = policy_whole_energy(c, d, c->prev_cpu) - without;
		if (best->prev_delta < best->delta)
			best->delta = best->prev_delta;
	}
	/* The previous CPU may be the roomiest; of equals the first in CPU order is. */
	if (found->cpu == POLICY_NONE || found->spare <= 0 || found->prev_spare > found->spare ||
	    (found->prev_spare == found->spare && c->prev_cpu < found->cpu))
		return;
	policy_keep_cheapest(c, policy_whole_energy(c, d, found->cpu) - without);
}

/* 5.15: prices a set that has a candidate. False: as policy_pd_price(). */
static inline int policy_price_set_of_candidate(const struct policy_ctx *c, u32 domain,
						const struct policy_perf_domain *d)
{
	const struct policy_energy_choice *found = &c->scratch->energy.found;
	struct policy_energy_best *best = &c->scratch->energy.best;
	u64 without, with;

	policy_pd_candidates(c, domain, d);
	if (found->prev_spare < 0 && found->spare <= 0)
		return 1;
	without = policy_whole_energy(c, d, POLICY_NONE);
	best->base += without;
	if (found->prev_spare >= 0) {
		with = policy_whole_energy(c, d, c->prev_cpu);
		if (with < without)
			return 0;
		best->prev_delta = with - without;
		if (best->prev_delta < best->delta)
			best->delta = best->prev_delta;
	}
	if (found->spare <= 0)
		return 1;
	with = policy_whole_energy(c, d, found->cpu);
	if (with < without)
		return 0;
	policy_keep_cheapest(c, with - without);
	return 1;
}

/* 5.0 to 5.19: must save a 16th of all energy, unless the previous CPU is no candidate. */
static inline u32 policy_sixteenth_less(const struct policy_ctx *c, u32 domain)
{
	struct policy_energy_best *best = &c->scratch->energy.best;
	u32 n;

	best->cpu = c->prev_cpu;
	policy_for(n, 0, c->nr_perf) {
		const struct policy_perf_domain *d = policy_perf_at(c, n);

		if (c->k->eas != EAS_SIXTEENTH_OF_SOME)
			policy_price_set(c, domain, d);
		else if (!policy_price_set_of_candidate(c, domain, d))
			return policy_take(c, STEP_EAS_PREV, c->prev_cpu);
	}
	if (best->cpu == c->prev_cpu)
		return policy_take(c, STEP_EAS_PREV, best->cpu);
	if (best->prev_delta == POLICY_NO_ENERGY)
		return policy_take(c, STEP_EAS_FITS, best->cpu);
	if (best->prev_delta - best->delta > (best->prev_delta + best->base) >> 4)
		return policy_take(c, STEP_EAS_SAVES, best->cpu);
	return policy_take(c, STEP_EAS_PREV, c->prev_cpu);
}

/* The chosen CPU, or POLICY_NONE where energy does not decide. */
policy_noinline u32 policy_energy_aware(const struct policy_ctx *c)
{
	const struct policy_energy_best none = {
		.delta = POLICY_NO_ENERGY, .prev_delta = POLICY_NO_ENERGY, .cpu = POLICY_NONE,
		.fit = POLICY_FITS_MIN_NOT, .prev_fit = POLICY_FITS_MIN_NOT,
	};
	u32 domain = policy_energy_domain(c);

	if (domain == POLICY_NONE)
		return POLICY_NONE;
	c->scratch->energy.best = none;
	policy_wakee_sync(c);
	if (policy_clamps_add_up(c->k) && c->root.uclamp_used ?
		    !policy_wakee_util_est_uclamp(c) :
		    !policy_task_util_est(c->k, c->p) &&
			    !(policy_clamps_fit(c->k) && policy_wakee_uclamp_min(c)))
		return policy_take(c, STEP_EAS_PREV, c->prev_cpu);
	return c->k->eas == EAS_DELTA ? policy_least_energy(c, domain) :
					policy_sixteenth_less(c, domain);
}

#endif
