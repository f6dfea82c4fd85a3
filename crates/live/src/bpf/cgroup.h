/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h - the weights of task groups, flattened
 *
 * A group's weight is what all its runnable tasks weigh together among the
 * group's siblings, on the whole machine (calc_group_shares). Queues here hold
 * tasks only, so each task gets a part of it: its own weight, multiplied for each
 * of its groups, from the inside out, by the group's weight over the weight that
 * is runnable in the group.
 *
 * The runnable weight of a group is counted per cache, to keep writers apart. It
 * is summed up and smoothed at most once a millisecond: each tick updates one
 * group. A group without runnable tasks has no weight in its parent.
 *
 * Left out: bandwidth limits (cpu.max), and the order of groups on a CPU: a group
 * has no lag of its own, only its tasks have.
 */
#ifndef ALIGHT_LIVE_CGROUP_H
#define ALIGHT_LIVE_CGROUP_H

#include "kernel.h"
#include "fair.h"
#include "machine.h"
#include "policy/mask.h"

#define MAX_TASK_GROUPS	1024
#define MAX_GROUP_DEPTH	8
#define GROUP_CACHES	64	/* caches with counts of their own */
#define GROUP_NS	1000000ull
#define ROOT_GROUP	0

struct task_group {
	u32 used;
	u32 parent;
	u32 weight;			/* FAIR_NICE_0 is the kernel's 100 */
	u32 idle;			/* cpu.idle: all of it is SCHED_IDLE */
	u32 active;			/* its weight is in its parent's children */
	u32 children;			/* weights of active child groups */
	u64 load;			/* weight that is runnable in it, smoothed; 1024 = nice 0 */
	u64 refreshed;			/* when load was updated */
};

struct task_group task_groups[MAX_TASK_GROUPS];
/* Weights of a group's own runnable tasks, per cache. */
u32 tg_runnable[MAX_TASK_GROUPS][GROUP_CACHES];
/* The group that a tick updated last, and the first group that was never used. */
u32 tg_next, tg_end = 1;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TASK_GROUPS);
	__type(key, u64);
	__type(value, u32);
} tg_ids SEC(".maps");

static __always_inline struct task_group *tg_at(u32 group)
{
	return &task_groups[policy_bound(group, MAX_TASK_GROUPS)];
}

static __always_inline u32 *tg_runnable_at(u32 group, u32 cpu)
{
	u32 llc = places[policy_bound(cpu, POLICY_MAX_CPUS)].llc;

	return &tg_runnable[policy_bound(group, MAX_TASK_GROUPS)]
			      [policy_bound(llc, GROUP_CACHES)];
}

/* @weight of @group's own tasks has become runnable on @cpu; tg_leaves(): is so no more. */
static __always_inline void tg_joins(u32 group, u32 cpu, u32 weight)
{
	if (group != ROOT_GROUP)
		__sync_fetch_and_add(tg_runnable_at(group, cpu), weight);
}

static __always_inline void tg_leaves(u32 group, u32 cpu, u32 weight)
{
	if (group != ROOT_GROUP)
		__sync_fetch_and_add(tg_runnable_at(group, cpu), -weight);
}

/* Updates a group's load. */
static __noinline int tg_refresh(u32 group, u64 now)
{
	struct task_group *g = tg_at(group);
	u32 sum = g->children, i;

	if (!g->used || (s64)(now - g->refreshed) < (s64)GROUP_NS)
		return 0;
	g->refreshed = now;
	bpf_for(i, 0, GROUP_CACHES)
		sum = policy_hide(sum) + tg_runnable[policy_bound(group, MAX_TASK_GROUPS)]
						      [policy_bound(i, GROUP_CACHES)];
	g->load = g->load ? (3 * g->load + sum) / 4 : sum;
	if (!!sum == g->active)
		return 0;
	g->active = !!sum;
	__sync_fetch_and_add(&tg_at(g->parent)->children, sum ? g->weight : -g->weight);
	return 0;
}

/* Updates one group; called once a tick. */
static __always_inline void tg_refresh_one(u64 now)
{
	u32 group = tg_next + 1 < tg_end ? tg_next + 1 : 1;

	if (tg_end <= 1)
		return;
	tg_next = group;
	tg_refresh(group, now);
}

/* The weight, among all tasks, of a task of @weight in @group. */
static __noinline u32 tg_weight(u32 group, u32 weight, u64 now)
{
	u32 part = weight, i;

	bpf_for(i, 0, MAX_GROUP_DEPTH) {
		struct task_group *g;
		u64 load;

		part = policy_hide(part);
		group = policy_hide(group);
		g = tg_at(group);
		if (group == ROOT_GROUP)
			break;
		tg_refresh(group, now);
		load = g->load > part ? g->load : part;
		if (load)
			part = (u32)((u64)part * g->weight / load);
		group = g->parent;
	}
	return part > 2 ? part : 2;
}

/* Does @group, or a group that it is in, have cpu.idle? */
static __noinline int tg_idle(u32 group)
{
	u32 i;

	bpf_for(i, 0, MAX_GROUP_DEPTH) {
		group = policy_hide(group);
		if (group == ROOT_GROUP)
			break;
		if (tg_at(group)->idle)
			return 1;
		group = tg_at(group)->parent;
	}
	return 0;
}

static __always_inline u64 cgroup_id(const struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id);
}

/* The group of @cgroup; the root's if it is not known, for instance because there are too many. */
static __always_inline u32 group_of(const struct cgroup *cgroup)
{
	u64 id = cgroup_id(cgroup);
	u32 *group = bpf_map_lookup_elem(&tg_ids, &id);

	return group ? *group : ROOT_GROUP;
}

/* sched_weight_from_cgroup */
static __always_inline u32 weight_from_cgroup(u32 weight)
{
	return (weight * 1024 + 50) / 100;
}

/* The weight of a group has changed. */
static __noinline int tg_reweigh(u32 group, u32 weight)
{
	struct task_group *g = tg_at(group);

	if (group == ROOT_GROUP)
		return 0;
	if (g->active)
		__sync_fetch_and_add(&tg_at(g->parent)->children, weight - g->weight);
	g->weight = weight;
	return 0;
}

/* cpu.idle of a group is set or cleared, which changes its weight (sched_group_set_idle). */
static __noinline int tg_set_idle(u32 group, int idle)
{
	struct task_group *g = tg_at(group);

	if (group == ROOT_GROUP || g->idle == !!idle)
		return 0;
	g->idle = !!idle;
	return tg_reweigh(group, idle ? WEIGHT_IDLEPRIO : FAIR_NICE_0);
}

/* cpu.idle of a cgroup that was there before the scheduler: the kernel does not report it. */
static __noinline int cgroup_is_idle(const struct cgroup *cgroup)
{
	u64 at = bpf_core_field_offset(struct cgroup, subsys) +
		 sizeof(void *) * bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	const struct task_group___kernel *group;

	if (bpf_probe_read_kernel(&group, sizeof(group), (const void *)cgroup + at) || !group)
		return 0;
	return BPF_CORE_READ(group, idle) > 0;
}

/* Adds a group and returns its number; ROOT_GROUP if there is no room. */
static __noinline u32 tg_add(u64 id, u32 parent, u32 weight)
{
	u32 group;

	bpf_for(group, 1, MAX_TASK_GROUPS) {
		struct task_group *g = tg_at(group);

		if (g->used)
			continue;
		g->used = 1;
		g->parent = parent;
		g->weight = weight;
		g->idle = 0;
		g->active = 0;
		g->children = 0;
		g->load = 0;
		if (bpf_map_update_elem(&tg_ids, &id, &group, BPF_ANY)) {
			g->used = 0;
			break;
		}
		if (group >= tg_end)
			tg_end = group + 1;
		return group;
	}
	return ROOT_GROUP;
}

static __always_inline void tg_remove(const struct cgroup *cgroup)
{
	u64 id = cgroup_id(cgroup);
	u32 group = group_of(cgroup);
	struct task_group *g = tg_at(group);

	if (group == ROOT_GROUP)
		return;
	if (g->active)
		__sync_fetch_and_add(&tg_at(g->parent)->children, -g->weight);
	g->used = 0;
	bpf_map_delete_elem(&tg_ids, &id);
}

#endif
