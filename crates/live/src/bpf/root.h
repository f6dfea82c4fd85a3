/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * root.h - facts of the root domain that change while the scheduler runs
 */
#ifndef ALIGHT_LIVE_ROOT_H
#define ALIGHT_LIVE_ROOT_H

#include "clamps.h"
#include "machine.h"

/* Some CPU is overutilized (rd->overutilized, energy.h); no lock, as in the kernel. */
u32 overutilized;

/* The facts as they are now, for one decision. */
static __always_inline struct policy_root root_now(void)
{
	struct policy_root root = {};

	root.uclamp_used = clamps_count(the_params());
	root.overutilized = overutilized;
	return root;
}

#endif
