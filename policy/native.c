// SPDX-License-Identifier: GPL-2.0-only
/*
 * native.c - the core as the host links it: one versioned table of entry points
 *
 * It is compiled twice, the second time with POLICY_PLAIN for schedulers without
 * features (params.h, POLICY_FEATURE_RULE). The table has the sizes of the
 * structures, so that a caller built with other structures stops when it starts
 * instead of reading wrong fields later.
 */
#include "select.h"
#include "runqueue.h"

struct policy_table {
	u32 version;
	u32 sizes[13];
	u32 (*select)(struct policy_ctx *c);
	void (*update_rq_clock)(struct policy_cpu *rq, u64 now);
	void (*update_idle_rq_clock_pelt)(struct policy_cpu *rq, u32 others);
	int (*enqueue_entity)(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t, int curr_fair);
	int (*dequeue_entity)(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t, int running, int curr_fair, int sleeps);
	int (*set_next_entity)(const struct policy_params *k, struct policy_cpu *rq,
			       struct policy_task *t);
	int (*update_curr)(const struct policy_params *k, struct policy_cpu *rq,
			   struct policy_task *t);
	void (*detach_task)(const struct policy_params *k, struct policy_cpu *rq,
			    struct policy_task *t, int curr_fair);
	void (*update_avg_idle)(struct policy_cpu *rq, u64 idle_ns, u64 max);
	int (*set_delayed)(const struct policy_params *k, struct policy_cpu *rq,
			   struct policy_task *t);
	int (*requeue_delayed_entity)(const struct policy_params *k, struct policy_cpu *rq,
				      struct policy_task *t, int curr_fair);
	int (*dequeue_delayed)(const struct policy_params *k, struct policy_cpu *rq,
			       struct policy_task *t, int curr_fair);
	int (*update_cfs_rq_load_avg)(const struct policy_params *k, struct policy_cpu *rq,
				      int running);
	void (*remove_entity_load_avg)(const struct policy_params *k, struct policy_cpu *rq,
				       struct policy_task *t);
	void (*attach_entity_load_avg)(const struct policy_params *k, struct policy_cpu *rq,
				       struct policy_task *t);
	void (*detach_entity_load_avg)(const struct policy_params *k, struct policy_cpu *rq,
				       struct policy_task *t);
	void (*reweight_entity)(const struct policy_params *k, struct policy_cpu *rq,
				struct policy_task *t, u32 weight);
	void (*util_est_enqueue)(const struct policy_params *k, struct policy_cpu *rq,
				 const struct policy_task *t);
	void (*util_est_dequeue)(const struct policy_params *k, struct policy_cpu *rq,
				 struct policy_task *t, int sleeps);
	void (*post_init_entity_util_avg)(const struct policy_params *k,
					  const struct policy_cpu *rq, struct policy_task *t);
	u32 (*task_util_est)(const struct policy_params *k, const struct policy_task *t);
	void (*update_load_avg_blocked_se)(const struct policy_params *k, struct policy_cpu *rq,
					   struct policy_task *t, u64 until);
	int (*clamped_task_joined)(const struct policy_params *k, struct policy_cpu *rq,
				   struct policy_task *t);
	int (*clamps_changed)(const struct policy_params *k, struct policy_cpu *rq,
			      struct policy_task *t);
	u32 (*cpu_util_cfs_uclamp)(const struct policy_params *k, const struct policy_cpu *rq,
				   int boost);
	u32 (*task_util_est_uclamp)(const struct policy_params *k, const struct policy_task *t);
	u32 (*nr_idle_scan)(u64 util, u32 weight, u32 imbalance_pct);
	u64 (*decay_load)(u64 v, u64 n);
	int (*pelt_update_sum)(struct policy_pelt *a, u64 now, u64 load, u64 runnable, u64 running);
	void (*pelt_update_avg)(struct policy_pelt *a, u64 weight);
	u32 (*compute_runnable_contrib)(u64 n);
	void (*update_entity_runnable_avg)(struct policy_pelt13 *a, u64 now, int runnable);
	void (*update_rq_runnable_avg)(const struct policy_params *k, struct policy_cpu *rq);
	void (*cpu_share)(const struct policy_params *k, const struct policy_cpu *rq,
			  struct policy_pack_share *share);
};

static u32 native_task_util_est(const struct policy_params *k, const struct policy_task *t)
{
	return policy_task_util_est(k, t);
}

static void native_cpu_share(const struct policy_params *k, const struct policy_cpu *rq,
			     struct policy_pack_share *share)
{
	*share = policy_cpu_share(k, rq);
}

static u32 native_task_util_est_uclamp(const struct policy_params *k, const struct policy_task *t)
{
	return policy_task_util_est_uclamp(k, t);
}

static int native_pelt_update_sum(struct policy_pelt *a, u64 now, u64 load, u64 runnable,
				  u64 running)
{
	return policy_pelt_update_sum(a, now, load, runnable, running) != 0;
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
	.update_rq_clock = policy_update_rq_clock,
	.update_idle_rq_clock_pelt = policy_update_idle_rq_clock_pelt,
	.enqueue_entity = policy_enqueue_entity,
	.dequeue_entity = policy_dequeue_entity,
	.set_next_entity = policy_set_next_entity,
	.update_curr = policy_update_curr,
	.detach_task = policy_detach_task,
	.update_avg_idle = policy_update_avg_idle,
	.set_delayed = policy_set_delayed,
	.requeue_delayed_entity = policy_requeue_delayed_entity,
	.dequeue_delayed = policy_dequeue_delayed,
	.update_cfs_rq_load_avg = policy_update_cfs_rq_load_avg,
	.remove_entity_load_avg = policy_remove_entity_load_avg,
	.attach_entity_load_avg = policy_attach_entity_load_avg,
	.detach_entity_load_avg = policy_detach_entity_load_avg,
	.reweight_entity = policy_reweight_entity,
	.util_est_enqueue = policy_util_est_enqueue,
	.util_est_dequeue = policy_util_est_dequeue,
	.post_init_entity_util_avg = policy_post_init_entity_util_avg,
	.task_util_est = native_task_util_est,
	.update_load_avg_blocked_se = policy_update_load_avg_blocked_se,
	.clamped_task_joined = policy_clamped_task_joined,
	.clamps_changed = policy_clamps_changed,
	.cpu_util_cfs_uclamp = policy_cpu_util_cfs_uclamp,
	.task_util_est_uclamp = native_task_util_est_uclamp,
	.nr_idle_scan = policy_nr_idle_scan,
	.decay_load = policy_decay_load,
	.pelt_update_sum = native_pelt_update_sum,
	.pelt_update_avg = policy_pelt_update_avg,
	.compute_runnable_contrib = policy_compute_runnable_contrib,
	.update_entity_runnable_avg = policy_update_entity_runnable_avg,
	.update_rq_runnable_avg = policy_update_rq_runnable_avg,
	.cpu_share = native_cpu_share,
};
