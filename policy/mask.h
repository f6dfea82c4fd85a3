/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mask.h - CPU masks and loops, for the host and for BPF
 *
 * policy_for() is a plain loop on the host and an open-coded iterator in BPF,
 * where the verifier follows one pass instead of unrolling a thousand.
 */
#ifndef ALIGHT_MASK_H
#define ALIGHT_MASK_H

#include "abi.h"

/*
 * Index with a bound that the verifier can see. On the host the caller's
 * invariant (the index came from the topology) is enough. CPU numbers from
 * elsewhere (a task's recent CPU, a CPU's buddy) are compared to nr_cpus where
 * they are read.
 */
#ifdef __bpf__
#define policy_bound(i, max) ({ u32 __i = (i); asm volatile("" : "+r"(__i)); __i & ((max) - 1); })
#else
#define policy_bound(i, max) (i)
#endif

#ifdef __bpf__
#define policy_for(i, from, to) bpf_for(i, from, to)
#else
#define policy_for(i, from, to) for ((i) = (from); (i) < (to); (i)++)
#endif

/*
 * A function that loops and depends on its arguments only. In BPF it is global: the
 * verifier checks it once instead of at every call and knows nothing of its result,
 * which lets the callers' loops converge. Its pointers must be to writable memory.
 */
#ifdef __bpf__
#define policy_global __attribute__((noinline))
#define policy_arg_nonnull __attribute__((btf_decl_tag("arg:nonnull")))
#else
#define policy_global static inline
#define policy_arg_nonnull
#endif

/* A function off the common path. Not inlined: its variables do not burden that path. */
#define policy_noinline static __attribute__((noinline))

/*
 * A part of the common path. In BPF it is a subprogram: all frames of a call share 512
 * bytes of stack, and an inlined function takes its part even after its end.
 */
#ifdef __bpf__
#define policy_subprog policy_noinline
#else
#define policy_subprog static __always_inline
#endif

/*
 * Returns @value and hides it from the verifier, which follows paths that differ only
 * in a hidden value once. For variables that a loop carries from pass to pass.
 */
#ifdef __bpf__
__attribute__((noinline)) u32 policy_hide(u32 value)
{
	asm volatile("" : "+r"(value));
	return value;
}
#else
#define policy_hide(value) (value)
#endif

static __always_inline int policy_mask_test(const struct policy_mask *m, u32 cpu)
{
	cpu = policy_bound(cpu, POLICY_MAX_CPUS);
	return m->w[cpu / 64] >> (cpu % 64) & 1;
}

static __always_inline void policy_mask_clear(struct policy_mask *m, u32 cpu)
{
	cpu = policy_bound(cpu, POLICY_MAX_CPUS);
	m->w[cpu / 64] &= ~(1ull << (cpu % 64));
}

/* Number of the lowest set bit; bits must not be 0. */
static __always_inline u32 policy_ffs(u64 bits)
{
#ifdef __bpf__
	u32 n = 0;

	if (!(bits & 0xffffffff)) { n += 32; bits >>= 32; }
	if (!(bits & 0xffff)) { n += 16; bits >>= 16; }
	if (!(bits & 0xff)) { n += 8; bits >>= 8; }
	if (!(bits & 0xf)) { n += 4; bits >>= 4; }
	if (!(bits & 0x3)) { n += 2; bits >>= 2; }
	return n + !(bits & 1);
#else
	return (u32)__builtin_ctzll(bits);
#endif
}

/* First CPU >= from that is in a and in b and below nr, else nr. */
policy_global u32 policy_mask_next_and(const struct policy_mask *a policy_arg_nonnull,
				       const struct policy_mask *b policy_arg_nonnull, u32 from,
				       u32 nr)
{
	u32 word, cpu, i;
	u64 bits;

	if (from >= nr)
		return nr;
	/* Usually the answer is in the first word. */
	word = policy_bound(from / 64, POLICY_MASK_WORDS);
	bits = a->w[word] & b->w[word] & ~0ull << (from % 64);
	if (bits) {
		cpu = word * 64 + policy_ffs(bits);
		return cpu < nr ? cpu : nr;
	}
	/* The loop is not free in BPF. */
	if ((word + 1) * 64 >= nr)
		return nr;
	policy_for(i, word + 1, POLICY_MASK_WORDS) {
		word = policy_bound(i, POLICY_MASK_WORDS);
		if (i * 64 >= nr)
			break;
		bits = a->w[word] & b->w[word];
		if (bits) {
			cpu = i * 64 + policy_ffs(bits);
			return cpu < nr ? cpu : nr;
		}
	}
	return nr;
}

static inline int policy_mask_intersects(const struct policy_mask *a, const struct policy_mask *b,
					 u32 nr)
{
	return policy_mask_next_and(a, b, 0, nr) < nr;
}

/* A walk over the CPUs in both masks, in ring order from a first CPU. */
struct policy_ring {
	u32 next;
	u32 first;
	u32 wrapped;
};

static __always_inline struct policy_ring policy_ring_from(u32 first)
{
	struct policy_ring r = { first, first, 0 };

	return r;
}

/* Next CPU of the walk, or nr when it is over. */
static __always_inline u32 policy_ring_next(struct policy_ring *r, const struct policy_mask *a,
					    const struct policy_mask *b, u32 nr)
{
	u32 cpu;

	if (!r->wrapped) {
		cpu = policy_mask_next_and(a, b, r->next, nr);
		if (cpu < nr) {
			r->next = cpu + 1;
			return cpu;
		}
		r->wrapped = 1;
		r->next = 0;
	}
	cpu = policy_mask_next_and(a, b, r->next, nr);
	if (cpu >= r->first)
		return nr;
	r->next = cpu + 1;
	return cpu;
}

#endif
