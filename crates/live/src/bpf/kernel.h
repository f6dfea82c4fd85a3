/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the part of the kernel's types that this scheduler uses
 *
 * Field offsets are relocated when the program is loaded (CO-RE), so one build
 * serves all kernels from 6.18 on. Every kernel function is weak: the loader
 * says which one is missing. Only functions whose BTF is intact in all Debian
 * kernels are required; the others are tested for with bpf_ksym_exists().
 */
#ifndef ALIGHT_LIVE_KERNEL_H
#define ALIGHT_LIVE_KERNEL_H

#include "policy/types.h"

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u16 __sum16;
typedef __u32 __wsum;
typedef _Bool bool;

#define NULL ((void *)0)
#define EPERM	1
#define ENOMEM	12

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_F_MMAPABLE = 1024,
};

struct bpf_spin_lock {
	__u32 val;
};

struct bpf_timer {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

struct bpf_dynptr {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

struct bpf_iter_scx_dsq {
	__u64 __opaque[6];
} __attribute__((aligned(8)));

struct bpf_iter_num {
	__u64 __opaque[1];
} __attribute__((aligned(8)));

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct cpumask {
	unsigned long bits[1];
} KERNEL_TYPE;

struct uclamp_se {
	unsigned int value:11;
	unsigned int bucket_id:3;
	unsigned int active:1;
	unsigned int user_defined:1;
} KERNEL_TYPE;

struct sched_ext_entity {
	__u32 flags;
	__u32 weight;
	__u64 slice;
	__u64 dsq_vtime;
} KERNEL_TYPE;

struct css_set;

struct task_struct {
	unsigned int __state;
	int static_prio;
	unsigned int flags;
	unsigned int policy;
	unsigned short migration_disabled;
	int rcu_read_lock_nesting;	/* with CONFIG_PREEMPT_RCU */
	int nr_cpus_allowed;
	const struct cpumask *cpus_ptr;
	struct sched_ext_entity scx;
	struct uclamp_se uclamp_req[2];
	struct uclamp_se uclamp[2];
	int pid;
	int tgid;
	char comm[16];
	struct css_set *cgroups;
} KERNEL_TYPE;

/* The slice that a task asks for (sched_setattr), which the kernel keeps in its fair entity. */
struct sched_entity___slice {
	__u64 slice;
	unsigned char custom_slice;
} KERNEL_TYPE;

struct task_struct___slice {
	struct sched_entity___slice se;
} KERNEL_TYPE;

struct rq {
	u64 clock;
	struct task_struct *curr;
	struct task_struct *idle;
} KERNEL_TYPE;

/* Values of include/uapi/linux/sched.h and include/linux/sched.h; part of the ABI or as stable. */
#define SCHED_FIFO	1
#define SCHED_RR	2
#define SCHED_BATCH	3
#define SCHED_IDLE	5
#define SCHED_DEADLINE	6
#define CLOCK_MONOTONIC	1
#define PF_EXITING	0x00000004
#define PF_KTHREAD	0x00200000
#define ENQUEUE_RESTORE	0x02	/* queued again after a change, as it was (kernel/sched/sched.h) */

/* Values differ between kernels: they are always read by SCX(). */
enum scx_wake_flags {
	SCX_WAKE_FORK = 0x04,
	SCX_WAKE_SYNC = 0x10,
};

enum scx_enq_flags {
	SCX_ENQ_WAKEUP = 0x1,
	SCX_ENQ_LAST = 0x20000000000ull,
	SCX_ENQ_PREEMPT = 0x100000000ull,
};

enum scx_dsq_id_flags {
	SCX_DSQ_GLOBAL = 0x8000000000000001ull,
	SCX_DSQ_LOCAL = 0x8000000000000002ull,
	SCX_DSQ_LOCAL_ON = 0xc000000000000000ull,
};

enum scx_kick_flags {
	SCX_KICK_PREEMPT = 0x2,
};

enum scx_ent_flags {
	SCX_TASK_QUEUED = 0x1,
};

enum scx_ops_flags {
	SCX_OPS_ENQ_LAST = 0x2,
	SCX_OPS_ENQ_EXITING = 0x4,
	SCX_OPS_ENQ_MIGRATION_DISABLED = 0x10,
};

#define SCX(type, name) bpf_core_enum_value(enum type, name)

enum scx_exit_kind {
	SCX_EXIT_NONE,
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
	char *dump;
} KERNEL_TYPE;

struct scx_dump_ctx;

struct kernfs_node {
	__u64 id;
} KERNEL_TYPE;

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} KERNEL_TYPE;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_subsys_state *subsys[1];
} KERNEL_TYPE;

enum cgroup_subsys_id {
	cpu_cgrp_id = 1,
};

/* The kernel's struct task_group; it begins with its cgroup_subsys_state. Ours is in cgroup.h. */
struct task_group___kernel {
	s32 idle;
} KERNEL_TYPE;

struct css_set {
	struct cgroup *dfl_cgrp;
} KERNEL_TYPE;

struct scx_init_task_args {
	bool fork;
	struct cgroup *cgroup;
} KERNEL_TYPE;

struct scx_cgroup_init_args {
	__u32 weight;
} KERNEL_TYPE;

/* The operations used here; libbpf matches members by name. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
	s32 (*cgroup_init)(struct cgroup *cgrp, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgrp);
	void (*cgroup_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_set_weight)(struct cgroup *cgrp, u32 weight);
	void (*cgroup_set_idle)(struct cgroup *cgrp, bool idle);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*disable)(struct task_struct *p);
	s32 (*init)(void);
	void (*dump_cpu)(struct scx_dump_ctx *context, s32 cpu, bool idle);
	void (*exit)(struct scx_exit_info *info);
	u64 flags;
	u32 timeout_ms;
	u32 exit_dump_len;
	u64 hotplug_seq;
	char name[128];
};

extern const struct rq runqueues __ksym __weak;
/* Current over top frequency; arm64 and x86 keep it. */
extern const unsigned long arch_freq_scale __ksym __weak;

s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym __weak;
u64 scx_bpf_now(void) __ksym __weak;
const struct cpumask *scx_bpf_get_online_cpumask(void) __ksym __weak;
void scx_bpf_put_cpumask(const struct cpumask *cpumask) __ksym __weak;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym __weak;
bool scx_bpf_dsq_move_to_local(u64 dsq) __ksym __weak;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq, u64 slice, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime,
			      u64 enq_flags) __ksym __weak;
/* Not in every Debian kernel: */
s32 scx_bpf_create_dsq(u64 dsq, s32 node) __ksym __weak;
bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym __weak;
struct task_struct *scx_bpf_dsq_peek(u64 dsq) __ksym __weak;
s32 scx_bpf_dsq_nr_queued(u64 dsq) __ksym __weak;
void scx_bpf_dump_bstr(char *format, unsigned long long *data, u32 bytes) __ksym __weak;
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq, u64 flags) __ksym __weak;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym __weak;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym __weak;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq,
		      u64 enq_flags) __ksym __weak;

#endif
