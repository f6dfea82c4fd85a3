/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * glob.h - matches a name against a pattern: * is any characters, ? is one
 *
 * Names of at most TASK_COMM_LEN are matched in BPF, at most once per change of a
 * name; longer names are matched on the host. Name and pattern end at their first
 * 0 byte or at the given length.
 */
#ifndef ALIGHT_GLOB_H
#define ALIGHT_GLOB_H

#include "mask.h"

/* Lengths in BPF; powers of two. */
#define GLOB_NAME	16u
#define GLOB_PATTERN	32u

/* State of a match. When the rest differs, the last star takes one more character. */
struct policy_glob_walk {
	u32 n, p;		/* next character of name and pattern */
	u32 star;		/* pattern after the last star, or POLICY_NONE: no star yet */
	u32 from;		/* name after the characters that this star takes */
};

enum policy_glob_step {
	GLOB_GOES_ON,
	GLOB_MATCHES,
	GLOB_DIFFERS,
};

/* Compares one character: @c of the name, @g of the pattern; 0 is the end. */
static __always_inline enum policy_glob_step policy_glob_step(struct policy_glob_walk *w, u8 c,
							      u8 g)
{
	if (g == '*') {
		w->star = ++w->p;
		w->from = w->n;
		return GLOB_GOES_ON;
	}
	if (c ? g == '?' || g == c : !g) {
		if (!c)
			return GLOB_MATCHES;
		w->n++;
		w->p++;
		return GLOB_GOES_ON;
	}
	if (w->star == POLICY_NONE || !c)
		return GLOB_DIFFERS;
	w->p = w->star;
	w->n = ++w->from;
	return GLOB_GOES_ON;
}

/*
 * @nlen, @plen: the most bytes of name and pattern. No pair of their characters is
 * compared twice, which bounds the loop.
 */
static inline int policy_glob_matches(const u8 *name, u32 nlen, const u8 *pattern, u32 plen)
{
	struct policy_glob_walk w = { .star = POLICY_NONE };
	u64 left = ((u64)nlen + 1) * ((u64)plen + 2);

	for (; left; left--) {
		enum policy_glob_step step = policy_glob_step(&w, w.n < nlen ? name[w.n] : 0,
							      w.p < plen ? pattern[w.p] : 0);

		if (step != GLOB_GOES_ON)
			return step == GLOB_MATCHES;
	}
	return 0;
}

#endif
