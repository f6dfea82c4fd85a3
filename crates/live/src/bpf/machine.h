/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine.h - the machine and the scheduler's rules, which the loader writes
 *
 * Domains, groups and places are written again when CPUs come or go.
 */
#ifndef ALIGHT_LIVE_MACHINE_H
#define ALIGHT_LIVE_MACHINE_H

#include "kernel.h"
#include "policy/abi.h"
#include "policy/params.h"

/* Set by the loader before the program is loaded. The verifier knows the constants. */
const volatile struct policy_params params;
const volatile struct policy_topology topology;
/* The kernel's tick, ns. */
const volatile u64 tick_ns;
/* Slice of a task that did not ask for one, ns; the loader sets it by the number of online CPUs. */
u64 base_slice;
/* Never written here, but global functions take pointers to writable memory only. */
struct policy_domain domains[POLICY_MAX_DOMAINS];
struct policy_group groups[POLICY_MAX_GROUPS];
struct policy_place places[POLICY_MAX_CPUS];

/* A constant of the loader, without the `volatile` that keeps the compiler from folding it. */
#define CONSTANT(type, object) ({				\
	const type *__p = (const type *)&(object);		\
	asm volatile("" : "+r"(__p));				\
	__p;							\
})

static __always_inline const struct policy_params *the_params(void)
{
	return CONSTANT(struct policy_params, params);
}

#endif
