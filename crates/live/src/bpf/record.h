/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - one decision as the kernel side records it
 *
 * A record is this structure, then nr_llcs caches before the decision, nr_llcs
 * after it, then nr_cpus CPU views before it. Of the CPU views only that of
 * this_cpu may change. Domains, groups and places do not change while the
 * scheduler runs, and the loader made them.
 */
#ifndef ALIGHT_LIVE_RECORD_H
#define ALIGHT_LIVE_RECORD_H

#include "policy/abi.h"

struct decision {
	u64 now;
	u32 this_cpu;
	u32 kind;			/* enum policy_kind */
	u32 sync;
	u32 nr_llcs;
	u32 nr_cpus;
	u32 unused;
	struct policy_root root;
	struct policy_mask allowed;
	struct policy_task wakee;
	struct policy_task waker;
	struct policy_answer answer;
	struct policy_task wakee_after;
	struct policy_task waker_after;
	struct policy_cpu here_after;	/* view of this_cpu */
};

#endif
