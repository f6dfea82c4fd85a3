/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - clamps that the loader's rules give to tasks
 *
 * The rules are constants, so that a scheduler without any has no code for them.
 * The rules that a task meets are found when it first comes, and again when its name,
 * nice value, policy or cgroup has changed; that is checked when the task wakes or is
 * queued. Cgroups are known by number: the loader writes which rules each of them
 * meets by its path. unknown_cgroups tells the loader that there is one that it does
 * not know yet. Until it does, a task of that cgroup meets none of the rules that ask
 * for a cgroup.
 */
#ifndef ALIGHT_LIVE_RULES_H
#define ALIGHT_LIVE_RULES_H

#include "kernel.h"
#include "policy/glob.h"

#define RULES_MOST	64
#define RULE_NO_CLAMP	0xffff

/* What a rule asks about. */
#define RULE_COMM	(1u << 0)
#define RULE_PID	(1u << 1)
#define RULE_NICE	(1u << 2)
#define RULE_POLICY	(1u << 3)

struct rule {
	u8 comm[GLOB_PATTERN];
	u32 asks;		/* RULE_* */
	u32 pid;		/* of a thread or a process */
	s32 nice_first;
	s32 nice_last;
	u32 policy;		/* enum policy_class, of what the task asked for */
	u16 uclamp_min;		/* RULE_NO_CLAMP: the task keeps its own */
	u16 uclamp_max;
};

/* Set by the loader before the program is loaded. */
const volatile u32 nr_rules;
const volatile struct rule rules[RULES_MOST];
const volatile bool rules_ask_cgroups;
const volatile u64 rules_of_any_cgroup;	/* bits of the rules that ask for no cgroup */

/* The loader adds 1 when the cgroups that it knows have changed. It begins with 1. */
u32 rules_generation;
/* Times that a cgroup was not known; the loader looks for new ones when this changes. */
u64 unknown_cgroups;

/* Rules that a cgroup meets by its path, as bits. The loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u64);
} cgroup_rules SEC(".maps");

/* What was known of a task when its rules were found, and the clamps that they give. */
struct task_rules {
	u64 comm[GLOB_NAME / 8];
	u64 cgroup;
	u32 generation;		/* 0: never looked */
	u32 class;
	s32 nice;
	u16 uclamp_min;		/* RULE_NO_CLAMP: its own */
	u16 uclamp_max;
};

static __always_inline u64 cgroup_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->cgroups) ? task->cgroups->dfl_cgrp->kn->id : 0;
}

/* Bits of the rules that tasks of this cgroup may meet. */
static __always_inline u64 rules_of_cgroup(const struct task_rules *s)
{
	u64 id = s->cgroup, *bits;

	if (!rules_ask_cgroups)
		return ~0ull;
	bits = bpf_map_lookup_elem(&cgroup_rules, &id);
	if (bits)
		return *bits;
	__sync_fetch_and_add(&unknown_cgroups, 1);
	return rules_of_any_cgroup;
}

/* Does the task's name match the pattern of rule @n? */
static __noinline int rule_matches_comm(const struct task_rules *s, u32 n)
{
	const volatile struct rule *r = &rules[policy_bound(n, RULES_MOST)];
	struct policy_glob_walk w = { .star = POLICY_NONE };
	const u8 *name = (const u8 *)s->comm;
	u32 i;

	bpf_for(i, 0, (GLOB_NAME + 1) * (GLOB_PATTERN + 2)) {
		enum policy_glob_step step;
		u8 c, g;

		w.n = policy_hide(w.n);
		w.p = policy_hide(w.p);
		w.star = policy_hide(w.star);
		w.from = policy_hide(w.from);
		c = w.n < GLOB_NAME ? name[policy_bound(w.n, GLOB_NAME)] : 0;
		g = w.p < GLOB_PATTERN ? r->comm[policy_bound(w.p, GLOB_PATTERN)] : 0;
		step = policy_glob_step(&w, c, g);
		if (step != GLOB_GOES_ON)
			return step == GLOB_MATCHES;
	}
	return 0;
}

/* Each clamp is decided by the first rule that the task meets and that sets this clamp. */
static __noinline int rules_find(struct task_rules *s, u32 pid, u32 tgid)
{
	u32 min = policy_hide(RULE_NO_CLAMP), max = policy_hide(RULE_NO_CLAMP), i;
	u64 bits = rules_of_cgroup(s);

	bpf_for(i, 0, nr_rules) {
		u32 n = policy_bound(i, RULES_MOST);
		const volatile struct rule *r = &rules[n];
		u32 asks = r->asks;

		min = policy_hide(min);
		max = policy_hide(max);
		if (!(bits >> n & 1))
			continue;
		if (asks & RULE_PID && r->pid != pid && r->pid != tgid)
			continue;
		if (asks & RULE_NICE && (s->nice < r->nice_first || s->nice > r->nice_last))
			continue;
		if (asks & RULE_POLICY && r->policy != s->class)
			continue;
		if (asks & RULE_COMM && !rule_matches_comm(s, n))
			continue;
		if (min == RULE_NO_CLAMP)
			min = r->uclamp_min;
		if (max == RULE_NO_CLAMP)
			max = r->uclamp_max;
	}
	s->uclamp_min = (u16)min;
	s->uclamp_max = (u16)max;
	return 0;
}

/* Checks whether the task has changed; if so, finds its rules again. */
static __always_inline void rules_read(struct task_rules *s, struct task_struct *task)
{
	u32 class = task->policy == SCHED_IDLE	? POLICY_IDLE :
		    task->policy == SCHED_BATCH ? POLICY_BATCH :
						  POLICY_NORMAL;
	s32 nice = task->static_prio - 120;
	u64 comm[GLOB_NAME / 8], cgroup = 0;

	if (bpf_probe_read_kernel(comm, sizeof(comm), task->comm))
		return;
	if (rules_ask_cgroups)
		cgroup = cgroup_of(task);
	if (s->generation == rules_generation && s->comm[0] == comm[0] && s->comm[1] == comm[1] &&
	    s->cgroup == cgroup && s->nice == nice && s->class == class)
		return;
	s->generation = rules_generation;
	s->comm[0] = comm[0];
	s->comm[1] = comm[1];
	s->cgroup = cgroup;
	s->nice = nice;
	s->class = class;
	rules_find(s, (u32)task->pid, (u32)task->tgid);
}

#endif
