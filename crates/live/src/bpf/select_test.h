/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * select_test.h - one question to the decision in the kernel, and its answer
 *
 * The loader fills in all fields up to the decision. The changes of the machine since
 * the question before come first.
 */
#ifndef ALIGHT_LIVE_SELECT_TEST_H
#define ALIGHT_LIVE_SELECT_TEST_H

#include "policy/abi.h"

#define MAX_CHANGES	4	/* CPUs that change before a question; a power of two */
#define MAX_QUESTIONS	256	/* a call of the program; a power of two */

struct cpu_change {
	struct policy_cpu view;
	u32 cpu;
	u32 unused;
};

struct question {
	struct cpu_change changes[MAX_CHANGES];
	u32 nr_changes;
	u32 llc;			/* search state that changes, POLICY_NONE: none */
	struct policy_llc llc_view;
	u32 group;			/* group whose imbalance changes, POLICY_NONE: none */
	u32 imbalance;
	u64 now;
	u32 this_cpu;
	u32 kind;			/* enum policy_kind */
	u32 sync;
	u32 flags;			/* WAKE_* */
	struct policy_root root;
	struct policy_mask allowed;
	struct policy_task wakee;
	struct policy_task waker;
	/* as the decision leaves them; wakee and waker too */
	struct policy_answer answer;
	struct policy_cpu here;		/* view of this_cpu */
	u64 llc_states;			/* of all search states, see sum_of_states() */
	u32 cpu;			/* what policy_select() returned */
	u32 unused;
};

#endif
