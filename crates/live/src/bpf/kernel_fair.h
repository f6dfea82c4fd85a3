/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_fair.h - the part of the fair class's types that the recorder reads
 *
 * Offsets are relocated when the program is loaded (CO-RE), so one build serves
 * 5.10 to 7.3. Members that only some kernels have are listed side by side; code that
 * reads one tests bpf_core_field_exists() first.
 */
#ifndef ALIGHT_LIVE_KERNEL_FAIR_H
#define ALIGHT_LIVE_KERNEL_FAIR_H

#include "policy/types.h"

typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef short __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u16 __sum16;
typedef __u32 __wsum;
typedef _Bool bool;

#define NULL ((void *)0)

enum {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct cpumask {
	unsigned long bits[1];
} KERNEL_TYPE;

struct load_weight {
	unsigned long weight;
} KERNEL_TYPE;

struct sched_avg {
	u64 last_update_time;
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib;
	unsigned long load_avg;
	unsigned long runnable_avg;
	unsigned long util_avg;
	unsigned int util_est;		/* since 6.8 */
} KERNEL_TYPE;

struct util_est {
	unsigned int enqueued;
	unsigned int ewma;
} KERNEL_TYPE;

struct sched_avg___pair {
	struct util_est util_est;	/* up to 6.7 */
} KERNEL_TYPE;

struct cfs_rq {
	unsigned int h_nr_running;	/* up to 6.12 */
	unsigned int idle_h_nr_running;	/* up to 6.12 */
	unsigned int h_nr_queued;	/* since 6.13, and later builds of 6.12 */
	unsigned int h_nr_runnable;
	unsigned int h_nr_idle;
	struct sched_avg avg;
	unsigned long h_load;
	u64 last_h_load_update;
} KERNEL_TYPE;

struct sched_entity {
	struct load_weight load;
	int depth;
	struct cfs_rq *cfs_rq;
	struct sched_avg avg;
} KERNEL_TYPE;

struct uclamp_se {
	unsigned int value:11;
	unsigned int bucket_id:3;
	unsigned int active:1;
	unsigned int user_defined:1;
} KERNEL_TYPE;

struct uclamp_rq {
	unsigned int value;
} KERNEL_TYPE;

struct thread_info {
	u32 cpu;			/* 5.10 of amd64 has it in the task */
} KERNEL_TYPE;

struct task_struct___cpu {
	unsigned int cpu;
} KERNEL_TYPE;

/* arm64 keeps the preemption count in the task. */
struct thread_info___arm64 {
	u64 preempt_count;
} KERNEL_TYPE;

/* On amd64, 6.2 to 6.14, it has the preemption count. */
struct pcpu_hot {
	int preempt_count;
} KERNEL_TYPE;

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	unsigned int on_rq;		/* since 7.x a byte */
	unsigned int wakee_flips;
	unsigned long wakee_flip_decay_ts;
	struct task_struct *last_wakee;
	int recent_used_cpu;
	struct sched_entity se;
	struct uclamp_se uclamp_req[2];
	struct uclamp_se uclamp[2];
	unsigned int policy;
	int nr_cpus_allowed;
	const struct cpumask *cpus_ptr;
	int pid;
} KERNEL_TYPE;

struct rt_rq {
	unsigned int rt_nr_running;
} KERNEL_TYPE;

struct dl_rq {
	u64 running_bw;
} KERNEL_TYPE;

struct sched_domain_shared {
	int has_idle_cores;
	int nr_idle_scan;		/* since 6.0 */
} KERNEL_TYPE;

struct sched_group_capacity {
	unsigned long capacity;
	unsigned long min_capacity;
	unsigned long max_capacity;
	int imbalance;
} KERNEL_TYPE;

struct sched_group {
	unsigned int group_weight;
	struct sched_group_capacity *sgc;
	int flags;			/* 5.10 has none */
	unsigned long cpumask[0];
} KERNEL_TYPE;

struct sched_domain {
	struct sched_domain *parent;
	struct sched_group *groups;
	unsigned int imbalance_pct;
	unsigned int imb_numa_nr;	/* since 5.18 */
	int flags;
	struct sched_domain_shared *shared;
	unsigned int span_weight;
	u64 avg_scan_cost;		/* up to 6.4 */
} KERNEL_TYPE;

struct perf_domain;

struct root_domain {
	bool overutilized;		/* up to 6.9 an int */
	struct perf_domain *pd;
} KERNEL_TYPE;

struct root_domain___int {
	int overutilized;
} KERNEL_TYPE;

struct cpuidle_state {
	unsigned int exit_latency;
} KERNEL_TYPE;

struct rq {
	unsigned int nr_running;
	unsigned int ttwu_pending;
	struct uclamp_rq uclamp[2];
	unsigned int uclamp_flags;
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct dl_rq dl;
	struct task_struct *curr;
	struct task_struct *idle;
	struct root_domain *rd;
	struct sched_domain *sd;
	unsigned long cpu_capacity;
	unsigned long cpu_capacity_orig;	/* up to 6.6 */
	int online;
	struct sched_avg avg_rt;
	struct sched_avg avg_dl;
	struct sched_avg avg_hw;		/* since 6.10, where it is configured */
	struct sched_avg avg_thermal;		/* before */
	u64 idle_stamp;
	u64 avg_idle;
	struct cpuidle_state *idle_state;
} KERNEL_TYPE;

extern const struct rq runqueues __ksym __weak;
extern const unsigned long cpu_scale __ksym __weak;
extern const unsigned long cpufreq_pressure __ksym __weak;
extern const unsigned long hw_pressure __ksym __weak;
extern const unsigned long thermal_pressure __ksym __weak;
extern const int __preempt_count __ksym __weak;		/* amd64 */
extern const struct pcpu_hot pcpu_hot __ksym __weak;
extern struct sched_domain *const sd_llc __ksym __weak;
extern struct sched_domain *const sd_asym_cpucapacity __ksym __weak;
extern struct sched_domain_shared *const sd_llc_shared __ksym __weak;
/* Since 7.2 has_idle_cores is in this one. */
extern struct sched_domain_shared *const sd_balance_shared __ksym __weak;
extern const int sd_llc_size __ksym __weak;
/*
 * Addresses that the loader looks up by name; 0: this kernel does not have it. Those of per-CPU
 * variables are used where the type information lacks the variables (Debian's 5.10). The object
 * must have no symbol without a type: libbpf would then treat missing weak symbols as found.
 */
struct addresses {
	u64 __per_cpu_offset;		/* of each CPU */
	u64 runqueues;
	u64 cpu_scale;
	u64 cpufreq_pressure;
	u64 hw_pressure;
	u64 thermal_pressure;
	u64 __preempt_count;
	u64 sd_llc;
	u64 sd_asym_cpucapacity;
	u64 sd_llc_shared;
	u64 sd_balance_shared;
	u64 sd_llc_size;
	/* Static keys: the first member is a count. */
	u64 sched_uclamp_used;
	u64 sched_smt_present;
	u64 sched_asym_cpucapacity;
	u64 sched_cluster_active;
};

#define UCLAMP_FLAG_IDLE	0x01u
#define DL_BW_SHIFT		20		/* BW_SHIFT */
#define WF_EXEC			0x02
#define WF_FORK			0x04
#define WF_SYNC			0x10
#define WF_SYNC_BEFORE_5_11	0x01

#define SERVING_SOFTIRQ		0x100	/* SOFTIRQ_OFFSET */

/* Only the name is tested: it says whether the kernel has the helper. */
enum bpf_func_id {
	BPF_FUNC_get_current_task_btf = 158,
};

#endif
