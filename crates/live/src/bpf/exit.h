/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exit.h - keeps for the loader why the kernel ended the scheduler
 *
 * The kernel's own copy is gone when its exit operation returns.
 */
#ifndef ALIGHT_LIVE_EXIT_H
#define ALIGHT_LIVE_EXIT_H

#include "kernel.h"

/* Bytes of the kernel's debug dump; the loader sets this and the value size of exit_dump. */
const volatile u32 exit_dump_bytes = 1;

struct {
	s32 kind;		/* enum scx_exit_kind; 0: not ended */
	s64 code;
	char reason[128];
	char message[1024];	/* SCX_EXIT_MSG_LEN */
} ended;

/* The kernel's debug dump, if it ended the scheduler for an error. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, 1);
} exit_dump SEC(".maps");

static __always_inline void exit_record(const struct scx_exit_info *info)
{
	u32 zero = 0;
	char *dump = bpf_map_lookup_elem(&exit_dump, &zero);

	ended.code = info->exit_code;
	bpf_probe_read_kernel_str(ended.reason, sizeof(ended.reason), info->reason);
	bpf_probe_read_kernel_str(ended.message, sizeof(ended.message), info->msg);
	if (dump)
		bpf_probe_read_kernel_str(dump, exit_dump_bytes, info->dump);
	/* Written last, because the loader reads it first. */
	ended.kind = info->kind;
}

#endif
