/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scratch.h - the working memory of one decision
 */
#ifndef ALIGHT_SCRATCH_H
#define ALIGHT_SCRATCH_H

#include "abi.h"

/* Sums of the slow path over the CPUs of a group, without the wakee. */
struct policy_group_stats {
	u64 avg_load;		/* load per capacity, 1024 = one nice-0 task on a big CPU */
	u32 util;		/* sum over the CPUs */
	u32 runnable;		/* sum of runnable_avg */
	u32 nr_running;		/* of all classes */
	u16 idle_cpus;
	u16 weight;		/* CPUs; 0 with idlest_weight_unset */
	u16 allowed;		/* CPUs that the wakee may use */
	u16 type;
	u16 max_capacity;
	u16 misfit;		/* the wakee fits no CPU of it */
};

/* The same before 5.5: loads scaled by the group's capacity, and the room on its roomiest CPU. */
struct policy_group_load {
	u32 queued;
	u32 avg;
	u32 spare;
	u32 group;
};

/* EAS: one set of CPUs, and the values that all its candidates share. */
struct policy_energy_pd {
	u32 capacity;		/* of one of its CPUs under limits */
	u32 total;		/* of all of them */
	u32 busy;		/* their utilization without the wakee */
	u32 wakee;		/* what the wakee adds */
};

/* EAS: the candidates of one set. */
struct policy_energy_choice {
	u32 cpu;		/* with most room, except the previous CPU; POLICY_NONE: none */
	s32 fit;
	s32 spare;
	s32 prev_fit;
	s32 prev_spare;		/* -1: the previous CPU is not in this set, or no candidate */
};

/* EAS: the best so far, over all sets, and the previous CPU. */
struct policy_energy_best {
	u64 base;		/* up to 5.19: energy of all sets without the wakee */
	u64 delta;
	u64 prev_delta;
	u32 cpu;
	s32 fit;
	s32 prev_fit;
	u32 capacity;		/* under limits, of the best CPU's set */
	u32 prev_capacity;
};

/* Working memory, as large as two masks: the stack of BPF has only 512 bytes. */
struct policy_scratch {
	union {
		struct policy_mask cores;	/* cores not looked at yet */
		struct {
			struct policy_group_stats local, other, idlest;
		} groups;
		struct {
			struct policy_group_load local, other, least, roomiest;
		} loads;
		struct {
			struct policy_energy_best best;
			struct policy_energy_choice found;
			struct policy_energy_pd set;
		} energy;
	};
	struct policy_mask packed;	/* allowed CPUs that take part in packing */
};

#endif
