/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sis_util.h - how many CPUs of a cache a wakeup looks at
 *
 * The more CPUs of a cache are in use, the fewer of them a search looks at (SIS_UTIL,
 * from 5.19). The kernel computes the number again when a CPU balances the cache's
 * domain. A busy CPU does that every 16 ms times the number of its CPUs (busy_factor,
 * sd_init()), so one of them does it every 16 ms. Here a tick does.
 */
#ifndef ALIGHT_LIVE_SIS_UTIL_H
#define ALIGHT_LIVE_SIS_UTIL_H

#include "kernel.h"
#include "policy/idle_scan.h"
#include "views.h"

#define SIS_UTIL_NS	16000000ull

/* When the number of each shared state is computed again. */
u64 sis_util_at[POLICY_MAX_CPUS];

/* The domain whose state the searches of @place use: its cache, or the asymmetric one. */
static __always_inline const struct policy_domain *shared_domain(const struct policy_place *place)
{
	u32 domain = place->shared == place->llc ? place->llc_domain : place->asym_domain;

	return domain == POLICY_NONE ? NULL : &domains[policy_bound(domain, POLICY_MAX_DOMAINS)];
}

/* Sum of the utilization of a domain's CPUs. */
static __noinline u64 domain_util(const struct policy_domain *d)
{
	u32 nr = topology.nr_cpus, cpu = 0, n;
	u64 util = 0;

	bpf_for(n, 0, nr) {
		cpu = policy_mask_next_and(&d->span, &d->span, cpu, nr);
		if (cpu >= nr)
			break;
		util += view_util(cpu);
		cpu = policy_hide(cpu + 1);
	}
	return util;
}

/* A tick on @cpu. */
static __noinline int sis_util_tick(u32 cpu, u64 now)
{
	const struct policy_place *place = &places[policy_bound(cpu, POLICY_MAX_CPUS)];
	u32 shared = policy_bound(place->shared, POLICY_MAX_CPUS);
	const struct policy_domain *d = shared_domain(place);

	if (!params.sis_util || !d || (s64)(now - sis_util_at[shared]) < 0)
		return 0;
	sis_util_at[shared] = now + SIS_UTIL_NS;
	llcs[shared].nr_idle_scan = policy_nr_idle_scan(domain_util(d), d->weight,
							d->imbalance_pct);
	return 0;
}

#endif
