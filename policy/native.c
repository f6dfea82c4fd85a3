// SPDX-License-Identifier: GPL-2.0-only
/*
 * native.c - the core as the host links it: one versioned table of entry points
 *
 * Compiled twice: the second time with POLICY_PLAIN, for schedulers without
 * features (params.h, FEATURE_RULE). The table carries the sizes of the
 * structures, so that a caller whose idea of them differs is refused when it
 * starts instead of misread later.
 */
#include "select.h"
#include "runqueue.h"

struct policy_table {
	u32 version;
	u32 sizes[13];
	u32 (*select)(struct policy_ctx *c);
	void (*rq_clock)(struct policy_cpu *rq, u64 now);
	void (*rq_clock_idle)(struct policy_cpu *rq, u32 others);
	int (*rq_enqueue)(const struct policy_params *k, struct policy_cpu *rq,
			  struct policy_task *t, int curr_fair);
	int (*rq_dequeue)(const struct policy_params *k, struct policy_cpu *rq,
			  struct policy_task *t, int running, int curr_fair, int sleeps);
	int (*rq_set_next)(const struct policy_params *k, struct policy_cpu *rq,
			   struct policy_task *t);
	int (*rq_update_curr)(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t);
	void (*rq_detach)(const struct policy_params *k, struct policy_cpu *rq,
			  struct policy_task *t, int curr_fair);
	void (*rq_idle_end)(struct policy_cpu *rq, u64 idle_ns, u64 max);
	int (*rq_delay)(const struct policy_params *k, struct policy_cpu *rq,
			struct policy_task *t);
	int (*rq_requeue)(const struct policy_params *k, struct policy_cpu *rq,
			  struct policy_task *t, int curr_fair);
	int (*rq_dequeue_delayed)(const struct policy_params *k, struct policy_cpu *rq,
				  struct policy_task *t, int curr_fair);
	int (*queue_refresh)(const struct policy_params *k, struct policy_cpu *rq, int running);
	void (*task_remove)(const struct policy_params *k, struct policy_cpu *rq,
			    struct policy_task *t);
	void (*task_attach)(const struct policy_params *k, struct policy_cpu *rq,
			    struct policy_task *t);
	void (*task_detach)(const struct policy_params *k, struct policy_cpu *rq,
			    struct policy_task *t);
	void (*task_reweight)(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t, u32 weight);
	void (*est_enqueue)(const struct policy_params *k, struct policy_cpu *rq,
			    const struct policy_task *t);
	void (*est_dequeue)(const struct policy_params *k, struct policy_cpu *rq,
			    struct policy_task *t, int sleeps);
	void (*task_init_util)(const struct policy_params *k, const struct policy_cpu *rq,
			       struct policy_task *t);
	u32 (*task_util_est)(const struct policy_params *k, const struct policy_task *t);
	void (*task_decay)(const struct policy_params *k, struct policy_cpu *rq,
			   struct policy_task *t, u64 until);
	int (*clamped_task_joined)(const struct policy_params *k, struct policy_cpu *rq,
				   struct policy_task *t);
	int (*clamps_changed)(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t);
	u32 (*cpu_util_clamped)(const struct policy_params *k, const struct policy_cpu *rq,
				int boost);
	u32 (*task_clamped_est)(const struct policy_params *k, const struct policy_task *t);
	u32 (*idle_scan_worth)(u64 util, u32 weight, u32 imbalance_pct);
	u64 (*pelt_decay)(u64 v, u64 n);
	int (*pelt_accumulate)(struct policy_pelt *a, u64 now, u64 load, u64 runnable, u64 running);
	void (*pelt_average)(struct policy_pelt *a, u64 weight);
	u32 (*pelt13_full)(u64 n);
	void (*pelt13_update)(struct policy_pelt13 *a, u64 now, int runnable);
	void (*rq_update13)(const struct policy_params *k, struct policy_cpu *rq);
	void (*rq_share)(const struct policy_params *k, const struct policy_cpu *rq,
			 struct pack_share *share);
};

static u32 native_task_util_est(const struct policy_params *k, const struct policy_task *t)
{
	return task_util_est(k, t);
}

static void native_rq_share(const struct policy_params *k, const struct policy_cpu *rq,
			    struct pack_share *share)
{
	*share = cpu_share(k, rq);
}

static u32 native_task_clamped_est(const struct policy_params *k, const struct policy_task *t)
{
	return task_clamped_est(k, t);
}

static int native_pelt_accumulate(struct policy_pelt *a, u64 now, u64 load, u64 runnable,
				  u64 running)
{
	return pelt_accumulate(a, now, load, runnable, running) != 0;
}

#ifdef POLICY_PLAIN
#define TABLE	alight_policy_plain
#else
#define TABLE	alight_policy_table
#endif

extern const struct policy_table TABLE;

const struct policy_table TABLE = {
	.version = 6,
	.sizes = {
		sizeof(struct policy_params), sizeof(struct policy_topology),
		sizeof(struct policy_domain), sizeof(struct policy_place),
		sizeof(struct policy_group), sizeof(struct policy_llc),
		sizeof(struct policy_cpu), sizeof(struct policy_task),
		sizeof(struct policy_answer), sizeof(struct policy_ctx),
		sizeof(struct policy_perf_domain), sizeof(struct policy_root),
		sizeof(struct policy_note),
	},
	.select = policy_select,
	.rq_clock = rq_clock,
	.rq_clock_idle = rq_clock_idle,
	.rq_enqueue = rq_enqueue,
	.rq_dequeue = rq_dequeue,
	.rq_set_next = rq_set_next,
	.rq_update_curr = rq_update_curr,
	.rq_detach = rq_detach,
	.rq_idle_end = rq_idle_end,
	.rq_delay = rq_delay,
	.rq_requeue = rq_requeue,
	.rq_dequeue_delayed = rq_dequeue_delayed,
	.queue_refresh = queue_refresh,
	.task_remove = task_remove,
	.task_attach = task_attach,
	.task_detach = task_detach,
	.task_reweight = task_reweight,
	.est_enqueue = est_enqueue,
	.est_dequeue = est_dequeue,
	.task_init_util = task_init_util,
	.task_util_est = native_task_util_est,
	.task_decay = task_decay,
	.clamped_task_joined = clamped_task_joined,
	.clamps_changed = clamps_changed,
	.cpu_util_clamped = cpu_util_clamped,
	.task_clamped_est = native_task_clamped_est,
	.idle_scan_worth = idle_scan_worth,
	.pelt_decay = pelt_decay,
	.pelt_accumulate = native_pelt_accumulate,
	.pelt_average = pelt_average,
	.pelt13_full = pelt13_full,
	.pelt13_update = pelt13_update,
	.rq_update13 = rq_update13,
	.rq_share = native_rq_share,
};
