/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctx.h - accessors of the views of a decision, by number
 */
#ifndef ALIGHT_CTX_H
#define ALIGHT_CTX_H

#include "mask.h"
#include "params.h"
#include "scratch.h"

static __always_inline struct policy_cpu *policy_cpu_at(const struct policy_ctx *c, u32 cpu)
{
	return &c->cpu[policy_bound(cpu, POLICY_MAX_CPUS)];
}

static __always_inline const struct policy_place *policy_place_at(const struct policy_ctx *c,
								  u32 cpu)
{
	return &c->place[policy_bound(cpu, POLICY_MAX_CPUS)];
}

static __always_inline const struct policy_domain *policy_domain_at(const struct policy_ctx *c,
								    u32 d)
{
	return &c->domain[policy_bound(d, POLICY_MAX_DOMAINS)];
}

static __always_inline struct policy_group *policy_group_at(const struct policy_ctx *c, u32 g)
{
	return &c->group[policy_bound(g, POLICY_MAX_GROUPS)];
}

static __always_inline struct policy_llc *policy_llc_at(const struct policy_ctx *c, u32 llc)
{
	return &c->llc[policy_bound(llc, POLICY_MAX_CPUS)];
}

static __always_inline const struct policy_perf_domain *policy_perf_at(const struct policy_ctx *c,
								       u32 d)
{
	return &c->perf[policy_bound(d, POLICY_MAX_PERF_DOMAINS)];
}

static __always_inline int policy_cpus_share_cache(const struct policy_ctx *c, u32 a, u32 b)
{
	return policy_place_at(c, a)->llc == policy_place_at(c, b)->llc;
}

#endif
